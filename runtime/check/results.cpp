// SPDX-License-Identifier: MIT
#include "check/results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace ws::check {

namespace {

// NAME=TYPE[xCOUNT]OPERATION@PLACE
Result parse(const std::string& word)
{
    Result r;
    const size_t equals = word.find('=');
    r.name = word.substr(0, equals);
    if (equals == std::string::npos)
        return r;
    const char* c = word.c_str() + equals + 1;
    auto number = [&c] {
        char* end = nullptr;
        const unsigned long long n = std::strtoull(c, &end, 10);
        c = end;
        return uint64_t(n);
    };
    const char type = *c ? *c++ : '?';
    if (!std::strchr("iufc", type))
        return r;
    r.bytes = unsigned(number());
    if (*c == 'x') {
        c++;
        r.count = number();
    }
    r.operation = *c ? *c++ : '?';
    if (*c++ != '@')
        return r;
    if (*c == '&') {
        c++;
        r.is_static = true;
    }
    if (*c < '0' || *c > '9')
        return r;
    r.place = number();
    for (; *c == '*'; c++)
        r.pointers++;
    if (*c == '+') {
        c++;
        r.behind = int64_t(number());
    }
    const bool is_float = type == 'f' || type == 'c';
    const bool known_size =
        is_float ? r.bytes == sizeof(float) || r.bytes == sizeof(double) || r.bytes == sizeof(long double)
                 : r.bytes == 1 || r.bytes == 2 || r.bytes == 4 || r.bytes == 8 || r.bytes == 16;
    if (!*c && known_size && r.count && std::strchr("+*=", r.operation) &&
        !(r.is_static && (r.pointers || r.place >= WS_SITE_ADDRESSES)))
        r.type = type;
    return r;
}

template <class T> T load(const char* at)
{
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

long double load_float(unsigned bytes, const char* at)
{
    return bytes == sizeof(float)    ? load<float>(at)
           : bytes == sizeof(double) ? load<double>(at)
                                     : load<long double>(at);
}

double epsilon(unsigned bytes)
{
    return bytes == sizeof(float)    ? std::numeric_limits<float>::epsilon()
           : bytes == sizeof(double) ? std::numeric_limits<double>::epsilon()
                                     : double(std::numeric_limits<long double>::epsilon());
}

double distance_of(long double one, long double other)
{
    if (one == other || (std::isnan(one) && std::isnan(other)))
        return 0;
    const double d = double(std::fabs(one - other));
    return std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
}

std::string text_of_float(unsigned bytes, const char* at)
{
    char text[64];
    const int digits = bytes == sizeof(float)    ? 9
                       : bytes == sizeof(double) ? 17
                                                 : std::numeric_limits<long double>::max_digits10;
    std::snprintf(text, sizeof text, "%.*Lg", digits, load_float(bytes, at));
    return text;
}

std::string text_of_integer(bool is_signed, unsigned bytes, const char* at)
{
    unsigned __int128 value = 0;
    std::memcpy(&value, at, bytes); // the least significant bytes come first on all machines that this runs on
    const bool negative = is_signed && (value >> (8 * bytes - 1) & 1);
    if (negative) {
        value = -value;
        if (bytes < 16)
            value &= ((unsigned __int128)(1) << 8 * bytes) - 1;
    }
    std::string digits;
    do {
        digits += char('0' + int(value % 10));
        value /= 10;
    } while (value);
    return (negative ? "-" : "") + std::string(digits.rbegin(), digits.rend());
}

} // namespace

std::vector<Result> parse_results(const char* text)
{
    std::vector<Result> results;
    for (const char* end; *text; text = *end ? end + 1 : end) {
        end = text + std::strcspn(text, " ");
        if (end != text)
            results.push_back(parse(std::string(text, end)));
    }
    return results;
}

std::vector<Result> results_of(const ws_site* site)
{
    return site->kinds & WS_SITE_RESULTS ? parse_results(site->where + std::strlen(site->where) + 1)
                                         : std::vector<Result>();
}

const char* find_result(const Result& r, const ws_site* site, const void* data)
{
    const char* at;
    if (r.is_static)
        at = reinterpret_cast<const char* const*>(site + 1)[2 + r.place];
    else {
        at = static_cast<const char*>(data) + r.place;
        for (unsigned i = 0; i < r.pointers && at; i++)
            at = load<const char*>(at);
    }
    return at ? at + r.behind : nullptr;
}

std::string text_of_element(const Result& r, const char* at)
{
    if (r.type == 'c')
        return "(" + text_of_float(r.bytes, at) + ", " + text_of_float(r.bytes, at + r.bytes) + ")";
    return r.type == 'f' ? text_of_float(r.bytes, at) : text_of_integer(r.type == 'i', r.bytes, at);
}

double magnitude(const Result& r, const char* at)
{
    const double first = double(std::fabs(load_float(r.bytes, at)));
    return r.type == 'c' ? std::max(first, double(std::fabs(load_float(r.bytes, at + r.bytes)))) : first;
}

double distance(const Result& r, const char* one, const char* other)
{
    if (r.type == 'i' || r.type == 'u')
        return std::memcmp(one, other, r.bytes) ? 1 : 0;
    const double first = distance_of(load_float(r.bytes, one), load_float(r.bytes, other));
    return r.type == 'c'
               ? std::max(first, distance_of(load_float(r.bytes, one + r.bytes), load_float(r.bytes, other + r.bytes)))
               : first;
}

namespace {
double most_additions(uint64_t iterations, double seconds) { return std::max(double(iterations), 1e10 * seconds); }
} // namespace

double most_rounding(const Result& r, const Spread& spread, uint64_t iterations, double seconds)
{
    return r.is_rounded() ? 4 * most_additions(iterations, seconds) * epsilon(r.bytes) * spread.magnitude : 0;
}

double allowed(const Result& r, const Spread& spread, uint64_t iterations, double seconds)
{
    if (!r.is_rounded())
        return 0;
    // Most of many rounding errors cancel out. The rest grows with the root of their number.
    const double expected = std::max(double(iterations), 8 * std::sqrt(most_additions(iterations, seconds))) *
                            epsilon(r.bytes) * spread.magnitude;
    return std::min(32 * spread.deviation + expected, most_rounding(r, spread, iterations, seconds));
}

} // namespace ws::check
