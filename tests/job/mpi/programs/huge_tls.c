/* SPDX-License-Identifier: MIT
 *
 * huge_tls: several MB of static thread-local storage, and iterations that need most of the stack that the rank has. */
#include "test.h"
#include <sys/resource.h>

static __thread volatile char big[MB << 20];

static __attribute__((noinline)) int deep(size_t bytes)
{
    volatile char frame[bytes];
    frame[0] = 1;
    for (size_t i = 0; i < bytes; i += 4096)
        frame[i] = 1;
    return frame[0];
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0) {
        struct rlimit limit;
        int on_guests = 0, wrong = 0;
        getrlimit(RLIMIT_STACK, &limit);
        for (double deadline = now() + PATIENCE; on_guests < 100 && now() < deadline;) {
#pragma ws for reduction(+ : on_guests, wrong)
            for (int i = 0; i < 2000; i++) {
                busy(5e-6);
                on_guests += on_guest();
                big[(size_t) i << 11] = 1;
                wrong += deep(limit.rlim_cur - (2 << 20)) != 1;
            }
        }
        CHECK(on_guests >= 100);
        CHECK(wrong == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
