// SPDX-License-Identifier: MIT
//
// The scheduling process of the paper: knows the state of its members, as they told it last, and pairs those that have
// too much with those that have too little. A member is a node, or a group of nodes with a scheduler of its own.
#pragma once

#include "policy/nblb/balancer.h"

#include <vector>

namespace ws::policy::nblb {

struct State {
    Class cls = Class::light;
    double rest = 0, capacity = 1, cores = 1, room = 0;
    int node = 0, address = 0; // where tasks for it should go
    Pace pace, all;            // of that node; of all nodes of the member
};

struct Order {
    int from, to; // members
    double tasks;
    State receiver; // as it was
};

class Scheduler {
public:
    // `nodes`, `each`: how many there are, and how many a member has, the last one perhaps fewer. Who has not told its
    // state yet counts as having nothing to do and as many cores as others, but gets nothing either.
    Scheduler(int nodes, int each, double horizon);

    void tell(int member, const State& state);
    // So many tasks that `member` was to get do not come.
    void short_of(int member, double tasks);
    // The rest for each core on all nodes, where there are others than these; -1: these are all.
    void set_level(double rest_for_core) { outer_ = rest_for_core; }

    // So many tasks of a member go to somebody who is none.
    void give(int member, double tasks) { members_[size_t(member)].state.rest -= tasks; }

    // What is to be given to whom now. Each order levels both: the giver keeps what all have on average, and does not
    // become light; the receiver gets as much as that, or what makes it normal. So no two orders meet in a node.
    std::vector<Order> pair();

    // Of all members in one: heavy or light if some are that could not be paired.
    State summary() const;
    double level() const; // rest for each core on average
    Pace pace() const;    // of all members
    // The member with most to give; -1: none has any.
    int heaviest() const;
    double surplus(int member) const;

private:
    struct Member {
        State state;
        double nodes = 1;
        bool told = false;
        double coming = 0; // ordered for it since it told its state
    };
    // What each should have, in whole tasks: together as many as there are. One task too many is what all wait for.
    std::vector<double> shares() const;
    double deficit(const Member& m, double share) const;
    double surplus(const Member& m, double share) const;
    double untold() const; // how many times as large all are as those that have told their state

    std::vector<Member> members_;
    double horizon_;
    double outer_ = -1;
};

} // namespace ws::policy::nblb
