// SPDX-License-Identifier: MIT
#include "check/serial_pass.h"

#include "loop/open_region.h"
#include "loop/team.h"
#include "base/atomics.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ws::check {

using namespace loop;

// Naps while a child computes: short ones would take its core, long ones make short passes slow.
constexpr unsigned first_child_nap_us = 20, longest_child_nap_us = 2000;

namespace {

// How the child ended, as it reports to the parent.
enum ChildEnd : uint32_t { nothing, done, no_maps, no_filter, system_call, memory, fatal_signal };

double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

} // namespace

// Seen by both processes; the results of each pass follow.
struct SerialPasses::Shared {
    volatile uint32_t end;
    volatile int number;             // of the system call, or of the signal
    volatile double seconds[passes]; // that it took
};

namespace {

// ---- chunks, in the child

constexpr unsigned participants = 3; // played by one thread, one after the other

struct Shuffle {
    LoopBounds bounds;
    uint64_t chunk, chunks; // iterations in each, and how many
    uint64_t seed;
    bool backwards;
    unsigned asks;    // the participant that runs now
    uint64_t next;    // the first chunk of which it is not yet decided whether this participant gets it
} shuffle;

unsigned holder_of(uint64_t chunk)
{
    if (shuffle.chunks <= 2 * participants) // few would often come to one participant
        return unsigned((chunk + shuffle.seed) % participants);
    uint64_t mixed = (chunk + 1) * 0x9E3779B97F4A7C15ull ^ shuffle.seed * 0xD1B54A32D192ED03ull;
    mixed = (mixed ^ mixed >> 31) * 0xBF58476D1CE4E5B9ull;
    return unsigned((mixed >> 33) % participants);
}

void set_shuffle(const LoopBounds& b, uint64_t wanted_chunk)
{
    constexpr uint64_t most_chunks = 4096;
    shuffle.bounds = b;
    shuffle.chunk = wanted_chunk ? wanted_chunk : b.iterations ? (b.iterations - 1) / most_chunks + 1 : 1;
    shuffle.chunks = b.iterations ? (b.iterations - 1) / shuffle.chunk + 1 : 0;
}

} // namespace

bool shuffled_next(Participant& p, long* lo, long* hi)
{
    while (shuffle.next < shuffle.chunks) {
        const uint64_t turn = shuffle.next++, chunk = shuffle.backwards ? shuffle.chunks - 1 - turn : turn;
        if (holder_of(chunk) != shuffle.asks)
            continue;
        const LoopBounds& b = shuffle.bounds;
        const uint64_t first = chunk * shuffle.chunk,
                       last = chunk == shuffle.chunks - 1 ? b.iterations : first + shuffle.chunk;
        *lo = long(b.start + first * b.incr);
        *hi = long(last == b.iterations ? b.end : b.start + last * b.incr);
        return true;
    }
    p.mode = Mode::done;
    return false;
}

namespace {

// ---- what keeps the child from doing harm

volatile uint32_t* child_end;
volatile int* child_number;

[[noreturn]] void leave() { syscall(SYS_exit_group, 0), __builtin_unreachable(); }

[[noreturn]] void leave_with(ChildEnd what, int number)
{
    *child_number = number;
    base::store_release(*child_end, uint32_t(what));
    leave();
}

// The mappings that others can see.
constexpr unsigned most_mappings = 4096;
struct Mapping {
    uintptr_t from, to;
} mappings[most_mappings];
unsigned mapping_count;

bool is_shared(uintptr_t address)
{
    for (unsigned i = 0; i < mapping_count; i++)
        if (address >= mappings[i].from && address < mappings[i].to)
            return true;
    return false;
}

// Reads /proc/self/maps by system calls alone, as another thread may have held a lock of the C library's.
bool protect_shared_memory(const void* keep)
{
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    static char text[1 << 16];
    size_t held = 0;
    mapping_count = 0;
    for (;;) {
        const ssize_t n = read(fd, text + held, sizeof text - held);
        if (n < 0)
            return false;
        held += size_t(n);
        char *line = text, *end;
        while ((end = static_cast<char*>(std::memchr(line, '\n', size_t(text + held - line))))) {
            char* c = line;
            const uintptr_t from = std::strtoul(c, &c, 16), to = std::strtoul(c + 1, &c, 16);
            // " rw-s"
            if (c[2] == 'w' && c[4] == 's' && (uintptr_t(keep) < from || uintptr_t(keep) >= to)) {
                if (mapping_count == most_mappings)
                    return false;
                mappings[mapping_count++] = {from, to};
            }
            line = end + 1;
        }
        held -= size_t(line - text);
        std::memmove(text, line, held);
        if (n == 0)
            break;
        if (held == sizeof text)
            return false;
    }
    close(fd);
    for (unsigned i = 0; i < mapping_count; i++)
        if (mprotect(reinterpret_cast<void*>(mappings[i].from), mappings[i].to - mappings[i].from, PROT_READ))
            return false;
    return true;
}

void on_signal(int signal, siginfo_t* info, void*)
{
    if (signal == SIGSYS)
        leave_with(system_call, info->si_syscall);
    const uintptr_t address = uintptr_t(info->si_addr);
    leave_with((signal == SIGSEGV || signal == SIGBUS) && is_shared(address) ? memory : fatal_signal, signal);
}

bool catch_signals()
{
    static char stack[1 << 16];
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    if (sigaltstack(&other, nullptr))
        return false;
    sigset_t all;
    sigfillset(&all);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (int signal : {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP}) {
        sigdelset(&all, signal);
        if (sigaction(signal, &action, nullptr))
            return false;
    }
    // signals for the program must reach the program, not this copy
    return sigprocmask(SIG_SETMASK, &all, nullptr) == 0;
}

#if defined(__x86_64__)
constexpr uint32_t own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t own_architecture = 0;
#endif

// Allows the child only system calls that act on nothing but itself; any other ends it. So does a wait for another
// thread, as there is none.
bool filter_system_calls()
{
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a word's lower half comes first");
    constexpr unsigned number = offsetof(seccomp_data, nr), architecture = offsetof(seccomp_data, arch);
    constexpr auto argument = [](unsigned i) { return unsigned(offsetof(seccomp_data, args) + 8 * i); };
    sock_filter code[64];
    unsigned n = 0;
    auto load = [&](unsigned at) { code[n++] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at); };
    auto end = [&](uint32_t with) { code[n++] = BPF_STMT(BPF_RET | BPF_K, with); };
    auto unless_equal = [&](uint32_t value, unsigned skip) {
        code[n++] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, uint8_t(skip));
    };
    load(architecture);
    unless_equal(own_architecture, 1);
    code[n++] = BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0);
    end(SECCOMP_RET_TRAP);
    load(number);
    for (long call : {
             SYS_brk,
             SYS_munmap,
             SYS_mremap,
             SYS_madvise,
             SYS_mprotect,
             SYS_clock_gettime,
             SYS_gettimeofday,
             SYS_clock_getres,
             SYS_nanosleep,
             SYS_clock_nanosleep,
             SYS_sched_yield,
             SYS_getcpu,
             SYS_rt_sigreturn,
             SYS_rt_sigprocmask,
             SYS_restart_syscall,
             SYS_exit,
             SYS_exit_group,
#ifdef SYS_time
             SYS_time,
#endif
         }) {
        unless_equal(uint32_t(call), 1);
        end(SECCOMP_RET_ALLOW);
    }
    unless_equal(SYS_mmap, 5); // private memory
    load(argument(3));
    code[n++] = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_SHARED | MAP_PRIVATE);
    unless_equal(MAP_PRIVATE, 1);
    end(SECCOMP_RET_ALLOW);
    end(SECCOMP_RET_TRAP);
    unless_equal(SYS_futex, 5); // to wake
    load(argument(1));
    code[n++] = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, uint32_t(FUTEX_CMD_MASK));
    unless_equal(FUTEX_WAKE, 1);
    end(SECCOMP_RET_ALLOW);
    end(SECCOMP_RET_TRAP);
    end(SECCOMP_RET_TRAP); // all others
    const sock_fprog program = {static_cast<unsigned short>(n), code};
    return own_architecture && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// A child may double the memory of a rank: if memory runs out, the kernel shall kill the child first.
void offer_memory()
{
    const int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (write(fd, "1000", 4) != 4) {
            // then the kernel treats it as any other process
        }
        close(fd);
    }
}

// ---- messages

const char* name_of_call(int number)
{
    static constexpr struct {
        long number;
        const char* name;
    } names[] = {
        {SYS_write, "write"},
        {SYS_writev, "writev"},
        {SYS_pwrite64, "pwrite"},
        {SYS_read, "read"},
        {SYS_readv, "readv"},
        {SYS_pread64, "pread"},
        {SYS_lseek, "lseek"},
        {SYS_openat, "open"},
        {SYS_close, "close"},
        {SYS_ioctl, "ioctl"},
        {SYS_fcntl, "fcntl"},
        {SYS_fsync, "fsync"},
        {SYS_newfstatat, "stat"},
        {SYS_fstat, "fstat"},
        {SYS_mmap, "mmap of shared memory"},
        {SYS_clone, "clone"},
        {SYS_execve, "execve"},
        {SYS_gettid, "gettid"},
        {SYS_getpid, "getpid"},
        {SYS_getrandom, "getrandom"},
        {SYS_socket, "socket"},
        {SYS_connect, "connect"},
        {SYS_sendto, "send"},
        {SYS_sendmsg, "sendmsg"},
        {SYS_recvfrom, "recv"},
        {SYS_recvmsg, "recvmsg"},
        {SYS_kill, "kill"},
        {SYS_tgkill, "tgkill"},
        {SYS_rt_sigaction, "sigaction"},
        {SYS_sched_getaffinity, "sched_getaffinity"},
        {SYS_sched_setaffinity, "sched_setaffinity"},
        {SYS_getrusage, "getrusage"},
        {SYS_prctl, "prctl"},
        {SYS_epoll_pwait, "epoll_wait"},
        {SYS_ppoll, "poll"},
#ifdef SYS_open
        {SYS_open, "open"},
        {SYS_poll, "poll"},
        {SYS_select, "select"},
        {SYS_epoll_wait, "epoll_wait"},
        {SYS_fork, "fork"},
        {SYS_stat, "stat"},
#endif
#ifdef SYS_clone3
        {SYS_clone3, "clone"},
#endif
    };
    for (const auto& known : names)
        if (known.number == number)
            return known.name;
    return nullptr;
}

std::string text_of_end(uint32_t what, int number)
{
    char text[96];
    switch (what) {
    case no_maps:
        return "shared memory cannot be protected here";
    case no_filter:
        return "system calls cannot be filtered here (seccomp)";
    case system_call:
        if (number == SYS_futex)
            return "its body waits for another thread";
        if (const char* name = name_of_call(number))
            std::snprintf(text, sizeof text, "its body makes the system call %s", name);
        else
            std::snprintf(text, sizeof text, "its body makes the system call of number %d", number);
        return text;
    case memory:
        return "its body writes shared memory, or calls MPI";
    case fatal_signal:
        std::snprintf(text, sizeof text, "its body ends in a copy of the process by signal %d (%s)", number,
                      strsignal(number));
        return text;
    default:
        return "its body does not finish in a copy of the process";
    }
}

size_t rounded_up(size_t n) { return (n + 63) & ~size_t(63); }

} // namespace

// ---- the parent

SerialPasses::SerialPasses(const Region& region, const std::vector<Result>& results, uint64_t chunk)
    : region_(region), results_(results), chunk_(chunk)
{
    for (const Result& r : results) {
        at_.push_back(find_result(r, region.site, region.data));
        value_at_.push_back(values_bytes_);
        element_at_.push_back(elements_);
        values_bytes_ += rounded_up(r.size());
        elements_ += r.is_rounded() ? r.count : 0;
    }
    memory_ =
        base::map_anonymous(base::read_write, rounded_up(sizeof(Shared)) +
                                                  passes * (values_bytes_ + rounded_up(elements_ * sizeof(double))));
    if (memory_.get_address())
        shared_ = new (memory_.get_address()) Shared();
}

double SerialPasses::seconds(Pass pass) const { return shared_->seconds[unsigned(pass)]; }

const char* SerialPasses::values(Pass pass, unsigned result) const
{
    return reinterpret_cast<const char*>(shared_) + rounded_up(sizeof(Shared)) +
           unsigned(pass) * (values_bytes_ + rounded_up(elements_ * sizeof(double))) + value_at_[result];
}

const double* SerialPasses::magnitudes(Pass pass, unsigned result) const
{
    return reinterpret_cast<const double*>(values(pass, 0) + values_bytes_) + element_at_[result];
}

bool SerialPasses::run(Pass pass, double seconds)
{
    shared_->end = nothing;
    timed_out_ = false;
    const int parent = getpid();
    // clone and not fork(): then handlers of the program and its libraries (pthread_atfork) are not run, and the
    // program does not learn of the child's end: no signal is sent, and a wait for any child does not find it.
    const long child = syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr);
    if (child == 0)
        run_child(pass, parent);
    if (child < 0) {
        why_ = std::string("cannot create a second process: ") + std::strerror(errno);
        return false;
    }
    if (!await(int(child), seconds)) {
        timed_out_ = true;
        char text[80];
        std::snprintf(text, sizeof text, "its body does not finish within %.3g s in a copy of the process",
                      seconds);
        why_ = text;
        return false;
    }
    const uint32_t what = base::load_acquire(shared_->end);
    if (what != done)
        why_ = text_of_end(what, shared_->number);
    return what == done;
}

bool SerialPasses::await(int child, double seconds)
{
    const double until = now() + seconds;
    for (unsigned nap = first_child_nap_us;;
         nap = nap < longest_child_nap_us ? nap + nap / 4 : nap) {
        const long ended = syscall(SYS_wait4, child, nullptr, __WCLONE | WNOHANG, nullptr);
        if (ended == child || (ended < 0 && errno == ECHILD)) // or the program has waited for it
            return true;
        if (now() > until)
            break;
        usleep(nap);
    }
    kill(child, SIGKILL);
    while (syscall(SYS_wait4, child, nullptr, __WCLONE, nullptr) < 0 && errno == EINTR)
        ;
    return false;
}

// ---- the child

void SerialPasses::keep_values(Pass pass)
{
    for (unsigned i = 0; i < results_.size(); i++)
        std::memcpy(const_cast<char*>(values(pass, i)), at_[i], results_[i].size());
}

void SerialPasses::run_child(Pass pass, int parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        leave();
    child_end = &shared_->end;
    child_number = &shared_->number;
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    offer_memory();
    const Region& r = region_;
    const LoopBounds b = r.bounds;
    void (*const fn)(void*) = r.fn;
    void* const data = r.data;
    ws_site* const site = r.site;
    host().check = false;
    host().leave_job();
    if (!catch_signals() || !protect_shared_memory(shared_))
        leave_with(no_maps, 0);
    if (!filter_system_calls())
        leave_with(no_filter, 0);

    Participant& p = self;
    p.member = nullptr;
    p.ending = Ending::nothing;
    p.in_region = true;
    p.frame = own_frame();
    p.site = site;
    set_ws_alone(false);
    const double began = now();
    if (pass == Pass::serial || pass == Pass::again) {
        p.mode = Mode::whole;
        p.lo = b.start;
        p.hi = b.end;
        fn(data);
        keep_values(pass);
    } else {
        static Member one_of_several;
        p.member = &one_of_several; // with that, start calls leave the mode as it is: see start_in_team()
        shuffle.seed = uint64_t(pass);
        const bool any_order = site->kinds & WS_SITE_ANY_ORDER;
        shuffle.backwards = has_free_order(site, host()) && pass == Pass::shuffled_2;
        set_shuffle(b, chunk_);
        // The participant with the last iteration runs last: so none copies in (firstprivate) what it has written
        // (lastprivate).
        const unsigned last = any_order ? participants - 1 : holder_of(shuffle.chunks - 1);
        Pass before = Pass::again; // its memory holds what the one before has left
        keep_values(before);
        for (unsigned turn = 1; turn <= participants; turn++) {
            shuffle.asks = (last + turn) % participants;
            shuffle.next = 0;
            p.mode = Mode::shuffled;
            one_of_several.number = turn - 1; // the first has the last iteration of a loop that is split
            fn(data);
            keep_values(pass);
            for (unsigned i = 0; i < results_.size(); i++) {
                const Result& result = results_[i];
                if (!result.is_rounded())
                    continue;
                const size_t bytes = result.size() / result.count;
                double* const most = const_cast<double*>(magnitudes(pass, i));
                for (uint64_t e = 0; e < result.count; e++) {
                    const char *now_at = values(pass, i) + e * bytes, *then_at = values(before, i) + e * bytes;
                    // A product's rounding error is relative to its final value.
                    double m = magnitude(result, now_at);
                    if (result.operation == '+') {
                        const double added = distance(result, now_at, then_at);
                        m = added > m ? added : m;
                        m = m > most[e] ? m : most[e];
                    }
                    most[e] = m;
                }
            }
            std::memcpy(const_cast<char*>(values(before, 0)), values(pass, 0), values_bytes_);
        }
    }
    shared_->seconds[unsigned(pass)] = now() - began;
    leave_with(done, 0);
}

} // namespace ws::check
