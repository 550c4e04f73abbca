// SPDX-License-Identifier: MIT
//
// The thread numbers by which loops of OpenMP tell the participants of an execution apart. The owner's threads have the
// first ones, for the whole region; a guest has one of the others while it is in the region. Only for loops that may
// ask for them (LoopHost::allow).
#pragma once

#include "loop/descriptor.h"
#include "window/os.h"

namespace ws::loop {

class Numbers {
public:
    static constexpr unsigned most = Descriptor::max_joiners + 1;

    // Owner, before it publishes. `all`: 0 where nobody can ask for a number.
    void open(unsigned all, unsigned own)
    {
        all_ = all;
        own_ = own;
        if (!all)
            return;
        for (volatile Hardware::Word& word : taken_)
            Hardware::store_relaxed(word, 0);
    }

    unsigned all() const { return all_; } // participants that can be told apart

    // Guest, after it has joined. Only as many can join as there are numbers, so one is free. The exception is a guest
    // that joined by a claim of 2^13 regions ago and is one too many: it has a chunk to run, so it waits for a number.
    unsigned take()
    {
        for (unsigned turn = 0;; turn < 2000 ? window::cpu_relax() : void(sched_yield()), turn++)
            for (unsigned i = 0; i < all_ - own_; i++) {
                const Hardware::Word taken = Hardware::load_relaxed(taken_[i / 64]), bit = Hardware::Word(1) << i % 64;
                // Full: pairs with give_back(); the program may keep data by this number, which its last holder wrote.
                if (!(taken & bit) && Hardware::cas_full(taken_[i / 64], taken, taken | bit))
                    return own_ + i;
            }
    }
    // Guest, before it leaves the region: so whoever joins after that finds the number free.
    void give_back(unsigned number)
    {
        const unsigned i = number - own_;
        // full: its use comes before
        Hardware::fetch_add_full(taken_[i / 64], Hardware::Word(0) - (Hardware::Word(1) << i % 64));
    }

private:
    unsigned all_ = 0, own_ = 1;
    volatile Hardware::Word taken_[(most + 63) / 64] = {};
};

} // namespace ws::loop
