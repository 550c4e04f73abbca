// SPDX-License-Identifier: MIT
//
// WS7 and WS8: the environment and the job.
#include "judging.h"
#include "wording.h"

#include "options/options.h"

namespace doctor::check {

// ---- the environment

namespace {

// Any value of WS_ENABLE but 1 means off.
bool is_turned_on(const Machine& m)
{
    const auto found = m.environment.find("WS_ENABLE");
    return found != m.environment.end() && found->second == "1";
}

} // namespace

void options(const Job& job, Findings& out)
{
    for (const Machine& m : job.machines)
        if (!m.options_error.empty())
            return out.problem(m.options_error, "a -workshare job ends at its start with this message",
                               "unset " + m.options_error.substr(0, m.options_error.find_first_of("= ")));
    out.ok("no WS_ variable has a wrong value");
}

void misspelt(const Job& job, Findings& out)
{
    for (const Machine& m : job.machines)
        if (!m.options_unknown.empty()) {
            std::string all, unset, set, meanings;
            for (const std::string& name : m.options_unknown) {
                const std::string meant = ws::option::meant_option(name);
                const auto value = m.environment.find(name);
                all += (all.empty() ? "" : ", ") + name;
                unset += " " + name;
                if (meant.empty() || value == m.environment.end())
                    continue;
                meanings += (meanings.empty() ? "; perhaps " : ", ") + meant;
                set += " " + meant + "=" + quoted(value->second);
            }
            return out.warning(all, "libws ignores unknown variables" + meanings,
                               "unset" + unset + (set.empty() ? "" : "; export" + set));
        }
    out.ok("all WS_ variables are known");
}

void contradictions(const Job& job, Findings& out)
{
    const Machine& m = job.machines[0];
    const auto has = [&](const char* name) { return m.environment.count(name) > 0; };
    const auto on = [&](const char* name) { return has(name) && m.environment.at(name) == "1"; };
    if (m.options_error.empty())
        for (const char* name : {"WS_CHECK", "WS_STEAL_ALL", "WS_CHAOS"})
            if (has(name) && m.environment.at(name) != "0")
                return out.warning(name + ("=" + m.environment.at(name)),
                                   "it is for tests, and makes programs slow on purpose", std::string("unset ") + name);
    if (has("WS_CORES") && number(m, "WS_CORES", 0) > double(m.cpus.size()) && !job.planned)
        return out.warning(
            "WS_CORES=" + m.environment.at("WS_CORES") + " on " + plural(double(nodes(job)[0].cpus().size()), "CPU"),
            "libws assumes cores that the node does not have: right only for programs whose iterations sleep",
            "unset WS_CORES");
    if (m.workers != 0 && !job.planned &&
        nodes(job)[0].count + nodes(job)[0].workers() > int(nodes(job)[0].cores().size()))
        return out.warning(plural(nodes(job)[0].workers(), "worker") + " and " + plural(nodes(job)[0].count, "rank") +
                               " on " + plural(double(nodes(job)[0].cores().size()), "core"),
                           "workers are for spare cores, and there are none",
                           mpirun(job, "") + "     # without -workshare-workers; and unset WS_WORKERS");
    if (!job.planned && !is_turned_on(m) && (has("WS_REPORT") || has("WS_TRACE") || has("WS_STATS_FILE")))
        return out.note("WS_ variables without -workshare", "nothing is counted, so nothing is written",
                        mpirun(job, ""));
    if (has_own_mpi && is_turned_on(m) && job.planned)
        return out.note("WS_ENABLE=1 is set in the environment",
                        "jobs that are started from here are shared, also without -workshare", "unset WS_ENABLE");
    if (on("WS_QUIET") && on("WS_REPORT"))
        return out.note("WS_QUIET=1 and WS_REPORT=1", "the report is printed, the verdict above it is not",
                        "unset WS_QUIET");
    out.ok("no variables that contradict each other");
}

void enabled(const Job& job, Findings& out)
{
    const Machine& m = job.machines[0];
    if (job.planned)
        out.skip(without_job("no job yet"));
    else if (!is_turned_on(m))
        out.warning("the job was started without -workshare",
                    "the program's loops run unchanged: nothing is shared",
                    mpirun(job, "") + "     # before srun: WS_ENABLE=1");
    else
        out.ok("the job was started with -workshare");
}

// ---- the job

void mpi_starts(const Job& job, Findings& out)
{
    const Machine& m = job.machines[0];
    if (!has_own_mpi || (job.planned && m.launcher.empty()))
        return out.skip(without_job("not tried without mpirun"));
    if (m.launcher == "srun")
        return out.problem("started by srun without --mpi=pmi2",
                           "its processes do not find each other: each would be a job of one rank",
                           srun(job, m.size) + "     # or mpirun, in the same allocation");
    if (m.launcher == "srun --mpi=pmix")
        return out.problem("started by srun --mpi=pmix",
                           "Workshare's MPI speaks PMI, not PMIx: each process would be a job of one rank",
                           srun(job, m.size) + "     # or mpirun, in the same allocation");
    if (!m.launcher.empty())
        return out.problem("started by " + m.launcher,
                           "its processes cannot make one job of Workshare's MPI: each would be a job of one rank",
                           quoted(m.folder + "/") + mpirun(job, "", m.size > 1 ? m.size : 0));
    for (const Machine& m : job.machines)
        if (!m.mpi_error.empty())
            return out.problem(
                m.mpi_error,
                "Workshare's MPI library does not start here, so ws-doctor cannot check the other ranks",
                "mpirun -n 1 hostname     # does mpirun work at all? Then see the other findings, WS201 and WS304 "
                "first");
    out.ok(plural(job.ranks, "rank") + " on " + plural(double(nodes(job).size()), "node") +
           " started MPI and exchanged messages");
}

void attached(const Job& job, const Node& n, Findings& out)
{
    if (n.planned || !is_turned_on(n.first()))
        return out.skip(without_job("not tried without mpirun -workshare"));
    if (!n.first().mpi_error.empty())
        return out.skip("not tried, as MPI did not start");
    static const char* const why[] = {"", "the shared window could not be allocated",
                                      "/dev/shm is too small for the shared window",
                                      "the node has more ranks than Workshare can serve"};
    for (const Machine* m : n.ranks) {
        if (!m->libws_loaded)
            return out.problem(format("rank %d did not load libws", m->rank),
                               "MPICH did not find libws.so.1 or could not load it",
                               "ldd " + lib_folder(job) + "/libws.so.1");
        if (m->inactive)
            return out.problem(format("rank %d runs without sharing: %s", m->rank,
                                      m->inactive > 0 && m->inactive < 4 ? why[m->inactive] : "?"),
                               "libws gave up at the start",
                               m->inactive == 3 ? "start fewer ranks on the node" : "see WS201");
    }
    out.ok(plural(n.count, "rank") + " attached to libws");
}

void same_window(const Job& job, const Node& n, Findings& out)
{
    if (n.planned || !n.first().mpi_error.empty())
        return out.skip(n.planned ? without_job("not tried without mpirun") : "not tried, as MPI did not start");
    const Machine& m = n.first();
    if (m.node_ranks == n.count || m.node_ranks <= 0)
        return out.ok(plural(n.count, "rank") + " that can share memory");
    std::string set;
    for (const char* name : {"MPIR_CVAR_NUM_CLIQUES", "MPIR_CVAR_ODD_EVEN_CLIQUES"})
        if (m.environment.count(name))
            set += std::string(" ") + name;
    out.problem(format("rank %d can share memory with %d of %d ranks", m.rank, m.node_ranks, n.count),
                set.empty() ? "MPI treats them as on different nodes: several names for this node in the list of "
                              "hosts, or containers with names of their own"
                            : "a setting makes MPI treat them as on different nodes; cores are lent only within one",
                set.empty() ? mpirun(job, "-hosts " + quoted(n.host)) : "unset" + set);
}

} // namespace doctor::check
