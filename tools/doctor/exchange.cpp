// SPDX-License-Identifier: MIT
//
// What ranks send each other of their machines and programs. In a file of its own, as compiling it takes long.
#include "machine.h"
#include "program.h"

namespace doctor {

// The macros make inline functions, which would not be there for other files.
[[gnu::used]] void to_json(nlohmann::json& j, const Machine& machine);
[[gnu::used]] void from_json(const nlohmann::json& j, Machine& machine);
[[gnu::used]] void to_json(nlohmann::json& j, const Program& program);
[[gnu::used]] void from_json(const nlohmann::json& j, Program& program);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Machine, host, kernel, pid_namespace, clocksource, folder, cgroup_quota, cgroup_pids, cgroup_memory, under_mpirun,
    x86, constant_tsc, nonstop_tsc, may_exceed_nproc, rank, size, cpus, online, cpuset, quota, pids_max, pids_now,
    memory_max, memory_now, memory_total, memory_available, nproc, user_threads, stack, address_space, open_files,
    shm_bytes, shm_free, packages, numa_nodes, cores, threads, caches, hwloc_error, core_of, governors, skew_us, busy,
    stolen, numa_balancing, paranoid, counters, counters_error, environment, options_error, options_unknown, workers,
    mpi_error, libws_loaded, inactive, local_ranks, node_ranks, launcher)

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Library, name, path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Loop, name, file)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Program, given, path, error, error_fix, libraries, loader_asked, mpi,
                                                mpi_path, libws_path, mpi_libws_path, libws_abi, loops, abis, calls_api,
                                                calls_unseen, critical, polls, fixed_path, loader_says, init,
                                                init_thread, threads, openmp, openmp_first)

} // namespace doctor
