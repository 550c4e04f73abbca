// SPDX-License-Identifier: MIT
//
// Whole machines, whose nodes run the code of the runtime.
#include "states.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

using namespace ws::policy::tasks;

namespace {

// Nodes of one core with tasks of one length, and letters that arrive in the next turn. Returns the turns until all
// tasks are done, in the last of `runs`; `most_moves`: of a task; `slow`: how many turns every other node needs for one
// task. Letters that are under way when a run ends are lost.
int turns(Algorithm algorithm, int nodes, int tasks, int& most_moves, double& letters, int slow = 1, int runs = 1)
{
    struct Node {
        std::unique_ptr<Balancer> balancer;
        std::deque<int> queue; // moves of each
        float ran = 0;
    };
    struct Letter {
        int to, from;
        Note note;
        std::deque<int> tasks;
    };
    std::vector<Node> all;
    for (int n = 0; n < nodes; n++)
        all.push_back({make_balancer(algorithm, n, nodes, Rules()), {}});
    std::vector<Letter> now, next;
    most_moves = 0;
    letters = 0;
    double time = 0;
    int left = 0, turn = 0;
    const auto own = [&](int n) {
        const double rest = double(all[size_t(n)].queue.size());
        double movable = 0;
        for (const int moves : all[size_t(n)].queue)
            movable += unsigned(moves) < all[size_t(n)].balancer->most_moves();
        Look l = look(time, rest, movable - (movable == rest && rest > 0), n % 2 ? 1e-3 * slow : 1e-3);
        l.unit_s = 4e-3;
        l.pace.add({0, float(l.mean_s), all[size_t(n)].ran});
        return l;
    };
    const auto act = [&](int n, Actions& a) {
        Node& node = all[size_t(n)];
        for (size_t i = 0; i < a.gifts.size(); i++) {
            const Gift g = a.gifts[i];
            Letter l = {g.node, n, {}, {}};
            std::deque<int> kept;
            for (; !node.queue.empty(); node.queue.pop_front())
                if (double(l.tasks.size()) < g.tasks && node.queue.size() + kept.size() > 1 &&
                    unsigned(node.queue.front()) < node.balancer->most_moves()) {
                    l.tasks.push_back(node.queue.front() + 1);
                    most_moves = std::max(most_moves, l.tasks.back());
                } else
                    kept.push_back(node.queue.front());
            node.queue = kept;
            const double given = double(l.tasks.size());
            if (given > 0)
                next.push_back(l);
            node.balancer->gave(g, given, own(n), a);
        }
        for (const auto& l : a.letters)
            next.push_back({l.node, n, l.note, {}});
    };
    const auto begin = [&] {
        for (Node& n : all)
            n.balancer->begin();
        all[0].queue.assign(size_t(tasks), 0);
        left = tasks;
        now.clear();
        next.clear();
        letters = turn = 0;
        return true;
    };
    for (bool more = begin(); more && turn < 10 * tasks; more = left > 0 || (--runs > 0 && begin())) {
        turn++;
        time += 1e-3;
        letters += double(now.size());
        for (const Letter& l : now) {
            Actions a;
            Node& node = all[size_t(l.to)];
            if (l.tasks.empty())
                node.balancer->note(l.from, l.note, own(l.to), a);
            else {
                node.queue.insert(node.queue.end(), l.tasks.begin(), l.tasks.end());
                node.balancer->arrived(l.from, double(l.tasks.size()), own(l.to), a);
            }
            act(l.to, a);
        }
        for (int n = 0; n < nodes; n++) {
            if (!all[size_t(n)].queue.empty() && (n % 2 == 0 || turn % slow == 0)) {
                all[size_t(n)].queue.pop_back();
                all[size_t(n)].ran++;
                left--;
            }
            Actions a;
            if (all[size_t(n)].balancer)
                all[size_t(n)].balancer->look(own(n), a);
            act(n, a);
        }
        now.swap(next);
        next.clear();
    }
    return turn;
}

} // namespace

TEST_CASE("a hot node is levelled with few letters, and no task moves more than twice", "[tasks]")
{
    for (const int nodes : {2, 10, 63, 64, 150}) {
        int moves;
        double letters;
        const int each = 50, took = turns(Algorithm::central, nodes, each * nodes, moves, letters);
        INFO(nodes << " nodes: " << took << " turns, " << letters << " letters, " << moves << " moves");
        CHECK(took <= each + 14);
        CHECK(moves <= 2);
        CHECK(letters / (each * nodes) < 0.5);
    }
}

TEST_CASE("nodes of unequal speed are level, too, however many they are", "[tasks]")
{
    for (const int nodes : {10, 64, 150, 1000}) {
        int moves;
        double letters;
        const int each = 50, took = turns(Algorithm::central, nodes, each * nodes, moves, letters, 4);
        const double possible = each / (0.5 * (1 + 1 / 4.0));
        INFO(nodes << " nodes: " << took << " turns of " << possible << ", " << letters << " letters");
        CHECK(took <= 1.25 * possible);
        CHECK(moves <= 2);
    }
}

TEST_CASE("in the next run nodes get by the speeds that are known, whatever was told when the last one ended",
          "[tasks]")
{
    for (const int slow : {1, 4})
        for (const int nodes : {10, 64, 150}) {
            int moves;
            double letters;
            const int each = 50;
            const double possible = each / (0.5 * (1 + 1.0 / slow));
            for (const int runs : {2, 3}) {
                const int took = turns(Algorithm::central, nodes, each * nodes, moves, letters, slow, runs);
                INFO(nodes << " nodes, run " << runs << ": " << took << " turns of " << possible << ", " << letters
                           << " letters");
                CHECK(took <= 1.1 * possible + 10);
            }
        }
}

TEST_CASE("the rivals finish, too", "[tasks]")
{
    for (const Algorithm algorithm : {Algorithm::neighbours, Algorithm::random, Algorithm::lifeline})
        for (const int runs : {1, 2}) {
            int moves;
            double letters;
            const int took = turns(algorithm, 16, 800, moves, letters, 1, runs);
            INFO(int(algorithm) << ": " << took << " turns, " << letters << " letters, " << moves << " moves");
            CHECK(took < 150);
        }
}
