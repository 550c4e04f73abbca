// SPDX-License-Identifier: MIT
//
// An ELF file of this machine's kind, read by libelf, which trusts nothing in it.
#pragma once

#include <gelf.h>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace doctor {

inline constexpr char not_a_program[] = "is not a program"; // an error() that the caller may know better

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

    // Symbols of the dynamic table, or of the full one.
    struct Symbol {
        std::string name;
        bool defined;
    };
    std::vector<Symbol> symbols(bool dynamic) const;
    std::vector<std::string> defined_versions() const; // "WS_1"

    bool has_fixed_path() const; // DT_RPATH, which goes before LD_LIBRARY_PATH
    bool has_section(const char* name) const { return section(name); }
    // The words of a section, and the text that one that is a pointer points to. 0 and "" where there is none.
    size_t section_bytes(const char* name) const { return data(name).size(); }
    uint64_t word(const char* section, size_t offset) const;
    std::string text_at(const char* section, size_t offset) const;
    bool holds(const std::string& bytes) const { return bytes_.find(bytes) != bytes_.npos; }

private:
    std::string why_not() const;
    GElf_Phdr segment(uint32_t type) const; // PT_NULL: there is none
    Elf_Scn* section(const char* name) const;
    // Calls f(data, entries, string table) for each section of the type.
    template <class F> void each_section(uint32_t type, F&& f) const;
    std::string_view data(const char* section) const;
    std::string text(uint64_t offset) const;
    std::string text_at_address(uint64_t address) const;

    int fd_ = -1;
    Elf* elf_ = nullptr;
    std::string_view bytes_; // the whole file
    std::string error_, script_;
    std::map<uint64_t, uint64_t> relative_; // address -> what the loader puts there
};

} // namespace doctor
