// SPDX-License-Identifier: MIT
//
// What a program is made of, read from its file and from those that the loader would take. It is never run.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace doctor {

struct Library {
    std::string name, path; // path: empty if it was not found
};

struct Loop {
    std::string name, file;
};

struct Program {
    std::string given, path;
    std::string error, error_fix;      // why it cannot be run, if it cannot
    std::vector<Library> libraries;    // in the order of the loader
    bool loader_asked = false;         // else `libraries` is not known
    // The MPI library: none, ours, mpich, openmpi, static (built in, without Workshare), static-ours, unknown
    // the libws that the loader takes; that libmpich takes
    std::string mpi = "none", mpi_path, libws_path, mpi_libws_path;
    int libws_abi = 0;                 // of the one that is taken; 0: not known
    std::vector<Loop> loops;
    std::set<int> abis;                // that the loops were compiled for
    bool calls_api = false;            // ws_for, ws::for_each and the like, whose loops have names only when they run
    bool calls_unseen = false;         // calls libws for loops that no section lists
    bool critical = false;             // has ws critical sections
    std::set<std::string> polls;       // calls of MPI that return without what they look for
    bool fixed_path = false;           // LD_LIBRARY_PATH would not give it another MPI
    std::string loader_says;           // why it does not load the libraries that it found
    bool init = false, init_thread = false; // MPI_Init, MPI_Init_thread
    bool threads = false;              // starts threads of its own, or OpenMP's
    bool openmp = false;
    bool openmp_first = false;         // libgomp goes before libws, so that libws does not see its regions
};
void to_json(nlohmann::json& j, const Program& program);
void from_json(const nlohmann::json& j, Program& program);

// `given` as mpirun takes it: a path, or a name to be looked for in PATH.
Program look_at_program(const std::string& given);

} // namespace doctor
