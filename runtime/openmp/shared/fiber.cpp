// SPDX-License-Identifier: MIT
#include "openmp/shared/fiber.h"

#include "openmp/library/threads.h"
#include "loop/participant.h"
#include "loop/stack.h"
#include "openmp/shared/team.h"
#include "base/spin_lock.h"

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ws::openmp {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {

// On the calling thread's identity, until the fiber comes back. No thread-local variable is used here: the compiler may
// keep their addresses from before the switch.
__attribute__((noinline)) transfer_t jump_as(uintptr_t pointer, void* context, void* data)
{
    const uintptr_t own = thread_pointer();
    set_thread_pointer(pointer);
    const transfer_t from = jump_fcontext(context, data);
    set_thread_pointer(own);
    return from;
}

} // namespace

Fiber* Fiber::make(unsigned number)
{
    Fiber* const fiber = new (std::nothrow) Fiber;
    if (!fiber)
        return nullptr;
    if (number > 0) {
        fiber->identity_ = Identity::make();
        if (!fiber->identity_) {
            delete fiber;
            return nullptr;
        }
        fiber->lowest_ = fiber->identity_->lowest();
        fiber->highest_ = fiber->identity_->highest();
        fiber->guard_ = fiber->identity_->guard();
        return fiber;
    }
    const loop::StackSize size = loop::stack_size(loop::host().stack_bytes);
    // mmap, because of the guard below the stack (PROT_NONE)
    void* const memory = mmap(nullptr, size.guard + size.bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    char* const lowest = static_cast<char*>(memory) + size.guard;
    if (memory == MAP_FAILED || mprotect(lowest, size.bytes, PROT_READ | PROT_WRITE) != 0) {
        if (memory != MAP_FAILED)
            munmap(memory, size.guard + size.bytes);
        delete fiber;
        return nullptr;
    }
    fiber->lowest_ = uintptr_t(lowest);
    fiber->highest_ = uintptr_t(lowest) + size.bytes;
    fiber->guard_ = uintptr_t(memory);
    return fiber;
}

void Fiber::end(Fiber* fiber)
{
    if (fiber->identity_)
        fiber->identity_->end();
    else
        munmap(reinterpret_cast<void*>(fiber->guard_), fiber->highest_ - fiber->guard_);
    delete fiber;
}

struct Fiber::Entry {
    static void run(transfer_t from)
    {
        Fiber& fiber = *static_cast<Fiber*>(from.data);
        fiber.context_ = from.fctx;
        fiber.run_(fiber);
        fiber.outcome_ = Outcome::ended;
        jump_fcontext(fiber.context_, nullptr);
        __builtin_unreachable(); // who has ended is not resumed
    }
};

void Fiber::begin(void (*run)(Fiber&))
{
    run_ = run;
    has_begun_ = false;
    context_ = make_fcontext(reinterpret_cast<void*>(highest_), highest_ - lowest_, Entry::run);
}

Fiber::Outcome Fiber::resume()
{
    if (WS_LIKELY(identity_ != nullptr)) {
        const transfer_t from = jump_as(identity_->pointer(), context_, this);
        if (outcome_ != Outcome::ended)
            context_ = from.fctx;
        return outcome_;
    }
    // What libws keeps of a thread stays with the flow of control: the opener goes on in its own loop meanwhile.
    loop::OtherStack& other = loop::other_stack;
    loop::Participant& p = loop::self;
    const loop::OtherStack other_before = other;
    const loop::Participant opener = p;
    other = {lowest_, guard_};
    if (has_begun_)
        p = own_;
    else
        p.frame = highest_;
    has_begun_ = true;
    const transfer_t from = jump_fcontext(context_, this);
    if (outcome_ != Outcome::ended)
        context_ = from.fctx;
    own_ = p;
    p = opener;
    other = other_before;
    return outcome_;
}

__attribute__((noinline)) void Fiber::stop(Outcome how)
{
    outcome_ = how;
    const transfer_t from = jump_fcontext(context_, nullptr);
    context_ = from.fctx;
}

// ---- crews

namespace {

base::SpinLock lock; // of the two lists
FiberCrew* volatile first;
FiberCrew* free_ones;
pthread_key_t ends, leaves;
pthread_once_t ends_made = PTHREAD_ONCE_INIT;
WS_THREAD_LOCAL FiberCrew* own_crew;

} // namespace

// No message of C++'s: in C the stack of a thread that ends is unwound without a word.
static void thread_leaves(void*)
{
    const Unit* const unit = current;
    if (!unit)
        return;
    std::fprintf(
        stderr,
        "workshare: error: pthread_exit or pthread_cancel ended a thread in the parallel region %s; ending the job\n",
        unit->team->site.site.where);
    loop::host().end_job();
}

void Fiber::watch_end()
{
    if (is_watched_)
        return;
    pthread_setspecific(leaves, this);
    is_watched_ = identity_ != nullptr; // number 0 has that of whichever thread opens the region
}

// A thread has ended: its virtual threads are another's next.
void give_back(void* crew)
{
    FiberCrew* const c = static_cast<FiberCrew*>(crew);
    lock.lock();
    c->free_ = free_ones;
    free_ones = c;
    lock.unlock();
}

FiberCrew* all_crews() { return base::load_acquire(first); } // pairs with own()

FiberCrew* FiberCrew::make()
{
    FiberCrew* const crew = new (std::nothrow) FiberCrew;
    if (!crew)
        return nullptr;
    lock.lock();
    crew->next = base::load_relaxed(first); // changes under the lock
    base::store_release(first, crew);       // pairs with all_crews()
    lock.unlock();
    return crew;
}

FiberCrew* FiberCrew::inner()
{
    if (!inner_)
        inner_ = make();
    return inner_;
}

FiberCrew* FiberCrew::own()
{
    if (WS_LIKELY(own_crew != nullptr))
        return own_crew;
    pthread_once(&ends_made, [] {
        pthread_key_create(&ends, give_back);
        pthread_key_create(&leaves, thread_leaves);
    });
    lock.lock();
    FiberCrew* crew = free_ones;
    if (crew)
        free_ones = crew->free_;
    lock.unlock();
    if (!crew && !(crew = make()))
        return nullptr;
    pthread_setspecific(ends, crew);
    return own_crew = crew;
}

// Whether the system still has `count` threads, or as many as are tried.
static bool leaves_room(unsigned count)
{
    constexpr unsigned most = 8;
    Identity* made[most];
    count = std::min(count, most);
    unsigned there = 0;
    while (there < count && (made[there] = Identity::make()))
        there++;
    const bool fits = there == count;
    while (there > 0)
        made[--there]->end();
    return fits;
}

bool FiberCrew::fill(unsigned count)
{
    if (WS_LIKELY(count_ >= count))
        return true;
    const unsigned before = count_;
    while (count_ < count && !refused_) {
        Fiber* const made = Fiber::make(count_);
        if (made)
            fibers_[count_++] = made;
        else
            refused_ = true; // asked once: each region would ask again, in vain
    }
    // Where OpenMP cannot have its threads libgomp ends the program. Those of another rank of the same user count for
    // the same limit. A rank of one thread needs none. Two more: the watchdog's and a helper's.
    const unsigned others = own_threads() - 1;
    if (!refused_ && before == 0 && others > 0 && !leaves_room(2 * others + 2))
        refused_ = true;
    if (!refused_)
        return true;
    if (count_ > before) {
        while (count_ > before)
            Fiber::end(fibers_[--count_]);
        // Other ranks may be trying how many they get, and are about to give them back, too.
        for (unsigned turn = 0; turn < 100 && !leaves_room(others); turn++)
            usleep(1000);
    }
    return false;
}

void FiberCrew::give_up()
{
    refused_ = true;
    while (count_ > 0)
        Fiber::end(fibers_[--count_]);
}

} // namespace ws::openmp
