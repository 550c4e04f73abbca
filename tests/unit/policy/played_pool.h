// SPDX-License-Identifier: MIT
//
// Ranks of a pool of tasks that this process plays, a thread each, and what their tasks have done.
#pragma once

#include "policy/tasks/pool.h"

#include "../window/in_memory.h"
#include "played.h"
#include "policy/tasks/peers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace played {

using namespace ws::policy;
using namespace ws::policy::tasks;

extern unsigned guests; // of each loop of a pool

// A rank dies after this many looks at its letters.
inline std::atomic<int> looks_to_live[64];

// Not 0: a look takes only some of what has come, chosen at random; what one rank has posted stays in order.
inline std::atomic<unsigned> delays;

// Sees all that ranks send, before it goes; tag 0 is that of letters.
struct Watch {
    virtual ~Watch() = default;
    virtual void sends(int from, int to, int tag, const char* data, size_t bytes) = 0;
};
inline std::atomic<Watch*> watch;

class PlayedWire final : public Wire {
public:
    PlayedWire(World& world, int rank, Receive receive)
        : world_(world), rank_(rank), random_(delays + unsigned(rank)), receive_(std::move(receive))
    {
    }

    void post(int to, std::string letter) override
    {
        if (Watch* const w = watch)
            w->sends(rank_, to, letters, letter.data(), letter.size());
        world_.put({this_kind, rank_, to, letters}, std::move(letter));
        sent_++;
    }
    void send(int to, int tag, const void* data, size_t bytes, Done done) override
    {
        if (Watch* const w = watch)
            w->sends(rank_, to, tag, static_cast<const char*>(data), bytes);
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
            if (!is_late() && world_.take({this_kind, e->from, rank_, e->tag}, data)) {
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
        for (int from = 0; from < world_.ranks(); from++)
            for (std::string letter; !is_late() && world_.take({this_kind, from, rank_, letters}, letter); any = true) {
                received_++;
                receive_(from, letter.data(), letter.size());
            }
        return any;
    }
    void wait() override
    {
        uint64_t seen = 0;
        while (!poll())
            if (delays)
                std::this_thread::sleep_for(std::chrono::microseconds(20)); // something may have been left
            else
                world_.wait(seen);
    }
    uint64_t sent() const override { return sent_; }
    uint64_t received() const override { return received_; }
    bool sends() const override { return !done_.empty() || !expected_.empty(); }
    bool moves_data() const override { return sends(); }
    void close() override {}

private:
    bool is_late() { return delays && (random_ = random_ * 1103515245 + 12345) >> 16 & 1; }

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
    unsigned random_;
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
        error.clear();
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
inline thread_local Rank* Rank::own;

inline Pool::Running& running_of(const ws_task* task)
{
    return *static_cast<Pool::Running*>(const_cast<void*>(task->reserved[0]));
}

inline void give_result(ws_task* task, uint64_t value)
{
    std::string error;
    HOLDS(running_of(task).pool->result(running_of(task), &value, sizeof value, error) == 0);
}

inline void sum_up(void* into, const void* from, void*)
{
    *static_cast<uint64_t*>(into) += *static_cast<const uint64_t*>(from);
}

inline int counted(ws_task* task)
{
    Seen& seen = *static_cast<Seen*>(task->context);
    uint64_t number;
    std::memcpy(&number, task->data, sizeof number);
    seen.runs[number]++;
    seen.ran_on[Rank::of(task).number]++;
    return 0;
}

inline int slow(ws_task* task)
{
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return counted(task);
}

inline bool all_ran_once(const Seen& seen)
{
    return std::all_of(seen.runs.begin(), seen.runs.end(), [](const std::atomic<int>& runs) { return runs == 1; });
}

} // namespace played
