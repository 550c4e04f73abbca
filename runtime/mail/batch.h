// SPDX-License-Identifier: MIT
//
// How letters lie in the bytes that travel. No MPI here.
//
//    batch:  { Header, the letter's bytes, zeroes to a multiple of 8 } ...
//
// A letter larger than `large` leaves only its header, the last of its batch: its bytes follow as a message of their
// own, so that nobody copies them. All ranks of a job have the same byte order, as MPICH demands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ws::mail {

// Whose letter it is, and what it says: for the receiver to tell.
using Kind = uint32_t;

// bytes. A batch is closed at `full`; a letter has at most `most`, MPI's count of a message.
constexpr size_t large = 16 << 10, full = 64 << 10, most = 0x7fffffff;

struct Header {
    Kind kind;
    uint32_t bytes;
};
constexpr bool is_large(const Header& header) { return header.bytes > large; }

void append(std::string& batch, Kind kind, std::string_view letter);
// A large letter's.
void append_header(std::string& batch, Kind kind, size_t bytes);

// Reads a batch from its begin to its end.
class Opened {
public:
    explicit Opened(std::string_view batch) : rest_(batch) {}
    // False at the end. `letter` is empty if it is large: it follows.
    bool next(Header& header, std::string_view& letter);
    // The end came where a letter ends. Else it is no batch of ours.
    bool whole() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

} // namespace ws::mail
