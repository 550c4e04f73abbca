// SPDX-License-Identifier: MIT
//
// What the program or one of its libraries refers to in others: the symbols of its relocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>

namespace ws::directive {

// f(name, word) for each reference, and the word that the loader writes for it; a name may come several times. `info`:
// as dl_iterate_phdr() gives it.
template <class F> void each_reference(const dl_phdr_info& info, F f)
{
    const ElfW(Dyn)* dynamic = nullptr;
    for (unsigned i = 0; i < info.dlpi_phnum; i++)
        if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    const auto address = [&](ElfW(Addr) value) { return value < info.dlpi_addr ? value + info.dlpi_addr : value; };
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    struct {
        const ElfW(Rela)* at;
        size_t bytes;
    } tables[2] = {};
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++)
        switch (dynamic->d_tag) {
        case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address(dynamic->d_un.d_ptr)); break;
        case DT_STRTAB: names = reinterpret_cast<const char*>(address(dynamic->d_un.d_ptr)); break;
        case DT_RELA: tables[0].at = reinterpret_cast<const ElfW(Rela)*>(address(dynamic->d_un.d_ptr)); break;
        case DT_RELASZ: tables[0].bytes = dynamic->d_un.d_val; break;
        case DT_JMPREL: tables[1].at = reinterpret_cast<const ElfW(Rela)*>(address(dynamic->d_un.d_ptr)); break;
        case DT_PLTRELSZ: tables[1].bytes = dynamic->d_un.d_val; break;
        default: break;
        }
    if (!symbols || !names)
        return;
    for (const auto& table : tables)
        for (size_t i = 0; table.at && i < table.bytes / sizeof *table.at; i++) {
            const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(table.at[i].r_info)];
            if (symbol.st_shndx == SHN_UNDEF)
                f(names + symbol.st_name, uintptr_t(info.dlpi_addr + table.at[i].r_offset));
        }
}

} // namespace ws::directive
