// SPDX-License-Identifier: MIT
//
// A chain of short loops, in the manner of LULESH: 34 loops a step over a cube of elements, and an Allreduce for the
// next time step. There are some cubes, shared out among the ranks. With --uneven the first one's step is computed more
// than once, as regions of more expensive material are.
#include "../class_domain.h"
#include "program.h"

#include <algorithm>

namespace {

long cubes_of_all = 2, first_part, parts, side = 15, steps = 20, uneven = 1;
std::vector<Domain> cubes;
std::vector<Work> work;
double least;

#define LOOP_LEAST LOOP_REDUCE(min, least)
#include "../class_loops.inc"

void begin()
{
    cubes.assign(static_cast<std::size_t>(parts), Domain(static_cast<Index>(side)));
    work.assign(static_cast<std::size_t>(parts), Work(cubes[0].elements()));
}

void turn()
{
    for (long s = 0; s < steps; s++) {
        double mine = 1e30;
        for (long k = 0; k < parts; k++) {
            for (long r = 0; r < (first_part + k == 0 ? uneven : 1); r++)
                step(cubes[static_cast<std::size_t>(k)], work[static_cast<std::size_t>(k)]);
            mine = std::min(mine, work[static_cast<std::size_t>(k)].courant);
        }
        IN_MPI(MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD));
    }
}

uint64_t hash(bool)
{
    uint64_t sum = 0;
    for (long k = 0; k < parts; k++) {
        Domain &d = cubes[static_cast<std::size_t>(k)];
        const auto place = static_cast<uint64_t>(first_part + k) << 32;
        for (Index n = 0; n < d.nodes(); n++)
            sum += program_hash(place + static_cast<uint64_t>(n), d.x(n)) +
                   program_hash(place + static_cast<uint64_t>(n), d.fz(n));
        for (Index i = 0; i < d.elements(); i++)
            sum += program_hash(place + static_cast<uint64_t>(i), d.e(i)) +
                   program_hash(place + static_cast<uint64_t>(i), d.ss(i));
    }
    return sum;
}

}   // namespace

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    program_repeats o{ 30, 5, false };
    const program_option own[] = { { "side", "side S      elements of a cube's edge", &side, 1, 100 },
                                   { "cubes", "cubes N     of all ranks together", &cubes_of_all, 1, 1000 },
                                   { "steps", "steps N     of a turn", &steps, 1, 100000 },
                                   { "uneven", "uneven N    times that the first cube's step is computed", &uneven, 1,
                                     100 },
                                   { nullptr, nullptr, nullptr, 0, 0 } };
    if (!program_options("chain", "a chain of short loops", argc, argv, own, &o))
        return 0;
    if (bench_ranks > cubes_of_all)
        bench_fail(2, "chain: at most %ld ranks, as many as there are cubes", cubes_of_all);
    first_part = cubes_of_all * bench_rank / bench_ranks;
    parts = cubes_of_all * (bench_rank + 1) / bench_ranks - first_part;
    const program chain{ "chain", begin, turn, hash };
    program_run(&chain, o.repeats, o.warmup, o.json);
    MPI_Finalize();
    return 0;
}
