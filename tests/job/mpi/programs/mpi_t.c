/* SPDX-License-Identifier: MIT
 *
 * What MPI_T shows of Workshare while the last rank computes, loops of two kinds, and the others help. A thread of each
 * rank reads the performance variables all the while. WS_CHUNK_TIME is written before MPI_Init for the first ones and
 * then for the others. Prints "chunks FIRST SECOND" of the last rank, then "stolen N lent S borrowed S" after
 * MPI_Finalize, a line a rank. Arguments VARIABLE TEXT: rank 1 writes it before MPI_Init. */
#include "test.h"
#include <pthread.h>

enum { STATE, BLOCKED, GUESTS, EXECUTIONS, FORMERLY, KEPT, STOLEN, TIME_BLOCKED, LENT, BORROWED, VARIABLES };
static const struct {
    const char *name;
    int class;
} variables[VARIABLES] = {{"WS_STATE", MPI_T_PVAR_CLASS_STATE},         {"WS_RANKS_BLOCKED", MPI_T_PVAR_CLASS_LEVEL},
                          {"WS_GUESTS", MPI_T_PVAR_CLASS_LEVEL},        {"WS_EXECUTIONS", MPI_T_PVAR_CLASS_COUNTER},
                          {"WS_REGIONS", MPI_T_PVAR_CLASS_COUNTER},
                          {"WS_CHUNKS_KEPT", MPI_T_PVAR_CLASS_COUNTER}, {"WS_CHUNKS_STOLEN", MPI_T_PVAR_CLASS_COUNTER},
                          {"WS_TIME_BLOCKED", MPI_T_PVAR_CLASS_TIMER},  {"WS_TIME_LENT", MPI_T_PVAR_CLASS_TIMER},
                          {"WS_TIME_BORROWED", MPI_T_PVAR_CLASS_TIMER}};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[VARIABLES];
static double last[VARIABLES], most[VARIABLES];
static int states_seen, steps[VARIABLES], stop;

static double value(int v)
{
    union {
        int i;
        unsigned u;
        unsigned long long ull;
        double d;
    } x = {0};
    CHECK(MPI_T_pvar_read(session, handles[v], &x) == MPI_SUCCESS);
    switch (variables[v].class) {
    case MPI_T_PVAR_CLASS_STATE: return x.i;
    case MPI_T_PVAR_CLASS_LEVEL: return x.u;
    case MPI_T_PVAR_CLASS_TIMER: return x.d;
    default: return (double) x.ull;
    }
}

/* Counters and timers never go back. */
static void *sample(void *unused)
{
    struct timespec ms = { 0, 1000000 };
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        for (int v = 0; v < VARIABLES; v++) {
            double x = value(v);
            if (variables[v].class == MPI_T_PVAR_CLASS_COUNTER || variables[v].class == MPI_T_PVAR_CLASS_TIMER)
                CHECK(x >= last[v]);
            steps[v] += x != last[v];
            last[v] = x;
            most[v] = x > most[v] ? x : most[v];
        }
        states_seen |= 1 << (int) last[STATE];
        nanosleep(&ms, NULL);
    }
    return unused;
}

static MPI_T_cvar_handle cvar(const char *name)
{
    int index, count;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    return handle;
}

static double chunks(void)
{
    return value(KEPT) + value(STOLEN);
}

static double compute(void)
{
    double before = chunks();
    for (int turn = 0; turn < 10; turn++) {
        long sum = 0;
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < 1000; i++) {
            busy(10e-6);
            sum += i;
        }
        CHECK(sum == 499500);
    }
    return chunks() - before;
}

int main(int argc, char **argv)
{
    int provided, count, index;
    unsigned us = 2000;
    const char *number = getenv("PMI_RANK");
    pthread_t thread;

    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    CHECK(MPI_T_cvar_write(cvar("WS_CHUNK_TIME"), &us) == MPI_SUCCESS);
    if (argc > 2 && number && atoi(number) == 1)
        CHECK(MPI_T_cvar_write(cvar(argv[1]), argv[2]) == MPI_SUCCESS);
    MPI_T_pvar_session_create(&session);
    for (int v = 0; v < VARIABLES; v++) {
        CHECK(MPI_T_pvar_get_index(variables[v].name, variables[v].class, &index) == MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handles[v], &count) == MPI_SUCCESS && count == 1);
        CHECK(value(v) == 0);
    }

    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, sample, NULL);
    if (rank == ranks - 1) {
        double first = compute();
        const int not_now = value(STATE) ? MPI_T_ERR_CVAR_SET_NOT_NOW : MPI_SUCCESS;
        char text[64] = "";
        us = 20;
        CHECK(MPI_T_cvar_write(cvar("WS_CHUNK_TIME"), &us) == MPI_SUCCESS);
        us = 133; /* out of its range; off, nobody minds, as for any other library's variables */
        CHECK(MPI_T_cvar_write(cvar("WS_POLL"), &us) == (not_now ? MPI_T_ERR_INVALID : MPI_SUCCESS));
        us = 1;
        CHECK(MPI_T_cvar_write(cvar("WS_POLL"), &us) == not_now);
        CHECK(MPI_T_cvar_write(cvar("WS_VICTIM"), "the writer's own words") == not_now);
        MPI_T_cvar_read(cvar("WS_VICTIM"), text);
        CHECK((strcmp(text, "the writer's own words") == 0) == (not_now == MPI_SUCCESS));
        printf("chunks %.0f %.0f\n", first, compute());
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);

    if (value(STATE) == 0) { /* off: nothing counts */
        for (int v = 0; v < VARIABLES; v++)
            CHECK(most[v] == 0);
    } else if (rank == ranks - 1) {
        CHECK(states_seen & 1 << 1); /* computing */
        CHECK(most[BLOCKED] >= 1 && most[GUESTS] >= 1);
        CHECK(steps[STOLEN] > 3 && steps[BORROWED] > 3 && value(EXECUTIONS) == 20);
    } else {
        CHECK(states_seen & 1 << 3); /* lent */
        CHECK(steps[LENT] > 3 && steps[TIME_BLOCKED] > 3 && value(LENT) <= value(TIME_BLOCKED) &&
              value(EXECUTIONS) == 0);
    }
    CHECK(value(FORMERLY) == value(EXECUTIONS)); /* one variable with two names */
    int status = end();
    printf("stolen %.0f lent %.3f borrowed %.3f\n", value(STOLEN), value(LENT), value(BORROWED));
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return status;
}
