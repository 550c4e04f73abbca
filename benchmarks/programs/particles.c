/* SPDX-License-Identifier: MIT
 *
 * Particle transport with tallies: a particle flies through cells, to the next of a few planes or to its next
 * collision, and each flight is tallied by `atomic` in functions that the loop calls: in the flux of its cell, and,
 * every few flights, in three numbers that all particles of a rank share. Most of the particles start with the first
 * rank. What is tallied are multiples of 2^-20, so that sums are exact.
 */
#include "program.h"

#include <math.h>

enum { CELLS = 4096, PARTICLES = 3000, FLIGHTS = 40, PLANES = 12 };

struct tallies {
    double flux[CELLS], collisions, absorbed, leaked;
};
static struct tallies tallies;  /* of this rank; together those of all particles */
static long first, count;       /* this rank's particles */
static long between = 8;        /* flights from one tally of the shared numbers to the next */

static void begin(void) { memset(&tallies, 0, sizeof tallies); }

static void score(double *tally, double weight)
{
    ATOMIC
    *tally += weight;
}

/* How far it is to the next plane, or to the next collision if that is nearer. */
static double distance(double x, double cosine, uint64_t random)
{
    double nearest = -log(1.0 - program_random(random)) * 40.0;
    for (int p = 0; p < PLANES; p++) {
        const double slope = cosine + 0.3 * cos(0.5 * (double) p + cosine),
                     to = ((double) p + 0.5) * 8.0 - fmod(x, 100.0);
        const double at = to / (slope != 0 ? slope : 1e-9);
        nearest = at > 0 && at < nearest ? at : nearest;
    }
    return nearest;
}

static void track(long particle)
{
    uint64_t seed = program_mix((uint64_t) particle);
    double weight = 1.0, x = program_random(seed) * CELLS, collisions = 0, absorbed = 0;
    bool leaked = false;
    for (int flight = 1; flight <= FLIGHTS && !leaked; flight++) {
        const uint64_t random = program_mix(seed += 0x9e3779b97f4a7c15u);
        const double cosine = 2.0 * program_random(random) - 1.0, far = distance(x, cosine, random);
        x += far * cosine;
        leaked = x < 0 || x >= CELLS;
        score(leaked ? &tallies.leaked : &tallies.flux[(long) x], weight);
        const double part = (double) (long) (weight * 0.02 * 0x1p20) * 0x1p-20;
        weight -= part;
        absorbed += part;
        collisions += weight;
        if (flight % between == 0 || flight == FLIGHTS || leaked) {
            score(&tallies.collisions, collisions);
            score(&tallies.absorbed, absorbed);
            collisions = absorbed = 0;
        }
    }
}

static void turn(void)
{
    LOOP
    for (long p = first; p < first + count; p++)
        track(p);
    double mine[3] = { tallies.collisions, tallies.absorbed, tallies.leaked }, all[3];
    IN_MPI(MPI_Allreduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

static uint64_t hash(bool of_all)
{
    static struct tallies all;
    all = tallies;
    if (of_all)
        MPI_Allreduce(&tallies, &all, sizeof all / sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (of_all && bench_rank)
        return 0;
    uint64_t sum = 0;
    for (int c = 0; c < CELLS; c++)
        sum += program_hash((uint64_t) c, all.flux[c]);
    return sum + program_hash(CELLS, all.collisions) + program_hash(CELLS + 1, all.absorbed) +
           program_hash(CELLS + 2, all.leaked);
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    struct program_repeats o = { 30, 5, false };
    long share = 96;
    const struct program_option own[] = {
        { "share", "share P     of the particles, in %, that rank 0 has", &share, 0, 100 },
        { "between", "between N   flights between two tallies of the shared numbers", &between, 1, FLIGHTS },
        { 0 }
    };
    if (!program_options("particles", "transport of particles with atomic tallies", argc, argv, own, &o))
        return 0;
    const long of_first = bench_ranks == 1 ? PARTICLES : (long) PARTICLES * share / 100;
    const long others = bench_ranks > 1 ? bench_ranks - 1 : 1;
    first = bench_rank == 0 ? 0 : of_first + (PARTICLES - of_first) * (bench_rank - 1) / others;
    count = (bench_rank == 0 ? of_first : of_first + (PARTICLES - of_first) * bench_rank / others) - first;
    const struct program program = { "particles", begin, turn, hash };
    program_run(&program, o.repeats, o.warmup, o.json);
    MPI_Finalize();
    return 0;
}
