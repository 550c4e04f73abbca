// SPDX-License-Identifier: MIT
//
// What outlining loses: many short loops over a C++ class whose accessors return references, in the manner of LULESH.
// Versions of the same source in one program, compiled with -fws -fopenmp: under `ws for`, under `omp parallel for`
// with one thread, and plain; `again` is the plain one once more, at other addresses: what lies within that is not the
// directive's. Nobody shares the loops: the other ranks sleep, but not in MPI. Built with several alignments.
#include "class_domain.h"
#include "variants.h"

#include <cmath>
#include <iterator>
#include <memory>
#include <omp.h>

namespace {

constexpr int versions = 4;
// Arrays of all versions. Versions are timed on the same arrays, because their addresses matter as much as what is
// measured.
std::shared_ptr<Domain> domains[versions];
std::shared_ptr<Work> works[versions];

namespace ws_version {
#define VERSION 0
#define LOOP _Pragma("ws for")
#define LOOP_LEAST _Pragma("ws for reduction(min : least)")
#include "class_loops.inc"
#undef VERSION
#undef LOOP
#undef LOOP_LEAST
}
namespace omp_version {
#define VERSION 1
#define LOOP _Pragma("omp parallel for")
#define LOOP_LEAST _Pragma("omp parallel for reduction(min : least)")
#include "class_loops.inc"
#undef VERSION
#undef LOOP
#undef LOOP_LEAST
}
#define LOOP
#define LOOP_LEAST
namespace again_version {
#define VERSION 2
#include "class_loops.inc"
#undef VERSION
}
namespace plain_version {
#define VERSION 3
#include "class_loops.inc"
}

void step_ws() { ws_version::step(*domains[0], *works[0]); }
void step_omp() { omp_version::step(*domains[1], *works[1]); }
void step_again() { again_version::step(*domains[2], *works[2]); }
void step_plain() { plain_version::step(*domains[3], *works[3]); }

void begin(Index side, bool the_same)
{
    for (int k = 0; k < versions; k++) {
        domains[k] = the_same && k ? domains[0] : std::make_shared<Domain>(side);
        works[k] = the_same && k ? works[0] : std::make_shared<Work>(domains[k]->elements());
    }
}

// The versions run different numbers of steps when they are timed; the same numbers must give the same bits.
bool right(Index side)
{
    begin(side, false);
    for (int s = 0; s < 10; s++) {
        step_ws();
        step_omp();
        step_again();
        step_plain();
    }
    Domain &plain = *domains[versions - 1];
    for (int k = 0; k < versions - 1; k++)
        if (!domains[k]->same(plain) || works[k]->courant != works[versions - 1]->courant)
            return false;
    return std::isfinite(plain.x(5)) && plain.e(plain.elements() / 2) != 0;
}

void usage()
{
    if (bench_rank == 0)
        puts("class_loops: 34 short loops a step over a class, under ws for, omp parallel for with one thread, "
             "plain, and plain again\n"
             "  --side S      elements of the cube's edge (8: 512 elements, 729 nodes)\n"
             "  --each        measure each loop by itself too\n"
             "  --repeats R   samples of each (300)\n"
             "  --json        one JSON object instead of text");
}

}   // namespace

int main(int argc, char **argv)
{
    enum { SIDE = 1, EACH, REPEATS, JSON, HELP };
    static const option options[] = { { "side", required_argument, nullptr, SIDE },
                                      { "each", no_argument, nullptr, EACH },
                                      { "repeats", required_argument, nullptr, REPEATS },
                                      { "json", no_argument, nullptr, JSON },
                                      { "help", no_argument, nullptr, HELP },
                                      { nullptr, 0, nullptr, 0 } };
    bench_init(&argc, &argv);
    const char *me = "class_loops";
    long side = 8, repeats = 300;
    bool json = false, each = false;
    int wrong = 0;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case SIDE: side = bench_count(me, "side", optarg, 1, 100); break;
        case EACH: each = true; break;
        case REPEATS: repeats = bench_count(me, "repeats", optarg, 1, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }
    omp_set_num_threads(1);
    bench_others_sleep();
    if (bench_rank == 0) {
        begin(Index(side), true);
        if (json)
            printf("{\"program\": \"%s\", \"ranks\": %d, \"repeats\": %ld, \"elements\": %ld", me, bench_ranks, repeats,
                   side * side * side);
        static const variant steps[] = {
            { "ws", step_ws }, { "omp", step_omp }, { "again", step_again }, { "plain", step_plain } };
        variants_measure("step", steps, versions, repeats, 500e-6, json);
        for (std::size_t i = 0; each && i < std::size(ws_version::each); i++) {
            const variant one[] = { { "ws", ws_version::each[i].run },
                                    { "omp", omp_version::each[i].run },
                                    { "again", again_version::each[i].run },
                                    { "plain", plain_version::each[i].run } };
            variants_measure(ws_version::each[i].name, one, versions, repeats, 100e-6, json);
        }
        wrong = !right(Index(side));
    }
    bench_others_stop();
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    bench_json_end(json);
    if (wrong)
        bench_fail(1, "%s: WRONG: the versions' domains differ", me);
    MPI_Finalize();
    return 0;
}
