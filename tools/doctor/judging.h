// SPDX-License-Identifier: MIT
//
// What the checks are made of: nodes, findings, and the words of both. The checks themselves, in the order of their
// numbers: machine_checks.cpp, program_checks.cpp, job_checks.cpp.
#pragma once

#include "checks.h"
#include "shell.h"
#include "observe/format.h"

#include <algorithm>
#include <set>

namespace doctor {

using ws::observe::format;

constexpr int most_tenants = 1023; // of a node: ranks and workers (ws::mpi::Inactive)

std::string bytes(double n);
std::string of_limit(double value);
std::string plural(double n, const char* what);
std::string cpu_list(const std::set<int>& cpus);

// A node: the ranks that are on it, or are planned for it.
struct Node {
    std::string host;
    std::vector<const Machine*> ranks;
    int count = 0; // of ranks; planned ones have one Machine
    bool planned = false;

    const Machine& first() const { return *ranks[0]; }
    // Which CPUs the ranks may use together.
    std::set<int> cpus() const
    {
        std::set<int> all;
        for (const Machine* m : ranks)
            all.insert(m->cpus.begin(), m->cpus.end());
        return all;
    }
    int core(int cpu) const
    {
        const auto known = first().core_of.find(std::to_string(cpu));
        return known == first().core_of.end() ? 100000 + cpu : known->second;
    }
    std::set<int> cores() const
    {
        std::set<int> all;
        for (int cpu : cpus())
            all.insert(core(cpu));
        return all;
    }
    int workers() const
    {
        int all = 0;
        for (const Machine* m : ranks)
            all += m->workers < 0 ? int(cores().size()) / std::max(count, 1) - 1 : m->workers;
        return std::max(0, planned ? all * count : all);
    }
    // Whether each rank could have a core of its own, were they bound so. hwloc sees what the cpuset allows.
    bool fits() const { return count <= first().cores; }
};
std::vector<Node> nodes(const Job& job);

double number(const Machine& m, const char* name, double otherwise); // the variable's, or this

inline bool runnable(const Job& job) { return job.program && job.program->error.empty(); }

class Findings {
public:
    Findings(std::vector<Finding>& all, const char* number, const char* title)
        : all_(all), number_(number), title_(title)
    {}
    void on(const Node& node) { node_ = node.host; }

    void skip(const std::string& why) { add(Level::skipped, why, "", ""); }
    void ok(const std::string& measured) { add(Level::ok, measured, "", ""); }
    void note(const std::string& measured, const std::string& cause, const std::string& fix)
    {
        add(Level::note, measured, cause, fix);
    }
    void warning(const std::string& measured, const std::string& cause, const std::string& fix)
    {
        add(Level::warning, measured, cause, fix);
    }
    void problem(const std::string& measured, const std::string& cause, const std::string& fix)
    {
        add(Level::problem, measured, cause, fix);
    }

private:
    void add(Level level, const std::string& measured, const std::string& cause, const std::string& fix)
    {
        Finding f{level, number_, title_, measured, cause, fix, {}};
        if (!node_.empty())
            f.nodes.push_back(node_);
        all_.push_back(f);
    }
    std::vector<Finding>& all_;
    std::string number_, title_, node_;
};

std::string lib_folder(const Job& job);
// the job's command, with these options and this many ranks
std::string mpirun(const Job& job, const std::string& options, double ranks = 0);
std::string srun(const Job& job, double ranks); // the same under Slurm
std::string mpirun_with_libraries(const Job& job); // with Workshare's libraries before others
// The job's command under another MPI: "openmpi" or "mpich". Empty if Workshare was built without it.
std::string under_other_mpi(const Job& job, const std::string& mpi);

namespace check {

// WS1 to WS5: the machine
void ranks_and_cores(const Job&, const Node&, Findings&);
void same_core(const Job&, const Node&, Findings&);
void binding(const Job&, const Node&, Findings&);
void quota(const Job&, const Node&, Findings&);
void hidden_cpus(const Job&, const Node&, Findings&);
void each_others_cores(const Job&, const Node&, Findings&);
void topology(const Job&, const Node&, Findings&);
void shared_memory(const Job&, const Node&, Findings&);
void memory(const Job&, const Node&, Findings&);
void stack(const Job&, const Node&, Findings&);
void user_limit(const Job&, const Node&, Findings&);
void cgroup_threads(const Job&, const Node&, Findings&);
void openmp(const Job&, const Node&, Findings&);
void open_files(const Job&, const Node&, Findings&);
void counter(const Job&, const Node&, Findings&);
void clocksource(const Job&, const Node&, Findings&);
void skew(const Job&, const Node&, Findings&);
void governor(const Job&, const Node&, Findings&);
void load(const Job&, const Node&, Findings&);
void kernel(const Job&, const Node&, Findings&);
void namespaces(const Job&, const Node&, Findings&);
void work_counters(const Job&, const Node&, Findings&);

// WS6: the program
void program_file(const Job&, Findings&);
void missing_libraries(const Job&, Findings&);
void mpi_library(const Job&, Findings&);
void libws(const Job&, Findings&);
void ws_loops(const Job&, Findings&);
void loops_abi(const Job&, Findings&);
void thread_level(const Job&, Findings&);
void sees_openmp(const Job&, Findings&);
void moves_cores(const Job&, Findings&);
void same_program(const Job&, Findings&);
void polls(const Job&, Findings&);

// WS7 and WS8: the environment and the job
void options(const Job&, Findings&);
void misspelt(const Job&, Findings&);
void contradictions(const Job&, Findings&);
void enabled(const Job&, Findings&);
void mpi_starts(const Job&, Findings&);
void attached(const Job&, const Node&, Findings&);
void same_window(const Job&, const Node&, Findings&);

} // namespace check
} // namespace doctor
