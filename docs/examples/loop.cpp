/* SPDX-License-Identifier: MIT
 *
 * A loop in C++ without the compiler plugin. Each rank owns some values; rank 0 owns most of them.
 *
 * Compile: mpicxx -O3 loop.cpp -o loop -lws
 * Run:     mpirun -workshare -n 2 ./loop
 * Prints:  largest 0.999746 of 110000 values
 */
#include <algorithm>
#include <cstdio>
#include <mpi.h>
#include <vector>
#include <workshare/ws.hpp>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<double> values(rank == 0 ? 100000 : 10000);
    for (std::size_t i = 0; i < values.size(); i++)
        values[i] = double(i % 1000 + 1) / 1002;

    ws::for_each(values, [](double &value) {
        for (int i = 0; i < 200; i++)           /* the logistic map */
            value = 3.999 * value * (1 - value);
    }, "logistic map");
    double largest = ws::transform_reduce(values, 0.0, [](double a, double b) { return std::max(a, b); },
                                          [](double value) { return value; });

    long count = long(values.size());
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("largest %.6f of %ld values\n", largest, count);
    MPI_Finalize();
}
