// SPDX-License-Identifier: MIT
//
// Gathers the ranks' events at rank 0, one thread's after the other, and hands them to the module that writes them
// (trace/trace.h). Rank 0 holds the events of one thread at a time.
#include "mpi/trace.h"

#include "mpi/end_job.h"
#include "mpi/job.h"
#include "observe/calls.h"
#include "observe/recorder.h"
#include "trace/trace.h"
#include "base/modules.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <sched.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace ws::mpi {

using observe::CallRow;
using observe::Event;
using observe::EventKind;
using observe::EventLog;
using observe::LoopRow;
using observe::PhaseRow;
using observe::SeatKind;
using observe::start_recording;
using option::Options;
using trace::TraceEvent;
using trace::TraceOpen;
using base::ticks;

namespace {

MPI_Comm comm = MPI_COMM_NULL; // a duplicate, for the trace alone
TraceOpen open_writer;

enum Tag { tag_sync, tag_about, tag_go, tag_events };
constexpr uint64_t events_a_message = 8192; // 320 KiB

// ---- The clocks of two nodes, compared ----

struct Moment {
    uint64_t there, here; // ticks of a node's first rank and of rank 0
};
std::vector<Moment> at_begin; // rank 0: by node

// The quickest of several exchanges counts: the error of the answer's time is at most half of the exchange's duration.
Moment compare_clocks(int leader)
{
    constexpr int rounds = 16;
    Moment best = {};
    uint64_t shortest = ~uint64_t(0);
    for (int i = 0; i < rounds; i++) {
        uint64_t there, before = ticks();
        PMPI_Send(nullptr, 0, MPI_BYTE, leader, tag_sync, comm);
        PMPI_Recv(&there, 1, MPI_UINT64_T, leader, tag_sync, comm, MPI_STATUS_IGNORE);
        const uint64_t took = ticks() - before;
        if (took < shortest) {
            shortest = took;
            best = {there, before + took / 2};
        }
    }
    uint64_t end = 0;
    PMPI_Send(&end, 1, MPI_UINT64_T, leader, tag_sync, comm);
    return best;
}

void answer_clock()
{
    for (;;) {
        uint64_t now;
        int bytes;
        MPI_Status status;
        PMPI_Recv(&now, 1, MPI_UINT64_T, 0, tag_sync, comm, &status);
        PMPI_Get_count(&status, MPI_BYTE, &bytes);
        if (bytes)
            return;
        now = ticks();
        PMPI_Send(&now, 1, MPI_UINT64_T, 0, tag_sync, comm);
    }
}

std::vector<Moment> compare_all_clocks(Job& job)
{
    std::vector<int> leads(job.rank == 0 ? size_t(job.size) : 0);
    const int mine = job.board->node_rank == 0 ? job.board->node : -1;
    PMPI_Gather(&mine, 1, MPI_INT, leads.data(), 1, MPI_INT, 0, comm);
    std::vector<Moment> moments;
    if (job.rank == 0) {
        for (int r = 0; r < job.size; r++)
            if (leads[size_t(r)] >= 0) {
                moments.resize(std::max(moments.size(), size_t(leads[size_t(r)]) + 1));
                moments[size_t(leads[size_t(r)])] = r == 0 ? Moment{ticks(), 0} : compare_clocks(r);
            }
    } else if (mine >= 0)
        answer_clock();
    return moments;
}

// A node's ticks to nanoseconds of rank 0's clock, behind rank 0's attach.
class NodeClock {
public:
    NodeClock() = default;
    // For another node: a line through both moments.
    NodeClock(const Job& job, Moment begin, Moment end) : there_(begin.there), ns_(ns_of(job, begin.here))
    {
        const double passed = double(end.there - begin.there);
        rate_ = passed > 0 ? (ns_of(job, end.here) - ns_) / passed : 1e3 / job.clock.ticks_per_us();
    }
    static NodeClock own(const Job& job)
    {
        NodeClock c;
        c.there_ = job.attached_at;
        c.ns_ = 0;
        c.rate_ = 1e3 / job.clock.ticks_per_us();
        return c;
    }
    double ns(uint64_t t) const { return ns_ + double(int64_t(t - there_)) * rate_; }

private:
    static double ns_of(const Job& job, uint64_t here)
    {
        return double(int64_t(here - job.attached_at)) * 1e3 / job.clock.ticks_per_us();
    }
    uint64_t there_ = 0;
    double ns_ = 0, rate_ = 0;
};

// ---- What a rank sends before its events: fixed words, then names ----

struct About {
    uint64_t attached_at, ended_at;
    int64_t attached_unix;
    int32_t pid, node;
    uint32_t threads, names;
    char host[64], program[256], options[256];
};
struct ThreadAbout {
    uint32_t kind, core;
    uint64_t kept, dropped;
};
enum NameKind : uint32_t { loop_name, call_name, phase_name };
struct NameAbout {
    uint32_t kind, row;
    char name[192];
};
static_assert(sizeof(NameAbout::name) >= sizeof(LoopRow::name) && sizeof(NameAbout::name) >= sizeof(CallRow::name) &&
                  sizeof(NameAbout::name) >= sizeof(PhaseRow::name),
              "");

// The logs with something to tell, the home thread's first.
std::vector<EventLog*> own_logs()
{
    std::vector<EventLog*> logs;
    for (EventLog* log : observe::event_logs())
        if (log->written || log->kind == SeatKind::home)
            logs.push_back(log);
    std::stable_sort(logs.begin(), logs.end(), [](EventLog* a, EventLog* b) {
        return std::make_pair(a->kind != SeatKind::home, a->core) < std::make_pair(b->kind != SeatKind::home, b->core);
    });
    return logs;
}

template <class T> void append(std::string& to, const T& what)
{
    to.append(reinterpret_cast<const char*>(&what), sizeof what);
}

std::string own_about(Job& job, const std::vector<EventLog*>& logs, uint64_t now)
{
    std::string text;
    About about = {job.board->attached_at,
                   now,
                   job.board->attached_at_unix,
                   job.board->pid,
                   job.board->node,
                   uint32_t(logs.size()),
                   0,
                   {},
                   {},
                   {}};
    std::memcpy(about.host, job.board->host, sizeof about.host);
    std::memcpy(about.program, job.board->program, sizeof about.program);
    std::memcpy(about.options, job.board->options, sizeof about.options);
    std::string names;
    auto name = [&](NameKind kind, uint32_t row, const char* text) {
        if (!*text)
            return;
        NameAbout n = {kind, row, {}};
        std::snprintf(n.name, sizeof n.name, "%s", text);
        append(names, n);
        about.names++;
    };
    for (uint32_t i = 0; i < job.board->loop_row_count; i++)
        name(loop_name, i, job.board->loop(i).name);
    for (uint32_t i = 0; i < job.board->call_row_count; i++)
        name(call_name, i, job.board->call(i).name);
    for (uint32_t i = 1; i < job.board->phases_made; i++)
        name(phase_name, i, job.board->phase_row(i).name);
    name(phase_name, observe::phase_rows - 1, job.board->phase_row(observe::phase_rows - 1).name);
    append(text, about);
    for (const EventLog* log : logs)
        append(text, ThreadAbout{uint32_t(log->kind), uint32_t(log->core), log->kept(), log->dropped()});
    return text + names;
}

// ---- Rank 0: the whole job ----

// All that rank 0 knows of the job; `about` points into the rest.
struct Gathered {
    trace::TraceJob about = {};
    std::vector<About> ranks;
    std::vector<trace::TraceProcess> processes;
    std::vector<trace::TraceThread> threads;
    std::map<std::string, uint32_t> numbers; // of names
    std::vector<const char*> names;
    std::vector<std::map<uint64_t, uint32_t>> rows; // by rank: kind and row of a name -> its number
    std::vector<NodeClock> clocks;                  // by node
    double first_ns = 0;                            // begin of the job, on the clock of NodeClock
    uint64_t kept = 0, dropped = 0;

    int64_t ns(uint32_t rank, uint64_t t) const { return int64_t(clocks[size_t(ranks[rank].node)].ns(t) - first_ns); }
};

void take_about(Gathered& g, uint32_t rank, const std::string& text)
{
    const char* at = text.data();
    auto take = [&](auto& what) {
        std::memcpy(&what, at, sizeof what);
        at += sizeof what;
    };
    take(g.ranks[rank]);
    const About& about = g.ranks[rank];
    for (uint32_t i = 0; i < about.threads; i++) {
        ThreadAbout t;
        take(t);
        g.threads.push_back({rank, t.core, SeatKind(t.kind), t.kept, t.dropped});
        g.kept += t.kept;
        g.dropped += t.dropped;
    }
    for (uint32_t i = 0; i < about.names; i++) {
        NameAbout n;
        take(n);
        const uint32_t number = g.numbers.try_emplace(n.name, uint32_t(g.numbers.size())).first->second;
        g.rows[rank][uint64_t(n.kind) << 32 | n.row] = number;
    }
}

void gather_abouts(Job& job, Gathered& g, const std::string& own)
{
    g.ranks.resize(size_t(job.size));
    g.rows.resize(size_t(job.size));
    take_about(g, 0, own);
    for (int r = 1; r < job.size; r++) {
        PMPI_Send(nullptr, 0, MPI_BYTE, r, tag_go, comm);
        uint64_t bytes;
        PMPI_Recv(&bytes, 1, MPI_UINT64_T, r, tag_about, comm, MPI_STATUS_IGNORE);
        std::string text(bytes, '\0');
        PMPI_Recv(text.data(), int(bytes), MPI_BYTE, r, tag_about, comm, MPI_STATUS_IGNORE);
        take_about(g, uint32_t(r), text);
    }
}

void put_together(Job& job, Gathered& g, const std::vector<Moment>& at_end)
{
    for (size_t n = 0; n < at_end.size(); n++)
        g.clocks.push_back(int(n) == job.board->node ? NodeClock::own(job) : NodeClock(job, at_begin[n], at_end[n]));
    double last = 0;
    for (const About& a : g.ranks) {
        g.first_ns = std::min(g.first_ns, g.clocks[size_t(a.node)].ns(a.attached_at));
        last = std::max(last, g.clocks[size_t(a.node)].ns(a.ended_at));
    }
    for (uint32_t r = 0; r < g.ranks.size(); r++) {
        const About& a = g.ranks[r];
        g.processes.push_back(
            {uint32_t(a.node), a.pid, a.host, a.program, g.ns(r, a.attached_at), g.ns(r, a.ended_at)});
    }
    g.names.resize(g.numbers.size());
    for (const auto& [name, number] : g.numbers)
        g.names[number] = name.c_str();
    g.about = {g.processes.data(),
               uint32_t(job.size),
               uint32_t(at_end.size()),
               g.threads.data(),
               uint32_t(g.threads.size()),
               g.names.data(),
               uint32_t(g.names.size()),
               int64_t(last - g.first_ns),
               g.ranks[0].attached_unix + int64_t(g.first_ns),
               job.options.trace_keep == Options::trace_keep_oldest,
               g.ranks[0].options,
               WS_VERSION};
}

TraceEvent converted(Job& job, const Gathered& g, uint32_t rank, const Event& e)
{
    auto name = [&](NameKind kind, uint64_t row) {
        auto it = g.rows[rank].find(uint64_t(kind) << 32 | row);
        return it == g.rows[rank].end() ? trace::no_name : it->second;
    };
    TraceEvent t = {g.ns(rank, e.begin), g.ns(rank, e.end), e.kind, 0, trace::no_name, 0, e.a, e.b};
    t.begin = std::max<int64_t>(t.begin, 0);
    t.end = std::max(t.end, t.begin);
    switch (e.kind) {
    case EventKind::mpi:
        t.name = name(call_name, e.id);
        break;
    case EventKind::chunk:
    case EventKind::region:
        t.name = name(loop_name, e.id);
        break;
    case EventKind::phase:
        t.name = name(phase_name, e.id);
        break;
    case EventKind::visit:
        t.name = name(loop_name, e.a);
        t.rank = e.id;
        t.b = uint64_t(job.clock.seconds(e.b) * 1e9);
        break;
    case EventKind::lent:
    case EventKind::tasks:
        t.rank = e.id;
        break;
    default:
        break;
    }
    return t;
}

// ---- A rank's part ----

void send_log(const EventLog& log, std::vector<Event>& buffer)
{
    for (uint64_t i = 0; i < log.kept(); i += events_a_message) {
        const uint64_t n = std::min(events_a_message, log.kept() - i);
        for (uint64_t k = 0; k < n; k++)
            buffer[k] = log.kept_event(i + k);
        PMPI_Send(buffer.data(), int(n * sizeof(Event)), MPI_BYTE, 0, tag_events, comm);
    }
}

void send_all(const std::vector<EventLog*>& logs, const std::string& about)
{
    const uint64_t bytes = about.size();
    PMPI_Recv(nullptr, 0, MPI_BYTE, 0, tag_go, comm, MPI_STATUS_IGNORE);
    PMPI_Send(&bytes, 1, MPI_UINT64_T, 0, tag_about, comm);
    PMPI_Send(about.data(), int(bytes), MPI_BYTE, 0, tag_about, comm);
    PMPI_Recv(nullptr, 0, MPI_BYTE, 0, tag_go, comm, MPI_STATUS_IGNORE);
    std::vector<Event> buffer(events_a_message);
    for (const EventLog* log : logs)
        send_log(*log, buffer);
}

// Rank 0: every thread's events to the writer. What went wrong, or null.
const char* write_all(Job& job, const Gathered& g, const std::vector<EventLog*>& own)
{
    trace::TraceWriter* writer = open_writer(g.about, job.options.trace.c_str());
    std::vector<TraceEvent> events;
    std::vector<Event> buffer(events_a_message);
    uint32_t thread = 0;
    for (uint32_t rank = 0; rank < g.ranks.size(); rank++) {
        if (rank != 0)
            PMPI_Send(nullptr, 0, MPI_BYTE, int(rank), tag_go, comm);
        for (uint32_t i = 0; i < g.ranks[rank].threads; i++, thread++) {
            const uint64_t count = g.threads[thread].events;
            events.clear();
            events.reserve(count);
            for (uint64_t k = 0; rank == 0 && k < count; k++)
                events.push_back(converted(job, g, rank, own[i]->kept_event(k)));
            for (uint64_t k = 0; rank != 0 && k < count; k += events_a_message) {
                const uint64_t n = std::min(events_a_message, count - k);
                PMPI_Recv(buffer.data(), int(n * sizeof(Event)), MPI_BYTE, int(rank), tag_events, comm,
                          MPI_STATUS_IGNORE);
                for (uint64_t m = 0; m < n; m++)
                    events.push_back(converted(job, g, rank, buffer[m]));
            }
            writer->thread(thread, events.data(), events.size());
        }
    }
    return writer->close();
}

// ---- The module, at rank 0 ----

// "" or why there will be no trace.
std::string load_writer(Job& job)
{
    const std::string path = base::module_path("trace.so");
    if (path.empty())
        return "libws does not know where it was loaded from";
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module)
        return std::string("cannot load the module that writes traces: ") + dlerror();
    auto check = reinterpret_cast<trace::TraceCheck>(dlsym(module, WS_TRACE_CHECK_NAME));
    open_writer = reinterpret_cast<TraceOpen>(dlsym(module, WS_TRACE_OPEN_NAME));
    if (!check || !open_writer)
        return path + " is not a module that writes traces";
    const char* trouble = check(trace::trace_interface, job.options.trace.c_str());
    return trouble ? trouble : "";
}

void say_unwritten(Job& job, const char* trouble)
{
    std::fprintf(stderr, "workshare: error: cannot write the trace to %s: %s\n", job.options.trace.c_str(), trouble);
}

// Ranks that wait for rank 0 must leave it the cores: where ranks share cores, each of them would use up time slices in
// vain.
void wait_asleep(unsigned polls)
{
    if (polls < 100)
        sched_yield();
    else
        usleep(50);
}

} // namespace

void prepare_trace(Job& job)
{
    int wanted = !job.options.trace.empty(); // by rank 0, which writes it: options may differ, by mpirun's -env
    PMPI_Bcast(&wanted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!wanted)
        return;
    if (job.rank == 0)
        if (std::string trouble = load_writer(job); !trouble.empty()) {
            say_unwritten(job, trouble.c_str());
            end_job();
        }
    PMPI_Barrier(MPI_COMM_WORLD); // or until the job ends
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    at_begin = compare_all_clocks(job);
    start_recording(uint64_t(job.options.trace_buffer) << 20, 1 + job.board->own_workers, job.board->node_cores - 1,
                    unsigned(job.board->node_rank), job.options.trace_keep == Options::trace_keep_oldest);
    observe::record_as(SeatKind::home, unsigned(job.board->node_rank));
}

void write_trace(Job& job)
{
    if (comm == MPI_COMM_NULL)
        return;
    observe::called(nullptr, 0); // MPI_Finalize, as far as it is
    const uint64_t now = ticks();
    observe::stop_recording();
    job.clock.calibrate(); // over the whole run now
    const std::vector<Moment> at_end = compare_all_clocks(job);
    const auto before = job.hooks->blocked;
    job.hooks->blocked = wait_asleep;
    const std::vector<EventLog*> logs = own_logs();
    const std::string about = own_about(job, logs, now);
    if (job.rank != 0)
        send_all(logs, about);
    else {
        Gathered g;
        gather_abouts(job, g, about);
        put_together(job, g, at_end);
        const char* trouble = write_all(job, g, logs);
        if (trouble)
            say_unwritten(job, trouble);
        else if (g.dropped)
            std::fprintf(stderr,
                         "workshare: warning: the trace %s lacks %llu of %llu events, the %s ones; raise "
                         "-workshare-trace-buffer\n",
                         job.options.trace.c_str(), static_cast<unsigned long long>(g.dropped),
                         static_cast<unsigned long long>(g.dropped + g.kept),
                         job.options.trace_keep == Options::trace_keep_oldest ? "newest" : "oldest");
    }
    PMPI_Barrier(comm);
    job.hooks->blocked = before;
    PMPI_Comm_free(&comm);
}

} // namespace ws::mpi
