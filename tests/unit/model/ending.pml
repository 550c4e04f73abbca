/* SPDX-License-Identifier: MIT
 *
 * When a pool of tasks ends (runtime/policy/nblb/ending.h): ranks run tasks that put tasks and send tasks to each
 * other, and report what they have sent and received when they have nothing to do. Here the other ranks are all children of
 * rank 0; a tree only adds up their reports on the way. Letters may overlap in any way, but for reports of one rank.
 * With WAVES rank 0 asks for reports, and has sums only.
 *
 * With PUTS a thread that is no task puts tasks on any rank at any moment (Pool::put): "extra" ones. A run need not
 * wait for these, but for all others; the next run must run what is left of them, wherever it is by then.
 *
 * Assertion: when the root says that it is over, no task but extra ones is queued, runs or is under way; after the last
 * run each task that was put by its begin has run once. Liveness: the root says that it is over. */

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
#ifndef PUTS
#define PUTS 0        /* extra tasks */
#endif
#ifndef RUNS
#define RUNS 1        /* of the pool; extra tasks are put in all but the last */
#endif

byte queued[RANKS], running[RANKS], travels[RANKS];    /* running: 2 is an extra one */
byte extra[RANKS], marked[RANKS], travels_extra[RANKS]; /* extra ones that are queued; letters of ranks that were woken */
byte sent[RANKS * RANKS], received[RANKS];             /* from rank r to rank s: [r * RANKS + s] */
byte late[RANKS];
byte more = MORE, moves = MOVES, to_put = PUTS, has_run, turn = 1;
bool ask[RANKS], in_wave[RANKS], tells[RANKS], changed[RANKS] = true, woken[RANKS];
typedef Report { byte sent[RANKS], received; bool woken, in_wave }
Report told[RANKS], known[RANKS];                      /* those that are under way, and the last that have come */
byte heard;                                            /* of how many ranks */
bool has_heard[RANKS];
bool over, finished;

#define has_none(r) (queued[r] == 0 && extra[r] == 0)
#ifdef TOLD_WHILE_RUNNING
#define idle(r) (has_none(r))
#else
#define idle(r) (has_none(r) && running[r] == 0)
#endif
#ifdef WAVES
#define may_tell(r) (ask[r])
#define answers_ask(r) true
#define asks_now false
#else
#define answers_ask(r) in_wave[r]
#define may_tell(r) ((in_wave[r] -> ask[r] : changed[r]) && !tells[r])
#endif

inline note(who, report)
{
    s = 0;
    do
    :: s < RANKS -> report.sent[s] = sent[who * RANKS + s]; s++
    :: else -> break
    od;
    s = 0;
    report.received = received[who];
    report.woken = woken[who];
    report.in_wave = in_wave[who]
}

inline leave_to_some()
{
    moves--;
    to = 0;
    do
    :: to < RANKS - 1 -> to++
    :: break
    od;
    sent[_pid * RANKS + to]++; changed[_pid] = true
}

active [RANKS] proctype Rank()
{
    byte to, s;

    if
    :: _pid == 1 -> queued[1] = TASKS
    :: else
    fi;
    do
    :: finished -> break
    :: atomic { queued[_pid] > 0 && running[_pid] == 0 -> queued[_pid]--; running[_pid] = 1 }
#ifdef SENT_COUNTED_LATE
    :: atomic { queued[_pid] > 0 && moves > 0 && late[_pid] == 0 -> moves--; queued[_pid]--;   /* given away */
                to = 0;
                do
                :: to < RANKS - 1 -> to++
                :: break
                od;
                late[_pid] = to + 1; travels[to]++; to = 0 }
    :: atomic { late[_pid] > 0 -> sent[_pid * RANKS + late[_pid] - 1]++; late[_pid] = 0; changed[_pid] = true }
#else
    :: atomic { queued[_pid] > 0 && moves > 0 -> queued[_pid]--; leave_to_some();              /* given away */
                if
                :: woken[_pid] -> marked[to]++
                :: else -> travels[to]++
                fi;
                to = 0 }
#endif
#if PUTS > 0
    :: atomic { extra[_pid] > 0 && running[_pid] == 0 -> extra[_pid]--; running[_pid] = 2 }
    :: atomic { extra[_pid] > 0 && moves > 0 -> extra[_pid]--; leave_to_some(); travels_extra[to]++; to = 0 }
    :: atomic { running[_pid] == 2 -> running[_pid] = 0; has_run++ }
    :: atomic { ask[_pid] && !in_wave[_pid] -> in_wave[_pid] = true }
#endif
    :: atomic { running[_pid] == 1 && more > 0 -> more--; queued[_pid]++ }
    :: atomic { running[_pid] == 1 -> running[_pid] = 0; has_run++ }
    :: atomic { _pid > 0 && may_tell(_pid) && idle(_pid) ->
                ask[_pid] = ask[_pid] && !answers_ask(_pid); changed[_pid] = false;
                note(_pid, told[_pid]); tells[_pid] = true }
    od
}

#ifdef MARKS_IGNORED
#define wake(r) skip
#else
#define wake(r) woken[r] = true
#endif
#define comes(r) queued[r]++; received[r]++; changed[r] = true
#if PUTS > 0
#define from_woken(r) \
    :: atomic { marked[r] > 0 -> marked[r]--; comes(r); wake(r) } \
    :: atomic { travels_extra[r] > 0 -> travels_extra[r]--; extra[r]++; received[r]++; changed[r] = true; wake(r) }
#else
#define from_woken(r)
#endif

active proctype Network()
{
    do
    :: finished -> break
    :: atomic { travels[0] > 0 -> travels[0]--; comes(0) }
    :: atomic { travels[1] > 0 -> travels[1]--; comes(1) }
    :: atomic { travels[2] > 0 -> travels[2]--; comes(2) }
    from_woken(0)
    from_woken(1)
    from_woken(2)
#if RANKS > 3
    :: atomic { travels[3] > 0 -> travels[3]--; comes(3) }
    from_woken(3)
#endif
    od
}

#if PUTS > 0
#define may_put (to_put > 0 && (turn < RUNS || RUNS == 1) && !finished)
#define put_on(r) \
    woken[r] = woken[r] || (has_none(r) && running[r] == 0); extra[r]++; to_put--

active proctype Putter()
{
    do
    :: finished || to_put == 0 || (turn == RUNS && RUNS > 1) -> break
    :: atomic { may_put -> put_on(0) }
    :: atomic { may_put -> put_on(1) }
    :: atomic { may_put -> put_on(2) }
    od
}
#endif

inline hear(who)
{
    tells[who] = false;
    if
    :: asks_now && !told[who].in_wave -> skip  /* it was under way when the wave began */
    :: else ->
        s = 0;
        do
        :: s < RANKS -> known[who].sent[s] = told[who].sent[s]; s++
        :: else -> break
        od;
        s = 0;
        known[who].received = told[who].received;
        known[who].woken = told[who].woken;
        heard = heard + (1 - has_heard[who]);
        has_heard[who] = true;
        fresh = true
    fi
}

/* The root's part of rank 0; apart, so that it may count at any moment in which rank 0 has nothing to do. */
active proctype Root()
{
    byte r, s, to_r, all_sent, all_received, before_received = 255;
    bool fresh = true, quiet, any_woken;
#ifndef WAVES
    bool asks_now;
#endif

begin_run:
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
#else
    goto listen;
begin_wave:
    atomic {
        asks_now = true;
        heard = 0;
        fresh = true;
        r = 1;
        do
        :: r < RANKS -> ask[r] = true; has_heard[r] = false; r++
        :: else -> break
        od;
        r = 0
    }
listen:
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
        quiet = true; any_woken = false; all_sent = 0; all_received = 0;
        r = 0;
        do
        :: r < RANKS ->
            to_r = 0; s = 0;
            do
            :: s < RANKS -> to_r = to_r + known[s].sent[r]; s++
            :: else -> break
            od;
            quiet = quiet && to_r == known[r].received;
            any_woken = any_woken || known[r].woken;
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
#else
        if
        :: asks_now -> quiet = all_sent == before_received
        :: else
        fi;
#endif
        before_received = all_received; all_sent = 0; all_received = 0;
        if
#if PUTS > 0 && !defined(WAVES) && !defined(NO_WAVE_CONFIRMS)
        :: quiet && any_woken && !asks_now -> goto begin_wave
        :: quiet && (!any_woken || asks_now) -> over = true
        :: !quiet && asks_now -> goto begin_wave
        :: !quiet && !asks_now
#else
        :: quiet -> over = true
        :: else
#endif
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
        :: r < RANKS -> assert(queued[r] == 0 && running[r] != 1 && travels[r] == 0 && marked[r] == 0); r++
        :: else -> break
        od;
        r = 0
    }
#if RUNS > 1
    if
    /* The ranks have left the run. What is there now, or under way, is the next one's. */
    :: atomic { turn < RUNS && running[0] == 0 && running[1] == 0 && running[2] == 0 ->
        turn++;
        over = false; heard = 0; fresh = true; before_received = 255;
#ifndef WAVES
        asks_now = false;
#endif
        do
        :: r < RANKS ->
            queued[r] = queued[r] + extra[r]; extra[r] = 0;
#ifdef LATE_LETTERS_DROPPED
            travels_extra[r] = 0;
#endif
            travels[r] = travels[r] + travels_extra[r]; travels_extra[r] = 0;
            tells[r] = false; ask[r] = false; in_wave[r] = false; has_heard[r] = false; changed[r] = true; woken[r] = false;
#ifdef COUNTS_OF_EACH_RUN
            received[r] = 0;
            s = 0;
            do
            :: s < RANKS -> sent[r * RANKS + s] = 0; s++
            :: else -> break
            od;
            s = 0;
#endif
            r++
        :: else -> break
        od;
        r = 0;
        goto begin_run }
    :: atomic { turn == RUNS -> assert(has_run == TASKS + MORE - more + PUTS - to_put) }
    fi;
#endif
    finished = true
}

ltl all_end { <> over }
