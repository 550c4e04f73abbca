// SPDX-License-Identifier: MIT
//
// What a run came to: the ranks' counters put together, the summary that the job prints, and the same as JSON.
#pragma once

#include "observe/report.h"
#include <string>
#include <vector>

namespace ws::observe {

// A job's totals. Times in seconds, summed over the ranks unless said otherwise.
struct Totals {
    double ranks, nodes, alone_on_node; // ranks that share their node with no other
    double wall;                        // attach to detach, the longest
    double idle;                        // blocked in MPI and outside of it, lent time included
    double lent;                        // of it: cores of ranks lent; not of workers, which always want more
    double stolen;                      // guests computing
    double regions, regions_off, regions_shared, regions_joined;
    double iterations_stolen, chunks_stolen;
    double lends, lost, recalls, rings, refusals, moves, guests_refused, guests_barred;
    double close_wait;
    double sleeps, sleep, wakes; // naps of blocked ranks and idle workers, time, and how many were ended by somebody
    double workers, worker_chunks; // of chunks_stolen: taken by the owner's own workers
    double unpaid_regions;         // run unshared as sharing their loop had not paid
    double inactive; // ranks that run without stealing (their node's window could not be made)
    double stolen_home; // of stolen: on the cores of blocked ranks, not on workers'
    double computing, loops; // not in MPI (beyond the spin); of it in ws loops
    double refused[refusal_kinds]; // of idle: seconds by Refusal
    double kept_off; // of computing: the rank had something to compute, but no CPU
    double polls; // calls of MPI_Test and its like that found nothing, without WS_POLL
    double crowded; // how many ranks are on nodes with more ranks than CPUs
    double outside_mpi; // of idle: ws_wait_begin, or calls under -workshare-waits
};
constexpr int totals_count = sizeof(Totals) / sizeof(double);

constexpr int unknown_jobs = -1;

// What cannot be seen from the sums.
struct Facts {
    std::vector<LoopFigures> loops; // of the job, those that took most time
    std::vector<CallFigures> calls; // of the job, those that most was waited in
    double lag = 0;                 // by how much longer the job would have lasted without stealing
    // Time that nobody could help with, summed over the ranks, less what the rank with least of it had, as all ranks
    // have that: the others wait for the rest.
    double outside = 0;             // outside of ws loops
    double unshared = 0;            // in executions of ws loops that were not shared
    // The rank that computed most outside of ws loops.
    struct Rank {
        double rank, outside, computing;
    } serial = {};
    double parallel_s = 0;          // in parallel regions of OpenMP, where none is shared but could be; of all ranks
    double parallel_tasks_s = 0;    // in those of them that have put tasks
    unsigned virtual_threads = 0;   // V, where the program runs as with V threads; 0: it does not
    bool gain_is_unknown = false;   // threads of shared regions waited for each other, or had very short chunks
    std::string why_inactive;       // explains Totals::inactive
    // How many jobs of one rank the launcher made of one command, because it did not tell its processes of each other
    // in a way that this MPI knows; unknown_jobs: nor how many they are; 0: this is none of such jobs.
    int jobs_of_one = 0;
    bool pmix = false;              // the launcher told them by PMIx
    bool pmi = false;               // the launcher is an mpirun that told them by PMI
    bool is_open_mpi = false;       // this MPI knows PMIx and no PMI; else PMI
    bool other_jobs = false;        // some rank shared its CPUs with other jobs of this user
    bool helps_nobody = false;      // -workshare-victim none
    std::vector<std::string> policies; // what they did, a line of the summary each
    std::vector<CoresFrom> cores; // of this rank's parallel regions, over time
    // What other programs used of the node where that was most: a share of the time of one CPU, or, where ranks share
    // them, of all its CPUs.
    struct Others {
        double share, cpu, cpus; // cpu: -1: all
    } others = {0, -1, 0};
};

struct Verdict {
    std::vector<std::string> lines; // the summary: the result, then what was used, the cause, notes and hints
    std::string reason;             // why nothing, or next to nothing, was stolen; else empty
    std::string rest;               // what most of the waiting that stealing left comes from; empty if that is little
    double speedup; // about how much longer it would have lasted without stealing; 1 if that is not known

    std::string line() const; // in one line, for files
    std::string text() const; // for people: each line begins with "workshare:" and has at most 100 columns
};
Verdict judge(const Totals& totals, const Facts& facts);

// How many times as fast the job could have been if all that was computed had been shared out evenly: all cores compute
// whenever one does.
double most_speedup(const Totals& totals);

// The loop that most was stolen from, or nothing.
std::string top_loop(const Facts& facts);

// What WS_STATS_FILE gets, of the version `workshare`: docs/reference/stats.schema.json.
constexpr char stats_schema[] = "workshare-stats/2";
std::string to_json(const Totals& totals, const Verdict& verdict, const Facts& facts, const char* workshare);

} // namespace ws::observe
