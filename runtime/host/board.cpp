// SPDX-License-Identifier: MIT
#include "host/board.h"

#include <algorithm>

namespace ws::host {

using base::Hardware;

void CallBoard::map(void* memory, unsigned ranks)
{
    const auto address = reinterpret_cast<uintptr_t>(memory);
    lines_ = reinterpret_cast<Line*>((address + line - 1) & ~(line - 1));
    ranks_ = ranks;
}

int CallBoard::take_row(unsigned members)
{
    // Full: pairs with leave_row(). The words of the row are zero from here on; the message that tells the others of
    // the row orders that for them.
    for (unsigned row = 0; row < rows; row++)
        if (Hardware::load_relaxed(lines_[row].word) == 0 && Hardware::cas_full(lines_[row].word, 0, members + 1))
            return int(row);
    return none;
}

void CallBoard::leave_row(int row)
{
    // Full: this rank looks at no word of the row any more. One is left over while the last one clears the words, so
    // that nobody takes the row.
    volatile Hardware::Word& members = lines_[row].word;
    if (Hardware::fetch_add_full(members, Hardware::Word(-1)) != 2)
        return;
    for (unsigned r = 0; r < ranks_; r++)
        Hardware::store_relaxed(arrivals(row, r), 0);
    Hardware::store_relaxed(lines_[row].abandoned, 0);
    Hardware::store_release(members, 0); // pairs with take_row()
}

Group::Group(std::vector<int> world, const std::vector<int>& on_node, int rank) : world_(std::move(world)), rank_(rank)
{
    for (size_t r = 0; r < on_node.size(); r++)
        if (on_node[r] >= 0)
            members_.push_back({int(r), unsigned(on_node[r])});
}

int Group::on_node(int member) const
{
    const auto found = std::lower_bound(members_.begin(), members_.end(), member,
                                        [](const NodeRank& one, int rank) { return one.rank < rank; });
    return found != members_.end() && found->rank == member ? int(found->on_node) : -1;
}

bool Group::is_of_this_job() const
{
    return std::find(world_.begin(), world_.end(), -1) == world_.end();
}

void Group::use(CallBoard& board, int row)
{
    board_ = &board;
    row_ = row;
    calls_ = seen_turn_ = 0;
    for (const NodeRank& m : members_)
        if (m.rank == rank_)
            own_ = m.on_node;
}

void Group::leave_board()
{
    if (board_)
        board_->leave_row(row_);
    board_ = nullptr;
}

} // namespace ws::host
