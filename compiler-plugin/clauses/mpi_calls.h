// SPDX-License-Identifier: MIT
//
// What a call of MPI in a shared loop means, by the function's name alone.
#ifndef WS_CLAUSES_MPI_CALLS_H
#define WS_CLAUSES_MPI_CALLS_H

#include <string>

namespace ws {

enum class MpiCall {
    none, // not MPI
    harmless, // looks something up: any thread may, at any thread level
    communicates, // point-to-point, I/O, requests: allowed, needs MPI_THREAD_MULTIPLE when chunks run on two cores
    collective, // refused
    one_sided, // refused
    whole_program, // MPI_Init, MPI_Finalize, ...: refused
    opens_file, // collective over its communicator, the first argument: refused if that is MPI_COMM_WORLD
};

// `name` is a linker symbol: C's MPI_Send and PMPI_Send, Fortran's mpi_send_ and its like.
MpiCall mpi_call(const std::string& name);

// MPI's own spelling of such a symbol, for messages: "MPI_Send" for all of them.
std::string mpi_name(const std::string& symbol);

inline bool is_refused(MpiCall call)
{
    return call == MpiCall::collective || call == MpiCall::one_sided || call == MpiCall::whole_program;
}

// Why: what follows "MPI_X: " in the message.
const char* why_refused(MpiCall call);

} // namespace ws

#endif
