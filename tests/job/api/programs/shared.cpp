// SPDX-License-Identifier: MIT
//
// What bodies do besides computing: critical sections of one name from C, C++ and several ranks, and MPI calls.
#include "../../mpi/programs/test.h"

#include <mutex>
#include <vector>
#include <workshare/ws.hpp>

WS_CRITICAL(from_c, "totals");
static ws::critical from_cpp("totals");

int main(int argc, char** argv)
{
    ws_bodies_call_mpi();
    begin(&argc, &argv);
    int level;
    MPI_Query_thread(&level);
    const bool shared = argc > 1 && !strcmp(argv[1], "shared");
    CHECK((level == MPI_THREAD_MULTIPLE) == shared);

    // Additions that are not atomic, in memory that the ranks share.
    MPI_Win window;
    long* total;
    MPI_Aint size;
    int unit;
    MPI_Win_allocate_shared(rank == 0 ? sizeof *total : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &total, &window);
    MPI_Win_shared_query(window, 0, &size, &unit, &total);
    if (rank == 0)
        *total = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    auto add = [&] {
        volatile long* t = total;
        const long before = *t;
        busy(1e-6);
        *t = before + 1;
    };
    const int n = rank == 0 ? 4000 : 1000;
    ws::for_each(0, n, [&](int i) {
        if (i % 2) {
            std::lock_guard<ws::critical> lock(from_cpp);
            add();
        } else {
            ws_critical_start(&from_c);
            add();
            ws_critical_end(&from_c);
        }
    }, "sections");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(*total == 3000 + 1000 * ranks);
    MPI_Win_free(&window);

    // Each iteration sends itself a message.
    std::vector<int> got(rank == 0 ? 2000 : 10, -1);
    ws::for_each(0, static_cast<int>(got.size()), [&](int i) {
        MPI_Request request;
        int out = i;
        MPI_Irecv(&got[static_cast<size_t>(i)], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request);
        MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        busy(5e-6);
    });
    for (size_t i = 0; i < got.size(); i++)
        CHECK(got[i] == static_cast<int>(i));
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
