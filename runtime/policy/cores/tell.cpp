// SPDX-License-Identifier: MIT
#include "policy/cores/tell.h"

#include <algorithm>
#include <cstdio>
#include <mpi.h>
#include <string>

namespace ws::policy::cores {

namespace {

std::string sum_text(const uint16_t* deal, unsigned ranks)
{
    std::string text;
    for (unsigned r = 0; r < ranks && r < 16; r++)
        text += (r ? "+" : "") + std::to_string(deal[r]);
    return ranks > 16 ? text + "+..." : text;
}

struct Lent {
    uint64_t regions, used, late, recalled, left;
};

// Figures of one node; after the reduction, of all nodes.
struct NodeFigures {
    uint64_t nodes, seen, changed, timed; // nodes: with regions, with another deal, measured by times
    Lent lent, foreign;
    uint64_t used_by_others, limited, beside;
    uint64_t together; // ranks that are not alone on their node
};

void add(Lent& all, const LentRow& row)
{
    all.regions += row.regions;
    all.used += row.used;
    all.late += row.late;
    all.recalled += row.recalled;
    all.left += row.left;
}

NodeFigures sums_of(const Table& table)
{
    NodeFigures s = {};
    s.nodes = 1;
    s.changed = table.head().changes > 0;
    s.timed = table.head().timed != 0;
    for (unsigned r = 0; r < table.ranks(); r++) {
        const RankRow& row = table.row(r);
        s.seen = s.seen || row.seen;
        add(s.lent, row.lent);
        add(s.foreign, row.foreign);
        s.used_by_others += row.used_by_others;
        s.limited += row.limited;
        s.beside += row.beside;
    }
    return s;
}

uint64_t longest_beside(const Table& table)
{
    uint64_t longest = 0;
    for (unsigned r = 0; r < table.ranks(); r++)
        longest = std::max(longest, uint64_t(table.row(r).beside_longest));
    return longest;
}

// How a node's cores were assigned.
std::string deal_text(const Table& table, double job_s)
{
    const Head& head = table.head();
    const std::string first = "cores " + sum_text(table.first(), table.ranks());
    if (!head.changes)
        return first + (head.periods ? ", no other assignment was better"
                                     : ", not measured long enough for another assignment");
    char text[160];
    std::snprintf(text, sizeof text, " after %u periods", head.periods_then);
    std::string line = first + " -> " + sum_text(table.last(), table.ranks()) + text;
    const Watch& w = head.watch;
    if (w.backs) {
        std::snprintf(
            text, sizeof text,
            "; an assignment was taken back %u time%s, because iterations of the outer loop had become longer", w.backs,
            w.backs == 1 ? "" : "s");
        line += text;
    }
    // What is printed is the gain of the whole job, unless too little of it was compared.
    const double gained = w.gained + w.unseen;
    if (w.time > job_s / 2 && gained > 0.01 * job_s) {
        std::snprintf(text, sizeof text, "; the whole job was about %.2f times as fast", 1 + gained / job_s);
        line += text;
    }
    return line;
}

// The deal of one node, one that has changed if there is such a node, and which that is. `table`: null on ranks that
// are not the first of their node. Collective.
std::string gather_deal(const Table* table, int node, double job_s)
{
    constexpr int unchanged = 1 << 29, none = 1 << 30; // beside a rank's number
    struct {
        char text[240];
        int node;
    } told = {};
    int rank, first;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int mine = !table ? none : rank + (table->head().changes ? 0 : unchanged);
    PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == none)
        return "";
    if (rank == first % unchanged) {
        std::snprintf(told.text, sizeof told.text, "%s", deal_text(*table, job_s).c_str());
        told.node = node;
    }
    PMPI_Bcast(&told, sizeof told, MPI_BYTE, first % unchanged, MPI_COMM_WORLD);
    return std::string(told.text) + " (on node " + std::to_string(told.node) + ")";
}

// `what`: the cores.
std::string lent_text(const Lent& lent, const char* what, double ticks_per_s)
{
    char text[160];
    std::snprintf(text, sizeof text, "%llu parallel regions had %s, for %.3f core seconds (%.3f beside their owners)",
                  static_cast<unsigned long long>(lent.regions), what, double(lent.used) / ticks_per_s,
                  double(lent.late) / ticks_per_s);
    return text;
}

std::string recalled_text(const Lent& lent, const char* of)
{
    if (!lent.recalled)
        return "";
    char text[120];
    std::snprintf(text, sizeof text, "; %llu%s were recalled before the end, and %llu of them were left then",
                  static_cast<unsigned long long>(lent.recalled), of, static_cast<unsigned long long>(lent.left));
    return text;
}

} // namespace

void tell(observe::Facts& facts, const Table* table, int node, const Done& what)
{
    const double ticks_per_s = what.ticks_per_us * 1e6;
    NodeFigures mine = table ? sums_of(*table) : NodeFigures{};
    mine.together = !what.alone;
    NodeFigures all = {};
    uint64_t mine_longest = table ? longest_beside(*table) : 0, longest = 0;
    PMPI_Reduce(&mine, &all, sizeof mine / sizeof(uint64_t), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&mine_longest, &longest, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    std::string deal = gather_deal(table, node, what.job_s);
    if (!all.nodes) { // on rank 0, all others are done
        if (!all.together)
            facts.policies.push_back("no core was moved: no node has two ranks");
        return;
    }
    char text[240];
    if (!all.seen) {
        facts.policies.push_back("no core was moved: no parallel region was seen (is OpenMP linked statically?)");
        return;
    }
    if (all.changed || what.balances) {
        if (all.nodes == 1)
            deal.resize(deal.rfind(" (on node "));
        else
            deal += "; " + std::to_string(all.changed) + " of " + std::to_string(all.nodes) +
                    " nodes have another assignment";
        facts.policies.push_back(deal);
    }
    if (all.timed)
        facts.policies.push_back("no iterations of an outer loop were found, so half seconds were measured instead");
    if (what.lends)
        facts.policies.push_back(lent_text(all.lent, "lent cores", ticks_per_s) + recalled_text(all.lent, ""));
    if (all.limited) {
        std::snprintf(text, sizeof text,
                      "%llu parallel regions could have had more cores, but the program asked for no more threads",
                      static_cast<unsigned long long>(all.limited));
        facts.policies.push_back(text);
    }
    if (what.shares) {
        std::snprintf(text, sizeof text, ", and other jobs had cores of this one for %.3f core seconds",
                      double(all.used_by_others) / ticks_per_s);
        facts.policies.push_back(lent_text(all.foreign, "cores of other jobs", ticks_per_s) + text +
                                 recalled_text(all.foreign, " of other jobs"));
    }
    if (all.beside) {
        std::snprintf(text, sizeof text,
                      "%llu times a region got a core before its worker's last chunk had ended, at most %.3f ms before",
                      static_cast<unsigned long long>(all.beside), double(longest) * 1e3 / ticks_per_s);
        facts.policies.push_back(text);
    }
}

} // namespace ws::policy::cores
