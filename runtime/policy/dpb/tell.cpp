// SPDX-License-Identifier: MIT
#include "policy/dpb/tell.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace ws::policy::dpb {

namespace {

std::string sum_text(const uint16_t* deal, unsigned ranks)
{
    std::string text;
    for (unsigned r = 0; r < ranks && r < 16; r++)
        text += (r ? "+" : "") + std::to_string(deal[r]);
    return ranks > 16 ? text + "+..." : text;
}

} // namespace

void tell(observe::Facts& facts, const Table& table, const Done& what)
{
    const Head& head = table.head();
    char text[240];
    bool seen = false;
    for (unsigned r = 0; r < table.ranks(); r++)
        seen = seen || table.row(r).seen;
    if (!seen && what.leaves) // which openmp/ tells of
        return;
    if (!seen) {
        facts.policies.push_back("no core was moved: no parallel region was seen (is OpenMP linked statically?)");
        return;
    }
    if (head.changes) {
        std::string line =
            "cores " + sum_text(table.first(), table.ranks()) + " -> " + sum_text(table.last(), table.ranks());
        std::snprintf(text, sizeof text, " after %u periods", head.periods_then);
        line += text;
        if (head.period_first > 0 && head.period_last > 0) {
            std::snprintf(text, sizeof text, "; about %.2f times as fast", head.period_first / head.period_last);
            line += text;
        }
        facts.policies.push_back(line);
    } else if (what.balances)
        facts.policies.push_back(
            "cores " + sum_text(table.first(), table.ranks()) + ", " +
            (head.periods ? "no other deal was better" : "not measured long enough for another deal"));
    if (head.timed)
        facts.policies.push_back("no turns of an outer loop were found, and what was measured are half seconds");
    uint64_t regions = 0, used = 0, late = 0, recalled = 0, left = 0, beside = 0, beside_ticks = 0, longest = 0;
    for (unsigned r = 0; r < table.ranks(); r++) {
        regions += table.row(r).regions;
        used += table.row(r).used;
        late += table.row(r).late;
        recalled += table.row(r).recalled;
        left += table.row(r).left;
        beside += table.row(r).beside;
        beside_ticks += table.row(r).beside_ticks;
        longest = std::max(longest, uint64_t(table.row(r).beside_longest));
    }
    if (what.leaves ? regions > 0 : what.lends) {
        std::snprintf(text, sizeof text,
                      "%llu parallel regions had lent cores, for %.3f s of them (%.3f s beside their owners)",
                      static_cast<unsigned long long>(regions), double(used) * 1e-6 / what.ticks_per_us,
                      double(late) * 1e-6 / what.ticks_per_us);
        std::string line = text;
        if (recalled) {
            std::snprintf(text, sizeof text, "; %llu were recalled before the end, and %llu of them were left then",
                          static_cast<unsigned long long>(recalled), static_cast<unsigned long long>(left));
            line += text;
        }
        facts.policies.push_back(line);
    }
    uint64_t limited = 0;
    for (unsigned r = 0; r < table.ranks(); r++)
        limited += table.row(r).limited;
    if (limited) {
        std::snprintf(text, sizeof text,
                      "%llu parallel regions could have had more cores, but the program asked for no more threads",
                      static_cast<unsigned long long>(limited));
        facts.policies.push_back(text);
    }
    uint64_t foreign = 0, foreign_used = 0, foreign_late = 0, foreign_recalled = 0, foreign_left = 0, given = 0;
    for (unsigned r = 0; r < table.ranks(); r++) {
        foreign += table.row(r).foreign_regions;
        foreign_used += table.row(r).foreign_used;
        foreign_late += table.row(r).foreign_late;
        foreign_recalled += table.row(r).foreign_recalled;
        foreign_left += table.row(r).foreign_left;
        given += table.row(r).used_by_others;
    }
    if (what.shares) {
        std::snprintf(text, sizeof text,
                      "%llu parallel regions had cores of other jobs, for %.3f s of them (%.3f s beside their owners), "
                      "and other jobs "
                      "had cores of this one for %.3f s",
                      static_cast<unsigned long long>(foreign), double(foreign_used) * 1e-6 / what.ticks_per_us,
                      double(foreign_late) * 1e-6 / what.ticks_per_us, double(given) * 1e-6 / what.ticks_per_us);
        std::string line = text;
        if (foreign_recalled) {
            std::snprintf(text, sizeof text,
                          "; %llu of other jobs were recalled before the end, and %llu of them were left then",
                          static_cast<unsigned long long>(foreign_recalled),
                          static_cast<unsigned long long>(foreign_left));
            line += text;
        }
        facts.policies.push_back(line);
    }
    if (beside) {
        std::snprintf(text, sizeof text,
                      "%llu times a region came to a core before its worker's last chunk was over, for %.3f ms at most",
                      static_cast<unsigned long long>(beside), double(longest) * 1e-3 / what.ticks_per_us);
        facts.policies.push_back(text);
    }
}

} // namespace ws::policy::dpb
