/* SPDX-License-Identifier: MIT
 *
 * The double loop: each rank has a slice of an outer loop whose inner loop grows with the outer index, so the
 * last rank has the most to do and the others wait for it in the barrier. Other shapes of the cost, other slices, and
 * iterations that sleep for their cost (work.h) are options.
 *
 * Built with -DWITH_OMP -fopenmp it is the same loop under `omp parallel for schedule(dynamic)`: for one process, or as
 * a program that knows nothing of Workshare for several.
 */
#include "work.h"

#ifdef WITH_OMP
#include <omp.h>
#endif

enum { MOST_REPEATS = 1000000 };

static const char me[] = "double_loop";

static long chunk;              /* of the schedule clause; 0: no clause */
static bool guided, equal_parts; /* OpenMP: for dynamic */

static void run_slice(void *context)
{
    const struct work *w = (const struct work *) context;
    long first = w->first, end = w->end;
#ifdef WITH_OMP
    if (guided) {
#pragma omp parallel for schedule(guided)
        for (long i = first; i < end; i++)
            work_iteration(w, i, &w->mine[i - first]);
    } else if (equal_parts) {
#pragma omp parallel for schedule(static)
        for (long i = first; i < end; i++)
            work_iteration(w, i, &w->mine[i - first]);
    } else if (chunk > 1) {
#pragma omp parallel for schedule(dynamic, chunk)
        for (long i = first; i < end; i++)
            work_iteration(w, i, &w->mine[i - first]);
    } else {
#pragma omp parallel for schedule(dynamic)
        for (long i = first; i < end; i++)
            work_iteration(w, i, &w->mine[i - first]);
    }
#else
    (void) guided;
    (void) equal_parts;
    if (chunk) {
#pragma ws for schedule(dynamic, chunk) steal_schedule(dynamic, chunk)
        for (long i = first; i < end; i++)
            work_iteration(w, i, &w->mine[i - first]);
    } else {
#pragma ws for
        for (long i = first; i < end; i++)
            work_iteration(w, i, &w->mine[i - first]);
    }
#endif
    bench_loop_left = bench_now();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("double_loop: an unbalanced double loop, barrier to barrier\n"
             "  --iterations N  of the outer loop, all ranks together (1000)\n"
             "  --work TIME     of the whole loop on one core, e.g. 450us, 20ms (20ms)\n"
             "  --steps N       the same as a number of inner steps: no calibration, equal work in every run\n"
             "  --sleep TIME    instead of computing, the iterations sleep, TIME all together\n"
             "  --shape S       of the iterations' cost: rising, falling, flat, random, steep (rising)\n"
             "  --balanced      every outer iteration costs the same: --shape flat\n"
             "  --one-owner     rank 0 has the whole loop, the others have none\n"
             "  --by-hand       the outer loop is cut into equal work, not into equal counts\n"
             "  --chunk C       schedule(dynamic, C) steal_schedule(dynamic, C) (no clauses)\n"
             "  --guided        built for OpenMP: schedule(guided)\n"
             "  --static        built for OpenMP: schedule(static)\n"
             "  --no-serial     no runs on one core to compare with: perfect is not known then\n"
             "  --cores N       that perfect divides the work by (ranks; OpenMP: threads)\n"
             "  --repeats R     timed runs (50)\n"
             "  --warmup W      runs before them (5)\n"
             "  --json          one JSON object instead of text");
}

static enum shape shape_of(const char *text)
{
    int s = 0;
    while (s < SHAPES && strcmp(text, shape_names[s]))
        s++;
    if (s == SHAPES)
        bench_fail(2, "%s: --shape takes rising, falling, flat, random or steep, not '%s'", me, text);
    return (enum shape) s;
}

/* By rank 0. */
static void print(bool json, const struct work *w, long owners, long repeats, const struct bench_result *result)
{
    if (!json) {
        if (w->sleep > 0)
            puts("sleeping work: no core computes");
        bench_print_result(*result);
        return;
    }
    printf("{\"program\": \"%s\", \"ranks\": %d, \"cores\": %d, \"iterations\": %ld, \"shape\": \"%s\", "
           "\"sleeping\": %s, \"steps\": %ld, "
           "\"chunk\": %ld, \"repeats\": %ld, \"in_order_us\": %.3f, \"first\": [0",
           me, bench_ranks, bench_cores, w->iterations, shape_names[w->shape], w->sleep > 0 ? "true" : "false",
           w->steps, chunk, repeats, result->serial.median * work_in_order(w, bench_cores) * 1e6);
    for (int r = 1; r < bench_ranks; r++)
        printf(", %ld", work_slice(w, owners, r));
    putchar(']');
    bench_json_result(*result);
}

struct settings {
    long repeats, warmup;
    double seconds;             /* of the whole loop */
    bool json, one_owner, with_serial;
};

static void read_options(int argc, char **argv, struct settings *set, struct work *w)
{
    enum {
        ITERATIONS = 1,
        WORK,
        STEPS,
        SLEEP,
        SHAPE,
        BALANCED,
        ONE_OWNER,
        BY_HAND,
        CHUNK,
        GUIDED,
        STATIC,
        NO_SERIAL,
        CORES,
        REPEATS,
        WARMUP,
        JSON,
        HELP
    };
    static const struct option options[] = { { "iterations", required_argument, 0, ITERATIONS },
                                             { "work", required_argument, 0, WORK },
                                             { "steps", required_argument, 0, STEPS },
                                             { "sleep", required_argument, 0, SLEEP },
                                             { "shape", required_argument, 0, SHAPE },
                                             { "balanced", no_argument, 0, BALANCED },
                                             { "one-owner", no_argument, 0, ONE_OWNER },
                                             { "chunk", required_argument, 0, CHUNK },
                                             { "by-hand", no_argument, 0, BY_HAND },
                                             { "guided", no_argument, 0, GUIDED },
                                             { "static", no_argument, 0, STATIC },
                                             { "no-serial", no_argument, 0, NO_SERIAL },
                                             { "cores", required_argument, 0, CORES },
                                             { "repeats", required_argument, 0, REPEATS },
                                             { "warmup", required_argument, 0, WARMUP },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ITERATIONS: w->iterations = bench_count(me, "iterations", optarg, 1, 100000000); break;
        case WORK: set->seconds = bench_seconds(me, "work", optarg); break;
        case STEPS: w->steps = bench_count(me, "steps", optarg, 1, 1000000000000); break;
        case SLEEP: w->sleep = bench_seconds(me, "sleep", optarg); break;
        case SHAPE: w->shape = shape_of(optarg); break;
        case BALANCED: w->shape = FLAT; break;
        case ONE_OWNER: set->one_owner = true; break;
        case BY_HAND: w->by_hand = true; break;
        case CHUNK: chunk = bench_count(me, "chunk", optarg, 1, 100000000); break;
        case GUIDED: guided = true; break;
        case STATIC: equal_parts = true; break;
        case NO_SERIAL: set->with_serial = false; break;
        case CORES: bench_cores = (int) bench_count(me, "cores", optarg, 1, 100000); break;
        case REPEATS: set->repeats = bench_count(me, "repeats", optarg, 1, MOST_REPEATS); break;
        case WARMUP: set->warmup = bench_count(me, "warmup", optarg, 0, MOST_REPEATS); break;
        case JSON: set->json = true; break;
        case HELP: usage(); MPI_Finalize(); exit(0);
        }
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    struct settings set = { .repeats = 50, .warmup = 5, .seconds = 20e-3, .with_serial = true };
    struct work w = { .iterations = 1000, .shape = RISING };
    bench_cores = bench_ranks;
#ifdef WITH_OMP
    if (bench_ranks == 1)
        bench_cores = omp_get_max_threads();
#endif
    read_options(argc, argv, &set, &w);
    long owners = set.one_owner ? 1 : bench_ranks;
    work_allocate(&w, owners);
    if (!w.steps && !(w.sleep > 0))
        w.steps = work_calibrate(&w, set.seconds);

    set.with_serial = set.with_serial && !(w.sleep > 0);
    struct bench_result result =
        bench_measure(run_slice, set.with_serial ? work_serial : NULL, &w, set.repeats, set.warmup);
    if (w.sleep > 0)            /* what one core would sleep is known */
        result.serial = (struct bench_times) { w.sleep, w.sleep, w.sleep, w.sleep };
    work_check(&w, me, owners, bench_executions(set.repeats, set.warmup), set.with_serial ? set.repeats : 0);

    if (bench_rank == 0)
        print(set.json, &w, owners, set.repeats, &result);
    bench_json_end(set.json);
    free(w.mine);
    free(w.serial);
    free(result.rank_s);
    MPI_Finalize();
    return 0;
}
