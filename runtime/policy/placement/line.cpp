// SPDX-License-Identifier: MIT
#include "policy/placement/line.h"

#include "node/split.h"

#include <algorithm>
#include <numeric>

namespace ws::policy::placement {

namespace {

enum LineTag { tag_first, tag_seat };

// Where the calling process comes in its node, which is as large as the machine is, not as the job.
struct InNode {
    int slot, room, first; // in its core, processes of the core, processes of cores before
    int size;              // of the node
};

int look(MPI_Comm node, const Spot& s, InNode& in)
{
    int rank, error;
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_size(node, &in.size);
    std::vector<int> cores(static_cast<size_t>(in.size));
    if ((error = PMPI_Allgather(&s.core, 1, MPI_INT, cores.data(), 1, MPI_INT, node)))
        return error;
    in.slot = int(std::count(cores.begin(), cores.begin() + rank, s.core));
    in.room = int(std::count(cores.begin(), cores.end(), s.core));
    in.first = int(std::count_if(cores.begin(), cores.end(), [&](int core) { return core < s.core; }));
    return MPI_SUCCESS;
}

// How many processes are on nodes before; the same on all of a node.
int nodes_before(MPI_Comm comm, MPI_Comm node, int size, int& before)
{
    int rank, in_node, error;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_rank(node, &in_node);
    const int mine = in_node == 0 ? size : 0;
    if ((error = PMPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, comm)))
        return error;
    if (rank == 0)
        before = 0;
    return PMPI_Bcast(&before, 1, MPI_INT, 0, node);
}

int number_units(ProcessLine& line, int room)
{
    int ends[2] = {room, -room}, error;
    if ((error = PMPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, line.comm)))
        return error;
    line.units.least_room = -ends[1];
    const size_t kinds = size_t(ends[0] + ends[1] + 1), kind = size_t(room + ends[1]);
    std::vector<int> mine(kinds), before(kinds);
    line.units.count.resize(kinds);
    mine[kind] = line.slot == 0;
    if ((error = PMPI_Exscan(mine.data(), before.data(), int(kinds), MPI_INT, MPI_SUM, line.comm)) ||
        (error = PMPI_Allreduce(mine.data(), line.units.count.data(), int(kinds), MPI_INT, MPI_SUM, line.comm)))
        return error;
    // The first process of a unit has counted it; the others come after it.
    line.number = (line.at == 0 ? 0 : before[kind]) - (line.slot != 0);
    line.number += std::accumulate(line.units.count.begin(), line.units.count.begin() + int(kind), 0);
    return MPI_SUCCESS;
}

// A unit belongs to the cell in which its first process stands, were they all of the same size.
int form_cells(ProcessLine& line, const Spot& own, int first, int room)
{
    int size, largest = line.units.least_room + int(line.units.count.size()) - 1, error;
    PMPI_Comm_size(line.comm, &size);
    const int cell = int(std::clamp<int64_t>(line.cell_size, std::min<int64_t>(2 * int64_t(largest), size), size));
    auto cell_of = [&](int unit) { return unit / cell; };
    const bool last = line.at == first + room - 1 && (first + room == size || cell_of(first + room) != cell_of(first));
    int before = -1;
    if ((error = PMPI_Sendrecv(&first, 1, MPI_INT, line.at + 1 < size ? line.at + 1 : MPI_PROC_NULL, tag_first, &before,
                               1, MPI_INT, line.at > 0 ? line.at - 1 : MPI_PROC_NULL, tag_first, line.comm,
                               MPI_STATUS_IGNORE)))
        return error;
    const bool leads = line.at == 0 || (before != first && cell_of(before) != cell_of(first));
    int candidate = leads ? line.at : 0;
    if ((error = PMPI_Scan(&candidate, &line.leader, 1, MPI_INT, MPI_MAX, line.comm)))
        return error;
    struct CellEntry {
        Spot spot;
        int at, last;
    } mine = {own, line.at, last};
    MPI_Request request;
    if ((error = PMPI_Isend(&mine, sizeof mine, MPI_BYTE, line.leader, tag_seat, line.comm, &request)))
        return error;
    for (size_t received = 0, members = 0; leads && !error && (members == 0 || received < members); received++) {
        CellEntry m;
        if ((error = PMPI_Recv(&m, sizeof m, MPI_BYTE, MPI_ANY_SOURCE, tag_seat, line.comm, MPI_STATUS_IGNORE)))
            break;
        const size_t i = size_t(m.at - line.at);
        if (line.members.size() <= i)
            line.members.resize(i + 1);
        line.members[i] = m.spot;
        if (m.last)
            members = i + 1;
    }
    const int sent = PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return error ? error : sent;
}

int make_line(MPI_Comm comm, const Machine& machine, ProcessLine& line)
{
    const Spot own = spot(machine);
    MPI_Comm node;
    int before = 0, error;
    if ((error = node::split(comm, 0, &node)))
        return error;
    InNode in;
    if (!(error = look(node, own, in)))
        error = nodes_before(comm, node, in.size, before);
    PMPI_Comm_free(&node);
    if (error)
        return error;
    int first = before + in.first, room = in.room;
    line.slot = in.slot;
    line.at = first + in.slot;
    if (line.domain != Domain::core) {
        first = before;
        room = in.size;
        line.slot = line.at - before;
    }
    if ((error = PMPI_Comm_split(comm, 0, line.at, &line.comm)) || (error = number_units(line, room)))
        return error;
    return form_cells(line, own, first, room);
}

} // namespace

ProcessLine::~ProcessLine()
{
    int finalized = 0;
    if (comm != MPI_COMM_NULL && PMPI_Finalized(&finalized) == MPI_SUCCESS && !finalized)
        PMPI_Comm_free(&comm);
}

int find_line(MPI_Comm comm, const std::shared_ptr<const Machine>& machine, Domain domain, int cell_size,
              std::shared_ptr<const ProcessLine>& line)
{
    const Notes* known = notes(comm);
    if (known && known->line && known->line->domain == domain && known->line->cell_size == cell_size) {
        line = known->line;
        return MPI_SUCCESS;
    }
    auto made = std::make_shared<ProcessLine>();
    made->domain = domain;
    made->cell_size = cell_size;
    int error = make_line(comm, *machine, *made);
    if (error)
        return error;
    line = made;
    Notes n = known ? *known : Notes();
    n.line = line;
    return set_notes(comm, n);
}

} // namespace ws::policy::placement
