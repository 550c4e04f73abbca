// SPDX-License-Identifier: MIT
//
// Readers of memory that the processes of a node share, when one of them has written anything there: they return or
// give up, and use no number as an index, a divisor or a count of turns that they have not looked at. The node book is
// in tests/unit/book/, boards in tests/job/top/, letters in tests/unit/policy/tasks/.
#include "arbiter/cores.h"
#include "arbiter/decider.h"
#include "lend/chooser.h"
#include "lend/victims.h"
#include "loop/chaos.h"
#include "loop/descriptor.h"
#include "loop/schedule.h"
#include "node/split.h"
#include "policy/cores/balance.h"
#include "policy/cores/regions.h"
#include "policy/cores/team.h"
#include "policy/tasks/worth.h"
#include "window/load_row.h"
#include "window/locks.h"
#include "base/mapping.h"
#include "base/os.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace ws;
using base::Hardware;

// What the table of processors needs of MPI: this process is the node.
static void* policy_memory;
static size_t policy_bytes;
static std::function<void()> at_attach;
extern "C" {
int PMPI_Comm_rank(MPI_Comm, int* rank) { return *rank = 0; }
int PMPI_Barrier(MPI_Comm) { return 0; }
int PMPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm) { return 0; }
// Between this and the next call of a collective function each rank looks where the objects are.
int PMPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm)
{
    if (at_attach)
        at_attach();
    return 0;
}
int PMPI_Win_allocate_shared(MPI_Aint bytes, int, MPI_Info, MPI_Comm, void*, MPI_Win* window)
{
    *window = MPI_WIN_NULL + 1;
    policy_bytes = size_t(bytes) / 64 * 64;
    policy_memory = std::aligned_alloc(64, policy_bytes);
    return MPI_SUCCESS;
}
int PMPI_Win_shared_query(MPI_Win, int, MPI_Aint*, int*, void* base)
{
    return std::memcpy(base, &policy_memory, sizeof policy_memory), 0;
}
int PMPI_Win_free(MPI_Win* window)
{
    std::free(policy_memory);
    *window = MPI_WIN_NULL;
    return 0;
}
}
bool node::mpi_shares_memory() { return true; }
loop::Chaos loop::chaos;

namespace {

// Words as a stray store, or a program that is out of its mind, leaves them.
class Scribbler {
public:
    explicit Scribbler(unsigned seed) : random_(seed) {}
    uint64_t word()
    {
        const uint64_t w = random_();
        switch (random_() % 8) {
        case 0:
            return 0;
        case 1:
            return ~uint64_t(0);
        case 2:
            return w % 8;
        case 3:
            return uint64_t(1) << w % 64;
        case 4:
            return (w & 0xffffffff) << 32 | 0xffffffff;
        case 5:
            return w >> w % 64;
        default:
            return w;
        }
    }
    unsigned below(unsigned n) { return unsigned(random_() % n); }
    // One in `rare` words of the memory.
    void scribble(void* memory, size_t bytes, unsigned rare)
    {
        for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t))
            if (below(rare) == 0) {
                const uint64_t w = word();
                std::memcpy(static_cast<char*>(memory) + at, &w, sizeof w);
            }
    }

private:
    std::mt19937_64 random_;
};

class Memory {
public:
    explicit Memory(size_t bytes) : mapping_(base::map_anonymous(base::copy_on_write, bytes)) { REQUIRE(at()); }
    void* at() const { return mapping_.get_address(); }
    size_t bytes() const { return mapping_.get_size(); }

private:
    base::Mapping mapping_;
};

constexpr unsigned ranks = 4;

struct NodeOfRanks {
    NodeOfRanks() : memory(window::Window::bytes(ranks, ranks))
    {
        for (unsigned r = ranks; r-- > 0;) {
            window.map(memory.at(), ranks, ranks, r);
            window.init_own(int(r), ranks, 0, {});
        }
    }
    Memory memory;
    window::Window window; // of rank 0
};

} // namespace

TEST_CASE("descriptors of regions")
{
    Scribbler scribbler(1);
    for (int i = 0; i < 200000; i++) {
        loop::Descriptor d;
        scribbler.scribble(&d, sizeof d, 1);
        const loop::Descriptor::Look look = d.look();
        const loop::Sizing sizing = loop::Sizing::unpack(look.sizing);
        const auto size = [&](uint64_t remaining, unsigned joiners) {
            return sizing.units(remaining, joiners + 2, ranks);
        };
        loop::Chunk chunk = {0, 0};
        if (d.claim_and_join(size, chunk) == loop::Claim::taken) {
            const loop::Chunk own = d.clamp(chunk);
            REQUIRE(own.lo <= own.hi);
            REQUIRE(own.hi <= loop::Descriptor::next_mask);
        }
        for (const loop::Descriptor::By by : {loop::Descriptor::owner, loop::Descriptor::guest})
            if (d.claim(size, chunk, by) == loop::Claim::taken)
                REQUIRE((chunk.lo <= chunk.hi && chunk.hi <= loop::Descriptor::next_mask));
    }
}

TEST_CASE("sizes of chunks")
{
    Scribbler scribbler(2);
    CHECK(loop::Sizing::unpack(0).chunk == 1);
    for (int i = 0; i < 200000; i++) {
        const loop::Sizing sizing = loop::Sizing::unpack(scribbler.word());
        const uint64_t remaining = 1 + (scribbler.word() & loop::Descriptor::next_mask);
        (void) sizing.units(remaining, 2 + scribbler.below(1024), ranks);
        (void) sizing.units_from(scribbler.word(), remaining, 2, ranks);
        (void) sizing.units_until(scribbler.word(), remaining, 2, ranks);
    }
}

TEST_CASE("whom a thief helps")
{
    NodeOfRanks node;
    for (const lend::Score victims : lend::victims) {
        if (!victims)
            continue;
        Scribbler scribbler(3);
        lend::Chooser chooser;
        chooser.start(node.window, 0, victims, false);
        unsigned found = 0;
        for (int i = 0; i < 5000; i++) {
            scribbler.scribble(node.memory.at(), node.memory.bytes(), 4);
            for (unsigned r = 0; r < ranks; r++)
                node.window.guest(r, 0).state = window::guest_ready;
            const lend::Target t = chooser.choose(window::long_hungry, false, scribbler.word());
            if (!t)
                continue;
            found++;
            REQUIRE((t.rank < ranks && t.slot < window::max_slots));
        }
        CHECK(found > 0);
    }
}

TEST_CASE("rows of loads: what was damaged is right again when it has been written")
{
    Scribbler scribbler(4);
    for (int i = 0; i < 2000; i++) {
        window::LoadRow row;
        scribbler.scribble(static_cast<void*>(&row), sizeof row, 1 + scribbler.below(8));
        window::Load load;
        (void) row.read(load, 100);
        (void) load.brought_to(scribbler.word());
        window::Load mine;
        mine.at = 5;
        mine.useful = uint64_t(i);
        row.write(mine);
        REQUIRE(row.read(load, 1));
        REQUIRE((load.at == 5 && load.useful == uint64_t(i)));
    }
}

TEST_CASE("whose a core is, and who decides")
{
    Scribbler scribbler(5);
    for (int i = 0; i < 200000; i++) {
        volatile Hardware::Word word = scribbler.word();
        arbiter::Word<> core(word);
        const unsigned owner = core.look().owner;
        core.promise(owner, scribbler.below(ranks));
        core.settle(owner);
        core.withdraw(core.look().owner);
        core.change(core.look().use, arbiter::Use::guest);
        word = scribbler.word();
        arbiter::Decider decider(&word, 1);
        const uint64_t now = scribbler.word();
        if (decider.take(now / 2, now / 2 + (uint64_t(1) << 20)))
            REQUIRE(!arbiter::Decider(&word, 2).take(now / 2, now / 2 + 1));
    }
}

TEST_CASE("names of locks")
{
    Memory memory(window::LockTable::bytes);
    window::LockTable table(memory.at());
    for (unsigned seed = 6; seed < 8; seed++) {
        Scribbler scribbler(seed);
        scribbler.scribble(memory.at(), memory.bytes(), 1);
        if (seed == 7) // none is free, and each seems to be made
            for (unsigned i = 0; i < window::LockTable::max_names; i++)
                table[i].state = 2;
        const double begin = base::seconds_now();
        const unsigned index = table.find("a name");
        CHECK((index == window::LockTable::none || index < window::LockTable::max_names));
        CHECK(base::seconds_now() - begin < 20);
    }
}

TEST_CASE("processors of ranks, and how they are assigned")
{
    namespace cores = policy::cores;
    NodeOfRanks node;
    cores::Start start;
    start.cpus = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    cores::Table table;
    REQUIRE(table.attach(MPI_COMM_NULL, node.window, start, {8, 8, 8, 8}));
    for (const cores::Rule rule : {cores::whole_deal, cores::paper_deal}) {
        for (unsigned seed = 1; seed <= 20; seed++) {
            Scribbler scribbler(seed);
            cores::Team team;
            team.attach(table, node.window, 0, 1000, false, false);
            cores::Regions regions(1000);
            cores::Balance balance;
            volatile Hardware::Word decides = 0;
            balance.attach(table, node.window, arbiter::Decider(&decides, 0), rule, true, 1000);
            uint64_t now = base::ticks();
            for (int i = 0; i < 300; i++) {
                // Mostly rows that are in order, so that decisions are made of them; or there would be none.
                const Hardware::Word generation = table.head().generation;
                for (unsigned r = 0; r < ranks; r++) {
                    Hardware::Word w[cores::measured_words] = {generation << 1 | (seed & 1), 1000};
                    for (unsigned k = 2; k < cores::measured_words; k++)
                        w[k] = seed % 4 < 2 ? scribbler.word() : 1000000 + scribbler.below(1000000);
                    if (seed % 5 == 0) // turns that no rank has had
                        w[1] = 0xfffffff0 + r;
                    table.row(r).measured.write(w);
                    table.row(r).target = scribbler.below(3) ? 2 : cores::Flag(scribbler.word());
                }
                if (seed % 3 == 0)
                    scribbler.scribble(policy_memory, policy_bytes, 40);
                scribbler.scribble(&node.window.load(1), sizeof(window::LoadRow), 2);
                node.window.home(1).occupancy = window::rank_blocked;
                node.window.home(2).occupancy = window::rank_blocked;
                now += uint64_t(1) << 24;
                balance.step(now, 1 << 20);
                (void) table.located();
                for (unsigned p = 0; p < table.processors(); p++)
                    REQUIRE(table.owner(p) < ranks);
                REQUIRE(team.settle() >= 1);
                const unsigned there = team.could_borrow(now);
                REQUIRE(there <= ranks * table.processors());
                regions.took(&now, scribbler.word(), 1 + scribbler.below(8), 1);
                (void) regions.keeps_alone(&now, 1);
                (void) regions.pays(&now, team.own(), there);
                team.borrow(std::min(there, 8u), now);
                team.place({});
                (void) team.give_back(now + 1000);
                team.forgive(now);
            }
        }
    }
    table.detach();
}

TEST_CASE("a table of processors that is scribbled over while ranks attach is used as it should be, or not at all")
{
    namespace cores = policy::cores;
    NodeOfRanks node;
    cores::Start start;
    start.cpus = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
    unsigned attached = 0, without = 0;
    for (unsigned seed = 1; seed <= 2000; seed++) {
        Scribbler scribbler(seed);
        at_attach = [&] { scribbler.scribble(policy_memory, policy_bytes, seed % 2 ? 2 : 100); };
        cores::Table table;
        if (table.attach(MPI_COMM_NULL, node.window, start, {8, 8, 8, 8})) {
            attached++;
            for (unsigned r = 0; r < ranks; r++) {
                const auto at = uintptr_t(&table.row(r)) - uintptr_t(policy_memory);
                REQUIRE(at + sizeof(cores::RankRow) <= policy_bytes);
                REQUIRE(table.first()[r] == 2);
            }
            table.detach();
        } else
            without++;
    }
    at_attach = nullptr;
    CHECK(attached > 100);
    CHECK(without > 100);
}

TEST_CASE("a rank that seems to have all processors there can be is lent no more than there are")
{
    namespace cores = policy::cores;
    NodeOfRanks node;
    cores::Start start;
    start.cpus = {{0}, {1}, {2}, {3}};
    cores::Table table;
    REQUIRE(table.attach(MPI_COMM_NULL, node.window, start, {8, 8, 8, 8}));
    cores::Team team;
    team.attach(table, node.window, 0, 1000, false, false);
    window::Load waits;
    waits.at = 1;
    waits.waits = true;
    node.window.load(1).write(waits);
    node.window.home(1).occupancy = window::rank_blocked;
    table.row(1).target = ~0u; // with the one of this rank: 2^32
    cores::Regions regions(1000);
    regions.took(&node, 1000000, 1, 1);
    CHECK(regions.pays(&node, team.own(), team.could_borrow(uint64_t(1) << 40)));
    table.detach();
}

TEST_CASE("what nodes know of their tasks")
{
    namespace tasks = policy::tasks;
    Scribbler scribbler(9);
    for (int i = 0; i < 20000; i++) {
        tasks::Pace a, b;
        for (int k = 0; k < 20; k++) {
            a.add(tasks::unpacked(scribbler.word()));
            b.add(tasks::unpacked(scribbler.word()));
        }
        tasks::Pace all = a;
        all += b;
        const double here = tasks::speed_to_count_on(a, all), there = tasks::speed_to_count_on(b, all);
        REQUIRE((std::isfinite(here) && std::isfinite(there)));
        constexpr double most = double(uint64_t(1) << 40) * 1023; // as Pool::own_look()
        const double rest = std::min(most, double(scribbler.word())), other = std::min(most, double(scribbler.word()));
        const double moves = tasks::most_to_move({rest, here, 4}, {other, there, 3});
        REQUIRE(moves <= rest);
    }
}
