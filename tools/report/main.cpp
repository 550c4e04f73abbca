// SPDX-License-Identifier: MIT
//
// ws-report: reads what `mpirun -workshare-report=FILE.json` has written. It prints one report, compares several, makes
// pages of them, and judges them. docs/man/ws-report.1.scd
#include "files.h"
#include "gate.h"
#include "history.h"
#include "history_page.h"
#include "../command_line.h"
#include "../text_of.h"
#include "observe/format.h"
#include "observe/report.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace {

using namespace ws::report;
using ws::observe::format;
using ws::observe::NamedReport;
using ws::observe::Report;

struct Options {
    std::vector<std::string> files, conditions, baseline;
    std::string history, worse, output;
    bool csv = false, json = false, html = false;
};

constexpr int failed = 1, misuse = 2;

// The condition fails the first of the runs for which it holds: one line says so.
int judge(const Condition& c, const std::vector<std::string>& names, const std::vector<Report>& reports)
{
    std::string values;
    for (size_t i = 0; i < reports.size(); i++)
        for (const Figure& f : figures_of(reports[i]))
            if (f.name == c.name) {
                if (holds(c, f.value)) {
                    std::printf("failed: %s is %.4g, %s %g (%s)\n", c.name.c_str(), f.value, text_of(c), c.limit,
                                names[i].c_str());
                    return failed;
                }
                values += (values.empty() ? "" : ", ") + format("%.4g", f.value);
            }
    std::printf("passed: %s is %s, not %s %g\n", c.name.c_str(), values.c_str(), text_of(c), c.limit);
    return 0;
}

int judge_slower(double limit, const std::vector<Report>& baseline, const std::vector<Report>& now)
{
    const auto times = [](const std::vector<Report>& reports) {
        std::vector<double> elapsed;
        for (const Report& r : reports)
            elapsed.push_back(r.elapsed_s);
        return elapsed;
    };
    const Slower s = slower(times(baseline), times(now));
    const std::string change = format("%.2g %% %s than the %zu runs of the baseline", 100 * std::fabs(s.part),
                                      s.part < 0 ? "shorter" : "longer", baseline.size());
    const std::string bounds = format("%g %% and their noise of %.2g %%", 100 * limit, 100 * s.noise);
    if (s.part > limit + s.noise) {
        std::printf("failed: it took %s, more than %s\n", change.c_str(), bounds.c_str());
        return failed;
    }
    std::printf("passed: it took %s, within %s\n", change.c_str(), bounds.c_str());
    return 0;
}

int judge_all(const Options& o, const std::vector<Report>& reports)
{
    int status = 0;
    for (const std::string& text : o.conditions)
        status = std::max(status, judge(parse_condition(text), o.files, reports));
    if (!o.worse.empty()) {
        std::vector<Report> baseline;
        for (const std::string& path : o.baseline)
            for (const std::string& file : reports_in(path))
                baseline.push_back(read(file));
        if (baseline.size() < least_baseline)
            throw std::runtime_error(format("--baseline has %zu report%s; --fail-if-worse needs %zu or more, to know "
                                            "their noise",
                                            baseline.size(), baseline.size() == 1 ? "" : "s", least_baseline));
        status = std::max(status, judge_slower(parse_share(o.worse), baseline, reports));
    }
    return status;
}

int make_history(const Options& o)
{
    const std::vector<Run> runs = read_history(o.history);
    const std::string folder = o.output.empty() ? o.history + "/pages" : o.output;
    make_folder(folder);
    const std::vector<Experiment> experiments = experiments_of(runs);
    for (const PageFile& page : history_pages(experiments, WS_VERSION))
        write(folder + "/" + page.name, page.text);
    std::printf("%s/index.html\n", folder.c_str());
    return 0;
}

std::string text_of(const Options& o, const std::vector<Report>& reports)
{
    if (o.html) {
        std::vector<NamedReport> runs;
        for (size_t i = 0; i < reports.size(); i++)
            runs.push_back({o.files[i], &reports[i]});
        return report_html(runs);
    }
    if (reports.size() == 2)
        return report_comparison(reports[0], reports[1], o.files[0], o.files[1]);
    return report_as(o.csv    ? ws::observe::ReportFormat::csv
                     : o.json ? ws::observe::ReportFormat::json
                              : ws::observe::ReportFormat::text,
                     reports[0]);
}

// Throws what CLI11 throws for wrong use.
void check(Options& o)
{
    using Error = CLI::ValidationError;
    const bool judges = !o.conditions.empty() || !o.worse.empty();
    if (!o.history.empty()) {
        if (judges || o.csv || o.json || o.html || !o.files.empty() || !o.baseline.empty())
            throw Error("--history excludes all other arguments but --output");
        return;
    }
    if (o.files.empty())
        throw Error("FILE is required");
    if (o.worse.empty() != o.baseline.empty())
        throw Error("--fail-if-worse and --baseline require each other");
    if (judges && (o.csv || o.json || o.html || !o.output.empty()))
        throw Error("--fail-if and --fail-if-worse print one line; they exclude other output");
    if (o.files.size() > 1 && (o.csv || o.json))
        throw Error("two reports are compared as text or with --html only");
    if (o.files.size() > 2 && !o.html && !judges)
        throw Error("more than two reports are compared with --html only");
    const auto parsed = [](const char* option, const auto& parse, const std::string& text) {
        try {
            return parse(text);
        } catch (const std::invalid_argument& e) {
            throw Error(option, e.what());
        }
    };
    for (const std::string& condition : o.conditions)
        parsed("--fail-if", parse_condition, condition);
    if (!o.worse.empty() && parsed("--fail-if-worse", parse_share, o.worse) < 0)
        throw Error("--fail-if-worse", "'" + o.worse + "' is below 0");
}

int run(int argc, char** argv)
{
    CLI::App app("Prints the report of a Workshare job again, compares reports, makes pages of them, or judges them.",
                 "ws-report");
    Options o;
    app.add_option("FILE", o.files, "what mpirun -workshare-report=FILE.json has written; - is standard input");
    auto* csv = app.add_flag("--csv", o.csv, "one table, a figure a line")->disable_flag_override();
    auto* json = app.add_flag("--json", o.json, "JSON, as it is written by this version")->excludes(csv);
    json->disable_flag_override();
    app.add_flag("--html", o.html, "a page for a browser; of several reports, compared with the first")
        ->excludes(csv)
        ->excludes(json)
        ->disable_flag_override();
    app.add_option("-o,--output", o.output, "the file to write, or with --history the folder")
        ->type_name("NAME")
        ->check(ws::tools::name_of("a file or folder"));
    app.add_option("--history", o.history, "pages of the reports in this folder, by commit")
        ->type_name("DIR")
        ->check(ws::tools::name_of("a folder"));
    const auto several = [&](const char* name, std::vector<std::string>& values, const char* help, const char* type) {
        app.add_option(name, values, help)->type_name(type)->allow_extra_args(false);
    };
    several("--fail-if", o.conditions, "exit with 1 if this is true, such as 'parallel_efficiency < 0.9'", "CONDITION");
    app.add_option("--fail-if-worse", o.worse,
                   "exit with 1 if it took longer than the baseline by more than this, such as 3%")
        ->type_name("SHARE");
    several("--baseline", o.baseline, "runs to compare with, three or more: a report, or a folder of them", "PATH");
    ws::tools::set_up(app, "ws-report " WS_VERSION);
    app.footer("Exit status: 0; 1 a condition failed the run; 2 wrong use, or a file cannot be read or written.");
    try {
        app.parse(argc, argv);
        check(o);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) ? misuse : 0;
    }
    int status = 0;
    if (!o.history.empty())
        status = make_history(o);
    else {
        std::vector<Report> reports;
        for (const std::string& file : o.files)
            reports.push_back(read(file));
        if (!o.conditions.empty() || !o.worse.empty())
            status = judge_all(o, reports);
        else
            write(o.output.empty() ? "-" : o.output, text_of(o, reports));
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw std::runtime_error(std::string("cannot write: ") + std::strerror(errno));
    return status;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ws-report: %s\n", ws::tools::text_of(error));
        return misuse;
    }
}
