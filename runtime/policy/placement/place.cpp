// SPDX-License-Identifier: MIT
#include "policy/placement/place.h"

#include "base/cpus.h"
#include "node/split.h"

#include <algorithm>
#include <mutex>

namespace ws::policy::placement {

using window::CpuPlace;

namespace {

// MPI's key of the attribute, made once in a process: any job's.
std::mutex key_lock;
int notes_key = MPI_KEYVAL_INVALID;

int copy_notes(MPI_Comm, int, void*, void* from, void* to, int* flag)
{
    Notes* copy = new Notes(*static_cast<Notes*>(from));
    copy->line = nullptr;
    *static_cast<Notes**>(to) = copy;
    *flag = 1;
    return MPI_SUCCESS;
}

int delete_notes(MPI_Comm, int, void* value, void*)
{
    delete static_cast<Notes*>(value);
    return MPI_SUCCESS;
}

// The cores of the calling process, each once.
std::vector<CpuPlace> own_cores(const std::vector<CpuPlace>& cpus, int* first_cpu = nullptr)
{
    std::vector<CpuPlace> cores;
    const base::CpuSet own = base::own_cpus();
    for (int c = own.mask().first(); c >= 0; c = own.mask().first(c + 1)) {
        CpuPlace place = size_t(c) < cpus.size() ? cpus[size_t(c)] : CpuPlace{-1, -1};
        if (place.core < 0)
            place.core = int(cpus.size()) + c; // not in the machine's description: a core by itself
        if (cores.empty() && first_cpu)
            *first_cpu = c;
        if (std::none_of(cores.begin(), cores.end(), [&](const CpuPlace& other) { return other.core == place.core; }))
            cores.push_back(place);
    }
    return cores;
}

// Collective over the processes of a node.
int look_around(MPI_Comm node, Machine& machine)
{
    int rank, error;
    PMPI_Comm_rank(node, &rank);
    if (rank == 0)
        machine.cpus = window::cpu_places(); // by one: reading the machine's description takes milliseconds
    int head[2] = {int(machine.cpus.size()), machine.node};
    if ((error = PMPI_Bcast(head, 2, MPI_INT, 0, node)))
        return error;
    machine.cpus.resize(size_t(head[0]));
    machine.node = head[1];
    static_assert(sizeof(CpuPlace) == 2 * sizeof(int));
    if ((error = PMPI_Bcast(machine.cpus.data(), 2 * head[0], MPI_INT, 0, node)))
        return error;
    // Processes with the same first CPU are taken to have the same choice. Those bound to one core have none.
    int first = 0;
    const bool choice = own_cores(machine.cpus, &first).size() > 1;
    if (!choice)
        first = -1;
    int size;
    PMPI_Comm_size(node, &size);
    std::vector<int> firsts(static_cast<size_t>(size));
    error = PMPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, node);
    machine.turn = choice ? int(std::count(firsts.begin(), firsts.begin() + rank, first)) : 0;
    return error;
}

} // namespace

Spot spot(const Machine& machine)
{
    const std::vector<CpuPlace> cores = own_cores(machine.cpus);
    if (cores.empty())
        return {machine.node, 0, machine.turn};
    const CpuPlace& c = cores[size_t(machine.turn) % cores.size()];
    return {machine.node, c.numa, c.core};
}

const Notes* notes(MPI_Comm comm)
{
    Notes* found = nullptr;
    int flag = 0;
    if (notes_key != MPI_KEYVAL_INVALID)
        PMPI_Comm_get_attr(comm, notes_key, &found, &flag);
    return flag ? found : nullptr;
}

int set_notes(MPI_Comm comm, const Notes& value)
{
    {
        std::lock_guard<std::mutex> guard(key_lock);
        int error;
        if (notes_key == MPI_KEYVAL_INVALID &&
            (error = PMPI_Comm_create_keyval(copy_notes, delete_notes, &notes_key, nullptr)))
            return error;
    }
    return PMPI_Comm_set_attr(comm, notes_key, new Notes(value));
}

int MachineOfJob::find(const policy::Job& job, MPI_Comm comm, std::shared_ptr<const Machine>& machine)
{
    {
        std::lock_guard<std::mutex> guard(lock_);
        machine = found_;
    }
    if (machine)
        return MPI_SUCCESS;
    const Notes* known = notes(comm);
    if (known && (machine = known->machine))
        return MPI_SUCCESS;

    auto found = std::make_shared<Machine>();
    int size, job_size, error;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(MPI_COMM_WORLD, &job_size);
    const bool all = size == job_size; // MPICH 4.0.2 on ucx knows no other jobs
    if (all && job.node != MPI_COMM_NULL) {
        found->node = job.node_number;
        if ((error = look_around(job.node, *found)))
            return error;
    } else {
        MPI_Comm node;
        PMPI_Comm_rank(comm, &found->node); // of the node's first process
        if ((error = node::split(comm, 0, &node)))
            return error;
        error = look_around(node, *found);
        PMPI_Comm_free(&node);
        if (error)
            return error;
    }
    machine = found;
    if (all) {
        std::lock_guard<std::mutex> guard(lock_);
        found_ = machine;
        return MPI_SUCCESS;
    }
    Notes n = known ? *known : Notes();
    n.machine = machine;
    return set_notes(comm, n);
}

} // namespace ws::policy::placement
