// SPDX-License-Identifier: MIT
//
// `ws task` and taskloop, as clang lowers them: a task is memory that is asked for first, in which the compiled code
// then makes what the task gets. A task that nobody could take is in its caller's frame, and a call.
#include "group/put.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ws::group {

namespace {

// What libws and the compiled code share of a task: libomp's kmp_task_t. The program's private variables follow, and
// then the addresses of its shared ones.
struct Given {
    void* shared;
    int (*entry)(int, void*);
    int part;
    int (*destroy)(int, void*); // WS_TASK_DESTROY: its objects
    uintptr_t priority;
    // A taskloop has the iterations lower to upper.
    uint64_t lower, upper, step;
    int is_last;
    void* reductions;
};
static_assert(offsetof(Given, entry) == 8 && offsetof(Given, destroy) == 24 && offsetof(Given, lower) == 40 &&
              offsetof(Given, is_last) == 64 && offsetof(Given, reductions) == 72);

// libws's own of it, right before.
struct alignas(64) Head {
    size_t bytes, shared; // of the rest; where in it the addresses begin
    unsigned flags;
    ws_site* site;
    Task* task; // null: it is in its caller's frame

    Given& given() { return *reinterpret_cast<Given*>(this + 1); }
    static Head& of(void* given) { return static_cast<Head*>(given)[-1]; }
};
static_assert(WS_TASK_SPACE(40, 8) == sizeof(Head) + 48 + 8);

// libomp's kmp_depend_info.
struct Depend {
    void* address;
    size_t bytes;
    unsigned char flags; // 2: it is written
};

using Copy = void (*)(void*, void*, int);

void destroy(Head& head)
{
    if (head.flags & WS_TASK_DESTROY)
        head.given().destroy(0, &head.given());
}

void run_given(void* given)
{
    static_cast<Given*>(given)->entry(0, given);
    destroy(Head::of(given));
}

// The task is a call.
inline void run_here(Head& head) noexcept
{
    ws_group_depth++;
    const unsigned final = head.flags & WS_TASK_FINAL ? 1 : 0;
    part.context.final += final;
    run_given(&head.given());
    part.context.final -= final;
    ws_group_depth--;
}

// A task that may be deferred, with room for what is behind the head; null: no memory.
Head* make(size_t bytes, unsigned flags)
{
    Task* const task = make_task(sizeof(Head) + bytes, alignof(Head), flags & WS_TASK_FINAL);
    if (!task)
        return nullptr;
    Head* const head = static_cast<Head*>(task->data);
    task->fn = run_given;
    task->data = &head->given();
    head->task = task;
    return head;
}

void start(Head& head, bool may_wait, void** depend)
{
    Task* const task = head.task;
    if (task && part.member) {
        put(*task, depend, may_wait);
        return;
    }
    // What has made the task's objects may have opened a region, or closed it.
    if (depend && part.member && !part.context.final)
        wait_for_children();
    run_here(head);
    if (task)
        free_task(*task);
}

// One task of a taskloop.
__attribute__((noinline)) void start_part(Head& loop, uint64_t lower, uint64_t upper, bool is_last, bool may_wait,
                                          Copy copy)
{
    Head* head = may_defer(may_wait, loop.site) ? make(loop.bytes, loop.flags) : nullptr;
    Task* const task = head ? head->task : nullptr;
    if (!head)
        head = reinterpret_cast<Head*>(
            aligned(static_cast<char*>(__builtin_alloca(sizeof(Head) + loop.bytes + alignof(Head))), alignof(Head)));
    std::memcpy(static_cast<void*>(head), &loop, sizeof loop + loop.bytes);
    head->task = task;
    Given& given = head->given();
    given.shared = reinterpret_cast<char*>(&given) + head->shared;
    given.lower = lower;
    given.upper = upper;
    if (copy)
        copy(&given, &loop.given(), is_last);
    start(*head, may_wait, nullptr);
}

} // namespace

WS_EXPORT void* ws_new_task(unsigned flags, long size, long shared, int (*entry)(int, void*), ws_site* site,
                            void* space)
{
    const size_t at = (size_t(size) + 15) / 16 * 16, bytes = at + size_t(shared);
    Head* head = !(flags & WS_TASK_LOOP) && may_defer(true, site) ? make(bytes, flags) : nullptr;
    Task* const task = head ? head->task : nullptr;
    if (!head)
        head = static_cast<Head*>(space);
    *head = {bytes, at, flags, site, task};
    Given& given = head->given();
    given.shared = reinterpret_cast<char*>(&given) + at;
    given.entry = entry;
    given.part = 0;
    return &given;
}

WS_EXPORT void ws_start_task(void* task, bool may_wait, int count, const void* depend)
{
    Head& head = Head::of(task);
    if (WS_LIKELY(!count)) {
        start(head, may_wait, nullptr);
        return;
    }
    // As GCC writes them: the number of all, of those that are written, and these first.
    const auto* const given = static_cast<const Depend*>(depend);
    void** const addresses = static_cast<void**>(__builtin_alloca((size_t(count) + 2) * sizeof(void*)));
    size_t known = 2;
    for (const bool written : {true, false}) {
        for (int i = 0; i < count; i++)
            if (written == ((given[i].flags & 2) != 0))
                addresses[known++] = given[i].address;
        if (written)
            addresses[1] = reinterpret_cast<void*>(known - 2);
    }
    addresses[0] = reinterpret_cast<void*>(known - 2);
    start(head, may_wait, addresses);
}

WS_EXPORT void ws_start_taskloop(void* task, unsigned flags, unsigned long tasks, void (*copy)(void*, void*, int))
{
    Head& loop = Head::of(task);
    uint64_t lower = loop.given().lower;
    each_part(flags, tasks, loop.given().upper - lower + 1, [&](uint64_t n, uint64_t left) {
        start_part(loop, lower, lower + n - 1, !left, flags & WS_TASK_IF, copy);
        lower += n;
    });
    destroy(loop);
}

} // namespace ws::group
