// SPDX-License-Identifier: MIT
//
// A snapshot as one JSON object, written and read; docs/reference/top.schema.json describes its fields.
#pragma once

#include "board_file.h"
#include "sample.h"
#include <nlohmann/json.hpp>
#include <vector>

namespace ws::top {

constexpr char json_schema[] = "workshare-top/3";

// `workshare`: the version that writes it.
nlohmann::ordered_json to_json(const std::vector<JobSample>& jobs, const std::vector<Problem>& problems,
                               double unix_seconds, const char* workshare);

// What jobs did up to a moment.
struct Snapshot {
    double unix_seconds = 0;
    std::vector<JobSample> jobs;
    std::vector<Problem> problems;
};
// Reads what to_json() has written. Throws std::runtime_error with one line for the user if it is something else.
Snapshot from_json(const std::string& line);

} // namespace ws::top
