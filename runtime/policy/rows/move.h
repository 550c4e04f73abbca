// SPDX-License-Identifier: MIT
//
// Moves the rows of all structures from one partition to another: every structure, or none.
//
// A process makes room for the rows that it has and those that it will have, side by side in the order of the rows. So
// rows that come and rows that go never lie in each other's way. Arrays are enlarged in place, dense rows are sent and
// received where they lie, without a copy, and in the end an array is shortened to what it has to hold. A shift that
// would need more room than an eighth of the data is made in rounds.
#pragma once

#include "policy/processes.h"
#include "policy/rows/array.h"
#include "policy/rows/plan.h"

namespace ws::policy::rows {

// The rounds that such a move takes. The same in all processes.
Rows rounds_of(const Starts& from, const Starts& to);

class Move {
public:
    // One round. Collective over `processes`, as all that follows: all processes have the same structures, in good
    // order. `checked`: what has arrived is compared with what was sent, by checksums, and the job ends if they differ.
    Move(Processes& processes, std::vector<Structure>& structures, Starts from, Starts to, bool checked);

    // Makes room, and sends and receives without waiting for the end. False: some process has no room, and nothing has
    // changed in any.
    bool begin();
    void finish();
    double bytes() const { return bytes_; } // that this process sends and receives

private:
    // Where the rows that a process has and those that it gets lie while they move, in rows of the enlarged array.
    struct Places {
        Range had, gets;
        Rows had_at, gets_at, total;
        Rows place(Rows row) const
        {
            return had.begin <= row && row < had.end ? had_at + row - had.begin : gets_at + row - gets.begin;
        }
    };
    // In a sparse matrix, before[i] elements lie before row i of the enlarged arrays.
    struct Elements {
        std::vector<int64_t> before;
        int64_t first = 0; // starts[0]
    };

    bool learn_lengths();
    bool make_room();
    void undo_room(size_t arrays);
    int64_t before(size_t s, size_t a, Rows place) const;
    int64_t had_length(size_t s, size_t a) const;
    int64_t total_length(size_t s, size_t a) const { return before(s, a, places_.total); }
    void spread(size_t s, size_t a);
    void transfer(size_t s, size_t a, const Piece& piece, bool in, int tag);
    void settle(size_t s);
    uint64_t checksum(Range rows) const;

    Processes& processes_;
    std::vector<Structure>& structures_;
    Starts from_, to_;
    bool checked_;
    size_t me_ = 0;
    Places places_ = {};
    std::vector<Piece> out_, in_;
    std::vector<Elements> elements_; // of each structure
    std::unique_ptr<Flight> flight_;
    uint64_t sum_ = 0;
    double bytes_ = 0;
};

} // namespace ws::policy::rows
