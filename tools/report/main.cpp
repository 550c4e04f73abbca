// SPDX-License-Identifier: MIT
//
// ws-report: reads what `mpirun -workshare-report=FILE.json` has written; two of them it compares.
// docs/man/ws-report.1.scd
#include "observe/report.h"
#include "window/open_file.h"

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
        if (const std::string wrong = ws::window::read_whole(name.c_str(), text); !wrong.empty())
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

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Prints the report of a Workshare job again, or what differs between two of them.");
    std::vector<std::string> files;
    bool csv = false, json = false;
    app.add_option("FILE", files, "what mpirun -workshare-report=FILE.json has written; - is standard input")
        ->required()
        ->expected(1, 2);
    auto* as_csv = app.add_flag("--csv", csv, "one table, a figure a line");
    app.add_flag("--json", json, "JSON, as it is written by this version")->excludes(as_csv);
    app.set_version_flag("--version", "ws-report " WS_VERSION);
    CLI11_PARSE(app, argc, argv);
    try {
        const ws::observe::Report first = read(files[0]);
        std::string text;
        if (files.size() == 2) {
            if (csv || json)
                throw std::runtime_error("two reports are compared as text only");
            text = ws::observe::report_comparison(first, read(files[1]), files[0], files[1]);
        } else
            text = ws::observe::report_as(csv    ? ws::observe::ReportFormat::csv
                                          : json ? ws::observe::ReportFormat::json
                                                 : ws::observe::ReportFormat::text,
                                          first);
        if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
            throw std::runtime_error(std::string("cannot write: ") + std::strerror(errno));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ws-report: %s\n", error.what());
        return 1;
    }
    return 0;
}
