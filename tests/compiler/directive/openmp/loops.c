/* SPDX-License-Identifier: MIT
 * Loops of OpenMP for -fws=openmp. What -fws-report says of each stands in its line. */
#include "../accept/check.h"

#include <omp.h>
#include <string.h>

#define N 300

static long count;
static int own;
#pragma omp threadprivate(own)

static long sum_to(long n) { return n * (n - 1) / 2; }

static void plain(void)
{
    double a[N], b[N];
    for (int i = 0; i < N; i++)
        b[i] = i;
#pragma omp parallel for /* shared, but the compiler cannot see all that it calls: 'clock_gettime' */
    for (int i = 0; i < N; i++) {
        a[i] = 2 * b[i];
        work();
    }
    for (int i = 0; i < N; i++)
        CHECK(a[i] == 2 * i);
}

static void data_clauses(void)
{
    long sum = 0, last = -1, start = 5, both = 7;
    double largest = -1;
    int h[4] = {0};
#pragma omp parallel for /* shared */ reduction(+ : sum, h) reduction(max : largest) lastprivate(last) \
    firstprivate(start) private(count) default(none)
    for (int i = 0; i < N; i++) {
        count = i + start;
        sum += count - 5;
        h[i % 4]++;
        if (i * 0.5 > largest)
            largest = i * 0.5;
        last = i;
    }
    CHECK(sum == sum_to(N) && last == N - 1 && largest == (N - 1) * 0.5 && h[0] == N / 4 && h[3] == N / 4);
#pragma omp parallel for firstprivate(both) lastprivate(both) /* shared */
    for (int i = 0; i < N; i++) {
        both = i == 0 ? both + 1 : i;
    }
    CHECK(both == N - 1);
}

static int twice(int n) { return 2 * n; }
static int chunk_size = 3;

static void schedules(int m)
{
    long sum = 0;
    int local = m + 1, *p = &local;
#pragma omp parallel for schedule(static) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_STATIC, 0, WS_AUTO, 0);
#pragma omp parallel for schedule(static, 7) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_STATIC, 7, WS_AUTO, 0);
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for schedule(dynamic, m) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_DYNAMIC, 4, WS_AUTO, 0);
#pragma omp parallel for schedule(guided, twice(m) + 1) reduction(+ : sum) /* stays OpenMP: the compiler cannot see how its chunk size is computed */
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for schedule(nonmonotonic : dynamic, 2 * m + local) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_DYNAMIC, 13, WS_AUTO, 0);
#pragma omp parallel for schedule(dynamic, *p) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_DYNAMIC, 5, WS_AUTO, 0);
#pragma omp parallel for schedule(guided, chunk_size) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_GUIDED, 3, WS_AUTO, 0);
#pragma omp parallel for schedule(auto) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK_SCHEDULE(WS_AUTO, 0, WS_AUTO, 0);
#pragma omp parallel for schedule(runtime) reduction(+ : sum) /* stays OpenMP: has 'schedule(runtime)' */
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for schedule(monotonic : dynamic) reduction(+ : sum) /* stays OpenMP: has a monotonic schedule */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK(sum == 11 * sum_to(N));
}

static void shapes(void)
{
    long sum = 0;
    unsigned u;
#pragma omp parallel for collapse(2) reduction(+ : sum) /* shared */
    for (int i = 0; i < 20; i++)
        for (long j = 0; j < 30; j++)
            sum += i * j;
    CHECK(sum == 190 * 435);
    sum = 0;
#pragma omp parallel for reduction(+ : sum) /* shared */
    for (u = N; u > 0; u--)
        sum += u;
#pragma omp parallel for reduction(+ : sum) /* shared */
    for (unsigned short k = N; k != 0; --k)
        sum += k;
    CHECK(sum == 2 * sum_to(N + 1));
    sum = 0;
#pragma omp parallel for simd reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i += 3)
        sum += i;
    CHECK(sum == 100 * 99 / 2 * 3);
    sum = 0;
#pragma omp parallel for collapse(2) reduction(+ : sum) /* stays OpenMP: the bounds of one of its loops depend on another */
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < i; j++)
            sum += 1;
    CHECK(sum == 190);
    sum = 0;
#pragma omp parallel for reduction(+ : sum) /* shared */
    for (unsigned long long i = 10; i < 10 + N; i++)
        sum += (long) i - 10;
    CHECK(sum == sum_to(N));
}

static long total;
static void add_to_total(long value)
{
#pragma omp atomic
    total += value;
}

static void synchronization(void)
{
    long double wide = 0;
    long locked = 0, by_lock = 0;
    int seen[N];
    omp_lock_t lock;
    omp_init_lock(&lock);
    total = 0;
#pragma omp parallel for /* shared, but the compiler cannot see all that it calls: 'clock_gettime' */
    for (int i = 0; i < N; i++) {
        int k;
        add_to_total(i);
#pragma omp atomic
        wide += 1;
#pragma omp critical
        locked++;
#pragma omp atomic capture
        k = count++;
        seen[i] = k;
        omp_set_lock(&lock);
        by_lock++;
        omp_unset_lock(&lock);
        work();
    }
    CHECK(total == sum_to(N) && wide == N && locked == N && by_lock == N && seen[0] >= 0);
    count = 0;
    omp_destroy_lock(&lock);
}

static int number(void) { return omp_get_thread_num(); }
static void wait(void)
{
#pragma omp barrier
}
static void add_own(int i) { own += i; }
static void many(long *to)
{
#pragma omp parallel for /* shared */
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
        *to += i;
    }
}

static void stay(int n)
{
    long sum = 0;
    int threads[64];
    memset(threads, 0, sizeof threads);
#pragma omp parallel for /* stays OpenMP: calls 'omp_get_thread_num' */
    for (int i = 0; i < N; i++)
        threads[omp_get_thread_num() % 64]++;
#pragma omp parallel for /* stays OpenMP: calls 'omp_get_thread_num' (in 'number') */
    for (int i = 0; i < N; i++)
        threads[number() % 64]++;
#pragma omp parallel for /* stays OpenMP: uses 'own', which is local to each thread */
    for (int i = 0; i < N; i++)
        own += i;
#pragma omp parallel for /* stays OpenMP: uses 'own', which is local to each thread (in 'add_own') */
    for (int i = 0; i < N; i++)
        add_own(i);
#pragma omp parallel for ordered reduction(+ : sum) /* stays OpenMP: is 'ordered' */
    for (int i = 0; i < N; i++) {
#pragma omp ordered
        sum += i;
    }
#pragma omp parallel for num_threads(2) reduction(+ : sum) /* stays OpenMP: asks for a number of threads */
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for if (n > 3) reduction(+ : sum) /* stays OpenMP: has an 'if' clause */
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for if (1) reduction(+ : sum) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for copyin(own) reduction(+ : sum) /* stays OpenMP: has a 'copyin' clause */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK(sum == 5 * sum_to(N));
    sum = 0;
#pragma omp parallel for /* stays OpenMP: holds a construct 'parallel' (in 'many') */
    for (int i = 0; i < 10; i++)
        many(&sum);
    CHECK(sum == 450);
    sum = 0;
#pragma omp parallel for /* stays OpenMP: holds a construct 'task' */
    for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) shared(sum)
        {
#pragma omp atomic
            sum += i;
        }
    }
    CHECK(sum == 45);
    sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
#pragma omp for nowait /* stays OpenMP: 'for' is not combined with 'parallel' */
        for (int i = 0; i < N; i++)
            sum += i;
        wait();
#pragma omp for schedule(static) /* stays OpenMP: 'for' is not combined with 'parallel' */
        for (int i = 0; i < N; i++)
            sum += i;
    }
    CHECK(sum == 2 * sum_to(N));
    int counted = 0;
    for (int i = 0; i < 64; i++)
        counted += threads[i];
    CHECK(counted == 2 * N);
}

static void both_languages(void)
{
    long sum = 0;
#pragma ws for reduction(+ : sum) schedule(dynamic, 2) /* shared */
    for (int i = 0; i < N; i++)
        sum += i;
    CHECK(sum == sum_to(N));
}

static void small_chunks(void) { schedules(4); }
static void not_shared(void) { stay(5); }

static void run_all(void)
{
    RUN(plain);
    RUN(data_clauses);
    RUN(small_chunks);
    RUN(shapes);
    RUN(synchronization);
    RUN(not_shared);
    RUN(both_languages);
}
