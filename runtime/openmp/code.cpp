// SPDX-License-Identifier: MIT
//
// GCC and clang take the address of errno for constant in a function: one that goes on on another thread may then look
// at another thread's. It comes from a call of __errno_location(): in a function's code that is a distance of 32 bits
// to the function's entry in the procedure linkage table, or to the word that holds its address.
//
// Which regions ask for thread numbers takes reading instructions: a module does that (reader/).
#include "openmp/code.h"

#include "openmp/binary.h"
#include "openmp/module.h"
#include "window/atomics.h"

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

} // namespace

bool has_errno_beside_barriers()
{
    bool found = false;
    dl_iterate_phdr(look_beside_barriers, &found);
    return found;
}

bool is_without_errno(const void* function, const void* address)
{
    const Function f = function_at(address);
    if (!f.begin || f.begin != uintptr_t(function))
        return false;
    const Imports imports(f.begin, is_errno);
    if (!imports.text_begin())
        return false;
    // Wherever a distance might stand: more than there are, never fewer.
    for (uintptr_t at = f.begin; at + 4 <= f.end; at++) {
        int32_t distance;
        std::memcpy(&distance, reinterpret_cast<const void*>(at), sizeof distance);
        const uintptr_t to = at + 4 + uintptr_t(intptr_t(distance));
        if (imports.word(to) || imports.entry(to))
            return false;
    }
    return true;
}

const void* code_of(const void* function)
{
#if defined(__x86_64__)
    for (unsigned jumps = 0; jumps < 4; jumps++) {
        const auto* code = static_cast<const unsigned char*>(function);
        if (*code != 0xe9)
            break;
        int32_t distance;
        std::memcpy(&distance, code + 1, sizeof distance);
        function = code + 5 + distance;
    }
#endif
    return function;
}

namespace {

// Open addressing; the last bit says that a loop is dealt. Entries are never taken out.
constexpr unsigned harmless_bits = 13;
volatile window::Hardware::Word harmless[1u << harmless_bits];
constexpr uintptr_t deals_bit = uintptr_t(1) << 63;

volatile window::Hardware::Word* place_of_question(const void* caller)
{
    unsigned at = unsigned(uintptr_t(caller) * 0x9E3779B97F4A7C15ull >> (64 - harmless_bits));
    for (unsigned i = 0; i < 64; i++, at = (at + 1) % (1u << harmless_bits)) {
        const uintptr_t there = window::Hardware::load_acquire(harmless[at]);
        if (there == 0 || (there & ~deals_bit) == uintptr_t(caller))
            return &harmless[at];
    }
    return nullptr;
}

} // namespace

bool look_at_region(const void* function, RegionCode& code, void (*tell)(void* to, const char* name), void* to)
{
    using Look =
        void(const void*, RegionCode*, void (*)(void*, const void*, bool), void (*)(void*, const char*), void*);
    static auto* const look = reinterpret_cast<Look*>(function_of_module("code.so", "ws_look_at_region"));
    if (!look)
        return false;
    struct {
        void (*tell)(void*, const char*);
        void* to;
        bool full;
    } told = {tell, to, false};
    using Told = decltype(told);
    // one thread at a time
    look(
        function, &code,
        [](void* data, const void* at, bool deals) {
            if (volatile window::Hardware::Word* const place = place_of_question(at))
                window::Hardware::store_release(*place, uintptr_t(at) | (deals ? deals_bit : 0));
            else
                static_cast<Told*>(data)->full = true;
        },
        [](void* data, const char* name) { static_cast<Told*>(data)->tell(static_cast<Told*>(data)->to, name); },
        &told);
    code.asks |= told.full;
    return true;
}

HarmlessQuestion harmless_question(const void* caller)
{
    const volatile window::Hardware::Word* const place = place_of_question(caller);
    const uintptr_t there = place ? window::Hardware::load_acquire(*place) : 0;
    return {there != 0, (there & deals_bit) != 0};
}

} // namespace ws::openmp
