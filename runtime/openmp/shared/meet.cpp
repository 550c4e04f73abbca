// SPDX-License-Identifier: MIT
#include "openmp/shared/meet.h"

#include "openmp/tool/tool.h"

#include <cstring>

extern "C" const char __ehdr_start[] __attribute__((visibility("hidden"))); // the linker's
extern "C" const char _etext[] __attribute__((visibility("hidden")));

namespace ws::openmp {

namespace {

bool is_ours(uintptr_t code) { return code - uintptr_t(__ehdr_start) < uintptr_t(_etext) - uintptr_t(__ehdr_start); }

} // namespace

bool ends_region(const void* caller, uintptr_t frame)
{
    if (is_ours(uintptr_t(caller))) // it jumped to what it called
        return true;
#if defined(__x86_64__)
    // What follows may restore registers and the stack pointer, and return to libws.
    const auto* code = static_cast<const unsigned char*>(caller);
    const auto starts = [&](std::initializer_list<unsigned char> with) {
        return std::memcmp(code, with.begin(), with.size()) == 0;
    };
    for (unsigned instructions = 0; instructions < 16; instructions++) {
        if (*code == 0xc3) { // ret
            uintptr_t to;
            std::memcpy(&to, reinterpret_cast<const void*>(frame), sizeof to);
            return is_ours(to);
        }
        if (starts({0x48, 0x83, 0xc4})) { // add $8 bits, %rsp
            frame += uintptr_t(static_cast<signed char>(code[3]));
            code += 4;
        } else if (starts({0x48, 0x81, 0xc4})) { // add $32 bits, %rsp
            int32_t by;
            std::memcpy(&by, code + 3, sizeof by);
            frame += uintptr_t(by);
            code += 7;
        } else if (*code == 0x41 && code[1] >= 0x58 && code[1] <= 0x5f) { // pop %r8 to %r15
            frame += 8;
            code += 2;
        } else if (*code >= 0x58 && *code <= 0x5f && *code != 0x5c) { // pop, but of %rsp
            frame += 8;
            code += 1;
        } else if (*code == 0x90) // nop
            code += 1;
        else
            return false;
    }
#else
    (void) frame;
#endif
    return false;
}

bool waited_for(void* caller, uintptr_t frame, const void* location)
{
    Unit& unit = *current;
    if (WS_UNLIKELY(tool::watches)) { // it sees both barriers
        tool::wait(unit, location, caller);
        return true;
    }
    if (!ends_region(caller, frame))
        unit.team->barrier(unit, caller);
    return true;
}

} // namespace ws::openmp
