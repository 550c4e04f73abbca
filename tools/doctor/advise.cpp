// SPDX-License-Identifier: MIT
//
// ws-doctor advise: reads reports, prints advice as text or JSON (docs/reference/advice.schema.json).
#include "advise.h"

#include "advice.h"
#include "files.h"
#include "observe/format.h"
#include "print.h"
#include "wording.h"
#include "../command_line.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace doctor {

namespace {

using ws::observe::format;
using ws::observe::whole;
using ws::observe::words_of;
using Json = nlohmann::ordered_json;
constexpr char json_schema[] = "workshare-advice/1";

struct Runs {
    std::vector<std::string> files;
    std::vector<Report> reports;
};

std::string gain_text(const Advice& a)
{
    return format("about %.2f times as fast (%.2f to %.2f, %s)", a.gain.expected, a.gain.low, a.gain.high,
                  a.measured ? "measured" : "an estimate");
}

void print_head(const Runs& runs)
{
    std::printf("ws-doctor %s, advice for %s\n", WS_VERSION, program_name(runs.reports[0]).c_str());
    for (size_t i = 0; i < runs.files.size(); i++) {
        const Report& r = runs.reports[i];
        std::printf("  run %zu     %s: %s on %.0f node%s, %.3f s, %s%s\n", i + 1, runs.files[i].c_str(),
                    shape_text(r.ranks, threads_of(r)).c_str(), r.nodes, r.nodes == 1 ? "" : "s", r.elapsed_s,
                    worded("-workshare-openmp=").c_str(), r.conditions.openmp.c_str());
    }
}

void print(const Runs& runs, const Counsel& c)
{
    print_head(runs);
    if (c.advice.empty())
        std::printf("\nNo advice: according to %s, no change is certain to gain 2 %%.\n",
                    runs.files.size() == 1 ? "this run" : "these runs");
    for (size_t i = 0; i < c.advice.size(); i++) {
        const Advice& a = c.advice[i];
        std::printf("\n%zu. %s\n", i + 1, a.what.c_str());
        print_wrapped("gain", gain_text(a) + (runs.files.size() > 1 ? format(" as run %zu", a.run + 1) : ""));
        print_wrapped("basis", a.basis);
        if (!a.assumes.empty())
            print_wrapped("assumes", a.assumes);
        for (const std::string& command : a.commands)
            std::printf("  %-9s %s\n", &command == &a.commands[0] ? "run" : "",
                        command.c_str()); // in one line, to be copied
    }
    if (!c.loops.empty())
        std::printf("\nLoops that could be shared better; how much each gains is not known before it is tried:\n");
    for (const LoopAdvice& l : c.loops)
        print_wrapped("", format("%s, %.0f %% of the time in loops: ", l.loop.c_str(), 100 * l.part) +
                              words_of(l.cause).text + "; remedy: " + worded(words_of(l.cause).remedy) +
                              format("; at most %.2f times as fast", l.most_speedup));
    if (!c.not_advised.empty())
        std::printf("\nNot advised:\n");
    for (const NotAdvised& n : c.not_advised)
        print_wrapped("", n.what + ": " + n.why);
    for (const Unknown& u : c.unknown) {
        std::printf("\n");
        print_wrapped("unknown", std::string(runs.files.size() == 1 ? "this run says" : "these runs say") +
                                     " nothing about " + u.about + ", because " + u.because);
        if (!u.command.empty())
            std::printf("  %-9s %s\n", "try", u.command.c_str());
    }
}

Json gain_json(const Gain& g) { return {{"low", g.low}, {"expected", g.expected}, {"high", g.high}}; }
Json text_or_null(const std::string& s) { return s.empty() ? Json() : Json(s); }

Json model_json(const Model& m)
{
    const auto parts = [](const double (&at)[2]) { return Json{{"fixed", at[0]}, {"per", at[1]}}; };
    return {{"by_ranks", m.by_ranks},
            {"by_cores", m.by_cores},
            {"error", m.error ? Json(*m.error) : Json()},
            {"outside_s", parts(m.outside)},
            {"regions_s", parts(m.regions)},
            {"waiting", parts(m.waiting)}};
}

void print_json(const Runs& runs, const Counsel& c)
{
    Json j = {{"schema", json_schema}, {"workshare", WS_VERSION}, {"program", runs.reports[0].program}};
    for (const char* list : {"runs", "advice", "loops", "not_advised", "unknown"})
        j[list] = Json::array();
    for (size_t i = 0; i < runs.files.size(); i++) {
        const Report& r = runs.reports[i];
        j["runs"].push_back({{"file", runs.files[i]},
                             {"ranks", whole(r.ranks)},
                             {"threads", whole(threads_of(r))},
                             {"nodes", whole(r.nodes)},
                             {"openmp", r.conditions.openmp},
                             {"elapsed_s", r.elapsed_s}});
    }
    for (const Advice& a : c.advice)
        j["advice"].push_back({{"kind", a.kind},
                               {"run", a.run},
                               {"what", a.what},
                               {"gain", gain_json(a.gain)},
                               {"measured", a.measured},
                               {"basis", a.basis},
                               {"assumes", text_or_null(a.assumes)},
                               {"commands", a.commands}});
    for (const LoopAdvice& l : c.loops)
        j["loops"].push_back({{"loop", l.loop},
                              {"part", l.part},
                              {"cause", words_of(l.cause).name},
                              {"remedy", worded(words_of(l.cause).remedy)},
                              {"most_speedup", l.most_speedup}});
    for (const NotAdvised& n : c.not_advised)
        j["not_advised"].push_back({{"kind", n.kind}, {"what", n.what}, {"why", n.why}});
    for (const Unknown& u : c.unknown)
        j["unknown"].push_back({{"about", u.about}, {"because", u.because}, {"command", text_or_null(u.command)}});
    j["model"] = c.model ? model_json(*c.model) : Json();
    std::printf("%s\n", j.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

} // namespace

int run_advise(int argc, char** argv)
{
    CLI::App app(
        "Recommends ranks, threads, binding and a mode of Workshare for a job that has run, and says what each "
        "would gain.\n"
        "Its reports come from " +
            worded("mpirun -workshare -workshare-report=run.json") +
            ". Two or three runs with different "
            "ranks or\n"
            "threads show how the program scales. Exit status: 0, also without advice; 2 for wrong use or a file that "
            "is "
            "no report.",
        "ws-doctor advise");
    Runs runs;
    bool json = false;
    app.add_option("REPORT", runs.files, "One to three reports of one program, as JSON; - is standard input")
        ->required()
        ->expected(1, 3);
    app.add_flag("--json", json, "JSON instead of text")->disable_flag_override();
    ws::tools::set_up(app, "ws-doctor " WS_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) ? 2 : 0;
    }
    for (const std::string& file : runs.files) {
        runs.reports.push_back(ws::report::read(file));
        if (const std::string wrong = why_useless(runs.reports.back()); !wrong.empty())
            throw std::runtime_error(file + ": " + wrong);
    }
    Counsel c = advise(runs.reports);
    word(c);
    (json ? print_json : print)(runs, c);
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw std::runtime_error(std::string("cannot write: ") + std::strerror(errno));
    return 0;
}

} // namespace doctor
