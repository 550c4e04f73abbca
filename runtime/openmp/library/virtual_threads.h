/* SPDX-License-Identifier: MIT
 *
 * How many virtual threads -workshare-openmp=share has without a number. C and C++.
 */
#ifndef WS_VIRTUAL_THREADS_H
#define WS_VIRTUAL_THREADS_H

/* `ranks`, `cpus`: of the node; 0: not known. `own`: threads that each rank has. `workers`: of each rank; with them a
 * rank that waits lends as many cores more. More than four per core that could help gain nothing, and each costs a
 * switch; with fewer, the last ones to end leave cores idle. */
static inline unsigned ws_virtual_threads(unsigned ranks, unsigned cpus, unsigned own, unsigned workers)
{
    const unsigned most = 16, most_with_workers = 64;
    const unsigned lenders = ranks && cpus && cpus < ranks ? cpus : ranks;
    unsigned threads = lenders ? 4 * lenders : most;
    threads = threads > most ? most : threads < 4 ? 4 : threads;
    if (own > 1 && threads < 2 * own)
        threads = 2 * own;
    if (workers && ranks) {
        const unsigned each = 1 + workers, all = (own > each ? own : each) + (ranks - 1) * each;
        const unsigned cores = cpus && cpus < all ? cpus : all;
        const unsigned fine = 4 * cores > most_with_workers ? most_with_workers : 4 * cores;
        threads = threads < fine ? fine : threads;
    }
    return threads;
}

#endif
