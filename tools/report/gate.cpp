// SPDX-License-Identifier: MIT
#include "gate.h"

#include "base/text.h"
#include "observe/format.h"
#include "options/nearest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

namespace ws::report {

std::vector<Figure> figures_of(const observe::Report& r)
{
    std::vector<Figure> all;
    const auto put = [&](const char* name, double value) { all.push_back({name, value}); };
    observe::fields_of_efficiency(r.as_is, put); // with elapsed_s
    put("speedup", r.speedup);
    observe::fields_of_rank(r.totals, put);
    return all;
}

namespace {

// Throws if no figure has this name.
void check_name(const std::string& name)
{
    std::vector<std::string> names;
    for (const Figure& figure : figures_of({}))
        names.push_back(figure.name);
    if (std::find(names.begin(), names.end(), name) != names.end())
        return;
    const int most = 1 + int(name.size()) / 2; // letters apart
    const std::string meant = option::did_you_mean(option::nearest(names, name, most));
    throw std::invalid_argument("no figure is called '" + name + "'" +
                                (meant.empty() ? "; ws-report --json FILE shows their names" : meant));
}

} // namespace

double parse_share(const std::string& text)
{
    const std::string number(base::trim(text));
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    const std::string_view rest = base::trim(end);
    if (end == number.c_str() || (!rest.empty() && rest != "%") || !std::isfinite(value))
        throw std::invalid_argument("'" + number + "' is not a number like 0.03 or 3%");
    return rest == "%" ? value / 100 : value;
}

Condition parse_condition(const std::string& text)
{
    const size_t at = text.find_first_of("<>");
    if (at == text.npos)
        throw std::invalid_argument("'" + text + "' is not a condition like parallel_efficiency < 0.9");
    const bool or_equal = at + 1 < text.size() && text[at + 1] == '=';
    Condition c = {std::string(base::trim(std::string_view(text).substr(0, at))),
                   text[at] == '<' ? or_equal ? Condition::at_most : Condition::below
                   : or_equal      ? Condition::at_least
                                   : Condition::above,
                   parse_share(text.substr(at + 1 + or_equal))};
    check_name(c.name);
    return c;
}

bool holds(const Condition& c, double value)
{
    switch (c.relation) {
    case Condition::below: return value < c.limit;
    case Condition::at_most: return value <= c.limit;
    case Condition::above: return value > c.limit;
    default: return value >= c.limit;
    }
}

const char* text_of(const Condition& c)
{
    static constexpr const char* texts[] = {"<", "<=", ">", ">="};
    return texts[c.relation];
}

Sample sample_of(const std::vector<double>& values)
{
    Sample s = {values.size(), 0, 0};
    if (values.empty())
        return s;
    s.mean = std::accumulate(values.begin(), values.end(), 0.0) / double(s.size);
    double squares = 0;
    for (double x : values)
        squares += (x - s.mean) * (x - s.mean);
    s.deviation = s.size > 1 ? std::sqrt(squares / double(s.size - 1)) : 0;
    return s;
}

double student_95(size_t degrees)
{
    static constexpr double table[] = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812,
                                       1.796, 1.782, 1.771, 1.761, 1.753, 1.746, 1.740, 1.734, 1.729, 1.725};
    constexpr size_t known = sizeof table / sizeof *table;
    if (degrees == 0)
        return INFINITY;
    if (degrees <= known)
        return table[degrees - 1];
    return 1.645 + 1.6 / double(degrees); // right to 0.005 beyond the table
}

Slower slower(const std::vector<double>& baseline, const std::vector<double>& now)
{
    const Sample before = sample_of(baseline), after = sample_of(now);
    if (before.size < least_baseline || after.size == 0 || before.mean <= 0)
        return {0, INFINITY};
    const double error = before.deviation * std::sqrt(1 / double(before.size) + 1 / double(after.size));
    return {after.mean / before.mean - 1, student_95(before.size - 1) * error / before.mean};
}

} // namespace ws::report
