// SPDX-License-Identifier: MIT
//
// What libws hands to the module that writes timelines, lib/workshare/trace.so. A module of its own, loaded by rank 0
// alone and only under -workshare-trace: other runs load no OTF2. Plain data, as the two are linked on their own.
#pragma once

#include "observe/recorder.h"

namespace ws::trace {

// The version of the interface below; the module refuses another one.
constexpr int trace_interface = 2;
// The version of the files' content: written into both formats, checked by ws-timeline (docs/reference/ws-timeline.md).
constexpr int trace_format = 2;

constexpr uint32_t no_name = ~0u;

struct TraceProcess { // one a rank
    uint32_t node;
    int32_t pid;
    const char *host, *program;
    int64_t begin, end; // ns since the job's begin
};

struct TraceThread {
    uint32_t rank, core; // core: row of its node's table
    observe::SeatKind kind;
    uint64_t events, dropped;
};

struct TraceJob {
    const TraceProcess* processes;
    uint32_t ranks, nodes;
    const TraceThread* threads; // by rank; a rank's home first
    uint32_t thread_count;
    const char* const* names; // of loops, MPI functions and phases
    uint32_t name_count;
    int64_t length;     // ns
    int64_t began_unix; // ns since 1970
    bool keep_oldest;
    const char* options; // of the run, as the verdict's reader would want to know them
    const char* version; // Workshare's
};

// As Event, in nanoseconds since the job's begin and with names of the whole job.
struct TraceEvent {
    int64_t begin, end;
    observe::EventKind kind;
    uint16_t spare;
    uint32_t name; // mpi, chunk, region, phase; visit: the loop
    uint32_t rank; // lent: the tenant; visit: whose core it is
    uint64_t a, b; // visit: b in ns
};

// Whatever fails is kept as one line of text; calls after that do nothing.
class TraceWriter {
public:
    // All events of the job's thread number `thread`, in any order; they are put in order in place.
    virtual void thread(uint32_t thread, TraceEvent* events, uint64_t count) = 0;
    // Ends the file and frees the writer. Null if all is well, else what went wrong (kept by the module).
    virtual const char* close() = 0;

protected:
    ~TraceWriter() = default;
};

// What the module exports. Whether the file can be written: null, or what is wrong. Leaves nothing behind.
#define WS_TRACE_CHECK_NAME "ws_trace_check"
using TraceCheck = const char* (*)(int interface, const char* path);
// The format is chosen by the path's end. `job` is used until close().
#define WS_TRACE_OPEN_NAME "ws_trace_open"
using TraceOpen = TraceWriter* (*)(const TraceJob& job, const char* path);

} // namespace ws::trace
