// SPDX-License-Identifier: MIT
//
// An ELF file of this machine's kind, mapped; nothing in it is trusted.
#pragma once

#include <cstring>
#include <elf.h>
#include <map>
#include <string>
#include <vector>

namespace doctor {

class ElfFile {
public:
    explicit ElfFile(const std::string& path);
    ~ElfFile();
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    // What it is, if it cannot be looked at: "a script ...", "for another machine ...".
    const std::string& error() const { return error_; }
    const std::string& script() const { return script_; } // the first line of one

    std::string interpreter() const;
    bool is_dynamic() const { return segment(PT_DYNAMIC) != nullptr; }

    // Symbols of the dynamic table, or of the full one.
    struct Symbol {
        std::string name;
        bool defined;
    };
    std::vector<Symbol> symbols(bool dynamic) const;
    std::vector<std::string> defined_versions() const; // "WS_1"

    bool has_fixed_path() const; // DT_RPATH, which goes before LD_LIBRARY_PATH
    bool has_section(const char* name) const { return section(name) != nullptr; }
    // The words of a section, and where one that is a pointer points to: its text. Null where nothing points anywhere.
    size_t section_bytes(const char* name) const;
    uint64_t word(const char* section, size_t offset) const;
    std::string text_at(const char* section, size_t offset) const;
    bool holds(const std::string& bytes) const;

private:
    template <class T> const T* at(uint64_t offset, uint64_t count = 1) const
    {
        return offset <= bytes_ && count <= (bytes_ - offset) / sizeof(T) && offset % alignof(T) == 0
                   ? reinterpret_cast<const T*>(data_ + offset)
                   : nullptr;
    }
    const Elf64_Phdr* segment(uint32_t type) const;
    const Elf64_Shdr* section(const char* name) const;
    const Elf64_Shdr* section_of_type(uint32_t type) const;
    std::string text(uint64_t offset, size_t longest = 4096) const;
    uint64_t offset_of(uint64_t address) const;

    const char* data_ = nullptr;
    uint64_t bytes_ = 0;
    std::string error_, script_;
    const Elf64_Ehdr* head_ = nullptr;
    const Elf64_Shdr* sections_ = nullptr;
    std::map<uint64_t, uint64_t> relative_; // address -> what the loader puts there
};

} // namespace doctor
