/* SPDX-License-Identifier: MIT
 *
 * What an MPI call costs that does next to nothing: with -workshare-openmp=balance the turns of the program's outer
 * loop are looked for in its calls, which are noted on their way to MPI, and so each costs a little more: here
 * waits for requests that there are not. `loops`: calls of nested loops, whose turns are found. `chance`: calls from
 * several places in no order, in which there are none.
 */
#include "bench.h"

#include <omp.h>

enum { INNER = 10, OUTER = 200, SAMPLES = 15, CALLS = OUTER * (2 * INNER + 1) };

static MPI_Request none[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
static MPI_Status statuses[1];

static double loops(void)
{
    const double began = bench_now();
    for (int i = 0; i < OUTER; i++) {
        for (int k = 0; k < INNER; k++) {
            MPI_Wait(&none[0], MPI_STATUS_IGNORE);
            MPI_Waitall(1, &none[1], statuses);
        }
        MPI_Wait(&none[2], MPI_STATUS_IGNORE);
    }
    return bench_now() - began;
}

static double by_chance(void)
{
    static unsigned chance = 1;
    const double began = bench_now();
    for (int i = 0; i < CALLS; i++) {
        chance = chance * 1103515245u + 12345u;
        switch (chance >> 16 & 3) {
        case 0: MPI_Wait(&none[0], MPI_STATUS_IGNORE); break;
        case 1: MPI_Wait(&none[1], MPI_STATUS_IGNORE); break;
        case 2: MPI_Waitall(1, &none[2], statuses); break;
        default: MPI_Waitall(1, &none[3], statuses);
        }
    }
    return bench_now() - began;
}

int main(int argc, char **argv)
{
    static const struct option options[] = { { "json", no_argument, 0, 1 }, { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    bool json = false;
    while (bench_option(argc, argv, options) != -1)
        json = true;
    int threads = 0;
    #pragma omp parallel
    #pragma omp single
    threads = omp_get_num_threads();
    double in_loops[SAMPLES], in_chance[SAMPLES]; /* nanoseconds, as others have microseconds */
    for (int i = 0; i < SAMPLES; i++) {
        in_loops[i] = loops() / CALLS * 1e3;
        in_chance[i] = by_chance() / CALLS * 1e3;
    }
    const struct bench_times of_loops = bench_summary(in_loops, SAMPLES), of_chance = bench_summary(in_chance, SAMPLES);
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"call_cost\", \"ranks\": %d, \"threads\": %d", bench_ranks, threads);
        bench_json_times("loops_ns", of_loops);
        bench_json_times("chance_ns", of_chance);
    } else if (bench_rank == 0)
        printf("a call, in loops %.1f ns, by chance %.1f ns\n", of_loops.min * 1e6, of_chance.min * 1e6);
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
