// SPDX-License-Identifier: MIT
//
// What NBLB is compared with, in the same pool.
#include "policy/tasks/balancer.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

namespace ws::policy::tasks {

namespace {

// DNBLI, after Zambonelli's "Exploiting biased load information in direct-neighbour load balancing policies": nodes lie
// on a torus, tell their direct neighbours how much they have, and give to the one that has least.
class Neighbours final : public Balancer {
public:
    Neighbours(int me, int nodes) : me_(me), nodes_(nodes)
    {
        int width = std::max(1, int(std::sqrt(double(nodes))));
        while (nodes % width)
            width--;
        const int height = nodes / width, x = me % width, y = me / width;
        for (const int n : {(x + 1) % width + y * width, (x + width - 1) % width + y * width,
                            x + (y + 1) % height * width, x + (y + height - 1) % height * width})
            if (n != me)
                known_.emplace(n, Note());
    }

    void look(const Look& own, Actions& actions) override
    {
        // Sends an index when it has changed enough to decide something.
        const double now = own.rest / own.cores, change = std::abs(now - told_);
        if (!has_told_ || (own.rest < 1) != told_empty_ ||
            change > std::max(own.capacity() / own.cores, 0.25 * told_)) {
            has_told_ = true;
            told_empty_ = own.rest < 1;
            told_ = now;
            const Note n = note_of(Note::index, me_, own);
            for (const auto& [node, ignored] : known_)
                actions.letters.push_back({node, n});
        }
        give(own, actions);
    }

    void note(int from, const Note& note, const Look& own, Actions& actions) override
    {
        const auto it = known_.find(from);
        if (note.what != Note::index || it == known_.end())
            return;
        it->second = note;
        it->second.of_group = true; // known
        give(own, actions);
    }

    void gave(const Gift& gift, double tasks, const Look&, Actions&) override
    {
        if (const auto it = known_.find(gift.node); it != known_.end())
            it->second.rest += std::max(tasks, gift.tasks); // until it says so itself
    }
    void arrived(int, double, const Look& own, Actions& actions) override { look(own, actions); }

private:
    void give(const Look& own, Actions& actions)
    {
        if (classify(own.rest, own.capacity()) != Class::heavy || own.waiting < 1)
            return;
        const Note* least = nullptr;
        for (const auto& [node, n] : known_)
            if (n.of_group && (!least || n.rest / n.cores < least->rest / least->cores))
                least = &n;
        if (!least)
            return;
        Pace all = own.pace;
        for (const auto& [node, n] : known_)
            all += n.pace;
        const double own_v = speed(own.pace, all), v = speed(least->pace, all);
        const bool known = own_v > 0 && v > 0;
        const double here = own.cores * (known ? own_v : 1), there = least->cores * (known ? v : 1);
        const double both = (own.rest * there - least->rest * here) / (here + there);
        const double tasks = std::floor(std::min(both, own.waiting));
        if (tasks >= 1)
            actions.gifts.push_back({least->node, least->address, tasks, least->room,
                                     {least->rest, v, least->cores}, false, own_v});
    }

    int me_, nodes_;
    std::unordered_map<int, Note> known_;
    bool has_told_ = false, told_empty_ = false;
    double told_ = 0;
};

// A node without tasks asks others, chosen at random, for half of what they have. With lifelines: after two refusals it
// asks its neighbours on a hypercube, which remember it, and waits ("Lifeline-based global load balancing", Saraswat
// and others).
class Thief final : public Balancer {
public:
    Thief(int me, int nodes, const Rules& rules, bool lifelines)
        : me_(me), nodes_(nodes), lifelines_(lifelines), random_(rules.seed * 1000003 + uint64_t(me))
    {
    }

    // Nobody answers what was asked in the last run.
    void begin() override
    {
        asking_ = false;
        refused_ = 0;
        waiting_.clear();
    }

    void look(const Look& own, Actions& actions) override
    {
        if (own.waiting < 1 && own.rest < own.cores) {
            if (!asking_ && nodes_ > 1)
                ask(own, actions);
            return;
        }
        // One that waits on a lifeline gets half. The rest is for those that come later.
        while (!waiting_.empty() && own.waiting >= 1 && own.rest > own.cores) {
            const Note n = waiting_.back();
            waiting_.pop_back();
            give(n, own, actions);
            break;
        }
    }

    void note(int from, const Note& note, const Look& own, Actions& actions) override
    {
        switch (note.what) {
        case Note::ask:
            if (own.waiting >= 1)
                give(note, own, actions);
            else
                refuse(from, actions);
            break;
        case Note::lifeline:
            if (own.waiting >= 1)
                give(note, own, actions);
            else if (std::none_of(waiting_.begin(), waiting_.end(), [&](const Note& n) { return n.node == from; }))
                waiting_.push_back(note);
            break;
        case Note::refuse:
            asking_ = false;
            refused_++;
            look(own, actions);
            break;
        default:
            break;
        }
    }

    void gave(const Gift& gift, double tasks, const Look&, Actions& actions) override
    {
        if (tasks < 1)
            refuse(gift.node, actions);
    }
    void arrived(int, double, const Look&, Actions&) override
    {
        asking_ = false;
        refused_ = 0;
    }

private:
    void refuse(int node, Actions& actions)
    {
        Note n;
        n.what = Note::refuse;
        n.node = me_;
        actions.letters.push_back({node, n});
    }

    void ask(const Look& own, Actions& actions)
    {
        asking_ = true;
        Note n = note_of(Note::ask, me_, own);
        if (lifelines_ && refused_ >= 2) {
            n.what = Note::lifeline; // from here on it waits
            for (int bit = 1; bit < nodes_; bit <<= 1)
                if ((me_ ^ bit) < nodes_)
                    actions.letters.push_back({me_ ^ bit, n});
            return;
        }
        int victim = std::uniform_int_distribution<int>(0, nodes_ - 2)(random_);
        victim += victim >= me_;
        actions.letters.push_back({victim, n});
    }

    void give(const Note& n, const Look& own, Actions& actions)
    {
        actions.gifts.push_back(
            {n.node, n.address, std::ceil(own.waiting / 2), n.room, {n.rest, 0, n.cores}, true});
    }

    int me_, nodes_;
    bool lifelines_, asking_ = false;
    int refused_ = 0;
    std::vector<Note> waiting_;
    std::mt19937_64 random_;
};

} // namespace

std::unique_ptr<Balancer> make_neighbours(int me, int nodes, const Rules&)
{
    return std::make_unique<Neighbours>(me, nodes);
}

std::unique_ptr<Balancer> make_thief(int me, int nodes, const Rules& rules, bool lifelines)
{
    return std::make_unique<Thief>(me, nodes, rules, lifelines);
}

std::unique_ptr<Balancer> make_balancer(Algorithm algorithm, int me, int nodes, const Rules& rules)
{
    switch (algorithm) {
    case Algorithm::central:
        return make_central(me, nodes, rules);
    case Algorithm::neighbours:
        return make_neighbours(me, nodes, rules);
    case Algorithm::random:
    case Algorithm::lifeline:
        return make_thief(me, nodes, rules, algorithm == Algorithm::lifeline);
    case Algorithm::none:
        break;
    }
    return nullptr;
}

} // namespace ws::policy::tasks
