// SPDX-License-Identifier: MIT
//
// A snapshot as one JSON object; docs/ws-top.md describes its fields.
#pragma once

#include "board_file.h"
#include "sample.h"
#include <nlohmann/json.hpp>
#include <vector>

namespace ws::top {

constexpr int json_version = 1;

nlohmann::ordered_json to_json(const std::vector<JobSample>& jobs, const std::vector<Problem>& problems,
                               double unix_seconds);

} // namespace ws::top
