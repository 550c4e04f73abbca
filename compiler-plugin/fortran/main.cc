// SPDX-License-Identifier: MIT
//
// ws_fortran [--fixed] [--openmp | --openmp-simd] [--length N] [-I FOLDER]... [--text FILE] NAME OUTPUT
//
// Rewrites the Fortran source NAME (or its preprocessed text in FILE) to OUTPUT. Messages look like gfortran's. Exit
// status: 0 rewritten, 1 errors in directives, 2 it could not be done, 3 no directive in it: OUTPUT is the text as it
// was.
#include "rewrite.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

[[noreturn]] void cannot(const std::string& what)
{
    std::fprintf(stderr, "mpifort: -fws: %s\n", what.c_str());
    std::exit(2);
}

void print(const ws_fortran::Message& message)
{
    const ws_fortran::Place& place = message.place;
    std::string pad;
    for (int i = 1; i < place.column; i++)
        pad += ' ';
    std::string line = message.source_line;
    for (char& c : line)
        if (c == '\t')
            c = ' ';
    std::fprintf(stderr, "%s:%d:%d:\n\n%5d | %s\n      | %s^\n%s: %s\n", place.file.c_str(), place.line, place.column,
                 place.line, line.c_str(), pad.c_str(), message.warning ? "Warning" : "Error", message.text.c_str());
}

} // namespace

int main(int argc, char** argv)
{
    ws_fortran::Options options;
    std::string text_file;
    bool fixed_length = false;
    int i = 1;
    const auto value = [&]() -> std::string {
        if (i + 1 >= argc)
            cannot(std::string("a value is missing after ") + argv[i]);
        return argv[++i];
    };
    for (; i < argc && argv[i][0] == '-'; i++) {
        const std::string option = argv[i];
        if (option == "--fixed")
            options.form = ws_fortran::Form::fixed;
        else if (option == "--openmp")
            options.openmp = true;
        else if (option == "--openmp-simd")
            options.openmp_simd = true;
        else if (option == "--length") {
            options.length = std::strtoul(value().c_str(), nullptr, 10);
            fixed_length = true;
        } else if (option == "-I")
            options.include_folders.push_back(value());
        else if (option == "--text")
            text_file = value();
        else
            cannot("unknown option '" + option + "'");
    }
    if (argc - i != 2)
        cannot("a source and a place for the result are needed");
    if (options.form == ws_fortran::Form::fixed && !fixed_length)
        options.length = 72;

    const std::string name = argv[i];
    std::ifstream file(text_file.empty() ? name : text_file, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf()).good())
        return 3; // the compiler says it better, or the file is empty
    const ws_fortran::Result result = ws_fortran::rewrite(text.str(), name, options);
    bool wrong = false;
    for (const ws_fortran::Message& message : result.messages) {
        print(message);
        wrong |= !message.warning;
    }
    if (wrong)
        return 1;
    std::ofstream out(argv[i + 1], std::ios::binary);
    out << result.text;
    out.close();
    if (!out)
        cannot("cannot write '" + std::string(argv[i + 1]) + "': " + std::strerror(errno));
    return result.any ? 0 : 3;
}
