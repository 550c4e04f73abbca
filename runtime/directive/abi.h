/* SPDX-License-Identifier: MIT
 *
 * What compiled code calls: the binary interface between the compiler plugins and libws. C, stable within WS_ABI.
 *
 * A `ws for` becomes an outlined function `fn(data)` that asks for chunks until there are none, as GCC lowers
 * `omp parallel for schedule(dynamic)`. The owner calls it through ws_parallel_loop (bounds known before the
 * region) or ws_parallel (bounds computed inside); a guest of the owner's process calls the same fn(data).
 *
 * Everywhere: iterations are half open; [*lo, *hi) in the loop variable's own values; hi is the loop's own end
 * for the last chunk. Calls made outside a region, in a nested region or on a thread that owns none hand out
 * the whole range once. None of them blocks except that the owner's last `next` waits for its guests.
 */
#ifndef WS_DIRECTIVE_ABI_H
#define WS_DIRECTIVE_ABI_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WS_ABI 1

/* Schedule kinds as written in the clauses; 0 = no clause: chunks are sized by time. */
enum ws_schedule { WS_AUTO = 0, WS_STATIC = 1, WS_DYNAMIC = 2, WS_GUIDED = 3 };

/* One per `ws for` in the source: a 64-byte aligned, writable static object of 8 words that the plugin emits.
 * The plugin fills the first two words, the runtime learns in the rest (zero at start). */
struct ws_site {
    const char *where;          /* "file.c:12 function" */
    uintptr_t kinds;            /* schedule | steal_schedule << 8 | WS_SITE_*CHUNK | WS_ABI << 24 */
    uint64_t learned[6];
};
#define WS_SITE_KINDS(schedule, steal) ((uintptr_t) (schedule) | (uintptr_t) (steal) << 8 | (uintptr_t) WS_ABI << 24)
/* Set where the clause gives a chunk, so that a computed 0 is told from none. */
#define WS_SITE_CHUNK ((uintptr_t) 1 << 16)
#define WS_SITE_STEAL_CHUNK ((uintptr_t) 1 << 17)

/* Combined form: the loop variable runs start, start+incr, ... up to (not including) end, as signed long.
 * chunk and steal_chunk are the clauses' chunk sizes in iterations, 0 = none given; a value below 1 computed
 * at run time ends the job with a message naming the loop. */
void ws_parallel_loop(void (*fn)(void *), void *data, long start, long end, long incr,
                      struct ws_site *site, long chunk, long steal_chunk);
bool ws_loop_next(long *lo, long *hi);

/* Uncombined form: fn calls one of the two starts first, then the matching next. */
void ws_parallel(void (*fn)(void *), void *data, struct ws_site *site, long chunk, long steal_chunk);
bool ws_loop_start(long start, long end, long incr, long *lo, long *hi);
bool ws_loop_ull_start(bool up, unsigned long long start, unsigned long long end, unsigned long long incr,
                       unsigned long long *lo, unsigned long long *hi);
bool ws_loop_ull_next(unsigned long long *lo, unsigned long long *hi);
void ws_loop_end(void);

/* Around the merge of a reduction that has no single atomic instruction; nests with nothing. */
void ws_reduction_start(void);
void ws_reduction_end(void);

#ifdef __cplusplus
}
#endif
#endif
