// SPDX-License-Identifier: MIT
//
// Tasks that need results of others, and that wait for them; groups that are cancelled; tasks that are sent to a rank.
// The ranks are played, and tasks move at random.
#include "played_pool.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <random>

using namespace played;

namespace {

uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 27);
}

void give_text(ws_task* task, const std::string& text)
{
    std::string error;
    HOLDS(running_of(task).pool->result(running_of(task), text.data(), text.size(), error) == 0);
}

// The result of node `number` of a graph, from those that it needs: now and then too large for a letter.
std::string text_of(uint64_t number, const std::vector<std::string>& needs)
{
    uint64_t x = mixed(number);
    for (const std::string& n : needs)
        for (size_t i = 0; i < n.size(); i += 97)
            x = mixed(x ^ (uint64_t((unsigned char)n[i]) + i));
    const size_t size = x % 7 == 0 ? 70000 + x % 1000 : x % 5 == 0 ? 0 : x % 60;
    std::string text(size, '\0');
    for (size_t i = 0; i < size; i++)
        text[i] = char(x >> (i % 8 * 8));
    return text;
}

int node_of_graph(ws_task* task)
{
    std::vector<std::string> needs;
    std::string error;
    const void* data;
    for (size_t i = 0, bytes; running_of(task).pool->input(running_of(task), i, &data, &bytes, error) == 0; i++)
        needs.emplace_back(static_cast<const char*>(data), bytes);
    HOLDS(error.find(" of a task with " + std::to_string(needs.size())) != std::string::npos);
    HOLDS(task->bytes == sizeof(uint64_t));
    uint64_t number;
    std::memcpy(&number, task->data, sizeof number);
    give_text(task, text_of(number, needs));
    return counted(task);
}

// Sum of 0 .. n - 1 by halves, each a task for which the larger one waits.
int halves(ws_task* task)
{
    struct Range {
        uint64_t lo, hi;
        int kind;
    } all;
    std::memcpy(&all, task->data, sizeof all);
    uint64_t sum = all.lo;
    if (all.hi - all.lo > 1) {
        const uint64_t middle = (all.lo + all.hi) / 2;
        const Range parts[2] = {{all.lo, middle, all.kind}, {middle, all.hi, all.kind}};
        uint64_t futures[2];
        Pool& pool = *running_of(task).pool;
        std::string error;
        for (int i = 0; i < 2; i++) {
            ws_task_options o = {};
            o.future = &futures[i];
            HOLDS(pool.put(all.kind, &parts[i], sizeof parts[i], &o, error) == 0);
        }
        sum = 0;
        for (const uint64_t f : futures) {
            uint64_t part = 0;
            size_t bytes = 0;
            HOLDS(pool.wait_inside(running_of(task), f, &part, sizeof part, &bytes, error) == 0);
            HOLDS(bytes == sizeof part);
            sum += part;
        }
    }
    give_result(task, sum);
    return 0;
}

} // namespace

TEST_CASE("data with inputs is as it was, and damage is noticed", "[futures]")
{
    std::mt19937 random(3);
    for (int i = 0; i < 20000; i++) {
        const std::string own(random() % 50, 'o');
        std::vector<Inputs::Value> values;
        for (auto n = random() % 4; n > 0; n--)
            values.push_back(std::make_shared<const std::string>(random() % 70, char('a' + n)));
        std::string data(Inputs::bytes_for(own.size(), values), '?');
        Inputs::write(data.data(), own.data(), own.size(), values);
        REQUIRE(Inputs::make_sense(data.data(), data.size()));
        const Inputs in(data.data(), data.size());
        REQUIRE(in.own_bytes() == own.size());
        REQUIRE(data.compare(0, own.size(), own) == 0);
        REQUIRE(in.count() == values.size());
        for (size_t v = 0; v < values.size(); v++)
            REQUIRE(std::string(in.value(v), in.size_of(v)) == *values[v]);
        for (auto n = 1 + random() % 3; n > 0; n--)
            data[random() % data.size()] ^= char(1 << random() % 8);
        if (random() % 4 == 0)
            data.resize(random() % data.size());
        if (!Inputs::make_sense(data.data(), data.size()))
            continue;
        const Inputs damaged(data.data(), data.size()); // what it says lies within
        REQUIRE(damaged.own_bytes() <= data.size());
        for (size_t v = 0; v < damaged.count(); v++)
            REQUIRE(damaged.value(v) + damaged.size_of(v) <= data.data() + data.size());
    }
    CHECK_FALSE(Inputs::make_sense("", 0));
}

TEST_CASE("tasks get the results that they need, whoever made them", "[futures]")
{
    for (const std::vector<int>& nodes :
         {std::vector<int>{0}, std::vector<int>{0, 1}, std::vector<int>{0, 0, 1, 2, 2}}) {
        for (const unsigned helpers : {0u, 2u}) {
            guests = helpers;
            World world(nodes);
            constexpr uint64_t tasks = 300;
            Seen seen(tasks * nodes.size());
            const std::vector<bool> ended = world.run([&](int r) {
                Rank rank(world, r, helpers > 0);
                rank.seen = &seen;
                const int kind = rank.add_kind(node_of_graph, ~size_t(0));
                std::mt19937 random{unsigned(r)};
                std::vector<uint64_t> futures(tasks);
                std::vector<std::string> wanted(tasks);
                std::vector<bool> is_dropped(tasks);
                uint64_t done = 0; // of an earlier run
                for (uint64_t i = 0; i < tasks; i++) {
                    std::vector<uint64_t> needs;
                    std::vector<std::string> texts;
                    for (auto n = std::min<uint64_t>(random() % 4, i); n > 0; n--) {
                        const uint64_t which = random() % i;
                        if (is_dropped[which])
                            continue;
                        needs.push_back(futures[which]);
                        texts.push_back(wanted[which]);
                    }
                    const uint64_t number = uint64_t(r) * tasks + i;
                    wanted[i] = text_of(number, texts);
                    ws_task_options o = {};
                    o.future = &futures[i];
                    o.inputs = needs.data();
                    o.inputs_count = needs.size();
                    o.priority = random() % 5 == 0 ? 2 : 0;
                    o.has_rank = random() % 6 == 0;
                    o.rank = int(random() % nodes.size());
                    HOLDS(rank.put(kind, number, &o) == 0);
                    if (random() % 10 == 0 && i > 0) {
                        const uint64_t which = random() % i;
                        HOLDS(rank.pool->drop_result(futures[which], rank.error) == (is_dropped[which] ? EINVAL : 0));
                        is_dropped[which] = true;
                    }
                    if (i == tasks / 2) {
                        HOLDS(rank.run() == 0);
                        done = i + 1;
                    }
                }
                HOLDS(done > 0);
                HOLDS(rank.run() == 0);
                std::string text(100000, '\0');
                for (uint64_t i = 0; i < tasks; i++) {
                    size_t bytes = 0;
                    if (is_dropped[i]) {
                        HOLDS(rank.pool->future(futures[i], &text[0], text.size(), &bytes, rank.error) == EINVAL);
                        continue;
                    }
                    if (!wanted[i].empty()) {
                        HOLDS(rank.pool->future(futures[i], nullptr, 0, &bytes, rank.error) == EMSGSIZE);
                        HOLDS(bytes == wanted[i].size());
                    }
                    HOLDS(rank.pool->future(futures[i], &text[0], text.size(), &bytes, rank.error) == 0);
                    HOLDS(text.compare(0, bytes, wanted[i]) == 0);
                }
            });
            CHECK(ended == std::vector<bool>(nodes.size(), true));
            CHECK(all_ran_once(seen));
        }
    }
    guests = 0;
}

TEST_CASE("a task waits for those that it has put, while its thread runs others", "[futures]")
{
    for (const std::vector<int>& nodes : {std::vector<int>{0}, std::vector<int>{0, 1, 1, 2}})
        for (const unsigned helpers : {0u, 3u}) {
            guests = helpers;
            World world(nodes);
            const std::vector<bool> ended = world.run([&](int r) {
                Rank rank(world, r, helpers > 0);
                const int kind = rank.add_kind(halves, sizeof(uint64_t));
                uint64_t futures[3] = {};
                for (uint64_t& f : futures) {
                    const uint64_t n = 300 + uint64_t(r);
                    struct {
                        uint64_t lo, hi;
                        int kind;
                    } all = {0, n, kind};
                    ws_task_options o = {};
                    o.future = &f;
                    HOLDS(rank.put(kind, all, &o) == 0);
                }
                HOLDS(rank.run() == 0);
                for (const uint64_t f : futures) {
                    uint64_t sum = 0;
                    HOLDS(rank.pool->future(f, &sum, sizeof sum, nullptr, rank.error) == 0);
                    HOLDS(sum == (300 + uint64_t(r)) * (299 + uint64_t(r)) / 2);
                }
            });
            CHECK(ended == std::vector<bool>(nodes.size(), true));
        }
    guests = 0;
}

TEST_CASE("a task that waits within hundreds of others that do still gets its result", "[futures]")
{
    for (const unsigned helpers : {0u, 2u}) {
        guests = helpers;
        World world({0});
        world.run([&](int r) {
            Rank rank(world, r, helpers > 0);
            const int kind = rank.add_kind(
                [](ws_task* task) {
                    struct {
                        uint64_t left;
                        int kind;
                    } at;
                    std::memcpy(&at, task->data, sizeof at);
                    uint64_t result = 0;
                    if (at.left-- > 0) {
                        uint64_t f;
                        ws_task_options o = {};
                        o.future = &f;
                        std::string error;
                        Pool& pool = *running_of(task).pool;
                        HOLDS(pool.put(at.kind, &at, sizeof at, &o, error) == 0);
                        HOLDS(pool.wait_inside(running_of(task), f, &result, sizeof result, nullptr, error) == 0);
                        result++;
                    }
                    give_result(task, result);
                    return 0;
                },
                sizeof(uint64_t));
            struct {
                uint64_t left;
                int kind;
            } at = {400, kind};
            uint64_t f, result = 0;
            ws_task_options o = {};
            o.future = &f;
            HOLDS(rank.put(kind, at, &o) == 0);
            HOLDS(rank.run() == 0);
            HOLDS(rank.pool->future(f, &result, sizeof result, nullptr, rank.error) == 0);
            HOLDS(result == 400);
        });
    }
    guests = 0;
}

TEST_CASE("tasks of a graph run in the order in which they can", "[futures]")
{
    guests = 0;
    static std::string order;
    World world({0});
    world.run([&](int r) {
        Rank rank(world, r, false);
        order.clear();
        const int kind = rank.add_kind(
            [](ws_task* task) {
                order += *static_cast<const char*>(task->data);
                give_result(task, 1);
                return 0;
            },
            sizeof(uint64_t));
        const auto put = [&](char name, const std::vector<uint64_t>& inputs) {
            uint64_t future = 0;
            ws_task_options o = {};
            o.future = &future;
            o.inputs = inputs.data();
            o.inputs_count = inputs.size();
            HOLDS(rank.put(kind, name, &o) == 0);
            return future;
        };
        const uint64_t root = put('r', {});
        std::vector<uint64_t> first, second;
        for (const char name : {'a', 'b', 'c'})
            first.push_back(put(name, {root}));
        for (size_t i = 0; i < 3; i++)
            second.push_back(put(char('A' + i), {first[i]}));
        put('e', second);
        HOLDS(rank.run() == 0);
        CHECK(order == "rabcABCe"); // step by step: newest first it were rcCbBaAe
    });
}

TEST_CASE("what might never come is not waited for", "[futures]")
{
    World world({0});
    world.run([&](int r) {
        Rank rank(world, r);
        static uint64_t before; // put between runs
        static int plain;
        plain = rank.add_kind(
            [](ws_task* task) {
                give_result(task, 1);
                return 0;
            },
            sizeof(uint64_t));
        const int waits = rank.add_kind([](ws_task* task) {
            Pool& pool = *running_of(task).pool;
            Pool::Running& me = running_of(task);
            uint64_t own, after_own, after_other, result = 0;
            std::string error;
            ws_task_options o = {};
            o.future = &own;
            HOLDS(pool.put(plain, nullptr, 0, &o, error) == 0);
            o.inputs = &own;
            o.inputs_count = 1;
            o.future = &after_own;
            HOLDS(pool.put(plain, nullptr, 0, &o, error) == 0);
            o.inputs = &before;
            o.future = &after_other;
            HOLDS(pool.put(plain, nullptr, 0, &o, error) == 0);
            HOLDS(pool.wait_inside(me, before, &result, sizeof result, nullptr, error) == EDEADLK);
            HOLDS(error.find("another task, or none") != std::string::npos);
            HOLDS(pool.wait_inside(me, after_other, &result, sizeof result, nullptr, error) == EDEADLK);
            HOLDS(error.find("inputs that this task has not put") != std::string::npos);
            HOLDS(pool.wait_inside(me, after_own, nullptr, 0, nullptr, error) == EMSGSIZE);
            HOLDS(pool.wait_inside(me, after_own, &result, sizeof result, nullptr, error) == 0);
            HOLDS(pool.wait_inside(me, after_own, &result, sizeof result, nullptr, error) == EINVAL);
            HOLDS(pool.wait_inside(me, ~uint64_t(0), &result, sizeof result, nullptr, error) == EINVAL);
            HOLDS(pool.wait_inside(me, own, &result, sizeof result, nullptr, error) == 0);
            Pool::Running other = me;
            HOLDS(pool.wait_inside(other, own, &result, sizeof result, nullptr, error) == EINVAL);
            HOLDS(error.find("another thread") != std::string::npos);
            return 0;
        });
        ws_task_options o = {};
        o.future = &before;
        o.priority = -8; // it runs after the other, which does not wait for it
        HOLDS(rank.put(plain, 0, &o) == 0);
        HOLDS(rank.put(waits, 0) == 0);
        HOLDS(rank.run() == 0);
    });
}

TEST_CASE("tasks do not run without a result that they need", "[futures]")
{
    for (const std::vector<int>& nodes : {std::vector<int>{0}, std::vector<int>{0, 1, 2}}) {
        World world(nodes);
        Seen seen(1000);
        world.run([&](int r) {
            Rank rank(world, r);
            rank.seen = &seen;
            const int fails = rank.add_kind([](ws_task*) { return 7; }, sizeof(uint64_t));
            const int kind = rank.add_kind(node_of_graph, ~size_t(0));
            uint64_t f[5], result = 0, right = 0;
            ws_task_options o = {};
            o.future = &f[0];
            HOLDS(rank.put(fails, 0, &o) == 0);
            o.future = &right;
            HOLDS(rank.put(kind, uint64_t(r), &o) == 0);
            for (int i = 1; i < 4; i++) {
                const uint64_t needs[] = {right, f[i - 1]};
                o.future = &f[i];
                o.inputs = needs;
                o.inputs_count = 2;
                HOLDS(rank.put(kind, uint64_t(r) + 100, &o) == 0);
            }
            HOLDS(rank.run() == ECANCELED);
            const uint64_t needs[] = {f[3], right};
            o.inputs = needs;
            o.future = &f[4];
            HOLDS(rank.put(kind, uint64_t(r) + 100, &o) == 0); // one of them has failed long ago
            for (int i = 0; i < 5; i++) {
                HOLDS(rank.pool->future(f[i], &result, sizeof result, nullptr, rank.error) == ECANCELED);
                HOLDS(rank.error.find(i ? "was cancelled, or one" : "failed with 7") != std::string::npos);
            }
            // A task that needs one that is gone is refused, and nothing has happened.
            const uint64_t put = rank.counts().put;
            HOLDS(rank.put(kind, uint64_t(r), &o) == EINVAL);
            HOLDS(rank.counts().put == put);
            HOLDS(rank.run() == 0);
        });
        for (size_t r = 0; r < 100; r++) {
            CHECK(seen.runs[r] == int(r < nodes.size()));
            CHECK(seen.runs[100 + r] == 0);
        }
    }
}

TEST_CASE("a group is cancelled on all ranks, for one run", "[futures]")
{
    for (const std::vector<int>& nodes : {std::vector<int>{0}, std::vector<int>{0, 0, 1, 2, 3, 3, 4}}) {
        World world(nodes);
        constexpr uint64_t tasks = 500;
        Seen seen(tasks * nodes.size() + 1);
        static int group, other;
        const std::vector<bool> ended = world.run([&](int r) {
            Rank rank(world, r);
            rank.seen = &seen;
            int g;
            HOLDS(rank.pool->cancel(1, rank.error) == EINVAL);
            HOLDS(rank.pool->add_group(g, rank.error) == 0);
            HOLDS(rank.pool->cancel(g, rank.error) == EINVAL); // it does not run
            group = g;
            HOLDS(rank.pool->add_group(g, rank.error) == 0);
            other = g;
            const int kind = rank.add_kind(
                [](ws_task* task) {
                    uint64_t number;
                    std::memcpy(&number, task->data, sizeof number);
                    std::string error;
                    if (number == 3)
                        HOLDS(running_of(task).pool->cancel(group, error) == 0);
                    if (number == 3)
                        HOLDS(running_of(task).pool->is_cancelled(*running_of(task).task));
                    give_result(task, number);
                    return slow(task);
                },
                sizeof(uint64_t));
            std::vector<uint64_t> futures(tasks);
            for (uint64_t i = 0; i < tasks; i++) {
                ws_task_options o = {};
                o.future = &futures[i];
                o.group = i % 5 == 4 ? other : group;
                HOLDS(rank.put(kind, uint64_t(r) * tasks + i, &o) == 0);
            }
            HOLDS(rank.run() == 0);
            for (uint64_t i = 0; i < tasks; i++) {
                uint64_t result = ~uint64_t(0);
                const int ran = seen.runs[uint64_t(r) * tasks + i];
                HOLDS(ran <= 1 && (ran == 1 || i % 5 != 4));
                HOLDS(rank.pool->future(futures[i], &result, sizeof result, nullptr, rank.error) ==
                      (ran ? 0 : ECANCELED));
                HOLDS(ran == (result == uint64_t(r) * tasks + i));
            }
            // In the next run the group is not cancelled.
            ws_task_options o = {};
            o.group = group;
            if (r == 0)
                HOLDS(rank.put(kind, tasks * nodes.size(), &o) == 0);
            HOLDS(rank.run() == 0);
            HOLDS(seen.runs[tasks * nodes.size()] == 1);
        });
        CHECK(ended == std::vector<bool>(nodes.size(), true));
        const auto ran = std::count_if(seen.runs.begin(), seen.runs.end(), [](const auto& n) { return n > 0; });
        CHECK(size_t(ran) < tasks * nodes.size()); // some were dropped
    }
}

TEST_CASE("a task that is sent to a rank begins there", "[futures]")
{
    World world({0, 0, 1, 2});
    constexpr uint64_t tasks = 200;
    Seen seen(tasks * 4);
    std::atomic<uint64_t> moved_in{0}, moved_out{0};
    const std::vector<bool> ended = world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind([](ws_task* task) {
            uint64_t number;
            std::memcpy(&number, task->data, sizeof number);
            HOLDS(Rank::of(task).number == int(number % 4)); // for it is pinned
            return counted(task);
        });
        ws_task_options o = {};
        o.has_rank = 1;
        o.rank = 4;
        HOLDS(rank.put(kind, uint64_t(0), &o) == EINVAL);
        for (uint64_t i = 0; i < tasks; i++) {
            o.rank = int(i % 4);
            o.pinned = 1;
            HOLDS(rank.put(kind, uint64_t(r) * tasks + i, &o) == 0);
        }
        HOLDS(rank.run() == 0);
        moved_in += rank.counts().moved_in;
        moved_out += rank.counts().moved_out;
    });
    CHECK(ended == std::vector<bool>(4, true));
    CHECK(all_ran_once(seen));
    CHECK(moved_in == tasks * 3 - tasks / 2); // ranks 0 and 1 are on one node
    CHECK(moved_out == moved_in);
}
