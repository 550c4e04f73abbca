// SPDX-License-Identifier: MIT
#include "judging.h"

#include <unistd.h>

namespace doctor {

std::string bytes(double n)
{
    const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; n >= 1024 && unit < 4; unit++)
        n /= 1024;
    return format(n < 10 && unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

std::string of_limit(double value) { return value == no_limit ? "unlimited" : format("%.0f", value); }
std::string plural(double n, const char* what) { return format("%.0f %s%s", n, what, n == 1 ? "" : "s"); }

std::string cpu_list(const std::set<int>& cpus) { return cpu_list(std::vector<int>(cpus.begin(), cpus.end())); }

double number(const Machine& m, const char* name, double otherwise)
{
    const auto known = m.environment.find(name);
    return known == m.environment.end() ? otherwise : std::atof(known->second.c_str());
}

std::vector<Node> nodes(const Job& job)
{
    std::vector<Node> all;
    for (const Machine& m : job.machines) {
        // Containers may have the same host name without seeing each other's processes.
        auto known = std::find_if(all.begin(), all.end(), [&](const Node& n) { return n.host == m.host; });
        if (known == all.end())
            known = all.insert(all.end(), {m.host, {}, 0, job.planned});
        known->ranks.push_back(&m);
        // If MPI does not start, rank 0 is the only one that is known of.
        known->count = job.planned           ? job.ranks
                       : m.mpi_error.empty() ? int(known->ranks.size())
                                             : std::max(1, m.local_ranks);
    }
    return all;
}

std::string lib_folder(const Job& job)
{
    const std::string& folder = job.machines[0].folder;
    return folder.substr(0, folder.rfind('/')) + "/lib";
}

static std::string program_command(const Job& job)
{
    std::string command = " " + (job.program ? quoted(job.program->given) : "./app");
    for (const std::string& word : job.arguments)
        command += " " + quoted(word);
    return command;
}

std::string mpirun(const Job& job, const std::string& options, double ranks)
{
    return "mpirun " + options + (options.empty() ? "" : " ") +
           format("-workshare -n %.0f", ranks > 0 ? ranks : job.ranks) + program_command(job);
}

std::string srun(const Job& job, double ranks)
{
    return format("WS_ENABLE=1 srun --mpi=pmi2 -n %.0f", ranks) + program_command(job);
}

std::string mpirun_with_libraries(const Job& job)
{
    return "LD_LIBRARY_PATH=" + quoted(lib_folder(job)) + " " + mpirun(job, "");
}

std::string under_other_mpi(const Job& job, const std::string& mpi)
{
    if (access((lib_folder(job) + "/workshare/" + mpi + "/libws.so.1").c_str(), R_OK) != 0)
        return "";
    return format("mpirun -n %d ", job.ranks) + quoted(job.machines[0].folder + "/workshare") + program_command(job) +
           "     # with that MPI's mpirun";
}

} // namespace doctor
