/* SPDX-License-Identifier: MIT
 *
 * An MPI+OpenMP program that knows nothing of Workshare: in each turn every rank computes its zones, a parallel region
 * each, with an exchange of messages before and after. Zones may be of very unequal size, as those of the multi-zone
 * benchmarks are; or each rank has a share of the work, cut into equal regions, as in the synthetic case of the paper
 * on dynamic processor balancing.
 */
#include "work.h"

#include <math.h>
#include <omp.h>
#include <workshare/mpix.h>

enum { MOST = 4096, MOST_RANKS = 1024 };

static double zone_share[MOST];     /* of all work; the sum is 1 */
static int zone_of[MOST];           /* its rank */
static long zones = 16, rows = 240, steps;
static double total;                /* seconds of one thread a turn */
static bool sleeps;
static const char me[] = "openmp_turns";
struct row {
    unsigned runs;                  /* how often this rank has computed it */
    float sum;
};
static struct row *table;           /* of all zones */

static void usage(void)
{
    if (bench_rank == 0)
        puts("openmp_turns: turns of parallel regions with messages between\n"
             "  --work TIME        of all ranks in a turn, on one core (20ms)\n"
             "  --steps N          so many steps of computing instead, as the JSON of another run tells: exactly its "
             "work\n"
             "  --zones N          regions of all ranks in a turn (16)\n"
             "  --spread S         size of the largest zone over that of the smallest (1)\n"
             "  --dealt            zones go to ranks by size, the largest first; else in equal counts\n"
             "  --shares A,B,...   instead: each rank's share of the work, in N / ranks equal regions\n"
             "  --threads A,B,...  the program itself sets each rank's threads\n"
             "  --rows N           iterations of a region (240)\n"
             "  --turns N          (60)\n"
             "  --serial           also times all work on one core of rank 0\n"
             "  --sleep            threads sleep for their work\n"
             "  --reorder          ranks are assigned to the nodes by their work, so that each node has equally much\n"
             "  --json             one JSON object instead of text");
}

/* Numbers with commas between, one for each rank; the last counts for the rest. */
static void read_list(const char *name, const char *text, double *values)
{
    const char *at = text;
    double value = 0;
    for (int r = 0; r < bench_ranks; r++) {
        char *end = NULL;
        if (at) {
            value = strtod(at, &end);
            if (end == at || (*end && *end != ',') || !(value >= 0) || value > 1e6)
                bench_fail(2, "openmp_turns: --%s takes numbers with commas between, not '%s'", name, text);
            at = *end ? end + 1 : NULL;
        }
        values[r] = value;
    }
}

/* Geometric: each zone is as much larger than the one before. */
static void make_zones(double spread, bool dealt, const double *shares)
{
    double sum = 0, load[MOST_RANKS] = { 0 };
    if (shares) {
        long each = zones / bench_ranks > 0 ? zones / bench_ranks : 1;
        zones = each * bench_ranks;
        for (long z = 0; z < zones; z++) {
            zone_of[z] = (int) (z / each);
            sum += zone_share[z] = shares[z / each];
        }
    } else
        for (long z = 0; z < zones; z++) {
            double size = zones > 1 ? pow(spread, (double) z / (double) (zones - 1)) : 1;
            sum += zone_share[z] = size;
            zone_of[z] = (int) (z * bench_ranks / zones);
        }
    for (long z = zones - 1; z >= 0 && dealt && !shares; z--) { /* they rise */
        int least = 0;
        for (int r = 1; r < bench_ranks; r++)
            least = load[r] < load[least] ? r : least;
        zone_of[z] = least;
        load[least] += zone_share[z];
    }
    for (long z = 0; z < zones; z++)
        zone_share[z] /= sum;
}

/* Zones go to other processes, so that each node has equally much to do. Messages stay as they were. */
static void deal_ranks(void)
{
    static double load[MOST_RANKS];
    static int rank_of[MOST_RANKS], process[MOST_RANKS];
    int rank;
    MPI_Info info;
    MPI_Comm balanced;
    for (long z = 0; z < zones; z++)
        load[zone_of[z]] += zone_share[z];
    MPI_Info_create(&info);
    MPI_Info_set(info, "ws_load_domain", "node");
    MPIX_Load_create(MPI_COMM_WORLD, load, info, &balanced);
    MPI_Comm_rank(balanced, &rank);
    MPI_Allgather(&rank, 1, MPI_INT, rank_of, 1, MPI_INT, MPI_COMM_WORLD);
    for (int p = 0; p < bench_ranks; p++)
        process[rank_of[p]] = p;
    for (long z = 0; z < zones; z++)
        zone_of[z] = process[zone_of[z]];
    MPI_Info_free(&info);
    MPI_Comm_free(&balanced);
}

static void compute_row(struct row *row, long row_steps)
{
    double x = work_chain(0.5, row_steps);
    work_wait_for_result(x);
    row->sum = (float) x;
    row->runs++;
}

static void compute_zone_alone(long z)
{
    const double share = zone_share[z] / (double) rows;
    for (long i = 0; i < rows && !sleeps; i++)
        compute_row(&table[z * rows + i], (long) ((double) steps * share));
    if (sleeps)
        work_sleep(total * zone_share[z]);
}

/* One region; without a num_threads clause, as -fws=openmp leaves regions with one to OpenMP. */
static void compute_zone(long z)
{
    const double share = zone_share[z] / (double) rows;
    const long row_steps = (long) ((double) steps * share);
    struct row *const row = table + z * rows;
    if (sleeps) {
        #pragma omp parallel
        {
            long mine = 0;
            #pragma omp for schedule(static) nowait
            for (long i = 0; i < rows; i++) {
                row[i].runs++;
                mine++;
            }
            work_sleep(total * share * (double) mine);
        }
        return;
    }
    #pragma omp parallel for schedule(static)
    for (long i = 0; i < rows; i++)
        compute_row(&row[i], row_steps);
}

static void exchange(void)
{
    char out[1024] = "", in[1024];
    const int right = (bench_rank + 1) % bench_ranks, left = (bench_rank + bench_ranks - 1) % bench_ranks;
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, right, 0, in, sizeof in, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, left, 1, in, sizeof in, MPI_CHAR, right, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void turn(void)
{
    exchange();
    for (long z = 0; z < zones; z++)
        if (zone_of[z] == bench_rank)
            compute_zone(z);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Returns the seconds that all took together. */
static double time_turns(long turns, double *samples)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = bench_now();
    for (long t = 0; t < turns; t++) {
        double begin = bench_now();
        turn();
        samples[t] = bench_now() - begin;
    }
    return bench_now() - began;
}

static void check_rows(long turns)
{
    long wrong = 0;
    for (long z = 0; z < zones; z++)
        for (long i = 0; i < rows; i++)
            wrong += table[z * rows + i].runs != (zone_of[z] == bench_rank ? (unsigned) turns : 0);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: %ld rows were lost or computed twice", me, wrong);
}

enum { SERIAL_RUNS = 5 };

/* All work on one core of rank 0. */
static void time_serial(double samples[SERIAL_RUNS])
{
    bench_others_sleep();
    for (int i = 0; i < SERIAL_RUNS && bench_rank == 0; i++) {
        double begin = bench_now();
        for (long z = 0; z < zones; z++)
            compute_zone_alone(z);
        samples[i] = bench_now() - begin;
    }
    bench_others_stop();
}

/* By rank 0. `serial_s`: null if it was not timed. `all`: seconds of all turns. */
static void print(bool json, long turns, double *samples, double *serial_s, double all)
{
    const long late = turns / 3;
    struct bench_times end = bench_summary(samples + turns - late, late), each = bench_summary(samples, turns);
    struct bench_times one = { 0 };
    if (serial_s)
        one = bench_summary(serial_s, SERIAL_RUNS);
    if (!json) {
        bench_print_times("turn", each);
        bench_print_times("at the end", end);
        if (serial_s)
            bench_print_times("serial", one);
        printf("all turns  %.3f s\n", all);
        return;
    }
    printf("{\"program\": \"%s\", \"ranks\": %d, \"turns\": %ld, \"steps\": %ld, \"seconds\": %.6f", me,
           bench_ranks, turns, steps, all);
    bench_json_times("us", each);
    bench_json_times("late_us", end);
    bench_json_times("serial_us", one);
    printf(", \"work\": [");
    for (int r = 0; r < bench_ranks; r++) {
        double mine = 0;
        for (long z = 0; z < zones; z++)
            mine += zone_of[z] == r ? zone_share[z] : 0;
        printf("%s%.6f", r ? ", " : "", mine);
    }
    printf("]");
}

int main(int argc, char **argv)
{
    enum { WORK = 1, STEPS, ZONES, SPREAD, DEALT, SHARES, THREADS, ROWS, TURNS, SERIAL, SLEEP, REORDER,
           JSON, HELP };
    static const struct option options[] = { { "work", required_argument, 0, WORK },
                                             { "steps", required_argument, 0, STEPS },
                                             { "zones", required_argument, 0, ZONES },
                                             { "spread", required_argument, 0, SPREAD },
                                             { "dealt", no_argument, 0, DEALT },
                                             { "shares", required_argument, 0, SHARES },
                                             { "threads", required_argument, 0, THREADS },
                                             { "rows", required_argument, 0, ROWS },
                                             { "turns", required_argument, 0, TURNS },
                                             { "serial", no_argument, 0, SERIAL },
                                             { "sleep", no_argument, 0, SLEEP },
                                             { "reorder", no_argument, 0, REORDER },
                                             { "json", no_argument, 0, JSON },
                                             { "help", no_argument, 0, HELP },
                                             { 0, 0, 0, 0 } };
    bench_init(&argc, &argv);
    const char *shares_text = NULL, *threads_text = NULL;
    long turns = 60, spread = 1;
    bool dealt = false, serial = false, json = false, reorder = false;
    total = 20e-3;
    if (bench_ranks > MOST_RANKS)
        bench_fail(2, "%s: at most %d ranks", me, MOST_RANKS);
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case WORK: total = bench_seconds(me, "work", optarg); break;
        case STEPS: steps = bench_count(me, "steps", optarg, 1, 1000000000000); break;
        case ZONES: zones = bench_count(me, "zones", optarg, 1, MOST); break;
        case SPREAD: spread = bench_count(me, "spread", optarg, 1, 1000000); break;
        case DEALT: dealt = true; break;
        case SHARES: shares_text = optarg; break;
        case THREADS: threads_text = optarg; break;
        case ROWS: rows = bench_count(me, "rows", optarg, 1, 1000000); break;
        case TURNS: turns = bench_count(me, "turns", optarg, 3, 1000000); break;
        case SERIAL: serial = true; break;
        case SLEEP: sleeps = true; break;
        case REORDER: reorder = true; break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    static double shares[MOST_RANKS], threads[MOST_RANKS];
    if (shares_text)
        read_list("shares", shares_text, shares);
    if (threads_text) {
        read_list("threads", threads_text, threads);
        omp_set_num_threads(threads[bench_rank] < 1 ? 1 : (int) threads[bench_rank]);
    }
    make_zones((double) spread, dealt, shares_text ? shares : NULL);
    if (reorder)
        deal_ranks();
    if (!sleeps && !steps) {
        struct work w = { .iterations = 100, .shape = FLAT };
        work_allocate(&w, bench_ranks);
        steps = work_calibrate(&w, total);
    }
    table = (struct row *) calloc((size_t) (zones * rows), sizeof *table);
    double *samples = (double *) malloc(sizeof(double) * (size_t) turns), serial_s[SERIAL_RUNS] = { 0 };
    const double all = time_turns(turns, samples);
    check_rows(turns);
    if (serial)
        time_serial(serial_s);
    if (bench_rank == 0)
        print(json, turns, samples, serial ? serial_s : NULL, all);
    bench_json_end(json);
    free(samples);
    free(table);
    MPI_Finalize();
    return 0;
}
