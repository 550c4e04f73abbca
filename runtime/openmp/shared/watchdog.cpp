// SPDX-License-Identifier: MIT
//
// The watchdog over shared regions: a virtual thread may wait for one that nobody runs, in a way that libws does not
// see. A thread of its own looks at the regions that are open, every 3 or 24 ms (looks.h). Where nothing has happened
// for 6 ms it looks at the threads that run them:
//
// - one is blocked in the kernel by a lock, or waits in MPI;
// - one spins: sampled again and again it stands in the same place with the same values in all registers, as no
//   computation does;
// - or, where neither can be told, nothing has happened for seconds.
//
// A virtual thread that only sleeps, or waits for a file, mostly goes on by itself. But it may also sleep between two
// looks at what another virtual thread is to do.
#include "openmp/shared/fiber.h"
#include "openmp/shared/team.h"

#include "loop/participant.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace ws::openmp {

// A region without progress for stuck_look_us may be stuck, so the watchdog looks at its threads. If it cannot see what
// they do, it takes the region for stuck after stuck_us.
constexpr double stuck_look_us = 2 * Naps::first_us, stuck_us = 5000000;

namespace {

// ---- samples of a thread

volatile Hardware::Word sample;  // of the registers
volatile Flag samples_taken;
int sample_signal; // 0: none is free

uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ull; }

// A program that gets no signals relies on its sleeps: a sleep that our signal has ended early begins again, with the
// time that was asked for at first. (restart_syscall, which knows what is left of it, is void once a handler has run.)
// What call it was, only the instruction before it still says: nothing is done where that is another one, as on other
// processors.
void call_again(mcontext_t& at)
{
#if defined(__x86_64__)
    const auto after = uintptr_t(at.gregs[REG_RIP]);
    if (at.gregs[REG_RAX] != -EINTR || after % 4096 < 7)
        return;
    const auto* const code = reinterpret_cast<const unsigned char*>(after); // mov $number, %eax; syscall
    uint32_t number;
    std::memcpy(&number, code - 6, sizeof number);
    if (code[-7] != 0xb8 || code[-2] != 0x0f || code[-1] != 0x05)
        return;
    for (const long ended : {SYS_nanosleep, SYS_clock_nanosleep, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6,
                             SYS_epoll_wait, SYS_epoll_pwait, SYS_futex})
        if (number == ended) {
            at.gregs[REG_RAX] = ended;
            at.gregs[REG_RIP] -= 2;
        }
#else
    (void) at;
#endif
}

// On the sampled thread, whatever its identity is: no thread-local variable, no call that sets errno.
void take_sample(int, siginfo_t*, void* context)
{
    auto& at = static_cast<ucontext_t*>(context)->uc_mcontext;
    uint64_t hash = 1;
#if defined(__x86_64__)
    for (int r = REG_R8; r <= REG_RIP; r++)
        hash = mix(hash, uint64_t(at.gregs[r]));
    if (at.fpregs)
        for (const auto& xmm : at.fpregs->_xmm)
            for (const unsigned part : xmm.element)
                hash = mix(hash, part);
#elif defined(__aarch64__)
    for (const auto r : at.regs)
        hash = mix(hash, r);
    hash = mix(hash, at.pc);
#endif
    call_again(at);
    Hardware::store_relaxed(sample, hash);
    Hardware::fetch_add_full(samples_taken, 1); // full: pairs with is_spinning()
}

// One that nobody uses: of the last ones, as programs take the first.
int find_signal()
{
    for (int signal = SIGRTMAX - 1; signal > SIGRTMIN + 8; signal--) {
        struct sigaction now;
        if (sigaction(signal, nullptr, &now) != 0 || (now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL)
            continue;
        struct sigaction ours = {};
        ours.sa_sigaction = take_sample;
        ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
        sigfillset(&ours.sa_mask);
        return sigaction(signal, &ours, nullptr) == 0 ? signal : 0;
    }
    return 0;
}

// What the kernel says of one of this process's threads.
enum class Doing { runs, locked, sleeps, unknown };
Doing doing(int thread)
{
    char name[64], text[64] = "";
    std::snprintf(name, sizeof name, "/proc/self/task/%d/syscall", thread);
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return Doing::unknown;
    const ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return Doing::unknown;
    if (std::strncmp(text, "running", 7) == 0)
        return Doing::runs;
    const long call = std::atol(text);
    return call == SYS_futex ? Doing::locked : call == SYS_sched_yield ? Doing::runs : Doing::sleeps;
}

// One look at a region. If the region ends meanwhile, its opener calls sched_yield() in ~VirtualTeam() until the look
// is over. That looks like spinning, but the program does not wait.
struct Look {
    const FiberCrew& crew;
    const VirtualTeam& team;
    const uint64_t progress = team.progress();
    bool is_over() const { return base::load_acquire(crew.open) != &team || team.progress() != progress; }
};

bool is_spinning(int thread, const Look& look)
{
    constexpr unsigned samples = 24, enough = 5; // the same as an earlier one
    static const int signal = sample_signal = find_signal();
    if (!signal)
        return false;
    uint64_t seen[samples];
    unsigned same = 0;
    for (unsigned i = 0; i < samples; i++) {
        const Flag before = Hardware::load_acquire(samples_taken);
        // A signal would end a sleep or a poll() early that has begun since.
        if (look.is_over() || (i > 0 && doing(thread) != Doing::runs))
            return false;
        if (syscall(SYS_tgkill, getpid(), thread, signal) != 0)
            return false;
        for (unsigned turn = 0; Hardware::load_acquire(samples_taken) == before; turn++) {
            if (turn == 20) // it has the signal blocked, or no CPU
                return false;
            usleep(turn < 10 ? 20 : 200);
        }
        seen[i] = Hardware::load_relaxed(sample);
        if (i == 8 && same == 0)
            return false;
        same += std::find(seen, seen + i, seen[i]) != seen + i;
        usleep(30 + i % 7);
    }
    return same >= enough;
}

// ---- the look

// Null: nobody waits, as far as can be told.
const char* why_stuck(const Look& look, uint64_t since, uint64_t now)
{
    const VirtualTeam& team = look.team;
    if (team.waits_in_mpi())
        return "threads wait for each other in MPI";
    constexpr unsigned most = 64;
    int runners[most];
    const unsigned count = team.runners(runners, most);
    for (unsigned i = 0; i < count; i++) {
        const Doing what = doing(runners[i]);
        if (what == Doing::locked)
            return "a thread waits for a lock that another holds across a barrier";
        if (what != Doing::sleeps && is_spinning(runners[i], look))
            return "threads wait by spinning";
    }
    if (double(now - since) > stuck_us * loop::host().ticks_per_us)
        return "it made no progress for seconds";
    return nullptr;
}

// Returns whether its region, if one is open, has gone on since the last look.
bool look_at(FiberCrew& crew, uint64_t now)
{
    bool went_on = true;
    Hardware::fetch_add_full(crew.looked_at, 1); // full: pairs with ~VirtualTeam()
    if (VirtualTeam* const team = base::load_acquire(crew.open)) {
        const auto patience = uint64_t(stuck_look_us * loop::host().ticks_per_us);
        if (crew.looks.are_due(Hardware::load_relaxed(crew.regions), team->progress(), now, patience) &&
            team->has_idle()) {
            crew.looks.looked(now, patience);
            const Look look{crew, *team};
            if (const char* why = why_stuck(look, crew.looks.since(), now); why && !look.is_over())
                team->give_threads(why);
        }
        went_on = crew.looks.since() == now;
    }
    Hardware::store_release(crew.looked_at, 0);
    return went_on;
}

void* watch(void*)
{
    for (Naps naps;;) {
        usleep(naps.next_us());
        const uint64_t now = base::ticks();
        bool went_on = true;
        for (FiberCrew* crew = all_crews(); crew; crew = crew->next)
            went_on = look_at(*crew, now) && went_on;
        naps.looked(went_on, sites_made());
    }
    return nullptr;
}

bool begin()
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    const bool begun = pthread_create(&thread, &attributes, watch, nullptr) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    return begun;
}

} // namespace

bool begin_watchdog()
{
    static const bool begun = [] {
        hear_of_exit();
        return begin();
    }();
    return begun;
}

} // namespace ws::openmp
