// SPDX-License-Identifier: MIT
#include "elf_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
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

constexpr char damaged[] = "is damaged: its end is missing";

std::string machine_name(unsigned number)
{
    static const std::map<unsigned, const char*> names = {
        {EM_386, "32-bit x86"}, {EM_X86_64, "x86-64"}, {EM_AARCH64, "64-bit ARM"}, {EM_ARM, "32-bit ARM"},
        {EM_PPC64, "64-bit POWER"}, {EM_S390, "s390"}, {EM_RISCV, "RISC-V"}};
    const auto known = names.find(number);
    return known == names.end() ? "machine number " + std::to_string(number) : known->second;
}

std::string text_or_none(const char* text) { return text ? text : ""; }

} // namespace

ElfFile::ElfFile(const std::string& path)
{
    elf_version(EV_CURRENT);
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd_ < 0 || fstat(fd_, &status) < 0)
        error_ = std::string("cannot be read: ") + std::strerror(errno);
    else if (!S_ISREG(status.st_mode))
        error_ = S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file";
    else if (status.st_size == 0)
        error_ = "is empty";
    if (!error_.empty())
        return;
    elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
    size_t bytes = 0;
    const char* const first = elf_ ? elf_rawfile(elf_, &bytes) : nullptr;
    if (!first) { // libelf takes a file without a whole header for none
        char begin[SELFMAG] = {};
        error_ = pread(fd_, begin, sizeof begin, 0) == SELFMAG && std::memcmp(begin, ELFMAG, SELFMAG) == 0
                     ? damaged
                     : not_a_program;
        return;
    }
    bytes_ = {first, bytes};
    error_ = why_not();
    if (!error_.empty())
        return;
    each_section(SHT_RELA, [&](Elf_Data* table, size_t count, size_t) {
        GElf_Rela r;
        for (size_t i = 0; i < count && gelf_getrela(table, int(i), &r); i++)
            if (GELF_R_TYPE(r.r_info) == relative_kind)
                relative_[r.r_offset] = uint64_t(r.r_addend);
    });
}

ElfFile::~ElfFile()
{
    elf_end(elf_);
    if (fd_ >= 0)
        close(fd_);
}

std::string ElfFile::why_not() const
{
    if (bytes_.substr(0, 2) == "#!") {
        const_cast<ElfFile*>(this)->script_ = bytes_.substr(0, std::min<size_t>(200, bytes_.find('\n')));
        return "is a script";
    }
    if (bytes_.substr(0, SELFMAG) != ELFMAG || bytes_.size() < 20)
        return not_a_program;
    const auto byte = [&](size_t i) { return unsigned(static_cast<unsigned char>(bytes_[i])); };
    const unsigned number = byte(EI_DATA) == ELFDATA2MSB ? byte(18) << 8 | byte(19) : byte(19) << 8 | byte(18);
    if (byte(EI_CLASS) != ELFCLASS64 || byte(EI_DATA) != ELFDATA2LSB || number != machine)
        return "is for another machine: " + machine_name(number);
    GElf_Ehdr head;
    size_t parts = 0;
    if (!gelf_getehdr(elf_, &head) || elf_getphdrnum(elf_, &parts) < 0)
        return damaged;
    for (size_t i = 0; i < parts; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf_, int(i), &part) ||
            (part.p_type == PT_LOAD &&
             (part.p_offset > bytes_.size() || part.p_filesz > bytes_.size() - part.p_offset)))
            return damaged;
    }
    return head.e_type == ET_EXEC || head.e_type == ET_DYN ? ""
           : head.e_type == ET_REL                         ? "is an object file, not linked yet"
                                                           : not_a_program;
}

GElf_Phdr ElfFile::segment(uint32_t type) const
{
    size_t parts = 0;
    GElf_Phdr part;
    if (error_.empty() && elf_getphdrnum(elf_, &parts) == 0)
        for (size_t i = 0; i < parts; i++)
            if (gelf_getphdr(elf_, int(i), &part) && part.p_type == type)
                return part;
    return {};
}

Elf_Scn* ElfFile::section(const char* name) const
{
    size_t names = 0;
    if (!error_.empty() || elf_getshdrstrndx(elf_, &names) < 0)
        return nullptr;
    GElf_Shdr head;
    for (Elf_Scn* s = nullptr; (s = elf_nextscn(elf_, s));)
        if (gelf_getshdr(s, &head) && text_or_none(elf_strptr(elf_, names, head.sh_name)) == name)
            return s;
    return nullptr;
}

template <class F> void ElfFile::each_section(uint32_t type, F&& f) const
{
    GElf_Shdr head;
    for (Elf_Scn* s = nullptr; error_.empty() && (s = elf_nextscn(elf_, s));)
        if (gelf_getshdr(s, &head) && head.sh_type == type)
            if (Elf_Data* table = elf_getdata(s, nullptr))
                f(table, head.sh_entsize ? head.sh_size / head.sh_entsize : head.sh_info, head.sh_link);
}

std::string_view ElfFile::data(const char* name) const
{
    GElf_Shdr head;
    Elf_Scn* const s = section(name);
    const Elf_Data* raw = s && gelf_getshdr(s, &head) && head.sh_type != SHT_NOBITS ? elf_rawdata(s, nullptr) : nullptr;
    return raw && raw->d_buf ? std::string_view(static_cast<const char*>(raw->d_buf), raw->d_size) : std::string_view();
}

std::string ElfFile::text(uint64_t offset) const
{
    const std::string_view rest = offset < bytes_.size() ? bytes_.substr(offset, 4096) : std::string_view();
    return std::string(rest.substr(0, rest.find('\0')));
}

std::string ElfFile::text_at_address(uint64_t address) const
{
    size_t parts = 0;
    elf_getphdrnum(elf_, &parts);
    GElf_Phdr p;
    for (size_t i = 0; i < parts; i++)
        if (gelf_getphdr(elf_, int(i), &p) && p.p_type == PT_LOAD && address >= p.p_vaddr &&
            address - p.p_vaddr < p.p_filesz)
            return text(p.p_offset + (address - p.p_vaddr));
    return "";
}

std::string ElfFile::interpreter() const
{
    const GElf_Phdr found = segment(PT_INTERP);
    return found.p_type == PT_INTERP ? text(found.p_offset) : "";
}

bool ElfFile::has_fixed_path() const
{
    const GElf_Phdr found = segment(PT_DYNAMIC);
    Elf_Data* const table = found.p_type == PT_DYNAMIC
                                ? elf_getdata_rawchunk(elf_, int64_t(found.p_offset), found.p_filesz, ELF_T_DYN)
                                : nullptr;
    bool fixed = false;
    GElf_Dyn entry;
    for (int i = 0; table && gelf_getdyn(table, i, &entry) && entry.d_tag != DT_NULL; i++) {
        if (entry.d_tag == DT_RUNPATH)
            return false; // then DT_RPATH does not count
        fixed |= entry.d_tag == DT_RPATH;
    }
    return fixed;
}

std::vector<ElfFile::Symbol> ElfFile::symbols(bool dynamic) const
{
    std::vector<Symbol> all;
    each_section(dynamic ? SHT_DYNSYM : SHT_SYMTAB, [&](Elf_Data* table, size_t count, size_t names) {
        GElf_Sym symbol;
        for (size_t i = 0; i < count && gelf_getsym(table, int(i), &symbol); i++)
            if (symbol.st_name)
                all.push_back({text_or_none(elf_strptr(elf_, names, symbol.st_name)), symbol.st_shndx != SHN_UNDEF});
    });
    return all;
}

std::vector<std::string> ElfFile::defined_versions() const
{
    std::vector<std::string> all;
    each_section(SHT_GNU_verdef, [&](Elf_Data* table, size_t, size_t names) {
        GElf_Verdef version;
        GElf_Verdaux name;
        for (int at = 0; all.size() < 100 && gelf_getverdef(table, at, &version); at += int(version.vd_next)) {
            if (!gelf_getverdaux(table, at + int(version.vd_aux), &name))
                break;
            all.push_back(text_or_none(elf_strptr(elf_, names, name.vda_name)));
            if (!version.vd_next)
                break;
        }
    });
    return all;
}

uint64_t ElfFile::word(const char* name, size_t offset) const
{
    const std::string_view words = data(name);
    uint64_t word = 0;
    if (offset <= words.size() && words.size() - offset >= sizeof word)
        std::memcpy(&word, words.data() + offset, sizeof word);
    return word;
}

std::string ElfFile::text_at(const char* name, size_t offset) const
{
    GElf_Shdr head;
    Elf_Scn* const found = section(name);
    if (!found || !gelf_getshdr(found, &head))
        return "";
    const auto known = relative_.find(head.sh_addr + offset);
    return text_at_address(known == relative_.end() ? word(name, offset) : known->second);
}

} // namespace doctor
