// SPDX-License-Identifier: MIT
//
// The table of all checks, and what is made of their findings.
#include "judging.h"
#include "wording.h"

namespace doctor {

namespace {

template <void (*check)(const Job&, const Node&, Findings&)>
void on_nodes(const Job& job, std::vector<Finding>& all, const char* number, const char* title)
{
    for (const Node& node : nodes(job)) {
        Findings findings(all, number, title);
        findings.on(node);
        check(job, node, findings);
    }
}
template <void (*check)(const Job&, Findings&)>
void on_job(const Job& job, std::vector<Finding>& all, const char* number, const char* title)
{
    Findings findings(all, number, title);
    check(job, findings);
}

} // namespace

const char* name(Level level)
{
    const char* const names[] = {"skipped", "ok", "note", "warning", "problem"};
    return names[int(level)];
}

// Numbers are never given again: a check that is removed leaves a gap.
const std::vector<Check>& checks()
{
    using namespace check;
    static const std::vector<Check> all = {
        {"WS101", "ranks and cores",
         "How many ranks a node has for how many cores that they may use. A rank lends its core while it waits, which "
         "is of use if nobody else computes on it.",
         on_nodes<ranks_and_cores>},
        {"WS102", "two ranks on one core", "Whether ranks are bound to the same core, and so take turns.",
         on_nodes<same_core>},
        {"WS103", "binding",
         "Which CPUs each rank may use. Bound ranks keep their caches, and waiting ones know whom they are near.",
         on_nodes<binding>},
        {"WS104", "processor quota",
         "What the cgroup (container, batch job) gives of the processors' time. A rank without time left stops, and "
         "all that wait for it.",
         on_nodes<quota>},
        {"WS105", "CPUs left out",
         "Whether the machine has CPUs that the job may not use, by its affinity or its cpuset.",
         on_nodes<hidden_cpus>},
        {"WS106", "cores of other ranks",
         "Whether a thread of one rank may run on the core of another: what lending is.", on_nodes<each_others_cores>},
        {"WS107", "topology", "What hwloc sees: packages, NUMA nodes, caches, cores, hardware threads.",
         on_nodes<topology>},
        {"WS201", "/dev/shm", "Whether the memory that ranks share has room for libws's window and UCX's queues.",
         on_nodes<shared_memory>},
        {"WS202", "memory", "What is left of the machine's or the cgroup's memory, and limits on the address space.",
         on_nodes<memory>},
        {"WS203", "stack", "The stack that loop bodies get: guests have as much as the main thread.", on_nodes<stack>},
        {"WS301", "threads of the user",
         "Whether RLIMIT_NPROC allows a guest in each rank for each core of the others.", on_nodes<user_limit>},
        {"WS302", "threads of the cgroup", "The same for pids.max of the cgroup.", on_nodes<cgroup_threads>},
        {"WS303", "OpenMP threads", "OMP_NUM_THREADS times ranks, and workers, against cores.", on_nodes<openmp>},
        {"WS304", "open files", "Whether RLIMIT_NOFILE allows what mpirun and MPI open.", on_nodes<open_files>},
        {"WS401", "time-stamp counter", "Whether the counter by which libws times chunks has one rate at all times.",
         on_nodes<counter>},
        {"WS402", "clock source", "Which clock the kernel trusts.", on_nodes<clocksource>},
        {"WS403", "clocks of cores",
         "How far the cores' counters are apart, measured by messages between threads on them.", on_nodes<skew>},
        {"WS501", "frequency", "How the cores' frequency is set.", on_nodes<governor>},
        {"WS502", "other load", "What others, and the hypervisor, take of the CPUs while ws-doctor sleeps.",
         on_nodes<load>},
        {"WS503", "kernel settings", "Settings of the kernel that make lent cores slow.", on_nodes<kernel>},
        {"WS504", "PID namespaces", "Whether the ranks of a node see each other's processes.", on_nodes<namespaces>},
        {"WS505", "counters of work",
         "By which of the processor's counters XMPI could measure work, as PAPI finds when it opens them.",
         on_nodes<work_counters>},
        {"WS601", "program", "Whether the program is there, and one for this machine.", on_job<program_file>},
        {"WS602", "libraries",
         "Whether the loader finds all of the program's libraries. The loader is asked, the program is not run.",
         on_job<missing_libraries>},
        {"WS603", "MPI library", "Which MPI the program would load: only Workshare's lends cores.",
         on_job<mpi_library>},
        {"WS604", "libws", "Which libws it would load, and whether its interface is this version's.", on_job<libws>},
        {"WS605", "ws loops", "The loops of the program and its libraries that can be shared, by name.",
         on_job<ws_loops>},
        {"WS606", "compiled for", "The version of the interface that loops were compiled for.", on_job<loops_abi>},
        {"WS607", "thread level", "Whether a program with threads asks MPI for what its loops need.",
         on_job<thread_level>},
        {"WS608", "OpenMP regions", "Whether libws would see when OpenMP's threads compute, as workers need.",
         on_job<sees_openmp>},
        {"WS609", "same on all nodes", "Whether all nodes would load the same program and MPI library.",
         on_job<same_program>},
        {"WS611", "polling",
         "Whether the program may wait by calls that return at once, such as MPI_Test: they help only if asked to.",
         on_job<polls>},
        {"WS612", "cores of OpenMP", "What keeps -workshare-openmp from moving cores, if it is asked for.",
         on_job<moves_cores>},
        {"WS701", "values of WS_ variables", "What libws would refuse at the start.", on_job<options>},
        {"WS702", "names of WS_ variables", "Variables that nothing reads: most likely misspelt.", on_job<misspelt>},
        {"WS703", "contradictions", "Variables that do not go together, or with the machine.", on_job<contradictions>},
        {"WS704", "-workshare", "Whether the job was started with it.", on_job<enabled>},
        {"WS801", "MPI", "Whether the ranks start MPI and can exchange messages.", on_job<mpi_starts>},
        {"WS802", "libws in the job", "Whether each rank of this very job has attached to libws and can steal.",
         on_nodes<attached>},
        {"WS803", "shared memory of ranks", "Whether MPI takes all ranks of a node to be on one.",
         on_nodes<same_window>},
    };
    return all;
}

std::vector<Finding> judge(const Job& job, const std::string& only)
{
    std::vector<Finding> all;
    for (const Check& check : checks())
        if (only.empty() || only == check.number)
            check.judge(job, all, check.number, check.title);
    for (Finding& f : all)
        for (std::string* text : {&f.title, &f.measured, &f.cause, &f.fix})
            *text = worded(*text);
    std::vector<Finding> merged;
    for (const Finding& f : all) {
        auto same = std::find_if(merged.begin(), merged.end(), [&](const Finding& other) {
            return other.number == f.number && other.level == f.level && other.measured == f.measured &&
                   other.fix == f.fix;
        });
        if (same == merged.end())
            merged.push_back(f);
        else
            same->nodes.insert(same->nodes.end(), f.nodes.begin(), f.nodes.end());
    }
    std::stable_sort(merged.begin(), merged.end(),
                     [](const Finding& a, const Finding& b) { return a.level > b.level; });
    return merged;
}

} // namespace doctor
