/* SPDX-License-Identifier: MIT
 *
 * A pool of tasks in C++: tasks that put tasks, results that are combined, and a future.
 *
 * Compile: mpicxx -O3 squares.cpp -o squares -lws
 * Run:     mpirun -workshare -n 2 ./squares
 * Prints:  sum 338350, square of 7: 49
 */
#include <cstdio>
#include <functional>
#include <mpi.h>
#include <tuple>
#include <workshare/task.hpp>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    {
        ws::task_pool pool(MPI_COMM_WORLD);
        auto square = pool.kind("square", [](long n) { return n * n; });
        /* Splits its range in two until one number is left. Its results are added up. */
        ws::task_kind<void, std::tuple<long, long>, long> range;
        range = pool.kind("range", [&](long lo, long hi) -> long {
            if (hi - lo == 1)
                return lo * lo;
            pool.put(range, lo, (lo + hi) / 2);
            pool.put(range, (lo + hi) / 2, hi);
            return 0;
        }, std::plus<long>());

        ws::task_future<long> seven = pool.submit(square, 7);
        if (rank == 0)
            pool.put(range, 1L, 101L);
        pool.run();
        if (rank == 0)
            std::printf("sum %ld, square of 7: %ld\n", pool.total(range), seven.get());
    }
    MPI_Finalize();
}
