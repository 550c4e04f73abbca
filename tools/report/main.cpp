// SPDX-License-Identifier: MIT
//
// ws-report: reads what `mpirun -workshare-report=FILE.json` has written; two of them it compares.
// docs/man/ws-report.1.scd
#include "observe/report.h"
#include "base/open_file.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace {

std::string contents(const std::string& name)
{
    std::string text;
    if (name != "-") {
        if (const std::string wrong = ws::base::read_whole(name.c_str(), text); !wrong.empty())
            throw std::runtime_error(wrong);
        return text;
    }
    char buffer[65536];
    size_t n;
    errno = 0;
    while ((n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0)
        text.append(buffer, n);
    if (std::ferror(stdin))
        throw std::runtime_error(std::strerror(errno));
    return text;
}

ws::observe::Report read(const std::string& name)
{
    try {
        return ws::observe::read_report(contents(name));
    } catch (const std::exception& error) {
        throw std::runtime_error((name == "-" ? "standard input" : name) + ": " + error.what());
    }
}

int run(int argc, char** argv)
{
    CLI::App app("Prints the report of a Workshare job again, or what differs between two of them.", "ws-report");
    std::vector<std::string> files;
    bool csv = false, json = false;
    app.add_option("FILE", files, "what mpirun -workshare-report=FILE.json has written; - is standard input")
        ->required()
        ->expected(1, 2);
    auto* as_csv = app.add_flag("--csv", csv, "one table, a figure a line");
    app.add_flag("--json", json, "JSON, as it is written by this version")->excludes(as_csv);
    app.set_version_flag("--version", "ws-report " WS_VERSION);
    app.failure_message([](const CLI::App* a, const CLI::Error& e) {
        return a->get_name() + ": error: " + e.what() + "; see " + a->get_name() + " --help\n";
    });
    app.footer("Exit status: 0; 1 a report cannot be read or printed; 2 wrong use.");
    try {
        app.parse(argc, argv);
        if (files.size() == 2 && (csv || json))
            throw CLI::ValidationError("two reports are compared as text only");
    } catch (const CLI::ParseError& e) {
        return app.exit(e) ? 2 : 0;
    }
    const ws::observe::Report first = read(files[0]);
    std::string text;
    if (files.size() == 2)
        text = ws::observe::report_comparison(first, read(files[1]), files[0], files[1]);
    else
        text = ws::observe::report_as(csv    ? ws::observe::ReportFormat::csv
                                      : json ? ws::observe::ReportFormat::json
                                             : ws::observe::ReportFormat::text,
                                      first);
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw std::runtime_error(std::string("cannot write: ") + std::strerror(errno));
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ws-report: %s\n", error.what());
        return 1;
    }
}
