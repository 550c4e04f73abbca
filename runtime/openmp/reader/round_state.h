// SPDX-License-Identifier: MIT
//
// Loops that thread t of n runs in rounds: chunk t, then chunk t + n, and so on, as GCC deals schedule(static, c). What
// the code makes of t and n is told by what it is made of, with q for the chunk of this round: t at first, then n more
// in each.
//
// Such a loop tells the program nothing if what its body touches follows from q alone, and it is left at the first q
// for which one same comparison fails: then the same iterations are run in the same way, whatever n is.
#pragma once

#include "openmp/reader/state.h"

namespace ws::openmp {

// What a register holds, or a place on the stack.
struct Made {
    enum Of : uint8_t {
        data,   // of nothing that is told
        gone,   // nothing: a call has written over it on some way, so that nobody reads it
        linear, // q * chunks + n * threads + plus, and (base != 0) what the instruction at `base` has added
        chosen, // follows from q + n * threads
        lost    // of numbers, in some other way
    } of = data;
    int64_t chunks = 0, threads = 0, plus = 0;
    uintptr_t base = 0;
    bool still = false; // with t for q, whichever round it is

    bool is_told() const { return of != data && of != gone; }
    // So many rounds ahead does that chunk lie from which it follows; false: it follows from none.
    bool ahead(int64_t& rounds) const
    {
        if (of == chosen && !still)
            rounds = threads;
        else if (is_sum() && chunks != 0 && threads % chunks == 0)
            rounds = threads / chunks;
        else
            return false;
        return true;
    }
    bool is_of_this_round() const
    {
        int64_t rounds = 0;
        return ahead(rounds) && rounds == 0;
    }
    bool is_of_last_round() const
    {
        int64_t rounds = 0;
        return ahead(rounds) && rounds == -1;
    }
    bool base_is_of(uintptr_t at) const { return of == linear && base == at; }
    // Told by the next round's q.
    void next_round()
    {
        if (is_sum())
            threads -= chunks;
        else if (of == chosen && !still)
            threads--;
    }
    // After the last round.
    void leave()
    {
        if (still)
            still = false;
        else if (is_told() && !(of == linear && chunks == 0))
            *this = nothing_known();
    }
    // It was the same as `now` when the first round began, and has not changed since.
    bool stood_still(const Made& now) const
    {
        Made then = *this;
        then.next_round();
        return of != lost && !(then == *this) && then == now;
    }
    bool operator==(const Made& with) const
    {
        return of == with.of && chunks == with.chunks && threads == with.threads && plus == with.plus &&
               base == with.base && still == with.still;
    }
    bool is_sum() const { return of == linear && !still; }
    static Made number() { return {linear, 1, 0, 0, 0, false}; }
    static Made count() { return {linear, 0, 1, 0, 0, false}; }
    static Made choice(int64_t rounds) { return {chosen, 0, rounds, 0, 0, false}; }
    static Made overwritten() { return {gone, 0, 0, 0, 0, false}; }
    static Made nothing_known() { return {lost, 0, 0, 0, 0, false}; }
    Made times(int64_t factor, uintptr_t at) const
    {
        return !is_sum() ? nothing_known()
                            : Made{linear, chunks * factor, threads * factor, plus * factor, base ? at : 0, false};
    }
    // `at`: the instruction, by which the sum is known if what is added is not.
    Made and_data(uintptr_t at) const
    {
        return !is_sum() ? nothing_known() : Made{of, chunks, threads, plus, at, false};
    }
    Made and_constant(int64_t constant) const
    {
        Made sum = is_sum() ? *this : nothing_known();
        sum.plus += constant;
        return sum.is_sum() ? sum : nothing_known();
    }
    Made and_made(const Made& with, uintptr_t at) const
    {
        if (!is_sum() || !with.is_sum())
            return nothing_known();
        const Made sum = {linear, chunks + with.chunks, threads + with.threads, plus + with.plus,
                          base && with.base ? at : base | with.base, false};
        return sum.chunks || sum.threads ? sum : Made();
    }
};

// What a round's begin depends on: `chunks` * q + `plus` below or above this.
struct Bound {
    enum In : uint8_t { none, constant, in_register, in_memory } in = none;
    bool is_signed = false, strict = false, below = false;
    uint8_t bytes = 0;
    int reg = -1;          // in memory: that the address is made of
    int64_t value = 0;     // of the constant, or the distance
    int64_t chunks = 0, plus = 0;
    bool operator==(const Bound& with) const
    {
        return in == with.in && is_signed == with.is_signed && strict == with.strict && below == with.below &&
               bytes == with.bytes && reg == with.reg && value == with.value && chunks == with.chunks &&
               plus == with.plus;
    }
};

struct RoundState {
    // passed: there was no round for this thread; first: no second one has followed yet.
    enum At : uint8_t { before, passed, after, first, inside, broken } at = before;
    Made in[registers];
    std::map<Place, Made> kept;
    int64_t stack = 0;
    // The comparison that was made last, if a number was in it: of `compared` with `against`.
    Made compared;
    Bound against;
    bool swapped = false; // it was the second operand
    Bound bound;          // of the loop
    bool bound_stands = true;

    bool is_free(const Made& made) const { return !made.is_told() || (at == inside && made.is_of_this_round()); }
    // Whether what follows may be a question.
    bool knows() const
    {
        return (at != before && at != after) ||
               std::any_of(in, in + registers, [](const Made& m) { return m.is_told(); }) ||
               std::any_of(kept.begin(), kept.end(), [](const auto& k) { return k.second.is_told(); });
    }
    // Whether this one has changed. stands_still(place): what is there was taken for the round's, and is the first
    // one's.
    enum Ways { any, first_rounds, rounds }; // that join here; where rounds begin, and `with` is the first or not
    template <class F> bool join(const RoundState& with, Ways ways, F stands_still)
    {
        bool changed = false;
        const auto set = [&](auto& mine, const auto& both) {
            changed |= !(both == mine);
            mine = both;
        };
        set(at, at == with.at ? at : is_out_of_loop() && with.is_out_of_loop() ? std::max(at, with.at) : broken);
        const auto joined = [&](const Made& a, const Made& b, const Place& in_it) {
            if (a == b || a.of == Made::gone)
                return a;
            if (b.of == Made::gone)
                return b;
            if (ways == rounds && a.stood_still(b))
                stands_still(in_it);
            if (ways == rounds && !a.is_told() && b.is_of_last_round()) // the program has kept it
                return a;
            if (!is_free(a) || !is_free(b) || (ways != any && a.is_told() != b.is_told()))
                return Made::nothing_known();
            return a.is_told() && b.is_told() ? Made::choice(0) : Made();
        };
        for (unsigned i = 0; i < registers; i++)
            set(in[i], joined(in[i], with.in[i], place_of_register(i)));
        for (auto& k : kept) {
            const auto theirs = with.kept.find(k.first);
            set(k.second, joined(k.second, theirs == with.kept.end() ? Made() : theirs->second, k.first));
        }
        for (const auto& k : with.kept)
            if (!kept.count(k.first) && k.second.is_told())
                set(kept[k.first], joined(Made(), k.second, k.first));
        if (!(compared == with.compared && against == with.against && swapped == with.swapped))
            set(compared, is_free(compared) && is_free(with.compared) ? Made() : Made::nothing_known());
        if (is_in_loop())
            set(bound_stands, bound_stands && with.bound_stands && bound == with.bound);
        return changed;
    }
    static Place place_of_register(unsigned i) { return {int(i), INT64_MIN}; }
    void set_begin(const Place& at_it)
    {
        Made& it = at_it.second == INT64_MIN ? in[at_it.first] : kept[at_it];
        it.still = it.of == Made::linear || it.of == Made::chosen;
    }
    bool is_in_loop() const { return at == first || at == inside; }
    bool is_out_of_loop() const { return at <= after; }
    void leave()
    {
        at = after;
        each([](Made& m) { m.leave(); });
        compared = Made();
    }
    void next_round()
    {
        at = inside;
        each([](Made& m) { m.next_round(); });
        compared = Made();
    }
    template <class F> void each(F f)
    {
        for (Made& m : in)
            f(m);
        for (auto& k : kept)
            f(k.second);
    }
};

} // namespace ws::openmp
