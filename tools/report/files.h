// SPDX-License-Identifier: MIT
//
// The files of ws-report. All functions throw std::runtime_error with one line for the user.
#pragma once

#include "history.h"
#include "observe/report.h"
#include <string>
#include <vector>

namespace ws::report {

observe::Report read(const std::string& name); // -: standard input
void write(const std::string& name, const std::string& text); // -: standard output
void make_folder(const std::string& name);

// A file as it is; of a folder, the names of all reports in it and below: they end in .json.
std::vector<std::string> reports_in(const std::string& path);

// The runs below `folder`, at least one: folder/COMMIT.json, or any reports below folder/COMMIT/.
std::vector<Run> read_history(const std::string& folder);

} // namespace ws::report
