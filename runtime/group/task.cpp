// SPDX-License-Identifier: MIT
//
// `ws task` and taskloop, as GCC lowers them; taskwait and taskgroup. A task that nobody could take is a call, without
// any memory of it; so are those that it puts. From when the crew's region is open, tasks have a head (task.h) and lie
// in the crew's deques.
#include "group/put.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace ws::group {

using base::Flag;
using loop::chaos;

namespace {

// The most children of a task that may wait for others at a time. The thread that puts one more waits until it may run.
constexpr Hardware::Word most_waiting = 4096;

// Some code of a task directive, and what it gets.
struct Code {
    void (*fn)(void*);
    void* data;
    void (*copy)(void*, void*);
    size_t size, align;
    unsigned flags;
    void** depend;         // null: none
    const uint64_t* range; // of a part of a taskloop: two words before the rest of the data; else null
};

void copy_data(const Code& code, void* to)
{
    if (code.copy)
        code.copy(to, code.data);
    else if (code.size)
        std::memcpy(to, code.data, code.size);
    if (code.range)
        std::memcpy(to, code.range, 2 * sizeof *code.range);
}

// The task is a call.
inline void run_here(const Code& code) noexcept
{
    ws_group_depth++;
    const unsigned final = code.flags & WS_TASK_FINAL ? 1 : 0;
    part.context.final += final;
    if (WS_UNLIKELY(code.copy != nullptr)) {
        char* const copy = aligned(static_cast<char*>(__builtin_alloca(code.size + code.align)), code.align);
        copy_data(code, copy);
        code.fn(copy);
    } else {
        if (code.range)
            std::memcpy(code.data, code.range, 2 * sizeof *code.range);
        code.fn(code.data);
    }
    part.context.final -= final;
    ws_group_depth--;
}

void run_task(ws_deferred* deferred) noexcept
{
    Task& task = *static_cast<Task*>(deferred);
    const Context outer = part.context;
    part.context = {&task, task.set, task.reductions, task.final ? 1u : 0u, task.llvm_reductions, 0};
    task.fn(task.data);
    task.addresses.reset();
    part.context = outer;
}

// One of those for which the task is kept is over: itself, or a child.
void release(Task& task)
{
    // Full: what a child wrote comes before. Pairs with has_no_children().
    if (Hardware::fetch_add_full(task.alive, Hardware::Word(0) - 1) == 1)
        free_task(task);
}

bool has_no_children(const Task& task) { return Hardware::load_acquire(task.alive) == 1; } // pairs with release()

// The task that the calling thread runs, or what stands for its owner's functions.
Task& current() { return part.context.task ? *part.context.task : part.crew->root; }

// Pairs with over(), by the thread that ran the task before.
bool may_begin(const Task& task) { return Hardware::load_acquire(task.before) == 1; }

// Null: no memory.
Task* make(const Code& code)
{
    Task* const task = make_task(code.size, code.align, code.flags & WS_TASK_FINAL);
    if (task) {
        task->fn = code.fn;
        copy_data(code, task->data);
    }
    return task;
}

__attribute__((noinline)) void put_code(const Code& code, bool may_wait)
{
    if (Task* const task = make(code)) {
        put(*task, code.depend, may_wait);
        return;
    }
    if (code.depend)
        wait_for_children();
    run_here(code);
}

// The task of such code: deferred, or run here.
inline void put_or_run(const Code& code, bool may_wait, ws_site* site)
{
    if (may_defer(may_wait, site))
        put_code(code, may_wait);
    else
        run_here(code);
}

template <class Number>
void loop_in_tasks(Code code, unsigned long tasks, Number first, Number end, uint64_t iterations, Number step,
                   ws_site* site)
{
    const bool may_wait = code.flags & WS_TASK_IF;
    uint64_t start = uint64_t(first);
    each_part(code.flags, tasks, iterations, [&](uint64_t n, uint64_t left) {
        // Two's complement: signs do not matter. The last part has the loop's end, which its last step may pass, even
        // out of the type.
        const uint64_t range[2] = {start, left ? start + n * uint64_t(step) : uint64_t(end)};
        start = range[1];
        code.range = range;
        put_or_run(code, may_wait, site);
    });
}

template <class Number>
void taskloop(const Code& code, unsigned long tasks, Number start, Number end, uint64_t iterations, Number step,
              ws_site* site)
{
    const bool grouped = !(code.flags & WS_TASK_NOGROUP);
    if (grouped)
        ws_taskgroup_start();
    if (code.flags & WS_TASK_REDUCTION) // behind the range
        ws_task_reduction_start(reinterpret_cast<uintptr_t*>(static_cast<uintptr_t*>(code.data)[2]));
    loop_in_tasks(code, tasks, start, end, iterations, step, site);
    if (grouped)
        ws_taskgroup_end();
}

// A taskgroup that began while tasks may be deferred. What is put in any other is put in tasks that are calls, so all
// tasks that wait then are in it.
struct TaskSet : ws_group {
    ws_group* outer;
};

} // namespace

Task* make_task(size_t bytes, size_t align, bool is_final)
{
    char* const memory = static_cast<char*>(std::malloc(sizeof(Task) + align + bytes));
    if (!memory)
        return nullptr;
    Task* const task = new (memory) Task;
    task->run = run_task;
    task->group = nullptr;
    task->data = aligned(memory + sizeof(Task), align);
    task->final = part.context.final || is_final;
    return task;
}

void free_task(Task& task)
{
    task.~Task();
    std::free(&task);
}

void wait_for_children()
{
    Task& task = current();
    run_until("its tasks", [&task] { return has_no_children(task); });
    task.addresses.reset(); // all are over
}

__attribute__((noinline)) void put(Task& task, void** depend, bool may_wait)
{
    Participant& p = self;
    Task& parent = current();
    task.parent = &parent;
    task.set = part.context.set ? part.context.set : &part.crew->all;
    task.reductions = part.context.reductions;
    task.llvm_reductions = part.context.llvm_reductions;
    chaos.delay();
    Hardware::fetch_add_full(parent.alive, 1);
    Hardware::fetch_add_full(task.set->waiting, 1);
    if (depend) {
        if (!parent.addresses)
            parent.addresses = std::make_unique<Addresses>();
        parent.addresses->order(task, depend);
    }
    // A task that is deferred computes as the region's owner did when it opened.
    const bool now = !may_wait || !p.region->state.computes_as_now();
    if (!now && (!depend || Hardware::load_relaxed(parent.alive) < most_waiting)) {
        // Full: pairs with over(). The last of those before it puts it.
        if (depend && Hardware::fetch_add_full(task.before, Hardware::Word(0) - 1) != 1)
            return;
        if (part.member->deque.put(&task)) {
            offer(p);
            if (part.owns)
                look_after_thieves(p);
            return;
        }
    } else if (depend)
        run_until("the tasks before it", [&task] { return may_begin(task); });
    run(&task);
}

void Addresses::order(Task& task, void** depend)
{
    // {0, n, writers, ...} or {n, writers}; then the addresses, those that are written first.
    const bool wide = !depend[0];
    const size_t count = reinterpret_cast<size_t>(depend[wide ? 1 : 0]),
                 writers = reinterpret_cast<size_t>(depend[wide ? 2 : 1]);
    void** const addresses = depend + (wide ? 5 : 2);
    task.order = std::make_shared<Order>();
    const auto after = [&task](const Shared& before) {
        if (!before || before == task.order)
            return;
        Hardware::fetch_add_full(task.before, 1); // before others can know of it
        if (!before->add(&task))
            Hardware::fetch_add_full(task.before, Hardware::Word(0) - 1);
    };
    for (size_t i = 0; i < count; i++) {
        Address& address = of_[addresses[i]];
        after(address.writer);
        if (i >= writers) {
            address.readers.push_back(task.order);
            continue;
        }
        for (const Shared& reader : address.readers)
            after(reader);
        address.readers.clear();
        address.writer = task.order;
    }
}

void over(Task& task)
{
    if (task.order)
        for (Task* later : task.order->end()) {
            // Full: what the task wrote comes before. Pairs with put() and may_begin().
            if (Hardware::fetch_add_full(later->before, Hardware::Word(0) - 1) != 1)
                continue;
            if (part.member->deque.put(later))
                offer(self);
            else {
                later->next = part.ready;
                part.ready = later;
            }
        }
    Task& parent = *task.parent;
    ws_group* const set = task.set;
    release(task);
    // Full: what the task wrote comes before. Pairs with ws_taskgroup_end().
    Hardware::fetch_add_full(set->waiting, Hardware::Word(0) - 1);
    release(parent);
}

WS_EXPORT void ws_put_task(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                           bool may_wait, unsigned flags, void** depend, ws_site* site)
{
    put_or_run({fn, data, copy, size_t(size), size_t(align), flags, flags & WS_TASK_DEPEND ? depend : nullptr, nullptr},
               may_wait, site);
}

WS_EXPORT void ws_taskloop(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                           unsigned flags, unsigned long tasks, long start, long end, long step, ws_site* site)
{
    uint64_t n = 0; // unsigned: the distance may not fit into a long
    if (step > 0 && start < end)
        n = (uint64_t(end) - uint64_t(start) - 1) / uint64_t(step) + 1;
    else if (step < 0 && start > end)
        n = (uint64_t(start) - uint64_t(end) - 1) / -uint64_t(step) + 1;
    taskloop({fn, data, copy, size_t(size), size_t(align), flags, nullptr, nullptr}, tasks, start, end, n, step,
             site);
}

WS_EXPORT void ws_taskloop_ull(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                               unsigned flags, unsigned long tasks, unsigned long long start, unsigned long long end,
                               unsigned long long step, ws_site* site)
{
    uint64_t n = 0;
    if ((flags & WS_TASK_UP) && start < end)
        n = (end - start - 1) / step + 1;
    else if (!(flags & WS_TASK_UP) && start > end)
        n = (start - end - 1) / -step + 1;
    taskloop({fn, data, copy, size_t(size), size_t(align), flags, nullptr, nullptr}, tasks, start, end, n, step,
             site);
}

WS_EXPORT void ws_taskwait(void)
{
    if (part.member)
        wait_for_children();
    end_wait();
}

WS_EXPORT void ws_taskgroup_start(void)
{
    part.context.groups++;
    if (WS_LIKELY(!part.member))
        return;
    TaskSet* const set = new TaskSet{};
    set->outer = part.context.set;
    part.context.set = set;
}

WS_EXPORT void ws_taskgroup_end(void)
{
    if (TaskSet* const set = static_cast<TaskSet*>(part.context.set); WS_UNLIKELY(set != nullptr)) {
        // Pairs with over().
        run_until("the tasks of its group", [set] { return Hardware::load_acquire(set->waiting) == 0; });
        part.context.set = set->outer;
        delete set;
    } else if (part.member) {
        ws_group& all = part.crew->all;
        run_until("the tasks of its group", [&all] { return Hardware::load_acquire(all.waiting) == 0; });
    }
    if (WS_UNLIKELY(part.context.llvm_reductions != nullptr))
        end_llvm_reductions();
    part.context.groups--;
    end_wait();
}

} // namespace ws::group
