// SPDX-License-Identifier: MIT
//
// The scheduling process of the paper: knows the state of its members, as they told it last, and pairs those that have
// too much with those that have too little. A member is a node, or a group of nodes with a scheduler of its own.
#pragma once

#include "policy/tasks/balancer.h"

#include <algorithm>
#include <vector>

namespace ws::policy::tasks {

struct MemberState {
    Class cls = Class::light;
    double rest = 0, movable = 0, came = 0, went = 0, rate = 0, capacity = 1, cores = 1, room = 0; // as in Note
    int node = 0, address = 0; // where tasks for it should go
    Pace pace, all;            // of that node; of all nodes of the member
};

struct TransferOrder {
    int from, to; // members
    double tasks;
    MemberState receiver; // as it is before, with what is on its way
};

class Scheduler {
public:
    // `nodes`, `each`: how many there are, and how many a member has, the last one perhaps fewer. A member that has not
    // told its state yet counts as having nothing to do and as many cores as others, but gets nothing either.
    Scheduler(int nodes, int each, double horizon);

    // A run begins: nothing is under way, no member has anything. `all_tell`: all tell their state again.
    void begin(bool all_tell);
    // Members go on with their tasks after they have told how many there are: what they have now is reckoned. To be
    // called first.
    void advance(double now_s);
    void tell(int member, const MemberState& state);
    // `tasks` tasks that `member` was to get do not come.
    void short_of(int member, double tasks);
    // The level of all nodes, where there are others than these; -1: these are all.
    void set_level(double rest_for_core) { outer_ = rest_for_core; }

    // Have all members told their state?
    bool knows_all() const;
    // `tasks` tasks of a member go to a node that is no member. Here and above, a number that no member has is ignored.
    void give(int member, double tasks)
    {
        if (has(member))
            members_[size_t(member)].from += tasks;
    }
    // `tasks` tasks come from a node that is no member; `from` counts as a member's number here. They are shared out to
    // members that lack tasks, so that these have the same. Orders have no giver.
    std::vector<TransferOrder> take(double tasks, int from);

    // What is to be given to whom now. Each order levels both: the giver keeps what all have on average, and does not
    // become light; the receiver gets as much as that, or what makes it normal. So no two orders meet in a node.
    std::vector<TransferOrder> pair();

    // Returns the state of all members in one: heavy or light if some are that could not be paired.
    MemberState summary() const;
    double level() const; // rest for each core of the members' mean speed
    double speed(int member) const { return members_[size_t(member)].speed; }
    const Pace& pace();   // of all members
    // The member with most to give; -1: none has any.
    int heaviest() const;
    double surplus(int member) const;

private:
    bool has(int member) const { return member >= 0 && size_t(member) < members_.size(); }
    struct MemberAccount {
        MemberState state;
        double nodes = 1;
        double speed = 1; // of its cores, to count on
        bool told = false;
        double to = 0, from = 0; // ordered in this run, less what is not available
        double coming() const { return to - state.came; }
        double leaving() const { return from - state.went; }
        double strength() const { return told ? state.cores * speed : 0; }
        double rest() const { return std::max(0.0, state.rest - leaving()); }
        double movable() const { return std::max(0.0, state.movable - leaving()); }
    };
    // What each should have, in whole tasks: together as many as there are. One task too many is what all wait for.
    std::vector<double> shares() const { return shares(level()); }
    std::vector<double> shares(double each) const;
    double deficit(const MemberAccount& m, double share) const;
    double surplus(const MemberAccount& m, double share) const;
    static MemberState receiver(const MemberAccount& m);
    double untold() const; // how many times as large all are as those that have told their state
    void weigh();          // finds pace_ and the members' speeds

    std::vector<MemberAccount> members_;
    double horizon_, now_s_ = 0;
    double outer_ = -1;
    Pace pace_;
    bool is_weighed_ = true;
};

} // namespace ws::policy::tasks
