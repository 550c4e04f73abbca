// SPDX-License-Identifier: MIT
#include "policy/rows/move.h"

#include "mpi/end_job.h"

#include <cstdio>
#include <cstring>
#include <new>

namespace ws::policy::rows {

namespace {

uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15ull;
    return x ^ x >> 29;
}

uint64_t hash(const char* data, size_t bytes, uint64_t seed)
{
    uint64_t h = mixed(seed + bytes), word;
    size_t i = 0;
    for (; i + 8 <= bytes; i += 8) {
        std::memcpy(&word, data + i, 8);
        h = mixed(h + word);
    }
    for (; i < bytes; i++)
        h = mixed(h + static_cast<unsigned char>(data[i]));
    return h;
}

} // namespace

Rows rounds_of(const Starts& from, const Starts& to)
{
    Rows rounds = 1;
    for (size_t p = 0; p + 1 < from.size(); p++) {
        const Range had = range_of(from, p), gets = range_of(to, p);
        const Rows room = std::max<Rows>(std::max(had.size(), gets.size()) / 8, 1);
        rounds = std::max(rounds, (surplus_of(had, gets) + room - 1) / room);
    }
    return rounds;
}

Move::Move(Processes& processes, std::vector<Structure>& structures, Starts from, Starts to, bool checked)
    : processes_(processes), structures_(structures), from_(std::move(from)), to_(std::move(to)), checked_(checked),
      me_(size_t(processes.rank)), flight_(processes.flight())
{
    out_ = outgoing(from_, to_, me_);
    in_ = incoming(from_, to_, me_);
    Places& p = places_;
    p.had = range_of(from_, me_);
    p.gets = range_of(to_, me_);
    if (common(p.had, p.gets).empty()) { // nothing between them: one behind the other
        const bool behind = p.gets.begin >= p.had.end;
        p.had_at = behind ? 0 : p.gets.size();
        p.gets_at = behind ? p.had.size() : 0;
        p.total = p.had.size() + p.gets.size();
    } else {
        const Rows begin = std::min(p.had.begin, p.gets.begin);
        p.had_at = p.had.begin - begin;
        p.gets_at = p.gets.begin - begin;
        p.total = std::max(p.had.end, p.gets.end) - begin;
    }
}

int64_t Move::before(size_t s, size_t a, Rows place) const
{
    const Structure& x = structures_[s];
    return x.layout == Layout::csr && a > 0 ? elements_[s].before[size_t(place)] : place * x.width;
}

int64_t Move::had_length(size_t s, size_t a) const
{
    const Rows count = places_.had.size();
    return before(s, a, places_.had_at + count) - before(s, a, places_.had_at);
}

// Learns how many elements the rows have that come, for sparse matrices. False: no memory for the numbers.
bool Move::learn_lengths()
{
    std::vector<std::vector<int64_t>> mine(structures_.size());
    bool ok = true;
    try {
        elements_.resize(structures_.size());
        for (size_t s = 0; s < structures_.size(); s++)
            if (structures_[s].layout == Layout::csr) {
                elements_[s].before.assign(size_t(places_.total) + 1, 0);
                mine[s].resize(size_t(places_.had.size()));
            }
    } catch (const std::bad_alloc&) {
        ok = false;
    }
    if (!processes_.all(ok))
        return false;
    for (size_t s = 0; s < structures_.size(); s++) {
        if (structures_[s].layout != Layout::csr)
            continue;
        const Structure& x = structures_[s];
        int64_t* const lengths = elements_[s].before.data() + 1;
        for (Rows i = 0; i < places_.had.size(); i++)
            lengths[places_.had_at + i] = mine[s][size_t(i)] = x.start(i + 1) - x.start(i);
        elements_[s].first = x.start(0);
        for (const Piece& piece : in_)
            flight_->receive(lengths + places_.place(piece.rows.begin), size_t(piece.rows.size()) * sizeof(int64_t),
                             int(piece.process), int(s));
        for (const Piece& piece : out_)
            flight_->send(mine[s].data() + (piece.rows.begin - places_.had.begin),
                          size_t(piece.rows.size()) * sizeof(int64_t), int(piece.process), int(s));
    }
    flight_->complete(true);
    for (Elements& e : elements_)
        for (size_t i = 1; i < e.before.size(); i++)
            e.before[i] += e.before[i - 1];
    return true;
}

// The numbers of starts fit, and arrays can be as large as is needed on the way.
bool Move::make_room()
{
    size_t done = 0;
    for (size_t s = 0; s < structures_.size(); s++)
        for (size_t a = 0; a < structures_[s].arrays.size(); a++) {
            Structure& x = structures_[s];
            Array& array = x.arrays[a];
            const bool starts = x.layout == Layout::csr && a == 0;
            const Rows had = places_.had.size();
            const int64_t now = starts ? had + 1 : had_length(s, a);
            const int64_t wanted = starts ? std::max(had, places_.gets.size()) + 1 : total_length(s, a);
            bool fits = !starts;
            if (starts) {
                const Elements& e = elements_[s];
                const int64_t most =
                    e.before[size_t(places_.gets_at + places_.gets.size())] - e.before[size_t(places_.gets_at)];
                fits = e.first <= Structure::most_start(x.wide_starts) - most;
            }
            if (!fits || !array.resize(std::max(now, wanted))) {
                undo_room(done);
                return false;
            }
            done++;
        }
    return true;
}

void Move::undo_room(size_t arrays)
{
    for (size_t s = 0; s < structures_.size(); s++)
        for (size_t a = 0; a < structures_[s].arrays.size(); a++) {
            if (arrays-- == 0)
                return;
            const bool starts = structures_[s].layout == Layout::csr && a == 0;
            structures_[s].arrays[a].resize(starts ? places_.had.size() + 1 : had_length(s, a));
        }
}

// What the process has goes to its place in the enlarged array.
void Move::spread(size_t s, size_t a)
{
    const Structure& x = structures_[s];
    char* const data = x.arrays[a].data();
    const int64_t extent = x.arrays[a].extent();
    const Rows count = places_.had.size();
    if (x.layout != Layout::columns) {
        std::memmove(data + before(s, a, places_.had_at) * extent, data, size_t(had_length(s, a) * extent));
        return;
    }
    for (int64_t row = x.width - 1; row >= 0 && count > 0; row--)
        std::memmove(data + (row * places_.total + places_.had_at) * extent, data + row * count * extent,
                     size_t(count * extent));
}

void Move::transfer(size_t s, size_t a, const Piece& piece, bool in, int tag)
{
    const Structure& x = structures_[s];
    const Array& array = x.arrays[a];
    const Rows at = places_.place(piece.rows.begin);
    Flight::Pieces pieces = {array.data(), 1, 0, 0, array.type(), array.extent()};
    if (x.layout == Layout::columns) {
        pieces.data += at * array.extent();
        pieces.count = x.width;
        pieces.elements = piece.rows.size();
        pieces.stride = places_.total * array.extent();
    } else {
        const int64_t first = before(s, a, at);
        pieces.data += first * array.extent();
        pieces.elements = before(s, a, at + piece.rows.size()) - first;
    }
    bytes_ += double(pieces.count) * double(pieces.elements) * double(array.extent());
    in ? flight_->receive(pieces, int(piece.process), tag) : flight_->send(pieces, int(piece.process), tag);
}

bool Move::begin()
{
    if (!learn_lengths())
        return false;
    const bool room = make_room();
    if (!processes_.all(room)) {
        size_t all = 0;
        for (const Structure& x : structures_)
            all += x.arrays.size();
        if (room)
            undo_room(all);
        return false;
    }
    if (checked_)
        sum_ = checksum(places_.had);
    for (const bool in : {true, false}) {
        int tag = 0;
        for (size_t s = 0; s < structures_.size(); s++)
            for (size_t a = 0; a < structures_[s].arrays.size(); a++, tag++) {
                if (structures_[s].layout == Layout::csr && a == 0)
                    continue; // made of the lengths in the end
                if (in)
                    spread(s, a);
                for (const Piece& piece : in ? in_ : out_)
                    transfer(s, a, piece, in, tag);
            }
    }
    return true;
}

// What the process has got goes to the start of the array, which is shortened.
void Move::settle(size_t s)
{
    Structure& x = structures_[s];
    const Rows count = places_.gets.size();
    for (size_t a = x.arrays.size(); a-- > 0;) {
        Array& array = x.arrays[a];
        if (x.layout == Layout::csr && a == 0) {
            const Elements& e = elements_[s];
            for (Rows i = 0; i <= count; i++)
                x.set_start(i, e.first + e.before[size_t(places_.gets_at + i)] - e.before[size_t(places_.gets_at)]);
            array.resize(count + 1);
            continue;
        }
        char* const data = array.data();
        const int64_t first = before(s, a, places_.gets_at), length = before(s, a, places_.gets_at + count) - first;
        if (x.layout == Layout::columns) {
            for (int64_t row = 0; row < x.width && count > 0; row++)
                std::memmove(data + row * count * array.extent(),
                             data + (row * places_.total + places_.gets_at) * array.extent(),
                             size_t(count * array.extent()));
        } else if (first > 0)
            std::memmove(data, data + first * array.extent(), size_t(length * array.extent()));
        array.resize(length); // where that fails it stays too long, which harms nobody
    }
}

void Move::finish()
{
    flight_->complete(true);
    for (size_t s = 0; s < structures_.size(); s++)
        settle(s);
    if (!checked_)
        return;
    places_.had = places_.gets;
    int64_t sums[2] = {int64_t(sum_), int64_t(checksum(places_.gets))};
    processes_.combine(Processes::By::sum, sums, 2);
    if (sums[0] != sums[1]) {
        if (me_ == 0)
            std::fprintf(stderr, "workshare: error: XMPI: a move has changed rows; ending the job\n");
        mpi::end_job();
    }
}

// Returns the sum over the rows, each hashed with its number, whichever process has it. The arrays are as the program
// has them.
uint64_t Move::checksum(Range rows) const
{
    uint64_t sum = 0;
    std::vector<char> packed;
    for (size_t s = 0; s < structures_.size(); s++) {
        const Structure& x = structures_[s];
        for (size_t a = x.layout == Layout::csr; a < x.arrays.size(); a++) {
            const Array& array = x.arrays[a];
            const auto add = [&](int64_t first, int64_t elements, uint64_t seed) {
                const char* data = array.data() + first * array.extent();
                size_t bytes = size_t(elements * array.extent());
                if (array.has_holes()) {
                    bytes = pack(data, elements, array.type(), processes_.comm, packed);
                    data = packed.data();
                }
                sum += hash(data, bytes, seed * 64 + s * 4 + a);
            };
            for (Rows i = 0; i < rows.size(); i++) {
                const auto number = uint64_t(rows.begin + i);
                if (x.layout == Layout::rows)
                    add(i * x.width, x.width, number);
                else if (x.layout == Layout::csr)
                    add(x.start(i) - x.start(0), x.start(i + 1) - x.start(i), number);
                for (int64_t w = 0; x.layout == Layout::columns && w < x.width; w++)
                    add(w * rows.size() + i, 1, number * uint64_t(x.width) + uint64_t(w));
            }
        }
    }
    return sum;
}

} // namespace ws::policy::rows
