// SPDX-License-Identifier: MIT
//
// What a resource manager says: a file with one number, of processes that may have rows. It may be written at any time.
#pragma once

#include <string>

namespace ws::policy::rows {

class Allowance {
public:
    // "": there is no such file, and all processes may have rows.
    explicit Allowance(std::string path) : path_(std::move(path)) {}

    // The number that the file has, or had last; 0: none so far. A file without a number is said once on stderr, until
    // it has one again. An empty one is about to be written.
    int look();

private:
    std::string path_;
    int number_ = 0;
    bool said_ = false;
};

} // namespace ws::policy::rows
