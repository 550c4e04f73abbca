// SPDX-License-Identifier: MIT
//
// The owner of a core of the node, and what the core is used for. One word per core in the window, changed by
// compare-and-swap alone:
//
//    owner (16) | heir (16) | use (8) | generation (24)
//
// The process that computes takes a use and gives it back, at any time. Owners change in two steps: the decider of the
// node promises the core to an heir (promise()), and the owner hands it over between two of its regions, when the core
// has no other use than its owner's (settle()). So a core never changes hands under a region, and an owner that never
// comes there keeps what it has. The generation grows with each change, so that an old word never looks like a new one
// while 2^24 changes pass.
//
// Arithmetic on one word, and no lock: nothing is left behind by a process that dies here.
#pragma once

#include "base/atomics.h"

#include <cstdint>

namespace ws::arbiter {

using base::Hardware;

enum class Use : uint8_t {
    home,   // its owner's own thread: computes, or waits with nobody else on the core
    guest,  // lent: a guest of another rank
    worker, // a worker's, if its own rank still owns the core
    openmp, // threads of a parallel region, beyond the one that opened it
};

// The state of a core, as anyone may read it.
struct Core {
    uint16_t owner, heir; // node ranks; the same if nothing is promised
    Use use;
    uint32_t generation;  // 24 bits

    uint64_t pack() const
    {
        return uint64_t(owner) << 48 | uint64_t(heir) << 32 | uint64_t(use) << 24 | (generation & 0xffffff);
    }
    static Core unpack(uint64_t word)
    {
        return {uint16_t(word >> 48), uint16_t(word >> 32), Use(uint8_t(word >> 24)), uint32_t(word & 0xffffff)};
    }
};
inline bool operator==(const Core& a, const Core& b) { return a.pack() == b.pack(); }

// The operations, on the word of one core. `Atomics`: Hardware, or a stand-in that a test drives step by step.
template <class Atomics = Hardware> class Word {
public:
    explicit Word(volatile typename Atomics::Word& word) : word_(&word) {}

    // Before anybody else can see it.
    void start(unsigned owner, Use use)
    {
        Atomics::store_relaxed(*word_, Core{uint16_t(owner), uint16_t(owner), use, 0}.pack());
    }

    // acquire: what the last user wrote before it left
    Core look() const { return Core::unpack(Atomics::load_acquire(*word_)); }

    // From one use to another; false, and nothing changed, if it has another use than `from`. Any thread. Full barriers
    // here and below: a process that computes under the new use sees what was done under the old one.
    bool change(Use from, Use to)
    {
        return update([&](Core& core) {
            const bool fits = core.use == from;
            core.use = to;
            return fits;
        });
    }

    // The decider: `from` shall hand the core to `to` between two regions. False if `from` does not own it, or it is
    // promised already.
    bool promise(unsigned from, unsigned to)
    {
        return update([&](Core& core) {
            const bool fits = core.owner == from && core.heir == from && from != to;
            core.heir = uint16_t(to);
            return fits;
        });
    }

    // The decider takes a promise back; false if there is none, or it came too late.
    bool withdraw(unsigned from)
    {
        return update([&](Core& core) {
            const bool fits = core.owner == from && core.heir != from;
            core.heir = core.owner;
            return fits;
        });
    }

    // Its owner, between two regions: hands over what is promised. False if nothing is, or the core has another use
    // than `idle`, which is the one that it has while nobody computes there: home, or worker for a core that has one.
    bool settle(unsigned owner, Use idle = Use::home)
    {
        return update([&](Core& core) {
            const bool fits = core.owner == owner && core.heir != owner && core.use == idle;
            core.owner = core.heir;
            return fits;
        });
    }

private:
    template <class Change> bool update(Change&& change)
    {
        for (;;) {
            const typename Atomics::Word old = Atomics::load_relaxed(*word_);
            Core core = Core::unpack(old);
            if (!change(core))
                return false;
            core.generation++;
            if (Atomics::cas_full(*word_, old, core.pack()))
                return true;
        }
    }

    volatile typename Atomics::Word* word_;
};

} // namespace ws::arbiter
