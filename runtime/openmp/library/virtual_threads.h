/* SPDX-License-Identifier: MIT
 *
 * How many virtual threads -workshare-openmp=share has without a number. C and C++.
 */
#ifndef WS_VIRTUAL_THREADS_H
#define WS_VIRTUAL_THREADS_H

/* `ranks`, `cpus`: of the node; 0: not known. More than four per core that could help gain nothing, and each costs a
 * switch. */
static inline unsigned ws_virtual_threads(unsigned ranks, unsigned cpus)
{
    const unsigned cores = ranks && cpus && cpus < ranks ? cpus : ranks, threads = cores ? 4 * cores : 16;
    return threads > 16 ? 16 : threads < 4 ? 4 : threads;
}

#endif
