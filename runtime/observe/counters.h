// SPDX-License-Identifier: MIT
//
// Every counter, once. These lists generate the board's fields (board.h), the report's figures and their JSON and CSV
// (report.h, figures.cpp) and the variables of MPI_T (mpi/mpi_t.cpp). They also generate what ws-top reads and prints
// as JSON (tools/top). tests/unit/observe/counters_test.cpp compares the lists with docs/reference/report.schema.json,
// docs/reference/top.schema.json and docs/reference/mpi_t.md.
//
// A row is in the list of what it belongs to, a rank, a loop, an MPI call or a phase, as
//
//    WHENCE(kind, name, where, mpi_t, help)
//
//    WHENCE   who counts it, and so the struct of the board that has it:
//               LEND     each thread that lends, in LendCounters; a rank's is the sum
//               HOME     the same, and a rank's is its home thread's alone: workers always want more
//               VISIT    each thread that runs iterations elsewhere, in VisitCounters; a rank's is the sum
//               PROCESS  the process, in ProcessCounters
//               LOOPS    the sum of the figures of that name of its loops
//               ROW      the row of the loop, call or phase
//               MADE     nobody: figures.cpp or summary.cpp computes it from others, or mpi/report.cpp reads it at the
//                        end
//    kind     COUNT, how often or how many; TIME, ticks on the board and seconds elsewhere: lent is lent_ticks there
//             and lent_s here
//    where    REPORT: in reports, from the first version on; LATER: in reports, and old ones lack it: what is added has
//             this; BOARD: on the board alone
//    mpi_t    its name in MPI_T, or NONE
//    help     for people: docs/reference/report.schema.json and MPI_T have it
//
// A counter that is added to goes to the end of its list: then no line of a report or of the board changes its place.
#pragma once

// Counters of a rank; for a node and the job, the sums.
#define WS_RANK_COUNTERS(LEND, HOME, VISIT, PROCESS, LOOPS, MADE) \
    MADE(TIME, wall, REPORT, NONE, "from the end of MPI_Init to MPI_Finalize, once all ranks are there") \
    MADE(TIME, computing, REPORT, NONE, "the rank's own thread outside of MPI, without close_wait_s") \
    LOOPS(TIME, close_wait, REPORT, NONE, "its own thread waiting for guests at the ends of its loops") \
    PROCESS(TIME, mpi, REPORT, NONE, "its own thread in MPI, or in a wait outside of MPI") \
    HOME(TIME, blocked, REPORT, WS_TIME_BLOCKED, "of mpi_s: waits longer than the spin (WS_SPIN)") \
    HOME(TIME, lent, REPORT, WS_TIME_LENT, "of blocked_s: its core was lent") \
    MADE(TIME, helped, REPORT, NONE, "of lent_s: its core computed for other ranks") \
    VISIT(TIME, borrowed, REPORT, WS_TIME_BORROWED, "other cores computed for this rank") \
    MADE(TIME, borrowed_workers, REPORT, NONE, "of borrowed_s: its own workers") \
    MADE(TIME, worker_helped, REPORT, NONE, "its workers' cores computed for other ranks") \
    MADE(TIME, loops, REPORT, NONE, "of computing_s: in ws loops; and in MPI calls inside of them") \
    LOOPS(TIME, untimed, REPORT, NONE, "of loops_s: extrapolated from a sample; 0 in a run with a report") \
    LOOPS(COUNT, executions, REPORT, WS_EXECUTIONS, "executions of ws loops") \
    LOOPS(COUNT, executions_shared, REPORT, WS_EXECUTIONS_SHARED, "of them: offered to others") \
    LOOPS(COUNT, executions_helped, REPORT, WS_EXECUTIONS_HELPED, "of them: helped with") \
    PROCESS(COUNT, executions_plain, REPORT, NONE, "beside executions: on threads whose loops are not shared, or nested") \
    LOOPS(COUNT, executions_unpaid, REPORT, NONE, "of executions: not shared as sharing had not paid") \
    LOOPS(COUNT, iterations_kept, REPORT, NONE, "run by the owner") \
    LOOPS(COUNT, iterations_stolen, REPORT, NONE, "run by guests and workers") \
    LOOPS(COUNT, chunks_kept, REPORT, WS_CHUNKS_KEPT, "run by the owner") \
    LOOPS(COUNT, chunks_stolen, REPORT, NONE, "run by guests and workers") \
    LEND(COUNT, lends, REPORT, WS_LENDS, "how often its core, or a worker's, was lent") \
    LEND(COUNT, claims_lost, REPORT, WS_CLAIMS_LOST, "claims that another thief was faster with") \
    LEND(COUNT, recalls, REPORT, WS_RECALLS, "lent cores that were called back") \
    LEND(COUNT, refusals, BOARD, WS_REFUSALS, "waits in which the core was not free to lend: other ranks compute on it") \
    LEND(COUNT, moves, BOARD, NONE, "a thief left the CPU that it shared with its victim") \
    LEND(COUNT, naps, REPORT, WS_SLEEPS, "sleeps because there was no work") \
    LEND(TIME, naps, REPORT, WS_TIME_ASLEEP, "asleep because there was no work") \
    LEND(COUNT, wakes, BOARD, NONE, "of the naps: ended by somebody, not by the quantum") \
    VISIT(COUNT, visits, BOARD, NONE, "leases, and regions joined without one") \
    VISIT(COUNT, chunks, BOARD, WS_CHUNKS_STOLEN, "chunks of its loops that ran on other cores, as they are taken") \
    VISIT(COUNT, iterations, BOARD, WS_ITERATIONS_STOLEN, "iterations in them") \
    PROCESS(COUNT, worker_chunks, BOARD, NONE, "of those chunks: taken by its own workers") \
    PROCESS(COUNT, guests_refused, REPORT, NONE, "threads that the system did not give") \
    PROCESS(COUNT, guests_barred, REPORT, NONE, "guests that may not use their thief's core") \
    PROCESS(COUNT, openmp_cores, LATER, NONE, "cores that its parallel regions have, under -workshare-openmp; at the end") \
    PROCESS(COUNT, openmp_lent, LATER, WS_OPENMP_LENT, "parallel regions that had lent cores besides") \
    PROCESS(TIME, openmp_lent, LATER, WS_TIME_OPENMP_LENT, "core time of those") \
    PROCESS(TIME, openmp_late, LATER, NONE, "of it: beside the thread whose core it is, which had come back") \
    PROCESS(COUNT, openmp_beside, LATER, NONE, "threads of regions that came to a core where a worker or a guest was in its last chunk") \
    PROCESS(TIME, openmp_beside, LATER, NONE, "they were beside those") \
    PROCESS(COUNT, flex_intervals, LATER, NONE, "intervals after which XMPI looked at balance") \
    PROCESS(COUNT, flex_moves, LATER, WS_FLEX_MOVES, "after which it moved rows") \
    PROCESS(COUNT, flex_bytes, LATER, WS_FLEX_BYTES, "bytes of rows that this rank then sent and received") \
    PROCESS(TIME, flex_move, LATER, WS_TIME_FLEX_MOVE, "its own thread waiting for that") \
    PROCESS(TIME, threads_blocked, LATER, NONE, "beside blocked_s: its other threads in MPI, in waits of more than 4 ms") \
    PROCESS(COUNT, openmp_shared, LATER, NONE, "parallel regions that had cores of other jobs, by -workshare-across-jobs") \
    PROCESS(TIME, openmp_shared, LATER, NONE, "core time of those") \
    PROCESS(TIME, openmp_shared_late, LATER, NONE, "of it: beside ranks of those jobs, which had come back") \
    PROCESS(TIME, openmp_given, LATER, NONE, "regions of other jobs had cores of this rank's") \
    PROCESS(COUNT, tasks_run, LATER, WS_TASKS_RUN, "tasks of pools that ran here") \
    PROCESS(COUNT, tasks_waiting, BOARD, NONE, "tasks of pools that wait here now") \
    PROCESS(COUNT, tasks_in, LATER, WS_TASKS_IN, "tasks that came from other nodes") \
    PROCESS(COUNT, tasks_out, LATER, WS_TASKS_OUT, "tasks that went to other nodes") \
    PROCESS(COUNT, tasks_bytes_in, LATER, NONE, "bytes of those that came, and of results that came from other nodes") \
    PROCESS(COUNT, tasks_kept_worth, LATER, NONE, "tasks that were asked for and stayed: their run time did not make up for the way") \
    PROCESS(COUNT, tasks_kept_room, LATER, NONE, "the same: the receiver had no room") \
    PROCESS(COUNT, tasks_kept_moved, LATER, NONE, "the same: pinned, or moved twice already") \
    PROCESS(COUNT, tasks_kept_none, LATER, NONE, "the same: fewer were left than were requested") \
    PROCESS(COUNT, openmp_recalled, LATER, WS_OPENMP_RECALLED, "lent cores whose owner came back before the region was over") \
    PROCESS(COUNT, openmp_left, LATER, NONE, "of them: given back before its end, by threads that had done their part") \
    PROCESS(COUNT, openmp_shared_recalled, LATER, NONE, "cores of other jobs a rank of which came back before the region was over") \
    PROCESS(COUNT, openmp_shared_left, LATER, NONE, "of them: given back before its end, by threads that had done their part") \
    PROCESS(COUNT, openmp_limited, LATER, NONE, "parallel regions for which the program asked for fewer threads than there were cores") \
    PROCESS(TIME, flex_expected, LATER, NONE, "that XMPI's moves were to gain, in the intervals after them that were compared") \
    PROCESS(TIME, flex_gained, LATER, NONE, "that they did gain there: the slowest process's time for the same work") \
    PROCESS(COUNT, flex_plans, LATER, NONE, "plans that XMPI made of where rows were to go, as its processes were unequal") \
    PROCESS(COUNT, flex_plans_blocked, LATER, NONE, "of them: while the rank's own thread waited in MPI") \
    PROCESS(TIME, waits_program, LATER, NONE, "of blocked_s: outside of MPI, between ws_wait_begin and ws_wait_end") \
    PROCESS(TIME, waits_gpu, LATER, NONE, "of blocked_s: outside of MPI, for a GPU, under -workshare-waits") \
    PROCESS(TIME, waits_io, LATER, NONE, "of blocked_s: outside of MPI, for files and sockets, under -workshare-waits") \
    MADE(TIME, kept_off, LATER, NONE, "of computing_s: the rank could have computed, but had no CPU") \
    MADE(COUNT, openmp_regions, LATER, NONE, \
         "parallel regions of OpenMP that were not shared; counted under -workshare-openmp=hint") \
    MADE(TIME, openmp_regions, LATER, NONE, "in them") \
    MADE(TIME, openmp_tasks, LATER, NONE, "of it: in regions that created OpenMP tasks") \
    MADE(TIME, counted, LATER, NONE, "part of computing_s in which the processor's counters were read; 0: refused") \
    MADE(COUNT, instructions, LATER, NONE, "in it: instructions of the rank's own thread, in user code") \
    MADE(COUNT, cycles, LATER, NONE, "in it: cycles of the rank's own thread, in user code") \
    MADE(TIME, openmp_threads, LATER, NONE, "of those regions without tasks: each thread from begin to end") \
    MADE(TIME, openmp_scheduling, LATER, NONE, "of it: lost by all threads of a region alike, in OpenMP's library") \
    MADE(TIME, openmp_imbalance, LATER, NONE, "of it: threads that waited for the one with most work")

// Counters of a `ws for` in the source. Short executions run whole, and only one in 16 of them is timed, or all if the
// run is observed. The others are cut into chunks and all timed, open to close. The first eight are those that an
// execution without thieves writes: they fill a cache line.
#define WS_LOOP_COUNTERS(ROW, MADE) \
    ROW(COUNT, whole_executions, BOARD, NONE, "executions that ran whole") \
    ROW(COUNT, whole_iterations, BOARD, NONE, "iterations in them") \
    ROW(COUNT, timed_executions, BOARD, NONE, "of the whole ones: timed") \
    ROW(COUNT, timed_iterations, BOARD, NONE, "iterations in those") \
    ROW(TIME, timed, BOARD, NONE, "in those") \
    ROW(COUNT, cut_executions, BOARD, WS_EXECUTIONS_CUT, \
        "executions that ran in chunks; the others were too short to be worth that") \
    ROW(COUNT, cut_iterations, BOARD, NONE, "iterations in them") \
    ROW(TIME, cut, BOARD, NONE, "in them") \
    MADE(COUNT, executions, REPORT, NONE, "executions") \
    ROW(COUNT, executions_shared, REPORT, NONE, "offered to others") \
    ROW(COUNT, executions_helped, REPORT, NONE, "helped with") \
    ROW(COUNT, executions_unpaid, REPORT, NONE, "not shared as sharing had not paid") \
    MADE(COUNT, iterations_kept, REPORT, NONE, "run by the owners") \
    ROW(COUNT, iterations_stolen, REPORT, NONE, "run by guests and workers") \
    ROW(COUNT, kept_chunks, BOARD, NONE, "chunks of cut executions that the owner ran") \
    MADE(COUNT, chunks_kept, REPORT, NONE, "run by the owners") \
    ROW(COUNT, chunks_stolen, REPORT, NONE, "run by guests and workers") \
    MADE(TIME, computing, REPORT, NONE, "by the owners") \
    ROW(TIME, borrowed, REPORT, NONE, "by guests and workers") \
    ROW(TIME, close_wait, REPORT, NONE, "owners waiting for guests at its end") \
    MADE(TIME, untimed, REPORT, NONE, "of computing_s: extrapolated from a sample") \
    ROW(TIME, longest_chunk, REPORT, NONE, "the longest chunk that was timed") \
    ROW(COUNT, shared_iterations, BOARD, NONE, "iterations of executions that were offered to others") \
    ROW(COUNT, executions_with_tasks, LATER, NONE, \
        "executions in which OpenMP tasks were put, which sharing does not divide")

// Counters of an MPI function of the program; the first two only in a run with report or trace.
#define WS_CALL_COUNTERS(ROW) \
    ROW(COUNT, calls, REPORT, NONE, "outermost ones") \
    ROW(TIME, time, REPORT, NONE, "in them") \
    ROW(COUNT, waits, REPORT, NONE, "longer than the spin") \
    ROW(TIME, blocked, REPORT, NONE, "in those waits") \
    ROW(TIME, lent, REPORT, NONE, "of it: with the core lent")

// Counters of a phase of the program. On the board they are its own, without those of phases inside it.
#define WS_PHASE_COUNTERS(ROW, MADE) \
    ROW(COUNT, entered, REPORT, NONE, "how often, the rank that did so most") \
    ROW(TIME, wall, REPORT, NONE, "the longest rank's") \
    ROW(TIME, mpi, REPORT, NONE, "all ranks") \
    ROW(TIME, blocked, REPORT, NONE, "all ranks") \
    ROW(TIME, lent, REPORT, NONE, "all ranks") \
    ROW(TIME, borrowed, REPORT, NONE, "all ranks") \
    ROW(TIME, close_wait, REPORT, NONE, "all ranks") \
    MADE(TIME, lag, REPORT, NONE, \
         "how much longer it would have lasted without stealing, as estimated; the rank with most") \
    MADE(TIME, computing, LATER, NONE, "all ranks: their own threads outside of MPI, without close_wait_s") \
    ROW(TIME, loops, LATER, NONE, "all ranks: in ws loops, without close_wait_s") \
    ROW(COUNT, executions, LATER, NONE, "executions of ws loops, all ranks") \
    ROW(COUNT, executions_shared, LATER, NONE, "of them: offered to others") \
    ROW(COUNT, executions_helped, LATER, NONE, "of them: helped with") \
    ROW(COUNT, iterations_stolen, LATER, NONE, "run by guests and workers") \
    ROW(TIME, counted, LATER, NONE, "all ranks: part of computing_s in which the processor's counters were read") \
    ROW(COUNT, instructions, LATER, NONE, "in it, all ranks: of their own threads, in user code") \
    ROW(COUNT, cycles, LATER, NONE, "in it, all ranks: of their own threads, in user code")

// ---- what of a row is wanted

#define WS_NO(...)
// Its name on the board, and in reports.
#define WS_FIELD_COUNT(name) name
#define WS_FIELD_TIME(name) name##_ticks
#define WS_FIGURE_COUNT(name) name
#define WS_FIGURE_TIME(name) name##_s
#define WS_NAME_COUNT(name) #name
#define WS_NAME_TIME(name) #name "_s"
// The factor that turns ticks or counts of the board into seconds or counts.
#define WS_SCALE_COUNT(tick) 1
#define WS_SCALE_TIME(tick) (tick)
// What is in reports only.
#define WS_REPORTED_REPORT(...) __VA_ARGS__
#define WS_REPORTED_LATER(...) __VA_ARGS__
#define WS_REPORTED_BOARD(...)

// Fields of a struct: on the board one that any thread of the process may write, one that has a single writer; a
// figure.
#define WS_VOLATILE_WORD(kind, name, where, mpi_t, help) volatile uint64_t WS_FIELD_##kind(name);
#define WS_WORD(kind, name, where, mpi_t, help) uint64_t WS_FIELD_##kind(name);
#define WS_FIGURE(kind, name, where, mpi_t, help) WS_REPORTED_##where(double WS_FIGURE_##kind(name);)
// f(name, figure) for each of `c`.
#define WS_VISIT_FIGURE(kind, name, where, mpi_t, help) WS_REPORTED_##where(f(WS_NAME_##kind(name), c.WS_FIGURE_##kind(name));)
