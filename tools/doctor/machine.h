// SPDX-License-Identifier: MIT
//
// What one process sees of its machine: all that ws-doctor judges, as plain data that ranks send each other as JSON.
// Read from /proc, /sys and the system's calls, or from a folder that holds such files (tests).
#pragma once

#include "base/cpu_list.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace doctor {

constexpr double unknown = -1;     // a number that could not be read; a limit that does not exist is no_limit
constexpr double no_limit = -2;

struct Machine {
    std::string host, kernel, pid_namespace, clocksource, folder; // folder: of the other programs of Workshare
    std::string cgroup_quota, cgroup_pids, cgroup_memory;         // the files that the limits come from
    bool under_mpirun = false, x86 = true, constant_tsc = false, nonstop_tsc = false, may_exceed_nproc = false;
    int rank = 0, size = 1;
    std::vector<int> cpus;             // that the process may use
    std::vector<int> online, cpuset;   // of the machine; of the cgroup (empty: not known)
    double quota = no_limit;           // CPUs
    double pids_max = no_limit, pids_now = unknown;
    double memory_max = no_limit, memory_now = unknown, memory_total = unknown, memory_available = unknown;
    // limits of the process
    double nproc = no_limit, user_threads = unknown, stack = no_limit, address_space = no_limit, open_files = no_limit;
    double shm_bytes = unknown, shm_free = unknown;
    int packages = 0, numa_nodes = 0, cores = 0, threads = 0, caches = 0; // hwloc's; caches: of the last level
    std::string hwloc_error;
    std::map<std::string, int> core_of;      // CPU -> core
    std::map<std::string, int> governors;    // frequency governor -> CPUs
    double skew_us = unknown;                // largest difference of two cores' counters
    double busy = unknown, stolen = unknown; // CPUs' worth of computing by others, and taken by the hypervisor
    int numa_balancing = 0;
    int paranoid = int(unknown); // kernel.perf_event_paranoid
    int counters = int(unknown); // of PAPI's: what its module's WS_PAPI_OPEN_NAME says (policy/rows/counters.h)
    std::string counters_error;  // why not more
    std::map<std::string, std::string> environment; // what begins with WS_, OMP_ and the like
    std::string options_error;                      // as libws would say
    std::vector<std::string> options_unknown;
    int workers = 0;                                // WS_WORKERS; -1: auto
    // Under mpirun:
    std::string mpi_error; // it did not start
    bool libws_loaded = false;
    int inactive = 0;   // ws::mpi::Inactive
    int local_ranks = 0; // on the node, as mpirun says
    int node_ranks = 0;  // ranks that share memory with this one
    std::string launcher; // if it is none of MPICH's; size is 1 where it does not say how many it started
};
void to_json(nlohmann::json& j, const Machine& machine);
void from_json(const nlohmann::json& j, Machine& machine);

// The files below `root` in place of those of the system; empty: the system itself. What is no file there comes from
// ROOT/facts.json, members of Machine by name.
Machine look_at_machine(const std::string& root);

std::vector<int> read_cpu_list(const std::string& text); // "0-3,8"
using ws::base::cpu_list;

} // namespace doctor
