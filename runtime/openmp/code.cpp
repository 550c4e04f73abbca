// SPDX-License-Identifier: MIT
//
// GCC and clang take the address of errno for constant in a function: one that goes on on another thread may then look
// at another thread's. It comes from a call of __errno_location(): in a function's code that is a distance of 32 bits
// to the function's entry in the procedure linkage table, or to the word that holds its address.
#include "openmp/code.h"

#include "directive/references.h"

#include <cstdint>
#include <cstring>
#include <link.h>
#include <vector>

// Of the unwinder, which keeps the tables of all loaded code.
extern "C" const void* _Unwind_Find_FDE(const void* address, void* bases);

namespace ws::openmp {

namespace {

bool is_errno(const char* name) { return std::strcmp(name, "__errno_location") == 0; }

int look_beside_barriers(dl_phdr_info* info, size_t, void* found)
{
    bool waits = false, has_errno = false;
    directive::each_reference(*info, [&](const char* name, uintptr_t) {
        for (const char* barrier : {"GOMP_barrier", "GOMP_loop_end", "GOMP_sections_end", "GOMP_single_copy",
                                    "__kmpc_barrier", "__kmpc_cancel_barrier", "__kmpc_reduce", "__kmpc_copyprivate"})
            waits |= std::strncmp(name, barrier, std::strlen(barrier)) == 0 && !std::strstr(name, "nowait");
        has_errno |= is_errno(name);
    });
    *static_cast<bool*>(found) |= waits && has_errno;
    return 0;
}

#if defined(__x86_64__)

struct Function {
    uintptr_t begin, end; // both 0: unknown
};
Function function_at(const void* address)
{
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
}

// The words of a module that hold the address of __errno_location().
struct Words {
    uintptr_t of; // the address that the module contains
    uintptr_t text_begin, text_end;
    std::vector<uintptr_t> words;
};
int find_words(dl_phdr_info* info, size_t, void* data)
{
    Words& w = *static_cast<Words*>(data);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_LOAD || !(part.p_flags & PF_X) || w.of - begin >= part.p_memsz)
            continue;
        w.text_begin = begin;
        w.text_end = begin + part.p_memsz;
        directive::each_reference(*info, [&](const char* name, uintptr_t word) {
            if (is_errno(name))
                w.words.push_back(word);
        });
        return 1;
    }
    return 0;
}

bool is_word(const Words& w, uintptr_t address)
{
    for (uintptr_t word : w.words)
        if (word == address)
            return true;
    return false;
}

// An entry of the procedure linkage table: perhaps endbr64, perhaps a bnd prefix, a jump by way of a word.
bool jumps_there(const Words& w, uintptr_t code)
{
    unsigned char bytes[16];
    if (code < w.text_begin || code + sizeof bytes > w.text_end)
        return false;
    std::memcpy(bytes, reinterpret_cast<const void*>(code), sizeof bytes);
    unsigned at = std::memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;
    at += bytes[at] == 0xf2;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return false;
    int32_t distance;
    std::memcpy(&distance, bytes + at + 2, sizeof distance);
    return is_word(w, code + at + 6 + uintptr_t(intptr_t(distance)));
}

#endif

} // namespace

bool has_errno_beside_barriers()
{
    bool found = false;
    dl_iterate_phdr(look_beside_barriers, &found);
    return found;
}

bool is_without_errno(const void* function, const void* address)
{
#if defined(__x86_64__)
    const Function f = function_at(address);
    if (!f.begin || f.begin != uintptr_t(function))
        return false;
    Words w = {f.begin, 0, 0, {}};
    if (!dl_iterate_phdr(find_words, &w))
        return false;
    // Wherever a distance might stand: more than there are, never fewer.
    for (uintptr_t at = f.begin; at + 4 <= f.end; at++) {
        int32_t distance;
        std::memcpy(&distance, reinterpret_cast<const void*>(at), sizeof distance);
        const uintptr_t to = at + 4 + uintptr_t(intptr_t(distance));
        if (is_word(w, to) || jumps_there(w, to))
            return false;
    }
    return true;
#else
    (void) function;
    (void) address;
    return false;
#endif
}

} // namespace ws::openmp
