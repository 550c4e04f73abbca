/* SPDX-License-Identifier: MIT
 *
 * The synthetic loop of "Balancing CPU Load for Irregular MPI Applications" (Keller, Majeed, Kessler; table 1): of 64
 * processes 20 have load 4, 20 load 2, 24 load 1, in the same relations for other numbers. The heaviest together, at
 * random, by the paper's heuristic, by the best that is found, and by what each process knows alone. With --equal all
 * have load 1, and there is nothing to win.
 *
 * With --rising rank r has load 2 r + 1, as in the double loop, and a core of its own: where more nodes than one have
 * work, stealing balances within each (mpirun -workshare), reordering by node between them.
 */
#include "reorder.h"

struct loop {
    const double *loads;
    double unit;                /* seconds of a load of 1 */
};

static void run_alone(MPI_Comm comm, void *context)
{
    const struct loop *l = (const struct loop *) context;
    int r;
    MPI_Comm_rank(comm, &r);
    reorder_work(l->loads[r] * l->unit);
}

static void run_shared(MPI_Comm comm, void *context)
{
    const struct loop *l = (const struct loop *) context;
    int r;
    MPI_Comm_rank(comm, &r);
    enum { PIECES = 8 };
    const double piece = l->unit / PIECES;
    const long pieces = lround(l->loads[r] * PIECES);
#pragma ws for
    for (long i = 0; i < pieces; i++)
        if (chain_steps > 0)
            reorder_compute(piece);
        else
            work_sleep(piece);
    MPI_Barrier(comm);
}

/* One process a core. */
static void run_own_core(MPI_Comm comm, void *context)
{
    const struct loop *l = (const struct loop *) context;
    int r;
    MPI_Comm_rank(comm, &r);
    if (chain_steps > 0)
        reorder_compute(l->loads[r] * l->unit);
    else
        work_sleep(l->loads[r] * l->unit);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("reorder_loop: loads of 4, 2 and 1, in different orders of the ranks, predicted and measured\n"
             "  --unit TIME     of a load of 1 (5ms)\n"
             "  --sleep         processes sleep instead of computing, one at a time on each core\n"
             "  --equal         loads of 1: nothing to win, what is lost?\n"
             "  --uneven        every second core has three processes where the others have five\n"
             "  --rising        loads 1, 3, 5 ..., one process a core: stealing, reordering by node, and both\n"
             "  --repeats R     timed runs (5)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { UNIT = 1, SLEEP, UNEVEN, EQUAL, RISE, REPEATS, JSON, HELP };
    static const struct option options[] = { { "unit", required_argument, 0, UNIT },
                                             { "sleep", no_argument, 0, SLEEP },
                                             { "uneven", no_argument, 0, UNEVEN },
                                             { "equal", no_argument, 0, EQUAL },
                                             { "rising", no_argument, 0, RISE },
                                             { "repeats", required_argument, 0, REPEATS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *me = "reorder_loop";
    long repeats = 5;
    bool json = false, sleeps = false, uneven = false, equal = false, rising = false;
    struct loop l = { NULL, 5e-3 };
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case UNIT: l.unit = bench_seconds(me, "unit", optarg); break;
        case SLEEP: sleeps = true; break;
        case UNEVEN: uneven = true; break;
        case EQUAL: equal = true; break;
        case RISE: rising = true; break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    reorder_find_place(me);
    if (!sleeps)
        reorder_calibrate();
    MPI_Comm all = MPI_COMM_WORLD;
    if (uneven)
        all = reorder_three_five(all);
    if (all != MPI_COMM_NULL) {
        int n;
        MPI_Comm_size(all, &n);
        double *loads = (double *) malloc((size_t) n * sizeof *loads);
        for (int r = 0; r < n; r++)
            loads[r] = rising ? 2 * r + 1 : equal ? 1 : r < n * 20 / 64 ? 4 : r < n * 20 / 64 * 2 ? 2 : 1;
        l.loads = loads;
        struct order orders[5];
        int count = 0;
        MPI_Comm by_core = reorder_by_core(all);
        if (rising) {
            MPI_Comm by_node = reorder_by_load(by_core, loads, "auto", "node", false);
            orders[count++] = (struct order) { "as it is", by_core, run_own_core, loads[n - 1], NULL, 0 };
            orders[count++] =
                (struct order){ "stealing", by_core, run_shared, reorder_highest(by_core, loads, true), NULL, 0 };
            orders[count++] = (struct order) { "reordered", by_node, run_own_core, loads[n - 1], NULL, 0 };
            orders[count++] =
                (struct order){ "both", by_node, run_shared, reorder_highest(by_node, loads, true), NULL, 0 };
        } else {
            orders[count++] = (struct order) { equal ? "as it is" : "worst", by_core, run_alone, 0, NULL, 0 };
            orders[count++] = (struct order) { "random", reorder_at_random(by_core), run_alone, 0, NULL, 0 };
            orders[count++] = (struct order){ "heuristic", reorder_by_load(by_core, loads, "roundrobin", "core", false),
                                              run_alone,   0,
                                              NULL,        0 };
            orders[count++] =
                (struct order){ "best", reorder_by_load(by_core, loads, "auto", "core", false), run_alone, 0, NULL, 0 };
            orders[count++] = (struct order){ "distributed", reorder_by_load(by_core, loads, "auto", "core", true),
                                              run_alone,     0,
                                              NULL,          0 };
            for (int i = 0; i < count; i++)
                orders[i].highest = reorder_highest(orders[i].comm, loads, false);
        }
        reorder_measure(me, orders, count, &l, repeats, json);
        free(loads);
    }
    MPI_Finalize();
    return 0;
}
