/* SPDX-License-Identifier: MIT
 *
 * runtime_schedule THIEF OWN: loops with schedule(runtime) and steal_schedule(runtime). Pieces that guests run must
 * have THIEF iterations, those of the loop's own thread at most OWN, but for the last piece; 0: any number. Rank 0
 * prints how many guests ran. */
#include "test.h"
#include <workshare/ws.h>

enum { N = 3000 };
static int thief, own, pieces_of_guests;
static unsigned char ran[N];

static void body(int64_t lo, int64_t hi, void *unused)
{
    (void) unused;
    for (int64_t i = lo; i < hi; i++) {
        ran[i]++;
        busy(5e-6);
    }
    if (on_guest()) {
        __atomic_fetch_add(&pieces_of_guests, 1, __ATOMIC_RELAXED);
        CHECK(thief == 0 || hi - lo == thief || hi == N);
    } else {
        CHECK(own == 0 || hi - lo <= own || hi == N);
    }
}

int main(int argc, char **argv)
{
    struct ws_options options = { 0 };
    begin(&argc, &argv);
    thief = atoi(argv[1]);
    own = atoi(argv[2]);
    options.schedule = options.steal_schedule = WS_RUNTIME;
    for (int round = 0; round < 6; round++) {
        if (rank == 0) {
            memset(ran, 0, sizeof ran);
            CHECK(ws_for(0, N, body, NULL, &options) == 0);
            for (int i = 0; i < N; i++)
                CHECK(ran[i] == 1);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("pieces of guests %d\n", pieces_of_guests);
    return end();
}
