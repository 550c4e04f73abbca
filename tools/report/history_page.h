// SPDX-License-Identifier: MIT
//
// A history as files: a page with curves, a page for each commit, and a badge.
#pragma once

#include "history.h"
#include <string>
#include <vector>

namespace ws::report {

struct PageFile {
    std::string name, text;
};
// The page index.html comes last: it links the others. `version`: of Workshare.
std::vector<PageFile> history_pages(const std::vector<Experiment>& experiments, const std::string& version);

// A picture of one line, "label value", for a README: green from 0.9 on, yellow from 0.75 on, else red.
std::string badge(const std::string& label, double share);

} // namespace ws::report
