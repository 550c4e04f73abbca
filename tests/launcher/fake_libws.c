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
    unsigned long calls, nested;        /* MPI functions that begun, and of them those inside another one */
    const char *first, *last;   /* of them */
    int level;                  /* of MPI_Pcontrol */
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
    sched_yield();              /* a busy machine: whoever we wait for may need this core */
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

/* So that a test can tell which one was asked for. */
static unsigned long long counter(int which)
{
    return which == MPIR_WORKSHARE_PVAR_TIME_BLOCKED ? 2500000000ull : which == MPIR_WORKSHARE_PVAR_STATE ?
        MPIR_WORKSHARE_STATE_LENT : 100ull + which;
}

static int set_option(int which, unsigned value)
{
    return which != MPIR_WORKSHARE_CVAR_QUANTUM || value != 777;
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
    hooks->counter = counter;
    hooks->set_option = set_option;
    hooks->finalize = finalize;
    return 0;
}
