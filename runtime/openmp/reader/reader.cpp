// SPDX-License-Identifier: MIT
//
// Who asks. A module of its own: loaded by a rank that shares parallel regions, so that nobody else pays for it.
#include "openmp/reader/reader.h"

#include "openmp/reader/names.h"
#include "window/os.h"

#include <dlfcn.h>
#include <mutex>

#if defined(__x86_64__)

namespace ws::openmp {

namespace {

bool is_any(const char*) { return true; }

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

} // namespace

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
    frame_of_ = f;
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
        const Kind told = what == Question::number ? number : threads;
        asks = flows_out(at, told, f, is_region, here);
        if (asks) {
            here = {at};
            asks = !deals_in_rounds(at, told, f, is_region, here);
        }
        known.insert(here.begin(), here.end());
        if (asks)
            return true;
        it.deals |= deals_;
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
        return {true, false, false, true};
    const bool might_ask = somebody_asks();
    bool asks = false, all = true, by_number = false;
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
        by_number |= it.deals;
        all &= !it.by_table;
        for (const char* name : it.names)
            tell_name(to, name);
        next.insert(next.end(), it.calls.begin(), it.calls.end());
    }
    return {might_ask && (asks || !all), all && !asks, deals_first(function), by_number};
}

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
