// SPDX-License-Identifier: MIT
//
// Decides which node gives tasks to which: the paper's algorithm and its rivals behind one interface. Each node has one
// balancer. It is told what its node has to do and what other balancers tell it, and says what to tell them and what to
// give away. It calls no MPI, reads no clock and waits for nothing: the pool of tasks (pool.h) and the simulator of
// benchmarks/tasks_simulated.cpp run the same code.
#pragma once

#include "policy/tasks/classify.h"
#include "policy/tasks/pace.h"
#include "policy/tasks/worth.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace ws::policy::tasks {

// A node as its balancer sees it.
struct Look {
    double now_s = 0;     // of any clock that goes on
    double rest = 0;      // tasks that are not done
    double waiting = 0;   // of these: may be moved
    double cores = 1;
    double mean_s = 0;    // expected of a task; 0: not known
    double grows = 1;     // how many tasks run in the end for one of them (Growth)
    double unit_s = 1e-3; // the unit of time (classify.h)
    double room = 0;      // bytes of tasks that it can take
    int address = 0;      // the rank that tasks for this node should go to
    Pace pace;
    double capacity() const { return tasks::capacity(cores, mean_s * grows, unit_s); }
    double rate() const { return mean_s > 0 ? cores / (mean_s * grows) : 0; } // by which `rest` falls, a second
};

// What balancers tell each other.
struct Note {
    enum What : uint8_t {
        state,   // of a node, or of a group of nodes: `cls`, rest, movable, came, went, rate, capacity, cores, room,
             // address, pace, all
        order,   // give `tasks` to `node`, whose state is in the note; or to the group that begins with it
        offer,   // to a group: `node` has `tasks` for it
        spare,   // from it: `tasks` of those that `node` had for it nobody needs
        short_of, // `tasks` of those ordered for `node`, or its group, are not available
        level,   // of all nodes: `rest` tasks for each core
        index,   // a neighbour's state
        ask,     // for tasks, as a thief
        refuse,
        lifeline, // tell me when there is something
    };
    What what = state;
    Class cls = Class::normal;
    bool of_group = false;
    int32_t node = 0, address = 0;
    double rest = 0, capacity = 0, cores = 0, room = 0, tasks = 0, rate = 0;
    // In a state: how much of `rest` may move; and the tasks ordered in this run, to and from here, that `rest`
    // includes: they have come, or have gone, or it is known that they do not.
    double movable = 0, came = 0, went = 0;
    Pace pace, all; // of the node; of all that the sender knows
};

// What `node`, which looks so, tells of itself.
inline Note note_of(Note::What what, int node, const Look& own)
{
    Note n;
    n.what = what;
    n.node = node;
    n.address = own.address;
    n.rest = own.rest;
    n.capacity = own.capacity();
    n.cores = own.cores;
    n.rate = own.rate();
    n.movable = own.waiting;
    n.room = own.room;
    n.pace = n.all = own.pace;
    return n;
}

// An order to give `tasks` tasks to a node, if they are worth it.
struct Gift {
    int node = 0, address = 0;
    double tasks = 0;
    double room = 0;              // bytes that it can take
    Side to = {0, 1, 1};
    bool whatever = false;        // without asking whether they are worth it
    double speed = 0;             // V of the giver
};

// What is to be done now.
struct Actions {
    struct Letter {
        int node;
        Note note;
    };
    std::vector<Letter> letters;
    std::vector<Gift> gifts; // for each of them gave() is called
};

struct Rules {
    unsigned most_moves = 2;            // of a task
    double horizon = 0;                 // nodes that are farther apart are no pair; 0: the whole machine
    double first_pause_s = 1e-3, longest_pause_s = 0.05; // after a gift that did not pay
    double patience_s = 1e-3;           // for an answer: whose rank is not at work has given it by then
    int tree_from = 64;                 // from this number of nodes on, schedulers form a tree
    uint64_t seed = 1;
};

class Balancer {
public:
    virtual ~Balancer() = default;
    // A run begins: nothing is under way, and no node had anything left when the last one ended. What was told late in
    // that may not have come.
    virtual void begin() {}
    // This node's load may have changed. Often called; says something where it matters only.
    virtual void look(const Look& own, Actions& actions) = 0;
    virtual void note(int from, const Note& note, const Look& own, Actions& actions) = 0;
    // How many tasks of a gift really went; `own`: after it.
    virtual void gave(const Gift& gift, double tasks, const Look& own, Actions& actions) = 0;
    // Tasks have come from another node.
    virtual void arrived(int from, double tasks, const Look& own, Actions& actions) = 0;
    // A letter is on its way that others wait to have answered: who computes in a task should look for it soon.
    virtual bool expects(double now_s) const { return static_cast<void>(now_s), false; }
    // How often a task may move.
    virtual unsigned most_moves() const { return ~0u; }
};

enum class Algorithm : uint8_t { central, neighbours, random, lifeline, none };

// One for node `me` of `nodes`; null for none.
std::unique_ptr<Balancer> make_balancer(Algorithm algorithm, int me, int nodes, const Rules& rules);
std::unique_ptr<Balancer> make_central(int me, int nodes, const Rules& rules);
std::unique_ptr<Balancer> make_neighbours(int me, int nodes, const Rules& rules);
std::unique_ptr<Balancer> make_thief(int me, int nodes, const Rules& rules, bool lifelines);

} // namespace ws::policy::tasks
