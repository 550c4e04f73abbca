/* SPDX-License-Identifier: MIT
 *
 * When a pool of tasks ends (runtime/policy/nblb/ending.h): ranks run tasks that put tasks and send tasks to each other;
 * rank 0 counts in waves. Here the other ranks are all its children; a tree only adds up their answers on the way.
 * Letters may overtake each other.
 *
 * Assertion: when the root says that it is over, no task is queued, runs or is under way. Liveness: it says so. */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef TASKS
#define TASKS 2       /* that rank 1 has at the begin */
#endif
#ifndef MORE
#define MORE 2        /* that tasks put, in all */
#endif
#ifndef MOVES
#define MOVES 2       /* tasks that are sent elsewhere, in all */
#endif

byte queued[RANKS], put[RANKS], done[RANKS], travels[RANKS], running[RANKS];
byte more = MORE, moves = MOVES;
bool ask[RANKS], answer[RANKS];
byte answered_put[RANKS], answered_done[RANKS];
bool over;

/* It would do if a rank answered while a task runs, as the counts are true at any time. Then they must be true. */
#ifdef ANSWER_WHILE_RUNNING
#define idle(r) (queued[r] == 0)
#else
#define idle(r) (queued[r] == 0 && running[r] == 0)
#endif

active [RANKS] proctype Rank()
{
    byte to;

    if
    :: _pid == 1 -> atomic { queued[1] = TASKS; put[1] = TASKS }
    :: else
    fi;
    do
    :: over -> break
    :: atomic { queued[_pid] > 0 && running[_pid] == 0 -> queued[_pid]--; running[_pid] = 1 }
    :: atomic { queued[_pid] > 0 && moves > 0 -> moves--; queued[_pid]--;   /* given away */
                to = 0;
                do
                :: to < RANKS - 1 -> to++
                :: break
                od;
                travels[to]++ }
    :: atomic { running[_pid] == 1 && more > 0 -> more--;
#ifdef PUT_COUNTED_LATE
                queued[_pid]++; running[_pid] = 2 }                          /* it may be taken before it is counted */
    :: atomic { running[_pid] == 2 -> put[_pid]++; running[_pid] = 1 }
#else
                put[_pid]++; queued[_pid]++ }
#endif
#ifdef DONE_COUNTED_EARLY
    :: atomic { running[_pid] == 1 -> done[_pid]++; running[_pid] = 3 }      /* and what it puts comes later */
    :: atomic { running[_pid] == 3 ->
                if
                :: more > 0 -> more--; put[_pid]++; queued[_pid]++
                :: true
                fi;
                running[_pid] = 0 }
#else
    :: atomic { running[_pid] == 1 -> done[_pid]++; running[_pid] = 0 }
#endif
    :: atomic { _pid > 0 && ask[_pid] && idle(_pid) -> ask[_pid] = false;
                answered_put[_pid] = put[_pid]; answered_done[_pid] = done[_pid]; answer[_pid] = true }
    od
}

active proctype Network()
{
    do
    :: over -> break
    :: atomic { travels[0] > 0 -> travels[0]--; queued[0]++ }
    :: atomic { travels[1] > 0 -> travels[1]--; queued[1]++ }
    :: atomic { travels[2] > 0 -> travels[2]--; queued[2]++ }
#if RANKS > 3
    :: atomic { travels[3] > 0 -> travels[3]--; queued[3]++ }
#endif
    od
}

/* The root's part of rank 0; apart, so that it may count at any moment in which rank 0 has nothing to do. */
active proctype Root()
{
    byte r, all_put, all_done, before_done = 255;

    do
    :: atomic {
        r = 1;
        do
        :: r < RANKS -> ask[r] = true; r++
        :: else -> break
        od;
        all_put = 0;
        all_done = 0
       }
       r = 1;
       do
       :: r < RANKS -> atomic { answer[r] -> answer[r] = false;
                                all_put = all_put + answered_put[r]; all_done = all_done + answered_done[r]; r++ }
       :: else -> break
       od;
       atomic { idle(0) -> all_put = all_put + put[0]; all_done = all_done + done[0] }
       atomic {
        if
#ifdef ONE_WAVE
        :: all_done == all_put ->
#elif defined(WAVES_COMPARED_BACKWARDS)
        :: before_done != 255 && all_done == before_done && queued[0] == 0 ->
#else
        :: before_done == all_put ->
#endif
            over = true
        :: else -> before_done = all_done
        fi
       }
       if
       :: over -> break
       :: else
       fi
    od;
    atomic {
        r = 0;
        do
        :: r < RANKS -> assert(queued[r] == 0 && running[r] == 0 && travels[r] == 0); r++
        :: else -> break
        od
    }
}

ltl all_end { <> over }
