/* SPDX-License-Identifier: MIT
 *
 * When a pool of tasks ends (runtime/policy/nblb/ending.h): ranks run tasks that put tasks and send tasks to each
 * other, and report what they have sent and received when they have nothing to do. Here the other ranks are all children of
 * rank 0; a tree only adds up their reports on the way. Letters may overlap in any way, but for reports of one rank.
 * With WAVES rank 0 asks for reports, and has sums only.
 *
 * Assertion: when the root says that it is over, no task is queued, runs or is under way. Liveness: it says so. */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef TASKS
#define TASKS 2       /* that rank 1 has at the begin */
#endif
#ifndef MORE
#define MORE 1        /* that tasks put, in all */
#endif
#ifndef MOVES
#define MOVES 3       /* tasks that are sent elsewhere, in all */
#endif

byte queued[RANKS], running[RANKS], travels[RANKS];
byte sent[RANKS * RANKS], received[RANKS];             /* from rank r to rank s: [r * RANKS + s] */
byte late[RANKS];
byte more = MORE, moves = MOVES;
bool ask[RANKS], tells[RANKS], changed[RANKS] = true;
typedef Report { byte sent[RANKS], received }
Report told[RANKS], known[RANKS];                      /* those that are under way, and the last that have come */
byte heard;                                            /* of how many ranks */
bool has_heard[RANKS];
bool over;

#ifdef TOLD_WHILE_RUNNING
#define idle(r) (queued[r] == 0)
#else
#define idle(r) (queued[r] == 0 && running[r] == 0)
#endif
#ifdef WAVES
#define may_tell(r) (ask[r])
#else
#define may_tell(r) (changed[r] && !tells[r])
#endif

inline note(who, report)
{
    s = 0;
    do
    :: s < RANKS -> report.sent[s] = sent[who * RANKS + s]; s++
    :: else -> break
    od;
    s = 0;
    report.received = received[who]
}

active [RANKS] proctype Rank()
{
    byte to, s;

    if
    :: _pid == 1 -> queued[1] = TASKS
    :: else
    fi;
    do
    :: over -> break
    :: atomic { queued[_pid] > 0 && running[_pid] == 0 -> queued[_pid]--; running[_pid] = 1 }
    :: atomic { queued[_pid] > 0 && moves > 0 && late[_pid] == 0 -> moves--; queued[_pid]--;   /* given away */
                to = 0;
                do
                :: to < RANKS - 1 -> to++
                :: break
                od;
#ifdef SENT_COUNTED_LATE
                late[_pid] = to + 1; travels[to]++; to = 0 }
    :: atomic { late[_pid] > 0 -> sent[_pid * RANKS + late[_pid] - 1]++; late[_pid] = 0; changed[_pid] = true }
#else
                sent[_pid * RANKS + to]++; changed[_pid] = true; travels[to]++; to = 0 }
#endif
    :: atomic { running[_pid] == 1 && more > 0 -> more--; queued[_pid]++ }
    :: atomic { running[_pid] == 1 -> running[_pid] = 0 }
    :: atomic { _pid > 0 && may_tell(_pid) && idle(_pid) -> ask[_pid] = false; changed[_pid] = false;
                note(_pid, told[_pid]); tells[_pid] = true }
    od
}

active proctype Network()
{
    do
    :: over -> break
    :: atomic { travels[0] > 0 -> travels[0]--; queued[0]++; received[0]++; changed[0] = true }
    :: atomic { travels[1] > 0 -> travels[1]--; queued[1]++; received[1]++; changed[1] = true }
    :: atomic { travels[2] > 0 -> travels[2]--; queued[2]++; received[2]++; changed[2] = true }
#if RANKS > 3
    :: atomic { travels[3] > 0 -> travels[3]--; queued[3]++; received[3]++; changed[3] = true }
#endif
    od
}

inline hear(who)
{
    tells[who] = false;
    s = 0;
    do
    :: s < RANKS -> known[who].sent[s] = told[who].sent[s]; s++
    :: else -> break
    od;
    s = 0;
    known[who].received = told[who].received;
    heard = heard + (1 - has_heard[who]);
    has_heard[who] = true;
    fresh = true
}

/* The root's part of rank 0; apart, so that it may count at any moment in which rank 0 has nothing to do. */
active proctype Root()
{
    byte r, s, to_r, all_sent, all_received, before_received = 255;
    bool fresh = true, quiet;

#ifdef WAVES
begin_wave:
    atomic {
        heard = 0;
        r = 1;
        do
        :: r < RANKS -> ask[r] = true; has_heard[r] = false; r++
        :: else -> break
        od;
        r = 0
    }
#endif
    do
    :: atomic { tells[1] -> hear(1) }
    :: atomic { tells[2] -> hear(2) }
#if RANKS > 3
    :: atomic { tells[3] -> hear(3) }
#endif
    :: atomic { idle(0) && heard == RANKS - 1 && (fresh || changed[0]) ->
        fresh = false; changed[0] = false;
        note(0, known[0]);
        quiet = true; all_sent = 0; all_received = 0;
        r = 0;
        do
        :: r < RANKS ->
            to_r = 0; s = 0;
            do
            :: s < RANKS -> to_r = to_r + known[s].sent[r]; s++
            :: else -> break
            od;
            quiet = quiet && to_r == known[r].received;
            all_sent = all_sent + to_r; all_received = all_received + known[r].received;
            r++
        :: else -> break
        od;
        r = 0; s = 0; to_r = 0;
#if defined(ONE_SUM) || defined(ONE_WAVE)
        quiet = all_sent == all_received;
#elif defined(WAVES_COMPARED_BACKWARDS)
        quiet = before_received != 255 && all_received == before_received;
#elif defined(WAVES)
        quiet = all_sent == before_received;
#endif
        before_received = all_received; all_sent = 0; all_received = 0;
        if
        :: quiet -> over = true
        :: else
        fi
      }
      if
      :: over -> break
      :: else ->
#ifdef WAVES
        goto begin_wave
#else
        skip
#endif
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
