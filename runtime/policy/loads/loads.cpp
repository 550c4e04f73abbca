// SPDX-License-Identifier: MIT
#include "policy/loads/loads.h"

#include "measure/meter.h"
#include "policy/loads/rows.h"
#include "policy/node_memory.h"
#include "window/epoch_row.h"
#include "window/os.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace ws::policy::loads {

using window::Flag;
using window::Hardware;

namespace {

// In the memory of a node, for each node.
struct Node {
    window::EpochRow<8> row;      // writers: whoever has learned of it
    volatile Flag answer; // the world rank to write to there. Writers: as of the row
};

// A double and a word have the same bits.
static_assert(sizeof(double) == sizeof(Hardware::Word));
Hardware::Word word_of(double value)
{
    Hardware::Word word;
    std::memcpy(&word, &value, sizeof word);
    return word;
}
double double_of(Hardware::Word word)
{
    double value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}

class Loads final : public policy::Policy, public policy::LoadsOfNodes {
public:
    const char* name() const override { return "loads"; }
    policy::Wants attach(policy::Rank& rank) override;
    policy::Wants step(policy::Rank& rank, uint64_t now, uint64_t budget) override;
    policy::Wants message(policy::Rank& rank, int from, uint32_t kind, std::string_view letter) override;
    bool writes_letters() const override;
    void end(policy::Rank&) override { ended_ = true; }
    void detach(policy::Rank& rank) override;
    std::vector<NodeLoad> read() const override;

private:
    bool exchange(policy::Rank& rank, uint64_t now);
    void keep(unsigned node, const NodeLoad& load);
    NodeLoad known(unsigned node) const;

    policy::NodeMemory memory_;
    Node* table_ = nullptr;
    unsigned nodes_ = 0, own_ = 0; // how many, and which this is
    int ranks_ = 0;                // in MPI_COMM_WORLD
    uint64_t every_ = 0;           // ticks
    arbiter::Decider decider_;
    bool ended_ = false;
    std::vector<window::Load> loads_;
};

// A letter that is older than what is known changes nothing. Nor does one while another rank writes the row: that one
// is about as new.
void Loads::keep(unsigned node, const NodeLoad& l)
{
    if (l.measured_s > known(node).measured_s)
        table_[node].row.try_write({l.at, word_of(l.measured_s),
                                    Hardware::Word(l.ranks) << 32 | Hardware::Word(l.computing) << 16 | l.cores,
                                    word_of(l.useful_s), word_of(l.waited_s), word_of(l.borrowed_s),
                                    word_of(l.kept_off_s), word_of(l.period_s)});
}

NodeLoad Loads::known(unsigned node) const
{
    Hardware::Word w[8];
    if (!table_[node].row.read(w))
        return {};
    return {w[0], double_of(w[1]), unsigned(w[2] >> 32), unsigned(w[2] >> 16 & 0xffff), unsigned(w[2] & 0xffff),
            double_of(w[3]), double_of(w[4]), double_of(w[5]), double_of(w[6]), double_of(w[7])};
}

bool Loads::writes_letters() const
{
    const auto& all = policy::policies();
    return std::any_of(all.begin(), all.end(), [](const policy::Policy* p) { return p->wants_loads(); });
}

policy::Wants Loads::attach(policy::Rank& rank)
{
    if (!writes_letters())
        return {};
    int last = rank.node_number, me;
    PMPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    nodes_ = unsigned(last) + 1;
    own_ = unsigned(rank.node_number);
    every_ = uint64_t(every_us(nodes_) * rank.ticks_per_us);
    std::vector<int> first(nodes_, INT_MAX); // of each node's ranks
    first[own_] = me;
    PMPI_Allreduce(MPI_IN_PLACE, first.data(), int(nodes_), MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    // Without it the node neither tells its loads nor hears of others'.
    if (rank.window)
        table_ = static_cast<Node*>(memory_.allocate(rank.node, nodes_ * sizeof(Node)));
    if (!table_)
        return {};
    if (me == first[own_])
        for (unsigned n = 0; n < nodes_; n++)
            table_[n].answer = Flag(first[n]);
    PMPI_Barrier(rank.node);
    decider_ = rank.node_decider(*this);
    rank.loads = this;
    return {false, window::ticks() + every_};
}

// The decider writes this node's sums into the table and sends them on. False if another rank is the decider.
bool Loads::exchange(policy::Rank& rank, uint64_t now)
{
    if (!table_ || ended_ || !decider_.take(now, now + 2 * every_))
        return false;
    if (now - known(own_).at < every_ / 2) // the decider before this one has just done it
        return true;
    measure::read_loads(*rank.window, now, loads_);
    const NodeLoad own = measure::summed_up(loads_, rank.window->node().cpus, now, rank.ticks_per_us);
    keep(own_, own);
    const auto post = [&](unsigned node, const std::vector<Row>& rows) {
        // Relaxed: any rank there would do. The node's memory may have been damaged by one of its ranks.
        const Flag to = Hardware::load_relaxed(table_[node].answer);
        if (to < Flag(ranks_))
            rank.post(*this, int(to), 0, write(own_, rows));
    };
    if (own_ != 0) {
        post(0, {{own_, own}});
        return true;
    }
    std::vector<Row> rows;
    for (unsigned n = 0; n < nodes_; n++)
        if (const NodeLoad load = known(n); load.at)
            rows.push_back({n, load});
    for (unsigned n = 1; n < nodes_; n++)
        post(n, rows);
    return true;
}

policy::Wants Loads::step(policy::Rank& rank, uint64_t now, uint64_t)
{
    return {false, now + (exchange(rank, now) ? every_ : 3 * every_)}; // another one decides until then, or is gone
}

// A node none of whose ranks waits gives no steps: it sends its sums when it hears of others.
policy::Wants Loads::message(policy::Rank& rank, int from, uint32_t, std::string_view letter)
{
    uint32_t sender;
    std::vector<Row> rows;
    if (!table_ || !loads::read(letter, nodes_, sender, rows))
        return {};
    const uint64_t now = window::ticks();
    Hardware::store_relaxed(table_[sender].answer, Flag(from)); // relaxed: as above
    for (Row& r : rows)
        if (r.node != own_) {
            r.load.at = now;
            keep(r.node, r.load);
        }
    if (now - known(own_).at >= every_)
        exchange(rank, now);
    return {false, now + every_};
}

void Loads::detach(policy::Rank& rank)
{
    rank.loads = nullptr;
    table_ = nullptr;
    memory_.free();
}

std::vector<NodeLoad> Loads::read() const
{
    std::vector<NodeLoad> all;
    for (unsigned n = 0; table_ && n < nodes_; n++)
        all.push_back(known(n));
    return all;
}

} // namespace

policy::Policy& policy()
{
    static Loads loads;
    return loads;
}

} // namespace ws::policy::loads
