// SPDX-License-Identifier: MIT
//
// What the compiler says of a loop's reductions (WS_SITE_RESULTS in abi/abi.h), and what their values are to be
// compared by.
#pragma once

#include "abi/abi.h"
#include <cstdint>
#include <string>
#include <vector>

namespace ws::check {

struct Result {
    std::string name;
    char type = '?';      // i, u, f, c; ? if it cannot be compared
    char operation = '='; // +, *, or = where no order matters
    unsigned bytes = 0;   // of an element, of type c of a half of it
    uint64_t count = 1;   // elements
    bool is_static = false;
    uint64_t place = 0;   // in bytes from the data, or which of the site's addresses
    unsigned pointers = 0;
    int64_t behind = 0;   // bytes, after the pointers

    bool is_rounded() const { return (type == 'f' || type == 'c') && operation != '='; }
    uint64_t size() const { return count * bytes * (type == 'c' ? 2 : 1); }
};

// The reductions that a text describes, in the form of abi.h. One that is not understood cannot be compared.
std::vector<Result> parse_results(const char* text);
std::vector<Result> results_of(const ws_site* site);
// Where its first element lies while the loop runs; null if a pointer is.
const char* find_result(const Result& result, const ws_site* site, const void* data);

// An element's value as text, and as a number: of a complex value the larger part.
std::string text_of_element(const Result& result, const char* at);
double magnitude(const Result& result, const char* at);
// By how much two values differ; 0 if both are not a number, or both the same infinity.
double distance(const Result& result, const char* one, const char* other);

// What is known, from passes over the loop in one thread, of an element whose operation rounds.
struct Spread {
    double deviation; // between passes
    double magnitude; // the largest of the values that were added up to it, and of itself
};
// The largest possible rounding error, if every addition had the largest one. The number of additions is bounded by the
// time: each takes a tenth of a nanosecond at least.
double most_rounding(const Result& result, const Spread& spread, uint64_t iterations, double seconds);
// By how much the result of a right loop may differ from a serial pass when the loop is shared.
double allowed(const Result& result, const Spread& spread, uint64_t iterations, double seconds);

} // namespace ws::check
