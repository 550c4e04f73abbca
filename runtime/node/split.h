// SPDX-License-Identifier: MIT
//
// Which ranks are on one node.
#pragma once

#include <mpi.h>

namespace ws::node {

// As MPI_Comm_split_type with MPI_COMM_TYPE_SHARED: collective, returns MPI's error code. Where MPI shares no memory,
// the processes of one kernel that see each other (/proc) are a node: MPICH 5 on UCX or libfabric is built so by
// default, and gives communicators of one rank. Not where MPICH was told to take one machine for several nodes
// (MPIR_CVAR_NUM_CLIQUES and the like).
int split(MPI_Comm comm, int key, MPI_Comm* node);

// The two steps of it: MPI's split, and what to do if that gave every rank of `comm` a communicator of its own.
int split_by_mpi(MPI_Comm comm, int key, MPI_Comm* node);
int without_mpi(MPI_Comm comm, int key, MPI_Comm* node);

// Whether MPI shares memory within nodes; known after a split, and true before.
bool mpi_shares_memory();

} // namespace ws::node
