// SPDX-License-Identifier: MIT
//
// The writers of timelines on made-up logs, and the recorder's ring.
#include "made_up.h"
#include "trace/order.h"
#include "trace/writers.h"
#include "base/quiet_writes.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" const char* ws_trace_check(int, const char*);
extern "C" ws::trace::TraceWriter* ws_trace_open(const ws::trace::TraceJob&, const char*);

using namespace ws::observe;
using namespace ws::trace;
using made_up::event;

namespace {

struct Folder {
    char path[32] = "/tmp/workshare-XXXXXX";
    Folder() { REQUIRE(mkdtemp(path)); }
    ~Folder() { (void)!std::system(("rm -rf " + std::string(path)).c_str()); }
    std::string operator/(const char* name) const { return std::string(path) + "/" + name; }
};

nlohmann::json written(made_up::Job& job)
{
    Folder folder;
    const std::string file = folder / "trace.json";
    const char* error = made_up::write(job, file.c_str(), ws_trace_open);
    REQUIRE(std::string(error ? error : "") == "");
    std::ifstream in(file);
    return nlohmann::json::parse(in);
}

std::string output_of(const std::string& command, int wanted = 0)
{
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    std::string text;
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, pipe)) > 0;)
        text.append(piece, n);
    CHECK(WEXITSTATUS(pclose(pipe)) == wanted);
    return text;
}

} // namespace

TEST_CASE("events are nested: an outer one first, and what sticks out is cut")
{
    TraceEvent events[] = {
        event(10, 20, EventKind::chunk, 0),        event(20, 30, EventKind::chunk, 0),
        event(10, 30, EventKind::region, 0),       event(45, 80, EventKind::lent, no_name, 1), // outlives its MPI call
        event(40, 60, EventKind::mpi, 1),          event(0, 100, EventKind::phase, no_name),
        event(70, 65, EventKind::asleep, no_name), event(10, 10, EventKind::asleep, no_name),
    };
    nest(events, 8);
    CHECK(events[0].kind == EventKind::phase);
    CHECK(events[1].kind == EventKind::region);
    CHECK(events[2].kind == EventKind::chunk);
    int64_t now = 0;
    int depth = 0, deepest = 0, entered = 0;
    walk(
        events, 8,
        [&](const TraceEvent& e) {
            CHECK(e.begin >= now);
            now = e.begin;
            deepest = std::max(deepest, ++depth);
            entered++;
        },
        [&](const TraceEvent& e) {
            CHECK(e.end >= now);
            now = e.end;
            depth--;
            if (e.kind == EventKind::lent)
                CHECK(e.end == 60);
        });
    CHECK(entered == 8);
    CHECK(depth == 0);
    CHECK(deepest == 4); // phase, region, chunk, an empty one
}

TEST_CASE("JSON: every event once, where and when it was, and arrows from the lender to the guest")
{
    made_up::Job job;
    make(job, 4, 2, 5, true, 7);
    auto trace = written(job);
    const auto& about = trace["otherData"];
    CHECK(trace["schema"] == "workshare-trace/" + std::to_string(trace_format));
    CHECK(about["dropped"] == 7);
    CHECK(about["ranks"] == 4);
    std::map<std::string, int> kinds;
    std::map<int, nlohmann::json> threads;
    for (const auto& t : about["threads"])
        threads[t["tid"]] = t;
    std::map<int, std::pair<nlohmann::json, nlohmann::json>> arrows;
    std::set<std::tuple<int, double, int>> chunks; // rank, step, first iteration
    for (const auto& e : trace["traceEvents"]) {
        if (e["ph"] == "s")
            arrows[e["id"]].first = e;
        if (e["ph"] == "f")
            arrows[e["id"]].second = e;
        if (e["ph"] != "X")
            continue;
        const std::string kind = e["cat"];
        kinds[kind]++;
        const auto& t = threads.at(e["tid"]);
        CHECK(e["pid"] == t["node"].get<int>() + 1);
        CHECK(e["ts"].get<double>() + e["dur"].get<double>() <= 500.0);
        if (kind == "chunk")
            CHECK(chunks.insert({t["rank"], std::floor(e["ts"].get<double>() / 100), e["args"]["first"]}).second);
    }
    CHECK(kinds["chunk"] == 2 * 5 * int(made_up::kept_chunks + made_up::stolen_chunks + made_up::odd_chunks));
    CHECK(kinds["execution"] == 4 * 5);
    CHECK(kinds["mpi"] == 4 * 5);
    CHECK(kinds["lent"] == 2 * 5);
    CHECK(kinds["visit"] == 2 * 5);
    CHECK(kinds["phase"] == 4);
    CHECK(arrows.size() == 2 * 5);
    for (const auto& [id, ends] : arrows) {
        const auto &from = threads.at(ends.first["tid"]), &to = threads.at(ends.second["tid"]);
        CHECK(from["kind"] == "home");
        CHECK(to["kind"] == "guest");
        CHECK(from["core"] == to["core"]);
        CHECK(from["node"] == to["node"]);
        CHECK(from["rank"] == to["rank"].get<int>() + 1);
        CHECK(ends.first["ts"] == ends.second["ts"]);
    }
}

TEST_CASE("JSON: names with quotes, controls and bytes that are no UTF-8")
{
    made_up::Job job;
    make(job, 2, 1, 1, true);
    job.threads[0].events[0].name = 2;
    job.threads[0].events[1].name = 17; // no such name
    auto trace = written(job);
    std::set<std::string> names;
    for (const auto& e : trace["traceEvents"])
        names.insert(e["name"]);
    CHECK(names.count("he said \"\\\" \xef\xbf\xbd\n"));
    CHECK(names.count("?"));
}

TEST_CASE("OTF2: otf2-print accepts it and finds every event, twice over an older archive")
{
    Folder folder;
    const std::string file = folder / "trace.otf2";
    for (uint32_t steps : {9, 5}) { // the second must leave nothing of the first
        made_up::Job job;
        make(job, 4, 2, steps, true, 3);
        const char* error = made_up::write(job, file.c_str(), ws_trace_open);
        REQUIRE(std::string(error ? error : "") == "");
    }
    auto count = [](const std::string& text, const std::string& what) {
        int n = 0;
        for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size())
            n++;
        return n;
    };
    const std::string events = output_of("otf2-print " + file), definitions = output_of("otf2-print -G " + file);
    CHECK(count(events, "warning") + count(definitions, "warning") == 0);
    CHECK(count(events, "ENTER") == 2 * (5 * (8 + 4 + 6 + 1 + 1 + 2 + 1 + 1) + 2));
    CHECK(count(events, "ENTER") == count(events, "LEAVE"));
    CHECK(count(events, "Region: \"core lent\"") == 2 * 2 * 5);
    CHECK(count(definitions, "Class: \"node\"") == 2);
    CHECK(definitions.find("Role: BARRIER, Paradigm: \"MPI\"") != definitions.npos);
    CHECK(definitions.find("\"WORKSHARE::DROPPED\"") != definitions.npos);
    CHECK(definitions.find("File: \"double_loop.c\"") != definitions.npos);
}

TEST_CASE("a full disk and a path that cannot be written give one reason, and leave nothing")
{
    made_up::Job job;
    make(job, 2, 1, 300, true);
    CHECK(std::string(made_up::write(job, "/dev/full", ws_trace_open)) == "No space left on device");
    Folder folder;
    CHECK(std::string(ws_trace_check(trace_interface, (folder / "no/x.json").c_str())) == "No such file or directory");
    CHECK(std::string(ws_trace_check(trace_interface, (folder / "no/x.otf2").c_str())) == "No such file or directory");
    CHECK(ws_trace_check(trace_interface, (folder / "x.json").c_str()) == nullptr);
    CHECK(ws_trace_check(trace_interface, (folder / "x.otf2").c_str()) == nullptr);
    CHECK(access((folder / "x.json").c_str(), F_OK) != 0);
    CHECK(access((folder / "x.otf2").c_str(), F_OK) != 0);
    std::ofstream(folder / "y") << "a file";
    CHECK(std::string(ws_trace_check(trace_interface, (folder / "y.otf2").c_str())).find("which is a file") !=
          std::string::npos);
    CHECK(ws_trace_check(trace_interface + 1, (folder / "x.json").c_str()) != nullptr);
    // A folder that somebody uses for something else is not emptied.
    mkdir((folder / "z").c_str(), 0777);
    std::ofstream(folder / "z/data") << "mine";
    CHECK(std::string(made_up::write(job, (folder / "z.otf2").c_str(), ws_trace_open)).find("not empty") !=
          std::string::npos);
    CHECK(access((folder / "z/data").c_str(), F_OK) == 0);
}

// The process's limit of a file's size, for as long as this lives.
struct FileLimit {
    rlimit before;
    explicit FileLimit(rlim_t bytes)
    {
        getrlimit(RLIMIT_FSIZE, &before);
        const rlimit now = {bytes, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &now);
    }
    ~FileLimit() { setrlimit(RLIMIT_FSIZE, &before); }
};

TEST_CASE("a file that may not grow gives one reason, wherever the end comes")
{
    made_up::Job job;
    make(job, 2, 1, 30000, true); // more than the OTF2 library keeps back of a thread, and than it writes at once
    for (const rlim_t kilobytes : {1, 100, 1000, 4096, 5000, 9000})
        for (const char* name : {"x.json", "x.otf2"}) {
            Folder folder;
            const FileLimit limit(kilobytes << 10);
            const ws::base::QuietWrites quiet;
            const char* error = made_up::write(job, (folder / name).c_str(), ws_trace_open);
            CAPTURE(kilobytes, name);
            if (!error && kilobytes == 9000 && std::string(name) == "x.otf2")
                continue; // it fits
            REQUIRE(error);
            CHECK(std::string(error).find("too large") != std::string::npos);
        }
}

TEST_CASE("a pipe is neither waited for nor ended by a look")
{
    Folder folder;
    const std::string pipe = folder / "pipe.json";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    made_up::Job job;
    make(job, 2, 1, 300, true);
    CHECK(std::string(made_up::write(job, pipe.c_str(), ws_trace_open)) == "No such device or address");
    std::string text;
    const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    CHECK(ws_trace_check(trace_interface, pipe.c_str()) == nullptr);
    char c;
    const int writer = open(pipe.c_str(), O_WRONLY | O_NONBLOCK);
    CHECK(read(reader, &c, 1) == -1); // not an end of file
    close(writer);
    close(reader);
    std::thread drain([&] { text = output_of("cat " + pipe); });
    while (const char* error = made_up::write(job, pipe.c_str(), ws_trace_open)) // until `cat` has opened it
        REQUIRE(std::string(error) == "No such device or address");
    drain.join();
    CHECK(nlohmann::json::parse(text)["schema"] == "workshare-trace/" + std::to_string(trace_format));
    REQUIRE(mkfifo((folder / "pipe.otf2").c_str(), 0600) == 0);
    CHECK(std::string(ws_trace_check(trace_interface, (folder / "pipe.otf2").c_str())).find("needs a regular file") !=
          std::string::npos);
}

TEST_CASE("the signals of writes that fail do not reach the program, and its own do")
{
    static int handled;
    struct sigaction ours = {}, before;
    ours.sa_handler = [](int) { handled++; };
    sigaction(SIGPIPE, &ours, &before);
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    sigset_t mask_before, mask_after;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask_before);
    {
        const ws::base::QuietWrites quiet;
        CHECK(write(ends[1], "x", 1) == -1);
        CHECK(errno == EPIPE);
    }
    CHECK(errno == EPIPE);
    CHECK(handled == 0);
    pthread_sigmask(SIG_BLOCK, nullptr, &mask_after);
    for (int signal = 1; signal < NSIG; signal++)
        CHECK(sigismember(&mask_before, signal) == sigismember(&mask_after, signal));
    CHECK(write(ends[1], "x", 1) == -1);
    CHECK(handled == 1);
    // One that came while the program had it blocked is the program's.
    sigset_t pipe_signal;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
    CHECK(write(ends[1], "x", 1) == -1);
    { const ws::base::QuietWrites quiet; }
    pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
    CHECK(handled == 2);
    close(ends[1]);
    sigaction(SIGPIPE, &before, nullptr);
}

TEST_CASE("a log's ring gives the newest in order, or the oldest, and counts the rest")
{
    Event slots[4] = {};
    EventLog log = {SeatKind::home, 0, slots, 4, 0, false, false};
    auto fill = [&](uint64_t n) {
        for (log.written = 0; log.written < n; log.written++)
            if (log.written < 4 || !log.keep_oldest)
                slots[log.written % 4].begin = log.written;
    };
    fill(3);
    CHECK(log.kept() == 3);
    CHECK(log.dropped() == 0);
    CHECK(log.kept_event(2).begin == 2);
    fill(10);
    CHECK(log.kept() == 4);
    CHECK(log.dropped() == 6);
    for (uint64_t i = 0; i < 4; i++)
        CHECK(log.kept_event(i).begin == 6 + i);
    log.keep_oldest = true;
    fill(10);
    CHECK(log.dropped() == 6);
    for (uint64_t i = 0; i < 4; i++)
        CHECK(log.kept_event(i).begin == i);
}

TEST_CASE("the recorder: a thread has a log of its own and its part of the memory, and what is too much is dropped")
{
    start_recording(sizeof(Event) * 4000, 1, 20, 3, false); // 2000 at home, 50 a guest, 1000 for others
    REQUIRE(recording);
    auto run = [](SeatKind kind, unsigned core, uint64_t events) {
        std::thread([=] {
            if (kind != SeatKind::none)
                record_as(kind, core);
            for (uint64_t i = 0; i < events; i++)
                record(EventKind::chunk, i, i + 1, 7, i, i + 1);
        }).join();
    };
    run(SeatKind::home, 0, 2600);
    run(SeatKind::guest, 1, 20);
    run(SeatKind::guest, 2, 60);
    run(SeatKind::none, 0, 700); // half of it, no more
    run(SeatKind::none, 0, 30);
    for (int i = 0; i < 5; i++) // one that needs little leaves the rest to those to come
        run(SeatKind::none, 0, 40);
    stop_recording();
    CHECK(!recording);
    const auto& logs = event_logs();
    REQUIRE(logs.size() == 10);
    const uint64_t kept[] = {2000, 20, 50, 500, 30, 40, 40, 40, 40, 40},
                   dropped[] = {600, 0, 10, 200, 0, 0, 0, 0, 0, 0};
    const unsigned cores[] = {0, 1, 2, 3, 3, 3, 3, 3, 3, 3};
    for (size_t i = 0; i < 10; i++) {
        CHECK(logs[i]->kept() == kept[i]);
        CHECK(logs[i]->dropped() == dropped[i]);
        CHECK(logs[i]->core == cores[i]);
        for (uint64_t k = 0; k < kept[i]; k++)
            CHECK(logs[i]->kept_event(k).begin == dropped[i] + k);
    }
}
