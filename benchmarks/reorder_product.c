/* SPDX-License-Identifier: MIT
 *
 * The product of a lower and an upper triangular matrix on a square of processes, by a variant of Cannon's algorithm
 * (Keller, Majeed, Kessler; table 2): in each step process (i, j) has a block of row i of L and one of column j of U,
 * which then go on to the left and up. Only blocks on and below L's diagonal, on and above U's, are multiplied: process
 * (i, j) does that min(i, j) + 1 times, so the processes' loads rise to the lower right. Blocks of zeros are not sent.
 * All blocks go round before the first multiplication, and each process keeps those that it multiplies: with several
 * processes on a core nobody should wait for a block whose sender waits for the core.
 *
 * As ranks come (row by row), the heaviest together, by the paper's heuristic, by the best that is found.
 */
#include "reorder.h"

struct product {
    int side, block;            /* processes, rows of a block */
    double unit;                /* sleeping: seconds of a multiplication */
    double **l, **u, *c;        /* of each step */
    bool wrong;
};

/* Whole numbers, so that sums are exact in any order. */
static double l_value(long row, long column)
{
    return column > row ? 0 : (double) ((row * 7 + column * 3) % 11) - 5;
}

static double u_value(long row, long column)
{
    return row > column ? 0 : (double) ((row * 5 + column * 2) % 13) - 6;
}

static void fill(double *block, int side, int row, int column, double (*value)(long, long))
{
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            block[i * side + j] = value((long) row * side + i, (long) column * side + j);
}

__attribute__((noinline))
static void multiply(int n, const double *l, const double *u, double *c)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += l[i * n + k] * u[k * n + j];
}

static void run(MPI_Comm comm, void *context)
{
    struct product *p = (struct product *) context;
    int r, side = p->side, count = p->block * p->block;
    MPI_Comm_rank(comm, &r);
    int i = r / side, j = r % side;
    int left = i * side + (j + side - 1) % side, right = i * side + (j + 1) % side;
    int up = (i + side - 1) % side * side + j, down = (i + 1) % side * side + j;
    /* Cannon's first shift: where the blocks lie at the start is free. */
    fill(p->l[0], p->block, i, (i + j) % side, l_value);
    fill(p->u[0], p->block, (i + j) % side, j, u_value);
    for (int step = 0; step + 1 < side; step++) {
        int k = (i + j + step) % side, next = (k + 1) % side, done = 0;
        MPI_Request all[4];
        MPI_Status ignored[4];  /* gcc 12 warns of MPI_STATUSES_IGNORE */
        MPI_Irecv(p->l[step + 1], next <= i ? count : 0, MPI_DOUBLE, right, 0, comm, &all[0]);
        MPI_Irecv(p->u[step + 1], next <= j ? count : 0, MPI_DOUBLE, down, 1, comm, &all[1]);
        MPI_Isend(p->l[step], k <= i ? count : 0, MPI_DOUBLE, left, 0, comm, &all[2]);
        MPI_Isend(p->u[step], k <= j ? count : 0, MPI_DOUBLE, up, 1, comm, &all[3]);
        while (MPI_Testall(4, all, &done, ignored), !done) {
            struct timespec nap = { 0, 100000 };
            nanosleep(&nap, NULL);      /* the core is for those who have something to do */
        }
    }
    memset(p->c, 0, sizeof(double) * (size_t) count);
    for (int step = 0; step < side; step++) {
        int k = (i + j + step) % side;
        if (k > i || k > j)
            continue;
        if (p->unit > 0)
            reorder_work(p->unit);
        multiply(p->block, p->l[step], p->u[step], p->c);
    }
}

/* Some values of the result, from their definition. */
static void check(MPI_Comm comm, struct product *p)
{
    int r, n = p->block;
    MPI_Comm_rank(comm, &r);
    for (int t = 0; t < n && !p->wrong; t++) {
        int i = t * 37 % n, j = t * 53 % n;
        long row = (long) (r / p->side) * n + i, column = (long) (r % p->side) * n + j;
        double sum = 0;
        for (long k = 0; k <= row && k <= column; k++)
            sum += l_value(row, k) * u_value(k, column);
        p->wrong = sum != p->c[i * n + j];
    }
}

static void run_and_check(MPI_Comm comm, void *context)
{
    run(comm, context);
    check(comm, (struct product *) context);
}

static void usage(void)
{
    if (bench_rank == 0)
        puts("reorder_product: lower times upper triangular matrix on a square of processes, in different orders of "
             "the ranks\n"
             "  --block N       rows of a block (400)\n"
             "  --sleep TIME    a multiplication sleeps so long, one process at a time on each core; small blocks are "
             "multiplied besides\n"
             "  --repeats R     timed runs (5)\n"
             "  --json          one JSON object instead of text");
}

int main(int argc, char **argv)
{
    enum { BLOCK = 1, SLEEP, REPEATS, JSON, HELP };
    static const struct option options[] = { { "block", required_argument, 0, BLOCK },
                                             { "sleep", required_argument, 0, SLEEP },
                                             { "repeats", required_argument, 0, REPEATS },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *me = "reorder_product";
    long repeats = 5;
    bool json = false;
    struct product p = { .block = 400 };
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case BLOCK: p.block = (int) bench_count(me, "block", optarg, 1, 10000); break;
        case SLEEP: p.unit = bench_seconds(me, "sleep", optarg); p.block = 8; break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    while ((p.side + 1) * (p.side + 1) <= bench_ranks)
        p.side++;
    if (p.side * p.side != bench_ranks)
        bench_fail(2, "%s: needs a square number of ranks, not %d", me, bench_ranks);
    reorder_find_place(me);
    chain_steps = p.unit > 0 ? 0 : 1;
    double *loads = (double *) malloc((size_t) bench_ranks * sizeof *loads);
    for (int r = 0; r < bench_ranks; r++)
        loads[r] = 1 + (r / p.side < r % p.side ? r / p.side : r % p.side);
    const size_t bytes = (size_t) p.block * (size_t) p.block * sizeof(double);
    p.l = (double **) malloc((size_t) p.side * sizeof *p.l);
    p.u = (double **) malloc((size_t) p.side * sizeof *p.u);
    p.c = (double *) malloc(bytes);
    for (int s = 0; s < p.side; s++) {
        p.l[s] = (double *) malloc(bytes);
        p.u[s] = (double *) malloc(bytes);
    }

    MPI_Comm by_core = reorder_by_core(MPI_COMM_WORLD);
    struct order orders[] = {
        { "row by row", by_core, run, 0, NULL, 0 },
        { "random", reorder_at_random(by_core), run, 0, NULL, 0 },
        { "heuristic", reorder_by_load(by_core, loads, "roundrobin", "core", false), run, 0, NULL, 0 },
        { "best", reorder_by_load(by_core, loads, "auto", "core", false), run, 0, NULL, 0 },
        { "distributed", reorder_by_load(by_core, loads, "auto", "core", true), run, 0, NULL, 0 },
    };
    const int count = sizeof orders / sizeof *orders;
    for (int i = 0; i < count; i++) {
        orders[i].highest = reorder_highest(orders[i].comm, loads, false);
        reorder_time(orders[i].comm, run_and_check, &p);
    }
    MPI_Allreduce(MPI_IN_PLACE, &p.wrong, 1, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
    if (p.wrong)
        bench_fail(1, "%s: the product is wrong", me);
    reorder_measure(me, orders, count, &p, repeats, json);
    free(loads);
    MPI_Finalize();
    return 0;
}
