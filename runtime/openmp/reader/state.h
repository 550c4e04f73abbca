// SPDX-License-Identifier: MIT
//
// What is known, at an instruction, of registers and of places on the stack.
#pragma once

#include <algorithm>
#include <capstone.h>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ws::openmp {

// What a register holds. `maybe`: a number on some ways that lead there.
enum Kind : uint8_t { other, number, threads, quotient, rest, maybe };
inline bool is_told(Kind k) { return k == number || k == threads || k == maybe; }
inline Kind joined(Kind a, Kind b) { return a == b ? a : is_told(a) || is_told(b) ? maybe : other; }

constexpr unsigned registers = 16;
// -1: none that an address or an integer is kept in.
inline int index_of(unsigned reg)
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

} // namespace ws::openmp
