// SPDX-License-Identifier: MIT
//
// From top to bottom: what the home thread does at the ends of a wait, which costs it some tens of nanoseconds while
// waits are short; the stand-in at work; the stand-in at rest.
#include "lend/stand_in.h"

#include "lend/rank.h"
#include "loop/signals.h"
#include "measure/meter.h"
#include "observe/calls.h"
#include "observe/recorder.h"
#include "openmp/library/regions.h"
#include "base/os.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>

namespace ws::lend {

using base::Flag;
using base::Hardware;
using base::ticks;
using observe::bump;
using observe::Outside;
using observe::Refusal;
using observe::Seat;
using observe::Seated;
using observe::show;

// A call that has lasted for this long is worth a hand-over. So often the stand-in looks while calls come.
constexpr uint64_t first_look_us = 200;
// While all calls are short it looks less and less often, up to this: a look costs some microseconds of the core.
constexpr uint64_t longest_look_us = 5000;
// After this many looks at which nothing had changed it sleeps until it is woken.
constexpr unsigned quiet_looks = 16;
constexpr uint64_t parked_us = 1000000;
// A call that is lent is looked at again after this time: a jump may have left it.
constexpr uint64_t check_call_us = 20000;
// What the home thread spins for its stand-in to leave before it sleeps: about the time that waking a thread takes.
constexpr unsigned leave_spins = 200;
// It runs no iteration. Static thread-local storage of the program lies on it, too.
constexpr size_t stack_bytes = 256 << 10;

namespace {

// For the list of calls in reports.
constexpr const char* call_names[] = {"ws_wait_begin", "GPU calls", "file and socket calls"};
static_assert(sizeof call_names / sizeof *call_names == size_t(Outside::kinds));

} // namespace

// ---- the home thread

bool StandIn::begin(Outside what, bool declared)
{
    if (WS_UNLIKELY(!made_) && !make_thread())
        return false;
    what_ = what;
    declared_ = declared;
    began_ = ticks();
    mpi_before_ = rank_.loops.board->process.mpi_ticks;
    was_lent_ = false;
    const Flag word = Hardware::load_relaxed(word_); // only this thread changes it while it is `home`
    // Full: what stands above is written, and parked_ is looked at afterwards. Pairs with rest().
    Hardware::store_full(word_, word + states + offered);
    if (declared || WS_UNLIKELY(Hardware::load_relaxed(parked_)))
        base::futex_wake(&word_);
    return true;
}

void StandIn::end()
{
    if (WS_UNLIKELY(!is_open())) // MPI_Finalize has ended it
        return;
    for (;;) { // the stand-in may take it, or offer it again, in between
        const Flag word = Hardware::load_relaxed(word_);
        if (WS_LIKELY(state_of(word) == offered) && Hardware::cas_full(word_, word, with(word, home)))
            break;
        if (state_of(word) == taken && Hardware::cas_full(word_, word, with(word, wanted))) {
            call_back();
            break;
        }
    }
    if (WS_UNLIKELY(was_lent_))
        account(ticks());
    else if (declared_)
        rank_.loops.meter->waited_within(ticks() - began_);
}

// The stand-in sleeps, unless it is on its way to that. Full is what has set `wanted`, before the look at the core's
// state: a stand-in that arms looks at the word after that. So one of the two sees the other.
void StandIn::call_back()
{
    window::Home& core = home_.lender().home();
    Rank::ring_absent(core);
    base::futex_wake(&core.state); // also if the core is lent: the guest goes on beside this thread
    for (unsigned spins = 0;; spins++) {
        const Flag word = Hardware::load_acquire(word_); // pairs with give_back in live()
        if (state_of(word) == home)
            return;
        if (spins < leave_spins)
            base::cpu_relax();
        else
            base::futex_wait(&word_, word, parked_us);
    }
}

// The seat is this thread's again, and the stand-in had it. Calls of MPI inside the wait are counted already.
void StandIn::account(uint64_t now)
{
    observe::Board& board = *rank_.loops.board;
    Seat& seat = home_.lender().seat();
    const uint64_t took = now - began_, in_mpi = board.process.mpi_ticks - mpi_before_;
    const uint64_t lent = seat.lend.lent_ticks - lent_before_;
    bump(seat.lend.blocked_ticks, took);
    bump(board.process.mpi_ticks, took - std::min(in_mpi, took));
    volatile uint64_t* const counters[] = {&board.process.waits_program_ticks, &board.process.waits_gpu_ticks,
                                           &board.process.waits_io_ticks};
    bump(*counters[size_t(what_)], took);
    rank_.loops.meter->wait_begins(began_);
    rank_.loops.meter->wait_ends(now, took);
    if (Hardware::load_relaxed(seat.call) != observe::no_row) {
        observe::CallRow& row = board.call(Hardware::load_relaxed(seat.call));
        bump(row.waits);
        bump(row.blocked_ticks, took);
        bump(row.lent_ticks, lent);
        observe::add(row.calls, 1);
        observe::add(row.time_ticks, took);
        Hardware::store_relaxed(seat.call, observe::no_row);
    }
    observe::note_moment(now);
}

// ---- the stand-in at work

// It has the seat, until it is wanted back.
void StandIn::lend()
{
    Lender& lender = home_.lender();
    window::Home& core = lender.home();
    Seat& seat = lender.seat();
    loop::take_cpus_of(home_thread_); // the program may have moved it
    if (!was_lent_)
        lent_before_ = seat.lend.lent_ticks;
    was_lent_ = true;
    little_until_ = 0;
    Hardware::store_relaxed(seat.call,
                            rank_.options.call_name ? observe::call_row(call_names[size_t(what_)]) : observe::no_row);
    base::store_relaxed(seat.waits_since, began_);
    if (!lender.has_lease()) { // of a wait in MPI just before, whose guest is in a long chunk
        show(seat, Seated::blocked, began_);
        lender.show_busy(false);
    }
    Hardware::store_relaxed(core.occupancy, window::rank_blocked);
    if (declared_) // that may allocate, and a call may come from a signal handler that has interrupted malloc
        lender.look_at_neighbours(false);
    openmp::end_wait_for_regions(); // now our workers, too, have time for others
    uint64_t checked_at = ticks();
    const uint64_t check_ticks = uint64_t(double(check_call_us) * rank_.loops.ticks_per_us);
    while (state_of(Hardware::load_acquire(word_)) == taken) {
        const uint64_t now = ticks();
        if (!declared_ && now - checked_at > check_ticks) {
            checked_at = now;
            if (!is_in_call())
                break;
        }
        if (lender.has_lease())
            lender.sleep_while_lent();
        else
            look_for_work();
    }
    const uint64_t now = ticks();
    if (lender.has_lease())
        lender.resume();
    else if (lender.is_armed())
        lender.disarm();
    lender.refuse(Refusal::kinds, now);
    lender.show_busy(true);
    Hardware::store_relaxed(core.occupancy, window::rank_computing);
    base::store_relaxed(seat.waits_since, 0);
    show(seat, Seated::computing, now);
}

// Claims work for the core, or sleeps until there is some. Arming is a full store, and then the caller looks whether it
// is wanted back, as a rank lets MPI poll once more.
void StandIn::look_for_work()
{
    Lender& lender = home_.lender();
    const uint64_t now = ticks();
    if (!lender.is_armed()) {
        lender.arm();
        return;
    }
    if (lender.disarm_if_rung())
        return;
    // A look takes the cache line on which an owner claims its last chunks.
    const bool looks = rank_.options.score && now >= little_until_;
    const Target target = looks ? lender.choose(window::asleep_hungry, false) : Target{};
    if (target && lender.core_is_free()) {
        lender.step_aside(target.rank);
        lender.lend(target);
        return;
    }
    if (looks) {
        const Refusal why = target || !lender.core_is_free() ? Refusal::core_taken : lender.why_none();
        lender.refuse(why, now);
        little_until_ = why == Refusal::too_little ? now + lender.little_left() : 0;
    }
    lender.sleep(little_until_ > now ? lender.us_until(little_until_, now) : Lender::any);
}

// Whether the home thread is blocked in the kernel, in a call that is its own. Not in vfork(), whose child may have
// begun a call that it never ends; and not in the middle of a long copy, which needs the core. What a GPU is waited for
// may be in user space.
bool StandIn::is_in_call() const
{
    if (what_ == Outside::gpu)
        return true;
    char path[64], text[64] = {};
    std::snprintf(path, sizeof path, "/proc/self/task/%d/syscall", int(home_thread_));
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    if (n <= 0 || text[0] < '0' || text[0] > '9') // "running", or the system does not say
        return false;
    const long call = std::atol(text);
    bool forks = call == SYS_clone;
#ifdef SYS_vfork
    forks = forks || call == SYS_vfork;
#endif
#ifdef SYS_clone3
    forks = forks || call == SYS_clone3;
#endif
    return !forks;
}

// ---- the stand-in at rest

void StandIn::live()
{
    loop::join(rank_.loops);
    pthread_setname_np(pthread_self(), "ws stand-in");
    observe::record_as(observe::SeatKind::none, rank_.window.me()); // a track beside the rank's own
    look_us_ = first_look_us;
    for (;;) {
        const Flag word = Hardware::load_acquire(word_); // pairs with begin(), and with stop()
        if (Hardware::load_relaxed(stopping_))
            return;
        if (state_of(word) == offered && (declared_ || (word == seen_ && is_in_call()))) {
            if (!Hardware::cas_full(word_, word, with(word, taken)))
                continue;
            lend();
            // The last access. Full; pairs with end() and call_back(). A call that lasts, but not in the kernel, may
            // be lent again.
            if (Hardware::cas_full(word_, with(word, wanted), with(word, home)))
                base::futex_wake(&word_);
            else
                Hardware::cas_full(word_, with(word, taken), word);
            look_us_ = first_look_us;
        } else
            rest(word);
    }
}

// Until the next look, or until it is woken.
void StandIn::rest(Flag word)
{
    quiet_looks_ = word == seen_ ? quiet_looks_ + 1 : 0;
    seen_ = word;
    if (state_of(word) == offered)
        look_us_ = first_look_us;
    const uint64_t us = look_us_;
    look_us_ = std::min(2 * look_us_, longest_look_us);
    if (watches_calls_ && quiet_looks_ < quiet_looks) {
        base::futex_wait(&word_, word, us);
        return;
    }
    // Full, before the kernel compares the word: a wait that has begun before is seen there. Pairs with begin().
    Hardware::store_full(parked_, 1);
    base::futex_wait(&word_, word, parked_us);
    Hardware::store_relaxed(parked_, 0);
    quiet_looks_ = 0;
    look_us_ = first_look_us;
}

void* StandIn::run(void* stand_in)
{
    static_cast<StandIn*>(stand_in)->live();
    return nullptr;
}

bool StandIn::make_thread()
{
    if (refused_ || Hardware::load_relaxed(stopping_))
        return false;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::max(stack_bytes, size_t(PTHREAD_STACK_MIN)));
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, &loop::idle_signals(), &before); // it begins with these blocked
    made_ = pthread_create(&thread_, &attributes, run, this) == 0;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
    refused_ = !made_;
    if (refused_)
        observe::add(rank_.loops.board->process.guests_refused, 1);
    return made_;
}

void StandIn::watch_calls()
{
    if (make_thread())
        watches_calls_ = true;
}

void StandIn::start() { home_thread_ = pid_t(syscall(SYS_gettid)); }

void StandIn::stop()
{
    end();
    Hardware::store_relaxed(stopping_, 1);
    if (!made_)
        return;
    Hardware::fetch_add_full(word_, states); // after stopping_; and who is about to sleep on the old word does not
    base::futex_wake(&word_);
    pthread_join(thread_, nullptr);
    made_ = false;
}

} // namespace ws::lend
