// SPDX-License-Identifier: MIT
//
// Partitions of rows whose processes this process plays, a thread each: rows follow speeds, every row arrives whole,
// and patience with foreign load. Speeds are pretended (WS_FLEX_FAKE), so that nothing here depends on the machine.
#include "policy/rows/decomposition.h"

#include "played.h"
#include "policy/rows/flex.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <thread>
#include <unistd.h>

using namespace ws::policy;
using namespace ws::policy::rows;
using played::run_until_right;
using played::World;

namespace {

std::vector<int> one_node(int ranks) { return std::vector<int>(size_t(ranks), 0); }

// A process of a partition. Its arrays say which row each element is of.
class Process {
public:
    Process(World& world, int rank, Rows rows, const std::string& speeds,
            MonitorSettings settings = settings_for_tests(), int spare = 0, bool has_job = true,
            const char* cores_file = "")
        : rank(rank)
    {
        options.flex_fake = speeds;
        options.flex_check = true;
        options.cores_file = cores_file;
        job.rank = rank;
        job.options = &options;
        job.board = ws::observe::make_board(1, 0);
        job.meter = &meter;
        job.node_number = world.node(rank);
        job.ticks_per_us = 1000;
        meter.start(nullptr, ws::base::ticks(), job.ticks_per_us);
        if (has_job)
            flex.attach(job);
        Wishes wishes;
        wishes.spare = spare;
        wishes.settings = settings;
        wishes.iterations = 1000000; // moves pay
        partition = std::make_unique<Decomposition>(flex, world.processes(rank), rows, wishes);
    }
    ~Process()
    {
        partition.reset();
        for (void* array : {static_cast<void*>(dense), static_cast<void*>(columns), static_cast<void*>(starts),
                            static_cast<void*>(values), static_cast<void*>(numbers)})
            std::free(array);
    }
    static MonitorSettings settings_for_tests()
    {
        MonitorSettings s;
        s.interval = 1;
        s.k = 3;
        return s;
    }

    // ---- arrays: row i has two elements in a line, one in each of three columns, and 1 + i % 3 in a sparse matrix
    static constexpr int64_t width = 2, columns_of = 3;
    static int64_t elements_of(Rows row) { return 1 + row % 3; }
    void register_dense()
    {
        const Rows first = partition->displ(), count = partition->count();
        dense = allocated<double>(count * width);
        columns = allocated<int32_t>(count * columns_of);
        for (Rows i = 0; i < count; i++) {
            for (int64_t w = 0; w < width; w++)
                dense[i * width + w] = double(first + i) + 0.25 * double(w);
            for (int64_t c = 0; c < columns_of; c++)
                columns[c * count + i] = int32_t(10 * (first + i) + c);
        }
        add(Layout::rows, width, {{&dense, MPI_DOUBLE}});
        add(Layout::columns, columns_of, {{&columns, MPI_INT}});
    }
    void register_sparse()
    {
        const Rows first = partition->displ(), count = partition->count();
        int64_t elements = 0;
        for (Rows i = 0; i < count; i++)
            elements += elements_of(first + i);
        starts = allocated<int64_t>(count + 1);
        values = allocated<double>(elements);
        numbers = allocated<int32_t>(elements);
        starts[0] = 0;
        for (Rows i = 0, at = 0; i < count; i++) {
            for (int64_t e = 0; e < elements_of(first + i); e++, at++) {
                values[at] = double(first + i);
                numbers[at] = int32_t(e);
            }
            starts[i + 1] = at;
        }
        add(Layout::csr, 1, {{&starts, MPI_INT64_T}, {&numbers, MPI_INT}, {&values, MPI_DOUBLE}});
    }
    // Whether each row that it has is there as it was made.
    bool has_its_rows() const
    {
        const Rows first = partition->displ(), count = partition->count();
        for (Rows i = 0; i < count; i++) {
            const Rows row = first + i;
            for (int64_t w = 0; dense && w < width; w++)
                if (dense[i * width + w] != double(row) + 0.25 * double(w))
                    return false;
            for (int64_t c = 0; columns && c < columns_of; c++)
                if (columns[c * count + i] != 10 * row + c)
                    return false;
            if (starts && starts[i + 1] - starts[i] != elements_of(row))
                return false;
            for (int64_t e = 0; starts && e < elements_of(row); e++)
                if (values[starts[i] + e] != double(row) || numbers[starts[i] + e] != e)
                    return false;
        }
        return true;
    }

    // An iteration, in which others have its processor for that long.
    std::string iterate(std::chrono::milliseconds foreign = {}, bool waits_in_mpi = false)
    {
        partition->begin_iteration();
        if (foreign.count())
            std::this_thread::sleep_for(foreign);
        const std::string wrong = partition->end_begin();
        if (partition->end_finish())
            moves++;
        for (int i = 0; waits_in_mpi && i < 1000000 && partition->step(); i++)
            std::this_thread::yield();
        return wrong;
    }

    const int rank;
    ws::option::Options options;
    ws::measure::Meter meter;
    Job job;
    Flex flex;
    std::unique_ptr<Decomposition> partition;
    unsigned moves = 0;
    double* dense = nullptr;
    int32_t* columns = nullptr;
    int64_t* starts = nullptr;
    double* values = nullptr;
    int32_t* numbers = nullptr;

private:
    template <class T> static T* allocated(int64_t elements)
    {
        return static_cast<T*>(std::malloc(size_t(std::max<int64_t>(elements, 1)) * sizeof(T)));
    }
    void add(Layout layout, int64_t wide, std::initializer_list<std::pair<void*, MPI_Datatype>> arrays)
    {
        Structure s;
        s.layout = layout;
        s.width = wide;
        s.wide_starts = true;
        for (const auto& [address, type] : arrays)
            s.arrays.emplace_back(address, type, "array");
        partition->structures().push_back(std::move(s));
        partition->structures_changed();
    }
};

// Rows of each process, in order, as the first one sees them.
std::vector<Rows> counts_of(const Decomposition& d)
{
    std::vector<Rows> counts;
    for (size_t p = 0; p + 1 < d.starts().size(); p++)
        counts.push_back(d.starts()[p + 1] - d.starts()[p]);
    return counts;
}

} // namespace

TEST_CASE("at first all have equal parts, and every row one process", "[rows]")
{
    World world(one_node(3));
    std::atomic<Rows> sum{0};
    world.run([&](int r) {
        Process p(world, r, 100, "1e3");
        HOLDS(counts_of(*p.partition).size() == 3);
        HOLDS(p.partition->count() >= 33 && p.partition->count() <= 34);
        sum += p.partition->count();
    });
    CHECK(sum == 100);
}

TEST_CASE("rows follow the speeds of their processes, and each arrives as it was", "[rows]")
{
    for (const bool sparse : {false, true})
        for (const int ranks : {2, 3, 5}) {
            World world(one_node(ranks));
            const Rows rows = 60 * ranks;
            std::atomic<Rows> sum{0};
            std::atomic<unsigned> moves{0};
            world.run([&](int r) {
                // The first is three times as fast as the others; an iteration takes 20 ms and more.
                Process p(world, r, rows, "9e3,3e3");
                p.register_dense();
                if (sparse)
                    p.register_sparse();
                for (int i = 0; i < 12; i++) {
                    HOLDS(p.iterate() == "");
                    HOLDS(p.has_its_rows());
                }
                const double share = 3 / double(2 + ranks); // of the first
                const double its = double(counts_of(*p.partition)[0]) / double(rows);
                HOLDS(std::abs(its - share) < 0.08);
                moves += r == 0 ? p.moves : 0;
                sum += p.partition->count();
            });
            INFO(ranks << " ranks, " << (sparse ? "sparse" : "dense"));
            CHECK(sum == rows);
            CHECK(moves >= 1);
        }
}

TEST_CASE("processes that are equally fast keep their rows", "[rows]")
{
    World world(one_node(4));
    world.run([&](int r) {
        Process p(world, r, 400, "5e3");
        p.register_dense();
        for (int i = 0; i < 8; i++)
            HOLDS(p.iterate() == "");
        HOLDS(p.moves == 0);
        HOLDS(p.flex.totals.intervals >= 6);
        HOLDS(p.partition->count() == 100);
    });
}

TEST_CASE("many processes, whose numbers are reduced, move the same rows", "[rows]")
{
    constexpr int ranks = 20; // more than tell all to all
    World world(one_node(ranks));
    std::atomic<Rows> sum{0};
    world.run([&](int r) {
        Process p(world, r, 100 * ranks, "9e3,3e3");
        p.register_dense();
        for (int i = 0; i < 12; i++) {
            HOLDS(p.iterate() == "");
            HOLDS(p.has_its_rows());
        }
        HOLDS(p.moves >= 1);
        HOLDS(counts_of(*p.partition)[0] > 200);
        sum += p.partition->count();
    });
    CHECK(sum == 100 * ranks);
}

TEST_CASE("what follows from an interval is decided in blocked time, if there is any", "[rows]")
{
    World world(one_node(2));
    world.run([&](int r) {
        Process p(world, r, 200, "9e3,3e3");
        p.register_dense();
        for (int i = 0; i < 10; i++)
            HOLDS(p.iterate({}, true) == "");
        const auto& counters = p.job.board->process;
        HOLDS(counters.flex_plans >= 1);
        HOLDS(counters.flex_plans_blocked == counters.flex_plans);
        HOLDS(p.moves >= 1);
        HOLDS(p.has_its_rows());
    });
}

TEST_CASE("patience: a burst of foreign load moves nothing, and a lasting one does", "[rows]")
{
    using namespace std::chrono_literals;
    for (const unsigned patience : {2u, 4u}) {
        MonitorSettings settings = Process::settings_for_tests();
        settings.k = patience;
        settings.interval = 8;
        run_until_right(one_node(2), 3, [&](World& world, int r) {
            // 100 rows at 5e4 a second take 2 ms; one of the two loses three times as much to others.
            Process p(world, r, 200, "5e4", settings);
            p.register_dense();
            const auto intervals = [&](unsigned count, bool loaded) {
                for (unsigned i = 0; i < count * settings.interval; i++)
                    HOLDS(p.iterate(loaded && r == 1 ? 8ms : 0ms) == "");
            };
            intervals(2, false);
            intervals(patience - 1, true); // one too few
            intervals(3, false);
            HOLDS(p.moves == 0);
            HOLDS(p.flex.totals.outcome[unsigned(Outcome::burst)] >= 1);
            unsigned loaded = 0;
            while (p.moves == 0 && loaded < 6 * patience) {
                intervals(1, true);
                loaded++;
            }
            HOLDS(p.moves == 1);
            HOLDS(loaded > patience); // an interval's numbers are looked at in the next one
            HOLDS(p.has_its_rows());
            HOLDS(counts_of(*p.partition)[0] > 100);
        });
    }
}

TEST_CASE("a process without memory for more keeps all rows where they are", "[rows]")
{
    World world(one_node(3));
    world.run([&](int r) {
        Process p(world, r, 300, "9e3,3e3,3e3");
        p.register_dense();
        if (r == 0)
            p.partition->structures()[1].arrays[0].set_resize([](void*, MPI_Count) { return 1; });
        for (int i = 0; i < 6; i++) {
            HOLDS(p.iterate() == "");
            HOLDS(p.has_its_rows());
        }
        HOLDS(p.moves == 0);
        HOLDS(p.partition->count() == 100);
        HOLDS(p.flex.totals.outcome[unsigned(Outcome::no_memory)] >= 1);
    });
}

TEST_CASE("processes that have registered different structures are told so, and nothing moves", "[rows]")
{
    World world(one_node(3));
    world.run([&](int r) {
        Process p(world, r, 300, "9e3,3e3,3e3");
        p.register_dense();
        if (r == 2)
            p.partition->structures().pop_back();
        p.partition->structures_changed();
        std::string wrong;
        for (int i = 0; i < 6 && wrong.empty(); i++)
            wrong = p.iterate();
        HOLDS(wrong == "processes have registered different structures");
        HOLDS(p.moves == 0);
    });
}

TEST_CASE("a process of a partition dies: the others move nothing more, and are not left waiting", "[rows]")
{
    for (int last : {1, 2, 3, 5}) {
        World world(one_node(3));
        const std::vector<bool> ended = world.run([&](int r) {
            auto* const p = new Process(world, r, 300, "9e3,3e3,3e3"); // a rank that dies frees nothing
            p->register_dense();
            for (int i = 0; i < 8; i++) {
                if (r == 2 && i == last)
                    throw played::Dies();
                p->iterate();
            }
        });
        CHECK(ended == std::vector<bool>(3, false));
    }
}

TEST_CASE("more and fewer processes have rows, each of which arrives as it was", "[rows]")
{
    for (const bool has_job : {true, false})
        for (const bool sparse : {false, true})
            for (const int ranks : {4, 20}) { // 20: numbers are reduced
                World world(one_node(ranks));
                const Rows rows = 40 * ranks;
                std::atomic<Rows> sum{0};
                world.run([&](int r) {
                    // All are equally fast: 4,000 rows or elements a second.
                    Process p(world, r, rows, "4e3", Process::settings_for_tests(), ranks - 2, has_job);
                    HOLDS(p.partition->count() == (r < 2 ? rows / 2 : 0));
                    p.register_dense();
                    if (sparse)
                        p.register_sparse();
                    unsigned resized = 0;
                    int before = 2;
                    for (const int n : {2, 4, ranks, 3, 1, 2}) {
                        HOLDS(p.iterate() == "");
                        p.partition->resize(n);
                        p.moves = 0;
                        HOLDS(p.iterate() == "");
                        HOLDS(p.moves == (n == before ? 0u : 1u));
                        resized += p.moves;
                        before = n;
                        HOLDS(p.has_its_rows());
                        const std::vector<Rows> all = counts_of(*p.partition);
                        for (int q = 0; q < ranks; q++)
                            HOLDS(q < n ? std::abs(all[size_t(q)] - rows / n) <= rows / n / 10 + 2
                                        : all[size_t(q)] == 0);
                        for (int i = 0; i < 2; i++) {
                            HOLDS(p.iterate() == "");
                            HOLDS(p.has_its_rows());
                        }
                        HOLDS((r < n) == (p.partition->count() > 0));
                    }
                    HOLDS(p.flex.totals.resized == resized);
                    HOLDS(resized == (ranks == 4 ? 4u : 5u));
                    sum += p.partition->count();
                });
                INFO(ranks << " ranks, " << (sparse ? "sparse" : "dense") << (has_job ? "" : ", without a job"));
                CHECK(sum == rows);
            }
}

TEST_CASE("those who leave are remembered, and processes without rows count for no imbalance", "[rows]")
{
    World world(one_node(3));
    world.run([&](int r) {
        Process p(world, r, 300, "9e3,3e3,3e3");
        p.register_dense();
        const auto iterate = [&](int times) {
            for (int i = 0; i < times; i++)
                HOLDS(p.iterate() == "");
        };
        iterate(6);
        HOLDS(std::abs(counts_of(*p.partition)[0] - 180) <= 6);
        p.partition->resize(1);
        iterate(1);
        const unsigned moves = p.moves;
        iterate(6);
        HOLDS(p.moves == moves);
        HOLDS(p.partition->count() == (r == 0 ? 300 : 0));
        p.partition->resize(3);
        iterate(1);
        HOLDS(std::abs(counts_of(*p.partition)[0] - 180) <= 6);
        HOLDS(p.has_its_rows());
    });
}

TEST_CASE("without memory or with other structures the number of processes stays", "[rows]")
{
    for (const bool memory : {true, false}) {
        World world(one_node(3));
        world.run([&](int r) {
            Process p(world, r, 300, "3e3", Process::settings_for_tests(), 1);
            p.register_dense();
            if (memory && r == 2)
                p.partition->structures()[1].arrays[0].set_resize([](void*, MPI_Count) { return 1; });
            if (!memory && r == 2) {
                p.partition->structures().pop_back();
                p.partition->structures_changed();
            }
            HOLDS(p.iterate() == "");
            p.partition->resize(3);
            HOLDS(p.iterate() == (memory ? "" : "processes have registered different structures"));
            HOLDS(p.iterate() == "");
            HOLDS(p.moves == 0);
            HOLDS(p.partition->count() == (r < 2 ? 150 : 0));
            HOLDS(p.has_its_rows());
        });
    }
}

TEST_CASE("a goal chooses how many processes have rows, and the cost of the move whether it pays", "[rows]")
{
    for (const int ranks : {4, 20}) {
        World world(one_node(ranks));
        world.run([&](int r) {
            // 400 rows at 10 a second: 40 s of one process. That is pretended, so that nothing else counts beside it.
            Process p(world, r, 400, "10", Process::settings_for_tests(), ranks - 1);
            p.register_dense();
            const auto with_rows = [&] {
                int n = 0;
                for (const Rows count : counts_of(*p.partition))
                    n += count > 0;
                return n;
            };
            const auto iterate = [&](int times) {
                for (int i = 0; i < times; i++)
                    HOLDS(p.iterate() == "");
                HOLDS(p.has_its_rows());
            };
            iterate(4);
            HOLDS(with_rows() == 1);
            p.partition->set_goal(Goal::Aim::time, 14.5); // three processes: 13.3 s
            iterate(12);
            HOLDS(with_rows() == 3);
            HOLDS(p.moves == 1);
            p.partition->set_goal(Goal::Aim::time, 30);
            iterate(12);
            HOLDS(with_rows() == 2);
            p.partition->set_goal(Goal::Aim::none, 0);
            iterate(6);
            HOLDS(with_rows() == 2);
            p.partition->set_goal(Goal::Aim::efficiency, 0.8);
            iterate(12);
            HOLDS(with_rows() == ranks);
        });
    }
}

TEST_CASE("a manager's file says how many processes may have rows", "[rows]")
{
    char path[] = "/tmp/ws_allowed_XXXXXX";
    close(mkstemp(path));
    const auto write = [&](const char* text) {
        std::FILE* const file = std::fopen(path, "w");
        std::fputs(text, file);
        std::fclose(file);
    };
    World world(one_node(3));
    std::atomic<int> came{0};
    world.run([&](int r) {
        Process p(world, r, 300, "3e3", Process::settings_for_tests(), 0, true, path);
        p.register_dense();
        const auto after = [&](const char* text) { // processes with rows when the file has that
            const int all = came += 1;
            while (came < (all + 2) / 3 * 3)
                std::this_thread::yield();
            if (r == 0 && text)
                write(text);
            for (int i = 0; i < 5; i++)
                HOLDS(p.iterate() == "");
            HOLDS(p.has_its_rows());
            int n = 0;
            for (const Rows count : counts_of(*p.partition))
                n += count > 0;
            return n;
        };
        HOLDS(after(nullptr) == 3); // empty
        HOLDS(after("2\n") == 2);
        HOLDS(after("two") == 2); // said once on stderr
        HOLDS(after("0") == 2);
        HOLDS(after(" 1 ") == 1);
        HOLDS(after("1000") == 3);
        p.partition->resize(1); // the program may use fewer
        HOLDS(after(nullptr) == 1);
        HOLDS(after("2") == 2);
        p.partition->resize(3); // and not more
        HOLDS(after(nullptr) == 2);
    });
    std::remove(path);
}
