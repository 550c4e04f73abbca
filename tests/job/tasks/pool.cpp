// SPDX-License-Identifier: MIT
//
// ws::task_pool: typed results, futures, totals, exceptions, arguments that cereal serializes.
#include "workshare/task_cereal.hpp"

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <unistd.h>

static int rank, failures;
static bool moves; // tasks do, as the job has Workshare

static void expect(bool is, const char* what)
{
    if (!is)
        failures++, std::fprintf(stderr, "rank %d: not so: %s\n", rank, what);
}

static int escape(ws_task*) { throw std::runtime_error("nobody catches this"); }

// A task of C whose exception leaves it: that must end the job. There is one in the job, as the messages of two
// processes that end at once come mixed.
static void let_escape()
{
    ws_pool* pool;
    ws_task_kind kind = {};
    int number;
    kind.name = "escapes";
    kind.run = escape;
    expect(!ws_pool_create(MPI_COMM_WORLD, &pool) && !ws_pool_register(pool, &kind, &number) &&
               (rank > 0 || !ws_pool_put(pool, number, nullptr, 0, nullptr)),
           "a pool with a task");
    (void) !ws_pool_run(pool);
    expect(false, "the job has ended");
}

static long twice(long n) { return 2 * n; }

struct point {
    double x, y;
};

// Results of any size, tasks that get results of others or wait for them, groups, and tasks for a rank.
template <class Text, class Twice>
static void need_each_other(ws::task_pool& pool, const Text& text, const Twice& twice)
{
    auto join = pool.kind("join two", [](std::string a, int times, std::string b) {
        std::string all = a;
        while (times-- > 0)
            all += b;
        return all;
    });
    ws::task_kind<long, std::tuple<int>> fib;
    fib = pool.kind("fib", [&](int n) -> long {
        if (n < 2)
            return n;
        auto a = pool.submit(fib, n - 1), b = pool.submit(fib, n - 2);
        usleep(20);
        return a.get() + b.get();
    });
    auto where = pool.kind("where", [](int) { return rank; });
    const int group = pool.add_group();
    auto search = pool.kind("search", [&](int n) {
        usleep(500);
        if (n == 7)
            pool.cancel(group);
        return ws::task_is_cancelled() ? -n : n;
    });
    auto large = pool.submit(text, 3 << 20), small = pool.submit(text, 5);
    auto both = pool.submit(join, small, 2, large), again = pool.submit(join, both, 1, small);
    auto four = pool.submit(twice, pool.submit(twice, 1L));
    both.drop();
    auto number = pool.submit(fib, 15);
    auto first = pool.submit(ws::task_options().rank(0).pinned(), where, 1);
    std::vector<ws::task_future<int>> found;
    for (int i = 0; i < 400; i++)
        found.push_back(pool.submit(ws::task_options().group(group), search, i));
    pool.run();
    expect(large.get() == std::string(3 << 20, 'y'), "a result of 3 MiB");
    expect(again.get() == std::string(5 + 2 * (3 << 20) + 5, 'y'), "a text of texts");
    expect(four.get() == 4, "a result of a result");
    expect(number.get() == 610, "fib(15)");
    expect(first.get() == (moves ? 0 : rank), "the rank that was asked for");
    int dropped = 0;
    for (int i = 0; i < 400; i++)
        try {
            const int n = found[size_t(i)].get();
            expect(n == i || n == -i, "what a task of the group found");
        } catch (const ws::task_error& e) {
            dropped += std::strstr(e.what(), "was cancelled") != nullptr;
        }
    MPI_Allreduce(MPI_IN_PLACE, &dropped, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(dropped > 0, "tasks of the group that had not begun were dropped");
    bool refused = false;
    try {
        pool.cancel(group);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    expect(refused, "nothing to cancel between runs");
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc > 1 && std::string(argv[1]) == "escapes")
        let_escape();
    moves = argc > 1 && std::string(argv[1]) == "moves";
    {
        ws::task_pool pool(MPI_COMM_WORLD);
        auto norm = pool.kind("norm", [](point p, int slow) {
            usleep(useconds_t(slow));
            return p.x * p.x + p.y * p.y;
        });
        auto plain = pool.kind("twice", twice);
        auto join = pool.kind("join", [](std::vector<std::string> words, char between) {
            std::string all;
            for (const std::string& w : words)
                all += w + between;
            usleep(500);
            return all;
        });
        auto fragile = pool.kind("fragile", [](int n) {
            if (n == 5)
                throw std::runtime_error("five is not liked");
            return n;
        });
        auto long_text = pool.kind("long_text", [](int bytes) { return std::string(size_t(bytes), 'y'); });
        ws::task_kind<void, std::tuple<long, long>, long> tree;
        tree = pool.kind(
            "tree",
            [&](long lo, long hi) {
                if (hi - lo > 1) {
                    const long middle = (lo + hi + 1) / 2;
                    if (lo + 1 < middle)
                        pool.put(tree, lo + 1, middle);
                    if (middle < hi)
                        pool.put(ws::task_options().priority(2), tree, middle, hi);
                }
                usleep(50);
                return lo;
            },
            [](long a, long b) { return std::max(a, b); });
        auto nothing = pool.kind("nothing", [] {});

        std::vector<ws::task_future<double>> norms;
        std::vector<ws::task_future<std::string>> joined;
        for (int i = 0; i < 100; i++) {
            norms.push_back(pool.submit(norm, point{double(i), 1}, 300));
            joined.push_back(pool.submit(
                join, std::vector<std::string>{"a", std::to_string(i), std::string(size_t(i) * 20, 'x')}, '-'));
        }
        auto doubled = pool.submit(plain, 21);
        bool early = false;
        try {
            doubled.get();
        } catch (const std::invalid_argument&) {
            early = true;
        }
        expect(early, "a future is not there before the run");
        if (rank == 0)
            pool.put(tree, 0L, 2000L);
        pool.put(ws::task_options().pinned(), nothing);
        pool.run();
        for (int i = 0; i < 100; i++) {
            expect(norms[size_t(i)].get() == i * double(i) + 1, "a norm");
            expect(joined[size_t(i)].get() == "a-" + std::to_string(i) + "-" + std::string(size_t(i) * 20, 'x') + "-",
                   "a text");
        }
        expect(doubled.get() == 42, "a function");
        expect(pool.total(tree) == 1999, "the largest of all");
        std::string said;
        auto five = pool.submit(fragile, 5), six = pool.submit(fragile, 6);
        try {
            pool.run();
        } catch (const ws::task_error& e) {
            said = e.what();
        }
        expect(said.find("a task of kind 'fragile' threw: five is not liked") != said.npos, "run() throws it");
        expect(six.get() == 6, "the other one");
        said.clear();
        try {
            five.get();
        } catch (const ws::task_error& e) {
            said = e.what();
        }
        expect(said == "five is not liked", "the future throws it");
        need_each_other(pool, long_text, plain);
        {
            ws::task_pool other(MPI_COMM_WORLD);
            auto negate = other.kind("negate", [](int n) { return -n; });
            auto refuses = [&](const char* part, auto call) {
                try {
                    call();
                } catch (const std::invalid_argument& e) {
                    return std::string(e.what()).find(part) != std::string::npos;
                }
                return false;
            };
            expect(refuses("to another pool", [&] { (void) other.submit(plain, 3L); }), "submit: another pool's kind");
            expect(refuses("to another pool", [&] { pool.put(negate, 3); }), "put: another pool's kind");
            expect(refuses("to another pool", [&] { (void) other.total(tree); }), "total: another pool's kind");
            expect(refuses("has no pool", [&] { pool.put(ws::task_kind<void, std::tuple<int>>(), 3); }),
                   "a kind of no pool");
        }
        pool.run();
        const ws_pool_counts counts = pool.counts();
        std::printf("rank %d: run %lu, moved in %lu\n", rank, counts.run, counts.moved_in);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && !failures)
        std::printf("right\n");
    MPI_Finalize();
    return failures != 0;
}
