// SPDX-License-Identifier: MIT
//
// Pools of tasks whose ranks this process plays, a thread each: every task runs once, wherever it goes; results and
// ends; tables that are full; a rank that dies. Guests are threads that run the loop of a pool beside its owner.
#include "policy/tasks/pool.h"

#include "../window/in_memory.h"
#include "abi/abi.h"
#include "loop/region.h"
#include "loop/site.h"
#include "observe/board.h"
#include "failing_new.h"
#include "played.h"
#include "policy/tasks/peers.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <thread>

using namespace ws::policy;
using namespace ws::policy::tasks;
using played::Dies;
using played::World;

// ---- the loop of a pool, with guests

namespace {

unsigned guests; // of each loop
struct PlayedLoop {
    std::atomic<long> next;
    long end;
};
thread_local PlayedLoop* loop_of_thread;
thread_local bool leaves;

} // namespace

void ws_parallel_loop(void (*fn)(void*), void* data, long start, long end, long, ws_site*, long, long)
{
    PlayedLoop loop = {{start}, end};
    const auto part = [&] {
        loop_of_thread = &loop;
        leaves = false;
        fn(data);
        loop_of_thread = nullptr;
    };
    std::vector<std::thread> threads;
    for (unsigned g = 0; g < guests; g++)
        threads.emplace_back(part);
    part();
    for (std::thread& t : threads)
        t.join();
}

bool ws_loop_next(long* lo, long* hi)
{
    if (leaves)
        return false;
    *lo = loop_of_thread->next.fetch_add(1);
    *hi = *lo + 1;
    return *lo < loop_of_thread->end;
}

namespace ws::loop {
void forget_costs(ws_site*) {}
void leave_after_chunk() { leaves = true; }
} // namespace ws::loop

// ---- ranks

namespace {

// A rank dies after this many looks at its letters.
std::atomic<int> looks_to_live[64];

class PlayedWire final : public Wire {
public:
    PlayedWire(World& world, int rank, Receive receive) : world_(world), rank_(rank), receive_(std::move(receive)) {}

    void post(int to, std::string letter) override
    {
        world_.put({this_kind, rank_, to, letters}, std::move(letter));
        sent_++;
    }
    void send(int to, int tag, const void* data, size_t bytes, Done done) override
    {
        world_.put({this_kind, rank_, to, tag}, {static_cast<const char*>(data), bytes});
        done_.push_back(std::move(done));
        sent_++;
    }
    void receive(int from, int tag, void* data, size_t bytes, Done done) override
    {
        expected_.push_back({from, tag, data, bytes, std::move(done)});
    }

    bool poll() override
    {
        world_.check_alive();
        if (looks_to_live[rank_] > 0 && --looks_to_live[rank_] == 0)
            throw Dies();
        bool any = false;
        std::vector<Done> over;
        over.swap(done_);
        for (auto e = expected_.begin(); e != expected_.end();) {
            std::string data;
            if (world_.take({this_kind, e->from, rank_, e->tag}, data)) {
                HOLDS(data.size() == e->bytes);
                std::memcpy(e->data, data.data(), data.size());
                over.push_back(std::move(e->done));
                e = expected_.erase(e);
                received_++;
            } else
                ++e;
        }
        for (const Done& done : over) {
            done();
            any = true;
        }
        int from;
        for (std::string letter; world_.take_any(this_kind, rank_, letters, from, letter); any = true) {
            received_++;
            receive_(from, letter.data(), letter.size());
        }
        return any;
    }
    void wait() override
    {
        uint64_t seen = 0;
        while (!poll())
            world_.wait(seen);
    }
    uint64_t sent() const override { return sent_; }
    uint64_t received() const override { return received_; }
    bool sends() const override { return !done_.empty() || !expected_.empty(); }
    bool moves_data() const override { return sends(); }
    void close() override {}

private:
    static constexpr const char* this_kind = "wire";
    static constexpr int letters = 0;
    struct Expected {
        int from, tag;
        void* data;
        size_t bytes;
        Done done;
    };
    World& world_;
    const int rank_;
    Receive receive_;
    std::vector<Done> done_;
    std::deque<Expected> expected_;
    uint64_t sent_ = 0, received_ = 0;
};

class PlayedPeers final : public Peers {
public:
    PlayedPeers(World& world, int rank) : Peers(world.processes(rank)), world_(world), rank_(rank) {}
    Places places() override
    {
        Places p;
        p.node = world_.node_comm(rank_);
        for (int r = 0; r < world_.ranks(); r++) {
            p.in_world.push_back(r);
            int first = 0;
            while (world_.node(first) != world_.node(r))
                first++;
            p.first.push_back(first);
            if (world_.node(r) != world_.node(rank_))
                continue;
            if (r == rank_)
                p.node_me = int(p.node_ranks.size());
            p.node_ranks.push_back(r);
        }
        return p;
    }
    std::unique_ptr<Wire> open_wire(Wire::Receive receive, const std::vector<int>&) override
    {
        return std::make_unique<PlayedWire>(world_, rank_, std::move(receive));
    }
    bool lets_threads_in() const override { return false; }

private:
    World& world_;
    const int rank_;
};

// What a test looks at, of all ranks.
struct Seen {
    explicit Seen(size_t tasks) : runs(tasks) {}
    std::vector<std::atomic<int>> runs; // of each task
    std::atomic<int> ran_on[64] = {};
};

struct Rank {
    Rank(World& world, int rank, bool helped = false) : number(rank)
    {
        options.chaos = unsigned(1); // gifts also where no balancer would give: tasks move whatever the machine does
        if (helped)
            memory.map(window, 0);
        job.window = helped ? &window : nullptr;
        job.options = &options;
        job.ticks_per_us = 1000;
        nblb.attach(job);
        pool = std::make_unique<Pool>(std::make_unique<PlayedPeers>(world, rank), shell(), nblb);
        own = this;
    }
    // The shell is what tasks are told: here the pool itself.
    ws_pool* shell() { return reinterpret_cast<ws_pool*>(this); }
    static Rank& of(const ws_task* task) { return *reinterpret_cast<Rank*>(task->pool); }

    int add_kind(ws_task_body* run, size_t result = 0, void (*combine)(void*, const void*, void*) = nullptr)
    {
        ws_task_kind kind = {};
        kind.name = "counted";
        kind.run = run;
        kind.result = result;
        kind.combine = combine;
        kind.context = seen;
        int number_of_kind = -1;
        HOLDS(pool->add_kind(kind, number_of_kind, error) == 0);
        return number_of_kind;
    }
    template <class Data> int put(int kind, const Data& data, const ws_task_options* how = nullptr)
    {
        return pool->put(kind, &data, sizeof data, how, error);
    }
    int run() { return pool->run(error); }
    ws_pool_counts counts()
    {
        ws_pool_counts c;
        pool->count(c);
        return c;
    }

    const int number;
    ws::window::InMemory memory{2};
    ws::window::Window window;
    ws::option::Options options;
    Job job;
    Nblb nblb;
    std::unique_ptr<Pool> pool;
    Seen* seen = nullptr;
    std::string error;
    static thread_local Rank* own;
};
thread_local Rank* Rank::own;

void give_result(ws_task* task, uint64_t value)
{
    auto* const running = static_cast<Pool::Running*>(const_cast<void*>(task->reserved[0]));
    std::string error;
    HOLDS(running->pool->result(*running, &value, sizeof value, error) == 0);
}

void sum_up(void* into, const void* from, void*)
{
    *static_cast<uint64_t*>(into) += *static_cast<const uint64_t*>(from);
}

int counted(ws_task* task)
{
    Seen& seen = *static_cast<Seen*>(task->context);
    uint64_t number;
    std::memcpy(&number, task->data, sizeof number);
    seen.runs[number]++;
    seen.ran_on[Rank::of(task).number]++;
    return 0;
}

int slow(ws_task* task)
{
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return counted(task);
}

bool all_ran_once(const Seen& seen)
{
    return std::all_of(seen.runs.begin(), seen.runs.end(), [](const std::atomic<int>& runs) { return runs == 1; });
}

} // namespace

namespace ws::policy::tasks {
// What all that were played have done; the sum is the test's own.
Sums summed(const Sums& mine) { return mine; }
} // namespace ws::policy::tasks

TEST_CASE("tasks of a pool with one rank run once, and give results", "[pool]")
{
    World world({0});
    world.run([&](int r) {
        Seen seen(100);
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(
            [](ws_task* task) {
                uint64_t number;
                std::memcpy(&number, task->data, sizeof number);
                give_result(task, number);
                return counted(task);
            },
            sizeof(uint64_t), sum_up);
        uint64_t future = 0;
        ws_task_options wants = {};
        wants.future = &future;
        for (uint64_t i = 0; i < 99; i++)
            HOLDS(rank.put(kind, i) == 0);
        HOLDS(rank.put(kind, uint64_t(99), &wants) == 0);
        uint64_t total = 0;
        HOLDS(rank.pool->future(future, &total, sizeof total, nullptr, rank.error) == EINVAL); // it has not run
        HOLDS(rank.run() == 0);
        HOLDS(all_ran_once(seen));
        HOLDS(rank.pool->reduced(kind, &total, sizeof total, rank.error) == 0);
        HOLDS(total == 99 * 100 / 2);
        HOLDS(rank.pool->future(future, &total, sizeof total, nullptr, rank.error) == 0);
        HOLDS(total == 99);
        HOLDS(rank.pool->future(future, &total, sizeof total, nullptr, rank.error) == EINVAL); // it was asked
        HOLDS(rank.run() == 0); // with nothing to do
        HOLDS(rank.counts().run == 100);
    });
}

TEST_CASE("tasks move to ranks that have none, within a node and between nodes, and run once", "[pool]")
{
    for (const std::vector<int>& nodes :
         {std::vector<int>{0, 1}, std::vector<int>{0, 0, 1, 1}, std::vector<int>{0, 1, 2, 0, 1, 2}}) {
        World world(nodes);
        constexpr uint64_t tasks = 400;
        Seen seen(tasks);
        std::atomic<uint64_t> moved_in{0}, moved_out{0};
        const std::vector<bool> ended = world.run([&](int r) {
            Rank rank(world, r);
            rank.seen = &seen;
            const int kind = rank.add_kind(slow);
            for (uint64_t i = 0; r == 0 && i < tasks; i++)
                HOLDS(rank.put(kind, i) == 0);
            HOLDS(rank.run() == 0);
            moved_in += rank.counts().moved_in;
            moved_out += rank.counts().moved_out;
        });
        CHECK(ended == std::vector<bool>(nodes.size(), true));
        CHECK(all_ran_once(seen));
        CHECK(moved_in == moved_out);
        CHECK(moved_in > 0);
        CHECK(seen.ran_on[0] < int(tasks));
    }
}

TEST_CASE("tasks of a tree, large data and packed data arrive as they were; futures come back", "[pool]")
{
    World world({0, 1, 2});
    constexpr uint64_t roots = 30, leaves_each = 10;
    Seen seen(roots * (1 + leaves_each));
    static std::atomic<int> made, released;
    made = released = 0;
    // As far as a task of its own message, and one beside its letter.
    struct Large {
        uint64_t number;
        unsigned char bytes[20000];
    };
    const auto content = [](uint64_t number, size_t i) { return (unsigned char)(number * 31 + i); };
    std::atomic<uint64_t> moved{0};
    world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        static int leaf; // the same on all ranks
        const int root = rank.add_kind(
            [](ws_task* task) {
                const auto& large = *static_cast<const Large*>(task->data);
                bool is_same = true;
                for (size_t i = 0; i < sizeof large.bytes; i++)
                    is_same = is_same && large.bytes[i] == (unsigned char)(large.number * 31 + i);
                give_result(task, is_same ? large.number : ~uint64_t(0));
                std::string error;
                for (uint64_t i = 0; i < leaves_each; i++) {
                    made++;
                    auto* const number = new uint64_t(roots + large.number * leaves_each + i);
                    HOLDS(Rank::of(task).pool->put(leaf, number, sizeof *number, nullptr, error) == 0);
                }
                return slow(task);
            },
            sizeof(uint64_t));
        ws_task_kind packed = {};
        packed.name = "packed";
        packed.run = slow;
        packed.context = &seen;
        packed.packed = [](const void*, size_t) { return sizeof(uint64_t); };
        packed.pack = [](const void* data, size_t, void* to) { std::memcpy(to, data, sizeof(uint64_t)); };
        packed.unpack = [](const void* from, size_t, size_t* bytes) -> void* {
            made++;
            *bytes = sizeof(uint64_t);
            auto* const number = new uint64_t;
            std::memcpy(number, from, sizeof *number);
            return number;
        };
        packed.release = [](void* data, size_t) {
            released++;
            delete static_cast<uint64_t*>(data);
        };
        HOLDS(rank.pool->add_kind(packed, leaf, rank.error) == 0);
        std::vector<uint64_t> futures(roots);
        auto large = std::make_unique<Large>();
        for (uint64_t n = 0; r == 0 && n < roots; n++) {
            large->number = n;
            for (size_t i = 0; i < sizeof large->bytes; i++)
                large->bytes[i] = content(n, i);
            ws_task_options wants = {};
            wants.future = &futures[n];
            HOLDS(rank.put(root, *large, &wants) == 0);
        }
        HOLDS(rank.run() == 0);
        moved += rank.counts().moved_in;
        for (uint64_t n = 0; r == 0 && n < roots; n++) {
            uint64_t result = 0;
            HOLDS(rank.pool->future(futures[n], &result, sizeof result, nullptr, rank.error) == 0);
            HOLDS(result == n);
        }
    });
    CHECK(all_ran_once(seen));
    CHECK(moved > 0);
    CHECK(made == released);
}

TEST_CASE("ranks whose kinds differ are told so, and run nothing", "[pool]")
{
    World world({0, 1, 2});
    Seen seen(3);
    world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(counted, r == 1 ? 8 : 0);
        HOLDS(rank.put(kind, uint64_t(r)) == 0);
        HOLDS(rank.run() == EINVAL);
        HOLDS(rank.error.find("rank 1 differ") != std::string::npos);
    });
    CHECK(seen.runs[0] + seen.runs[1] + seen.runs[2] == 0);
}

TEST_CASE("a task that fails fails the run on all ranks; the others run, and so does the next run", "[pool]")
{
    World world({0, 1});
    Seen seen(20);
    world.run([&](int r) {
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind([](ws_task* task) {
            counted(task);
            return *static_cast<const uint64_t*>(task->data) == 7 ? 42 : 0;
        });
        for (uint64_t i = 0; r == 1 && i < 10; i++)
            HOLDS(rank.put(kind, i) == 0);
        HOLDS(rank.run() == ECANCELED);
        HOLDS(rank.error.find("failed with 42") != std::string::npos);
        for (uint64_t i = 10; r == 0 && i < 20; i++)
            HOLDS(rank.put(kind, i) == 0);
        rank.error.clear();
        HOLDS(rank.run() == 0);
    });
    CHECK(all_ran_once(seen));
}

TEST_CASE("guests take tasks of the queue and of each other's hands", "[pool]")
{
    World world({0});
    constexpr uint64_t roots = 50, each = 100;
    Seen seen(roots * (1 + each));
    std::atomic<int> threads{0};
    static std::atomic<int>* counter;
    counter = &threads;
    guests = 3;
    world.run([&](int r) {
        Rank rank(world, r, true);
        rank.seen = &seen;
        const int kind = rank.add_kind([](ws_task* task) {
            static thread_local bool counts = (++*counter, true);
            const uint64_t number = *static_cast<const uint64_t*>(task->data);
            std::string error;
            for (uint64_t i = 0; number < roots && i < each; i++) {
                const uint64_t child = roots + number * each + i;
                HOLDS(Rank::of(task).pool->put(task->kind, &child, sizeof child, nullptr, error) == 0);
            }
            // The first tasks are long enough for guests to come.
            std::this_thread::sleep_for(std::chrono::microseconds(number < roots ? 500 : 5));
            return counts ? counted(task) : 1;
        });
        for (uint64_t i = 0; i < roots; i++)
            HOLDS(rank.put(kind, i) == 0);
        HOLDS(rank.run() == 0);
        HOLDS(rank.counts().run == seen.runs.size());
    });
    guests = 0;
    CHECK(all_ran_once(seen));
    CHECK(threads > 1);
}

TEST_CASE("full tables: kinds, and hands of more threads than there are", "[pool]")
{
    World world({0});
    world.run([&](int r) {
        Rank rank(world, r, true);
        constexpr uint64_t tasks = 1100; // each waits until nearly all hands are taken
        constexpr int most_hands = 1024;
        Seen seen(tasks);
        rank.seen = &seen;
        static std::mutex lock;
        static std::condition_variable changed;
        static int at_work;
        at_work = 0;
        const int kind = rank.add_kind([](ws_task* task) {
            std::unique_lock<std::mutex> hold(lock);
            if (at_work == 0) { // run by the owner alone, who learns that they are long
                hold.unlock();
                std::this_thread::sleep_for(std::chrono::milliseconds(2));
                hold.lock();
                at_work++;
                return counted(task);
            }
            if (++at_work == most_hands)
                changed.notify_all();
            changed.wait_for(hold, std::chrono::seconds(60), [] { return at_work >= most_hands; });
            return counted(task);
        });
        for (uint64_t i = 0; i < tasks; i++)
            HOLDS(rank.put(kind, i) == 0);
        guests = 1050;
        HOLDS(rank.run() == 0);
        guests = 0;
        HOLDS(all_ran_once(seen));
        HOLDS(at_work >= most_hands);

        ws_task_kind another = {};
        another.name = "another";
        another.run = counted;
        int number = 0, failed = 0;
        while (!(failed = rank.pool->add_kind(another, number, rank.error)))
            ;
        HOLDS(failed == ENOSPC);
        HOLDS(number == 65534);
    });
}

TEST_CASE("when a rank dies no other comes to a false end, and no task runs twice", "[pool]")
{
    bool died = false, ended = false;
    for (int looks : {1, 2, 3, 5, 8, 12, 20, 40, 80, 1000000}) {
        World world({0, 1, 2});
        constexpr uint64_t tasks = 60;
        auto* const seen = new Seen(tasks); // what the dead rank holds is never freed
        looks_to_live[2] = looks;
        const std::vector<bool> came = world.run([&](int r) {
            auto* const rank = new Rank(world, r);
            rank->seen = seen;
            const int kind = rank->add_kind(slow);
            for (uint64_t i = 0; r == 0 && i < tasks; i++)
                HOLDS(rank->put(kind, i) == 0);
            HOLDS(rank->run() == 0);
        });
        looks_to_live[2] = 0;
        uint64_t done = 0;
        for (const auto& runs : seen->runs) {
            CHECK(runs <= 1);
            done += unsigned(runs);
        }
        INFO(looks << " looks at letters, " << done << " tasks done");
        const bool has_died = !came[2];
        // A rank that says that the run is over has heard of all tasks.
        CHECK((has_died || done == tasks));
        CHECK((done == tasks || (!came[0] && !came[1])));
        died |= has_died;
        ended |= !has_died;
    }
    CHECK(died);
    CHECK(ended);
}

// ---- the n-th allocation fails

TEST_CASE("a put for which there is no memory has put nothing, whichever allocation fails", "[pool]")
{
    World world({0});
    unsigned refused = 0;
    world.run([&](int r) {
        constexpr uint64_t tasks = 300;
        Seen seen(tasks);
        Rank rank(world, r);
        rank.seen = &seen;
        const int kind = rank.add_kind(counted, sizeof(uint64_t));
        std::vector<uint64_t> futures;
        futures.reserve(tasks);
        for (uint64_t i = 0; i < tasks; i++) {
            uint64_t future = 0;
            ws_task_options wants = {};
            wants.future = i % 3 ? nullptr : &future;
            wants.priority = int(i % 5);
            int failed = ENOMEM;
            for (long n = 1; failed; n++) { // until it asks for fewer
                allocations_left = n;
                failed = rank.put(kind, i, &wants);
                allocations_left = -1;
                refused += failed == ENOMEM;
                HOLDS(!failed || failed == ENOMEM);
                HOLDS(!failed || future == 0);
                HOLDS(!failed || rank.counts().put == i);
            }
            if (future)
                futures.push_back(future);
        }
        HOLDS(rank.run() == 0);
        HOLDS(all_ran_once(seen));
        for (const uint64_t future : futures) {
            uint64_t result;
            HOLDS(rank.pool->future(future, &result, sizeof result, nullptr, rank.error) == 0);
        }
        HOLDS(futures.size() == tasks / 3);
    });
    CHECK(refused > 10);
}

TEST_CASE("a kind for which there is no memory is not registered", "[pool]")
{
    World world({0});
    world.run([&](int r) {
        Rank rank(world, r);
        ws_task_kind kind = {};
        kind.name = "a name that is too long to lie in the string itself";
        kind.run = counted;
        kind.result = 1000;
        kind.combine = sum_up;
        unsigned refused = 0;
        for (int expected = 0; expected < 20; expected++) {
            int number = -1;
            for (long n = 1; number < 0; n++) {
                allocations_left = n;
                try {
                    HOLDS(rank.pool->add_kind(kind, number, rank.error) == 0);
                } catch (const std::bad_alloc&) {
                    refused++;
                }
                allocations_left = -1;
            }
            HOLDS(number == expected);
        }
        HOLDS(refused >= 40);
        HOLDS(rank.run() == 0);
    });
}

TEST_CASE("a rank without memory in a run ends the job: no false end, and no task runs twice", "[pool]")
{
    unsigned ended = 0, n = 0;
    for (bool refused = true; refused && n < 2000; n += 1 + n / 10) {
        World world({0, 1});
        constexpr uint64_t tasks = 40;
        auto* const seen = new Seen(tasks);
        const std::vector<bool> came = world.run([&](int r) {
            auto* const rank = new Rank(world, r); // a rank that ends in the middle frees nothing
            rank->seen = seen;
            const int kind = rank->add_kind(slow);
            for (uint64_t i = 0; r == 0 && i < tasks; i++)
                HOLDS(rank->put(kind, i) == 0);
            struct Limit {
                explicit Limit(long n) { allocations_left = n; }
                ~Limit() { allocations_left = -1; }
            };
            {
                const Limit limit(r == 1 ? long(n) + 1 : -1);
                HOLDS(rank->run() == 0);
            }
        });
        refused = !came[1];
        ended += refused;
        uint64_t done = 0;
        for (const auto& runs : seen->runs) {
            CHECK(runs <= 1);
            done += unsigned(runs);
        }
        CHECK((done == tasks || (!came[0] && !came[1])));
        CHECK((refused || done == tasks));
    }
    CHECK(ended > 5);
    CHECK(n < 2000); // then it asks for no more
}
