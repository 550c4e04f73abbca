/* SPDX-License-Identifier: MIT
 *
 * pages N: windows whose parts are whole pages, N times. MPICH wants such a part at the same address in all ranks and
 * tries random ones; half of its tries fail, as rank 1 has kept nearly half of the addresses for itself. */
#define _GNU_SOURCE
#include "test.h"
#include <stdint.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const int times = atoi(argv[1]);
    const size_t kept = (size_t)48 << 40, page = (size_t)sysconf(_SC_PAGESIZE);
    void *const from = (void *)((uintptr_t)16 << 40);
    int fine = rank != 1 || mmap(from, kept, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == from;
    MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!fine) {
        if (rank == 0)
            printf("no room\n");
        return end();
    }
    for (int i = 0; i < times; i++) {
        MPI_Win window;
        char *part;
        const MPI_Aint bytes = (MPI_Aint)(page * (size_t)(1 + i % 5));
        if (i % 2)
            MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
        else
            MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &window);
        memset(part, rank + 1, (size_t)bytes);
        if (i % 2 == 0) { /* it is one memory */
            MPI_Aint size;
            int unit;
            char *other;
            const int next = (rank + 1) % ranks;
            MPI_Win_fence(0, window);
            MPI_Win_shared_query(window, next, &size, &unit, &other);
            CHECK(size == bytes && other[0] == next + 1 && other[bytes - 1] == next + 1);
            MPI_Win_fence(0, window);
        }
        MPI_Win_free(&window);
    }
    if (rank == 0)
        printf("%d windows\n", times);
    return end();
}
