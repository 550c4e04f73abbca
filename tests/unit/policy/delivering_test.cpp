// SPDX-License-Identifier: MIT
//
// Large results that go to the ranks that need them. The ranks are played, messages come late at random, and all that
// is sent is looked at: each result that moves begins with a mark and the number of its task.
#include "played_pool.h"

#include "policy/tasks/letters.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <map>
#include <random>
#include <set>

using namespace played;

namespace {

constexpr uint64_t result_mark = 0xD1CEB00C5EA50411;
constexpr size_t large_bytes = 20000;
static_assert(large_bytes > apart_from);

struct Order {
    uint64_t number, bytes;
    int failure;
};

// What a task gives, from what it has got.
std::string text_of(const Order& order, const std::vector<std::string>& needs)
{
    uint64_t x = order.number + 1;
    for (const std::string& n : needs)
        for (size_t i = 0; i < n.size(); i += 89)
            x = (x ^ (uint8_t(n[i]) + i)) * 0x9e3779b97f4a7c15u;
    std::string text(order.bytes, '\0');
    for (size_t i = 0; i < text.size(); i++)
        text[i] = char((x >> (i % 8 * 8)) + i / 8);
    std::memcpy(&text[0], &result_mark, sizeof result_mark);
    std::memcpy(&text[8], &order.number, sizeof order.number);
    return text;
}

int make_result(ws_task* task)
{
    Order order;
    HOLDS(task->bytes == sizeof order);
    std::memcpy(&order, task->data, sizeof order);
    std::vector<std::string> needs;
    std::string error;
    const void* data;
    for (size_t i = 0, bytes; running_of(task).pool->input(running_of(task), i, &data, &bytes, error) == 0; i++)
        needs.emplace_back(static_cast<const char*>(data), bytes);
    const std::string text = text_of(order, needs);
    HOLDS(running_of(task).pool->result(running_of(task), text.data(), text.size(), error) == 0);
    counted(task);
    return order.failure;
}

// Which results moved, from where to where, alone or within what else is sent.
struct Moves final : Watch {
    Moves() { watch = this; }
    ~Moves() override { watch = nullptr; }
    void sends(int from, int to, int tag, const char* data, size_t bytes) override
    {
        const std::lock_guard<std::mutex> hold(lock);
        if (tag == 0)
            letters[Letter(data[0])]++;
        for (size_t at = 0; at + 16 <= bytes; at += 8) {
            uint64_t words[2];
            std::memcpy(words, data + at, sizeof words);
            if (words[0] != result_mark)
                continue;
            all.insert({words[1], from, to});
            if (tag && at == 0)
                alone.insert({words[1], from, to});
        }
    }
    using Move = std::tuple<uint64_t, int, int>; // number, from, to
    std::mutex lock;
    std::multiset<Move> all, alone;
    std::map<Letter, int> letters;
};

// A task that rank 0 puts: pinned where it runs.
struct Step {
    int rank;
    std::vector<size_t> needs;
    bool is_dropped = true;
    size_t bytes = large_bytes;
    int failure = 0;
    int group = 0;
};

struct Outcome {
    std::multiset<Moves::Move> moves;
    std::map<Letter, int> letters;
    std::vector<int> runs;
};

Outcome played_by(const std::vector<int>& nodes, std::vector<Step> steps, unsigned seed, int cancels = 0)
{
    delays = seed;
    Moves moves;
    World world(nodes);
    Seen seen(steps.size());
    for (size_t i = 0; i < steps.size(); i++)
        if (steps[i].is_dropped && std::none_of(steps.begin(), steps.end(), [i](const Step& s) {
                return std::find(s.needs.begin(), s.needs.end(), i) != s.needs.end();
            }))
            steps[i].bytes = 16; // nobody gets it
    const bool fails = std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.failure; });
    const std::vector<bool> ended = world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(make_result, ~size_t(0));
        int group;
        HOLDS(rank.pool->add_group(group, rank.error) == 0);
        static std::atomic<int> cancelled;
        cancelled = cancels;
        const int canceller = rank.add_kind([](ws_task* task) {
            std::string error;
            return running_of(task).pool->cancel(cancelled, error);
        });
        std::vector<uint64_t> futures;
        std::vector<std::string> texts;
        for (size_t i = 0; r == 0 && i < steps.size(); i++) {
            const Step& s = steps[i];
            std::vector<uint64_t> needs;
            std::vector<std::string> needed;
            for (const size_t n : s.needs) {
                needs.push_back(futures[n]);
                needed.push_back(texts[n]);
            }
            const Order order = {i, s.bytes, s.failure};
            texts.push_back(text_of(order, needed));
            futures.push_back(0);
            ws_task_options o = {};
            o.future = &futures.back();
            o.inputs = needs.data();
            o.inputs_count = needs.size();
            o.has_rank = o.pinned = 1;
            o.rank = s.rank;
            o.group = s.group;
            HOLDS(rank.put(kind, order, &o) == 0);
        }
        if (r == 0 && cancels) {
            ws_task_options first = {};
            first.priority = 7;
            HOLDS(rank.put(canceller, 0, &first) == 0);
        }
        for (size_t i = 0; i < futures.size(); i++)
            if (steps[i].is_dropped)
                HOLDS(rank.pool->drop_result(futures[i], rank.error) == 0);
        HOLDS(rank.run() == (fails ? ECANCELED : 0));
        HOLDS(rank.pool->holds_nothing());
        for (size_t i = 0; i < futures.size(); i++) {
            std::string text(100000, '\0');
            size_t bytes = 0;
            const int is_there = rank.pool->future(futures[i], &text[0], text.size(), &bytes, rank.error);
            HOLDS(is_there == (steps[i].is_dropped                        ? EINVAL
                               : seen.runs[i] && !steps[i].failure ? 0
                                                                     : ECANCELED));
            HOLDS(is_there || text.compare(0, bytes, texts[i]) == 0);
        }
        rank.error.clear();
        HOLDS(rank.run() == 0);
    });
    delays = 0;
    CHECK(ended == std::vector<bool>(nodes.size(), true));
    Outcome o = {{}, moves.letters, {}};
    for (const Moves::Move& m : moves.all)
        if (steps[std::get<0>(m)].bytes >= large_bytes)
            o.moves.insert(m);
    for (const auto& runs : seen.runs)
        o.runs.push_back(runs);
    return o;
}

} // namespace

TEST_CASE("a large result goes once to each rank that needs it, and nowhere else", "[delivering]")
{
    const struct {
        const char* what;
        std::vector<Step> steps;
        std::multiset<Moves::Move> moves; // of large results
    } cases[] = {
        {"the next task is where it was made", {{1, {}}, {1, {0}}}, {}},
        {"the next task is on a third rank", {{1, {}}, {2, {0}}}, {{0, 1, 2}}},
        {"its rank wants it, too", {{1, {}, false}, {2, {0}}}, {{0, 1, 0}, {0, 1, 2}}},
        {"its rank wants it, and the next task is where it was made", {{1, {}, false}, {1, {0}}}, {{0, 1, 0}}},
        {"only its rank has a task that needs it", {{1, {}}, {0, {0}}}, {{0, 1, 0}}},
        {"its rank has one of the tasks that need it", {{1, {}}, {0, {0}}, {2, {0}}}, {{0, 1, 0}, {0, 1, 2}}},
        {"several tasks on several ranks",
         {{1, {}}, {2, {0}}, {2, {0}}, {1, {0}}, {3, {0}}, {2, {0, 0}}},
         {{0, 1, 2}, {0, 1, 3}}},
        {"several inputs, from here and there",
         {{1, {}}, {2, {}}, {0, {}}, {2, {0, 1, 2}}},
         {{0, 1, 2}, {2, 0, 2}}},
        {"a small input and a large one", {{1, {}, true, 100}, {1, {}}, {2, {0, 1}}}, {{1, 1, 2}}},
        {"a chain that ends at its rank",
         {{1, {}}, {2, {0}}, {3, {1}}, {1, {2}}, {2, {3}, false}},
         {{0, 1, 2}, {1, 2, 3}, {2, 3, 1}, {3, 1, 2}, {4, 2, 0}}},
        {"no task waits for it", {{1, {}, false}}, {{0, 1, 0}}},
        {"its own rank made it", {{0, {}}, {1, {0}}}, {{0, 0, 1}}},
    };
    for (const auto& c : cases)
        for (const std::vector<int>& nodes : {std::vector<int>{0, 1, 2, 3}, std::vector<int>{0, 0, 1, 1}})
            for (unsigned seed = 0; seed < 12; seed++) {
                INFO(c.what << ", seed " << seed);
                const Outcome o = played_by(nodes, c.steps, seed);
                CHECK(o.moves == c.moves);
                CHECK(o.runs == std::vector<int>(c.steps.size(), 1));
            }
}

TEST_CASE("small results need no letters but their own", "[delivering]")
{
    const Outcome o = played_by({0, 1, 2}, {{1, {}, true, apart_from - 8}, {2, {0}, true, 100}, {1, {1}}}, 0);
    CHECK(o.letters.at(Letter::result) == 3);
    CHECK(o.letters.count(Letter::deliver) + o.letters.count(Letter::value) + o.letters.count(Letter::given_up) == 0);
}

TEST_CASE("a task that lacks the result of one that failed is given up; what else it was to get is freed",
          "[delivering]")
{
    unsigned given_up = 0;
    for (unsigned seed = 0; seed < 40; seed++) {
        const Outcome o = played_by(
            {0, 1, 2, 3},
            {{1, {}}, {2, {}, true, large_bytes, 7}, {3, {0, 1}, false}, {3, {2}, false}, {3, {0}, false}}, seed);
        CHECK(o.runs == std::vector<int>{1, 1, 0, 0, 1});
        CHECK(o.moves.count({0, 1, 3}) == 1);
        CHECK(o.moves.count({1, 2, 0}) == 1); // it fails, but gave a result
        const auto letters = o.letters.find(Letter::given_up);
        given_up += letters != o.letters.end() ? unsigned(letters->second) : 0;
    }
    CHECK(given_up > 5); // in the others it had failed before
    CHECK(given_up < 40);
}

TEST_CASE("groups are cancelled wherever their tasks and results are", "[delivering]")
{
    unsigned ran = 0, over = 0;
    for (unsigned seed = 1; seed < 40; seed++)
        for (const bool first : {true, false}) {
            std::vector<Step> steps;
            for (int i = 0; i < 8; i++) {
                steps.push_back({1 + i % 3, {}, i % 2 == 0, large_bytes, 0, first});
                steps.push_back({1 + (i + 1) % 3, {size_t(2 * i)}, false, large_bytes, 0, !first});
            }
            const Outcome o = played_by({0, 1, 2, 3}, steps, seed, 1);
            for (size_t i = 0; i < steps.size(); i++) {
                CHECK(o.runs[i] <= 1);
                CHECK((o.runs[i] == 1 || steps[i].group == 1 || o.runs[i - 1] == 0));
                (o.runs[i] ? ran : over)++;
            }
        }
    CHECK(ran > 100);
    CHECK(over > 100);
}

TEST_CASE("graphs of tasks with large results, put by all ranks and in tasks, with helpers", "[delivering]")
{
    for (const unsigned helpers : {0u, 2u})
        for (unsigned seed = 0; seed < 8; seed++) {
            guests = helpers;
            delays = seed;
            Moves moves;
            const std::vector<int> nodes = {0, 1, 1, 2, 3};
            World world(nodes);
            constexpr uint64_t tasks = 60;
            Seen seen(tasks * nodes.size());
            const std::vector<bool> ended = world.run([&](int r) {
                Rank rank(world, r, helpers > 0);
                rank.seen = &seen;
                const int kind = rank.add_kind(make_result, ~size_t(0));
                struct Graph {
                    std::vector<uint64_t> futures = std::vector<uint64_t>(tasks);
                    std::vector<std::string> wanted = std::vector<std::string>(tasks);
                    std::vector<bool> is_dropped = std::vector<bool>(tasks);
                    int rank, ranks, kind;
                    std::mt19937 random;
                    void put(Pool& pool, uint64_t i)
                    {
                        std::vector<uint64_t> needs;
                        std::vector<std::string> texts;
                        for (auto n = std::min<uint64_t>(random() % 4, i); n > 0; n--)
                            if (const uint64_t which = i - 1 - random() % std::min<uint64_t>(i, 6);
                                !is_dropped[which]) {
                                needs.push_back(futures[which]);
                                texts.push_back(wanted[which]);
                            }
                        const Order order = {uint64_t(rank) * tasks + i,
                                             random() % 3 ? large_bytes + random() % 999 : 40, 0};
                        wanted[i] = text_of(order, texts);
                        std::string error;
                        ws_task_options o = {};
                        o.future = &futures[i];
                        o.inputs = needs.data();
                        o.inputs_count = needs.size();
                        o.has_rank = random() % 4 != 0;
                        o.rank = int(random() % unsigned(ranks));
                        o.pinned = random() % 2;
                        HOLDS(pool.put(kind, &order, sizeof order, &o, error) == 0);
                        if (i >= 6 && random() % 3) {
                            HOLDS(pool.drop_result(futures[i - 6], error) == 0);
                            is_dropped[i - 6] = true;
                        }
                    }
                } graph;
                graph.rank = r;
                graph.ranks = int(nodes.size());
                graph.kind = kind;
                graph.random.seed(seed * 100 + unsigned(r));
                // One half is put between runs, the other by a task.
                const int putter = rank.add_kind([](ws_task* task) {
                    Graph* graph;
                    std::memcpy(static_cast<void*>(&graph), task->data, sizeof graph);
                    for (uint64_t i = tasks / 2; i < tasks; i++)
                        graph->put(*running_of(task).pool, i);
                    return 0;
                });
                for (uint64_t i = 0; i < tasks / 2; i++)
                    graph.put(*rank.pool, i);
                ws_task_options here = {};
                here.pinned = 1;
                HOLDS(rank.put(putter, &graph, &here) == 0);
                HOLDS(rank.run() == 0);
                HOLDS(rank.pool->holds_nothing());
                std::string text(100000, '\0');
                for (uint64_t i = 0; i < tasks; i++) {
                    size_t bytes = 0;
                    HOLDS(rank.pool->future(graph.futures[i], &text[0], text.size(), &bytes, rank.error) ==
                          (graph.is_dropped[i] ? EINVAL : 0));
                    HOLDS(graph.is_dropped[i] || text.compare(0, bytes, graph.wanted[i]) == 0);
                }
            });
            delays = guests = 0;
            CHECK(ended == std::vector<bool>(nodes.size(), true));
            CHECK(all_ran_once(seen));
            CHECK(moves.letters[Letter::deliver] > 10);
            // No rank gets a result twice, unless within a task's data.
            std::set<std::pair<uint64_t, int>> got;
            for (const auto& [number, from, to] : moves.alone)
                CHECK(got.emplace(number, to).second);
        }
}

TEST_CASE("when a rank dies no other comes to a false end, whatever results are on their way", "[delivering]")
{
    bool died = false, came_to_an_end = false;
    for (const int looks : {2, 4, 6, 8, 10, 14, 20, 30, 60, 1000000}) {
        World world({0, 1, 2});
        constexpr uint64_t tasks = 30;
        auto* const seen = new Seen(tasks); // what the dead rank holds is never freed
        looks_to_live[2] = looks;
        const std::vector<bool> came = world.run([&](int r) {
            auto* const rank = new Rank(world, r);
            rank->seen = seen;
            const int kind = rank->add_kind(make_result, ~size_t(0));
            uint64_t before = 0;
            for (uint64_t i = 0; r == 0 && i < tasks; i++) {
                const Order order = {i, large_bytes, 0};
                uint64_t future = 0;
                ws_task_options o = {};
                o.future = &future;
                o.inputs = &before;
                o.inputs_count = i > 0;
                o.has_rank = 1;
                o.rank = int(1 + i % 2);
                HOLDS(rank->put(kind, order, &o) == 0);
                before = future;
            }
            HOLDS(rank->run() == 0);
        });
        looks_to_live[2] = 0;
        uint64_t done = 0;
        for (const auto& runs : seen->runs)
            done += unsigned(runs);
        INFO(looks << " looks at letters, " << done << " tasks done");
        CHECK((!came[2] || done == tasks));
        CHECK((done == tasks || (!came[0] && !came[1])));
        died |= !came[2];
        came_to_an_end |= bool(came[2]);
    }
    CHECK(died);
    CHECK(came_to_an_end);
}

TEST_CASE("what a task says that it lacks lies within its inputs", "[delivering]")
{
    std::mt19937 random(5);
    for (int i = 0; i < 20000; i++) {
        std::vector<Inputs::Value> values(1 + random() % 3, std::make_shared<const std::string>("value"));
        std::vector<Inputs::Away> lacks;
        for (auto n = random() % 3; n > 0; n--)
            lacks.push_back({random() % values.size(), random()});
        values.push_back(std::make_shared<const std::string>(reinterpret_cast<const char*>(lacks.data()),
                                                             lacks.size() * sizeof(Inputs::Away)));
        std::string data(Inputs::bytes_for(8, values), '?');
        Inputs::write(data.data(), "its own", 8, values);
        REQUIRE(Inputs::lacks_make_sense(data.data(), data.size()));
        REQUIRE(Inputs(data.data(), data.size()).lacks().size() == lacks.size());
        for (auto n = 1 + random() % 3; n > 0; n--)
            data[random() % data.size()] ^= char(1 << random() % 8);
        if (!Inputs::make_sense(data.data(), data.size()) || !Inputs::lacks_make_sense(data.data(), data.size()))
            continue;
        const Inputs damaged(data.data(), data.size());
        for (const Inputs::Away& a : damaged.lacks())
            REQUIRE(a.place + 1 < damaged.count());
    }
}
