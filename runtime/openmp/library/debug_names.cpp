// SPDX-License-Identifier: MIT
//
// The module that reads debug information, by elfutils' libdw: loaded by a rank that names its parallel regions, so
// that nobody else pays for it.
#include "base/os.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <mutex>
#include <string>
#include <unistd.h>

namespace {

// What the program and its libraries hold themselves: nothing is looked for elsewhere, or over a network.
int find_no_file(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**)
{
    return -1;
}
const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, find_no_file, nullptr, nullptr};

std::mutex lock;
Dwfl* process;

Dwfl_Module* module_of(Dwarf_Addr address)
{
    if (!process && !(process = dwfl_begin(&callbacks)))
        return nullptr;
    Dwfl_Module* const module = dwfl_addrmodule(process, address);
    if (module)
        return module;
    dwfl_report_begin(process); // it was not loaded yet, or nothing was looked for
    const bool seen = dwfl_linux_proc_report(process, getpid()) == 0;
    return dwfl_report_end(process, nullptr, nullptr) == 0 && seen ? dwfl_addrmodule(process, address) : nullptr;
}

// Its compilation unit. clang's code has no table of them by address.
Dwarf_Die* unit_of(Dwfl_Module* module, Dwarf_Addr address, Dwarf_Addr& bias)
{
    if (Dwarf_Die* const found = dwfl_module_addrdie(module, address, &bias))
        return found;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias));)
        if (dwarf_haspc(unit, address - bias) == 1)
            return unit;
    return nullptr;
}

// A symbol as its programmer knows it: C++ names with their scopes and without their parameters. `which`: with what the
// compiler has added, to tell the regions of a function apart.
std::string readable(const char* symbol, bool which)
{
    const bool mangled = symbol[0] == '_' && symbol[1] == 'Z'; // else the demangler takes "f" for the type float
    const char* const made = mangled ? std::strchr(symbol, '.') : std::strstr(symbol, "._omp_fn.");
    std::string name = made ? std::string(symbol, made) : symbol;
    char* const text = mangled ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr) : nullptr;
    if (text) {
        name = text;
        // Parameters are in the last pair of brackets on the outermost level; "const" may follow.
        int depth = 0;
        for (size_t at = name.rfind(')'); at != std::string::npos && at < name.size(); at--) {
            depth += name[at] == ')' ? 1 : name[at] == '(' ? -1 : 0;
            if (depth == 0) {
                if (at > 0)
                    name.resize(at);
                break;
            }
        }
    }
    std::free(text);
    return which && made ? name + made : name;
}

bool name_line(Dwfl_Module* module, Dwarf_Addr address, char* text, size_t room)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = unit_of(module, address, bias);
    Dwarf_Line* const line = unit ? dwarf_getsrc_die(unit, address - bias) : nullptr;
    const char* const file = line ? dwarf_linesrc(line, nullptr, nullptr) : nullptr;
    int number = 0;
    if (!file || dwarf_lineno(line, &number) != 0 || number == 0)
        return false;
    const char* const slash = std::strrchr(file, '/');
    const int length = std::snprintf(text, room, "%s:%d", slash ? slash + 1 : file, number);
    if (length < 0 || size_t(length) >= room)
        return true;
    // As for ws loops, the function in which it stands: GCC's symbols have it.
    const char* const symbol = dwfl_module_addrname(module, address);
    if (symbol && std::strstr(symbol, "._omp_fn."))
        std::snprintf(text + length, room - size_t(length), ":%s", readable(symbol, false).c_str());
    return true;
}

bool name_symbol(Dwfl_Module* module, Dwarf_Addr address, char* text, size_t room)
{
    GElf_Off offset = 0;
    GElf_Sym symbol;
    const char* const name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
    if (!name || offset >= symbol.st_size || std::strncmp(name, ".omp_outlined.", 14) == 0) // clang's tell nothing
        return false;
    std::snprintf(text, room, offset ? "%s+0x%llx" : "%s", readable(name, true).c_str(),
                  static_cast<unsigned long long>(offset));
    return true;
}

} // namespace

// Writes file:line of an instruction into `text`, or its function's symbol if that is unknown; returns 0 if neither is
// known. Any thread.
WS_EXPORT int ws_name_code(const void* code, char* text, size_t room)
{
    const std::lock_guard<std::mutex> alone(lock);
    const auto address = Dwarf_Addr(uintptr_t(code));
    Dwfl_Module* const module = module_of(address);
    return module && (name_line(module, address, text, room) || name_symbol(module, address, text, room));
}
