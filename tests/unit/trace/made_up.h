// SPDX-License-Identifier: MIT
//
// A job that never ran, of a known shape: pairs of ranks on cores of their own. In each step of 100 us the even rank
// runs its loop, the odd one half as much and then waits in MPI_Barrier, with its core lent to the even one.
#pragma once

#include "trace/trace.h"
#include <string>
#include <vector>

namespace made_up {

struct Thread {
    ws::trace::TraceThread about;
    std::vector<ws::trace::TraceEvent> events;
};

struct Job {
    ws::trace::TraceJob about = {};
    std::vector<ws::trace::TraceProcess> processes;
    std::vector<Thread> threads;
    std::vector<ws::trace::TraceThread> abouts;
    std::vector<const char*> names = {"double_loop.c:32 run_slice", "MPI_Barrier", "he said \"\\\" \xff\n"};
};

inline ws::trace::TraceEvent event(int64_t begin, int64_t end, ws::observe::EventKind kind, uint32_t name,
                                   uint32_t rank = 0, uint64_t a = 0, uint64_t b = 0)
{
    return {begin, end, kind, 0, name, rank, a, b};
}

constexpr unsigned kept_chunks = 8, stolen_chunks = 4, odd_chunks = 6;
constexpr int64_t step = 100000;

inline void add_process(Job& job, uint32_t node, uint32_t nodes, uint32_t steps)
{
    job.processes.push_back({node, int32_t(1000 + job.processes.size()),
                             nodes > 1 ? (node ? "host-b" : "host-a") : "host-a", "./double_loop", 0,
                             int64_t(steps) * step});
}

inline void finish(Job& job, uint32_t nodes, uint32_t steps, const char* options)
{
    for (Thread& t : job.threads) {
        t.about.events = t.events.size();
        job.abouts.push_back(t.about);
    }
    job.about = {job.processes.data(),
                 uint32_t(job.processes.size()),
                 nodes,
                 job.abouts.data(),
                 uint32_t(job.abouts.size()),
                 job.names.data(),
                 uint32_t(job.names.size()),
                 int64_t(steps) * step,
                 1700000000000000000,
                 false,
                 options,
                 "0.0.1"};
}

// Ranks of parallel regions: in each step the even ones have one of 6 threads for 90 us, 2 of them on lent cores, the
// odd ones one of 4 threads for 50 us; then they wait.
inline void make_parallel(Job& job, uint32_t ranks, uint32_t steps)
{
    using ws::observe::EventKind;
    for (uint32_t r = 0; r < ranks; r++) {
        add_process(job, 0, 1, steps);
        Thread home = {{r, r, ws::observe::SeatKind::home, 0, 0}, {}};
        for (uint32_t s = 0; s < steps; s++) {
            const int64_t t = s * step, end = t + (r % 2 ? 50000 : 90000);
            home.events.push_back(
                event(t, end, EventKind::parallel, ws::trace::no_name, 0, r % 2 ? 4 : 6, r % 2 ? 0 : 2));
            home.events.push_back(event(end, t + step, EventKind::mpi, 1));
        }
        job.threads.push_back(home);
    }
    finish(job, 1, steps, "WS_OPENMP=auto");
}

// Ranks on nodes of their own that compute, and give tasks around: in each step rank r sends the next one 10 r + 5 of
// them in a letter, which takes 10 us.
inline void make_tasks(Job& job, uint32_t ranks, uint32_t steps)
{
    using ws::observe::EventKind;
    for (uint32_t r = 0; r < ranks; r++) {
        add_process(job, r, ranks, steps);
        Thread home = {{r, 0, ws::observe::SeatKind::home, 0, 0}, {}};
        const uint32_t before = (r + ranks - 1) % ranks;
        for (uint32_t s = 0; s < steps; s++) {
            const int64_t t = s * step;
            home.events.push_back(event(t + 10000, t + 12000, EventKind::tasks, ws::trace::no_name, (r + 1) % ranks,
                                        10 * r + 5, 2 * s));
            home.events.push_back(event(t + 20000, t + 21000, EventKind::tasks, ws::trace::no_name, before,
                                        10 * before + 5, 2 * s + 1));
        }
        job.threads.push_back(home);
    }
    finish(job, ranks, steps, "");
}

// `ranks` is even; they lie on `nodes` nodes by turns of pairs. A rank's events are in the order of their ends, as
// libws records them.
inline void make(Job& job, uint32_t ranks, uint32_t nodes, uint32_t steps, bool shared, uint64_t dropped = 0)
{
    using ws::observe::EventKind;
    using ws::observe::SeatKind;
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t node = r / 2 % nodes, core = r / 2 / nodes * 2 + r % 2;
        add_process(job, node, nodes, steps);
        Thread home = {{r, core, SeatKind::home, 0, r == 0 ? dropped : 0}, {}},
               guest = {{r, core + 1, SeatKind::guest, 0, 0}, {}};
        for (uint32_t s = 0; s < steps; s++) {
            const int64_t t = s * step;
            if (r % 2 == 0) {
                const int64_t end = t + (shared ? 90000 : 98000), chunk = (end - t) / kept_chunks;
                for (unsigned c = 0; c < kept_chunks; c++)
                    home.events.push_back(
                        event(t + c * chunk, t + (c + 1) * chunk, EventKind::chunk, 0, 0, c * 10, c * 10 + 10));
                home.events.push_back(
                    event(t, t + kept_chunks * chunk, EventKind::region, 0, 0, shared ? 120 : 80, shared));
                home.events.push_back(event(end, t + step, EventKind::mpi, 1));
                if (shared) {
                    for (unsigned c = 0; c < stolen_chunks; c++)
                        guest.events.push_back(event(t + 51000 + c * 9000, t + 60000 + c * 9000, EventKind::chunk, 0, 0,
                                                     80 + c * 10, 90 + c * 10));
                    guest.events.push_back(event(t + 51000, t + 87000, EventKind::visit, 0, r + 1, 0, 3000));
                }
            } else {
                for (unsigned c = 0; c < odd_chunks; c++)
                    home.events.push_back(
                        event(t + c * 8000, t + (c + 1) * 8000, EventKind::chunk, 0, 0, c * 10, c * 10 + 10));
                home.events.push_back(event(t, t + 48000, EventKind::region, 0, 0, 60, 0));
                if (shared)
                    home.events.push_back(event(t + 50000, t + 88000, EventKind::lent, ws::trace::no_name, r - 1));
                home.events.push_back(event(t + 48000, t + step, EventKind::mpi, 1));
            }
        }
        home.events.push_back(event(0, int64_t(steps) * step, EventKind::phase, ws::trace::no_name, 0, 1));
        job.threads.push_back(home);
        if (!guest.events.empty())
            job.threads.push_back(guest);
    }
    finish(job, nodes, steps, shared ? "" : "WS_VICTIM=none");
}

// Null or what went wrong.
inline const char* write(Job& job, const char* path, ws::trace::TraceOpen open)
{
    ws::trace::TraceWriter* writer = open(job.about, path);
    for (uint32_t i = 0; i < job.threads.size(); i++)
        writer->thread(i, job.threads[i].events.data(), job.threads[i].events.size());
    return writer->close();
}

} // namespace made_up
