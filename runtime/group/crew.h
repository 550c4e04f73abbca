// SPDX-License-Identifier: MIT
//
// Tasks within a process (ws::task_group, `ws task`): the threads that run those of one owner, the rank's own and its
// guests.
//
// Nothing is deferred while no rank waits: a task then runs at once, in order, like a call. When a thread that may own
// regions puts a task and a thief is hungry, a region is published whose iterations are turns: a guest that has one
// steals tasks for as long as a chunk takes. The region is open until a wait ends with which no task is left.
#pragma once

#include "abi/abi.h"
#include "group/deque.h"
#include "group/task.h"
#include "loop/region.h"
#include "base/os.h"

namespace ws::group {

using base::Flag;
using base::Hardware;

using Deque = BasicDeque<ws_deferred>;

struct alignas(64) CrewMember {
    Deque deque;
    volatile Flag taken = 0; // a thread has it
    volatile Flag busy = 0;  // that thread runs a task
    unsigned victim = 0;     // its thread's: where it stole last
    unsigned number = 0;     // in its crew; 0: the owner's
};

class Crew {
public:
    static constexpr unsigned most_members = 256;

    // The owner's; member 0. Made with the crew.
    CrewMember& owner() { return *members_[0]; }

    // A deque for a guest; null if there are too many, or no memory.
    CrewMember* join();
    // Leaves its tasks to others.
    static void leave(CrewMember& member) { Hardware::store_release(member.taken, 0); } // pairs with join()

    // The next task for a member: its newest, or another's oldest; null if there is none. Not `any`: of others only
    // what guests have left.
    ws_deferred* next(CrewMember& member, bool any = true);

    // Whether any member has a task that waits, and whether any other than `own` runs one; estimates.
    bool has_tasks() const;
    bool is_busy(const CrewMember& own) const;

    static Crew* make(); // null: no memory

    // Members there have been so far.
    unsigned members() const { return Hardware::load_acquire(known_); } // pairs with join()
    Task root;         // stands for the owner's functions, as the parent of the tasks that these put
    ws_group all = {}; // the tasks of directives that are in no taskgroup

    // Thieves are to come. By a member that has put a task; and not by one that has found none.
    volatile Flag offered = 0;

private:
    // Whether `is(member)` of any.
    template <class Is> bool any(Is&& is) const
    {
        for (Flag i = Hardware::load_acquire(known_); i-- > 0;) // pairs with join()
            if (is(*base::load_relaxed(members_[i])))
                return true;
        return false;
    }
    ws_deferred* steal(CrewMember& member, bool any);

    CrewMember* volatile members_[most_members] = {}; // the first `known_`; they stay
    volatile Flag known_ = 0;
};

// MPI_Finalize begins, in the thread that called MPI_Init: ends a region that groups which nobody has waited for keep
// open.
void end();

} // namespace ws::group
