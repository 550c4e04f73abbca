/* SPDX-License-Identifier: MIT
 *
 * A library with a name of CUDA's runtime, whose streams are done when another rank says so: there is no GPU here. */
#include <unistd.h>

static volatile int *over;

void stub_ends_when(volatile int *flag) { over = flag; }

int cudaStreamSynchronize(void *stream)
{
    while (!*over)
        usleep(500);
    return stream == (void *) over ? 77 : 1;
}
