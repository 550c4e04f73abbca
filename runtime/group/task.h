// SPDX-License-Identifier: MIT
//
// The tasks of directives (`ws task`, `ws taskloop`): what one knows while it waits, runs, and has children.
#pragma once

#include "abi/abi.h"
#include "base/spin_lock.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace ws::group {

using base::Hardware;

struct Task;
struct LlvmReductions;

// The tasks that must not begin before a task with a depend clause is over. That task's siblings keep this object,
// maybe until after the task has gone.
class Order {
public:
    // By the thread that puts `later`. False if this task is over already.
    bool add(Task* later)
    {
        lock_.lock();
        const bool waits = !over_;
        if (waits)
            later_.push_back(later);
        lock_.unlock();
        return waits;
    }
    // The task is over: hands out those that have waited for it.
    std::vector<Task*> end()
    {
        lock_.lock();
        over_ = true;
        lock_.unlock();
        return std::move(later_); // nobody adds any more
    }

private:
    base::SpinLock lock_;
    bool over_ = false;
    std::vector<Task*> later_;
};

// What the children of one task, put so far, have named in depend clauses. Used by the thread that runs that task.
class Addresses {
public:
    // Orders `task` after those before it. `depend` is as GCC writes it.
    void order(Task& task, void** depend);

private:
    using Shared = std::shared_ptr<Order>;
    struct Address {
        Shared writer;
        std::vector<Shared> readers; // since then
    };
    std::unordered_map<void*, Address> of_;
};

// Its head lies before the data that the compiler's function gets. The parent may end first: it stays until its
// children are over.
struct Task : ws_deferred { // group: null
    void (*fn)(void*) = nullptr;
    void* data = nullptr;
    Task* parent = nullptr;        // may be one that the process's crew has for its owner's functions
    ws_group* set = nullptr;       // the taskgroup that it is in
    uintptr_t* reductions = nullptr; // see reductions.cpp
    LlvmReductions* llvm_reductions = nullptr; // see llvm_reductions.cpp
    std::shared_ptr<Order> order;  // null: no depend clause
    std::unique_ptr<Addresses> addresses; // of its children; null: none has a depend clause
    Task* next = nullptr;          // in a list of those that are ready
    // The number of tasks that must be over before it begins, plus 1 until it is put. Writers: the thread that puts it,
    // and those that run the tasks before it.
    volatile Hardware::Word before = 1;
    // 1 until it is over, and its children. Writers: the threads that put and run them.
    volatile Hardware::Word alive = 1;
    bool final = false;            // it and its children run at once
};

} // namespace ws::group
