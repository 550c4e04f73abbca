// SPDX-License-Identifier: MIT
#include "files.h"

#include "../text_of.h"
#include "base/open_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <stdexcept>

namespace ws::report {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& what)
{
    throw std::runtime_error((name == "-" ? "standard input" : name) + ": " + what);
}

std::string contents(const std::string& name)
try {
    std::string text;
    if (name != "-") {
        if (const std::string wrong = base::read_whole(name.c_str(), text); !wrong.empty())
            fail(name, wrong);
        return text;
    }
    char buffer[65536];
    size_t n;
    errno = 0;
    while ((n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0)
        text.append(buffer, n);
    if (std::ferror(stdin))
        fail(name, std::strerror(errno));
    return text;
} catch (const std::bad_alloc& error) {
    fail(name, tools::text_of(error));
}

} // namespace

observe::Report read(const std::string& name)
{
    const std::string text = contents(name);
    try {
        return observe::read_report(text);
    } catch (const std::exception& error) {
        fail(name, tools::text_of(error));
    }
}

void write(const std::string& name, const std::string& text)
{
    const bool to_stdout = name == "-";
    const int fd = to_stdout ? -1 : base::open_to_write(name.c_str());
    FILE* const f = to_stdout ? stdout : fd < 0 ? nullptr : fdopen(fd, "w");
    const std::string of = to_stdout ? "" : " " + name;
    bool written = f && std::fwrite(text.data(), 1, text.size(), f) == text.size() && std::fflush(f) == 0;
    const int error = errno; // fclose may change it
    if (f && !to_stdout)
        std::fclose(f);
    if (!written)
        throw std::runtime_error("cannot write" + of + ": " + std::strerror(error));
}

void make_folder(const std::string& name)
{
    std::error_code error;
    fs::create_directories(name, error);
    if (error)
        throw std::runtime_error("cannot make the folder " + name + ": " + error.message());
}

std::vector<std::string> reports_in(const std::string& path)
{
    std::error_code error;
    if (!fs::is_directory(path, error))
        return {path};
    std::vector<std::string> names;
    for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
        if (std::error_code is_none; at->path().extension() == ".json" && at->is_regular_file(is_none))
            names.push_back(at->path().string());
    if (error)
        fail(path, error.message());
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<Run> read_history(const std::string& folder)
{
    std::error_code error;
    if (!fs::is_directory(folder, error))
        fail(folder, error ? error.message() : "it is not a folder");
    std::vector<Run> runs;
    for (const std::string& name : reports_in(folder)) {
        const fs::path inside = fs::path(name).lexically_relative(folder), first = *inside.begin();
        runs.push_back(
            {inside.has_parent_path() ? first.string() : inside.stem().string(), inside.string(), read(name)});
    }
    if (runs.empty())
        fail(folder, "it holds no report, a file whose name ends in .json");
    return runs;
}

} // namespace ws::report
