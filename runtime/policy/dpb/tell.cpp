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

unsigned long long sum(const Table& table, const volatile Hardware::Word RankRow::*field)
{
    unsigned long long all = 0;
    for (unsigned r = 0; r < table.ranks(); r++)
        all += table.row(r).*field;
    return all;
}

struct Lent {
    unsigned long long regions = 0, used = 0, late = 0, recalled = 0, left = 0;
};

Lent sum(const Table& table, const LentRow RankRow::*field)
{
    Lent all;
    for (unsigned r = 0; r < table.ranks(); r++) {
        const LentRow& row = table.row(r).*field;
        all.regions += row.regions;
        all.used += row.used;
        all.late += row.late;
        all.recalled += row.recalled;
        all.left += row.left;
    }
    return all;
}

// `what`: the cores.
std::string lent_text(const Lent& lent, const char* what, double ticks_per_s)
{
    char text[160];
    std::snprintf(text, sizeof text, "%llu parallel regions had %s, for %.3f s of them (%.3f s beside their owners)",
                  lent.regions, what, double(lent.used) / ticks_per_s, double(lent.late) / ticks_per_s);
    return text;
}

std::string recalled_text(const Lent& lent, const char* of)
{
    if (!lent.recalled)
        return "";
    char text[120];
    std::snprintf(text, sizeof text, "; %llu%s were recalled before the end, and %llu of them were left then",
                  lent.recalled, of, lent.left);
    return text;
}

} // namespace

void tell(observe::Facts& facts, const Table& table, const Done& what)
{
    const Head& head = table.head();
    const double ticks_per_s = what.ticks_per_us * 1e6;
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
    const Lent lent = sum(table, &RankRow::lent);
    if (what.leaves ? lent.regions > 0 : what.lends)
        facts.policies.push_back(lent_text(lent, "lent cores", ticks_per_s) + recalled_text(lent, ""));
    if (const unsigned long long limited = sum(table, &RankRow::limited)) {
        std::snprintf(text, sizeof text,
                      "%llu parallel regions could have had more cores, but the program asked for no more threads",
                      limited);
        facts.policies.push_back(text);
    }
    if (what.shares) {
        const Lent foreign = sum(table, &RankRow::foreign);
        std::snprintf(text, sizeof text, ", and other jobs had cores of this one for %.3f s",
                      double(sum(table, &RankRow::used_by_others)) / ticks_per_s);
        facts.policies.push_back(lent_text(foreign, "cores of other jobs", ticks_per_s) + text +
                                 recalled_text(foreign, " of other jobs"));
    }
    if (const unsigned long long beside = sum(table, &RankRow::beside)) {
        uint64_t longest = 0;
        for (unsigned r = 0; r < table.ranks(); r++)
            longest = std::max(longest, uint64_t(table.row(r).beside_longest));
        std::snprintf(text, sizeof text,
                      "%llu times a region came to a core before its worker's last chunk was over, for %.3f ms at most",
                      beside, double(longest) * 1e3 / ticks_per_s);
        facts.policies.push_back(text);
    }
}

} // namespace ws::policy::dpb
