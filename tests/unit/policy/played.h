// SPDX-License-Identifier: MIT
//
// Ranks that one process plays, a thread each: their collective calls and messages without MPI, and memory that those
// of a node share. What waits here waits for a rank that comes, or throws as soon as one has died.
#pragma once

#include "policy/processes.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace played {

// Thrown by a rank that would end the job, and by a rank that waits for one that has died.
struct JobEnds {};
// Thrown by a rank that dies: nothing of it goes on.
struct Dies {};

// For the threads of ranks, as Catch2's macros are for one thread: World::run() says what was wrong.
#define HOLDS(...) played::holds(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
void holds(bool is_so, const char* text, const char* file, int line);

// Some ranks that call the same collective functions in the same order.
class Group {
public:
    explicit Group(int size) : mine_(size_t(size)) {}
    // Each gets what all have brought, by rank.
    std::vector<std::string> exchange(int rank, std::string mine);
    void rank_died();

private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::vector<std::string> mine_, all_;
    unsigned there_ = 0, leaving_ = 0;
    bool dead_ = false;
};

class World {
public:
    // `nodes`: of each rank.
    explicit World(std::vector<int> nodes) : nodes_(std::move(nodes)), all_(std::make_shared<Group>(ranks())) {}
    int ranks() const { return int(nodes_.size()); }
    int node(int rank) const { return nodes_[size_t(rank)]; }

    // Calls play(rank) for all ranks at once. True for each that came to its end: else it has died, or its job ended.
    std::vector<bool> run(const std::function<void(int)>& play);

    // As run(), and leaves it to the caller to report what HOLDS found wrong.
    std::vector<bool> play_all(const std::function<void(int)>& play);

    std::unique_ptr<ws::policy::Processes> processes(int rank);
    // The ranks of that rank's node, for node::Memory. Collective over the node, once.
    MPI_Comm node_comm(int rank);

    // ---- messages: the oldest of those that are there, false if none is
    using Address = std::tuple<const void*, int, int, int>; // group, from, to, tag
    void put(const Address& address, std::string message);
    bool take(const Address& address, std::string& message);
    // The lowest sender's first message to that rank with a tag, but the order of one sender's stays.
    bool take_any(const void* group, int to, int tag, int& from, std::string& message);
    // Until something has changed since `seen`, which is updated; throws if a rank has died.
    void wait(uint64_t& seen);
    void check_alive();

private:
    void die();

    const std::vector<int> nodes_;
    std::mutex lock_;
    std::condition_variable changed_;
    std::map<Address, std::deque<std::string>> messages_;
    uint64_t changes_ = 0;
    bool dead_ = false;
    std::vector<std::weak_ptr<Group>> groups_; // but all_
    std::shared_ptr<Group> all_;
    friend class PlayedProcesses;
};

// For plays that measure times, which other programs disturb: runs `play` in a new world until nothing is wrong, at
// most `times` times, and reports what was wrong in the last.
void run_until_right(const std::vector<int>& nodes, unsigned times, const std::function<void(World&, int)>& play);

} // namespace played
