// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace doctor {

namespace {

#if defined(__x86_64__)
constexpr unsigned machine = EM_X86_64, relative_kind = R_X86_64_RELATIVE;
#elif defined(__aarch64__)
constexpr unsigned machine = EM_AARCH64, relative_kind = R_AARCH64_RELATIVE;
#else
constexpr unsigned machine = EM_NONE, relative_kind = 0;
#endif

std::string machine_name(unsigned number)
{
    static const std::map<unsigned, const char*> names = {
        {EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"}, {EM_AARCH64, "64-bit ARM"}, {EM_ARM, "32-bit ARM"},
        {EM_PPC64, "64-bit POWER"}, {EM_S390, "s390"}, {EM_RISCV, "RISC-V"}};
    const auto known = names.find(number);
    return known == names.end() ? "machine number " + std::to_string(number) : known->second;
}

} // namespace

ElfFile::ElfFile(const std::string& path)
{
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        error_ = std::string("cannot be read: ") + std::strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        error_ = S_ISDIR(status.st_mode) ? "is a folder" : "is no file";
    } else if (status.st_size > 0) {
        void* mapped = mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapped == MAP_FAILED) {
            error_ = std::string("cannot be read: ") + std::strerror(errno);
        } else {
            data_ = static_cast<const char*>(mapped);
            bytes_ = uint64_t(status.st_size);
        }
    }
    if (fd >= 0)
        close(fd);
    if (!error_.empty())
        return;
    if (bytes_ >= 2 && std::memcmp(data_, "#!", 2) == 0) {
        script_.assign(data_, std::min<uint64_t>(bytes_, 200));
        script_ = script_.substr(0, script_.find('\n'));
        error_ = "is a script";
        return;
    }
    if (bytes_ < EI_NIDENT || std::memcmp(data_, ELFMAG, SELFMAG) != 0) {
        error_ = bytes_ ? "is no program" : "is empty";
        return;
    }
    const auto* ident = reinterpret_cast<const unsigned char*>(data_);
    unsigned number = 0;
    if (bytes_ >= 20) // e_machine, in the file's own order of bytes
        number = ident[EI_DATA] == ELFDATA2MSB ? ident[18] << 8 | ident[19] : ident[19] << 8 | ident[18];
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB || number != machine) {
        error_ = "is for another machine: " + machine_name(number);
        return;
    }
    head_ = at<Elf64_Ehdr>(0);
    if (!head_ || !at<Elf64_Phdr>(head_->e_phoff, head_->e_phnum)) {
        error_ = "is damaged: its end is missing";
        head_ = nullptr;
        return;
    }
    for (const auto *part = at<Elf64_Phdr>(head_->e_phoff, head_->e_phnum), *end = part + head_->e_phnum; part < end;
         part++)
        if (part->p_type == PT_LOAD && !at<char>(part->p_offset, part->p_filesz)) {
            error_ = "is damaged: its end is missing";
            head_ = nullptr;
            return;
        }
    if (head_->e_type != ET_EXEC && head_->e_type != ET_DYN) {
        error_ = head_->e_type == ET_REL ? "is an object file, not linked yet" : "is no program";
        return;
    }
    if (head_->e_shentsize == sizeof(Elf64_Shdr))
        sections_ = at<Elf64_Shdr>(head_->e_shoff, head_->e_shnum);
    if (!sections_)
        return;
    for (unsigned i = 0; i < head_->e_shnum; i++)
        if (sections_[i].sh_type == SHT_RELA) {
            const uint64_t count = sections_[i].sh_size / sizeof(Elf64_Rela);
            const auto* table = at<Elf64_Rela>(sections_[i].sh_offset, count);
            for (uint64_t r = 0; table && r < count; r++)
                if (ELF64_R_TYPE(table[r].r_info) == relative_kind)
                    relative_[table[r].r_offset] = uint64_t(table[r].r_addend);
        }
}

ElfFile::~ElfFile()
{
    if (data_)
        munmap(const_cast<char*>(data_), bytes_);
}

const Elf64_Phdr* ElfFile::segment(uint32_t type) const
{
    const auto* table = head_ ? at<Elf64_Phdr>(head_->e_phoff, head_->e_phnum) : nullptr;
    for (unsigned i = 0; table && i < head_->e_phnum; i++)
        if (table[i].p_type == type)
            return &table[i];
    return nullptr;
}

const Elf64_Shdr* ElfFile::section(const char* name) const
{
    if (!sections_ || head_->e_shstrndx >= head_->e_shnum)
        return nullptr;
    for (unsigned i = 0; i < head_->e_shnum; i++)
        if (text(sections_[head_->e_shstrndx].sh_offset + sections_[i].sh_name, 64) == name)
            return &sections_[i];
    return nullptr;
}

const Elf64_Shdr* ElfFile::section_of_type(uint32_t type) const
{
    for (unsigned i = 0; sections_ && i < head_->e_shnum; i++)
        if (sections_[i].sh_type == type)
            return &sections_[i];
    return nullptr;
}

std::string ElfFile::text(uint64_t offset, size_t longest) const
{
    if (offset >= bytes_)
        return "";
    return std::string(data_ + offset, strnlen(data_ + offset, std::min<uint64_t>(longest, bytes_ - offset)));
}

uint64_t ElfFile::offset_of(uint64_t address) const
{
    const auto* table = head_ ? at<Elf64_Phdr>(head_->e_phoff, head_->e_phnum) : nullptr;
    for (unsigned i = 0; table && i < head_->e_phnum; i++)
        if (table[i].p_type == PT_LOAD && address >= table[i].p_vaddr && address - table[i].p_vaddr < table[i].p_filesz)
            return table[i].p_offset + (address - table[i].p_vaddr);
    return bytes_;
}

std::string ElfFile::interpreter() const
{
    const Elf64_Phdr* segment = this->segment(PT_INTERP);
    return segment ? text(segment->p_offset) : "";
}

bool ElfFile::has_fixed_path() const
{
    const Elf64_Phdr* table = segment(PT_DYNAMIC);
    const uint64_t count = table ? table->p_filesz / sizeof(Elf64_Dyn) : 0;
    const auto* entries = table ? at<Elf64_Dyn>(table->p_offset, count) : nullptr;
    bool fixed = false;
    for (uint64_t i = 0; entries && i < count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_RUNPATH)
            return false; // then DT_RPATH does not count
        fixed |= entries[i].d_tag == DT_RPATH;
    }
    return fixed;
}

std::vector<ElfFile::Symbol> ElfFile::symbols(bool dynamic) const
{
    std::vector<Symbol> all;
    const Elf64_Shdr* table = section_of_type(dynamic ? SHT_DYNSYM : SHT_SYMTAB);
    if (!table || table->sh_link >= head_->e_shnum)
        return all;
    const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    const auto* symbols = at<Elf64_Sym>(table->sh_offset, count);
    for (uint64_t i = 0; symbols && i < count; i++)
        if (symbols[i].st_name)
            all.push_back({text(sections_[table->sh_link].sh_offset + symbols[i].st_name, 1024),
                           symbols[i].st_shndx != SHN_UNDEF});
    return all;
}

std::vector<std::string> ElfFile::defined_versions() const
{
    std::vector<std::string> names;
    const Elf64_Shdr* table = section_of_type(SHT_GNU_verdef);
    if (!table || table->sh_link >= head_->e_shnum)
        return names;
    uint64_t offset = table->sh_offset;
    for (unsigned i = 0; i < 100; i++) {
        const auto* version = at<Elf64_Verdef>(offset);
        const auto* name = version ? at<Elf64_Verdaux>(offset + version->vd_aux) : nullptr;
        if (!name)
            break;
        names.push_back(text(sections_[table->sh_link].sh_offset + name->vda_name, 256));
        if (!version->vd_next)
            break;
        offset += version->vd_next;
    }
    return names;
}

size_t ElfFile::section_bytes(const char* name) const
{
    const Elf64_Shdr* found = section(name);
    return found && at<char>(found->sh_offset, found->sh_size) && found->sh_type != SHT_NOBITS ? found->sh_size : 0;
}

uint64_t ElfFile::word(const char* name, size_t offset) const
{
    const Elf64_Shdr* found = section(name);
    const auto* place = found ? at<uint64_t>(found->sh_offset + offset) : nullptr;
    return place ? *place : 0;
}

std::string ElfFile::text_at(const char* name, size_t offset) const
{
    const Elf64_Shdr* found = section(name);
    if (!found)
        return "";
    const auto known = relative_.find(found->sh_addr + offset);
    return text(offset_of(known == relative_.end() ? word(name, offset) : known->second));
}

bool ElfFile::holds(const std::string& bytes) const
{
    return data_ && memmem(data_, bytes_, bytes.c_str(), bytes.size()) != nullptr;
}

} // namespace doctor
