/* SPDX-License-Identifier: MIT
 *
 * Stands in for libws: counts what MPICH calls. hooks_app.c asks for the counts through dlsym.
 */
#include "mpir_workshare.h"
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANKS 16

struct fake_counts {
    unsigned long blocked, waits, polled, taken, rings[MAX_RANKS];
    unsigned long calls, nested;        /* MPI functions that have begun, and how many of them inside another one */
    const char *first, *last;   /* of them */
    int level;                  /* of MPI_Pcontrol */
    const void *site;           /* of the last call */
} fake_counts;

static const MPIR_Workshare_hooks *mpich;
static _Thread_local const char *inside;
static _Thread_local int waiting;
static _Thread_local unsigned next_poll;

static void broken(const char *rule)
{
    fprintf(stderr, "hook called against the rules: %s\n", rule);
    abort();
}

static void blocked(unsigned polls)
{
    if (polls != (waiting ? next_poll : 0))
        broken("polls counts from 0 in each wait, by one");
    if (mpich->called && mpich->call_name() != inside)
        broken("who waits is in the function that began");
    waiting = 1;
    next_poll = polls + 1;
    fake_counts.blocked++;
    sched_yield();              /* on a busy machine the process that we wait for may need this core */
}

static void unblocked(void)
{
    if (!waiting)
        broken("unblocked comes after blocked only");
    waiting = 0;
    fake_counts.waits++;
}

static void polled(void)
{
    if (waiting)
        broken("polled comes outside of waits");
    fake_counts.polled++;
}

static void ring(int world_rank)
{
    if (world_rank < 0 || world_rank >= MAX_RANKS)
        broken("rings go to ranks of MPI_COMM_WORLD");
    fake_counts.rings[world_rank]++;
}

static void taken(void)
{
    fake_counts.taken++;
}

static void called(const char *name, int enter)
{
    if (enter) {
        fake_counts.site = mpich->call_site();
        if (mpich->call_name() != name)
            broken("a function that begins is the one that the thread is in");
        fake_counts.nested += inside != NULL;
        inside = name;
        if (!fake_counts.calls++)
            fake_counts.first = name;
        fake_counts.last = name;
    } else if (inside != name) {
        broken("the function that began ends");
    } else {
        inside = NULL;
    }
}

static void pcontrol(int level)
{
    fake_counts.level = level;
}

/* What MPI_T shows. */
enum { STATE, RANKS_BLOCKED, REGIONS, TIME_BLOCKED, PVARS };
static const MPIR_Workshare_pvar_t pvars[PVARS] = {
    {"WS_STATE", "", MPI_T_PVAR_CLASS_STATE}, {"WS_RANKS_BLOCKED", "", MPI_T_PVAR_CLASS_LEVEL},
    {"WS_EXECUTIONS", "", MPI_T_PVAR_CLASS_COUNTER}, {"WS_TIME_BLOCKED", "", MPI_T_PVAR_CLASS_TIMER}
};
enum { ENABLE, QUANTUM, LINGER, VICTIM, CVARS };
static const MPIR_Workshare_cvar_t cvars[CVARS] = {{"WS_ENABLE", "", MPI_T_SCOPE_READONLY, 0, 0, 1, NULL, 0},
                                                   {"WS_QUANTUM", "", MPI_T_SCOPE_LOCAL, 400, 1, 1000000, NULL, 0},
                                                   {"WS_LINGER", "", MPI_T_SCOPE_LOCAL, 50, 0, 1000000, NULL, 0},
                                                   {"WS_VICTIM", "", MPI_T_SCOPE_ALL, 0, 0, 0, "auto", 16}};
static const char *const states[] = { "off", "computing", "blocked", "lent", NULL };

static unsigned long long pvar(int which)
{
    static const unsigned long long values[PVARS] = { 3, 101, 103, 2500000000ull };
    return mpich ? values[which] : 0;
}

static int set_cvar(int which, unsigned value)
{
    return which != QUANTUM || value != 777;
}

const MPIR_Workshare_variables_t *ws_fork_variables(int version)
{
    static const MPIR_Workshare_variables_t all = { cvars, pvars, CVARS, PVARS, states, pvar, set_cvar };
    return version == MPIR_WORKSHARE_VERSION ? &all : NULL;
}

static void finalize(void)
{
    if (mpich->called && strcmp(mpich->call_name(), "MPI_Finalize"))
        broken("finalize is called from MPI_Finalize");
    PMPI_Barrier(MPI_COMM_WORLD);       /* MPI works */
    if (waiting)
        broken("each wait that called blocked calls unblocked");
}

int ws_fork_attach(int version, unsigned what, MPIR_Workshare_hooks *hooks)
{
    if (version != MPIR_WORKSHARE_VERSION || what != MPIR_WORKSHARE_STEAL || getenv("FAKE_REFUSES"))
        return 1;
    hooks->blocked = blocked;
    hooks->unblocked = unblocked;
    hooks->ring = ring;
    static const unsigned some = 1;
    hooks->taken = taken;
    hooks->senders_waiting = &some;
    if (getenv("FAKE_POLL"))
        hooks->polled = polled;
    mpich = hooks;
    if (getenv("FAKE_CALLED"))
        hooks->called = called;
    hooks->pcontrol = pcontrol;
    hooks->finalize = finalize;
    return 0;
}
