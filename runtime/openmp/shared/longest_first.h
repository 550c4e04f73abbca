// SPDX-License-Identifier: MIT
//
// The order in which the virtual threads of a round begin: those that took longest last time come first. So the short
// ones are left for the end, when cores wait for the last one. (Graham's rule for independent jobs: at most 4/3 of the
// best.) OpenMP says nothing about who begins first.
//
// Several threads of a process may run the same region at once and overwrite what others have measured: every value
// stays a measured one, and a number that stands there twice is no fault, since the one who takes it looks whether it
// is free.
#pragma once

#include "base/atomics.h"

#include <algorithm>
#include <cstdint>

namespace ws::openmp {

class LongestFirst {
public:
    static constexpr unsigned most = 256; // virtual threads

    // One has had a whole turn. Any thread.
    void took(unsigned number, uint64_t ticks) { store(ticks_[number], ticks); }
    // After a round of that many, by the thread that opened it.
    void sort(unsigned count)
    {
        uint16_t numbers[most];
        uint64_t ticks[most];
        for (unsigned i = 0; i < count; i++) {
            numbers[i] = uint16_t(i);
            ticks[i] = load(ticks_[i]);
        }
        std::sort(numbers, numbers + count, [&](unsigned a, unsigned b) {
            return ticks[a] != ticks[b] ? ticks[a] > ticks[b] : a < b;
        });
        for (unsigned i = 0; i < count; i++)
            store(numbers_[i], base::Hardware::Word(numbers[i]));
        store(count_, count);
    }
    // Whether it knows an order of that many. Not where they wait for each other: then only their own order ends.
    bool is_known(unsigned count) const { return load(count_) == count && !load(given_up_); }
    void give_up() { store(given_up_, 1); }
    unsigned operator[](unsigned i) const { return unsigned(load(numbers_[i])); }

private:
    using Word = base::Hardware::Word;
    // Relaxed: hints, and the opening of a round orders them for its participants.
    static Word load(const volatile Word& word) { return base::Hardware::load_relaxed(word); }
    static void store(volatile Word& word, Word value) { base::Hardware::store_relaxed(word, value); }

    volatile Word ticks_[most] = {}, numbers_[most] = {};
    volatile Word count_ = 0, given_up_ = 0;
};

} // namespace ws::openmp
