// SPDX-License-Identifier: MIT
//
// Which ways lead from a question through the code, and where rounds begin and end on them.
#include "openmp/reader/rounds.h"

#include "openmp/reader/names.h"

#if defined(__x86_64__)

namespace ws::openmp {

// The steps return whether a number may get out.
bool Rounds::step_call(const RoundState& s, RoundState& n, uintptr_t at)
{
    const Reader::Called c = r.called();
    const Question q = c.name ? question_of(c.name) : Question::none;
    const bool by_address = operand(0).type != X86_OP_IMM && r.touches(held(s));
    if (c.name || !c.to) {
        for (int reg : of_caller)
            n.in[reg] = Made::overwritten();
        n.in[rax] = Made();
    } else // the compiler may know what a function of this file leaves as it is
        for (int reg : {rax, rdx})
            if (!r.leaves(c.to, reg))
                n.in[reg] = Made();
    if (q != Question::number && q != Question::threads)
        return by_address || call_takes(s, c);
    const bool out = s.is_in_loop();
    n.at = RoundState::before;
    n.in[rax] = q == Question::number ? Made::number() : Made::count();
    questions_.insert(at);
    return out;
}

// Whether the function that is called may learn of a number, or waits for other threads.
bool Rounds::call_takes(const RoundState& s, const Reader::Called& c)
{
    if (s.is_in_loop() && c.name && is_openmp(c.name) && !excludes(c.name)) // each thread has another number of rounds
        return true;
    const State h = held(s);
    const bool in_arguments =
        std::any_of(std::begin(of_arguments), std::end(of_arguments), [&](int a) { return is_told(h.in[a]); });
    if (!in_arguments || (c.name && has_no_arguments(c.name)))
        return false;
    return c.name ? !takes_reals(c.name) : !c.to || r.callee_takes(c.to, h);
}

bool Rounds::step_jump(const RoundState& s, const RoundState& n, uintptr_t at, Next& next)
{
    if (operand(0).type != X86_OP_IMM)
        return s.knows();
    const uintptr_t to = uintptr_t(operand(0).imm), after = at + r.now_->size;
    const bool leaves = !(to - f.begin < f.end - f.begin) && r.imports(at).entry(to);
    if (leaves) { // a call of another module's function, and a return
        const State h = held(s);
        return r.now_->id != X86_INS_JMP || s.is_in_loop() ||
               std::any_of(std::begin(of_arguments), std::end(of_arguments), [&](int a) { return is_told(h.in[a]); });
    }
    if (r.now_->id == X86_INS_JMP) {
        next.push_back({to, n});
        return false;
    }
    if (!s.is_free(s.compared))
        return step_bound(s, n, to, after, next);
    next.push_back({to, n});
    next.push_back({after, n});
    return r.touches(held(s));
}

// Whether a round is begun: the number has been compared with something.
bool Rounds::step_bound(const RoundState& s, const RoundState& n, uintptr_t to, uintptr_t after, Next& next)
{
    const Made& m = s.compared;
    RoundState begun = n, left = n;
    Bound bound;
    bool begins_if_taken = true, out = true;
    if (m.is_sum() && m.chunks != 0 && m.base == 0 && is_bound(s, bound, begins_if_taken)) {
        if (!s.is_in_loop() && m.threads == 0) {
            begun.at = RoundState::first;
            begun.bound = bound;
            begun.bound_stands = true;
            out = false;
        } else if (s.is_in_loop() && m.threads == m.chunks && bound == s.bound && s.bound_stands) {
            begun.next_round();
            out = false;
        }
    }
    if (!out && s.is_in_loop())
        left.leave();
    else if (!out)
        left.at = RoundState::passed;
    begun.compared = left.compared = Made();
    next.push_back({begins_if_taken ? to : after, begun});
    next.push_back({begins_if_taken ? after : to, left});
    return out;
}

// What a jump by the last comparison begins a round for.
bool Rounds::is_bound(const RoundState& s, Bound& bound, bool& begins_if_taken) const
{
    bool less = false, strict = false, is_signed = false;
    switch (r.now_->id) {
    case X86_INS_JL: less = strict = is_signed = true; break;
    case X86_INS_JLE: less = is_signed = true; break;
    case X86_INS_JG: strict = is_signed = true; break;
    case X86_INS_JGE: is_signed = true; break;
    case X86_INS_JB: less = strict = true; break;
    case X86_INS_JBE: less = true; break;
    case X86_INS_JA: strict = true; break;
    case X86_INS_JAE: break;
    default: return false;
    }
    bound = s.against;
    bound.below = s.compared.chunks > 0;
    bound.is_signed = is_signed;
    bound.chunks = s.compared.chunks;
    bound.plus = s.compared.plus;
    begins_if_taken = (less != s.swapped) == bound.below;
    bound.strict = begins_if_taken ? strict : !strict;
    if (bound.in == Bound::constant && bound.strict) {
        bound.value += bound.below ? -1 : 1;
        bound.strict = false;
    }
    return bound.in != Bound::none;
}

// A call, or a word that others may see.
bool Rounds::does_something() const
{
    if (cs_insn_group(r.capstone_, r.now_, CS_GRP_CALL))
        return true;
    for (unsigned i = 0; i < operands(); i++)
        if (operand(i).type == X86_OP_MEM && (operand(i).access & CS_AC_WRITE) && !r.is_stack(operand(i)))
            return true;
    return false;
}

bool Rounds::step(const RoundState& s, uintptr_t at, Next& next)
{
    if (s.at == RoundState::broken)
        return true;
    RoundState n = s;
    written(n);
    const uintptr_t after = at + r.now_->size; // it may read others
    const int to = r.register_of(0);
    const bool by_constant = is_constant(1);
    if (cs_insn_group(r.capstone_, r.now_, CS_GRP_RET))
        return s.is_in_loop() || (!is_region_ && (s.at == RoundState::passed || !s.is_free(s.in[rax])));
    if (cs_insn_group(r.capstone_, r.now_, CS_GRP_JUMP) && !cs_insn_group(r.capstone_, r.now_, CS_GRP_CALL))
        return step_jump(s, n, at, next);
    bool out = s.at == RoundState::passed && does_something();
    const unsigned id = r.now_->id;
    if (cs_insn_group(r.capstone_, r.now_, CS_GRP_CALL))
        out |= step_call(s, n, at);
    else if (id == X86_INS_NOP || id == X86_INS_ENDBR64 || id == X86_INS_CDQE)
        n = s;
    else if (id == X86_INS_MOV || id == X86_INS_MOVABS || id == X86_INS_MOVSXD)
        out |= step_move(s, n);
    else if (id == X86_INS_CMP || id == X86_INS_TEST)
        out |= step_compare(s, n);
    else if (id >= X86_INS_CMOVA && id <= X86_INS_CMOVS)
        out |= step_choice(s, n);
    else if ((id == X86_INS_ADD || id == X86_INS_SUB) && to == rsp && by_constant)
        n.stack += id == X86_INS_ADD ? operand(1).imm : -operand(1).imm;
    else if ((id == X86_INS_XOR || id == X86_INS_SUB) && to >= 0 && to == r.register_of(1))
        n.in[to] = Made();
    else if ((id == X86_INS_ADD || id == X86_INS_SUB) && to != rsp &&
             (to >= 0 || (operand(0).type == X86_OP_MEM && r.is_stack(operand(0)))))
        out |= step_sum(s, n, at);
    else if (id == X86_INS_LEA && to >= 0)
        out |= step_address(s, n, at);
    else if (id == X86_INS_PUSH) {
        out |= r.touches(held(s));
        n.stack -= 8;
        n.kept.erase({rsp, n.stack});
    } else if (id == X86_INS_POP && to >= 0) {
        if (const auto k = s.kept.find({rsp, s.stack}); k != s.kept.end())
            n.in[to] = k->second;
        n.stack += 8;
    } else if (id == X86_INS_LEAVE) {
        out |= s.is_in_loop();
        n.kept.clear();
    } else if (!is_arithmetic(s, n, at))
        out |= step_otherwise(s, n);
    next.push_back({after, n});
    return out;
}

// Until something is learned of where rounds begin, or nothing is. False: there is too much.
bool Rounds::follow(uintptr_t begin, const RoundState& state)
{
    known_.clear();
    known_[begin] = state;
    learned_ = false;
    std::vector<uintptr_t> todo = {begin};
    while (!todo.empty() && !learned_) {
        const uintptr_t at = todo.back();
        todo.pop_back();
        const RoundState s = known_[at];
        const Function here = at - f.begin < f.end - f.begin ? f : function_at(reinterpret_cast<const void*>(at));
        if (r.steps_left_ != 0 && !s.knows() && !r.read(at, here.end)) // what is called there does not return
            continue;
        if (r.steps_left_ == 0 || !r.read(at, here.end))
            return false;
        r.steps_left_--;
        Next next;
        step(s, at, next);
        for (auto& [to, n] : next) // also where the ways of threads with and without rounds join
            if ((n.knows() || n.at == RoundState::after) && lead(to, n))
                todo.push_back(to);
    }
    return true;
}

// Whether what is known there has changed.
bool Rounds::lead(uintptr_t to, RoundState& n)
{
    const auto rounds = still_.find(to);
    const bool begins = rounds != still_.end(), is_first = n.at == RoundState::first;
    if (begins && is_first) {
        n.at = RoundState::inside;
        for (const Place& what : rounds->second)
            n.set_begin(what);
    }
    const auto [it, is_new] = known_.emplace(to, n);
    if (is_new)
        return true;
    if (!begins && it->second.is_in_loop() && n.is_in_loop() && it->second.at != n.at) {
        still_[to];
        learned_ = true;
    }
    const RoundState::Ways ways = !begins ? RoundState::any : is_first ? RoundState::first_rounds : RoundState::rounds;
    return it->second.join(n, ways, [&](const Place& what) { learned_ |= still_[to].insert(what).second; });
}

bool Rounds::hold(uintptr_t begin, const Made& told)
{
    RoundState state;
    state.in[rax] = told;
    do
        if (!follow(begin, state))
            return false;
    while (learned_);
    bool deals = false;
    for (const auto& [at, s] : known_) {
        const Function here = at - f.begin < f.end - f.begin ? f : function_at(reinterpret_cast<const void*>(at));
        Next next;
        if (s.knows() && (!r.read(at, here.end) || step(s, at, next)))
            return false;
        deals |= s.at == RoundState::inside;
    }
    return deals;
}

// Whether what is answered at `question` is used for loops in rounds alone.
bool Reader::deals_in_rounds(uintptr_t question, Kind told, const Function& f, bool is_region,
                             std::set<uintptr_t>& seen)
{
    if (!read(question, f.end))
        return false;
    const uintptr_t begin = question + now_->size;
    seen.insert(question);
    deals_ = Rounds(*this, f, is_region, seen).hold(begin, told == number ? Made::number() : Made::count());
    return deals_;
}

} // namespace ws::openmp

#endif
