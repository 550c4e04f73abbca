// SPDX-License-Identifier: MIT
//
// How a thread takes part in tasks, for the files of this folder: those of ws::task_group (crew.cpp) and those of
// directives (task.cpp) lie in the same deques.
#pragma once

#include "group/crew.h"
#include "loop/open_region.h"

namespace ws::group {

using loop::Participant;
using loop::self;

// What a task of a directive that the calling thread puts gets from where it stands.
struct Context {
    Task* task;            // null: none is running that may have been deferred
    ws_group* set;         // null: no taskgroup that was opened while tasks may be deferred
    uintptr_t* reductions; // see reductions.cpp
    unsigned final;        // such tasks around
    LlvmReductions* llvm_reductions; // see llvm_reductions.cpp
    unsigned groups;       // taskgroups around, in this task
};

struct Part {
    Crew* crew;
    CrewMember* member; // null: what it puts runs at once
    bool owns;      // it has opened the crew's region
    uint64_t began; // ticks; of the first task that somebody waited for, until its outermost wait is over; 0: none
    uint64_t rung;  // ticks; owner: when it last looked for sleepers
    unsigned nested; // waits, each in a task that the one before ran
    Context context;
    Task* ready; // tasks of directives that may begin, and did not fit into the deque: run() runs them next
    ws_site* first;    // where that first task was put
    uint64_t expected; // ticks that it and what follows are thought to take
};
extern __thread Part part __attribute__((tls_model("initial-exec")));

// The calling thread's crew, if it may open a region; null: no memory.
Crew* crew_of(const Participant& p);

// Runs a task, once, and those that it makes ready and that have no room elsewhere.
void run(ws_deferred* task);
// Thieves are to come, as there are tasks.
void offer(const Participant& p);
// An owner calls it now and then: makes guests that thieves want, and rings thieves that sleep.
void look_after_thieves(Participant& p);
// Whether tasks that the calling thread puts may come to run on several threads.
inline bool may_have_others() { return part.crew || (self.owner && !self.in_region); }
// A taskgroup is over: adds up what its tasks have reduced (llvm_reductions.cpp).
void end_llvm_reductions();
// A task of a directive has run: tells those that wait for it (task.cpp).
void over(Task& task);

// The calling thread's next task while it waits for something; null: `done()`.
template <class Done> ws_deferred* wait_for_one(Participant& p, const char* what, Done&& done)
{
    // A wait inside `most_nested` others takes no tasks of threads that are there to run them: each could bring another
    // wait, and the stack is finite. Its own tasks are parts of what it waits for.
    constexpr unsigned most_nested = 32;
    const auto next = [] {
        return part.member ? part.crew->next(*part.member, part.nested < most_nested) : nullptr;
    };
    ws_deferred* task = next();
    if (task)
        return task;
    const uint64_t since = base::ticks();
    loop::wait_until(what, [&] { return done() || (task = next()); });
    p.idle_ticks += base::ticks() - since;
    return task;
}

// While it lives, the calling thread computes as its region's owner did when it opened.
class Computing {
public:
    explicit Computing(const Participant& p)
    {
        if (WS_LIKELY(!part.member || p.region->state.computes_as_now()))
            return;
        changed_ = true;
        floats_.note();
        locale_ = uselocale(p.region->state.locale);
        p.region->state.floats.load();
    }
    ~Computing()
    {
        if (WS_LIKELY(!changed_))
            return;
        floats_.load();
        uselocale(locale_);
    }

private:
    bool changed_ = false;
    loop::FloatControl floats_;
    locale_t locale_;
};

// Runs tasks until `is_over()`.
template <class Over> void run_until(const char* what, Over&& is_over)
{
    Participant& p = self;
    const Computing computing(p);
    const auto done = [&] {
        if (part.owns)
            look_after_thieves(p);
        return is_over();
    };
    while (!is_over())
        if (ws_deferred* const task = wait_for_one(p, what, done)) {
            part.nested++;
            run(task);
            part.nested--;
            if (part.owns)
                look_after_thieves(p);
        }
}
// A wait is over: closes the region if it was the outermost one and no task is left.
void end_wait();

} // namespace ws::group
