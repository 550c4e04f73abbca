// SPDX-License-Identifier: MIT
#include "played.h"

#include "base/mapping.h"
#include "mpi/end_job.h"
#include "node/memory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using ws::policy::Flight;
using ws::node::Memory;
using ws::policy::Processes;

namespace ws::mpi {
void end_job() { throw played::JobEnds(); }
} // namespace ws::mpi

namespace played {

namespace {

template <class T> std::string bytes_of(const T& value)
{
    return {reinterpret_cast<const char*>(&value), sizeof value};
}
template <class T> T value_of(const std::string& bytes)
{
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

// What MPI_Comm is where there is no MPI: a number of these.
struct Seat {
    std::shared_ptr<Group> node;
    int rank;
};
std::mutex seats_lock;
std::deque<Seat> seats;

Seat& seat_of(MPI_Comm node)
{
    std::lock_guard<std::mutex> hold(seats_lock);
    return seats[size_t(node)];
}

class PlayedFlight final : public Flight {
public:
    PlayedFlight(World& world, const void* group, int rank, int size)
        : world_(world), group_(group), rank_(rank), size_(size)
    {
    }

    void send(const void* data, size_t bytes, int to, int tag) override
    {
        world_.put({group_, rank_, to, tag}, {static_cast<const char*>(data), bytes});
    }
    void receive(void* data, size_t bytes, int from, int tag) override
    {
        expect(from, tag, [data, bytes](const std::string& message) {
            if (message.size() != bytes)
                throw std::runtime_error("a message of another size");
            std::memcpy(data, message.data(), bytes);
        });
    }
    void send(const Pieces& p, int to, int tag) override
    {
        std::string message;
        for (int64_t i = 0; i < p.count; i++)
            message.append(p.data + i * p.stride, size_t(p.elements * p.extent));
        world_.put({group_, rank_, to, tag}, std::move(message));
    }
    void receive(const Pieces& p, int from, int tag) override
    {
        expect(from, tag, [p](const std::string& message) {
            const size_t each = size_t(p.elements * p.extent);
            if (message.size() != size_t(p.count) * each)
                throw std::runtime_error("a message of another size");
            for (int64_t i = 0; i < p.count; i++)
                std::memcpy(p.data + i * p.stride, message.data() + size_t(i) * each, each);
        });
    }
    void combine(const double* mine, double* all, int count) override
    {
        to_all({reinterpret_cast<const char*>(mine), size_t(count) * sizeof *mine},
               [this, all, count](int rank, const std::string& message) {
                   parts_.resize(size_t(size_));
                   parts_[size_t(rank)] = message;
                   if (++there_ < size_)
                       return;
                   there_ = 0;
                   for (int r = 0; r < size_; r++) {
                       const auto* numbers = reinterpret_cast<const double*>(parts_[size_t(r)].data());
                       if (r == 0)
                           std::memcpy(all, numbers, size_t(count) * sizeof *all);
                       else
                           add(numbers, all, count);
                   }
               });
    }
    void gather(const void* mine, void* all, size_t bytes) override
    {
        to_all({static_cast<const char*>(mine), bytes}, [all, bytes](int rank, const std::string& message) {
            std::memcpy(static_cast<char*>(all) + size_t(rank) * bytes, message.data(), bytes);
        });
    }
    bool complete(bool wait) override
    {
        uint64_t seen = 0;
        while (!expected_.empty()) {
            world_.check_alive();
            for (auto e = expected_.begin(); e != expected_.end();) {
                std::string message;
                // Messages of one sender come in the order in which they are expected.
                if (is_first(e) && world_.take({group_, e->from, rank_, e->tag}, message)) {
                    e->arrived(message);
                    e = expected_.erase(e);
                } else
                    ++e;
            }
            if (!wait)
                break;
            if (!expected_.empty())
                world_.wait(seen);
        }
        return expected_.empty();
    }

private:
    struct Expected {
        int from, tag;
        std::function<void(const std::string&)> arrived;
    };
    void expect(int from, int tag, std::function<void(const std::string&)> arrived)
    {
        expected_.push_back({from, tag, std::move(arrived)});
    }
    bool is_first(std::deque<Expected>::iterator e)
    {
        for (auto before = expected_.begin(); before != e; ++before)
            if (before->from == e->from && before->tag == e->tag)
                return false;
        return true;
    }
    void to_all(const std::string& message, const std::function<void(int, const std::string&)>& arrived)
    {
        constexpr int collective = -1;
        for (int r = 0; r < size_; r++) {
            world_.put({group_, rank_, r, collective}, message);
            expect(r, collective, [r, arrived](const std::string& theirs) { arrived(r, theirs); });
        }
    }

    World& world_;
    const void* const group_;
    const int rank_, size_;
    std::deque<Expected> expected_;
    std::vector<std::string> parts_;
    int there_ = 0;
};

} // namespace

class PlayedProcesses final : public Processes {
public:
    PlayedProcesses(World& world, std::shared_ptr<Group> group, int rank, int size)
        : Processes(MPI_COMM_NULL, rank, size), world_(world), group_(std::move(group))
    {
    }
    void combine(By by, int64_t* numbers, size_t count) override { combine_all(by, numbers, count); }
    void combine(By by, double* numbers, size_t count) override { combine_all(by, numbers, count); }
    void broadcast(void* data, size_t bytes, int from) override
    {
        const std::vector<std::string> all =
            group_->exchange(rank, rank == from ? std::string(static_cast<char*>(data), bytes) : "");
        if (all[size_t(from)].size() != bytes)
            throw std::runtime_error("a broadcast of another size");
        std::memcpy(data, all[size_t(from)].data(), bytes);
    }
    std::unique_ptr<Processes> split(int number) override
    {
        int place = 0, same = 0, first = -1;
        const std::vector<std::string> numbers = group_->exchange(rank, bytes_of(number));
        for (int r = 0; r < size; r++)
            if (value_of<int>(numbers[size_t(r)]) == number) {
                first = first < 0 ? r : first;
                place += r < rank;
                same++;
            }
        std::shared_ptr<Group> part;
        if (first == rank) {
            part = std::make_shared<Group>(same);
            std::lock_guard<std::mutex> hold(world_.lock_);
            world_.groups_.push_back(part);
        }
        const std::vector<std::string> made = group_->exchange(rank, bytes_of(&part));
        if (first != rank)
            part = *value_of<std::shared_ptr<Group>*>(made[size_t(first)]);
        group_->exchange(rank, ""); // what they point to lives until all have it
        return std::make_unique<PlayedProcesses>(world_, part, place, same);
    }
    std::unique_ptr<Flight> flight() override
    {
        return std::make_unique<PlayedFlight>(world_, group_.get(), rank, size);
    }
    const std::shared_ptr<Group>& group() const { return group_; }

private:
    template <class Number> void combine_all(By by, Number* numbers, size_t count)
    {
        const std::vector<std::string> all =
            group_->exchange(rank, {reinterpret_cast<char*>(numbers), count * sizeof *numbers});
        for (size_t i = 0; i < count; i++)
            for (size_t r = 0; r < all.size(); r++) {
                Number theirs;
                std::memcpy(&theirs, all[r].data() + i * sizeof theirs, sizeof theirs);
                Number& n = numbers[i];
                n = r == 0            ? theirs
                    : by == By::least ? std::min(n, theirs)
                    : by == By::most  ? std::max(n, theirs)
                                      : n + theirs;
            }
    }

    World& world_;
    const std::shared_ptr<Group> group_;
};

std::vector<std::string> Group::exchange(int rank, std::string mine)
{
    std::unique_lock<std::mutex> hold(lock_);
    changed_.wait(hold, [this] { return !leaving_ || dead_; });
    if (dead_)
        throw JobEnds();
    mine_[size_t(rank)] = std::move(mine);
    if (++there_ == mine_.size()) {
        all_ = mine_;
        leaving_ = there_;
        changed_.notify_all();
    }
    changed_.wait(hold, [this] { return leaving_ || dead_; });
    if (!leaving_)
        throw JobEnds();
    std::vector<std::string> all = all_;
    if (--leaving_ == 0) {
        there_ = 0;
        changed_.notify_all();
    }
    return all;
}

void Group::rank_died()
{
    std::lock_guard<std::mutex> hold(lock_);
    dead_ = true;
    changed_.notify_all();
}

void World::die()
{
    std::lock_guard<std::mutex> hold(lock_);
    dead_ = true;
    changed_.notify_all();
    all_->rank_died();
    for (const auto& group : groups_)
        if (const std::shared_ptr<Group> there = group.lock())
            there->rank_died();
}

static std::mutex wrong_lock;
static std::vector<std::string> all_wrong;

void holds(bool is_so, const char* text, const char* file, int line)
{
    if (is_so)
        return;
    std::lock_guard<std::mutex> hold(wrong_lock);
    all_wrong.push_back(std::string(file) + ":" + std::to_string(line) + ": " + text);
}

namespace {

// Reports at the end of a scope what is wrong by then, also when an exception ends it.
struct ReportsWrong {
    ~ReportsWrong()
    {
        for (const std::string& text : all_wrong)
            FAIL_CHECK(text);
        all_wrong.clear();
    }
};

} // namespace

std::vector<bool> World::run(const std::function<void(int)>& play)
{
    const ReportsWrong reports;
    return play_all(play);
}

void run_until_right(const std::vector<int>& nodes, unsigned times, const std::function<void(World&, int)>& play)
{
    const ReportsWrong reports;
    for (unsigned i = 0; i < times && (i == 0 || !all_wrong.empty()); i++) {
        all_wrong.clear();
        World world(nodes);
        world.play_all([&](int rank) { play(world, rank); });
    }
}

std::vector<bool> World::play_all(const std::function<void(int)>& play)
{
    std::vector<std::thread> threads;
    std::vector<char> ended(nodes_.size());
    std::exception_ptr wrong;
    for (int r = 0; r < ranks(); r++)
        threads.emplace_back([&, r] {
            try {
                play(r);
                ended[size_t(r)] = 1;
            } catch (const Dies&) {
                die();
            } catch (const JobEnds&) {
                die(); // as it ends for all
            } catch (...) {
                std::lock_guard<std::mutex> hold(lock_);
                wrong = std::current_exception();
            }
            if (wrong)
                die();
        });
    for (std::thread& t : threads)
        t.join();
    if (wrong)
        std::rethrow_exception(wrong);
    return {ended.begin(), ended.end()};
}

std::unique_ptr<Processes> World::processes(int rank)
{
    return std::make_unique<PlayedProcesses>(*this, all_, rank, ranks());
}

MPI_Comm World::node_comm(int rank)
{
    const std::unique_ptr<Processes> node = processes(rank)->split(this->node(rank));
    std::lock_guard<std::mutex> hold(seats_lock);
    seats.push_back({static_cast<PlayedProcesses&>(*node).group(), node->rank});
    return MPI_Comm(seats.size() - 1);
}

void World::put(const Address& address, std::string message)
{
    std::lock_guard<std::mutex> hold(lock_);
    messages_[address].push_back(std::move(message));
    changes_++;
    changed_.notify_all();
}

bool World::take(const Address& address, std::string& message)
{
    std::lock_guard<std::mutex> hold(lock_);
    const auto found = messages_.find(address);
    if (found == messages_.end() || found->second.empty())
        return false;
    message = std::move(found->second.front());
    found->second.pop_front();
    return true;
}

bool World::take_any(const void* group, int to, int tag, int& from, std::string& message)
{
    for (from = 0; from < ranks(); from++)
        if (take({group, from, to, tag}, message))
            return true;
    return false;
}

void World::wait(uint64_t& seen)
{
    std::unique_lock<std::mutex> hold(lock_);
    changed_.wait(hold, [&] { return changes_ != seen || dead_; });
    if (dead_)
        throw JobEnds();
    seen = changes_;
}

void World::check_alive()
{
    std::lock_guard<std::mutex> hold(lock_);
    if (dead_)
        throw JobEnds();
}

} // namespace played

// ---- memory that the ranks of a node share, each at its own address

using played::seat_of;

void* Memory::allocate(MPI_Comm node, size_t bytes, Content)
{
    played::Seat& seat = seat_of(node);
    int fd = -1;
    if (seat.rank == 0) {
        fd = memfd_create("played", MFD_CLOEXEC);
        if (ftruncate(fd, off_t(bytes)) != 0)
            throw std::runtime_error("no memory");
    }
    const std::vector<std::string> all = seat.node->exchange(seat.rank, played::bytes_of(fd));
    const int file = played::value_of<int>(all[0]);
    mapping_ = ws::base::map(file, ws::base::read_write, bytes);
    seat.node->exchange(seat.rank, "");
    if (seat.rank == 0)
        close(fd);
    return mapping_.get_address();
}

int64_t Memory::from_first(MPI_Comm node, int64_t offset)
{
    played::Seat& seat = seat_of(node);
    return played::value_of<int64_t>(seat.node->exchange(seat.rank, played::bytes_of(offset))[0]);
}

bool Memory::all(MPI_Comm node, bool fine)
{
    played::Seat& seat = seat_of(node);
    bool on_all = true;
    for (const std::string& theirs : seat.node->exchange(seat.rank, played::bytes_of(fine)))
        on_all = on_all && played::value_of<bool>(theirs);
    return on_all;
}

void Memory::free() { mapping_ = {}; }
