// SPDX-License-Identifier: MIT
//
// The arrival board: ranks of a node see in shared memory who has come to a collective call of a communicator, and wait
// there, where they can lend their cores, before they call MPI. MPI's own algorithm then runs, and takes microseconds.
//
// A communicator, window or file has a row: a word for each rank of the node, in a cache line of its own, with the
// number of collective calls that this rank has begun. Only that rank writes it. A row is taken by the lowest of the
// members on the node, which tells the others, and given back by the last of them.
#pragma once

#include "base/atomics.h"

#include <cstddef>
#include <vector>

namespace ws::host {

class CallBoard {
public:
    static constexpr unsigned rows = 256; // communicators, windows and files of a node at a time
    static constexpr int none = -1;

    static size_t bytes(unsigned ranks) { return (rows + size_t(ranks) * (rows + 1) + 1) * line; }
    // Zeroed memory of bytes(ranks), shared by the ranks of the node.
    void map(void* memory, unsigned ranks);

    // Takes a free row for this number of members; all its words are 0. Returns `none` if there is no free row.
    int take_row(unsigned members);
    // A member leaves the row; the last one gives it back.
    void leave_row(int row);
    // Gives back a row that nobody has used.
    void give_back(int row) { base::Hardware::store_release(lines_[row].word, 0); } // pairs with take_row()

    // Numbers of calls may differ from here on, so nobody waits at this row any more. Relaxed: ranks that wait poll.
    void abandon(int row) { base::Hardware::store_relaxed(lines_[row].abandoned, 1); }
    bool is_abandoned(int row) const { return base::Hardware::load_relaxed(lines_[row].abandoned) != 0; }

    volatile base::Hardware::Word& arrivals(int row, unsigned rank)
    {
        return lines_[rows + size_t(rank) * rows + unsigned(row)].word;
    }

    // Counts calls that may need polls of this rank of the node, or, for all_ranks(), of any rank (NeedsPolls).
    volatile base::Hardware::Word& needs(unsigned rank) { return lines_[rows + size_t(ranks_) * rows + rank].word; }
    unsigned all_ranks() const { return ranks_; }

private:
    static constexpr size_t line = 64;
    struct alignas(line) Line {
        volatile base::Hardware::Word word; // of the first `rows` lines: members that have not left; 0: a free row
        volatile base::Hardware::Word abandoned; // of the first `rows` lines
    };
    Line* lines_ = nullptr;
    unsigned ranks_ = 0;
};

// The members of a communicator, and its row of the board. An intercommunicator has no row, and its members are the
// remote ones.
class Group {
public:
    // `world` has the rank in MPI_COMM_WORLD of each member, negative for processes of other jobs; `on_node` its rank
    // on the node, negative for others.
    Group(std::vector<int> world, const std::vector<int>& on_node, int rank);
    // One more of the same members.
    Group(const Group&) = default;
    Group& operator=(const Group&) = delete;

    int size() const { return int(world_.size()); }
    int rank() const { return rank_; }
    int world_rank(int member) const { return has_rank(member) ? world_[size_t(member)] : -1; }
    bool has_rank(int rank) const { return unsigned(rank) < world_.size(); }
    const std::vector<int>& world_ranks() const { return world_; }
    // The rank on this node of a member; negative: it is on another node, or there is no such member.
    int on_node(int member) const;

    // All members are processes of this job.
    bool is_of_this_job() const;

    // It is a file's: its calls may take long without waiting for other ranks.
    void be_of_file() { is_of_file_ = true; }
    bool is_of_file() const { return is_of_file_; }

    // The members on this node: their number, the rank that takes the row, and a visit to each in rank order.
    unsigned node_members() const { return unsigned(members_.size()); }
    int leader() const { return members_[0].rank; }
    template <class Visit> void each_on_node(Visit visit) const
    {
        for (const NodeRank& m : members_)
            visit(m.rank);
    }
    void use(CallBoard& board, int row);
    bool has_board() const { return board_; }
    int row() const { return row_; }
    void leave_board();

    // This rank comes to a collective call. Returns its number. Full: what other ranks see of this rank afterwards, and
    // what it sees of them when it rings, is later.
    uint64_t arrive()
    {
        base::Hardware::fetch_add_full(board_->arrivals(row_, own_), 1);
        return ++calls_;
    }
    // Have the members on this node come of which `counts(rank)` is true, or is the row abandoned?
    template <class Counts> bool has_arrived(uint64_t turn, Counts counts)
    {
        if (seen_turn_ != turn) {
            seen_turn_ = turn;
            seen_ = 0;
        }
        // Relaxed: the call that follows orders what the ranks tell each other by its own means.
        for (; seen_ < members_.size(); seen_++) {
            const NodeRank& m = members_[seen_];
            if (base::Hardware::load_relaxed(board_->arrivals(row_, m.on_node)) < turn && counts(m.rank))
                return board_->is_abandoned(row_);
        }
        return true;
    }
    template <class Ring> void ring_members(Ring ring) const
    {
        for (const NodeRank& m : members_)
            if (m.rank != rank_ && ring)
                ring(world_[size_t(m.rank)]);
    }

private:
    struct NodeRank {
        int rank;         // in the group
        unsigned on_node; // rank on the node
    };
    std::vector<int> world_;
    std::vector<NodeRank> members_; // on this node, in the order of their ranks in the group
    int rank_;
    bool is_of_file_ = false;
    CallBoard* board_ = nullptr;
    int row_ = CallBoard::none;
    unsigned own_ = 0; // rank on the node
    uint64_t calls_ = 0;
    size_t seen_ = 0; // of members_, those before have arrived
    uint64_t seen_turn_ = 0;
};

} // namespace ws::host
