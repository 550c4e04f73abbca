// SPDX-License-Identifier: MIT
//
// A program of many short loops, in the manner of a hydrodynamics step: hundreds of loops of about 1 to 40 us over
// arrays, equally many on every rank, and one Allreduce for the next time step. Nothing to balance: what counts is
// that the directives cost nothing.
#include "bench.h"

#include <cmath>
#include <vector>

namespace {

constexpr const char *program = "short_loops";

struct Mesh {
    std::vector<double> position, velocity, force, energy, pressure, volume;
    std::vector<int> left, right;       // neighbours, not contiguous: some loops gather
    double courant = 0;

    Mesh(long n, int rank)
        : position(n), velocity(n), force(n), energy(n), pressure(n), volume(n), left(n), right(n)
    {
        for (long i = 0; i < n; i++) {
            position[i] = static_cast<double>(i) + 0.1 * std::sin(0.37 * static_cast<double>(i + rank));
            energy[i] = 1.0 + 0.5 * std::cos(0.11 * static_cast<double>(i));
            volume[i] = 1.0;
            left[i] = static_cast<int>((i * 7 + n - 1) % n);
            right[i] = static_cast<int>((i * 7 + 1) % n);
        }
    }
};

// The kinds of loops; all act on their own element's results only, so any order of iterations gives the same bits.
struct Stress {
    Mesh &m;
    void operator()(long i) const { m.force[i] = m.pressure[m.left[i]] - m.pressure[m.right[i]]; }
};
struct Accelerate {
    Mesh &m;
    double dt;
    void operator()(long i) const { m.velocity[i] = 0.999 * m.velocity[i] + dt * m.force[i]; }
};
struct Move { Mesh &m; double dt; void operator()(long i) const { m.position[i] += dt * m.velocity[i]; } };
struct Volume {
    Mesh &m;
    void operator()(long i) const
    {
        double d = m.position[m.right[i]] - m.position[m.left[i]];
        m.volume[i] = 0.9 * m.volume[i] + 0.1 / (1.0 + d * d * 1e-6);
    }
};
struct Energy {
    Mesh &m;
    double dt;
    void operator()(long i) const
    {
        double e = m.energy[i] - dt * m.pressure[i] * (1.0 - m.volume[i]);
        m.energy[i] = e < 1e-9 ? 1e-9 : e;
    }
};
struct Pressure {
    Mesh &m;
    void operator()(long i) const { m.pressure[i] = 0.4 * m.energy[i] / std::sqrt(m.volume[i]); }
};

struct Shared {
    template <class Kernel> static void run(long n, Kernel kernel)
    {
#pragma ws for
        for (long i = 0; i < n; i++)
            kernel(i);
    }
    static double least(const Mesh &m, long n)
    {
        double least = 1e30;
#pragma ws for reduction(min : least)
        for (long i = 0; i < n; i++)
            least = std::fmin(least, m.volume[i] / (1.0 + std::fabs(m.velocity[i])));
        return least;
    }
};

struct Plain {
    template <class Kernel> static void run(long n, Kernel kernel)
    {
        for (long i = 0; i < n; i++)
            kernel(i);
    }
    static double least(const Mesh &m, long n)
    {
        double least = 1e30;
        for (long i = 0; i < n; i++)
            least = std::fmin(least, m.volume[i] / (1.0 + std::fabs(m.velocity[i])));
        return least;
    }
};

// One step: `regions` times seven loops, each over a prefix of the mesh that differs from region to region.
template <class Loops> void step(Mesh &m, long elements, long regions, double dt)
{
    double least = 1e30;
    for (long r = 0; r < regions; r++) {
        long n = elements / 32 + elements * (r * 13 % 32) / 32;
        n = n < elements ? n : elements;
        Loops::run(n, Stress{ m });
        Loops::run(n, Accelerate{ m, dt });
        Loops::run(n, Move{ m, dt });
        Loops::run(n, Volume{ m });
        Loops::run(n, Energy{ m, dt });
        Loops::run(n, Pressure{ m });
        least = std::fmin(least, Loops::least(m, n));
    }
    MPI_Allreduce(&least, &m.courant, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
}

void usage()
{
    if (bench_rank == 0)
        puts("short_loops: hundreds of short loops a step, balanced, one Allreduce a step\n"
             "  --elements N    of each rank's mesh (16384)\n"
             "  --regions R     seven loops each, a step (40)\n"
             "  --repeats S     timed steps (200)\n"
             "  --warmup W      steps before them (10)\n"
             "  --json          one JSON object instead of text");
}

}   // namespace

int main(int argc, char **argv)
{
    enum { ELEMENTS = 1, REGIONS, REPEATS, WARMUP, JSON, HELP };
    static const option options[] = {
        { "elements", required_argument, nullptr, ELEMENTS }, { "regions", required_argument, nullptr, REGIONS },
        { "repeats", required_argument, nullptr, REPEATS }, { "warmup", required_argument, nullptr, WARMUP },
        { "json", no_argument, nullptr, JSON }, { "help", no_argument, nullptr, HELP }, { nullptr, 0, nullptr, 0 }
    };
    bench_init(&argc, &argv);
    long elements = 16384, regions = 40, repeats = 200, warmup = 10;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case ELEMENTS: elements = bench_count(program, "elements", optarg, 32, 1 << 28); break;
        case REGIONS: regions = bench_count(program, "regions", optarg, 1, 1000000); break;
        case REPEATS: repeats = bench_count(program, "repeats", optarg, 1, 1000000); break;
        case WARMUP: warmup = bench_count(program, "warmup", optarg, 0, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }

    constexpr double dt = 1e-4;
    Mesh shared(elements, bench_rank), plain(elements, bench_rank);
    std::vector<double> samples(repeats), slowest(repeats);
    for (long s = -warmup; s < repeats; s++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = bench_now();
        step<Shared>(shared, elements, regions, dt);
        if (s >= 0)
            samples[s] = bench_now() - begin;
    }
    MPI_Reduce(samples.data(), slowest.data(), static_cast<int>(repeats), MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    for (long s = -warmup; s < repeats; s++)
        step<Plain>(plain, elements, regions, dt);
    int wrong = shared.courant != plain.courant || shared.position != plain.position || shared.energy != plain.energy
        || shared.velocity != plain.velocity;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (wrong)
        bench_fail(1, "%s: WRONG: the meshes of %d ranks differ from those of a run without directives", program,
                   wrong);

    if (bench_rank == 0) {
        bench_times t = bench_summary(slowest.data(), repeats);
        if (json) {
            printf("{\"program\": \"%s\", \"ranks\": %d, \"elements\": %ld, \"loops\": %ld, \"repeats\": %ld", program,
                   bench_ranks, elements, 7 * regions, repeats);
            bench_json_times("us", t);
        } else {
            printf("%ld loops a step, %.2f us each\n", 7 * regions,
                   t.median * 1e6 / (7.0 * static_cast<double>(regions)));
            bench_print_times("step", t);
        }
    }
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
