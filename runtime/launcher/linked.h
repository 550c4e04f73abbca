// SPDX-License-Identifier: MIT
//
// Which MPI a program is linked with, as far as its file and its libraries show it, and what is installed for that MPI.
#pragma once

#include <string>

namespace ws::launcher {

struct Linked {
    std::string soname, mpi;     // the MPI library as the program names it, and its file; empty: none is seen
    std::string second;          // one of another family besides; empty: there is none
    bool has_asan = false;       // it needs AddressSanitizer's library
    bool is_static = false;      // there is no dynamic loader
    bool has_static_mpi = false; // MPI is a part of the program
    bool changes_user = false;   // set-user-ID or file capabilities: the loader loads nothing first
};

// The file of a program, as execvp() finds it; empty: there is none.
std::string find_program(const std::string& name);
// For a script, the interpreter counts. Has the loader of the program list its libraries: 2 ms.
Linked linked_with(const std::string& program);

// The family of an MPI library, by its soname (base/mpi_family.h); empty: another one.
std::string family_of(const std::string& soname);
// That whose mpicc is the first in PATH; empty: none that is known.
std::string family_of_mpicc();

// The major version of the gcc that is the first in PATH; empty: there is none.
std::string gcc_version();

// Returns an installation's libws for a family; empty: there is none.
std::string libws_of(const std::string& prefix, const std::string& family);
// The MPI library that the libws was made for, for programs that load theirs later.
std::string library_of(const std::string& prefix, const std::string& family);
// All families, for messages.
std::string known_families(const std::string& prefix);
// Whether an MPI library is Workshare's own.
bool is_workshares(const std::string& mpi);

enum class Launcher { none, open_mpi, hydra, slurm };
Launcher launcher_of(const std::string& program);

} // namespace ws::launcher
