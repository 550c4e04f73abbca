// SPDX-License-Identifier: MIT
//
// A snapshot as one JSON object; docs/reference/top.schema.json describes its fields.
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

} // namespace ws::top
