// SPDX-License-Identifier: MIT
//
// NBLB: each node tells a scheduler when its state changes, and the scheduler orders which node gives to which. The
// scheduler is a part of the balancer of node 0. From `tree_from` nodes on there is one per group of nodes, with about
// as many groups as nodes per group, and node 0's pairs groups: the scheduler of a heavy group offers what its nodes
// have to that of a light one, and this orders it for its nodes. So tasks go straight from the node that gives to the
// one that runs them, whatever the way of the orders, and no scheduler hears from more than 2 sqrt(nodes).
#include "policy/tasks/scheduler.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ws::policy::tasks {

namespace {

// A node, a scheduler of its group and the root in one, as a node may be all three: they differ in which of the notes
// they get, and share what the node has told and got.
class Central final : public Balancer {
public:
    Central(int me, int nodes, const Rules& rules)
        : me_(me), nodes_(nodes), rules_(rules),
          group_(nodes < rules.tree_from ? nodes : int(std::ceil(std::sqrt(double(nodes)))))
    {
        if (me % group_ == 0) {
            scheduler_.emplace(std::min(group_, nodes - me), 1, rules.horizon);
            // Until node 0 has told the level: as if the other groups had nothing.
            share_ = double(std::min(group_, nodes - me)) / nodes;
        }
        if (me == 0 && group_ < nodes)
            root_.emplace(nodes, group_, rules.horizon > 0 ? rules.horizon / group_ + 1 : 0);
    }

    unsigned most_moves() const override { return rules_.most_moves; }

    // At first what the nodes have; later who gets what this node offers to other groups.
    bool expects(double now_s) const override
    {
        return now_s < expects_until_s_ && (offered_ >= 1 || (scheduler_ && !scheduler_->knows_all()) ||
                                            (root_ && !root_->knows_all()));
    }

    void begin() override
    {
        came_ = went_ = group_came_ = group_went_ = offered_ = 0;
        for (Note* said : {&told_, &group_said_}) { // what schedulers begin with, too
            said->cls = Class::light;
            said->rest = 0;
        }
        level_ = gave_at_s_ = paused_until_s_ = -1;
        has_got_ = has_said_ = has_begun_ = false;
        if (scheduler_)
            scheduler_->begin(false);
        if (root_) // how fast groups are they tell at the same time, or those that have learnt more would seem faster
            root_->begin(true);
    }

    void look(const Look& own, Actions& actions) override
    {
        if (!has_begun_) {
            has_begun_ = true;
            expects_until_s_ = own.now_s + rules_.patience_s;
        }
        if (worth_telling(own))
            tell(own, actions);
        else if (scheduler_ && group_ < nodes_ && !has_said_)
            pair(own, actions);
    }

    void note(int from, const Note& note, const Look& own, Actions& actions) override
    {
        for (std::optional<Scheduler>* s : {&scheduler_, &root_})
            if (*s)
                (*s)->advance(own.now_s);
        switch (note.what) {
        case Note::state:
            if (note.of_group)
                group_told(from / group_, note, own, actions);
            else
                node_told(from, note, own, actions);
            break;
        case Note::order:
            if (note.of_group)
                share_out(note, own, actions);
            else {
                if (scheduler_of(note.node) != scheduler_of(me_))
                    offered_ -= note.tasks;
                ordered(note, own, actions);
            }
            break;
        case Note::offer:
            offered(from, note, own, actions);
            break;
        case Note::spare:
            if (scheduler_) {
                offered_ -= note.node == me_ ? note.tasks : 0;
                scheduler_->give(note.node - me_, -note.tasks);
                pair(own, actions);
            }
            break;
        case Note::short_of:
            missing(note, own, actions);
            break;
        case Note::level:
            level_ = note.rest;
            if (scheduler_)
                pair(own, actions);
            break;
        default:
            break;
        }
    }

    void gave(const Gift& gift, double tasks, const Look& own, Actions& actions) override
    {
        went_ += gift.tasks;
        if (tasks > 0) {
            gave_at_s_ = own.now_s;
            told_.rest -= tasks; // what the scheduler takes it to be now
        }
        if (tasks >= gift.tasks)
            return;
        // Its tasks are not available: it rests for a while instead of being asked again and again.
        if (tasks < 1)
            pause(own);
        lacks(gift.node, gift.tasks - tasks, own, actions);
    }

    void arrived(int, double tasks, const Look& own, Actions& actions) override
    {
        came_ += tasks;
        if (told_.cls == Class::light)
            tell(own, actions);
    }

private:
    int scheduler_of(int node) const { return node / group_ * group_; }

    Class state_of(const Look& own) const
    {
        const Class cls = classify(own.rest, own.capacity());
        return cls == Class::heavy && (own.now_s < paused_until_s_ || own.waiting < 1) ? Class::normal : cls;
    }

    bool worth_telling(const Look& own)
    {
        const Class cls = state_of(own);
        if (!has_told_)
            return true;
        // What the scheduler reckons with (Scheduler::advance()).
        const double expected = std::max(0.0, told_.rest - told_.rate * (own.now_s - told_at_s_));
        if (cls == Class::light) {
            if (told_.cls != Class::light && gave_at_s_ >= 0) {
                if (own.now_s - gave_at_s_ < 2 * own.unit_s) // it gave what it now lacks
                    pause(own);
                else
                    pause_s_ = rules_.first_pause_s;
                gave_at_s_ = -1;
            }
            // Nothing left at all, or much less: others count on what it had.
            return told_.cls != Class::light || (own.rest < 1 && told_.rest >= 1) ||
                   (2 * own.rest < expected && own.now_s - told_at_s_ > own.unit_s);
        }
        // A node at the border would tell with each task. Nobody waits for that; but for what has just got many.
        const bool jumps = told_.cls == Class::light && cls == Class::heavy;
        if (!jumps && own.now_s - told_at_s_ < own.unit_s)
            return false;
        return cls != told_.cls ||
               (cls == Class::heavy && (own.rest > 1.25 * expected + 1 || 2 * own.rest < expected));
    }

    void pause(const Look& own)
    {
        paused_until_s_ = own.now_s + pause_s_;
        pause_s_ = std::min(2 * pause_s_, rules_.longest_pause_s);
    }

    // The scheduler knows what this node told it last, which may be twice what there is: no more goes than levels both
    // nodes. Tasks that have gone too far cannot come back, as they move only so often.
    void ordered(const Note& order, const Look& own, Actions& actions)
    {
        const double levels =
            most_to_move({own.rest, speed_to_count_on(own.pace, order.all), own.cores},
                         {order.rest, speed_to_count_on(order.pace, order.all), order.cores});
        Gift gift = {order.node, order.address, order.tasks, order.room,
                     {order.rest, speed(order.pace, order.all), order.cores}, false, speed(own.pace, order.all)};
        if (levels >= order.tasks)
            actions.gifts.push_back(gift);
        else if (levels < 1) { // as a node that is not heavy it gets no such order before it tells more
            paused_until_s_ = own.now_s + own.unit_s;
            went_ += gift.tasks;
            lacks(gift.node, gift.tasks, own, actions);
        } else {
            gift.tasks = levels;
            actions.gifts.push_back(gift);
            went_ += order.tasks - gift.tasks;
            told_.rest = 0; // to be told again
            post(scheduler_of(gift.node), brief(Note::short_of, gift.node, order.tasks - gift.tasks), own, actions);
        }
    }

    // `tasks` tasks that `node` was to get do not come.
    void lacks(int node, double tasks, const Look& own, Actions& actions)
    {
        tell(own, actions);
        post(scheduler_of(node), brief(Note::short_of, node, tasks), own, actions);
    }

    void tell(const Look& own, Actions& actions)
    {
        has_told_ = true;
        told_at_s_ = own.now_s;
        Note n = note_of(Note::state, me_, own);
        n.cls = state_of(own);
        n.came = came_;
        n.went = went_;
        told_ = n;
        post(scheduler_of(me_), told_, own, actions);
    }

    // Its own scheduler it tells at once.
    void post(int node, const Note& n, const Look& own, Actions& actions)
    {
        if (node == me_)
            note(me_, n, own, actions);
        else
            actions.letters.push_back({node, n});
    }

    // ---- as a scheduler

    static MemberState state_in(const Note& n)
    {
        return {n.cls,   n.rest, n.movable, n.came,    n.went, n.rate, n.capacity,
                n.cores, n.room, n.node,    n.address, n.pace, n.all};
    }
    static Note order_of(const TransferOrder& o, const Pace& all)
    {
        const MemberState& r = o.receiver;
        Note n;
        n.what = Note::order;
        n.node = r.node;
        n.address = r.address;
        n.rest = r.rest;
        n.cores = r.cores;
        n.room = r.room;
        n.pace = r.pace;
        n.all = all;
        n.tasks = o.tasks;
        return n;
    }

    void node_told(int node, const Note& n, const Look& own, Actions& actions)
    {
        if (!scheduler_ || scheduler_of(node) != me_)
            return;
        scheduler_->tell(node - me_, state_in(n));
        pair(own, actions);
    }

    void pair(const Look& own, Actions& actions)
    {
        if (group_ < nodes_) {
            scheduler_->set_level(-1);
            const double own_level = scheduler_->level();
            scheduler_->set_level(level_ >= 0 ? std::min(level_, own_level) : own_level * share_);
        }
        const Pace of_members = scheduler_->pace();
        for (const TransferOrder& o : scheduler_->pair())
            post(me_ + o.from, order_of(o, of_members), own, actions);
        if (group_ == nodes_)
            return;
        const MemberState all = scheduler_->summary();
        const double expected = std::max(0.0, group_said_.rest - group_said_.rate * (own.now_s - said_at_s_));
        const bool new_state =
            all.cls != group_said_.cls ||
            (all.cls == Class::light && has_got_) || // and that was not enough
            (all.cls == Class::heavy && (all.rest > 1.25 * expected + 1 || 2 * all.rest < expected));
        if (has_said_ && !new_state)
            return;
        has_said_ = true;
        said_at_s_ = own.now_s;
        has_got_ = false;
        if (all.cls == Class::light) // what it gets is its share
            level_ = HUGE_VAL;
        group_said_.what = Note::state;
        group_said_.of_group = true;
        group_said_.cls = all.cls;
        group_said_.node = me_;
        group_said_.rest = all.rest;
        group_said_.capacity = all.capacity;
        group_said_.cores = all.cores;
        group_said_.rate = all.rate;
        group_said_.movable = all.movable;
        group_said_.came = group_came_;
        group_said_.went = group_went_;
        group_said_.pace = all.pace;
        group_said_.all = all.all;
        post(0, group_said_, own, actions);
    }

    // What this group is to give to another.
    void share_out(const Note& order, const Look& own, Actions& actions)
    {
        double left = order.tasks;
        group_went_ += order.tasks;
        group_said_.rest -= order.tasks; // what node 0 takes it to be now
        while (scheduler_ && left >= 1) {
            const int from = scheduler_->heaviest();
            if (from < 0)
                break;
            const double part = std::min(left, scheduler_->surplus(from));
            scheduler_->give(from, part);
            left -= part;
            if (from == 0) { // this node: the orders come to it
                offered_ += part;
                expects_until_s_ = own.now_s + rules_.patience_s;
            }
            post(order.node, brief(Note::offer, me_ + from, part), own, actions);
        }
        if (left < 1)
            return;
        Note lacking = brief(Note::short_of, order.node, left);
        lacking.of_group = true;
        post(0, lacking, own, actions);
    }

    // What a node of another group has for this one.
    void offered(int from, const Note& offer, const Look& own, Actions& actions)
    {
        if (!scheduler_)
            return;
        double left = offer.tasks;
        group_came_ += offer.tasks;
        const Pace of_members = scheduler_->pace();
        for (const TransferOrder& o : scheduler_->take(offer.tasks, offer.node - me_)) {
            left -= o.tasks;
            has_got_ = true;
            post(offer.node, order_of(o, of_members), own, actions);
        }
        if (left >= 1)
            post(from, brief(Note::spare, offer.node, left), own, actions);
    }

    void missing(const Note& n, const Look& own, Actions& actions)
    {
        if (n.of_group && root_) {
            root_->short_of(n.node / group_, n.tasks);
            pair_groups(-1, own, actions);
        } else if (!n.of_group && scheduler_) {
            scheduler_->short_of(n.node - me_, n.tasks);
            pair(own, actions);
        }
    }

    static Note brief(Note::What what, int node, double tasks)
    {
        Note n;
        n.what = what;
        n.node = node;
        n.tasks = tasks;
        return n;
    }

    // ---- as the scheduler of groups

    void group_told(int group, const Note& n, const Look& own, Actions& actions)
    {
        if (!root_)
            return;
        root_->tell(group, state_in(n));
        pair_groups(n.cls == Class::heavy ? group : -1, own, actions);
    }

    void pair_groups(int teller, const Look& own, Actions& actions)
    {
        const Pace of_groups = root_->pace();
        const double level = root_->level();
        for (const TransferOrder& o : root_->pair()) {
            Note n = order_of(o, of_groups);
            n.of_group = true; // `node` is that group's first
            post(o.from * group_, n, own, actions);
        }
        if (teller < 0)
            return;
        Note n; // a heavy group shall not keep to itself what others lack
        n.what = Note::level;
        n.rest = level * root_->speed(teller); // there by its own mean speed
        if (teller == 0)
            level_ = n.rest;
        else
            post(teller * group_, n, own, actions);
    }

    int me_, nodes_;
    Rules rules_;
    int group_; // nodes in a group
    std::optional<Scheduler> scheduler_, root_;
    double share_ = 1, level_ = -1;

    Note told_;
    bool has_told_ = false, has_begun_ = false;
    double came_ = 0, went_ = 0, group_came_ = 0, group_went_ = 0; // of Note, in this run
    double told_at_s_ = 0, gave_at_s_ = -1;
    double offered_ = 0, expects_until_s_ = -1; // offered_: of this node's tasks, to other groups, and not ordered yet
    double paused_until_s_ = -1, pause_s_ = rules_.first_pause_s;
    Note group_said_;
    double said_at_s_ = 0;
    bool has_said_ = false, has_got_ = false; // has_got_: since then
};

} // namespace

std::unique_ptr<Balancer> make_central(int me, int nodes, const Rules& rules)
{
    return std::make_unique<Central>(me, nodes, rules);
}

} // namespace ws::policy::tasks
