// SPDX-License-Identifier: MIT
//
// Where the numbers go that a region has asked for.
#include "openmp/reader/names.h"
#include "openmp/reader/reader.h"

#if defined(__x86_64__)

namespace ws::openmp {

bool Reader::is_stack(const cs_x86_op& op) const
{
    const int base = index_of(op.mem.base);
    return (base == rsp || (base == rbp && has_frame_)) && op.mem.index == X86_REG_INVALID;
}
// Nobody has its address: what compilers keep of registers lies below variables, which an address may lead up to. Of
// where a jump out of the function leads nothing of that is known.
bool Reader::is_own_place(const Place& place, unsigned bytes) const
{
    const bool by_frame = place.first == rbp;
    return uintptr_t(now_->address) - frame_of_.begin < frame_of_.end - frame_of_.begin &&
           place.second + int64_t(bytes) <= lowest_[by_frame] && lowest_[!by_frame] == INT64_MAX;
}
// The instruction may make the address of a place on the stack, or move the stack where such are made.
void Reader::note_stack(bool& has_called)
{
    const unsigned id = now_->id, operands = detail().op_count;
    if (id == X86_INS_LEA && operand(1).type == X86_OP_MEM && index_of(operand(1).mem.base) >= 0) {
        const int base = index_of(operand(1).mem.base);
        if (base == rsp || (base == rbp && has_frame_)) {
            int64_t& lowest = lowest_[base == rbp];
            lowest = std::min(lowest, operand(1).mem.disp);
        }
    }
    const auto is = [&](unsigned i, int reg) {
        return operands > i && operand(i).type == X86_OP_REG && index_of(operand(i).reg) == reg;
    };
    if (id == X86_INS_MOV && is(1, rsp) && !(has_frame_ && is(0, rbp)))
        lowest_[0] = std::min<int64_t>(lowest_[0], 0);
    if (id != X86_INS_LEA && id != X86_INS_MOV && operands == 2 && (is(1, rsp) || (has_frame_ && is(1, rbp))))
        lowest_[0] = INT64_MIN;
    if (id == X86_INS_MOV && has_frame_ && is(1, rbp))
        lowest_[1] = INT64_MIN;
    has_called |= cs_insn_group(capstone_, now_, CS_GRP_CALL);
    if (id == X86_INS_PUSH && has_called)
        lowest_[0] = INT64_MIN;
}
Place Reader::place(const State& s, const cs_x86_op& op)
{
    const int base = index_of(op.mem.base);
    return {base, op.mem.disp + (base == rsp ? s.stack : 0)};
}
Kind Reader::kind(const State& s, const cs_x86_op& op) const
{
    if (op.type == X86_OP_REG) {
        const int i = index_of(op.reg);
        return i < 0 ? other : op.size < 4 && is_told(s.in[i]) ? maybe : s.in[i];
    }
    if (op.type != X86_OP_MEM || !is_stack(op))
        return other;
    const auto found = s.kept.find(place(s, op));
    return found == s.kept.end() ? other : found->second;
}

// Whether the instruction reads one of the numbers, or makes an address of it.
bool Reader::touches(const State& s) const
{
    cs_regs read, written;
    uint8_t reads = 0, writes = 0;
    if (cs_regs_access(capstone_, now_, read, &reads, written, &writes) != CS_ERR_OK)
        return true;
    for (uint8_t i = 0; i < reads; i++)
        if (const int r = index_of(read[i]); r >= 0 && is_told(s.in[r]))
            return true;
    for (uint8_t i = 0; i < detail().op_count; i++) {
        const cs_x86_op& op = operand(i);
        if (op.type == X86_OP_MEM) {
            for (const unsigned reg : {unsigned(op.mem.base), unsigned(op.mem.index)})
                if (const int r = index_of(reg); r >= 0 && is_told(s.in[r]))
                    return true;
            if (is_told(kind(s, op)))
                return true;
        } else if (op.type == X86_OP_REG && (i > 0 || detail().op_count == 1) && is_told(kind(s, op)))
            return true;
    }
    return false;
}
// What the instruction writes is nothing that is known.
void Reader::write(State& s) const
{
    cs_regs read, written;
    uint8_t reads = 0, writes = 0;
    cs_regs_access(capstone_, now_, read, &reads, written, &writes);
    for (uint8_t i = 0; i < writes; i++)
        if (const int r = index_of(written[i]); r >= 0)
            s.in[r] = other;
    if (detail().op_count && operand(0).type == X86_OP_MEM && is_stack(operand(0)))
        s.kept.erase(place(s, operand(0)));
}

// Of the operand: an integer register, or -1.
int Reader::register_of(unsigned i) const
{
    return detail().op_count > i && operand(i).type == X86_OP_REG ? index_of(operand(i).reg) : -1;
}
// Whether an address among the operands is made of a number.
bool Reader::addresses(const State& s) const
{
    for (uint8_t i = 0; i < detail().op_count; i++)
        if (operand(i).type == X86_OP_MEM)
            for (const unsigned r : {unsigned(operand(i).mem.base), unsigned(operand(i).mem.index)})
                if (const int n = index_of(r); n >= 0 && is_told(s.in[n]))
                    return true;
    return false;
}

namespace {

bool in_arguments(const State& s)
{
    return std::any_of(std::begin(of_arguments), std::end(of_arguments), [&](int r) { return is_told(s.in[r]); });
}

} // namespace

// The steps return whether a number may get out.
bool Reader::step_call(State& s, uintptr_t at)
{
    const Called c = called();
    const Question q = c.name ? question_of(c.name) : Question::none;
    const bool takes = !c.name || (q == Question::none && !has_no_arguments(c.name));
    if (operand(0).type != X86_OP_IMM && touches(s))
        return true;
    // What lies in the registers of arguments may be left there from before.
    if (takes && in_arguments(s) && (c.name ? !takes_reals(c.name) : !c.to || callee_takes(c.to, s)))
        return true;
    if (c.name || !c.to)
        for (int r : of_caller)
            s.in[r] = other;
    else // the compiler may know what a function of this file leaves as it is
        for (int r : {rax, rdx})
            if (!is_told(s.in[r]) || !leaves(c.to, r))
                s.in[r] = other;
    if (q == Question::number || q == Question::threads) {
        s.in[rax] = q == Question::number ? number : threads;
        if (questions_)
            questions_->insert(at);
    }
    return false;
}

bool Reader::step_jump(const State& s, uintptr_t at, uintptr_t& to, bool& goes_on, const Function& f)
{
    if (operand(0).type != X86_OP_IMM) {
        goes_on = false;
        return s.knows();
    }
    to = uintptr_t(operand(0).imm);
    goes_on = now_->id != X86_INS_JMP;
    if (touches(s))
        return true;
    if (to - f.begin < f.end - f.begin || !imports(at).entry(to))
        return false;
    to = 0; // a call of another module's function, and a return
    return in_arguments(s);
}

bool Reader::step_move(State& s)
{
    if (addresses(s))
        return true;
    const Kind moved = kind(s, operand(1));
    const int to = register_of(0);
    if (to >= 0) {
        if ((operand(0).size < 4 && is_told(kind(s, operand(0)))) || (moved == maybe && operand(1).size < 4))
            return true;
        s.in[to] = moved;
        return false;
    }
    if (operand(0).type != X86_OP_MEM || !is_stack(operand(0)))
        return is_told(moved);
    if (is_told(moved) && !is_own_place(place(s, operand(0)), operand(0).size))
        return true;
    if (moved == other)
        s.kept.erase(place(s, operand(0)));
    else
        s.kept[place(s, operand(0))] = moved;
    return false;
}

bool Reader::step_compare(const State& s)
{
    if (addresses(s))
        return true;
    const Kind first = kind(s, operand(0)), second = kind(s, operand(1));
    if (!is_told(first) && !is_told(second))
        return false;
    if (now_->id == X86_INS_TEST)
        return !(first == number && second == number && register_of(0) == register_of(1));
    const bool with_0 = operand(1).type == X86_OP_IMM && operand(1).imm == 0;
    return !((first == number && (second == rest || with_0)) || (first == rest && second == number));
}

bool Reader::step_divide(State& s)
{
    const Kind by = kind(s, operand(0));
    if (is_told(s.in[rax]) || is_told(s.in[rdx]) || addresses(s) || (is_told(by) && by != threads))
        return true;
    s.in[rax] = by == threads ? quotient : other;
    s.in[rdx] = by == threads ? rest : other;
    return false;
}

bool Reader::step_address(State& s)
{
    if (addresses(s))
        return true;
    const cs_x86_op& from = operand(1);
    const int to = register_of(0), base = index_of(from.mem.base);
    const bool is_quotient = from.mem.index == X86_REG_INVALID && from.mem.disp == 1 && base >= 0 &&
                             s.in[base] == quotient; // of who has one iteration more
    if (to >= 0)
        s.in[to] = is_quotient ? quotient : other;
    return false;
}

// Arithmetic that deals a loop or moves the stack. False: it is none of that.
bool Reader::is_dealing(State& s)
{
    const Kind first = kind(s, operand(0)), second = detail().op_count > 1 ? kind(s, operand(1)) : other;
    const int to = register_of(0);
    const bool by_constant = detail().op_count > 1 && operand(1).type == X86_OP_IMM;
    switch (now_->id) {
    case X86_INS_SUB:
    case X86_INS_XOR:
        if (to >= 0 && to == register_of(1))
            s.in[to] = other;
        else if (now_->id == X86_INS_SUB && to == rsp && by_constant)
            s.stack -= operand(1).imm;
        else
            return false;
        return true;
    case X86_INS_IMUL:
        if (detail().op_count != 2 || to < 0 || addresses(s) ||
            !((first == number && second == quotient) || (first == quotient && second == number)))
            return false;
        deals_ = true;
        s.in[to] = other;
        return true;
    case X86_INS_ADD:
        if (to == rsp && by_constant) {
            s.stack += operand(1).imm;
            return true;
        }
        return to >= 0 && first == quotient && by_constant && (operand(1).imm == 1 || operand(1).imm == -1);
    case X86_INS_INC:
        return to >= 0 && first == quotient;
    default:
        if (now_->id < X86_INS_CMOVA || now_->id > X86_INS_CMOVS || to < 0 || addresses(s) || is_told(first) ||
            is_told(second))
            return false;
        s.in[to] = joined(first, second);
        return true;
    }
}

// `to`: where else the way leads, 0: nowhere.
bool Reader::step(State& s, uintptr_t at, uintptr_t& to, bool& goes_on, const Function& f, bool is_region)
{
    to = 0;
    goes_on = true;
    if (cs_insn_group(capstone_, now_, CS_GRP_CALL))
        return step_call(s, at);
    if (cs_insn_group(capstone_, now_, CS_GRP_RET)) {
        goes_on = false;
        return !is_region && is_told(s.in[rax]);
    }
    if (cs_insn_group(capstone_, now_, CS_GRP_JUMP))
        return step_jump(s, at, to, goes_on, f);
    switch (now_->id) {
    case X86_INS_NOP:
    case X86_INS_ENDBR64:
    case X86_INS_CDQE: // eax is rax's
        return false;
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVSXD:
        return step_move(s);
    case X86_INS_CMP:
    case X86_INS_TEST:
        return step_compare(s);
    case X86_INS_DIV:
    case X86_INS_IDIV:
        return step_divide(s);
    case X86_INS_LEA:
        return step_address(s);
    case X86_INS_PUSH:
        if (touches(s))
            return true;
        s.stack -= 8;
        s.kept.erase({rsp, s.stack});
        return false;
    case X86_INS_POP:
        if (register_of(0) < 0)
            return true;
        s.in[register_of(0)] = other;
        s.stack += 8;
        return false;
    case X86_INS_LEAVE:
        s.in[rbp] = other;
        s.kept.clear();
        return false;
    default:
        return !(detail().op_count && is_dealing(s)) && step_otherwise(s);
    }
}

bool Reader::step_otherwise(State& s)
{
    if (touches(s))
        return true;
    if (register_of(0) >= 0 && is_told(kind(s, operand(0)))) { // written, and perhaps read
        const cs_x86_op& op = operand(0);
        if (op.access != CS_AC_WRITE || op.size < 4)
            return true;
    }
    write(s);
    return false;
}

// Whether the function may do something with what lies in the registers of arguments.
bool Reader::callee_takes(uintptr_t callee, const State& s)
{
    const Function f = function_at(reinterpret_cast<const void*>(callee));
    if (!f.begin || depth_ >= 8)
        return true;
    State in;
    for (int r : of_arguments)
        in.in[r] = s.in[r];
    // It is to keep none of them.
    const bool has_frame = has_frame_;
    const int64_t lowest[] = {lowest_[0], lowest_[1]};
    std::set<uintptr_t>* const questions = questions_;
    has_frame_ = false;
    lowest_[0] = lowest_[1] = INT64_MIN;
    questions_ = nullptr;
    depth_++;
    const bool out = flows_out(callee, in, f, false);
    depth_--;
    questions_ = questions;
    lowest_[0] = lowest[0];
    lowest_[1] = lowest[1];
    has_frame_ = has_frame;
    return out;
}

// Whether neither the function nor what it calls writes the register: then it holds the same afterwards, and no result.
bool Reader::leaves(uintptr_t callee, int reg)
{
    const Function f = function_at(reinterpret_cast<const void*>(callee));
    if (!f.begin || depth_ >= 8)
        return true;
    for (uintptr_t at = f.begin; at < f.end; at += now_->size) {
        cs_regs read_too, written;
        uint8_t reads = 0, writes = 0;
        if (steps_left_ == 0 || !read(at, f.end) ||
            cs_regs_access(capstone_, now_, read_too, &reads, written, &writes) != CS_ERR_OK)
            return true;
        steps_left_--;
        if (std::any_of(written, written + writes, [&](uint16_t w) { return index_of(w) == reg; }))
            return false;
        const bool is_call = cs_insn_group(capstone_, now_, CS_GRP_CALL);
        if (!is_call && !cs_insn_group(capstone_, now_, CS_GRP_JUMP))
            continue;
        const Called c = called();
        if (c.name || (is_call && !c.to))
            return false;
        if (!c.to || c.to - f.begin < f.end - f.begin) // a switch, or within
            continue;
        depth_++;
        const bool left = leaves(c.to, reg);
        depth_--;
        if (!left)
            return false;
        read(at, f.end); // again
    }
    return true;
}

// From the call at `question` on, which answers with `told`.
bool Reader::flows_out(uintptr_t question, Kind told, const Function& f, bool is_region, std::set<uintptr_t>& seen)
{
    if (!read(question, f.end))
        return true;
    State begin;
    begin.in[rax] = told;
    questions_ = &seen;
    const bool out = flows_out(question + now_->size, begin, f, is_region);
    questions_ = nullptr;
    return out;
}

// Along all ways from there.
bool Reader::flows_out(uintptr_t begin, const State& state, const Function& f, bool is_region)
{
    std::map<uintptr_t, State> known;
    std::vector<uintptr_t> next = {begin};
    known[begin] = state;
    const auto lead = [&](uintptr_t to, const State& s) {
        if (!s.knows())
            return;
        const auto [at, is_new] = known.emplace(to, s);
        if (is_new || at->second.join(s))
            next.push_back(to);
    };
    bool out = false;
    while (!next.empty() && !out) {
        const uintptr_t at = next.back();
        next.pop_back();
        State s = known[at];
        const Function here = at - f.begin < f.end - f.begin ? f : function_at(reinterpret_cast<const void*>(at));
        uintptr_t to = 0;
        bool goes_on = false;
        if (steps_left_ == 0 || !read(at, here.end)) {
            out = true;
            break;
        }
        steps_left_--;
        const uintptr_t after = at + now_->size;
        out = step(s, at, to, goes_on, f, is_region);
        if (goes_on)
            lead(after, s);
        if (to)
            lead(to, s);
    }
    return out;
}

} // namespace ws::openmp

#endif
