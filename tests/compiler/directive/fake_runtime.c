/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libws that tests the compiler plugin alone: the entry points of runtime/abi/abi.h, with two
 * guest threads that really join each outermost region. Chunks are handed out under a mutex.
 *
 * WS_FAKE=order    all take from the front (default)
 *         tail     guests take from the end
 *         random   sizes, ends and delays at random
 *         alone    no guests
 *         plain    loops that may run plainly where they stand do so at every other execution, the first one too; the
 *                  rest as in `order`
 * With tail and random, a task runs when somebody waits for it, or another with `depend` comes: the last one first.
 * Loops that are marked as free of order get it: with tail and random the last iteration comes at any time. For others
 * the rules for the last iteration are libws's (docs: the plugin relies on them for firstprivate + lastprivate):
 * its chunk is handed out when all others are gone, ends its participant's work, and that participant leaves
 * `next` only when no guest stands between joining and its own first `next`. */
#define _GNU_SOURCE
#include "../../../runtime/abi/abi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GUESTS = 2, JOIN_PATIENCE_MS = 200 };
enum mode { ORDER, TAIL, RANDOM, ALONE, PLAIN };

struct region {
    void (*fn)(void *);
    void *data;
    struct ws_site *site;
    long chunk[2];              /* owner's, thieves' */
    bool bounds_known, last_given;
    bool splits;                /* its last step leaves the variable's type: the last iteration is a chunk of its own */
    bool invited;               /* guests may come: the owner knows that it is not alone any more */
    int entering;               /* guests that joined and have not called `next` */
    int inside;                 /* guests that run fn */
    int chunks_of[2];           /* owner's, guests' */
    uint64_t start, end, incr, after;
    uint64_t front, back, n;    /* iterations by number; [front, back) is there to take, then n - 1 if it is kept */
};

/* What a thread is to the region it works in; regions nest. */
struct part {
    struct region *region;
    bool owner, shared, entered, had_last;
    bool unshared;              /* by its if clause: as if there was none */
    struct part *outer;
};

/* For the tests. */
int ws_fake_regions, ws_fake_joined, ws_fake_unshared, ws_fake_splits, ws_fake_merges, ws_fake_atomics,
    ws_fake_criticals, ws_fake_features, ws_fake_plain, ws_fake_tasks;
struct ws_site *ws_fake_site;
long ws_fake_chunk, ws_fake_steal_chunk;

char ws_alone;
extern int omp_in_parallel(void) __attribute__((weak));

static __thread struct part *part;
static __thread unsigned seed;
static enum mode mode;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t merge = PTHREAD_MUTEX_INITIALIZER;
static struct region *open_region;      /* the one that guests may join */
static pthread_mutex_t atomic = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void fail(const char *what)
{
    fprintf(stderr, "fake_runtime: %s\n", what);
    abort();
}

static bool any_order(const struct region *r)
{
    return (r->site->kinds & WS_SITE_ANY_ORDER) != 0;
}

static bool has_work(const struct region *r)
{
    return r->bounds_known && r->n && (any_order(r) ? r->front != r->back : !r->last_given);
}

static void run(struct region *r, bool owner, bool shared)
{
    struct part me = {r, owner, shared, false, false, false, part};
    part = &me;
    r->fn(r->data);
    part = me.outer;
}

static void *guest(void *arg)
{
    seed = 17 + (unsigned) (uintptr_t) arg;
    pthread_mutex_lock(&mutex);
    for (;;) {
        struct region *r = open_region;
        if (!r || !has_work(r) || !r->invited) {
            pthread_cond_wait(&changed, &mutex);
            continue;
        }
        r->entering++;
        r->inside++;
        pthread_mutex_unlock(&mutex);
        if (mode == RANDOM)
            usleep(rand_r(&seed) % 100);
        run(r, false, true);
        pthread_mutex_lock(&mutex);
        r->inside--;
        pthread_cond_broadcast(&changed);
    }
    return NULL;
}

static void set_up(void)
{
    static const char *const names[] = {"order", "tail", "random", "alone", "plain"};
    const char *value = getenv("WS_FAKE");
    for (int i = 0; value && i < 5; i++)
        if (strcmp(value, names[i]) == 0)
            mode = (enum mode) i;
    for (uintptr_t i = 0; mode != ALONE && i < GUESTS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, guest, (void *) i))
            fail("no thread");
    }
}

static void set_bounds(struct region *r, uint64_t start, uint64_t end, uint64_t incr, uint64_t n)
{
    if (r->bounds_known) {
        if (r->start != start || r->end != end || r->incr != incr)
            fail("participants disagree on the bounds");
        return;
    }
    r->bounds_known = true;
    r->start = start;
    r->end = end;
    r->incr = incr;
    r->n = n;
    r->back = mode == ORDER || mode == ALONE || mode == PLAIN || any_order(r) || !n ? n : n - 1;
    pthread_cond_broadcast(&changed);
}

static uint64_t count(bool up, bool empty, uint64_t start, uint64_t end, uint64_t incr)
{
    if (empty)
        return 0;
    return up ? (end - start - 1) / incr + 1 : (start - end - 1) / -incr + 1;
}

static int bits_of(long least, long most)
{
    return least == 0 ? most == INT64_MAX ? -64 : __builtin_clzl(most) - 64 : 65 - __builtin_clzl(most);
}

/* What the variable is after the last step; `bits` of its type, less than 0 if it is unsigned. */
static uint64_t end_of_split(int bits, uint64_t start, uint64_t end, uint64_t incr, bool up, bool *splits)
{
    bool empty = bits == -64 ? (up ? start >= end : start <= end)
                 : up        ? (long)start >= (long)end
                             : (long)start <= (long)end;
    uint64_t n = count(up, empty, start, end, incr), last = start + (n - 1) * incr, next = last + incr;
    int shift = 64 - abs(bits);
    uint64_t after = bits < 0 ? next << shift >> shift : (uint64_t) ((long) (next << shift) >> shift);
    /* It has left the type if it went the other way. */
    *splits = n && (bits < 0 ? (up ? after < last : after > last)
                    : up     ? (long) after < (long) last
                             : (long) after > (long) last);
    return *splits ? after : end;
}

static void set_long_bounds(struct region *r, long start, long end, long incr)
{
    bool up = incr > 0;
    set_bounds(r, start, end, incr, count(up, up ? start >= end : start <= end, start, end, incr));
}

/* To be called after set_bounds(). */
static void set_split(struct region *r, uint64_t after)
{
    if (!any_order(r))
        fail("lastprivate or simd, and the last step leaves the variable's type");
    r->splits = true;
    r->after = after;
    ws_fake_splits++;
}

/* The owner gives guests a chance, or the tests would test little. */
static void await_guests(struct region *r)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += JOIN_PATIENCE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (r->chunks_of[0] == 1 && !r->chunks_of[1] && r->n >= 4 && has_work(r))
        if (pthread_cond_timedwait(&changed, &mutex, &until))
            break;
}

static bool next(uint64_t *lo, uint64_t *hi)
{
    struct part *me = part;
    if (!me)
        fail("next outside of a region");
    struct region *r = me->region;
    pthread_mutex_lock(&mutex);
    if (!me->owner && !me->entered)
        r->entering--;
    me->entered = true;
    pthread_cond_broadcast(&changed);
    if (me->owner && me->shared && r->chunks_of[0]) {   /* late joiners: the owner has had a chunk */
        ws_alone = 0;
        r->invited = true;
        pthread_cond_broadcast(&changed);
        await_guests(r);
    }
    bool more = has_work(r) && !me->had_last;
    if (more) {
        uint64_t size = r->chunk[!me->owner] > 0 ? r->chunk[!me->owner] : 2;
        /* Where the last iteration matters each participant's chunks come in rising order, as abi.h says. */
        bool from_end = any_order(r) && (mode == TAIL ? !me->owner : mode == RANDOM && rand_r(&seed) % 2);
        if (mode == RANDOM)
            size = 1 + rand_r(&seed) % 7;
        if (!me->shared)
            size = r->n;
        if (size > r->back - r->front && r->back != r->front)
            size = r->back - r->front;
        if (!me->shared) {
            *lo = r->front;
            *hi = r->front = r->n;
        } else if (r->front == r->back) {       /* only the kept iteration is left */
            *lo = r->n - 1;
            *hi = r->n;
        } else if (from_end) {
            *lo = r->back -= size;
            *hi = *lo + size;
        } else {
            *lo = r->front;
            *hi = r->front += size;
        }
        if (r->splits && *hi == r->n && *lo != r->n - 1) {
            if (r->back != r->n) {      /* taken from the end: the rest stays there */
                *lo = r->back = r->n - 1;
            } else {
                *hi = r->front = r->n - 1;
            }
        }
        if (*hi == r->n && !any_order(r))
            r->last_given = me->had_last = true;
        r->chunks_of[!me->owner]++;
    }
    pthread_cond_broadcast(&changed);
    while (!more && me->had_last && r->entering)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    if (more && mode == RANDOM && rand_r(&seed) % 4 == 0)
        usleep(rand_r(&seed) % 50);
    if (more) {
        *hi = *hi == r->n ? r->splits ? r->after : r->end : r->start + *hi * r->incr;
        *lo = r->start + *lo * r->incr;
    }
    return more;
}

static bool in_region(void)
{
    for (const struct part *p = part; p; p = p->outer)
        if (!p->unshared)
            return true;
    return false;
}

static void execute(struct region *r)
{
    if ((uintptr_t) r->site % 64)
        fail("the site is not aligned");
    if (r->site->kinds >> 24 != WS_ABI || !r->site->where || !*r->site->where)
        fail("the site is not filled in");
    r->site->learned[5]++;      /* it must be writable */
    pthread_mutex_lock(&mutex);
    bool shared = mode != ALONE && !in_region() && !open_region;
    if (shared)
        open_region = r;
    /* Without OpenMP's threads the others that could run a region are guests, who come when they are invited. */
    bool outermost = !in_region(), others = omp_in_parallel && omp_in_parallel();
    if (outermost && !others && (shared || mode == ALONE))
        ws_alone = 1;
    pthread_mutex_unlock(&mutex);
    run(r, true, shared);
    pthread_mutex_lock(&mutex);
    if (outermost && !others)
        ws_alone = 0;
    if (shared)
        open_region = NULL;
    while (r->inside)
        pthread_cond_wait(&changed, &mutex);
    ws_fake_regions++;
    ws_fake_joined += r->chunks_of[1] > 0;
    ws_fake_site = r->site;
    ws_fake_chunk = r->chunk[0];
    ws_fake_steal_chunk = r->chunk[1];
    pthread_mutex_unlock(&mutex);
    if (getenv("WS_FAKE_TRACE"))
        fprintf(stderr, "ws: %s: %lu iterations, owner %d chunks, guests %d\n", r->site->where, (long) r->n,
                r->chunks_of[0], r->chunks_of[1]);
}

/* Not shared: whole, by this thread, and in no region for what it calls. */
static void run_unshared(struct region *r)
{
    struct part me = {r, true, false, false, false, true, part};
    pthread_once(&once, set_up);
    part = &me;
    r->fn(r->data);
    part = me.outer;
    ws_fake_regions++;
    ws_fake_unshared++;
    ws_fake_site = r->site;
    ws_fake_chunk = r->chunk[0];
    ws_fake_steal_chunk = r->chunk[1];
}

void ws_parallel_loop(void (*fn)(void *), void *data, long start, long end, long incr, struct ws_site *site,
                      long chunk, long steal_chunk)
{
    pthread_once(&once, set_up);
    struct region r = {.fn = fn, .data = data, .site = site, .chunk = {chunk, steal_chunk}};
    set_long_bounds(&r, start, end, incr);
    execute(&r);
}

void ws_parallel(void (*fn)(void *), void *data, struct ws_site *site, long chunk, long steal_chunk)
{
    pthread_once(&once, set_up);
    struct region r = {.fn = fn, .data = data, .site = site, .chunk = {chunk, steal_chunk}};
    execute(&r);
}

/* The region that this thread runs plainly: outermost, so there is one. */
static __thread struct region plain_region;
static __thread struct part plain_part;

bool ws_plain_begin(struct ws_site *site, long chunk, long steal_chunk, unsigned long iterations)
{
    pthread_once(&once, set_up);
    if (mode != PLAIN || part || site->learned[4]++ % 2)
        return false;
    plain_region = (struct region) {.site = site, .chunk = {chunk, steal_chunk}, .n = iterations};
    plain_part = (struct part) {.region = &plain_region, .owner = true};
    part = &plain_part;
    ws_alone = !(omp_in_parallel && omp_in_parallel());
    return true;
}

void ws_plain_end(struct ws_site *site)
{
    if (part != &plain_part || plain_region.site != site)
        fail("the end of a plain loop that did not begin");
    part = NULL;
    ws_alone = 0;
    ws_fake_regions++;
    ws_fake_plain++;
    ws_fake_site = site;
    ws_fake_chunk = plain_region.chunk[0];
    ws_fake_steal_chunk = plain_region.chunk[1];
}

void ws_parallel_loop_if(int share, void (*fn)(void *), void *data, long start, long end, long incr,
                         struct ws_site *site, long chunk, long steal_chunk)
{
    if (share) {
        ws_parallel_loop(fn, data, start, end, incr, site, chunk, steal_chunk);
        return;
    }
    struct region r = {.fn = fn, .data = data, .site = site, .chunk = {chunk, steal_chunk}};
    set_long_bounds(&r, start, end, incr);
    run_unshared(&r);
}

void ws_parallel_if(int share, void (*fn)(void *), void *data, struct ws_site *site, long chunk, long steal_chunk)
{
    if (share) {
        ws_parallel(fn, data, site, chunk, steal_chunk);
        return;
    }
    struct region r = {.fn = fn, .data = data, .site = site, .chunk = {chunk, steal_chunk}};
    run_unshared(&r);
}

void ws_openmp_loop(void (*fn)(void *), void *data, long start, long end, long incr, struct ws_site *site,
                    long chunk, long steal_chunk)
{
    if (!(site->kinds & WS_SITE_OPENMP))
        fail("not OpenMP's");
    ws_parallel_loop(fn, data, start, end, incr, site, chunk, steal_chunk);
}

void ws_openmp(void (*fn)(void *), void *data, struct ws_site *site, long chunk, long steal_chunk)
{
    if (!(site->kinds & WS_SITE_OPENMP))
        fail("not OpenMP's");
    ws_parallel(fn, data, site, chunk, steal_chunk);
}

void ws_too_many_iterations(const char *where)
{
    (void) where;
    fail("too many iterations");
}

bool ws_loop_next(long *lo, long *hi)
{
    return next((uint64_t *) lo, (uint64_t *) hi);
}

bool ws_loop_ull_next(unsigned long long *lo, unsigned long long *hi)
{
    return next((uint64_t *) lo, (uint64_t *) hi);
}

bool ws_loop_start(long start, long end, long incr, long *lo, long *hi)
{
    pthread_mutex_lock(&mutex);
    set_long_bounds(part->region, start, end, incr);
    pthread_mutex_unlock(&mutex);
    return ws_loop_next(lo, hi);
}

bool ws_loop_ull_start(bool up, unsigned long long start, unsigned long long end, unsigned long long incr,
                       unsigned long long *lo, unsigned long long *hi)
{
    pthread_mutex_lock(&mutex);
    set_bounds(part->region, start, end, incr, count(up, up ? start >= end : start <= end, start, end, incr));
    pthread_mutex_unlock(&mutex);
    return ws_loop_ull_next(lo, hi);
}

bool ws_loop_start_step(long start, long end, long incr, long *lo, long *hi, long least, long most)
{
    bool splits;
    long after = (long) end_of_split(bits_of(least, most), start, end, incr, incr > 0, &splits);
    pthread_mutex_lock(&mutex);
    set_long_bounds(part->region, start, end, incr);
    if (splits)
        set_split(part->region, after);
    pthread_mutex_unlock(&mutex);
    return ws_loop_next(lo, hi);
}

bool ws_loop_ull_start_step(bool up, unsigned long long start, unsigned long long end, unsigned long long incr,
                            unsigned long long *lo, unsigned long long *hi)
{
    bool splits;
    uint64_t after = end_of_split(-64, start, end, incr, up, &splits);
    pthread_mutex_lock(&mutex);
    set_bounds(part->region, start, end, incr, count(up, up ? start >= end : start <= end, start, end, incr));
    if (splits)
        set_split(part->region, after);
    pthread_mutex_unlock(&mutex);
    return ws_loop_ull_next(lo, hi);
}

void ws_loop_end(void) {}

void ws_reduction_start(void)
{
    pthread_mutex_lock(&merge);
    ws_fake_merges++;
}

void ws_reduction_end(void)
{
    pthread_mutex_unlock(&merge);
}

void ws_atomic_start(void)
{
    pthread_mutex_lock(&atomic);
    ws_fake_atomics++;
}

void ws_atomic_end(void)
{
    pthread_mutex_unlock(&atomic);
}

/* The locks by name: `critical` objects of different files may share one. */
struct lock {
    const char *name;
    pthread_mutex_t mutex;
    struct lock *next;
};
static struct lock *locks;

static struct lock *lock_of(struct ws_critical *critical)
{
    pthread_mutex_lock(&mutex);
    struct lock *lock = (struct lock *) critical->lock;
    for (struct lock *l = locks; l && !lock; l = l->next)
        if (strcmp(l->name, critical->name) == 0)
            lock = l;
    if (!lock) {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
        lock = (struct lock *) malloc(sizeof *lock);
        lock->name = critical->name;
        pthread_mutex_init(&lock->mutex, &kind);
        lock->next = locks;
        locks = lock;
    }
    critical->lock = lock;
    pthread_mutex_unlock(&mutex);
    return lock;
}

void ws_critical_start(struct ws_critical *critical)
{
    if (!(ws_fake_features & WS_USES_CRITICAL))
        fail("a critical that no constructor has told of");
    if (pthread_mutex_lock(&lock_of(critical)->mutex))
        fail("a critical inside itself");
    __atomic_add_fetch(&ws_fake_criticals, 1, __ATOMIC_RELAXED);
}

void ws_critical_end(struct ws_critical *critical)
{
    if (pthread_mutex_unlock(&lock_of(critical)->mutex))
        fail("the end of a critical that was not entered");
}

/* ---- tasks */

enum { SLOTS = 3 };
struct task {
    void (*fn)(void *);
    void *data, *memory;
    uintptr_t *reductions;
    struct llvm_reductions *llvm_reductions;
    struct task *next;
};
/* What the thread runs: a task, or the code outside. */
struct context {
    struct task *waiting;
    uintptr_t *reductions;
    struct llvm_reductions *llvm_reductions;
    int slot, groups, depth;
};
static __thread struct context context;
static __thread int next_slot;

static void run_task(struct task *task)
{
    struct context outer = context;
    context = (struct context) {.reductions = task->reductions, .llvm_reductions = task->llvm_reductions,
                                .slot = mode == ORDER ? 0 : next_slot++ % SLOTS, .depth = outer.depth + 1};
    task->fn(task->data);
    ws_taskwait();
    context = outer;
    free(task->memory);
    free(task);
}

static struct task *make_task(struct ws_site *site, size_t size, size_t align)
{
    if ((uintptr_t) site % 64 || site->kinds >> 24 != WS_ABI || !site->where || !*site->where)
        fail("the place of a task");
    pthread_once(&once, set_up);
    ws_fake_tasks++;
    struct task *task = (struct task *) calloc(1, sizeof *task);
    task->memory = malloc(size + align);
    task->data = (char *) task->memory + (-(uintptr_t) task->memory & (uintptr_t) (align - 1));
    task->reductions = context.reductions;
    task->llvm_reductions = context.llvm_reductions;
    return task;
}

static void defer_or_run(struct task *task, bool may_wait)
{
    if ((mode == TAIL || mode == RANDOM) && may_wait) {
        task->next = context.waiting;
        context.waiting = task;
    } else
        run_task(task);
}

static void put_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool may_wait,
                     unsigned flags, void **depend, struct ws_site *site, const uint64_t *range)
{
    if (!(flags & WS_TASK_DEPEND) != !depend)
        fail("depend without its flag");
    if (depend)
        ws_taskwait();
    struct task *task = make_task(site, (size_t) size, (size_t) align);
    task->fn = fn;
    if (copy)
        copy(task->data, data);
    else
        memcpy(task->data, data, (size_t) size);
    if (range)
        memcpy(task->data, range, 2 * sizeof *range);
    defer_or_run(task, may_wait && !(flags & WS_TASK_FINAL) && !depend);
}

void ws_put_task(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, bool may_wait,
                 unsigned flags, void **depend, struct ws_site *site)
{
    put_task(fn, data, copy, size, align, may_wait, flags, depend, site, NULL);
}

void ws_taskwait(void)
{
    while (context.waiting) {
        struct task *task = context.waiting;
        context.waiting = task->next;
        run_task(task);
    }
}

static void end_llvm_reductions(void);

void ws_taskgroup_start(void)
{
    context.groups++;
}

void ws_taskgroup_end(void)
{
    ws_taskwait();
    end_llvm_reductions();
    context.groups--;
}

static uint64_t iterations_of_each(unsigned flags, unsigned long tasks, uint64_t n)
{
    uint64_t each = flags & WS_TASK_GRAINSIZE ? tasks : n / (tasks ? tasks : 4);
    return each ? each : 1;
}

static void taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                     unsigned flags, unsigned long tasks, uint64_t start, uint64_t end, uint64_t n, uint64_t step,
                     struct ws_site *site)
{
    uint64_t each = iterations_of_each(flags, tasks, n);
    if (!(flags & WS_TASK_NOGROUP))
        ws_taskgroup_start();
    if (flags & WS_TASK_REDUCTION)
        ws_task_reduction_start((uintptr_t *) ((uintptr_t *) data)[2]);
    for (uint64_t i = 0, took; i < n; i += took) {
        took = n - i < 2 * each ? n - i : each;
        uint64_t range[2] = {start + i * step, i + took < n ? start + (i + took) * step : end};
        put_task(fn, data, copy, size, align, flags & WS_TASK_IF, flags, NULL, site, range);
    }
    if (!(flags & WS_TASK_NOGROUP))
        ws_taskgroup_end();
}

void ws_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align, unsigned flags,
                 unsigned long tasks, long start, long end, long step, struct ws_site *site)
{
    uint64_t n = step > 0 ? (start < end ? ((uint64_t) end - (uint64_t) start - 1) / (uint64_t) step + 1 : 0)
                          : (start > end ? ((uint64_t) start - (uint64_t) end - 1) / -(uint64_t) step + 1 : 0);
    taskloop(fn, data, copy, size, align, flags, tasks, (uint64_t) start, (uint64_t) end, n, (uint64_t) step, site);
}

void ws_taskloop_ull(void (*fn)(void *), void *data, void (*copy)(void *, void *), long size, long align,
                     unsigned flags, unsigned long tasks, unsigned long long start, unsigned long long end,
                     unsigned long long step, struct ws_site *site)
{
    bool up = flags & WS_TASK_UP;
    uint64_t n =
        up ? (start < end ? (end - start - 1) / step + 1 : 0) : (start > end ? (start - end - 1) / -step + 1 : 0);
    taskloop(fn, data, copy, size, align, flags, tasks, start, end, n, step, site);
}

int ws_task_slot(void)
{
    return context.slot;
}

int ws_task_slots(void)
{
    return SLOTS;
}

void ws_task_reduction_start(uintptr_t *data)
{
    data[2] = (uintptr_t) calloc(SLOTS, data[1]);
    data[4] = (uintptr_t) context.reductions;
    data[6] = data[2] + SLOTS * data[1];
    context.reductions = data;
}

void ws_task_reduction_end(uintptr_t *data)
{
    context.reductions = (uintptr_t *) data[4];
    free((void *) data[2]);
}

void ws_task_reduction_remap(size_t count, size_t originals, void **pointers)
{
    (void) originals;
    for (size_t i = 0; i < count; i++) {
        uintptr_t at = (uintptr_t) pointers[i], found = 0;
        for (uintptr_t *data = context.reductions; data && !found; data = (uintptr_t *) data[4]) {
            bool copy = at >= data[2] && at < data[6];
            for (uintptr_t v = 0; v < data[0]; v++)
                if (copy ? (at - data[2]) % data[1] == data[7 + 3 * v + 1] : data[7 + 3 * v] == at)
                    found = data[2] + (uintptr_t) context.slot * data[1] + data[7 + 3 * v + 1];
        }
        if (!found)
            fail("nothing reduces what a task names in in_reduction");
        pointers[i] = (void *) found;
    }
}

/* As clang makes them: libomp's kmp_task_t, kmp_depend_info and kmp_taskred_input_t. */
struct llvm_task {
    void *shared;
    int (*entry)(int, void *);
    int part;
    int (*destroy)(int, void *);
    uint64_t priority, lower, upper;
};
struct llvm_head {      /* before it */
    struct task *task;  /* null: in the caller's frame */
    size_t size, shared;
    unsigned flags;
    struct ws_site *site;
    char fill[64 - 4 * sizeof(void *) - sizeof(unsigned) - 4];
};
struct llvm_input {
    char *variable;
    void *original;
    size_t bytes;
    void (*make)(void *, void *);
    void (*destroy)(void *);
    void (*add)(void *, void *);
    unsigned flags;
};
struct llvm_reductions {
    struct llvm_reductions *outer;
    int group, depth, count;
    const struct llvm_input *inputs;
    char *copies[SLOTS][8];
};

static void run_llvm_task(void *data)
{
    struct llvm_head *head = (struct llvm_head *) data - 1;
    struct llvm_task *task = (struct llvm_task *) data;
    task->entry(0, task);
    if (head->flags & WS_TASK_DESTROY)
        task->destroy(0, task);
}

/* Those that may be deferred get memory of their own, others now and then. */
void *ws_new_task(unsigned flags, long size, long shared, int (*entry)(int, void *), struct ws_site *site, void *space)
{
    const size_t at = ((size_t) size + 15) / 16 * 16;
    struct llvm_head *head = (struct llvm_head *) space;
    struct task *task = NULL;
    if ((uintptr_t) space % 64)
        fail("the space of a task");
    if (!(flags & WS_TASK_LOOP) && mode != ALONE) {
        task = make_task(site, sizeof *head + at + (size_t) shared, 64);
        head = (struct llvm_head *) task->data;
        task->fn = run_llvm_task;
        task->data = head + 1;
    } else if (!(flags & WS_TASK_LOOP))
        ws_fake_tasks++;
    *head = (struct llvm_head) {task, at + (size_t) shared, at, flags, site, ""};
    struct llvm_task *made = (struct llvm_task *) (head + 1);
    made->shared = (char *) made + at;
    made->entry = entry;
    made->part = 0;
    return made;
}

static void start_llvm_task(struct llvm_head *head, bool may_wait)
{
    if (head->task)
        defer_or_run(head->task, may_wait && !(head->flags & WS_TASK_FINAL));
    else
        run_llvm_task(head + 1);
}

void ws_start_task(void *task, bool may_wait, int count, const void *depend)
{
    if (!count != !depend)
        fail("depend without a number");
    if (count)
        ws_taskwait();
    start_llvm_task((struct llvm_head *) task - 1, may_wait && !count);
}

void ws_start_taskloop(void *loop, unsigned flags, unsigned long tasks, void (*copy)(void *, void *, int))
{
    struct llvm_head *head = (struct llvm_head *) loop - 1;
    struct llvm_task *all = (struct llvm_task *) loop;
    uint64_t n = all->upper - all->lower + 1, each = iterations_of_each(flags, tasks, n);
    for (uint64_t i = 0, took; i < n; i += took) {
        took = n - i < 2 * each ? n - i : each;
        struct task *task = make_task(head->site, sizeof *head + head->size, 64);
        struct llvm_head *mine = (struct llvm_head *) task->data;
        memcpy(mine, head, sizeof *head + head->size);
        mine->task = task;
        struct llvm_task *part = (struct llvm_task *) (mine + 1);
        part->shared = (char *) part + head->shared;
        part->lower = all->lower + i;
        part->upper = part->lower + took - 1;
        if (copy)
            copy(part, loop, i + took == n);
        task->fn = run_llvm_task;
        task->data = part;
        start_llvm_task(mine, flags & WS_TASK_IF);
    }
    if (head->flags & WS_TASK_DESTROY)
        all->destroy(0, all);
}

void ws_task_reductions(int count, const void *inputs)
{
    struct llvm_reductions *made = (struct llvm_reductions *) calloc(1, sizeof *made);
    if (count > 8)
        fail("more reductions than the tests have");
    made->outer = context.llvm_reductions;
    made->group = context.groups;
    made->depth = context.depth;
    made->count = count;
    made->inputs = (const struct llvm_input *) inputs;
    context.llvm_reductions = made;
}

void *ws_task_copy(void *of)
{
    for (struct llvm_reductions *group = context.llvm_reductions; group; group = group->outer)
        for (int i = 0; i < group->count; i++) {
            const struct llvm_input *input = &group->inputs[i];
            bool found = input->variable == of;
            for (int slot = 0; slot < SLOTS; slot++)
                found |= group->copies[slot][i] == of;
            char **mine = &group->copies[context.slot][i];
            if (!found)
                continue;
            if (!*mine) {
                *mine = (char *) calloc(1, input->bytes);
                if (input->make)
                    input->make(*mine, input->original);
            }
            return *mine;
        }
    fail("nothing reduces what a task names in in_reduction");
    return NULL;
}

static void end_llvm_reductions(void)
{
    struct llvm_reductions *group = context.llvm_reductions;
    if (!group || group->group != context.groups || group->depth != context.depth)
        return;
    for (int slot = 0; slot < SLOTS; slot++)
        for (int i = 0; i < group->count; i++)
            if (group->copies[slot][i]) {
                group->inputs[i].add(group->inputs[i].variable, group->copies[slot][i]);
                if (group->inputs[i].destroy)
                    group->inputs[i].destroy(group->copies[slot][i]);
                free(group->copies[slot][i]);
            }
    context.llvm_reductions = group->outer;
    free(group);
}

__asm__(".globl \"" WS_LINK_SYMBOL "\"\n\t.set \"" WS_LINK_SYMBOL "\", ws_uses");

void ws_uses(unsigned features)
{
    ws_fake_features |= features;
}
