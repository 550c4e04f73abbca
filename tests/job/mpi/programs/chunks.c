/* SPDX-License-Identifier: MIT
 *
 * Which chunks the runtime hands out, seen from below the compiler: fn() of runtime/abi/abi.h asks for chunks and
 * records them without running iterations, so that a loop may have 2^64 of them. Checks that the chunks tile the loop
 * and that sizes the user fixed are honoured by owner and guests. */
#include "../../../../runtime/abi/abi.h"
#include "test.h"

enum { MOST = 4000000 };

struct record {
    uint64_t lo, hi;
    int guest;
};
static struct record *records;
static long recorded, stolen;
static double unit; /* time a chunk takes, or an iteration */
static int by_iteration, several; /* several: chunks of a fixed size that take next to no time */
static int uncombined, is_unsigned, up;
static uint64_t start, end_, incr;

/* Iterations as the C loop counts them: exact for 2^64 - 1. */
static uint64_t number_of(uint64_t value)
{
    uint64_t distance = up ? value - start : start - value, step = up ? incr : 0 - incr;
    return distance / step + (distance % step != 0);
}

static void note(uint64_t lo, uint64_t hi)
{
    long k = __atomic_fetch_add(&recorded, 1, __ATOMIC_RELAXED);
    if (k >= MOST) {
        printf("more than %d chunks\n", MOST);
        exit(1);
    }
    const int guest = several ? 0 : on_guest(); /* a system call is no longer next to no time */
    records[k] = (struct record) {lo, hi, guest};
    if (guest)
        __atomic_fetch_add(&stolen, 1, __ATOMIC_RELAXED);
    if (unit > 0)
        busy(by_iteration ? unit * (double) (number_of(hi) - number_of(lo)) : unit);
}

static void body(void *data)
{
    (void) data;
    long lo, hi;
    unsigned long long ulo, uhi;
    if (is_unsigned) {
        if (ws_loop_ull_start(up, start, end_, incr, &ulo, &uhi))
            do
                note(ulo, uhi);
            while (ws_loop_ull_next(&ulo, &uhi));
        ws_loop_end();
        return;
    }
    if (uncombined ? ws_loop_start((long) start, (long) end_, (long) incr, &lo, &hi) : ws_loop_next(&lo, &hi))
        do
            note((uint64_t) lo, (uint64_t) hi);
        while (ws_loop_next(&lo, &hi));
    if (uncombined)
        ws_loop_end();
}

static int by_lo(const void *a, const void *b)
{
    uint64_t x = number_of(((const struct record *) a)->lo), y = number_of(((const struct record *) b)->lo);
    return (x > y) - (x < y);
}

enum { HUGE_SITES = 200 };
static struct ws_site huge[HUGE_SITES] __attribute__((aligned(64))) = {
    [0 ... HUGE_SITES - 1] = {"chunks.c huge", WS_SITE_KINDS(WS_AUTO, WS_AUTO), {0}}};

/* own, thief: the chunk size that must be kept, 0 = any. */
static void run_loop(struct ws_site **next_site, long chunk, long steal_chunk, uint64_t iterations, uint64_t own,
                     uint64_t thief)
{
    double deadline = now() + PATIENCE;
    do {
        struct ws_site *site = *next_site;
        MPI_Barrier(MPI_COMM_WORLD);
        recorded = stolen = 0;
        if (rank == 0 && several)
            usleep(50000); /* does not help */
        if (rank == 1) {
            if (uncombined || is_unsigned)
                ws_parallel(body, NULL, site, chunk, steal_chunk);
            else
                ws_parallel_loop(body, NULL, (long) start, (long) end_, (long) incr, site, chunk, steal_chunk);
            qsort(records, (size_t) recorded, sizeof *records, by_lo);
            uint64_t next = start;
            for (long k = 0; k < recorded; k++) {
                CHECK(records[k].lo == next);
                next = records[k].hi;
                CHECK(number_of(next) > number_of(records[k].lo));
                uint64_t size = number_of(next) - number_of(records[k].lo), wanted = records[k].guest ? thief : own;
                /* A guest may take one chunk of the owner's loop before: its first; the last chunk is what is left. */
                if (wanted && k + 1 < recorded)
                    CHECK(several ? size % wanted == 0 : size == wanted);
                if (wanted && !several)
                    CHECK(size <= wanted);
            }
            CHECK(iterations == 0 ? recorded == 0 : number_of(next) == iterations);
            if (iterations)
                CHECK(records[recorded - 1].hi == end_); /* "hi is the loop's own end for the last chunk" */
        }
        MPI_Bcast(&stolen, 1, MPI_LONG, 1, MPI_COMM_WORLD);
        /* A loop with chunks enough must be helped; on a busy machine perhaps not at the first try. One of `huge` that
         * was not is one chunk, as each takes as long, however large: so short that its site shares it no more. */
        if (!stolen && site >= huge && site < huge + HUGE_SITES - 1)
            ++*next_site;
    } while (unit > 0 && iterations > 1000 && !stolen && now() < deadline);
    if (unit > 0 && iterations > 1000)
        CHECK(stolen);
    if (rank == 1)
        printf("%llu iterations, %ld chunks, %ld stolen\n", (unsigned long long) iterations, recorded, stolen);
}

static void signed_loop(struct ws_site *site, long chunk, long steal_chunk, long from, long to, long by,
                        uint64_t iterations, uint64_t own, uint64_t thief)
{
    is_unsigned = 0;
    start = (uint64_t) from, end_ = (uint64_t) to, incr = (uint64_t) by, up = by > 0;
    for (uncombined = 0; uncombined < 2; uncombined++)
        run_loop(&site, chunk, steal_chunk, iterations, own, thief);
    uncombined = 0;
}

static void unsigned_loop(struct ws_site *site, int upwards, unsigned long long from, unsigned long long to,
                          unsigned long long by, uint64_t iterations)
{
    is_unsigned = 1;
    start = from, end_ = to, incr = by, up = upwards;
    run_loop(&site, 0, 0, iterations, 0, 0);
}

#define SITE(name, schedule, steal, flags)                                                                             \
    static struct ws_site name                                                                                         \
        __attribute__((aligned(64))) = {"chunks.c " #name, WS_SITE_KINDS(schedule, steal) | (flags), {0}}
SITE(tiny, WS_AUTO, WS_AUTO, 0);
SITE(fixed_static, WS_STATIC, WS_AUTO, WS_SITE_CHUNK);
SITE(fixed_dynamic, WS_DYNAMIC, WS_AUTO, WS_SITE_CHUNK);
SITE(cheap, WS_DYNAMIC, WS_AUTO, WS_SITE_CHUNK);
SITE(dynamic_one, WS_DYNAMIC, WS_AUTO, 0);
SITE(two_sizes, WS_DYNAMIC, WS_DYNAMIC, WS_SITE_CHUNK | WS_SITE_STEAL_CHUNK);
SITE(only_steal, WS_AUTO, WS_STATIC, WS_SITE_STEAL_CHUNK);
SITE(guided, WS_GUIDED, WS_GUIDED, 0);
SITE(shares, WS_STATIC, WS_AUTO, 0);

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int chaos = with_chaos; /* random chunks then, whatever the clauses say */
#define SIZE(n) (chaos ? 0 : (n))
    records = malloc(MOST * sizeof *records);
    unit = 2e-6;
    by_iteration = 1;
    signed_loop(&fixed_static, 7, 0, 0, 20000, 1, 20000, SIZE(7), SIZE(7));
    signed_loop(&fixed_dynamic, 5, 0, 0, 20000, 1, 20000, SIZE(5), SIZE(5));
    signed_loop(&dynamic_one, 0, 0, 10, 20010, 2, 10000, SIZE(1), SIZE(1));
    signed_loop(&two_sizes, 4, 9, 0, 60000, 1, 60000, SIZE(4), SIZE(9));
    signed_loop(&only_steal, 0, 3, 0, 30000, 1, 30000, 0, SIZE(3));
    signed_loop(&two_sizes, 4, 9, 29999, -1, -1, 30000, SIZE(4), SIZE(9));
    unit = by_iteration = 0;
    several = 1;
    for (int turn = 0; turn < 3; turn++)
        signed_loop(&cheap, 5, 0, 0, 500000, 1, 500000, SIZE(5), SIZE(5));
    if (rank == 1 && !chaos)
        CHECK(recorded < 500000 / 5 / 2);
    several = 0;
    signed_loop(&shares, 0, 0, 0, 1000, 1, 1000, 0, 0);
    signed_loop(&guided, 0, 0, 0, 100000, 1, 100000, 0, 0);

    /* 0 and 1 iterations, steps beyond the range, the ends of the types. */
    signed_loop(&tiny, 0, 0, 0, 0, 1, 0, 0, 0);
    signed_loop(&tiny, 0, 0, 5, -5, 1, 0, 0, 0);
    signed_loop(&tiny, 0, 0, -5, 5, -1, 0, 0, 0);
    signed_loop(&tiny, 0, 0, 0, 1, 1, 1, 0, 0);
    signed_loop(&tiny, 0, 0, 0, 3, 1000, 1, 0, 0);
    signed_loop(&tiny, 0, 0, 0, -3, -1000, 1, 0, 0);
    signed_loop(&tiny, 0, 0, INT64_MAX - 10, INT64_MAX, 3, 4, 0, 0);
    signed_loop(&tiny, 0, 0, INT64_MIN + 10, INT64_MIN, -1, 10, 0, 0);
    unsigned_loop(&tiny, 1, UINT64_MAX - 10, UINT64_MAX, 1, 10);
    unsigned_loop(&tiny, 1, UINT64_MAX - 10, UINT64_MAX, 4, 3);
    unsigned_loop(&tiny, 0, 10, 0, (unsigned long long) -3, 4);
    unsigned_loop(&tiny, 1, 5, 5, 1, 0);

    /* More than the descriptor can count. */
    unit = 1e-6;
    signed_loop(huge, 0, 0, 0, (long) 1 << 41, 1, (uint64_t) 1 << 41, 0, 0);
    signed_loop(huge, 0, 0, INT64_MIN, INT64_MAX, 1, UINT64_MAX, 0, 0);
    signed_loop(huge, 0, 0, INT64_MAX, INT64_MIN, -1, UINT64_MAX, 0, 0);
    unsigned_loop(huge, 1, 0, UINT64_MAX, 1, UINT64_MAX);
    unsigned_loop(huge, 0, UINT64_MAX, 0, (unsigned long long) -1, UINT64_MAX);
    unsigned_loop(huge, 1, 3, UINT64_MAX - 1, 7, (UINT64_MAX - 1 - 3 - 1) / 7 + 1);
    return end();
}
