// SPDX-License-Identifier: MIT
//
// A binary's sites lie in a section, which is found by the section headers in its file: those are not loaded.
#include "check/sites.h"

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string>
#include <unistd.h>

namespace ws::check {

namespace {

template <class T> bool read_at(int fd, T* to, size_t count, uint64_t offset)
{
    return pread(fd, to, count * sizeof(T), off_t(offset)) == ssize_t(count * sizeof(T));
}

bool is_loaded(const dl_phdr_info& object, uint64_t address, uint64_t bytes)
{
    for (int i = 0; i < object.dlpi_phnum; i++) {
        const auto& segment = object.dlpi_phdr[i];
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && bytes <= segment.p_memsz &&
            address - segment.p_vaddr <= segment.p_memsz - bytes)
            return true;
    }
    return false;
}

void find_in(const dl_phdr_info& object, int fd, std::vector<const ws_site*>& sites)
{
    ElfW(Ehdr) head;
    if (!read_at(fd, &head, 1, 0) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_shentsize != sizeof(ElfW(Shdr)) || head.e_shstrndx >= head.e_shnum)
        return;
    std::vector<ElfW(Shdr)> sections(head.e_shnum);
    if (!read_at(fd, sections.data(), sections.size(), head.e_shoff))
        return;
    for (const auto& section : sections) {
        char name[sizeof WS_SITE_SECTION];
        if (section.sh_type != SHT_PROGBITS ||
            !read_at(fd, name, sizeof name, sections[head.e_shstrndx].sh_offset + section.sh_name) ||
            std::memcmp(name, WS_SITE_SECTION, sizeof name) != 0 ||
            !is_loaded(object, section.sh_addr, section.sh_size))
            continue;
        const auto* first = reinterpret_cast<const ws_site*>(object.dlpi_addr + section.sh_addr);
        for (size_t i = 0; i < section.sh_size / sizeof(ws_site); i++)
            if (first[i].where)
                sites.push_back(first + i);
    }
}

int find_in_object(dl_phdr_info* object, size_t, void* sites)
{
    const int fd =
        open(*object->dlpi_name ? object->dlpi_name : "/proc/self/exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0; // the kernel's, or deleted since
    find_in(*object, fd, *static_cast<std::vector<const ws_site*>*>(sites));
    close(fd);
    return 0;
}

} // namespace

std::vector<const ws_site*> sites_of_process()
{
    std::vector<const ws_site*> sites;
    dl_iterate_phdr(find_in_object, &sites);
    return sites;
}

} // namespace ws::check
