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
#ifndef WORKSHARE_ABI_H
#define WORKSHARE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WS_ABI 1

/* Schedule kinds as written in the clauses. 0: no clause, chunks are sized by time. WS_RUNTIME: set by WS_SCHEDULE and
 * WS_STEAL_SCHEDULE in the environment of the run. */
enum ws_schedule { WS_AUTO = 0, WS_STATIC = 1, WS_DYNAMIC = 2, WS_GUIDED = 3, WS_RUNTIME = 4 };

/* One per `ws for` in the source: a 64-byte aligned, writable static object of 8 words that the plugin emits, in a
 * section of its own, by which a tool finds all of a binary. The plugin fills the first two words, the runtime learns
 * in the rest (zero at start). A name is UTF-8, in one line without control characters. */
#define WS_SITE_SECTION "ws_sites"
#define WS_NAME_MAX 191         /* bytes of a name */
struct ws_site {
    const char *where;          /* what it is called: "file.c:12:function", or the text of a name clause */
    uintptr_t kinds;            /* schedule | steal_schedule << 8 | WS_SITE_* | WS_ABI << 24 */
    uint64_t learned[6];
};
#define WS_SITE_KINDS(schedule, steal) ((uintptr_t) (schedule) | (uintptr_t) (steal) << 8 | (uintptr_t) WS_ABI << 24)
/* Set where the clause gives a chunk, so that a computed 0 is told from none. */
#define WS_SITE_CHUNK ((uintptr_t) 1 << 16)
#define WS_SITE_STEAL_CHUNK ((uintptr_t) 1 << 17)
/* Nothing in the loop depends on which iteration is the last (lastprivate): a participant may be given later iterations
 * before earlier ones. Without it each participant's chunks must come in rising order. */
#define WS_SITE_ANY_ORDER ((uintptr_t) 1 << 18)
/* There is a steal_schedule clause, which may be `auto`. Without this bit and with 0 for its kind thieves do as the
 * owner. */
#define WS_SITE_STEAL ((uintptr_t) 1 << 19)

/* A loop of OpenMP's (mpicc -fws=openmp). */
#define WS_SITE_OPENMP ((uintptr_t) 1 << 20)
/* The compiler's outlined code of the loop is no slower than its plain version: clang's is often faster, GCC's is
 * slower. So the plain version runs only if it saves the cost of a short region. */
#define WS_SITE_OUTLINED ((uintptr_t) 1 << 23)

/* The name of a loop with reductions ends with a NUL. Behind it stand the places of the results, for -workshare-check:
 * words separated by blanks, ended by another NUL.
 *
 *     total=f8+@16*   count=i4x10+@&0   box=?
 *
 * `total`: a float of 8 bytes, a sum; a pointer to it lies at byte 16 of what `data` points to. `count`: 10 integers of
 * 4 bytes; the first address behind the site is that of the first integer. `box` cannot be compared.
 * Types: i and u (integers with and without a sign), f, c (two of f: complex). Then `+` for sums, `*` for products, `=`
 * for results that depend on no order. A place may have several `*`, one per pointer, and after them "+bytes". */
#define WS_SITE_RESULTS ((uintptr_t) 1 << 22)
/* If one of the results has a static address, eight more words follow the site in its section: two that are 0, as no
 * site's are, and this many addresses. */
#define WS_SITE_ADDRESSES 6

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

/* For a loop whose function also contains a plain version of it (GCC: -O3; clang: -O2, -O3).
 * True: this execution is not shared. The caller then runs all of its `iterations` itself, without asking for chunks,
 * and calls ws_plain_end(). False, without an effect: the caller calls ws_parallel or ws_parallel_loop. */
bool ws_plain_begin(struct ws_site *site, long chunk, long steal_chunk, unsigned long iterations);
void ws_plain_end(struct ws_site *site);

/* The combined and the uncombined form of a loop with an if clause. If `share` is false, the loop runs whole on the
 * calling thread, which counts as outside of it: a loop in its body may be shared. */
void ws_parallel_loop_if(int share, void (*fn)(void *), void *data, long start, long end, long incr,
                         struct ws_site *site, long chunk, long steal_chunk);
void ws_parallel_if(int share, void (*fn)(void *), void *data, struct ws_site *site, long chunk, long steal_chunk);

/* The same for OpenMP's loops. If OpenMP has several threads, they run fn(data) as a parallel region of OpenMP's. */
void ws_openmp_loop(void (*fn)(void *), void *data, long start, long end, long incr,
                    struct ws_site *site, long chunk, long steal_chunk);
void ws_openmp(void (*fn)(void *), void *data, struct ws_site *site, long chunk, long steal_chunk);

/* For loops whose last step may leave the type of the variable. `least` and `most` are the first and the last value of
 * the type; for 64 bits without a sign they are 0 and LONG_MAX, and other such loops have the ull form.
 *
 * fn adds the step before it compares with hi. So the last iteration comes as a chunk of its own, and its hi is the
 * value that the variable then has: not less than the variable (down: not greater), whatever the compiler made of the
 * addition. If such a loop has no WS_SITE_ANY_ORDER, the job ends with a message, because lastprivate compares the
 * variable with the end, and simd compares first. */
bool ws_loop_start_step(long start, long end, long incr, long *lo, long *hi, long least, long most);
bool ws_loop_ull_start_step(bool up, unsigned long long start, unsigned long long end, unsigned long long incr,
                            unsigned long long *lo, unsigned long long *hi);

/* Ends the job with a message: gfortran counts the iterations of the loop in a type that is too small for them. */
void ws_too_many_iterations(const char *where);

/* Around the merge of a reduction that has no single atomic instruction; nests with nothing. */
void ws_reduction_start(void);
void ws_reduction_end(void);

/* For `ws atomic`. Nonzero: the calling thread runs a region in which nobody else takes part, and no other thread of
 * the process can run one. Then a plain operation suffices. It changes only inside calls of this interface made by the
 * thread that runs the region, so that a compiler may keep it in a register between them. */
extern char ws_alone;
/* Around an atomic operation on a type that no instruction handles. All such operations of a process share one lock. */
void ws_atomic_start(void);
void ws_atomic_end(void);

/* `ws critical`. One per name and translation unit, static, that the plugin emits; name "" is the unnamed one. The
 * runtime keeps in `lock` what it found for the name. Between the two calls no other thread of any rank of the job on
 * this node is between theirs for the same name, with and without -workshare. start blocks until it is free; ends the
 * job with a message if the holder died, or if the calling thread holds it already. */
struct ws_critical {
    const char *name;
    void *lock;                 /* 0 at start */
};
void ws_critical_start(struct ws_critical *critical);
void ws_critical_end(struct ws_critical *critical);

/* Tasks within a process (ws::task_group). What ws_group_wanted says of a task that the calling thread is about to put:
 * run it at once; defer it, by ws_group_put; or ask ws_group_begin, with the place of the call, which of the two. A
 * task that runs at once does so between an increment and a decrement of ws_group_depth. */
enum ws_group_how { WS_GROUP_RUN = 0, WS_GROUP_DEFER = 1, WS_GROUP_ASK = 2 };
int ws_group_wanted(void);
bool ws_group_begin(struct ws_site *site); /* true: defer it */
extern __thread unsigned ws_group_depth __attribute__((tls_model("initial-exec")));
/* The tasks that one wait is for. All 0 at start; must not move while a task is waiting or running. */
struct ws_group {
    volatile uintptr_t waiting; /* deferred, and not over yet */
};
/* The head of a deferred task: `run` runs it, once, on any thread, and frees it. It must not throw. No group: libws's
 * own, a task of a directive. */
struct ws_deferred {
    void (*run)(struct ws_deferred *);
    struct ws_group *group;
};
/* False, and nothing has happened: the caller runs it at once. */
bool ws_group_put(struct ws_group *group, struct ws_deferred *task);
/* Returns when all tasks of the group are over. Meanwhile the calling thread runs tasks, also of other groups. */
void ws_group_wait(struct ws_group *group);

/* `ws task` and its kin, as GCC lowers OpenMP's: what follows are libgomp's GOMP_ functions of these names, with a
 * place instead of a priority and a detach event.
 *
 * Runs fn, now or later, with `data`, or with a copy of these size bytes that copy(to, data) makes (null: memcpy) and
 * that fn frees the members of. Now: if nobody could take it, if not `may_wait` (its if clause), or if there is no
 * room; after the tasks before it in `depend`. */
#define WS_TASK_FINAL 2u        /* flags: as libgomp's */
#define WS_TASK_DEPEND 8u
#define WS_TASK_UP 256u         /* of loops */
#define WS_TASK_GRAINSIZE 512u
#define WS_TASK_IF 1024u
#define WS_TASK_NOGROUP 2048u
#define WS_TASK_REDUCTION 4096u
#define WS_TASK_STRICT 16384u
void ws_put_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool may_wait,
                 unsigned flags, void **depend, struct ws_site *site);
/* The loop in tasks: `data` begins with two words, in which fn finds the start and the end of its part. `tasks`: their
 * number, or with WS_TASK_GRAINSIZE the number of iterations of each; 0: the runtime chooses. */
void ws_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, unsigned flags,
                 unsigned long tasks, long start, long end, long step, struct ws_site *site);
void ws_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                     unsigned flags, unsigned long tasks, unsigned long long start, unsigned long long end,
                     unsigned long long step, struct ws_site *site);
/* Waits for the tasks that the current one, or the code outside of tasks, has put. */
void ws_taskwait(void);
/* Around a taskgroup. The second waits for all tasks put between them, and for those that these have put. */
void ws_taskgroup_start(void);
void ws_taskgroup_end(void);
/* The reductions of a taskgroup or a taskloop: `data` as libgomp's GOMP_taskgroup_reduction_register has it. Each of
 * ws_task_slots() threads has a copy of each variable; the calling one has that of the number ws_task_slot(). */
void ws_task_reduction_start(uintptr_t *data);
void ws_task_reduction_end(uintptr_t *data);
void ws_task_reduction_remap(size_t count, size_t originals, void **pointers);
int ws_task_slots(void);
int ws_task_slot(void);

/* The same, as clang lowers OpenMP's: what follows are libomp's __kmpc_ functions of tasks. The two compilers' tasks
 * wait for each other; reductions need a taskgroup and tasks of the same compiler.
 *
 * Returns memory for a task of libomp's (kmp_task_t, `size` bytes, and `shared` bytes behind it): in `space`, of
 * WS_TASK_SPACE bytes aligned to 64, which the caller keeps until the task was started, if nobody could take it. The
 * flags are libomp's, and WS_TASK_LOOP for that of a taskloop. */
#define WS_TASK_DESTROY 8u
#define WS_TASK_LOOP 65536u
#define WS_TASK_SPACE(size, shared) (64 + ((size) + 15) / 16 * 16 + (shared))
void *ws_new_task(unsigned flags, long size, long shared, int (*entry)(int, void *), struct ws_site *site, void *space);
/* Runs it, now or later, as ws_put_task does. `depend`: `count` of libomp's kmp_depend_info. */
void ws_start_task(void *task, bool may_wait, int count, const void *depend);
/* Runs parts of the loop whose bounds are in the task. Flags and `tasks` are ws_taskloop's. `copy` (null: none) makes
 * a copy's objects out of the first one's, and tells it whether it has the last iteration. */
void ws_start_taskloop(void *task, unsigned flags, unsigned long tasks, void (*copy)(void *, void *, int));
/* What a taskgroup reduces: `count` of libomp's kmp_taskred_input_t. Its ws_taskgroup_end adds the copies up. */
void ws_task_reductions(int count, const void *inputs);
/* The calling thread's copy of such a variable, or of what is another thread's copy. */
void *ws_task_copy(void *of);

/* Called by a constructor of each translation unit that has such code, before main: what MPI_Init must prepare. */
#define WS_USES_CRITICAL 1u     /* the node-wide locks, also without -workshare */
#define WS_USES_MPI_IN_LOOPS 2u /* MPI_THREAD_MULTIPLE under -workshare */
void ws_uses(unsigned features);
extern unsigned ws_used_features; /* of the whole program; MPICH looks it up by name */

/* Each object file with such code refers to this name by a pointer that nobody reads: a linker without libws prints
 * it. */
#define WS_LINK_SYMBOL "ws_link_with_-fws"

#ifdef __cplusplus
}
#endif
#endif
