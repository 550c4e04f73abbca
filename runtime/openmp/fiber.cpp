// SPDX-License-Identifier: MIT
#include "openmp/fiber.h"

#include "loop/participant.h"
#include "loop/stack.h"
#include "window/spin_lock.h"

#include <boost/context/detail/fcontext.hpp>
#include <new>
#include <sys/mman.h>

namespace ws::openmp {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {
window::SpinLock fibers_lock; // of the list
Fiber* free_ones;
} // namespace

Fiber* Fiber::make()
{
    const loop::StackSize size = loop::stack_size(loop::host().stack_bytes);
    void* const memory = mmap(nullptr, size.guard + size.bytes, PROT_NONE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    char* const lowest = static_cast<char*>(memory) + size.guard;
    if (mprotect(lowest, size.bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(memory, size.guard + size.bytes);
        return nullptr;
    }
    constexpr size_t at_its_end = (sizeof(Fiber) + 63) / 64 * 64;
    Fiber* const fiber = new (lowest + size.bytes - at_its_end) Fiber;
    fiber->lowest_ = uintptr_t(lowest);
    fiber->guard_ = uintptr_t(memory);
    return fiber;
}

Fiber* Fiber::take()
{
    fibers_lock.lock();
    Fiber* const fiber = free_ones;
    if (fiber)
        free_ones = fiber->next_;
    fibers_lock.unlock();
    return fiber ? fiber : make();
}

void Fiber::give_back(Fiber* fiber)
{
    fibers_lock.lock();
    fiber->next_ = free_ones;
    free_ones = fiber;
    fibers_lock.unlock();
}

// Nothing here may be kept from before the call, but what lies on this stack: the thread may be another after it.
struct Fiber::Entry {
    static void run(transfer_t from)
    {
        Fiber& fiber = *static_cast<Fiber*>(from.data);
        fiber.context_ = from.fctx;
        fiber.run_(fiber.argument_);
        fiber.ended_ = true;
        jump_fcontext(fiber.context_, nullptr);
        __builtin_unreachable(); // who has ended is not resumed
    }
};

void Fiber::begin(void (*run)(void*), void* argument)
{
    run_ = run;
    argument_ = argument;
    ended_ = false;
    context_ = make_fcontext(this, uintptr_t(this) - lowest_, Entry::run);
}

bool Fiber::resume()
{
    loop::OtherStack& other = loop::other_stack;
    const loop::OtherStack other_before = other;
    loop::Participant& p = loop::self;
    const uintptr_t frame = p.frame;
    other = {lowest_, guard_};
    p.frame = uintptr_t(this);
    const transfer_t from = jump_fcontext(context_, this);
    if (!ended_)
        context_ = from.fctx;
    p.frame = frame;
    other = other_before;
    return ended_;
}

__attribute__((noinline)) void Fiber::stop()
{
    const transfer_t from = jump_fcontext(context_, nullptr);
    context_ = from.fctx;
}

} // namespace ws::openmp
