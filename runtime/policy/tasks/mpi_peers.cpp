// SPDX-License-Identifier: MIT
#include "node/split.h"
#include "policy/mpi_processes.h"
#include "policy/tasks/mpi_wire.h"
#include "policy/tasks/nblb.h"
#include "policy/tasks/peers.h"
#include "policy/world_ranks.h"

namespace ws::policy::tasks {

namespace {

class MpiPeers final : public Peers {
public:
    explicit MpiPeers(MPI_Comm comm) : Peers(processes_of(comm, "tasks: a message")) {}
    ~MpiPeers() override
    {
        for (MPI_Comm* const own : {&wire_, &node_})
            if (*own != MPI_COMM_NULL)
                PMPI_Comm_free(own);
    }

    Places places() override
    {
        const MPI_Comm comm = all().comm;
        Places p;
        node::split(comm, all().rank, &node_);
        PMPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
        int ranks;
        PMPI_Comm_rank(node_, &p.node_me);
        PMPI_Comm_size(node_, &ranks);
        p.node = node_;
        p.node_ranks.resize(size_t(ranks));
        PMPI_Allgather(&all().rank, 1, MPI_INT, p.node_ranks.data(), 1, MPI_INT, node_);
        p.first.resize(size_t(all().size));
        PMPI_Allgather(p.node_ranks.data(), 1, MPI_INT, p.first.data(), 1, MPI_INT, comm);
        p.in_world = world_ranks(comm);
        return p;
    }

    // MPI connects two processes with their first message, which takes a millisecond and more where processes share
    // cores.
    std::unique_ptr<Wire> open_wire(Wire::Receive receive, const std::vector<int>& meets) override
    {
        PMPI_Comm_dup(all().comm, &wire_);
        for (const int other : meets)
            PMPI_Sendrecv(nullptr, 0, MPI_BYTE, other, 0, nullptr, 0, MPI_BYTE, other, 0, wire_, MPI_STATUS_IGNORE);
        return std::make_unique<MpiWire>(wire_, std::move(receive));
    }

    bool lets_threads_in() const override
    {
        int level = MPI_THREAD_SINGLE;
        PMPI_Query_thread(&level);
        return level == MPI_THREAD_MULTIPLE;
    }

private:
    MPI_Comm node_ = MPI_COMM_NULL, wire_ = MPI_COMM_NULL;
};

} // namespace

Sums summed(const Sums& mine)
{
    Sums all;
    PMPI_Reduce(&mine, &all, sizeof(Sums) / sizeof(uint64_t), MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
}

std::unique_ptr<Peers> peers_of(MPI_Comm comm) { return std::make_unique<MpiPeers>(comm); }

} // namespace ws::policy::tasks
