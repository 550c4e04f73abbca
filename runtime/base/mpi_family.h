// SPDX-License-Identifier: MIT
//
// Which MPI a library, or the launcher of a process, belongs to. A family has an ABI in common: "openmpi", "mpich", and
// "abi", that of the standard, which libraries of several MPIs have.
#pragma once

#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace ws::base {

// Returns the family of an MPI library, by its soname; null: another one.
inline const char* family_of(const char* soname)
{
    const auto begins = [soname](const char* text) { return std::strncmp(soname, text, std::strlen(text)) == 0; };
    const size_t length = std::strlen(soname);
    if (begins("libmpi.so.40"))
        return "openmpi";
    if (begins("libmpi_abi.so"))
        return "abi";
    // MPICH, Intel MPI, MVAPICH; Debian's name; Cray's, one per compiler
    if (begins("libmpi.so.12") || begins("libmpich.so.12") ||
        ((begins("libmpi_") || begins("libmpich_")) && length > 6 && std::strcmp(soname + length - 6, ".so.12") == 0))
        return begins("libmpi_cxx") || begins("libmpich_cxx") ? nullptr : "mpich";
    return nullptr;
}

// Returns the family of the launcher that started this process, by its environment; null: unknown. Slurm's variables
// are those of MPICH's launcher, whichever MPI a program has.
inline const char* family_of_launcher()
{
    if (std::getenv("OMPI_COMM_WORLD_RANK"))
        return "openmpi";
    return (std::getenv("PMI_RANK") || std::getenv("PMI_FD")) && !std::getenv("SLURM_PROCID") ? "mpich" : nullptr;
}

// Returns the number of this process in its job, as its launcher tells it; null: no launcher has started it.
inline const char* rank_by_launcher()
{
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* const rank = std::getenv(variable))
            return rank;
    return nullptr;
}

// The first rank speaks for all.
inline bool is_first_rank()
{
    const char* const rank = rank_by_launcher();
    return !rank || std::strcmp(rank, "0") == 0;
}

} // namespace ws::base
