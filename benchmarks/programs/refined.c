/* SPDX-License-Identifier: MIT
 *
 * A stencil on blocks of which some are refined, as codes with adaptive meshes have it: a row of blocks of 12^3 cells,
 * cut into equal counts per rank. Where the front passes a block takes sixteen small steps for one; the front goes
 * through the first third. Neighbours give each other their faces once a step, between ranks by messages.
 */
#include "program.h"

enum { BLOCKS = 384, SIDE = 12, FACE = SIDE * SIDE, CELLS = FACE * SIDE, STEPS = 12, FINE = 16 };

struct block {
    double now[CELLS], low[FACE], high[FACE];   /* faces of the neighbours, as they were a step ago */
};
static struct block *blocks;    /* this rank's */
static long first, count;

static bool is_fine(long block, int step)
{
    const long front = (long) (BLOCKS / 3) * (step + 1) / STEPS;
    return block > front - 48 && block < front + 16;
}

static void begin(void)
{
    for (long b = 0; b < count; b++)
        for (long c = 0; c < CELLS; c++)
            blocks[b].now[c] = program_random((uint64_t) ((first + b) * CELLS + c));
}

static double at(const struct block *block, const double *cells, long i, long j, long k)
{
    if (k < 0)
        return block->low[j * SIDE + i];
    if (k >= SIDE)
        return block->high[j * SIDE + i];
    return i < 0 || i >= SIDE || j < 0 || j >= SIDE ? 0.0 : cells[(k * SIDE + j) * SIDE + i];
}

static void advance(struct block *block, int small_steps)
{
    double old[CELLS];
    for (int s = 0; s < small_steps; s++) {
        memcpy(old, block->now, sizeof old);
        for (long k = 0; k < SIDE; k++)
            for (long j = 0; j < SIDE; j++)
                for (long i = 0; i < SIDE; i++)
                    block->now[(k * SIDE + j) * SIDE + i] =
                        0.4 * old[(k * SIDE + j) * SIDE + i] +
                        0.1 * (at(block, old, i - 1, j, k) + at(block, old, i + 1, j, k) + at(block, old, i, j - 1, k) +
                               at(block, old, i, j + 1, k) + at(block, old, i, j, k - 1) + at(block, old, i, j, k + 1));
    }
}

static void exchange(void)
{
    const int before = bench_rank ? bench_rank - 1 : MPI_PROC_NULL,
              behind = bench_rank < bench_ranks - 1 ? bench_rank + 1 : MPI_PROC_NULL;
    IN_MPI(MPI_Sendrecv(blocks[0].now, FACE, MPI_DOUBLE, before, 0, blocks[count - 1].high, FACE, MPI_DOUBLE, behind, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE);
           MPI_Sendrecv(blocks[count - 1].now + CELLS - FACE, FACE, MPI_DOUBLE, behind, 1, blocks[0].low, FACE,
                        MPI_DOUBLE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (long b = 0; b < count; b++) {
        if (b)
            memcpy(blocks[b].low, blocks[b - 1].now + CELLS - FACE, sizeof blocks[b].low);
        if (b < count - 1)
            memcpy(blocks[b].high, blocks[b + 1].now, sizeof blocks[b].high);
    }
}

static void turn(void)
{
    for (int step = 0; step < STEPS; step++) {
        exchange();
        LOOP
        for (long b = 0; b < count; b++)
            advance(&blocks[b], is_fine(first + b, step) ? FINE : 1);
    }
    IN_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static uint64_t hash(bool of_all)
{
    (void) of_all;
    uint64_t sum = 0;
    for (long b = 0; b < count; b++)
        for (long c = 0; c < CELLS; c++)
            sum += program_hash((uint64_t) ((first + b) * CELLS + c), blocks[b].now[c]);
    return sum;
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    struct program_repeats o = { 30, 5, false };
    if (!program_options("refined", "a stencil on blocks, some of them refined", argc, argv, NULL, &o))
        return 0;
    if (bench_ranks > BLOCKS)
        bench_fail(2, "refined: at most %d ranks", BLOCKS);
    first = (long) BLOCKS * bench_rank / bench_ranks;
    count = (long) BLOCKS * (bench_rank + 1) / bench_ranks - first;
    blocks = (struct block *) calloc((size_t) count, sizeof *blocks);
    const struct program program = { "refined", begin, turn, hash };
    program_run(&program, o.repeats, o.warmup, o.json);
    free(blocks);
    MPI_Finalize();
    return 0;
}
