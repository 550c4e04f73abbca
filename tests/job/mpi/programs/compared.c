/* SPDX-License-Identifier: MIT
 *
 * compared KIND [N [SEED]]: N executions of loops with reductions in each rank, whose results WS_CHECK compares with
 * serial passes. compared right: sums, products and others of all types, of variables that lie everywhere, each right
 * but for rounding compared wrong: the same loops, in which helpers compute something else for each variable compared
 * racy: iterations share a temporary; compared chain: each uses what the one before has written compared
 * prints|writes|mpi|sends|waits|spins|time|thread|record|long: loops of which no serial pass can be made, or none be
 * compared compared children: racy, in a program that waits for a child of its own compared exits: racy, and exit(3);
 * compared leaves: racy, and rank 0 goes on for a while after MPI_Finalize */
#include "test.h"

#include <complex.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { size = 3000, bins = 12 };
static bool wrong;
static __thread bool is_own; /* the rank's own thread, and its copy in a serial pass */
static double values[size];
static int order[size];
static long static_sum;
double global_sums[4];

struct pair {
    long a, b;
};
#pragma ws declare reduction(add : struct pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b)

/* 0 where all is well. */
static inline int off(void)
{
    return wrong && !is_own;
}

static void add_to(double *sum, const double *x, int n)
{
#pragma ws for name("through a pointer") reduction(+ : sum[0:1])
    for (int i = 0; i < n; i++)
        sum[0] += x[i] + off();
}

/* What is right may differ in its rounding only. */
static void loops(void)
{
    int count = 5;
    unsigned char small = 0;
    bool all = true;
    long product = 1;
#pragma ws for name("integers") reduction(+ : count, small) reduction(&& : all) reduction(* : product)
    for (int i = 0; i < size; i++) {
        count -= i % 17 + off();
        small += (unsigned char) (i + off() * (i % 16 == 1)); /* fewer than 256 times: the sum cannot come round */
        all = all && !off();
        product *= 2 * i + 1 + (off() ? 8 : 0);
    }
    double sum = 0, least = 1e300, factor = 1;
    float single = 0;
    long double extended = 0;
#pragma ws for name("floats") reduction(+ : sum, single, extended)
    for (int i = 0; i < size; i++) {
        sum += values[i] + off();
        single += (float) values[i] * 0.1f + (float) off();
        extended += values[i] + off();
    }
#pragma ws for name("others") reduction(min : least) reduction(* : factor)
    for (int i = 0; i < size; i++) {
        least = fmin(least, values[i] - off());
        factor *= 1 + values[i] * 1e-3 + 1e-4 * off();
    }
    double nothing = 0; /* in exact arithmetic */
    float nearly = 0;
#pragma ws for name("cancellation") reduction(+ : nothing, nearly)
    for (int i = 0; i < size; i++) {
        const double x = 1e6 / (1 + order[i] / 2);
        nothing += (order[i] % 2 ? x : -x) + off();
        nearly += (float) (order[i] % 2 ? x : -x) + 1e3f * (float) off();
    }
    double deep = 0; /* many additions in few iterations */
#pragma ws for name("deep") reduction(+ : deep)
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 20000; k++)
            deep += sin(i + 1e-3 * k) + 1e-3 * off();
    double _Complex z = 0;
    float _Complex w = 1;
#pragma ws for name("complex") reduction(+ : z) reduction(* : w)
    for (int i = 0; i < size; i++) {
        z += values[i] * cexp(I * i) + I * off();
        w *= cexpf(I * (float) (values[i] + off()));
    }
    double sums[bins] = {0};
    int hits[bins] = {0};
#pragma ws for name("arrays") reduction(+ : sums, hits[2:8])
    for (int i = 0; i < size; i++) {
        sums[i % bins] += values[i] + off();
        hits[2 + i % 8] += 1 + off();
    }
    CHECK(hits[0] == 0 && hits[1] == 0 && hits[10] == 0);
    static_sum = 0;
    memset(global_sums, 0, sizeof global_sums);
#pragma ws for name("static") reduction(+ : static_sum, global_sums)
    for (int i = 0; i < size; i++) {
        static_sum += i + off();
        global_sums[i % 4] += values[i] + off();
    }
    int last = 0;
    double before = 3, sum_of_last = 0;
#pragma ws for name("in order") firstprivate(before) lastprivate(last, before) reduction(+ : sum_of_last)
    for (int i = 0; i < size; i++) {
        before = values[i];
        sum_of_last += before + off();
        last = i;
    }
    CHECK(last == size - 1 && before == values[size - 1]);
    long blocks = 0, guided = 0;
#pragma ws for name("static chunks") schedule(static, 7) reduction(+ : blocks)
    for (int i = 0; i < size; i++)
        blocks += i + off();
#pragma ws for name("guided") schedule(guided) reduction(+ : guided)
    for (int i = 0; i < size; i++)
        guided += i + off();
    double there[2] = {1, 2};
    add_to(there, values, size);
    CHECK(there[1] == 2);
    unsigned long bits = 0;
#pragma ws for name("unsigned loop") reduction(^ : bits)
    for (unsigned long i = ~0ul - 1000; i < ~0ul; i += 3)
        bits ^= (i + (unsigned long) off()) * 0x9E3779B97F4A7C15ul;
    if (!wrong)
        CHECK(blocks == (long) size * (size - 1) / 2 && guided == blocks && all && static_sum == blocks);
}

static void racy(void)
{
    long total = 0;
    volatile long scratch;
#pragma ws for name("racy") reduction(+ : total)
    for (int i = 0; i < 1000; i++) {
        scratch = i;
        for (int k = 0; k < 4000; k++)
            __asm__ volatile("" ::: "memory");
        total += scratch;
    }
}

static void chain(void)
{
    long total = 0;
    double x = 0;
    order[0] = 0;
#pragma ws for name("chain") reduction(+ : total, x)
    for (int i = 1; i < size; i++) {
        order[i] = order[i - 1] + 1;
        total += order[i];
        x += order[i] % 7;
    }
    for (int i = 0; i < size; i++)
        order[i] = i;
}

static volatile sig_atomic_t signals;

static void count_signal(int signal)
{
    (void) signal;
    signals++;
}

/* A program that waits for any child finds only its own children. */
static void children(void)
{
    struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &action, NULL);
    const pid_t child = fork();
    if (child == 0)
        _exit(5);
    usleep(50000);
    racy();
    int status;
    CHECK(waitpid(-1, &status, 0) == child && WEXITSTATUS(status) == 5);
    CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD);
    CHECK(signals == 1);
    signals = 0;
}

static void *set_flag(void *flag)
{
    usleep(20000);
    __atomic_store_n((int *) flag, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void uncompared(const char *kind)
{
    static int flag;
    static int *shared;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (!shared)
        shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_t setter;
    long sum = 0;
    if (!strcmp(kind, "prints")) {
#pragma ws for name("prints") reduction(+ : sum)
        for (int i = 0; i < 4; i++) {
            char text[32];
            const int n = snprintf(text, sizeof text, "rank %d iteration %d\n", rank, i);
            sum += write(STDOUT_FILENO, text, (size_t) n) == n;
        }
        CHECK(sum == 4);
    } else if (!strcmp(kind, "writes")) {
        *shared = 0;
#pragma ws for name("writes") reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += __atomic_add_fetch(shared, 1, __ATOMIC_RELAXED) > 0;
        CHECK(sum == 100 && *shared == 100);
    } else if (!strcmp(kind, "mpi")) {
#pragma ws for name("mpi") reduction(+ : sum)
        for (int i = 0; i < 10; i++) {
            int got = -1;
            MPI_Sendrecv(&i, 1, MPI_INT, rank, i, &got, 1, MPI_INT, rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += got;
        }
        CHECK(sum == 45);
    } else if (!strcmp(kind, "sends")) { /* each message comes once */
        for (int round = 0; round < 2; round++) {
            if (rank == 0) {
#pragma ws for name("sends") reduction(+ : sum)
                for (int i = 0; i < 10; i++) {
                    MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
                    sum += i;
                }
                CHECK(sum == 45 * (round + 1));
            } else if (rank == 1)
                for (int i = 0, got; i < 10; i++) {
                    MPI_Recv(&got, 1, MPI_INT, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    CHECK(got == i);
                }
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
        }
    } else if (!strcmp(kind, "waits")) { /* for a thread that holds a lock */
        pthread_mutex_lock(&mutex);
        pthread_create(&setter, NULL, set_flag, &flag);
#pragma ws for name("waits") reduction(+ : sum)
        for (int i = 0; i < 10; i++) {
            if (__atomic_load_n(&flag, __ATOMIC_ACQUIRE) == 0) {
                struct timespec until;
                clock_gettime(CLOCK_REALTIME, &until);
                until.tv_nsec += 5000000;
                if (until.tv_nsec >= 1000000000)
                    until.tv_sec++, until.tv_nsec -= 1000000000;
                pthread_mutex_timedlock(&mutex, &until);
            }
            sum++;
        }
        pthread_join(setter, NULL);
        pthread_mutex_unlock(&mutex);
        CHECK(sum == 10);
    } else if (!strcmp(kind, "spins")) {
        for (int n = 0; n < 2; n++) { /* the second time it is known how long it takes */
            flag = n == 0;
            pthread_create(&setter, NULL, set_flag, &flag);
#pragma ws for name("spins") reduction(+ : sum)
            for (int i = 0; i < 10; i++) {
                while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
                    ;
                sum++;
            }
            pthread_join(setter, NULL);
        }
        CHECK(sum == 20);
    } else if (!strcmp(kind, "time")) {
        const double began = now();
#pragma ws for name("time") reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += (long) ((now() - began) * 1e9);
    } else if (!strcmp(kind, "thread")) {
#pragma ws for name("thread") reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += on_guest();
    } else if (!strcmp(kind, "record")) {
        struct pair p = {0, 0};
#pragma ws for name("record") reduction(add : p) reduction(+ : sum)
        for (int i = 0; i < 100; i++) {
            p.a++;
            p.b += i;
            sum++;
        }
        CHECK(p.a == 100 && p.b == 4950 && sum == 100);
    } else if (!strcmp(kind, "long")) {
        int n = 50 + rank;
        long *many = calloc((size_t) n, sizeof *many);
#pragma ws for name("long") reduction(+ : many[:n])
        for (int i = 0; i < 100; i++)
            many[i % n]++;
        free(many);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *kind = argv[1];
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    uint64_t state = 7 + (uint64_t) (argc > 3 ? atoi(argv[3]) : 0);
    is_own = true;
    wrong = !strcmp(kind, "wrong");
    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int i = size - 1; i > 0; i--) {
        const int k = (int) random_below(&state, (uint64_t) i + 1), there = order[k];
        order[k] = order[i];
        order[i] = there;
    }
    for (int n = 0; n < number; n++) {
        for (int i = 0; i < size; i++)
            values[i] = (double) random_below(&state, 1000000) / 3e5 - 1;
        if (!strcmp(kind, "right") || wrong)
            loops();
        else if (!strcmp(kind, "racy") || !strcmp(kind, "exits") || !strcmp(kind, "leaves"))
            racy();
        else if (!strcmp(kind, "children"))
            children();
        else if (!strcmp(kind, "chain"))
            chain();
        else
            uncompared(kind);
    }
    const int failed = end();
    if (!strcmp(kind, "exits"))
        exit(3);
    if (!strcmp(kind, "leaves") && rank == 0) {
        usleep(700000);
        printf("rank 0 was not killed\n");
    }
    return failed;
}
