/* SPDX-License-Identifier: MIT
 *
 * threads_state WHAT: what an iteration finds in the thread that runs it, changed after the first guest is there.
 *    float   rounding, flush to zero, traps: results are those of the rank's own thread, bit by bit
 *    locale  the decimal point of uselocale()
 *    mask    the signal mask, also in children that an iteration forks; raise() is handled before it returns */
#define _GNU_SOURCE
#include "test.h"
#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { N = 3000 };

static double quotient[N], tiny[N];
static long double extended[N];
static int guests[N];

/* Each iteration's results and whether a guest had it. */
static int run(void)
{
    int on_guests = 0;
#pragma ws for reduction(+ : on_guests)
    for (int i = 0; i < N; i++) {
        volatile double one = 1, by = 3 + i, least = 3e-308;
        volatile long double long_one = 1, long_by = 3 + i;
        busy(5e-6);
        quotient[i] = one / by;
        extended[i] = long_one / long_by;
        tiny[i] = least / by;
        guests[i] = on_guest();
        on_guests += guests[i];
    }
    return on_guests;
}

/* Repeats until guests have had a part; false if none comes. */
static int run_with_guests(void)
{
    for (double deadline = now() + PATIENCE; now() < deadline;)
        if (run() > N / 20)
            return 1;
    return 0;
}

static void check_results(const char *what)
{
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        volatile double one = 1, by = 3 + i, least = 3e-308;
        volatile long double long_one = 1, long_by = 3 + i;
        wrong += quotient[i] != one / by || extended[i] != long_one / long_by || tiny[i] != least / by;
    }
    if (wrong)
        printf("%s: %d of %d results differ\n", what, wrong, N);
    CHECK(wrong == 0);
}

static void flush_to_zero(int on)
{
#if defined(__x86_64__)
    _mm_setcsr(on ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u);
#elif defined(__aarch64__)
    __builtin_aarch64_set_fpcr(on ? __builtin_aarch64_get_fpcr() | 1u << 24
                                  : __builtin_aarch64_get_fpcr() & ~(1u << 24));
#endif
}

static void floats(void)
{
    static const int modes[] = {FE_UPWARD, FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_TONEAREST};
    CHECK(run_with_guests());
    for (int m = 0; m < 5; m++) {
        fesetround(modes[m]);
        CHECK(run_with_guests());
        check_results("rounding");
    }
    flush_to_zero(1);
    CHECK(run_with_guests());
    check_results("flush to zero");
    flush_to_zero(0);
    CHECK(run_with_guests());
    check_results("no flush to zero");

    /* Traps: nothing in the loop, nor in the runtime, raises one of these. */
    feclearexcept(FE_ALL_EXCEPT);
    if (feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW) != -1) {
        int masked = 0;
        for (double deadline = now() + PATIENCE; masked == 0 && now() < deadline;) {
            int on_guests = 0, trapping = 0;
#pragma ws for reduction(+ : on_guests, trapping)
            for (int i = 0; i < N; i++) {
                busy(5e-6);
                on_guests += on_guest();
                trapping += on_guest() && fegetexcept() == (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
            }
            CHECK(on_guests == trapping);
            masked = on_guests;
        }
        fedisableexcept(FE_ALL_EXCEPT);
    }
}

static void locales(const char *name)
{
    locale_t comma = newlocale(LC_NUMERIC_MASK, name, (locale_t) 0);
    CHECK(comma);
    CHECK(run_with_guests());
    for (int turn = 0; turn < 4; turn++) {
        int on_guests = 0, wrong = 0;
        if (turn % 2 == 0)
            uselocale(comma);
        for (double deadline = now() + PATIENCE; on_guests < N / 20 && now() < deadline;) {
            on_guests = wrong = 0;
#pragma ws for reduction(+ : on_guests, wrong)
            for (int i = 0; i < N; i++) {
                char text[32];
                busy(5e-6);
                snprintf(text, sizeof text, "%.1f", i + 0.5);
                on_guests += on_guest();
                wrong += (strchr(text, ',') != NULL) != (turn % 2 == 0);
            }
        }
        CHECK(on_guests >= N / 20);
        CHECK(wrong == 0);
        if (turn % 2 == 0)
            uselocale(LC_GLOBAL_LOCALE);
    }
    freelocale(comma);
}

static __thread volatile sig_atomic_t handled; /* by this thread */
static void handler(int signal)
{
    (void) signal;
    handled++;
}

static cpu_set_t own_cpus;

/* In a child: whether it has the mask and the CPUs of the loop's thread. */
static int is_like_owner(const sigset_t *owners)
{
    sigset_t now;
    cpu_set_t cpus;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    for (int s = 1; s < 32; s++)
        if (sigismember(&now, s) != sigismember(owners, s))
            return 0;
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_EQUAL(&cpus, &own_cpus);
}

/* With the mask that the rank's thread has now: guests have the same, what they raise is handled before raise()
 * returns, and children that they fork are like children of that thread. */
static void check_mask(void)
{
    sigset_t owners;
    pthread_sigmask(SIG_BLOCK, NULL, &owners);
    sched_getaffinity(0, sizeof own_cpus, &own_cpus);
    int on_guests = 0, differ = 0, lost = 0, children = 0, unlike = 0;
    for (double deadline = now() + PATIENCE; on_guests < 100 && now() < deadline;) {
#pragma ws for reduction(+ : on_guests, differ, lost, children, unlike)
        for (int i = 0; i < N; i++) {
            busy(5e-6);
            if (!on_guest())
                continue;
            sigset_t blocked;
            pthread_sigmask(SIG_BLOCK, NULL, &blocked);
            on_guests++;
            for (int s = 1; s < 32; s++)
                differ += sigismember(&blocked, s) != sigismember(&owners, s);
            const int before = handled;
            raise(SIGUSR2);
            lost += handled != before + 1;
            pthread_kill(pthread_self(), SIGUSR2);
            lost += handled != before + 2;
            if (children < 3) {
                int status = -1;
                const pid_t child = fork();
                if (child == 0)
                    _exit(!is_like_owner(&owners));
                waitpid(child, &status, 0);
                children++;
                unlike += status != 0;
            }
        }
    }
    CHECK(on_guests >= 100);
    CHECK(differ == 0);
    CHECK(lost == 0);
    CHECK(children > 0);
    CHECK(unlike == 0);
}

/* Whether all guests of this process block SIGUSR1, SIGUSR2 and SIGTERM now. */
static int guests_block(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int all = 1, guests_there = 0;
    for (struct dirent *task; (task = readdir(tasks));) {
        char path[300], line[256] = "";
        int guest = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *status = fopen(path, "r");
        while (status && fgets(line, sizeof line, status)) {
            unsigned long long blocked;
            guest |= !strcmp(line, "Name:\tws guest\n");
            if (guest && sscanf(line, "SigBlk: %llx", &blocked) == 1) {
                guests_there++;
                all &= (blocked >> (SIGUSR1 - 1) & blocked >> (SIGUSR2 - 1) & blocked >> (SIGTERM - 1) & 1) == 1;
            }
        }
        if (status)
            fclose(status);
    }
    closedir(tasks);
    return all && guests_there > 0;
}

static void masks(void)
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR2, &action, NULL);
    CHECK(run_with_guests());
    check_mask();
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    sigaddset(&some, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    check_mask();
    pthread_sigmask(SIG_UNBLOCK, &some, NULL);
    check_mask();
    int blocked = 0; /* when they are idle again */
    for (double deadline = now() + PATIENCE; !(blocked = guests_block()) && now() < deadline;)
        usleep(1000);
    CHECK(blocked);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (rank == 0) {
        if (!strcmp(argv[1], "float"))
            floats();
        else if (!strcmp(argv[1], "locale"))
            locales(argv[2]);
        else
            masks();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
