/* SPDX-License-Identifier: MIT
 *
 * A solver of blocks, as multi-zone codes have it: loops of 4 to 26 long iterations, 100 to 500 us each and of unequal
 * length, with an Allreduce of the largest change behind each. A block is relaxed in place, on a line after the other.
 */
#include "program.h"

#include <math.h>

enum { LOOPS = 6, MOST_BLOCKS = 26, CELLS = 2048, PARTS = 2 };

/* Two parts of the domain. The first one has the longer blocks. */
static const int blocks_in[LOOPS] = { 26, 4, 13, 6, 18, 9 };

struct block {
    double change, value[CELLS];
};

static struct block *state;     /* of this rank: its parts, MOST_BLOCKS each */
static int first_part, parts;
static double turn_change[LOOPS];

static int sweeps_of(int part, int loop, int b)
{
    const double length = program_random((uint64_t) (part * 1000 + loop * 100 + b));
    return (int) ((part == 0 ? 18.0 : 12.0) + 40.0 * length * (part == 0 ? 1.0 : 0.55));
}

static void begin(void)
{
    for (int k = 0; k < parts * MOST_BLOCKS; k++)
        for (int c = 0; c < CELLS; c++)
            state[k].value[c] = program_random((uint64_t) (first_part * MOST_BLOCKS + k) * CELLS + (uint64_t) c);
}

static void relax(struct block *block, int sweeps)
{
    double change = 0;
    for (int s = 0; s < sweeps; s++) {
        double left = 0;
        change = 0;
        for (int c = 0; c < CELLS - 1; c++) {
            const double old = block->value[c], now = 0.25 * (left + 2 * old + block->value[c + 1]);
            change = fmax(change, fabs(now - old));
            block->value[c] = left = now;
        }
    }
    block->change = change;
}

static void turn(void)
{
    for (int loop = 0; loop < LOOPS; loop++) {
        const int count = blocks_in[loop];
        LOOP
        for (int k = 0; k < parts * count; k++)
            relax(&state[k / count * MOST_BLOCKS + k % count], sweeps_of(first_part + k / count, loop, k % count));
        double most = 0;
        for (int k = 0; k < parts * count; k++)
            most = fmax(most, state[k / count * MOST_BLOCKS + k % count].change);
        IN_MPI(MPI_Allreduce(&most, &turn_change[loop], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    }
}

static uint64_t hash(bool of_all)
{
    (void) of_all;
    uint64_t sum = 0;
    for (int k = 0; k < parts * MOST_BLOCKS; k++)
        for (int c = 0; c < CELLS; c++)
            sum += program_hash((uint64_t) (first_part * MOST_BLOCKS + k) * CELLS + (uint64_t) c, state[k].value[c]);
    return sum;
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    struct program_repeats o = { 30, 5, false };
    if (!program_options("blocks", "loops of few long iterations", argc, argv, NULL, &o))
        return 0;
    if (bench_ranks > PARTS)
        bench_fail(2, "blocks: at most %d ranks", PARTS);
    first_part = PARTS * bench_rank / bench_ranks;
    parts = PARTS * (bench_rank + 1) / bench_ranks - first_part;
    state = (struct block *) calloc((size_t) (parts * MOST_BLOCKS), sizeof *state);
    const struct program program = { "blocks", begin, turn, hash };
    program_run(&program, o.repeats, o.warmup, o.json);
    free(state);
    MPI_Finalize();
    return 0;
}
