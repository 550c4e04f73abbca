// SPDX-License-Identifier: MIT
//
// Chrome's trace events, for Perfetto, chrome://tracing and ws-timeline (docs/reference/ws-timeline.md). One event a
// line, so that a reader need not hold the whole file; written as it comes, so that neither need we.
#include "trace/writers.h"
#include "base/open_file.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace ws::trace {

using observe::SeatKind;

namespace {

using Json = nlohmann::ordered_json;

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', true, Json::error_handler_t::replace); }

class JsonWriter final : public TraceWriter {
public:
    JsonWriter(const TraceJob& job, const std::string& path)
        : job_(job), path_(path)
    {
        const int fd = base::open_to_write(path.c_str());
        file_ = fd < 0 ? nullptr : fdopen(fd, "w");
        if (!file_) {
            fail();
            return;
        }
        std::setvbuf(file_, nullptr, _IOFBF, 1 << 20);
        for (uint32_t i = 0; i < job.name_count; i++)
            names_.push_back(quoted(job.names[i]));
        for (uint32_t i = 0; i < job.thread_count; i++) {
            const TraceThread& t = job.threads[i];
            if (t.kind == SeatKind::home || t.kind == SeatKind::worker)
                tid_at_home_[{job.processes[t.rank].node, t.core}] = i + 1;
        }
        head();
    }

    void thread(uint32_t index, TraceEvent* events, uint64_t count) override
    {
        if (!error_.empty())
            return;
        nest(events, count);
        const TraceThread& t = job_.threads[index];
        const uint32_t node = job_.processes[t.rank].node;
        where_ = ",\"pid\":" + std::to_string(node + 1) + ",\"tid\":" + std::to_string(index + 1);
        for (uint64_t i = 0; i < count && error_.empty(); i++) {
            slice(events[i]);
            if (events[i].kind == EventKind::visit)
                arrow(events[i], node, t.core);
            if (events[i].kind == EventKind::tasks)
                arrow_of_tasks(events[i], t.rank);
            if (events[i].kind == EventKind::parallel)
                track(events[i], t.rank);
        }
    }

    const char* close() override
    {
        if (file_) {
            if (error_.empty())
                put("\n]}\n");
            if (std::fclose(file_) != 0 && error_.empty())
                error_ = std::strerror(errno);
        }
        const char* error = remember(error_);
        delete this;
        return error;
    }

private:
    void fail() { error_ = std::strerror(errno); }
    void put(const std::string& text)
    {
        if (std::fwrite(text.data(), 1, text.size(), file_) != text.size())
            fail();
    }
    void line(const std::string& text)
    {
        if (lines_++)
            put(",\n");
        put(text);
    }

    void head()
    {
        Json about = {{"workshare", job_.version},
                      {"options", job_.options},
                      {"ranks", job_.ranks},
                      {"nodes", job_.nodes},
                      {"length_ns", job_.length},
                      {"started_unix_ns", job_.began_unix},
                      {"kept", job_.keep_oldest ? "oldest" : "newest"}};
        uint64_t dropped = 0, kept = 0;
        Json processes = Json::array(), threads = Json::array();
        for (uint32_t r = 0; r < job_.ranks; r++) {
            const TraceProcess& p = job_.processes[r];
            processes.push_back({{"rank", r},
                                 {"node", p.node},
                                 {"host", p.host},
                                 {"program", p.program},
                                 {"os_pid", p.pid},
                                 {"begin_ns", p.begin},
                                 {"end_ns", p.end}});
        }
        for (uint32_t i = 0; i < job_.thread_count; i++) {
            const TraceThread& t = job_.threads[i];
            kept += t.events;
            dropped += t.dropped;
            threads.push_back({{"tid", i + 1},
                               {"rank", t.rank},
                               {"node", job_.processes[t.rank].node},
                               {"core", t.core},
                               {"kind", kind_name(t.kind)},
                               {"events", t.events},
                               {"dropped", t.dropped}});
        }
        about["events"] = kept;
        about["dropped"] = dropped;
        about["processes"] = processes;
        about["threads"] = threads;
        put("{\"schema\":\"workshare-trace/" + std::to_string(trace_format) +
            "\",\"displayTimeUnit\":\"ns\",\"otherData\":" + about.dump(-1, ' ', true, Json::error_handler_t::replace) +
            ",\n\"traceEvents\":[\n");
        // Viewers show a node's threads by core, and on a core its own rank first.
        std::map<std::array<uint32_t, 4>, uint32_t> order;
        std::map<uint32_t, std::string> nodes;
        for (uint32_t i = 0; i < job_.thread_count; i++) {
            const TraceThread& t = job_.threads[i];
            order[{t.core, t.kind == SeatKind::guest, t.rank, i}] = i;
            nodes[job_.processes[t.rank].node] = job_.processes[t.rank].host;
        }
        for (const auto& [node, host] : nodes) {
            const std::string pid = ",\"pid\":" + std::to_string(node + 1);
            line("{\"ph\":\"M\"" + pid + ",\"name\":\"process_name\",\"args\":{\"name\":" +
                 quoted("node " + std::to_string(node) + " (" + host + ")") + "}}");
            line("{\"ph\":\"M\"" + pid +
                 ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" + std::to_string(node) + "}}");
        }
        uint32_t place = 0;
        for (const auto& [key, i] : order) {
            const TraceThread& t = job_.threads[i];
            const std::string id =
                ",\"pid\":" + std::to_string(job_.processes[t.rank].node + 1) + ",\"tid\":" + std::to_string(i + 1);
            line("{\"ph\":\"M\"" + id + ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(thread_name(t)) +
                 "}}");
            line("{\"ph\":\"M\"" + id +
                 ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" + std::to_string(place++) + "}}");
        }
    }

    // Microseconds with the nanoseconds behind the point.
    void time(const char* name, int64_t ns)
    {
        text_ += name;
        char digits[24];
        text_.append(digits, std::to_chars(digits, digits + sizeof digits, ns / 1000).ptr);
        const int rest = int(ns % 1000);
        const char fraction[] = {'.', char('0' + rest / 100), char('0' + rest / 10 % 10), char('0' + rest % 10)};
        text_.append(fraction, sizeof fraction);
    }
    void number(const char* name, uint64_t value)
    {
        text_ += name;
        char digits[24];
        text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    }
    const std::string& name_of(const TraceEvent& e) const
    {
        static const std::string none = "\"?\"";
        return e.name < names_.size() ? names_[e.name] : none;
    }

    void slice(const TraceEvent& e)
    {
        text_ = "{\"ph\":\"X\"";
        text_ += where_;
        time(",\"ts\":", e.begin);
        time(",\"dur\":", e.end - e.begin);
        text_ += ",\"cat\":\"";
        text_ += kind_name(e.kind);
        text_ += "\",\"name\":";
        switch (e.kind) {
        case EventKind::mpi:
            text_ += name_of(e);
            break;
        case EventKind::lent:
            number("\"lent to rank ", e.rank);
            number("\",\"args\":{\"tenant\":", e.rank);
            text_ += '}';
            break;
        case EventKind::asleep:
            text_ += "\"asleep\",\"args\":{\"woken\":";
            text_ += e.a ? "true}" : "false}";
            break;
        case EventKind::visit:
            number("\"on the core of rank ", e.rank);
            number("\",\"args\":{\"home\":", e.rank);
            text_ += ",\"loop\":";
            text_ += name_of(e);
            if (e.b)
                number(",\"latency_ns\":", e.b);
            text_ += '}';
            break;
        case EventKind::chunk:
            text_ += name_of(e);
            number(",\"args\":{\"first\":", e.a);
            number(",\"end\":", e.b);
            text_ += '}';
            break;
        case EventKind::region:
            text_ += name_of(e);
            number(",\"args\":{\"iterations\":", e.a);
            text_ += ",\"ran\":";
            text_ += e.b == 0 ? "\"alone\"}" : e.b == 1 ? "\"shared\"}" : "\"whole\"}";
            break;
        case EventKind::phase:
            text_ += name_of(e);
            if (int64_t(e.a) != observe::named_phase)
                text_ += ",\"args\":{\"level\":" + std::to_string(int64_t(e.a)) + '}';
            break;
        case EventKind::parallel:
            number("\"parallel region of ", e.a);
            number(" threads\",\"args\":{\"threads\":", e.a);
            number(",\"lent\":", e.b);
            text_ += '}';
            break;
        case EventKind::tasks:
            text_ += e.b & 1 ? "\"tasks come" : "\"tasks go";
            number("\",\"args\":{\"tasks\":", e.a);
            number(",\"other\":", e.rank);
            number(",\"letter\":", e.b);
            text_ += '}';
            break;
        case EventKind::rows:
            number("\"rows move\",\"args\":{\"rows\":", e.a);
            number(",\"bytes\":", e.b);
            text_ += '}';
            break;
        default:
            text_ += "\"?\"";
        }
        text_ += '}';
        line(text_);
    }

    // A counter track of each rank: the threads that its parallel regions have.
    void track(const TraceEvent& e, uint32_t rank)
    {
        if (e.a == std::exchange(threads_of_[rank], e.a))
            return;
        text_ = "{\"ph\":\"C\",\"pid\":" + std::to_string(job_.processes[rank].node + 1);
        time(",\"ts\":", e.begin);
        text_ += ",\"cat\":\"cores\",\"name\":\"cores of rank " + std::to_string(rank) +
                 "\",\"args\":{\"threads\":" + std::to_string(e.a) + "}}";
        line(text_);
    }

    // From the lease on the core's own row to the guest that it is lent to.
    void arrow(const TraceEvent& visit, uint32_t node, uint32_t core)
    {
        auto home = tid_at_home_.find({node, core});
        if (home == tid_at_home_.end())
            return;
        const std::string id = std::to_string(++arrows_), pid = std::to_string(node + 1);
        text_ = "{\"ph\":\"s\",\"id\":" + id + ",\"pid\":" + pid + ",\"tid\":" + std::to_string(home->second);
        time(",\"ts\":", visit.begin);
        text_ += ",\"cat\":\"lend\",\"name\":\"lend\"}";
        line(text_);
        text_ = "{\"ph\":\"f\",\"bp\":\"e\",\"id\":" + id + where_;
        time(",\"ts\":", visit.begin);
        text_ += ",\"cat\":\"lend\",\"name\":\"lend\"}";
        line(text_);
    }

    // From the rank that gives tasks to the one that gets them; its two ends are met one after the other.
    void arrow_of_tasks(const TraceEvent& e, uint32_t rank)
    {
        const bool comes = e.b & 1;
        text_ = comes ? "{\"ph\":\"f\",\"bp\":\"e\"" : "{\"ph\":\"s\"";
        text_ +=
            ",\"id\":\"tasks " + std::to_string(comes ? e.rank : rank) + '.' + std::to_string(e.b >> 1) + '"' + where_;
        time(",\"ts\":", e.begin);
        text_ += ",\"cat\":\"tasks\",\"name\":\"tasks\"}";
        line(text_);
    }

    const TraceJob& job_;
    const std::string path_;
    FILE* file_;
    std::string error_, where_, text_;
    std::vector<std::string> names_; // quoted
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> tid_at_home_; // by node and core
    std::map<uint32_t, uint64_t> threads_of_; // in a rank's last parallel region
    uint64_t lines_ = 0, arrows_ = 0;
};

} // namespace

TraceWriter* new_json_writer(const TraceJob& job, const std::string& path) { return new JsonWriter(job, path); }

} // namespace ws::trace
