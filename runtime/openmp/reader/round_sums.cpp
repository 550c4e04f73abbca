// SPDX-License-Identifier: MIT
//
// What instructions make of the numbers that are told.
#include "openmp/reader/rounds.h"

#if defined(__x86_64__)

namespace ws::openmp {

Made Rounds::made(const RoundState& s, const cs_x86_op& op) const
{
    Made m;
    if (op.type == X86_OP_REG && index_of(op.reg) >= 0)
        m = s.in[index_of(op.reg)];
    else if (op.type == X86_OP_MEM && r.is_stack(op))
        if (const auto k = s.kept.find(place(s, op)); k != s.kept.end())
            m = k->second;
    if (op.size < 4 && m.is_told())
        m = s.is_free(m) ? Made() : Made::nothing_known();
    return m;
}

// What the instruction writes is made of no number, if nothing else is known.
void Rounds::written(RoundState& n) const
{
    cs_regs read, write;
    uint8_t reads = 0, writes = 0;
    cs_regs_access(r.capstone_, r.now_, read, &reads, write, &writes);
    const bool is_call = cs_insn_group(r.capstone_, r.now_, CS_GRP_CALL);
    const auto lose = [&](int reg) {
        n.in[reg] = Made();
        n.bound_stands &= n.bound.in == Bound::none || n.bound.in == Bound::constant || n.bound.reg != reg;
    };
    for (uint8_t i = 0; i < writes; i++) {
        const int reg = index_of(write[i]);
        if (reg == rsp)
            continue;
        if (reg >= 0)
            lose(reg);
        if (write[i] == X86_REG_EFLAGS)
            n.compared = Made();
    }
    if (is_call)
        n.compared = Made();
    const bool reads_first = r.now_->id == X86_INS_CMP || r.now_->id == X86_INS_TEST;
    if (operands() && operand(0).type == X86_OP_MEM && !is_call && !reads_first && r.is_stack(operand(0))) {
        n.kept.erase(place(n, operand(0)));
        n.bound_stands &= n.bound.in != Bound::in_memory || n.bound.reg != index_of(operand(0).mem.base) ||
                          n.bound.value != place(n, operand(0)).second;
    }
}

// The first operand, a register or a place of its own, becomes `result`, which is made of these. What follows from a
// round's chunk in another way than by sums of numbers is the program's own.
void Rounds::set(const RoundState& s, RoundState& n, Made result, std::initializer_list<Made> from) const
{
    const bool told = std::any_of(from.begin(), from.end(), [](const Made& m) { return m.is_told(); });
    const bool free = std::all_of(from.begin(), from.end(), [&](const Made& m) { return s.is_free(m); });
    if (!told || (free && (result.of != Made::linear || result.base_is_of(uintptr_t(r.now_->address)))))
        result = Made();
    else if (operand(0).size < 4)
        result = Made::nothing_known();
    if (r.register_of(0) >= 0)
        n.in[r.register_of(0)] = result;
    else if (result.is_told())
        n.kept[place(s, operand(0))] = result;
    const unsigned id = r.now_->id;
    const bool sets_flags = id != X86_INS_LEA && id != X86_INS_MOV && id != X86_INS_MOVABS && id != X86_INS_MOVSXD &&
                            !(id >= X86_INS_CMOVA && id <= X86_INS_CMOVS);
    if (sets_flags && !free)
        n.compared = Made::nothing_known();
}

bool Rounds::step_move(const RoundState& s, RoundState& n)
{
    const State h = held(s);
    if (r.addresses(h))
        return true;
    const Made moved = made(s, operand(1));
    if (r.register_of(0) >= 0) {
        if (operand(0).size < 4 && !s.is_free(made(s, operand(0))))
            return true;
        set(s, n, moved, {moved});
        return false;
    }
    if (operand(0).type != X86_OP_MEM || !moved.is_told())
        return !s.is_free(moved);
    if (!r.is_stack(operand(0)) || !r.is_own_place(place(s, operand(0)), operand(0).size))
        return !s.is_free(moved);
    n.kept[place(s, operand(0))] = moved;
    return false;
}

bool Rounds::step_compare(const RoundState& s, RoundState& n)
{
    if (r.addresses(held(s)))
        return true;
    const Made a = made(s, operand(0)), b = made(s, operand(1));
    if (s.is_free(a) && s.is_free(b))
        return false;
    if (r.now_->id == X86_INS_TEST || (a.is_told() && b.is_told())) {
        n.compared = Made::nothing_known();
        return false;
    }
    n.swapped = b.is_told();
    n.compared = n.swapped ? b : a;
    const cs_x86_op& with = operand(n.swapped ? 0 : 1);
    n.against = Bound();
    n.against.bytes = with.size;
    if (with.type == X86_OP_IMM) {
        n.against.in = Bound::constant;
        n.against.value = with.imm;
        n.against.bytes = operand(0).size;
    } else if (with.type == X86_OP_REG && index_of(with.reg) >= 0) {
        n.against.in = Bound::in_register;
        n.against.reg = index_of(with.reg);
    } else if (with.type == X86_OP_MEM && with.mem.index == X86_REG_INVALID && index_of(with.mem.base) >= 0) {
        const bool is_stack = r.is_stack(with);
        if (!is_stack || r.is_own_place(place(s, with), with.size))
            n.against.in = Bound::in_memory;
        n.against.reg = index_of(with.mem.base);
        n.against.value = is_stack ? place(s, with).second : with.mem.disp;
    }
    return false;
}

// One of two by the last comparison, as the lesser of a chunk's end and the loop's.
bool Rounds::step_choice(const RoundState& s, RoundState& n)
{
    if (r.register_of(0) < 0 || r.addresses(held(s)))
        return true;
    const Made of[] = {s.compared, made(s, operand(0)), made(s, operand(1))};
    bool same = true, any = false;
    int64_t rounds = 0;
    for (const Made& m : of)
        if (int64_t ahead = 0; m.is_told()) {
            same &= m.ahead(ahead) && (!any || ahead == rounds);
            rounds = ahead;
            any = true;
        }
    set(s, n, same ? Made::choice(rounds) : Made::nothing_known(), {of[0], of[1], of[2]});
    return false;
}

bool Rounds::step_sum(const RoundState& s, RoundState& n, uintptr_t at)
{
    const int64_t sign = r.now_->id == X86_INS_SUB ? -1 : 1;
    const Made a = made(s, operand(0)), b = made(s, operand(1));
    if (!a.is_told() && !b.is_told())
        return false;
    if (r.addresses(held(s)) ||
        (r.register_of(0) < 0 && !r.is_own_place(place(s, operand(0)), operand(0).size)))
        return true;
    const Made sum = is_constant(1)   ? a.and_constant(sign * operand(1).imm)
                     : !b.is_told()   ? a.and_data(at)
                     : !a.is_told()   ? b.times(sign, at).and_data(at)
                                      : a.and_made(b.times(sign, at), at);
    set(s, n, sum, {a, b});
    return false;
}

bool Rounds::step_address(const RoundState& s, RoundState& n, uintptr_t at)
{
    const auto& mem = operand(1).mem;
    const int base = index_of(mem.base), index = index_of(mem.index);
    const Made b = base >= 0 ? s.in[base] : Made(), i = index >= 0 ? s.in[index] : Made();
    const Made times = i.times(mem.scale, at);
    Made sum = b.is_told() && i.is_told() ? b.and_made(times, at)
               : b.is_told()              ? (mem.index == X86_REG_INVALID ? b : b.and_data(at))
               : mem.base == X86_REG_INVALID ? times
                                             : times.and_data(at);
    if (sum.is_told())
        sum = sum.and_constant(mem.disp);
    set(s, n, sum, {b, i});
    return false;
}

// False: it is none that is known.
bool Rounds::is_arithmetic(const RoundState& s, RoundState& n, uintptr_t at)
{
    const int to = r.register_of(0);
    if (to < 0 || to == rsp)
        return false;
    const Made a = made(s, operand(0));
    switch (r.now_->id) {
    case X86_INS_INC: set(s, n, a.and_constant(1), {a}); return true;
    case X86_INS_DEC: set(s, n, a.and_constant(-1), {a}); return true;
    case X86_INS_NEG: set(s, n, a.times(-1, at), {a}); return true;
    case X86_INS_NOT: set(s, n, a.times(-1, at).and_constant(-1), {a}); return true;
    case X86_INS_SHL:
    case X86_INS_SAL:
        if (!is_constant(1) || operand(1).imm < 0 || operand(1).imm > 30)
            return false;
        set(s, n, a.times(int64_t(1) << operand(1).imm, at), {a});
        return true;
    case X86_INS_IMUL:
        if (operands() != 3 || !is_constant(2) || operand(1).type != X86_OP_REG)
            return false;
        set(s, n, made(s, operand(1)).times(operand(2).imm, at), {made(s, operand(1))});
        return true;
    default: return false;
    }
}

// An iteration's number modulo something that is known while the program runs. It may be how many threads the program
// has: then that is which one runs it, as OpenMP promises of schedule(static, 1).
bool Rounds::step_modulo(const RoundState& s) const
{
    if (r.now_->id == X86_INS_DIV || r.now_->id == X86_INS_IDIV)
        return s.in[rax].is_told();
    return r.now_->id == X86_INS_AND && operands() == 2 && !is_constant(1) &&
           (made(s, operand(0)).is_told() || made(s, operand(1)).is_told());
}

bool Rounds::step_otherwise(const RoundState& s, RoundState& n)
{
    if (step_modulo(s))
        return true;
    const State h = held(s);
    cs_regs read, write;
    uint8_t reads = 0, writes = 0;
    if (cs_regs_access(r.capstone_, r.now_, read, &reads, write, &writes) != CS_ERR_OK)
        return true;
    if (!s.is_free(s.compared) && std::find(read, read + reads, uint16_t(X86_REG_EFLAGS)) != read + reads)
        return true;
    if (r.now_->id == X86_INS_CDQ || r.now_->id == X86_INS_CQO) // capstone has it written
        n.in[rax] = s.in[rax];
    if (r.register_of(0) >= 0 && operand(0).size < 4 && !s.is_free(s.in[r.register_of(0)]))
        n.in[r.register_of(0)] = Made::nothing_known();
    return r.touches(h);
}

} // namespace ws::openmp

#endif
