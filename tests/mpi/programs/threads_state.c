/* SPDX-License-Identifier: MIT
 *
 * threads_state WHAT: what an iteration finds in the thread that runs it, changed after the first guest is there.
 *    float   rounding, flush to zero, traps: results are those of the rank's own thread, bit by bit
 *    locale  the decimal point of uselocale()
 *    mask    signals that the program sends to itself come to its own threads; faults are not blocked */
#define _GNU_SOURCE
#include "test.h"
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
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

static __thread int is_guest; /* has run an iteration; UCX has threads too */
static volatile sig_atomic_t by_guests;
static void handler(int signal)
{
    (void) signal;
    by_guests += is_guest;
}

static void masks(void)
{
    struct sigaction action = {.sa_handler = handler};
    int on_guests = 0, unblocked = 0, faults = 0, sent = 0;
    sigaction(SIGUSR1, &action, NULL);
    CHECK(run_with_guests());
    /* Blocked where the rank computes: others must take them. */
    sigset_t usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    for (double deadline = now() + PATIENCE; on_guests < 100 && now() < deadline;) {
#pragma ws for reduction(+ : on_guests, unblocked, faults, sent)
        for (int i = 0; i < N; i++) {
            busy(5e-6);
            if (!on_guest())
                continue;
            is_guest = 1;
            sigset_t now;
            pthread_sigmask(SIG_BLOCK, NULL, &now);
            on_guests++;
            for (int s = 1; s < 32; s++) {
                const int fault = s == SIGSEGV || s == SIGBUS || s == SIGFPE || s == SIGILL || s == SIGTRAP ||
                                  s == SIGSYS || s == SIGABRT;
                if (fault)
                    faults += sigismember(&now, s);
                else if (s != SIGKILL && s != SIGSTOP && s != SIGPROF)
                    unblocked += !sigismember(&now, s);
            }
            if (sent < 5)
                sent += kill(getpid(), SIGUSR1) == 0;
        }
    }
    CHECK(on_guests >= 100);
    CHECK(unblocked == 0);
    CHECK(faults == 0);
    CHECK(sent > 0);
    CHECK(by_guests == 0);
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
