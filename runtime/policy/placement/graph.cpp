// SPDX-License-Identifier: MIT
//
// MPIX_Load_graph_create: rank 0 gathers the graph too. A process that becomes another rank gets that rank's neighbours
// from the process that stated them.
#include "policy/placement/call.h"
#include "policy/placement/exports.h"
#include "policy/placement/neighbours.h"
#include "base/os.h"
#include "base/times.h"

#include <algorithm>

namespace ws::policy::placement {

namespace {

struct EdgeList {
    int degree;
    const int *ranks, *weights;
};

struct To {
    int rank, weight;
};

bool is_weighted(const EdgeList& s) { return s.weights != MPI_UNWEIGHTED; }

Fault check_side(const EdgeList& s, int size)
{
    Fault f;
    if (s.degree < 0) {
        f.what = What::count;
        f.value = s.degree;
    } else if (s.degree > 0 && !s.ranks)
        f.what = What::no_edges;
    else if (s.degree > 0 && (!s.weights || s.weights == MPI_WEIGHTS_EMPTY))
        f.what = What::no_weights;
    for (int i = 0; i < s.degree && !f; i++) {
        f.index = i;
        if (s.ranks[i] < 0 || s.ranks[i] >= size) {
            f.what = What::edge_range;
            f.value = s.ranks[i];
        } else if (is_weighted(s) && s.weights[i] < 0) {
            f.what = What::edge_weight;
            f.value = s.weights[i];
        }
    }
    return f;
}

// All edges, at rank 0, from their sources.
int gather_edges(const Call& call, const EdgeList& out, Edges& edges)
{
    std::vector<To> own;
    for (int i = 0; i < out.degree; i++)
        own.push_back({out.ranks[i], is_weighted(out) ? out.weights[i] : 1});
    std::vector<int> counts(call.rank == 0 ? size_t(call.size) : 0), begins(counts.size());
    int error = PMPI_Gather(&out.degree, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, call.comm);
    if (error)
        return error;
    size_t sum = 0;
    for (size_t r = 0; r < counts.size(); r++) {
        begins[r] = int(sum);
        sum += size_t(counts[r]);
    }
    std::vector<To> all(sum);
    if ((error = PMPI_Gatherv(own.data(), out.degree, MPI_2INT, all.data(), counts.data(), begins.data(), MPI_2INT, 0,
                              call.comm)))
        return error;
    for (size_t r = 0; r < counts.size(); r++)
        for (int i = 0; i < counts[r]; i++) {
            const To& to = all[size_t(begins[r] + i)];
            edges.push_back({int(r), to.rank, to.weight});
        }
    return MPI_SUCCESS;
}

// On `moved`, in which ranks are the new ones: `mine` goes to its rank, that of the own rank comes.
int pass_on(MPI_Comm moved, int to, int from, std::vector<int>& mine)
{
    enum { tag_size, tag_list };
    int size = int(mine.size()), theirs, error;
    if ((error = PMPI_Sendrecv(&size, 1, MPI_INT, to, tag_size, &theirs, 1, MPI_INT, from, tag_size, moved,
                               MPI_STATUS_IGNORE)))
        return error;
    std::vector<int> list(static_cast<size_t>(theirs));
    error = PMPI_Sendrecv(mine.data(), size, MPI_INT, to, tag_list, list.data(), theirs, MPI_INT, from, tag_list, moved,
                          MPI_STATUS_IGNORE);
    mine = std::move(list);
    return error;
}

// As MPI_Dist_graph_create_adjacent on `moved`, with what the process of the same rank stated.
int attach_graph(const Call& call, const std::vector<int>& order, MPI_Comm moved, const EdgeList& in,
                 const EdgeList& out, MPI_Comm* newcomm)
{
    std::vector<int> list = {in.degree, out.degree};
    for (const EdgeList* s : {&in, &out}) {
        list.insert(list.end(), s->ranks, s->ranks + s->degree);
        if (is_weighted(*s))
            list.insert(list.end(), s->weights, s->weights + s->degree);
        else
            list.resize(list.size() + size_t(s->degree));
    }
    // The process of old rank r: which new rank it has, and the other way round.
    int new_rank;
    PMPI_Comm_rank(moved, &new_rank);
    const int from = int(std::find(order.begin(), order.end(), new_rank) - order.begin());
    if (const int error = pass_on(moved, call.rank, from, list))
        return error;
    const int ins = list[0], outs = list[1];
    const int *sources = list.data() + 2, *destinations = sources + 2 * ins;
    return PMPI_Dist_graph_create_adjacent(moved, ins, sources, is_weighted(in) ? sources + ins : MPI_UNWEIGHTED, outs,
                                           destinations, is_weighted(out) ? destinations + outs : MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 0, newcomm);
}

int load_graph_create(Reorder& reorder, MPI_Comm comm, const double* loads, EdgeList in, EdgeList out, MPI_Info info,
                      MPI_Comm* newcomm)
{
    Call call(reorder, "MPIX_Load_graph_create", comm);
    Record mine;
    int error = begin(call, info, newcomm, mine);
    if (error)
        return error;
    Fault& fault = mine.fault;
    const int working = call.size - mine.settings.spare;
    mine.settings.weighted = is_weighted(in) && is_weighted(out);
    if (!fault)
        fault = own_loads(call, loads, working, mine);
    for (const EdgeList& s : {in, out})
        if (!fault)
            fault = check_side(s, call.size);
    if (!fault && is_weighted(in) != is_weighted(out))
        fault.what = What::weights_differ;
    if (fault)
        out.degree = 0;

    Edges edges;
    if ((error = gather_edges(call, out, edges)))
        return error;
    std::vector<int> order(static_cast<size_t>(call.size));
    const Fault any = through_rank_0(call, mine, order, [&](const std::vector<Record>& all, std::vector<int>& result) {
        const Loads assigned = loads_given(call, mine, loads, all);
        const Spots spots = spots_of(all);
        result = draw_together(arrange(assigned, spots, mine.settings.domain, mine.settings.algorithm), assigned, spots,
                               edges, mine.settings.domain, base::times::graph_search_s);
    });
    if (any)
        return raise(comm, call.name, any);
    MPI_Comm moved;
    if ((error = make_comm(call, order, 0, &moved)))
        return error;
    error = attach_graph(call, order, moved, in, out, newcomm);
    PMPI_Comm_free(&moved);
    if (!error)
        error = note_spare(call, mine.settings.spare, *newcomm);
    if (!error && mine.settings.measured)
        reorder.measured.begin(call.entered);
    return error;
}

} // namespace

} // namespace ws::policy::placement

WS_EXPORT int ws_MPIX_Load_graph_create(MPI_Comm comm, const double* loads, int indegree, const int sources[],
                                        const int sourceweights[], int outdegree, const int destinations[],
                                        const int destweights[], MPI_Info info, MPI_Comm* newcomm)
{
    return ws::policy::placement::load_graph_create(ws::policy::placement::policy(), comm, loads,
                                                    {indegree, sources, sourceweights},
                                                    {outdegree, destinations, destweights}, info, newcomm);
}
