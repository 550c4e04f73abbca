// SPDX-License-Identifier: MIT
#include "policy/together.h"

#include "window/times.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <pthread.h>
#include <string>
#include <vector>

namespace ws::policy {

using window::Flag;
using window::Hardware;
using window::Together;
using window::Whereabouts;
using window::Window;

namespace {

Window* watched;
pthread_t home;
InTogether* current; // of the home thread

constexpr const char* names[] = {"ws_tasks_create",  "ws_tasks_run",        "ws_tasks_free",   "XMPI_Get_wsize",
                                 "XMPI_Monitor_end", "XMPI_Partition_free", "an MPIX function"};
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

// The members of `comm` on this node, as ranks of the node; and how many there are elsewhere.
std::vector<unsigned> members(const Window& w, MPI_Comm comm, int& elsewhere)
{
    MPI_Group group, world;
    int size = 0;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_size(group, &size);
    std::vector<int> in_world(w.ranks()), in_comm(w.ranks());
    for (unsigned r = 0; r < w.ranks(); r++)
        in_world[r] = w.home(r).world_rank;
    PMPI_Group_translate_ranks(world, int(w.ranks()), in_world.data(), group, in_comm.data());
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    std::vector<unsigned> here;
    for (unsigned r = 0; r < w.ranks(); r++)
        if (in_comm[r] != MPI_UNDEFINED)
            here.push_back(r);
    elsewhere = size - int(here.size());
    return here;
}

} // namespace

InTogether::InTogether(Together kind, const char* name, MPI_Comm comm) : kind_(kind), name_(name), comm_(comm)
{
    if (!watched)
        return;
    inside_ = &watched->whereabouts(watched->me()).inside[unsigned(kind)];
    Hardware::fetch_add_full(*inside_, 1);
    if ((is_home_ = pthread_equal(pthread_self(), home))) {
        outer_ = current;
        current = this;
    }
}

InTogether::~InTogether()
{
    if (is_home_)
        current = outer_;
    if (inside_ && watched)
        Hardware::fetch_add_full(*inside_, Flag(-1));
}

void watch_together(Window* window)
{
    watched = window;
    home = pthread_self();
}

void say_who_is_missing()
{
    if (!current || !watched)
        return;
    const Window& w = *watched;
    const unsigned kind = unsigned(current->kind_);
    int elsewhere = 0;
    const std::vector<unsigned> here = members(w, current->comm_, elsewhere);
    constexpr size_t most_named = 8;
    std::string missing;
    size_t count = 0;
    bool all_wait = true;
    for (const unsigned r : here) {
        all_wait = all_wait && Hardware::load_relaxed(w.home(r).occupancy) != window::rank_computing;
        if (Hardware::load_relaxed(w.whereabouts(r).inside[kind]) || count++ >= most_named)
            continue;
        missing += (count > 1 ? ", " : "") + std::to_string(w.home(r).world_rank) + " (" + place_of(w, r) + ")";
    }
    // Ranks of other nodes cannot be seen from here.
    if (!count && (!elsewhere || !all_wait))
        return;
    if (!Hardware::cas_full(w.node().said_missing, 0, 1))
        return;
    if (count > most_named)
        missing += " and " + std::to_string(count - most_named) + " more";
    const int own = w.own_home().world_rank;
    if (count)
        std::fprintf(stderr,
                     "workshare: note: rank %d has waited %u s in %s, and not there: rank%s %s; the job hangs unless "
                     "all ranks of the communicator make this call equally often\n",
                     own, window::times::unfinished_s, current->name_, count > 1 ? "s" : "", missing.c_str());
    else
        std::fprintf(stderr,
                     "workshare: note: rank %d has waited %u s in %s, with all ranks of its node that make this call; "
                     "where the %d on other nodes are is unknown here; the job hangs unless all of them make this call "
                     "equally often\n",
                     own, window::times::unfinished_s, current->name_, elsewhere);
}

} // namespace ws::policy
