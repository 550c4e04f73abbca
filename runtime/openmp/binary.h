// SPDX-License-Identifier: MIT
//
// What is loaded of the program and its libraries, as their own tables tell it: where a function begins and ends, and
// which of other modules' functions a word or an entry of the procedure linkage table stands for. x86-64 alone;
// elsewhere nothing is known.
#pragma once

#include "directive/references.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <utility>
#include <vector>

// Of the unwinder, which keeps the tables of all loaded code.
extern "C" const void* _Unwind_Find_FDE(const void* address, void* bases);

namespace ws::openmp {

struct Function {
    uintptr_t begin, end; // both 0: unknown
};
inline Function function_at(const void* address)
{
#if defined(__x86_64__)
    struct {
        void *text, *data, *function;
    } bases = {};
    const auto* entry = static_cast<const unsigned char*>(_Unwind_Find_FDE(address, &bases));
    if (!entry)
        return {};
    // Length, distance to what is common, then begin and length as distances of 32 bits: so all compilers write it.
    int32_t distance;
    uint32_t length;
    std::memcpy(&distance, entry + 8, sizeof distance);
    std::memcpy(&length, entry + 12, sizeof length);
    const uintptr_t begin = uintptr_t(entry) + 8 + uintptr_t(intptr_t(distance));
    if (begin != uintptr_t(bases.function))
        return {};
    return {begin, begin + length};
#else
    (void) address;
    return {};
#endif
}

// The words of a module by which it reaches functions of others.
class Imports {
public:
    // Those of the module that contains this address, whose name wanted(name) is true for.
    template <class Wanted> Imports(uintptr_t address, Wanted wanted) : of_(address)
    {
        auto look = [&](const dl_phdr_info& info) {
            for (unsigned i = 0; i < info.dlpi_phnum; i++) {
                const ElfW(Phdr)& part = info.dlpi_phdr[i];
                const uintptr_t begin = info.dlpi_addr + part.p_vaddr;
                if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || of_ - begin >= part.p_memsz)
                    continue;
                begin_ = begin;
                end_ = begin + part.p_memsz;
                directive::each_reference(info, [&](const char* name, uintptr_t word) {
                    if (wanted(name))
                        words_.push_back({word, name});
                });
                return 1;
            }
            return 0;
        };
        using Look = decltype(look);
        dl_iterate_phdr([](dl_phdr_info* info, size_t, void* f) { return (*static_cast<Look*>(f))(*info); }, &look);
        std::sort(words_.begin(), words_.end());
    }
    uintptr_t text_begin() const { return begin_; } // both 0: there is no such module
    uintptr_t text_end() const { return end_; }
    bool contains(uintptr_t code) const { return code - begin_ < end_ - begin_; }
    template <class Is> bool any(Is is) const
    {
        return std::any_of(words_.begin(), words_.end(), [&](const auto& w) { return is(w.second); });
    }

    // Whose address this word holds; null: nobody's that is wanted.
    const char* word(uintptr_t address) const
    {
        const auto found =
            std::lower_bound(words_.begin(), words_.end(), std::make_pair(address, static_cast<const char*>(nullptr)));
        return found != words_.end() && found->first == address ? found->second : nullptr;
    }
    // Where this entry of the procedure linkage table leads to: perhaps endbr64, perhaps a bnd prefix, a jump by way of
    // a word.
    const char* entry(uintptr_t code) const
    {
        unsigned char bytes[16];
        if (code < begin_ || code + sizeof bytes > end_)
            return nullptr;
        std::memcpy(bytes, reinterpret_cast<const void*>(code), sizeof bytes);
        unsigned at = std::memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
        at += bytes[at] == 0xf2;
        if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
            return nullptr;
        int32_t distance;
        std::memcpy(&distance, bytes + at + 2, sizeof distance);
        return word(code + at + 6 + uintptr_t(intptr_t(distance)));
    }

private:
    const uintptr_t of_;
    uintptr_t begin_ = 0, end_ = 0;
    std::vector<std::pair<uintptr_t, const char*>> words_;
};

} // namespace ws::openmp
