/* SPDX-License-Identifier: MIT
 *
 * oracle SEED REGIONS: ws_for with random lengths, costs and options; each iteration counts itself in the owner's
 * memory, and every count must come to 1. */
#include "../../mpi/programs/test.h"

#include <workshare/ws.h>

enum { MOST = 3000 };

struct loop {
    unsigned ran[MOST];
    int64_t first;
    double unit;
};

static void count(int64_t lo, int64_t hi, void *context)
{
    struct loop *loop = context;
    CHECK(lo < hi);
    for (int64_t i = lo; i < hi; i++) {
        loop->ran[i - loop->first]++; /* not atomic: nobody else has iteration i */
        if (loop->unit > 0)
            busy(loop->unit);
    }
}

static void count_named(int64_t lo, int64_t hi, void *context)
{
    count(lo, hi, context);
}

int main(int argc, char **argv)
{
    static const char *const names[] = { NULL, "first", "second" };
    static struct loop loop;
    begin(&argc, &argv);
    uint64_t common = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, own = common * 1000 + (uint64_t) rank;
    int regions = argc > 2 ? atoi(argv[2]) : 50;
    for (int r = 0; r < regions; r++) {
        int late = (int) random_below(&common, (uint64_t) ranks); /* the rank that the others wait for */
        int64_t n = (int64_t) random_below(&own, rank == late ? MOST : 8);
        struct ws_options options = { 0 };
        options.name = names[random_below(&own, 3)];
        options.schedule = (enum ws_schedule) random_below(&own, 5);
        options.steal_schedule = (enum ws_schedule) random_below(&own, 5);
        if (options.schedule % WS_RUNTIME)
            options.chunk = (int64_t) (random_below(&own, 2) * random_below(&own, 20));
        if (options.steal_schedule % WS_RUNTIME)
            options.steal_chunk = (int64_t) (random_below(&own, 2) * random_below(&own, 20));
        memset(loop.ran, 0, sizeof loop.ran);
        loop.first = r % 3 == 0 ? 0 : r % 3 == 1 ? INT64_MIN : INT64_MAX - n;
        loop.unit = 1e-6 * (double) random_below(&own, n > 200 ? 3 : 20);
        CHECK(ws_for(loop.first, loop.first + n, r % 2 ? count : count_named, &loop, r % 5 ? &options : NULL) == 0);
        for (long i = 0; i < MOST; i++)
            CHECK(loop.ran[i] == (i < n));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
