// SPDX-License-Identifier: MIT
//
// ws-doctor [PROGRAM]: whether programs can run well here with -workshare, before they do; alone, or under the mpirun
// that is to start them. machine.cpp and program.cpp see, the *checks.cpp judge. ws-doctor advise REPORT...: what to
// change about a job that has run (advise.cpp).
#include "advise.h"
#include "checks.h"
#include "gather.h"
#include "print.h"
#include "wording.h"
#include "../command_line.h"
#include "../text_of.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>

namespace doctor {

namespace {

using Json = nlohmann::ordered_json;
constexpr char json_schema[] = "workshare-doctor/2", list_schema[] = "workshare-doctor-list/1";

std::string dump(const Json& j) { return j.dump(2, ' ', false, Json::error_handler_t::replace); }

void list(bool json)
{
    Json all = Json::array();
    for (const Check& c : checks())
        if (json)
            all.push_back({{"number", c.number}, {"title", worded(c.title)}, {"about", worded(c.about)}});
        else
            std::printf("%s  %s\n       %s\n", c.number, worded(c.title).c_str(), worded(c.about).c_str());
    if (json)
        std::printf("%s\n", dump({{"schema", list_schema}, {"workshare", WS_VERSION}, {"checks", all}}).c_str());
}

std::string on(const std::vector<std::string>& nodes, size_t of)
{
    if (nodes.empty() || of < 2)
        return "";
    std::string text = " on ";
    for (size_t i = 0; i < nodes.size() && i < 3; i++)
        text += (i ? ", " : "") + nodes[i];
    return nodes.size() > 3 ? text + " and " + std::to_string(nodes.size() - 3) + " more nodes" : text;
}

void print(const Job& job, const std::vector<Finding>& findings, size_t nodes)
{
    const auto count = [](size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
    std::printf("ws-doctor %s: %s%s\n", WS_VERSION,
                job.planned ? ("this machine, for " + count(size_t(job.ranks), "rank")).c_str()
                            : (count(size_t(job.ranks), "rank") + " on " + count(nodes, "node")).c_str(),
                job.program ? (", " + job.program->given).c_str() : "");
    size_t counts[5] = {};
    for (const Finding& f : findings) {
        counts[int(f.level)]++;
        if (f.level <= Level::ok)
            continue;
        std::printf("\n%s %s: %s%s\n", f.number.c_str(), name(f.level), f.title.c_str(), on(f.nodes, nodes).c_str());
        print_wrapped("measured", f.measured);
        print_wrapped("cause", f.cause);
        std::printf("  %-9s %s\n", "fix", f.fix.c_str()); // in one line, to be copied
    }
    std::printf("\n");
    for (const Finding& f : findings)
        if (f.level == Level::ok)
            std::printf("%s ok: %s%s: %s\n", f.number.c_str(), f.title.c_str(), on(f.nodes, nodes).c_str(),
                        f.measured.c_str());
    std::map<std::string, std::string> skipped; // reason -> numbers
    for (const Finding& f : findings)
        if (f.level == Level::skipped)
            skipped[f.measured] += " " + f.number;
    for (const auto& [why, numbers] : skipped)
        std::printf("skipped, %s:%s\n", why.c_str(), numbers.c_str());
    std::printf("\n%s, %s, %s, %zu ok, %zu skipped\n", count(counts[4], "problem").c_str(),
                count(counts[3], "warning").c_str(), count(counts[2], "note").c_str(), counts[1], counts[0]);
}

void print_json(const Job& job, const std::vector<Finding>& findings)
{
    Json all = Json::array();
    for (const Finding& f : findings) {
        Json j = {{"number", f.number}, {"level", name(f.level)}, {"title", f.title}, {"measured", f.measured}};
        j["cause"] = f.cause.empty() ? Json() : Json(f.cause);
        j["fix"] = f.fix.empty() ? Json() : Json(f.fix);
        j["nodes"] = f.nodes;
        all.push_back(j);
    }
    Json j = {{"schema", json_schema},
              {"workshare", WS_VERSION},
              {"ranks", job.ranks},
              {"planned", job.planned}};
    j["program"] = job.program ? Json(job.program->path.empty() ? job.program->given : job.program->path) : Json();
    Json loops = Json::array();
    if (job.program)
        for (const Loop& loop : job.program->loops)
            loops.push_back({{"loop", loop.name}, {"file", loop.file}});
    j["loops"] = loops;
    j["findings"] = all;
    std::printf("%s\n", dump(j).c_str());
}

// How the program of a node differs from the first rank's.
std::string difference(const RankFacts& one, const RankFacts& other)
{
    if (!one.program || !other.program)
        return "";
    const Program &a = *one.program, &b = *other.program;
    const std::string where = other.machine.host + ": ";
    if (a.given != b.given)
        return ""; // they are meant to differ
    if (a.error != b.error)
        return where + b.given + (b.error.empty() ? " can be run" : " " + b.error);
    if (a.mpi != b.mpi || a.mpi_path != b.mpi_path)
        return where + (b.mpi_path.empty() ? b.mpi : b.mpi_path) + " instead of " +
               (a.mpi_path.empty() ? a.mpi : a.mpi_path);
    if (a.loops.size() != b.loops.size())
        return where + std::to_string(b.loops.size()) + " loops instead of " + std::to_string(a.loops.size());
    return "";
}

Job job_of(std::vector<RankFacts> ranks, bool planned, int planned_ranks)
{
    Job job;
    job.planned = planned;
    job.ranks = planned ? planned_ranks
                        : std::max(int(ranks.size()), ranks[0].machine.mpi_error.empty() ? 0 : ranks[0].machine.size);
    job.program = ranks[0].program;
    for (const RankFacts& rank : ranks) {
        const std::string text = difference(ranks[0], rank);
        if (!text.empty() &&
            std::find(job.other_programs.begin(), job.other_programs.end(), text) == job.other_programs.end())
            job.other_programs.push_back(text);
        if (rank.program && ranks[0].program && rank.program->given != ranks[0].program->given &&
            std::find(job.more_programs.begin(), job.more_programs.end(), rank.program->given) ==
                job.more_programs.end())
            job.more_programs.push_back(rank.program->given);
        job.machines.push_back(rank.machine);
    }
    return job;
}

struct Wanted { // on the command line
    std::string program, only;
    std::vector<std::string> roots, arguments;
    bool json = false, listed = false;
    int ranks = 0;
};

void declare_options(CLI::App& app, Wanted& wanted)
{
    app.add_option("PROGRAM", wanted.program, "The program that is to be run; what follows it are its arguments");
    app.add_option("ARGUMENTS", wanted.arguments);
    app.add_option("-n,--ranks", wanted.ranks,
                   "How many ranks are planned for this machine, when it is not under mpirun; else one for each core")
        ->check(ws::tools::number("a number of ranks", 1, 1000000))
        ->type_name("N");
    app.add_flag("--json", wanted.json, "JSON instead of text")->disable_flag_override();
    app.add_option("--check", wanted.only, "One check alone, by its number")->type_name("NUMBER");
    app.add_flag("--list", wanted.listed, "List all checks, with what they look at")->disable_flag_override();
    app.add_option("--root", wanted.roots,
                   "For tests: take /proc, /sys and facts.json from this folder; once for each rank")
        ->check(ws::tools::folder())
        ->type_name("DIR")
        ->allow_extra_args(false);
    ws::tools::set_up(app, "ws-doctor " WS_VERSION);
    app.prefix_command(false);
    app.positionals_at_end(true);
}

// Writes the number of a check as checks() has it. Throws if there is none.
void find_check(std::string& number)
{
    for (char& c : number)
        c = char(std::toupper(static_cast<unsigned char>(c)));
    if (!number.empty() &&
        std::none_of(checks().begin(), checks().end(), [&](const Check& c) { return number == c.number; }))
        throw CLI::ValidationError("--check", "'" + number + "' is not the number of a check; --list has them");
}

// Returns the exit status: `status`, unless the output could not be written.
int written(int status)
{
    std::cout.flush();
    if (std::cout.good() && std::fflush(stdout) == 0 && !std::ferror(stdout))
        return status;
    std::fprintf(stderr, "ws-doctor: cannot write: %s\n", std::strerror(errno));
    return 2;
}

// What a process is to judge.
struct Seen {
    std::vector<RankFacts> ranks; // empty: another process has them and judges
    bool planned = false;         // not under mpirun
    bool failed = false;
};

Seen look(const Wanted& wanted)
{
    Seen seen;
    const auto look_at = [&](const std::string& root) {
        RankFacts facts{look_at_machine(root), {}};
        if (!wanted.program.empty())
            facts.program = look_at_program(wanted.program);
        seen.ranks.push_back(facts);
    };
    if (!wanted.roots.empty()) {
        for (const std::string& root : wanted.roots)
            look_at(root);
        seen.planned = wanted.roots.size() == 1 && !seen.ranks[0].machine.under_mpirun;
        return seen;
    }
    look_at("");
    const Machine here = seen.ranks[0].machine;
    seen.planned = !here.under_mpirun;
    if (!here.launcher.empty() && here.rank != 0)
        seen.ranks.clear(); // the first of them speaks
#if WS_OWN_MPI
    else if (!seen.planned) {
        seen.ranks = gather(seen.ranks[0], seen.failed);
        if (here.rank != 0)
            seen.ranks.clear(); // rank 0 speaks
    }
#endif
    return seen;
}

int count_cores(const Machine& machine)
{
    std::set<int> cores;
    for (int cpu : machine.cpus) {
        const auto core = machine.core_of.find(std::to_string(cpu));
        cores.insert(core == machine.core_of.end() ? 100000 + cpu : core->second);
    }
    return int(cores.size());
}

int run(int argc, char** argv)
{
    CLI::App app(
        std::string(
            has_own_mpi
                ? "Checks whether programs can run well here with mpirun -workshare, and suggests a fix for each "
                  "problem. Alone it looks at\n"
                  "this machine; under the mpirun that is to start the program, as in\n"
                  "    mpirun -workshare -n 4 ws-doctor ./app\n"
                  "at all nodes and ranks. The program is never run.\n"
                : "Checks whether programs can run well here with `mpirun workshare`, and suggests a fix for each "
                  "problem. It looks at this\n"
                  "machine, for -n ranks or those of the mpirun that starts it, as in\n"
                  "    mpirun -n 4 ws-doctor ./app\n"
                  "The program is never run.\n") +
            "    ws-doctor advise run.json [run2.json [run3.json]]\n"
            "says what to change about a job that has run, from its reports.\n"
            "Exit status: 0 if there is nothing worse than a note, 1 for warnings and problems, 2 for a wrong command.",
        "ws-doctor");
    Wanted wanted;
    declare_options(app, wanted);
    try {
        app.parse(argc, argv);
        find_check(wanted.only);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) ? 2 : written(0);
    }
    if (wanted.listed) {
        list(wanted.json);
        return written(0);
    }
    Seen seen = look(wanted);
    if (seen.ranks.empty())
        return seen.failed;
    if (!has_own_mpi && !wanted.ranks) // those that an mpirun has put here, if one has
        wanted.ranks = seen.ranks[0].machine.local_ranks;
    if (seen.planned && !wanted.ranks)
        wanted.ranks = std::max(1, count_cores(seen.ranks[0].machine));
    Job job = job_of(std::move(seen.ranks), seen.planned, wanted.ranks);
    job.arguments = wanted.arguments;
    const std::vector<Finding> findings = judge(job, wanted.only);
    std::set<std::string> hosts;
    for (const Machine& m : job.machines)
        hosts.insert(m.host);
    if (wanted.json)
        print_json(job, findings);
    else
        print(job, findings, hosts.size());
    return written(!findings.empty() && findings[0].level >= Level::warning);
}

} // namespace
} // namespace doctor

int main(int argc, char** argv)
{
    try {
        if (argc > 1 && std::strcmp(argv[1], "advise") == 0)
            return doctor::run_advise(argc - 1, argv + 1);
        return doctor::run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "ws-doctor: %s\n", ws::tools::text_of(e));
        return 2;
    }
}
