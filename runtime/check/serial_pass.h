// SPDX-License-Identifier: MIT
//
// A loop that is run by one thread only to see what its reductions come to, under WS_CHECK: in a process of its own, a
// copy of this one at the beginning of the loop. Nothing that the body does there can be seen outside: shared memory is
// read-only, and only system calls that manage its own memory are allowed. A body that needs more ends the pass.
#pragma once

#include "check/results.h"
#include "base/mapping.h"

#include <memory>
#include <string>

namespace ws::loop {
struct Participant;
struct Region;
}

namespace ws::check {

enum class Pass : uint8_t {
    serial,  // all iterations in order
    // by three participants, one after the other, who get chunks at random: an order that thieves could bring about,
    // too
    shuffled_1,
    shuffled_2, // the same with other random numbers
    again,   // as serial
};
constexpr unsigned passes = 4;

class SerialPasses {
public:
    // For the region that is about to be opened on this thread; its schedule clause keeps `chunk` iterations together.
    // Allocates memory; ready() says whether there was enough.
    SerialPasses(const loop::Region& region, const std::vector<Result>& results, uint64_t chunk);
    SerialPasses(const SerialPasses&) = delete;
    bool ready() const { return shared_; }

    // Runs one; false if it did not come to the loop's end in `seconds`, why() then says why.
    bool run(Pass pass, double seconds);
    const std::string& why() const { return why_; }
    bool timed_out() const { return timed_out_; }
    double seconds(Pass pass) const;

    // The result that a pass came to: its elements, one after the other.
    const char* values(Pass pass, unsigned result) const;
    // After a shuffled pass: for each element the largest value that was added up to it.
    const double* magnitudes(Pass pass, unsigned result) const;

private:
    struct Shared;
    [[noreturn]] void run_child(Pass pass, int parent);
    void keep_values(Pass pass);
    bool await(int child, double seconds);

    const loop::Region& region_;
    const std::vector<Result>& results_;
    const uint64_t chunk_;
    base::Mapping memory_;
    Shared* shared_ = nullptr; // there
    size_t values_bytes_ = 0, elements_ = 0;
    std::vector<const char*> at_;
    std::vector<size_t> value_at_, element_at_; // by result, in the memory of a pass
    std::string why_;
    bool timed_out_ = false;
};

// In such a process: the next chunk of the participant that runs now.
bool shuffled_next(loop::Participant& p, long* lo, long* hi);

} // namespace ws::check
