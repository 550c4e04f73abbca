/* SPDX-License-Identifier: MIT
 *
 * How long MPI_Init takes, and the memory of a rank that does nothing else: bench_json_end() prints both.
 */
#include "bench.h"

int main(int argc, char **argv)
{
    enum { JSON = 1, HELP };
    static const struct option options[] = { { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case JSON: json = true; break;
        case HELP:
            if (bench_rank == 0)
                puts("startup: the time of MPI_Init, the slowest rank counts\n  --json  one JSON object instead of "
                     "text");
            MPI_Finalize();
            return 0;
        }
    double slowest = 0;
    MPI_Reduce(&bench_init_seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (bench_rank == 0 && json)
        printf("{\"program\": \"startup\", \"ranks\": %d", bench_ranks);
    else if (bench_rank == 0)
        printf("MPI_Init %.3f ms\n", slowest * 1e3);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
