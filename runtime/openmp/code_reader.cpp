// SPDX-License-Identifier: MIT
//
// The module that reads machine code, by capstone: loaded by a rank that shares parallel regions, so that nobody else
// pays for it. It says whether a region, or what it may call, can learn how many threads there are or which one it is.
//
// GCC's code asks both to deal a static loop: thread t of n gets q * t + r and what follows, with q = iterations / n.
// That is no news to the program: so it is no question if the two numbers go into nothing but such a division, its
// product, and comparisons with its remainder or (t, as for `master`) with 0, on any way through the code. Everything
// else that touches a register or a place on the stack that may hold one of them is one.
#include "openmp/binary.h"
#include "openmp/code.h"
#include "window/os.h"

#include <algorithm>
#include <capstone.h>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#if defined(__x86_64__)

namespace ws::openmp {

namespace {

// What a register holds. `maybe`: a number on some ways that lead there.
enum Kind : uint8_t { other, number, threads, quotient, rest, maybe };
bool is_told(Kind k) { return k == number || k == threads || k == maybe; }
Kind joined(Kind a, Kind b) { return a == b ? a : is_told(a) || is_told(b) ? maybe : other; }

enum class Question : uint8_t { none, number, threads, more };
Question question_of(const char* name)
{
    const auto begins = [&](const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; };
    return !std::strcmp(name, "omp_get_thread_num") || !std::strcmp(name, "omp_get_thread_num_") ? Question::number
           : !std::strcmp(name, "omp_get_num_threads") || !std::strcmp(name, "omp_get_num_threads_")
               ? Question::threads
           : begins("omp_get_max_threads") || begins("omp_get_ancestor") || begins("omp_get_team_size")
               ? Question::more
               : Question::none;
}
bool is_question(const char* name) { return question_of(name) != Question::none; }
bool is_any(const char*) { return true; }
bool is_openmp(const char* name)
{
    for (const char* begin : {"GOMP_", "__kmpc_", "omp_", "kmp_", "GOACC_"})
        if (std::strncmp(name, begin, std::strlen(begin)) == 0)
            return true;
    return false;
}

bool has_no_arguments(const char* name)
{
    for (const char* begin : {"GOMP_barrier", "GOMP_loop_end", "GOMP_single_start", "GOMP_sections_end",
                              "GOMP_sections_next", "GOMP_critical_start", "GOMP_critical_end", "GOMP_atomic_"})
        if (std::strncmp(name, begin, std::strlen(begin)) == 0)
            return true;
    return false;
}

// Functions of libm's that have no integers among their arguments.
bool takes_reals(const char* name)
{
    std::string plain = name;
    if (!plain.empty() && plain.back() == 'f' && plain != "erf")
        plain.pop_back();
    for (const char* f :
         {"sqrt", "exp",  "exp2",  "expm1", "log",   "log2",  "log10", "log1p",  "pow",    "sin",   "cos",
          "tan",  "asin", "acos",  "atan",  "atan2", "sinh",  "cosh",  "tanh",   "cbrt",   "hypot", "erf",
          "erfc", "fmod", "floor", "ceil",  "round", "trunc", "rint",  "tgamma", "lgamma", "fma"})
        if (plain == f)
            return true;
    return false;
}

// endbr64, then push %rbp and mov %rsp, %rbp
bool begins_with_frame(const Function& f)
{
    const auto* code = reinterpret_cast<const unsigned char*>(f.begin);
    if (f.end - f.begin < 16)
        return false;
    if (std::memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0)
        code += 4;
    return std::memcmp(code, "\x55\x48\x89\xe5", 4) == 0;
}

constexpr unsigned registers = 16;
// -1: none that an address or an integer is kept in.
int index_of(unsigned reg)
{
    static const std::vector<int8_t> indices = [] {
        static const x86_reg names[registers][5] = {
            {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH},
            {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH},
            {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH},
            {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH},
            {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL, X86_REG_SPL},
            {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL, X86_REG_BPL},
            {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL, X86_REG_SIL},
            {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL, X86_REG_DIL},
            {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B, X86_REG_R8B},
            {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B, X86_REG_R9B},
            {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B, X86_REG_R10B},
            {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B, X86_REG_R11B},
            {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B, X86_REG_R12B},
            {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B, X86_REG_R13B},
            {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B, X86_REG_R14B},
            {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B, X86_REG_R15B}};
        std::vector<int8_t> made(X86_REG_ENDING, -1);
        for (unsigned i = 0; i < registers; i++)
            for (x86_reg name : names[i])
                made[name] = int8_t(i);
        return made;
    }();
    return reg < indices.size() ? indices[reg] : -1;
}
enum : int { rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11 };
constexpr int of_arguments[] = {rdi, rsi, rdx, rcx, r8, r9}, of_caller[] = {rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11};

// Where a number is kept on the stack, by the register that the address is made of, and the distance from where that
// register stood.
using Place = std::pair<int, int64_t>;

struct State {
    Kind in[registers] = {};
    std::map<Place, Kind> kept;
    int64_t stack = 0; // the stack pointer
    bool knows() const
    {
        return std::any_of(in, in + registers, is_told) ||
               std::any_of(kept.begin(), kept.end(), [](const auto& k) { return is_told(k.second); });
    }
    // Whether this one has changed.
    bool join(const State& with)
    {
        bool changed = false;
        const auto set = [&](Kind& mine, Kind theirs) {
            const Kind both = joined(mine, theirs);
            changed |= both != mine;
            mine = both;
        };
        for (unsigned i = 0; i < registers; i++)
            set(in[i], with.in[i]);
        for (auto& k : kept) {
            const auto theirs = with.kept.find(k.first);
            set(k.second, theirs == with.kept.end() ? other : theirs->second);
        }
        for (const auto& k : with.kept)
            if (!kept.count(k.first) && is_told(k.second)) {
                kept[k.first] = maybe;
                changed = true;
            }
        return changed;
    }
};

class Reader {
public:
    Reader()
    {
        is_open_ = cs_open(CS_ARCH_X86, CS_MODE_64, &capstone_) == CS_ERR_OK;
        if (is_open_)
            cs_option(capstone_, CS_OPT_DETAIL, CS_OPT_ON);
        now_ = is_open_ ? cs_malloc(capstone_) : nullptr;
    }
    ~Reader()
    {
        if (now_)
            cs_free(now_, 1);
        if (is_open_)
            cs_close(&capstone_);
    }
    Reader(const Reader&) = delete;

    RegionCode look_at(uintptr_t function, void (*tell_name)(void* to, const char* name), void* to);
    std::vector<std::pair<uintptr_t, bool>> dealing; // return addresses; whether such a loop follows

private:
    struct Called {
        uintptr_t to;     // 0: by way of a register or a table
        const char* name; // of another module's function that is called; null: it is none
    };
    const Imports& imports(uintptr_t address);
    bool read(uintptr_t at, uintptr_t end);
    Called called();
    const cs_x86& detail() const { return now_->detail->x86; }
    const cs_x86_op& operand(unsigned i) const { return now_->detail->x86.operands[i]; }

    // What a function does.
    struct Seen {
        bool asks = false;
        bool by_table = false;        // it calls by way of a register or a table
        std::vector<uintptr_t> calls; // what else it may call, of which something is to be known
        std::vector<const char*> names; // OpenMP's functions that it calls
    };
    const Seen& seen(const Function& f, bool is_region);
    bool read_all(const Function& f, bool is_region, Seen& seen);
    void note_address(uintptr_t address, const Function& f, Seen& seen);
    bool deals_first(uintptr_t function);
    bool somebody_asks();
    bool flows_out(uintptr_t question, Kind told, const Function& f, bool is_region, std::set<uintptr_t>& seen);
    bool flows_out(uintptr_t begin, const State& state, const Function& f, bool is_region);
    bool callee_takes(uintptr_t callee, const State& s);
    bool step(State& s, uintptr_t at, uintptr_t& to, bool& goes_on, const Function& f, bool is_region);
    Kind kind(const State& s, const cs_x86_op& op) const;
    bool is_stack(const cs_x86_op& op) const;
    bool is_own_place(const Place& place, unsigned bytes) const;
    void note_stack(bool& has_called);
    // A switch jumps by a table of distances: one is loaded, what it counts from is added.
    struct Table {
        int loaded = -1, sum = -1; // the registers
    };
    bool is_switch(Table& table) const;
    static Place place(const State& s, const cs_x86_op& op);
    bool touches(const State& s) const;
    void write(State& s) const;

    csh capstone_ = 0;
    bool is_open_ = false;
    cs_insn* now_ = nullptr;
    std::map<uintptr_t, Imports> modules_; // by where their text begins
    // Of the function that is looked at: rbp is where its frame begins; the lowest places on the stack whose addresses
    // it makes, by either register.
    bool has_frame_ = false;
    int64_t lowest_[2] = {};
    bool deals_ = false;
    unsigned depth_ = 0; // of calls that numbers are followed into
    std::set<uintptr_t>* questions_ = nullptr;
    unsigned steps_left_ = 1000000; // some 0.5 s, of the whole process
    std::map<uintptr_t, Seen> functions_; // by their first address
    int program_asks_ = -1;
};

const Imports& Reader::imports(uintptr_t address)
{
    for (const auto& m : modules_)
        if (m.second.contains(address))
            return m.second;
    Imports found(address, is_any);
    const uintptr_t begin = found.text_begin() ? found.text_begin() : address;
    return modules_.emplace(begin, std::move(found)).first->second;
}

bool Reader::read(uintptr_t at, uintptr_t end)
{
    auto* code = reinterpret_cast<const uint8_t*>(at);
    size_t room = end - at;
    uint64_t address = at;
    return at < end && cs_disasm_iter(capstone_, &code, &room, &address, now_);
}

// Of a call or a jump.
Reader::Called Reader::called()
{
    const uintptr_t next = uintptr_t(now_->address) + now_->size;
    const cs_x86_op& op = operand(0);
    const Imports& mine = imports(next - 1);
    if (op.type == X86_OP_IMM)
        return {uintptr_t(op.imm), mine.entry(uintptr_t(op.imm))};
    if (op.type == X86_OP_MEM && op.mem.base == X86_REG_RIP)
        return {0, mine.word(next + uintptr_t(op.mem.disp))};
    return {0, nullptr};
}

// ---- where the numbers go

bool Reader::is_stack(const cs_x86_op& op) const
{
    const int base = index_of(op.mem.base);
    return (base == rsp || (base == rbp && has_frame_)) && op.mem.index == X86_REG_INVALID;
}
// Nobody has its address: what compilers keep of registers lies below variables, which an address may lead up to.
bool Reader::is_own_place(const Place& place, unsigned bytes) const
{
    const bool by_frame = place.first == rbp;
    return place.second + int64_t(bytes) <= lowest_[by_frame] && lowest_[!by_frame] == INT64_MAX;
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

// One instruction. True: a number may get out. `to`: where else the way leads, 0: nowhere.
bool Reader::step(State& s, uintptr_t at, uintptr_t& to, bool& goes_on, const Function& f, bool is_region)
{
    to = 0;
    goes_on = true;
    const unsigned id = now_->id, operands = detail().op_count;
    const Kind first = operands > 0 ? kind(s, operand(0)) : other, second = operands > 1 ? kind(s, operand(1)) : other;
    const auto reg = [&](unsigned i) {
        return operands > i && operand(i).type == X86_OP_REG ? index_of(operand(i).reg) : -1;
    };
    const auto is_one = [&](unsigned i) {
        return operand(i).type == X86_OP_IMM && (operand(i).imm == 1 || operand(i).imm == -1);
    };
    const auto addresses = [&] { // of the operands
        for (unsigned i = 0; i < operands; i++)
            if (operand(i).type == X86_OP_MEM)
                for (const unsigned r : {unsigned(operand(i).mem.base), unsigned(operand(i).mem.index)})
                    if (const int n = index_of(r); n >= 0 && is_told(s.in[n]))
                        return true;
        return false;
    };

    if (cs_insn_group(capstone_, now_, CS_GRP_CALL)) {
        const Called c = called();
        const Question q = c.name ? question_of(c.name) : Question::none;
        const bool takes = !c.name || (q == Question::none && !has_no_arguments(c.name));
        if (operand(0).type != X86_OP_IMM && touches(s))
            return true;
        // What lies in the registers of arguments may be left there from before.
        if (takes &&
            std::any_of(std::begin(of_arguments), std::end(of_arguments), [&](int r) { return is_told(s.in[r]); }) &&
            (c.name ? !takes_reals(c.name) : !c.to || callee_takes(c.to, s)))
            return true;
        for (int r : of_caller)
            s.in[r] = other;
        if (q == Question::number || q == Question::threads) {
            s.in[rax] = q == Question::number ? number : threads;
            if (questions_)
                questions_->insert(at);
        }
        return false;
    }
    if (cs_insn_group(capstone_, now_, CS_GRP_RET)) {
        goes_on = false;
        return !is_region && is_told(s.in[rax]);
    }
    if (cs_insn_group(capstone_, now_, CS_GRP_JUMP)) {
        if (operand(0).type != X86_OP_IMM) {
            goes_on = false;
            return s.knows();
        }
        to = uintptr_t(operand(0).imm);
        goes_on = id != X86_INS_JMP;
        if (touches(s))
            return true;
        if (to - f.begin < f.end - f.begin || !imports(at).entry(to))
            return false;
        to = 0; // a call of another module's function, and a return
        return std::any_of(std::begin(of_arguments), std::end(of_arguments), [&](int r) { return is_told(s.in[r]); });
    }
    switch (id) {
    case X86_INS_NOP:
    case X86_INS_ENDBR64:
        return false;
    case X86_INS_CDQE: // eax is rax's
        return false;
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVSXD: {
        if (addresses())
            return true;
        const Kind moved = second;
        if (reg(0) >= 0) {
            if (operand(0).size < 4 && is_told(first))
                return true;
            if (moved == maybe && operand(1).size < 4)
                return true;
            s.in[reg(0)] = moved;
            return false;
        }
        if (operand(0).type != X86_OP_MEM)
            return is_told(moved);
        if (!is_stack(operand(0)))
            return is_told(moved);
        if (is_told(moved) && !is_own_place(place(s, operand(0)), operand(0).size))
            return true;
        if (moved == other)
            s.kept.erase(place(s, operand(0)));
        else
            s.kept[place(s, operand(0))] = moved;
        return false;
    }
    case X86_INS_CMP:
    case X86_INS_TEST:
        if (addresses())
            return true;
        if (!is_told(first) && !is_told(second))
            return false;
        if (id == X86_INS_TEST)
            return !(first == number && second == number && reg(0) == reg(1));
        return !((first == number && (second == rest || (operand(1).type == X86_OP_IMM && operand(1).imm == 0))) ||
                 (first == rest && second == number));
    case X86_INS_XOR:
    case X86_INS_SUB:
        if (reg(0) >= 0 && reg(0) == reg(1)) {
            s.in[reg(0)] = other;
            return false;
        }
        if (reg(0) == rsp && operand(1).type == X86_OP_IMM) {
            s.stack -= operand(1).imm;
            return false;
        }
        break;
    case X86_INS_DIV:
    case X86_INS_IDIV:
        if (is_told(s.in[rax]) || is_told(s.in[rdx]) || addresses() || (is_told(first) && first != threads))
            return true;
        s.in[rax] = first == threads ? quotient : other;
        s.in[rdx] = first == threads ? rest : other;
        return false;
    case X86_INS_IMUL:
        if (operands == 2 && reg(0) >= 0 && !addresses() &&
            ((first == number && second == quotient) || (first == quotient && second == number))) {
            deals_ = true;
            s.in[reg(0)] = other;
            return false;
        }
        break;
    case X86_INS_ADD:
        if (reg(0) == rsp && operand(1).type == X86_OP_IMM) {
            s.stack += operand(1).imm;
            return false;
        }
        if (reg(0) >= 0 && first == quotient && is_one(1))
            return false; // the quotient of who has one iteration more
        break;
    case X86_INS_INC:
        if (reg(0) >= 0 && first == quotient)
            return false;
        break;
    case X86_INS_LEA: {
        const cs_x86_op& from = operand(1);
        if (!addresses() && reg(0) >= 0 && from.mem.index == X86_REG_INVALID && from.mem.disp == 1 &&
            index_of(from.mem.base) >= 0 && s.in[index_of(from.mem.base)] == quotient) {
            s.in[reg(0)] = quotient;
            return false;
        }
        if (addresses())
            return true;
        if (reg(0) >= 0)
            s.in[reg(0)] = other;
        return false;
    }
    case X86_INS_PUSH:
        if (touches(s))
            return true;
        s.stack -= 8;
        s.kept.erase({rsp, s.stack});
        return false;
    case X86_INS_POP:
        if (reg(0) < 0)
            return true;
        s.in[reg(0)] = other;
        s.stack += 8;
        return false;
    case X86_INS_LEAVE:
        s.in[rbp] = other;
        s.kept.clear();
        return false;
    default:
        if (id >= X86_INS_CMOVA && id <= X86_INS_CMOVS && reg(0) >= 0 && !addresses() && !is_told(first) &&
            !is_told(second)) {
            s.in[reg(0)] = joined(first, second);
            return false;
        }
        break;
    }
    if (touches(s))
        return true;
    if (reg(0) >= 0 && is_told(first)) { // written, and perhaps read
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

// ---- who asks

// Whether the instruction jumps by such a table; it follows the ones that were asked about before.
bool Reader::is_switch(Table& t) const
{
    const unsigned operands = detail().op_count;
    const auto reg = [&](unsigned i) {
        return operands > i && operand(i).type == X86_OP_REG ? index_of(operand(i).reg) : -1;
    };
    if (now_->id == X86_INS_JMP && operand(0).type == X86_OP_REG)
        return t.sum >= 0 && reg(0) == t.sum;
    if (now_->id == X86_INS_JMP && operand(0).type == X86_OP_MEM)
        return operand(0).mem.base == X86_REG_INVALID && operand(0).mem.index != X86_REG_INVALID;
    const int written = reg(0);
    if (now_->id == X86_INS_MOVSXD && operand(1).type == X86_OP_MEM && operand(1).mem.scale == 4 &&
        operand(1).mem.index != X86_REG_INVALID)
        t = {written, -1};
    else if (now_->id == X86_INS_ADD && t.loaded >= 0 && (reg(0) == t.loaded || reg(1) == t.loaded))
        t.sum = reg(0);
    else if (written >= 0 && (written == t.loaded || written == t.sum))
        t = {};
    return false;
}

// Perhaps a function that others call.
void Reader::note_address(uintptr_t address, const Function& f, Seen& it)
{
    if (imports(f.begin).contains(address) && address != f.begin &&
        function_at(reinterpret_cast<const void*>(address)).begin == address)
        it.calls.push_back(address);
}

// `is_region`: what it leaves in the register for results is none.
const Reader::Seen& Reader::seen(const Function& f, bool is_region)
{
    const auto [at, is_new] = functions_.emplace(f.begin, Seen());
    if (is_new)
        at->second.asks = read_all(f, is_region, at->second);
    return at->second;
}

// Whether the function asks.
bool Reader::read_all(const Function& f, bool is_region, Seen& it)
{
    std::vector<std::pair<uintptr_t, Question>> questions;
    bool asks = false;
    bool has_called = false;
    Table table;
    lowest_[0] = lowest_[1] = INT64_MAX;
    has_frame_ = begins_with_frame(f);
    for (uintptr_t at = f.begin; at < f.end; at += now_->size) {
        if (steps_left_ == 0 || !read(at, f.end))
            return true;
        steps_left_--;
        note_stack(has_called);
        if (is_switch(table))
            continue;
        const bool is_call = cs_insn_group(capstone_, now_, CS_GRP_CALL),
                   is_jump = cs_insn_group(capstone_, now_, CS_GRP_JUMP);
        if (is_call || is_jump) {
            const Called c = called();
            const Question q = c.name ? question_of(c.name) : Question::none;
            if (q != Question::none && (is_jump || q == Question::more))
                asks = true;
            else if (q != Question::none)
                questions.push_back({at, q});
            else if (c.name && is_openmp(c.name))
                it.names.push_back(c.name);
            else if (c.name) {
                const uintptr_t there = uintptr_t(dlsym(RTLD_DEFAULT, c.name));
                if (there && imports(there).any(is_openmp))
                    it.calls.push_back(there);
            } else if (!c.to)
                it.by_table = true;
            else if (!(c.to - f.begin < f.end - f.begin))
                it.calls.push_back(c.to);
            continue;
        }
        const Imports& mine = imports(at);
        for (uint8_t i = 0; i < detail().op_count; i++) {
            const cs_x86_op& op = operand(i);
            if (op.type == X86_OP_MEM && op.mem.base == X86_REG_RIP) {
                const uintptr_t there = at + now_->size + uintptr_t(op.mem.disp);
                const char* const name = mine.word(there);
                asks |= name && is_question(name); // its address
                if (now_->id == X86_INS_LEA)
                    note_address(there, f, it);
            } else if (op.type == X86_OP_IMM)
                note_address(uintptr_t(op.imm), f, it);
        }
    }
    std::set<uintptr_t> known;
    for (const auto& [at, what] : questions) {
        if (asks)
            return true;
        if (known.count(at))
            continue;
        std::set<uintptr_t> here = {at};
        deals_ = false;
        asks = flows_out(at, what == Question::number ? number : threads, f, is_region, here);
        known.insert(here.begin(), here.end());
        if (asks)
            return true;
        for (uintptr_t call : here)
            if (read(call, f.end))
                dealing.push_back({call + now_->size, deals_});
    }
    return asks;
}

// Whether anything in the process does, the OpenMP library and libws apart, whose code has none of these calls.
bool Reader::somebody_asks()
{
    if (program_asks_ >= 0)
        return program_asks_;
    std::vector<uintptr_t> texts;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            bool asks = false;
            directive::each_reference(*info, [&](const char* name, uintptr_t) { asks |= is_question(name); });
            for (unsigned i = 0; asks && i < info->dlpi_phnum; i++)
                if (const ElfW(Phdr)& part = info->dlpi_phdr[i]; part.p_type == PT_LOAD && (part.p_flags & PF_X))
                    static_cast<std::vector<uintptr_t>*>(data)->push_back(info->dlpi_addr + part.p_vaddr);
            return 0;
        },
        &texts);
    program_asks_ = 0;
    for (uintptr_t text : texts) {
        const Imports mine(text, is_question);
        std::set<uintptr_t> functions, called; // no region's function is called by its address
        for (uintptr_t at = mine.text_begin() + 2; at + 6 <= mine.text_end() && !program_asks_; at++) {
            int32_t distance;
            std::memcpy(&distance, reinterpret_cast<const void*>(at), sizeof distance);
            const uintptr_t there = at + 4 + uintptr_t(intptr_t(distance));
            const char* const word = mine.word(there);
            const auto* before = reinterpret_cast<const unsigned char*>(at) - 2;
            if (before[1] == 0xe8)
                called.insert(there);
            if (word && before[0] == 0xff && before[1] == 0x25)
                continue; // the procedure linkage table itself
            if (!word && !(mine.contains(there) && mine.entry(there)))
                continue;
            const Function f = function_at(reinterpret_cast<const void*>(at));
            if (!f.begin)
                program_asks_ = 1;
            else
                functions.insert(f.begin);
        }
        for (uintptr_t begin : functions) {
            const Function f = function_at(reinterpret_cast<const void*>(begin));
            program_asks_ |= seen(f, !called.count(begin)).asks;
        }
    }
    return program_asks_;
}

// The first call is one by which a loop is dealt, and what comes before goes straight on.
bool Reader::deals_first(uintptr_t function)
{
    const Function f = function_at(reinterpret_cast<const void*>(function));
    for (uintptr_t at = function; at < f.end && read(at, f.end); at += now_->size) {
        if (cs_insn_group(capstone_, now_, CS_GRP_CALL)) {
            const char* const name = called().name;
            const auto begins = [&](const char* with) { return name && !std::strncmp(name, with, std::strlen(with)); };
            const uintptr_t after = at + now_->size;
            return begins("GOMP_loop_") || begins("GOMP_sections_") || begins("__kmpc_for_static_init") ||
                   begins("__kmpc_dispatch_init") ||
                   std::any_of(dealing.begin(), dealing.end(),
                               [&](const auto& d) { return d.first == after && d.second; });
        }
        if (cs_insn_group(capstone_, now_, CS_GRP_JUMP) &&
            (operand(0).type != X86_OP_IMM || uintptr_t(operand(0).imm) <= at))
            return false;
        if (detail().prefix[0] == X86_PREFIX_REP || detail().prefix[0] == X86_PREFIX_REPNE)
            return false;
    }
    return false;
}

// The region of this function, and all that it may call. tell_name: of OpenMP's functions among that.
RegionCode Reader::look_at(uintptr_t function, void (*tell_name)(void* to, const char* name), void* to)
{
    if (!is_open_ || !now_)
        return {true, false, false};
    const bool might_ask = somebody_asks();
    bool asks = false, all = true;
    std::vector<uintptr_t> next = {function};
    std::set<uintptr_t> reached;
    while (!next.empty() && !asks) {
        const uintptr_t address = next.back();
        next.pop_back();
        const Function f = function_at(reinterpret_cast<const void*>(address));
        if (!f.begin || steps_left_ == 0)
            all = false;
        if (!f.begin || !reached.insert(f.begin).second)
            continue;
        const Seen& it = seen(f, address == function);
        asks = it.asks;
        all &= !it.by_table;
        for (const char* name : it.names)
            tell_name(to, name);
        next.insert(next.end(), it.calls.begin(), it.calls.end());
    }
    return {might_ask && (asks || !all), all && !asks, deals_first(function)};
}

} // namespace

} // namespace ws::openmp

// Looks at the region with this function. tell_question(to, at, deals) for each question that is none: where it returns
// to, and whether a loop is dealt with the answer. Any thread.
WS_EXPORT void ws_look_at_region(const void* function, ws::openmp::RegionCode* code,
                                 void (*tell_question)(void* to, const void* at, bool deals),
                                 void (*tell_name)(void* to, const char* name), void* to)
{
    static std::mutex lock;
    static ws::openmp::Reader* const reader = new ws::openmp::Reader;
    const std::lock_guard<std::mutex> hold(lock);
    *code = reader->look_at(uintptr_t(function), tell_name, to);
    for (const auto& [at, deals] : reader->dealing)
        tell_question(to, reinterpret_cast<const void*>(at), deals);
}

#endif
