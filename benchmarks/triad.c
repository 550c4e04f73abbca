/* SPDX-License-Identifier: MIT
 *
 * A memory-bound loop that is unevenly cut: y = x + a * z, of which rank 0 has --share percent. Where one core
 * saturates the memory a thief gains nothing, and must cost nothing.
 */
#include "bench.h"

struct triad {
    long n;                     /* of this rank */
    double a, *x, *y, *z;
};

static void run_shared(void *context)
{
    const struct triad *t = (const struct triad *) context;
    double *y = t->y, *x = t->x, *z = t->z, a = t->a;
    long n = t->n;
#pragma ws for
    for (long i = 0; i < n; i++)
        y[i] = x[i] + a * z[i];
    MPI_Barrier(MPI_COMM_WORLD);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("triad: a memory-bound loop, unevenly cut, barrier to barrier\n"
             "  --elements N    of all ranks together (6000000, 144 MB)\n"
             "  --share P       rank 0's part, in percent (75)\n"
             "  --repeats R     timed runs (100)\n"
             "  --warmup W      runs before them (5)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { ELEMENTS = 1, SHARE, REPEATS, WARMUP, JSON, HELP };
    static const struct option options[] = {
        { "elements", required_argument, 0, ELEMENTS }, { "share", required_argument, 0, SHARE },
        { "repeats", required_argument, 0, REPEATS }, { "warmup", required_argument, 0, WARMUP },
        { "json", no_argument, 0, JSON }, { "help", no_argument, 0, HELP }, { 0, 0, 0, 0 }
    };
    bench_init(&argc, &argv);
    const char *me = "triad";
    long elements = 6000000, share = 75, repeats = 100, warmup = 5;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ELEMENTS: elements = bench_count(me, "elements", optarg, 1, 1000000000); break;
        case SHARE: share = bench_count(me, "share", optarg, 0, 100); break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case WARMUP: warmup = bench_count(me, "warmup", optarg, 0, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }

    struct triad t = { .a = 0.5 };
    long others = bench_ranks > 1 ? elements * (100 - share) / 100 / (bench_ranks - 1) : 0;
    t.n = bench_rank ? others : elements - others * (bench_ranks - 1);
    size_t bytes = ((size_t) t.n + 1) * sizeof(double);
    t.x = (double *) malloc(bytes), t.y = (double *) malloc(bytes), t.z = (double *) malloc(bytes);
    for (long i = 0; i < t.n; i++)
        t.x[i] = (double) i, t.z[i] = (double) (i % 1000), t.y[i] = -1;

    struct bench_result result = bench_measure(run_shared, NULL, &t, repeats, warmup);

    long mine = 0, wrong;
    for (long i = 0; i < t.n; i++)
        mine += t.y[i] != (double) i + 0.5 * (double) (i % 1000);
    MPI_Allreduce(&mine, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld elements", me, wrong);
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"elements\": %ld, \"share\": %ld, \"repeats\": %ld", me,
               bench_ranks, elements, share, repeats);
        bench_json_times("us", result.parallel);
    } else if (bench_rank == 0)
        bench_print_times("parallel", result.parallel);
    bench_json_end(json);
    free(t.x), free(t.y), free(t.z);
    MPI_Finalize();
    return 0;
}
