// SPDX-License-Identifier: MIT
//
// WS6: the program, its libraries and its loops.
#include "judging.h"
#include "wording.h"

#include "abi/abi.h"
#include "abi/name_text.h"

#include <unistd.h>

namespace doctor::check {

void program_file(const Job& job, Findings& out)
{
    if (!job.program)
        return out.skip("no program was named");
    const Program& p = *job.program;
    if (p.error.empty())
        return out.ok(p.path + " is a program for this machine");
    std::string cause = "mpirun could not start it", fix = p.error_fix;
    if (fix == "script")
        return out.warning(p.given + ": " + p.error, "ws-doctor cannot see which program the script starts",
                           "ws-doctor PROGRAM     # the program that the script starts");
    const size_t slash = p.given.rfind('/');
    const auto has = [&](const char* what) { return p.error.find(what) != std::string::npos; };
    if (has("another machine") || has("damaged") || has("is empty"))
        fix = "mpicc -fws -O3 ... -o " + quoted(p.given) + "     # on this machine, again; or copy it again";
    else if (has("object file"))
        fix = "mpicc -fws " + quoted(p.given) + " -o app";
    else if (fix.empty() && slash == std::string::npos)
        fix = "find . -name " + quoted(p.given) + "     # where is it? Then with its folder, as in ./" + p.given;
    else if (fix.empty())
        fix = "ls -l " + quoted(slash == 0 ? "/" : p.given.substr(0, slash)) + "     # what is there";
    out.problem(p.given + ": " + p.error, cause, fix);
}

void missing_libraries(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    std::string missing;
    bool ours = true;
    for (const Library& library : job.program->libraries)
        if (library.path.empty()) {
            missing += (missing.empty() ? "" : ", ") + library.name;
            ours &= access((lib_folder(job) + "/" + library.name).c_str(), R_OK) == 0;
        }
    if (!missing.empty())
        return out.problem(
            "not found: " + missing,
            "the loader finds no such file in the program's own path, in LD_LIBRARY_PATH and in the system's folders",
            ours ? mpirun_with_libraries(job)
                 : "LD_LIBRARY_PATH=FOLDER " + mpirun(job, "") +
                       "     # the folder that has it; on clusters perhaps: module load ...");
    if (!job.program->loader_says.empty())
        return out.problem(job.program->loader_says, "the program was linked on a machine with newer libraries",
                           "mpicc -fws -O3 ...     # on this machine, or the oldest of all nodes");
    if (job.program->mpi == "unknown")
        return out.skip("the loader could not be asked");
    out.ok(job.program->loader_asked ? format("%zu found", job.program->libraries.size())
                                     : "the program needs no libraries");
}

// Judges the MPI library in an installation for other ones: those that it has a library for lend cores.
static void another_mpi(const Job& job, Findings& out)
{
    const Program& p = *job.program;
    const std::string name = p.mpi == "openmpi" ? "Open MPI" : p.mpi == "mpich" ? "MPICH" : "the standard's ABI";
    if (p.mpi == "unknown")
        return out.skip("the loader could not be asked");
    if (p.mpi == "static")
        return out.problem("an MPI that is linked into the program", "Workshare cannot see the calls of such a program",
                           "mpicc ... -o " + quoted(p.given) + "     # without -static");
    if (p.mpi == "none")
        return out.warning(
            "none",
            "the program calls no MPI library that it is linked with; an interpreter may load one later, "
            "and `workshare` sees that",
            mpirun(job, "") + "     # if it loads MPI later; a program without MPI gains nothing");
    if (p.mpi_path.empty())
        return out.problem(name + ", which is not found", "the program cannot start",
                           "LD_LIBRARY_PATH=FOLDER " + mpirun(job, "") + "     # the folder of its MPI library");
    if (access((lib_folder(job) + "/workshare/" + p.mpi + "/libws.so.1").c_str(), R_OK) != 0)
        return out.problem(name + ": " + p.mpi_path,
                           "this Workshare was built without a library for that MPI: the program runs without sharing",
                           "./setup build -Dmpi=system     # on a machine that has the mpicc of that MPI");
    out.ok(name + ": " + p.mpi_path);
}

void mpi_library(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    if (!has_own_mpi)
        return another_mpi(job, out);
    const Program& p = *job.program;
    const std::string rebuild =
        quoted(job.machines[0].folder + "/mpicc") + " -fws -O3 ...     # or mpicxx, mpifort beside it";
    if (p.mpi == "ours")
        return out.ok("Workshare's: " + p.mpi_path);
    if (p.mpi == "static-ours")
        return out.ok("Workshare's, linked into the program");
    if (p.mpi == "mpich" && p.mpi_path.empty())
        return out.problem("an MPICH that is not found", "the program cannot start", mpirun_with_libraries(job));
    if (p.mpi == "mpich") {
        const std::string ours = lib_folder(job) + "/libmpich.so.12";
        const bool has_name = ours.find_first_of(" :") == std::string::npos; // for the loader, in LD_PRELOAD
        return out.problem("another MPICH: " + p.mpi_path,
                           "the program runs, but this MPICH has no hooks for Workshare: no core is ever lent; all "
                           "MPICHs have one ABI, so Workshare's can take its place",
                           !p.fixed_path ? mpirun_with_libraries(job)
                           : has_name    ? "LD_PRELOAD=" + quoted(ours) + " " + mpirun(job, "") +
                                               "     # the program has the other's path in it (RPATH)"
                                         : rebuild);
    }
    if (p.mpi == "unknown")
        return out.skip("the loader could not be asked");
    if (p.mpi == "openmpi") {
        const std::string as_it_is = under_other_mpi(job, p.mpi);
        return out.problem("Open MPI: " + p.mpi_path,
                           "this MPI has another ABI: Workshare's mpirun starts each rank of such a program "
                           "as a job of its own",
                           as_it_is.empty() ? rebuild : as_it_is);
    }
    if (p.mpi == "static")
        return out.problem("an MPI that is linked into the program",
                           "a library that is part of the program cannot be replaced by Workshare's", rebuild);
    out.warning("none",
                "the program calls no MPI library that it is linked with: its processes would not find each other as "
                "ranks of a job",
                rebuild);
}

void libws(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    const std::string taken = p.mpi_libws_path.empty() ? p.libws_path : p.mpi_libws_path;
    if (p.mpi == "ours" && p.mpi_libws_path.empty())
        return out.problem("there is no libws.so.1 beside " + p.mpi_path,
                           "MPICH loads it from there: the job runs without sharing",
                           "./setup build     # installs both");
    if (taken.empty())
        return out.ok("the program does not load libws itself");
    if (p.libws_abi != WS_ABI)
        return out.problem(format("%s has version %d of the interface, this is %d", taken.c_str(), p.libws_abi, WS_ABI),
                           "two versions of Workshare are mixed", mpirun_with_libraries(job));
    char one[4096], other[4096];
    if (!p.libws_path.empty() && !p.mpi_libws_path.empty() && realpath(p.libws_path.c_str(), one) &&
        realpath(p.mpi_libws_path.c_str(), other) && std::string(one) != other)
        return out.warning(p.libws_path + " and " + p.mpi_libws_path,
                           "the program would load two libws: its loops would use one, and MPICH the other, "
                           "so nothing is shared",
                           mpirun_with_libraries(job));
    out.ok(taken + format(", version %d of the interface", p.libws_abi));
}

void ws_loops(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    std::string names;
    size_t shown = 0;
    std::set<std::string> distinct;
    for (const Loop& loop : p.loops)
        distinct.insert(loop.name);
    for (const std::string& name : distinct)
        if (shown++ < 8)
            names += (names.empty() ? ": " : ", ") + name;
    if (shown > 8)
        names += format(" and %zu more", shown - 8);
    if (!p.loops.empty())
        return out.ok(plural(double(distinct.size()), "ws loop") + names +
                      (p.calls_api ? "; and those of the C and C++ interface" : ""));
    if (p.calls_api)
        return out.ok("loops of the C and C++ interface; they have names when they run");
    if (p.calls_unseen)
        return out.note("loops that no list names",
                        "the program was compiled by a Workshare older than this, or its list was stripped",
                        "mpicc -fws -O3 ...     # again");
    out.warning("none in the program and the libraries that it is linked with",
                "only loops with a directive, or of the C and C++ interface, are shared: this program's ranks can lend "
                "their cores, but no rank has work for them (libraries that it loads at run time are not seen)",
                has_own_mpi
                    ? "mpicc -fws -O3 ...     # after `#pragma ws for` was put before the loops that take long; "
                      "OpenMP's loops as they stand: mpicc -fws=openmp"
                    : "mpicc -fws -O3 ...     # after `#pragma ws for` was put before the loops that take long; "
                      "OpenMP's regions as they stand: mpirun -n 2 workshare --openmp=share ./app");
}

void polls(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    const auto set = job.machines[0].environment.find("WS_POLL");
    if (p.polls.empty())
        return out.ok("the program calls no MPI_Test or MPI_Iprobe");
    std::string names;
    for (const std::string& name : p.polls)
        names += (names.empty() ? "" : ", ") + name;
    if (set != job.machines[0].environment.end() && set->second == "1")
        return out.ok(names + " help, too (-workshare-poll)");
    out.note("the program calls " + names,
             "they return at once, so a rank that waits by calling them again and again never lends its core; "
             "calls that wait, such as MPI_Wait, lend it",
             mpirun(job, "-workshare-poll"));
}

void loops_abi(const Job& job, Findings& out)
{
    if (!runnable(job) || job.program->abis.empty())
        return out.skip("no loops to look at");
    for (int abi : job.program->abis)
        if (abi != WS_ABI)
            return out.problem(format("loops compiled for version %d of the interface, libws has %d", abi, WS_ABI),
                               "the program ends at its first loop, with a message", "mpicc -fws -O3 ...     # again");
    out.ok(format("all loops are compiled for version %d of the interface", WS_ABI));
}

void thread_level(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    if (!job.program->threads)
        return out.ok("the program starts no threads of its own");
    const Program& p = *job.program;
    if (p.init && !p.init_thread)
        return out.note("the program starts threads and calls MPI_Init, not MPI_Init_thread",
                        "loops of other threads than the one that called it are not shared, and `ws atomic` does not "
                        "protect from the program's own threads",
                        "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);     // if threads run ws "
                        "loops, or change the same data; FUNNELED if they only compute");
    out.ok(p.init_thread ? "the program asks MPI_Init_thread for a level of its own"
                         : "the program's start of MPI is not seen");
}

void sees_openmp(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    if (!job.program->openmp)
        return out.ok("the program has no OpenMP threads");
    const Machine& m = job.machines[0];
    const auto is = [&](const char* name, const char* value) {
        const auto known = m.environment.find(name);
        return known != m.environment.end() && known->second == value;
    };
    std::string why;
    if (job.program->openmp_first)
        why = "libgomp is linked before libws in the program";
    else if (job.program->libws_path.empty())
        why = "the program is not linked with libws";
    else if (is("OMP_TOOL", "disabled"))
        why = "OMP_TOOL=disabled";
    else if (is("OMP_WAIT_POLICY", "active"))
        why = "OMP_WAIT_POLICY=active";
    if (why.empty())
        return out.ok("libws sees the program's OpenMP regions");
    const bool wanted = m.workers != 0;
    if (wanted)
        out.warning(why, "libws cannot see when OpenMP's threads compute, so that these ranks get no workers",
                    job.program->openmp_first         ? "mpicc -fws -fopenmp ...     # without -lgomp of your own"
                    : job.program->libws_path.empty() ? "mpicc -fws -fopenmp ...     # linked with -fws, too"
                                                      : "unset OMP_TOOL OMP_WAIT_POLICY");
    else
        out.note(why, "with -workshare-workers the ranks would have no workers", "needs no change without workers");
}

void moves_cores(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Machine& m = job.machines[0];
    const auto value = [&](const char* name) {
        const auto known = m.environment.find(name);
        return known == m.environment.end() ? std::string() : known->second;
    };
    const std::string mode = value("WS_OPENMP");
    if (mode.empty() || mode == "off" || mode == "hint")
        return out.ok("moving cores is not requested (-workshare-openmp)");
    if (!job.program->openmp)
        return out.warning("the program has no OpenMP library of its own, or one that is linked statically",
                           "-workshare-openmp has no effect: there are no threads to move",
                           "mpicc -fopenmp ...     # and no -static");
    if (const std::string pretended = value("WS_CORES"); pretended.empty() || pretended == "0")
        for (const Node& n : nodes(job))
            if (const size_t cpus = n.cpus().size(); cpus < size_t(n.count))
                return out.warning(
                    format("%zu CPUs for %d ranks on %s", cpus, n.count, n.host.c_str()),
                    "-workshare-openmp has no effect there: each rank keeps a core, and none is left to move",
                    mpirun(job, "-bind-to core") + "     # or fewer ranks");
    if (value("OMP_WAIT_POLICY") == "active")
        return out.warning(
            "OMP_WAIT_POLICY=active",
            "OpenMP's threads never leave their cores between regions: a rank that gets such a core shares it",
            "unset OMP_WAIT_POLICY");
    for (const char* name : {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
        if (const std::string said = value(name); !said.empty() && said != "false")
            return out.note(std::string(name) + "=" + said,
                            "threads stay on the CPUs that it names while their rank has its own cores, and are moved "
                            "once it has others",
                            "needs no change; without it the kernel places the threads of a rank on its cores");
    out.ok("nothing is in the way of -workshare-openmp " + mode);
}

void same_program(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    std::string differs;
    for (const std::string& text : job.other_programs)
        differs += (differs.empty() ? "" : "; ") + text;
    std::string more;
    for (const std::string& name : job.more_programs)
        more += (more.empty() ? "" : ", ") + name;
    if (differs.empty() && !more.empty())
        return out.note("other ranks are to run " + more, "only the first rank's program was looked at",
                        "ws-doctor " + quoted(job.more_programs[0]));
    if (!differs.empty())
        out.warning(differs, "nodes would run different files under the same names",
                    "install the program and Workshare in a folder that all nodes share");
    else
        out.ok("all nodes use the same files");
}

} // namespace doctor::check
