// SPDX-License-Identifier: MIT
//
// The timeline of a job (-workshare-trace): every rank records in its own memory, and at the end rank 0 writes one
// file. Shared by the files of this folder alone.
#pragma once

namespace ws::mpi {

struct Job;

// At attach, before any thread records: whether the file can be written is found out now, not at the end of a long run;
// if it cannot, the job ends. Then the clocks of the nodes are compared, and recording begins. Collective over
// MPI_COMM_WORLD, as is the next.
void prepare_trace(Job& job);
// To be called when no rank shares any more: nothing is written to the logs from then on.
void write_trace(Job& job);

} // namespace ws::mpi
