// SPDX-License-Identifier: MIT
//
// MPIX_Dist_load_create. Loads come into classes, heaviest first; a sum over the processes tells what is in each class,
// a scan where in the order each load stands. The order is assigned to units (cores or nodes) by turns, so a process
// knows which place in it is its own. The process that knows a load and the process that has its place meet at the
// process that the place's number names.
//
// With "roundrobin" that is all, as in the paper. Otherwise units side by side form a cell, and its first process
// assigns the cell's loads as MPIX_Load_create does; a communicator that is no larger than a cell goes that way alone.
#include "policy/placement/call.h"
#include "policy/placement/exports.h"
#include "policy/placement/line.h"
#include "base/os.h"

#include <algorithm>

namespace ws::policy::placement {

namespace {

struct Pair {
    int rank;
    double load;
};
// The loads that the calling process knows, of ranks with work. By their average once that is known: then no sum is
// beyond what a double can be.
using KnownLoads = std::vector<Pair>;

// Reduced over all processes: what nobody may get wrong, and the sums.
struct Agreed {
    Fault fault;
    PlacementSettings settings; // of `rank`
    int rank;
    bool all_own;              // every process gives its own load alone
    int64_t count;             // loads
    uint64_t given, wanted;    // sums of marks
    long double sum;           // of finite doubles: always finite
};

Agreed join(const Agreed& a, const Agreed& b)
{
    Agreed r = a.rank < b.rank ? a : b;
    const Agreed& other = a.rank < b.rank ? b : a;
    if (!r.fault)
        r.fault = other.fault;
    if (!r.fault && (r.settings != other.settings || r.settings.measured != other.settings.measured)) {
        r.fault.what = r.settings != other.settings ? What::info_differs : What::measured_differs;
        r.fault.rank = other.rank;
        r.fault.index = r.rank;
    }
    r.all_own = a.all_own && b.all_own;
    r.count += other.count;
    r.given += other.given;
    r.wanted += other.wanted;
    r.sum += other.sum;
    return r;
}

// Values of all processes into the first's, then the same for all, to the last bit: all decide alike.
template <class Value, Value (*join)(const Value&, const Value&)>
int reduce_to_all(std::vector<Value>& values, MPI_Comm comm)
{
    MPI_Datatype type;
    MPI_Op op;
    auto apply = [](void* from, void* into, int* length, MPI_Datatype*) {
        for (int i = 0; i < *length; i++)
            static_cast<Value*>(into)[i] = join(static_cast<Value*>(from)[i], static_cast<Value*>(into)[i]);
    };
    int error, rank, count = int(values.size());
    PMPI_Comm_rank(comm, &rank);
    if ((error = PMPI_Type_contiguous(sizeof(Value), MPI_BYTE, &type)))
        return error;
    PMPI_Type_commit(&type);
    if (!(error = PMPI_Op_create(apply, 1, &op))) {
        error = PMPI_Reduce(rank == 0 ? MPI_IN_PLACE : values.data(), rank == 0 ? values.data() : nullptr, count, type,
                            op, 0, comm);
        PMPI_Op_free(&op);
    }
    if (!error)
        error = PMPI_Bcast(values.data(), count, type, 0, comm);
    PMPI_Type_free(&type);
    return error;
}

Tally join_tallies(const Tally& a, const Tally& b) { return a + b; }

// Finds a rank whose load is given never, or more than once: halves the ranks, and goes on with a half that is known to
// contain one.
Fault find_wrong_rank(const Call& call, const KnownLoads& known, int working)
{
    long low = 0, high = working;
    int64_t count = 0;
    while (high - low > 0) {
        const long middle = high - low > 1 ? (low + high) / 2 : high;
        int64_t half[2] = {0, 0}; // loads, difference of the marks
        for (const Pair& p : known)
            if (p.rank >= low && p.rank < middle) {
                half[0]++;
                half[1] = int64_t(uint64_t(half[1]) + mark(p.rank));
            }
        if (call.rank >= low && call.rank < middle)
            half[1] = int64_t(uint64_t(half[1]) - mark(call.rank));
        if (const Fault broken = mpi_fault(PMPI_Allreduce(MPI_IN_PLACE, half, 2, MPI_INT64_T, MPI_SUM, call.comm)))
            return broken;
        if (middle == high) {
            count = half[0];
            break;
        }
        (half[0] != middle - low || half[1] != 0 ? high : low) = middle;
    }
    Fault f;
    f.what = What::rank_given;
    f.index = low;
    f.value = double(count);
    return f;
}

// Rank 0 gets all loads and assigns them.
Fault assign_at_rank_0(const Call& call, const Record& mine, const KnownLoads& known, bool all_own,
                       std::vector<int>& order)
{
    std::vector<Pair> pairs;
    std::vector<int> counts, begins;
    if (!all_own) {
        const int count = int(known.size());
        MPI_Datatype type;
        PMPI_Type_contiguous(sizeof(Pair), MPI_BYTE, &type);
        PMPI_Type_commit(&type);
        if (call.rank == 0) {
            counts.resize(size_t(call.size));
            begins.resize(size_t(call.size));
            pairs.resize(size_t(call.size - mine.settings.spare)); // the number of pairs
        }
        int error = PMPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, call.comm);
        for (size_t r = 1; r < counts.size(); r++)
            begins[r] = begins[r - 1] + counts[r - 1];
        if (!error)
            error =
                PMPI_Gatherv(known.data(), count, type, pairs.data(), counts.data(), begins.data(), type, 0, call.comm);
        PMPI_Type_free(&type);
        if (error)
            return mpi_fault(error);
    }
    return through_rank_0(call, mine, order, [&](const std::vector<Record>& all, std::vector<int>& result) {
        Loads loads;
        if (all_own)
            loads = loads_of(all);
        loads.resize(size_t(call.size));
        for (const Pair& p : pairs)
            loads[size_t(p.rank)] = p.load;
        result = arrange(loads, spots_of(all), mine.settings.domain, mine.settings.algorithm);
    });
}

// Rounds: what is in each class, until classes are fine enough; then the place in the order of each load of the calling
// process.
int find_places(const KnownLoads& known, const ProcessLine& line, std::vector<int>& places)
{
    int error;
    Classes classes;
    std::vector<Tally> tallies;
    std::vector<int> in_class(known.size());
    do {
        tallies.assign(size_t(classes.count), {});
        for (size_t i = 0; i < known.size(); i++) {
            in_class[i] = classes.of(known[i].load);
            Tally& t = tallies[size_t(in_class[i])];
            t = t + Tally{1, known[i].load, known[i].load};
        }
        if ((error = reduce_to_all<Tally, join_tallies>(tallies, line.comm)))
            return error;
    } while (refine(classes, tallies, number_of_units(line.units)));

    std::vector<int> mine(size_t(classes.count)), next(size_t(classes.count));
    for (int c : in_class)
        mine[size_t(c)]++;
    if ((error = PMPI_Exscan(mine.data(), next.data(), classes.count, MPI_INT, MPI_SUM, line.comm)))
        return error;
    if (line.at == 0)
        std::fill(next.begin(), next.end(), 0);
    int before = 0;
    for (size_t c = 0; c < next.size(); c++) {
        next[c] += before;
        before += int(tallies[c].count);
    }
    for (int c : in_class)
        places.push_back(next[size_t(c)]++);
    return MPI_SUCCESS;
}

enum Tag { tag_load, tag_wants, tag_gets, tag_rank };

struct SlotRequest { // sent by the process that has a place, to the process that the place's number names
    int leader, index;
    double present; // load of the process as it is
};
struct Gets { // sent on from there, to the leader of the former process
    int index;
    Pair pair;
    double present;
};

// Brings together the process that knows a load and the one that has its place. The leaders of cells learn the loads of
// their processes, and with `reassigns` assign them again. Returns the new rank of the calling process.
int meet(const KnownLoads& known, const std::vector<int>& places, const ProcessLine& line,
         const PlacementSettings& settings, double present, bool present_known, int& new_rank)
{
    const bool reassigns = settings.algorithm != Algorithm::round_robin;
    const MPI_Comm comm = line.comm;
    const int at = line.at;
    int size, error;
    PMPI_Comm_size(comm, &size);
    const int working = size - settings.spare;

    Pair pair = {at, 0}; // the place of a spare rank has its number
    SlotRequest wants, from_me = {reassigns ? line.leader : at, reassigns ? at - line.leader : 0, present};
    MPI_Request here[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (at < working)
        PMPI_Irecv(&pair, sizeof pair, MPI_BYTE, MPI_ANY_SOURCE, tag_load, comm, &here[0]);
    PMPI_Irecv(&wants, sizeof wants, MPI_BYTE, MPI_ANY_SOURCE, tag_wants, comm, &here[1]);
    std::vector<MPI_Request> sends;
    auto send = [&](const auto& what, int to, int tag) {
        sends.push_back(MPI_REQUEST_NULL);
        return PMPI_Isend(&what, sizeof what, MPI_BYTE, to, tag, comm, &sends.back());
    };
    for (size_t i = 0; i < known.size(); i++)
        if ((error = send(known[i], places[i], tag_load)))
            return error;
    if ((error = send(from_me, int(place_of(line.units, line.number, line.slot, reassigns)), tag_wants)) ||
        (error = PMPI_Waitall(2, here, MPI_STATUSES_IGNORE)))
        return error;
    const Gets gets = {wants.index, pair, wants.present};
    if ((error = send(gets, wants.leader, tag_gets)))
        return error;

    const size_t members = !reassigns ? 1 : line.leader == at ? line.members.size() : 0;
    Loads loads(members), were(members);
    std::vector<int> ranks(members), new_ranks(members);
    for (size_t i = 0; i < members; i++) {
        Gets g;
        if ((error = PMPI_Recv(&g, sizeof g, MPI_BYTE, MPI_ANY_SOURCE, tag_gets, comm, MPI_STATUS_IGNORE)))
            return error;
        ranks[size_t(g.index)] = g.pair.rank;
        loads[size_t(g.index)] = g.pair.load;
        were[size_t(g.index)] = g.present;
    }
    double heights[2] = {0, 0}; // of the highest unit: as it is, as it would be
    if (!reassigns)
        new_rank = ranks[0];
    else {
        if (members) {
            const std::vector<int> order = arrange(loads, line.members, settings.domain, settings.algorithm);
            for (size_t i = 0; i < members; i++)
                new_ranks[size_t(order[i])] = ranks[i];
            Loads become(members);
            for (size_t i = 0; i < members; i++)
                become[size_t(order[i])] = loads[i];
            heights[0] = highest(were, line.members, settings.domain);
            heights[1] = highest(become, line.members, settings.domain);
        }
        for (size_t i = 0; i < members; i++)
            if ((error = send(new_ranks[i], at + int(i), tag_rank)))
                return error;
        if ((error = PMPI_Recv(&new_rank, 1, MPI_INT, line.leader, tag_rank, comm, MPI_STATUS_IGNORE)))
            return error;
    }
    if ((error = PMPI_Waitall(int(sends.size()), sends.data(), MPI_STATUSES_IGNORE)))
        return error;
    if (settings.algorithm == Algorithm::automatic && present_known) {
        if ((error = PMPI_Allreduce(MPI_IN_PLACE, heights, 2, MPI_DOUBLE, MPI_MAX, comm)))
            return error;
        if (heights[0] <= heights[1] * (1 + 1e-12))
            new_rank = -1;
    }
    return MPI_SUCCESS;
}

int dist_load_create(Reorder& reorder, MPI_Comm comm, int count, const int* ranks, const double* loads, MPI_Info info,
                     MPI_Comm* newcomm)
{
    Call call(reorder, "MPIX_Dist_load_create", comm);
    Record mine;
    int error = begin(call, info, newcomm, mine);
    if (error)
        return error;
    Fault& fault = mine.fault;
    const int working = call.size - mine.settings.spare;
    if (!fault && loads == MPIX_LOADS_MEASURED) { // each gives its own
        fault = own_loads(call, loads, 1, mine);
        count = call.rank < working;
        ranks = &call.rank;
        loads = &mine.load;
    } else if (!fault && count < 0) {
        fault.what = What::count;
        fault.value = count;
    } else if (!fault && count > 0 && !ranks)
        fault.what = What::no_ranks;
    else if (!fault)
        fault = own_loads(call, loads, count, mine);
    for (int i = 0; i < count && !fault; i++)
        if (ranks[i] < 0 || ranks[i] >= working) {
            fault.what = What::rank_range;
            fault.index = i;
            fault.value = ranks[i];
        }
    fault.rank = call.rank;
    KnownLoads known;
    std::vector<Agreed> head(1);
    head[0] = {fault, mine.settings, call.rank, true, 0, 0, call.rank < working ? mark(call.rank) : 0, 0};
    for (int i = 0; i < count && !fault; i++) {
        known.push_back({ranks[i], loads[i]});
        head[0].count++;
        head[0].given += mark(ranks[i]);
        head[0].sum += loads[i];
    }
    head[0].all_own = known.size() == size_t(call.rank < working) && (known.empty() || known[0].rank == call.rank);
    if ((error = reduce_to_all<Agreed, join>(head, comm)))
        return error;
    if (!(fault = head[0].fault) && (head[0].count != working || head[0].given != head[0].wanted))
        fault = find_wrong_rank(call, known, working);
    if (fault)
        return raise(comm, call.name, fault);

    for (Pair& p : known)
        p.load = head[0].sum > 0 ? double(p.load / (head[0].sum / (long double)working)) : 0;
    if (head[0].all_own)
        mine.load = known.empty() ? 0 : known[0].load;

    const PlacementSettings& s = mine.settings;
    if (call.size <= s.cell && s.algorithm != Algorithm::round_robin) {
        std::vector<int> order(static_cast<size_t>(call.size));
        if ((fault = assign_at_rank_0(call, mine, known, head[0].all_own, order)))
            return raise(comm, call.name, fault);
        error = make_comm(call, order, s.spare, newcomm);
    } else {
        std::shared_ptr<const ProcessLine> line;
        std::vector<int> places;
        int new_rank;
        if ((error = find_line(comm, call.machine, s.domain, s.cell, line)) ||
            (error = find_places(known, *line, places)) ||
            (error = meet(known, places, *line, s, mine.load, head[0].all_own, new_rank)) ||
            (error = PMPI_Comm_split(comm, 0, new_rank < 0 ? call.rank : new_rank, newcomm)))
            return error;
        error = note_spare(call, s.spare, *newcomm);
    }
    if (!error && s.measured)
        reorder.measured.begin(call.entered);
    return error;
}

} // namespace

} // namespace ws::policy::placement

WS_EXPORT int ws_MPIX_Dist_load_create(MPI_Comm comm, int count, const int ranks[], const double* loads, MPI_Info info,
                                       MPI_Comm* newcomm)
{
    return ws::policy::placement::dist_load_create(ws::policy::placement::policy(), comm, count, ranks, loads, info,
                                                   newcomm);
}
