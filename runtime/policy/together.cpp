// SPDX-License-Identifier: MIT
#include "policy/together.h"

#include "policy/world_ranks.h"
#include "base/times.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace ws::policy {

using base::Flag;
using base::Hardware;
using window::Together;
using window::Whereabouts;
using window::Window;

namespace {

constexpr const char* names[] = {"ws_pool_create", "ws_pool_run",      "ws_pool_free",
                                 "XMPI_Get_wsize", "XMPI_Monitor_end", "XMPI_Partition_free",
                                 "XMPI_Resize",    "XMPI_Set_comm",    "an MPIX function"};
static_assert(sizeof names / sizeof names[0] == window::kinds_of_together);

// In words: where the rank is, so far as it has said.
std::string place_of(const Window& w, unsigned rank)
{
    const Whereabouts& its = w.whereabouts(rank);
    for (unsigned kind = 0; kind < window::kinds_of_together; kind++)
        if (Hardware::load_relaxed(its.inside[kind]))
            return std::string("in ") + names[kind];
    if (Hardware::load_relaxed(w.home(rank).occupancy) == window::rank_computing)
        return "computing";
    // Other processes write there: nothing is taken for granted but the number of bytes.
    constexpr size_t words = sizeof its.call / sizeof its.call[0];
    Hardware::Word text[words];
    for (size_t i = 0; i < words; i++)
        text[i] = Hardware::load_relaxed(its.call[i]);
    const char* const begin = reinterpret_cast<const char*>(text);
    const char* const end = std::find_if(begin, begin + sizeof text, [](unsigned char c) {
        return c >= 128 || (!std::isalnum(c) && c != '_');
    });
    return "in " + (end == begin ? "MPI" : std::string(begin, end));
}

// The members of `comm`: on this node, as ranks of the node; elsewhere, of MPI_COMM_WORLD; others, as from
// MPI_Comm_spawn.
struct Members {
    std::vector<unsigned> here;
    std::vector<int> elsewhere;
    size_t others = 0;
};
Members members_of(MPI_Comm comm, const Window& w)
{
    std::map<int, unsigned> node;
    for (unsigned r = 0; r < w.ranks(); r++)
        node[w.home(r).world_rank] = r;
    Members members;
    for (const int rank : world_ranks(comm))
        if (const auto found = node.find(rank); found != node.end())
            members.here.push_back(found->second);
        else if (rank == MPI_UNDEFINED)
            members.others++;
        else
            members.elsewhere.push_back(rank);
    return members;
}

// "rank 1 (computing)", "ranks 1, 2 and 5 more". `text`: of one.
template <class Rank, class Text> std::string list_of(const std::vector<Rank>& ranks, const Text& text)
{
    constexpr size_t most_named = 8;
    std::string list = ranks.size() > 1 ? "ranks " : "rank ";
    for (size_t i = 0; i < std::min(ranks.size(), most_named); i++)
        list += (i ? ", " : "") + text(ranks[i]);
    if (ranks.size() > most_named)
        list += " and " + std::to_string(ranks.size() - most_named) + " more";
    return list;
}

} // namespace

InTogether::InTogether(const Job& job, Together kind, const char* name, MPI_Comm comm, bool may_be_long)
    : job_(job), kind_(kind), name_(name), comm_(comm)
{
    if (!job.window || !job.steps)
        return;
    inside_ = &job.window->whereabouts(job.window->me()).inside[unsigned(kind)];
    Hardware::fetch_add_full(*inside_, 1);
    if ((is_home_ = job.is_home() && !may_be_long)) {
        outer_ = job.together;
        job.together = this;
    }
}

InTogether::~InTogether()
{
    if (is_home_)
        job_.together = outer_;
    if (inside_ && job_.steps)
        Hardware::fetch_add_full(*inside_, Flag(-1));
}

void say_who_is_missing(const Job& job)
{
    const InTogether* const current = job.together;
    if (!current || !job.steps)
        return;
    const Window& w = *job.window;
    const Members members = members_of(current->comm_, w);
    std::vector<unsigned> missing;
    bool all_wait = true;
    for (const unsigned r : members.here) {
        all_wait = all_wait && Hardware::load_relaxed(w.home(r).occupancy) != window::rank_computing;
        if (!Hardware::load_relaxed(w.whereabouts(r).inside[unsigned(current->kind_)]))
            missing.push_back(r);
    }
    // Ranks of other nodes and other jobs cannot be seen from here.
    const bool sees_all = members.elsewhere.empty() && members.others == 0;
    if (missing.empty() && (sees_all || !all_wait))
        return;
    if (!Hardware::cas_full(w.node().said_missing, 0, 1))
        return;
    const auto with_place = [&](unsigned r) {
        return std::to_string(w.home(r).world_rank) + " (" + place_of(w, r) + ")";
    };
    const std::string who =
        !missing.empty()             ? " for " + list_of(missing, with_place)
        : members.elsewhere.empty() ? "; this job cannot see the processes of other jobs in the communicator"
                                    : "; this node cannot see the communicator's other ranks: " +
                                          list_of(members.elsewhere, [](int rank) { return std::to_string(rank); });
    std::fprintf(stderr,
                 "workshare: note: rank %d has waited %u s in %s%s; the job hangs unless all ranks of the "
                 "communicator make this call equally often\n",
                 w.own_home().world_rank, base::times::unfinished_s, current->name_, who.c_str());
}

} // namespace ws::policy
