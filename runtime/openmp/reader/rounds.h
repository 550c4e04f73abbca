// SPDX-License-Identifier: MIT
//
// Whether the answer to a question is used for loops in rounds alone (round_state.h).
#pragma once

#include "openmp/reader/reader.h"
#include "openmp/reader/round_state.h"

namespace ws::openmp {

// Along all ways from a question on: first until nothing new is known, then each instruction is judged.
class Rounds {
public:
    Rounds(Reader& reader, const Function& function, bool is_region, std::set<uintptr_t>& questions)
        : r(reader), f(function), is_region_(is_region), questions_(questions)
    {
    }
    bool hold(uintptr_t begin, const Made& told);

private:
    using Next = std::vector<std::pair<uintptr_t, RoundState>>;

    bool follow(uintptr_t begin, const RoundState& state);
    bool lead(uintptr_t to, RoundState& n);
    bool step(const RoundState& s, uintptr_t at, Next& next);
    bool step_call(const RoundState& s, RoundState& n, uintptr_t at);
    bool call_takes(const RoundState& s, const Reader::Called& c);
    bool step_jump(const RoundState& s, const RoundState& n, uintptr_t at, Next& next);
    bool step_bound(const RoundState& s, const RoundState& n, uintptr_t to, uintptr_t after, Next& next);
    bool is_bound(const RoundState& s, Bound& bound, bool& begins_if_taken) const;
    bool step_move(const RoundState& s, RoundState& n);
    bool step_compare(const RoundState& s, RoundState& n);
    bool step_choice(const RoundState& s, RoundState& n);
    bool step_sum(const RoundState& s, RoundState& n, uintptr_t at);
    bool step_address(const RoundState& s, RoundState& n, uintptr_t at);
    bool is_arithmetic(const RoundState& s, RoundState& n, uintptr_t at);
    bool step_modulo(const RoundState& s) const;
    bool step_otherwise(const RoundState& s, RoundState& n);
    bool does_something() const;
    void written(RoundState& n) const;
    void set(const RoundState& s, RoundState& n, Made result, std::initializer_list<Made> from) const;
    Made made(const RoundState& s, const cs_x86_op& op) const;
    static Place place(const RoundState& s, const cs_x86_op& op)
    {
        const int base = index_of(op.mem.base);
        return {base, op.mem.disp + (base == rsp ? s.stack : 0)};
    }
    // What the reader is to find nowhere.
    static State held(const RoundState& s)
    {
        State held;
        held.stack = s.stack;
        for (unsigned i = 0; i < registers; i++)
            held.in[i] = s.is_free(s.in[i]) ? other : maybe;
        for (const auto& k : s.kept)
            if (!s.is_free(k.second))
                held.kept[k.first] = maybe;
        return held;
    }
    const cs_x86_op& operand(unsigned i) const { return r.operand(i); }
    unsigned operands() const { return r.detail().op_count; }
    bool is_constant(unsigned i) const { return operands() > i && operand(i).type == X86_OP_IMM; }

    Reader& r;
    const Function& f;
    const bool is_region_;
    std::set<uintptr_t>& questions_;
    std::map<uintptr_t, RoundState> known_;
    std::map<uintptr_t, std::set<Place>> still_; // where rounds begin: what stands still in them
    bool learned_ = false; // more of that: all begins anew
};

} // namespace ws::openmp
