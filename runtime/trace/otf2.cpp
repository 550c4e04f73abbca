// SPDX-License-Identifier: MIT
//
// An OTF2 archive, for otf2-print, Vampir, Scalasca and ws-timeline (docs/reference/ws-timeline.md): a location group a
// rank, a location a thread, regions for MPI calls, loops, chunks and what a core is used for; what else is known of an
// event in attributes.
#include "trace/writers.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <otf2/otf2.h>

namespace ws::trace {

namespace {

constexpr uint64_t chunk_bytes = 1 << 20;
// The library collects chunks of less than this before it writes them. If that fails, it frees its buffer, writes the
// buffer all the same when the file is closed, and frees it again (OTF2 3.0): the program crashes. A chunk of this size
// is written at once.
constexpr uint64_t unbuffered_bytes = 4 << 20;
constexpr uint64_t most_event_bytes = 128; // Enter with three attributes, and Leave, take up to 90

// All events of a thread that fit into the library's buffer reach the file when it is closed, which may fail.
uint64_t event_chunk(const TraceJob& job)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < job.thread_count; i++)
        most = std::max(most, job.threads[i].events);
    return most * most_event_bytes < unbuffered_bytes ? chunk_bytes : unbuffered_bytes;
}

OTF2_FlushType flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }

// OTF2 tells of errors where they happen, on stderr; the first is what our message says.
OTF2_ErrorCode keep_error(void* first, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char* format,
                          va_list values)
{
    std::string& text = *static_cast<std::string*>(first);
    if (text.empty()) {
        char more[512] = "";
        if (format)
            std::vsnprintf(more, sizeof more, format, values);
        text = OTF2_Error_GetDescription(code);
        if (*more)
            text += std::string(": ") + more;
    }
    return code;
}

OTF2_RegionRole role_of(const std::string& mpi)
{
    auto is = [&](std::initializer_list<const char*> words) {
        for (const char* word : words)
            if (mpi == word || mpi == std::string(word) + "_init" ||
                mpi == std::string("MPI_I") + char(word[4] | 0x20) + (word + 5))
                return true;
        return false;
    };
    auto begins = [&](const char* word) { return mpi.compare(0, std::strlen(word), word) == 0; };
    if (is({"MPI_Barrier"}))
        return OTF2_REGION_ROLE_BARRIER;
    if (is({"MPI_Bcast", "MPI_Scatter", "MPI_Scatterv"}))
        return OTF2_REGION_ROLE_COLL_ONE2ALL;
    if (is({"MPI_Reduce", "MPI_Gather", "MPI_Gatherv"}))
        return OTF2_REGION_ROLE_COLL_ALL2ONE;
    if (is({"MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw",
            "MPI_Reduce_scatter", "MPI_Reduce_scatter_block"}))
        return OTF2_REGION_ROLE_COLL_ALL2ALL;
    if (is({"MPI_Scan", "MPI_Exscan"}))
        return OTF2_REGION_ROLE_COLL_OTHER;
    if (is({"MPI_Send", "MPI_Bsend", "MPI_Ssend", "MPI_Rsend", "MPI_Recv", "MPI_Sendrecv", "MPI_Sendrecv_replace",
            "MPI_Mrecv", "MPI_Probe", "MPI_Mprobe"}) ||
        begins("MPI_Wait") || begins("MPI_Test"))
        return OTF2_REGION_ROLE_POINT2POINT;
    if (begins("MPI_Win_") ||
        is({"MPI_Put", "MPI_Get", "MPI_Accumulate", "MPI_Get_accumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap"}))
        return OTF2_REGION_ROLE_RMA;
    if (begins("MPI_File_"))
        return OTF2_REGION_ROLE_FILE_IO;
    return OTF2_REGION_ROLE_FUNCTION;
}

enum Attribute : OTF2_AttributeRef {
    tenant,
    home,
    loop,
    latency,
    first,
    end,
    iterations,
    ran,
    woken,
    level_of,
    threads_of,
    lent_of,
    rows_of,
    bytes_of,
    tasks_of,
    other_of,
    letter_of,
    attributes
};

class Otf2Writer final : public TraceWriter {
public:
    Otf2Writer(const TraceJob& job, const std::string& path) : job_(job), written_(job.thread_count)
    {
        OTF2_Error_RegisterCallback(keep_error, &error_);
        if (std::string trouble = clear_archive(path); !trouble.empty()) {
            error_ = trouble;
            return;
        }
        const std::string folder = archive_folder(path);
        const size_t slash = folder.rfind('/');
        const std::string where = slash == folder.npos ? "." : slash == 0 ? "/" : folder.substr(0, slash);
        archive_ = OTF2_Archive_Open(where.c_str(), folder.substr(slash + 1).c_str(), OTF2_FILEMODE_WRITE,
                                     event_chunk(job), unbuffered_bytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
        if (!archive_)
            return;
        static const OTF2_FlushCallbacks flushing = {flush, nullptr};
        OTF2_Archive_SetFlushCallbacks(archive_, &flushing, nullptr);
        OTF2_Archive_SetSerialCollectiveCallbacks(archive_);
        OTF2_Archive_SetCreator(archive_, (std::string("Workshare ") + job.version).c_str());
        OTF2_Archive_SetDescription(archive_, job.options);
        uint64_t dropped = 0;
        for (uint32_t i = 0; i < job.thread_count; i++)
            dropped += job.threads[i].dropped;
        property("WORKSHARE::FORMAT", std::to_string(trace_format));
        property("WORKSHARE::VERSION", job.version);
        property("WORKSHARE::OPTIONS", job.options);
        property("WORKSHARE::KEPT", job.keep_oldest ? "oldest" : "newest");
        property("WORKSHARE::DROPPED", std::to_string(dropped));
        OTF2_Archive_OpenEvtFiles(archive_);
        OTF2_Archive_OpenDefFiles(archive_);
        values_ = OTF2_AttributeList_New();
    }

    void thread(uint32_t index, TraceEvent* events, uint64_t count) override
    {
        if (!error_.empty())
            return;
        nest(events, count);
        OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_, location(index));
        if (!writer)
            return;
        walk(
            events, count,
            [&](const TraceEvent& e) {
                attach(e);
                if (error_.empty())
                    OTF2_EvtWriter_Enter(writer, values_, OTF2_TimeStamp(e.begin), region(e));
            },
            [&](const TraceEvent& e) {
                if (error_.empty())
                    OTF2_EvtWriter_Leave(writer, nullptr, OTF2_TimeStamp(e.end), region(e));
            });
        OTF2_EvtWriter_GetNumberOfEvents(writer, &written_[index]);
        OTF2_Archive_CloseEvtWriter(archive_, writer);
        if (OTF2_DefWriter* none = OTF2_Archive_GetDefWriter(archive_, location(index))) // all definitions are global
            OTF2_Archive_CloseDefWriter(archive_, none);
    }

    const char* close() override
    {
        if (archive_) {
            if (error_.empty())
                definitions();
            OTF2_Archive_CloseEvtFiles(archive_);
            OTF2_Archive_CloseDefFiles(archive_);
            OTF2_Archive_Close(archive_);
        }
        if (values_)
            OTF2_AttributeList_Delete(values_);
        OTF2_Error_RegisterCallback(nullptr, nullptr);
        const char* error = remember(error_);
        delete this;
        return error;
    }

private:
    void property(const char* name, const std::string& value)
    {
        OTF2_Archive_SetProperty(archive_, name, value.c_str(), true);
    }

    // As other tools number them: the rank, and above that the thread within it.
    OTF2_LocationRef location(uint32_t index) const
    {
        uint32_t of_rank = 0;
        for (uint32_t i = index; i > 0 && job_.threads[i - 1].rank == job_.threads[index].rank; i--)
            of_rank++;
        return uint64_t(of_rank) << 32 | job_.threads[index].rank;
    }

    // Regions are numbered as they come up: a kind, and a name where the kind has several.
    OTF2_RegionRef region(const TraceEvent& e)
    {
        const bool named = e.kind == EventKind::mpi || e.kind == EventKind::region || e.kind == EventKind::chunk ||
                           e.kind == EventKind::phase;
        const uint64_t which = named ? e.name : 0;
        return regions_.try_emplace({e.kind, which}, OTF2_RegionRef(regions_.size())).first->second;
    }

    void add(Attribute attribute, uint64_t value) { OTF2_AttributeList_AddUint64(values_, attribute, value); }

    void attach(const TraceEvent& e)
    {
        OTF2_AttributeList_RemoveAllAttributes(values_);
        switch (e.kind) {
        case EventKind::lent:
            add(tenant, e.rank);
            break;
        case EventKind::asleep:
            add(woken, e.a);
            break;
        case EventKind::visit:
            add(home, e.rank);
            if (e.b)
                add(latency, e.b);
            if (e.name < job_.name_count)
                OTF2_AttributeList_AddStringRef(values_, loop, string(job_.names[e.name]));
            break;
        case EventKind::chunk:
            add(first, e.a);
            add(end, e.b);
            break;
        case EventKind::region:
            add(iterations, e.a);
            OTF2_AttributeList_AddStringRef(values_, ran, string(e.b == 0 ? "alone" : e.b == 1 ? "shared" : "whole"));
            break;
        case EventKind::phase:
            if (int64_t(e.a) != observe::named_phase)
                OTF2_AttributeList_AddInt64(values_, level_of, int64_t(e.a));
            break;
        case EventKind::parallel:
            add(threads_of, e.a);
            add(lent_of, e.b);
            break;
        case EventKind::rows:
            add(rows_of, e.a);
            add(bytes_of, e.b);
            break;
        case EventKind::tasks:
            add(tasks_of, e.a);
            add(other_of, e.rank);
            add(letter_of, e.b);
            break;
        case EventKind::mpi:
            break;
        }
    }

    // Strings are numbered as they come up, too; 0 is the empty one.
    OTF2_StringRef string(const std::string& text)
    {
        return text.empty() ? 0 : strings_.try_emplace(text, OTF2_StringRef(strings_.size() + 1)).first->second;
    }

    // ---- definitions, when all events are written

    void definitions()
    {
        definer_ = OTF2_Archive_GetGlobalDefWriter(archive_);
        if (!definer_)
            return;
        OTF2_GlobalDefWriter_WriteClockProperties(definer_, 1000000000, 0, uint64_t(job_.length),
                                                  uint64_t(job_.began_unix));
        define_strings_of_events();
        OTF2_GlobalDefWriter_WriteParadigm(definer_, OTF2_PARADIGM_MPI, text("MPI"), OTF2_PARADIGM_CLASS_PROCESS);
        OTF2_GlobalDefWriter_WriteParadigm(definer_, OTF2_PARADIGM_USER, text("Workshare"),
                                           OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT);
        define_attributes();
        define_nodes();
        define_ranks();
        define_threads();
        define_communicator();
        std::vector<std::pair<EventKind, uint64_t>> in_order(regions_.size());
        for (const auto& [what, ref] : regions_)
            in_order[ref] = what;
        for (OTF2_RegionRef ref = 0; ref < in_order.size(); ref++)
            define_region(in_order[ref].first, in_order[ref].second, ref);
        OTF2_Archive_CloseGlobalDefWriter(archive_, definer_);
    }

    // Returns the number of a string, and defines the string if it is new.
    OTF2_StringRef text(const std::string& s)
    {
        const size_t before = strings_.size();
        const OTF2_StringRef ref = string(s);
        if (strings_.size() > before)
            OTF2_GlobalDefWriter_WriteString(definer_, ref, s.c_str());
        return ref;
    }

    // Defines the strings that attach() has numbered.
    void define_strings_of_events()
    {
        OTF2_GlobalDefWriter_WriteString(definer_, 0, "");
        std::vector<const char*> attached(strings_.size());
        for (const auto& [s, ref] : strings_)
            attached[ref - 1] = s.c_str();
        for (size_t i = 0; i < attached.size(); i++)
            OTF2_GlobalDefWriter_WriteString(definer_, OTF2_StringRef(i + 1), attached[i]);
    }

    void define_attributes()
    {
        static const struct {
            const char *name, *says;
            OTF2_Type type;
        } known[attributes] = {
            {"tenant", "MPI rank that the core is lent to", OTF2_TYPE_UINT64},
            {"home", "MPI rank whose core the guest is on", OTF2_TYPE_UINT64},
            {"loop", "of which the guest runs iterations", OTF2_TYPE_STRING},
            {"latency_ns", "from the claim to the guest's first iteration; absent if it had stayed", OTF2_TYPE_UINT64},
            {"first", "iteration of the chunk, counted from 0", OTF2_TYPE_UINT64},
            {"end", "the iteration behind the chunk's last", OTF2_TYPE_UINT64},
            {"iterations", "of the loop", OTF2_TYPE_UINT64},
            {"ran", "alone: by chunks, but nobody helped; shared; whole: too short for chunks, or nobody may help",
             OTF2_TYPE_STRING},
            {"woken", "1: by somebody; 0: the time was up", OTF2_TYPE_UINT64},
            {"level", "of MPI_Pcontrol", OTF2_TYPE_INT64},
            {"threads", "of a parallel region", OTF2_TYPE_UINT64},
            {"lent", "of them: on lent cores", OTF2_TYPE_UINT64},
            {"rows", "that move, of all processes", OTF2_TYPE_UINT64},
            {"bytes", "that this process sends and receives", OTF2_TYPE_UINT64},
            {"tasks", "that go or come", OTF2_TYPE_UINT64},
            {"other", "MPI rank that they go to or come from", OTF2_TYPE_UINT64},
            {"letter", "of the sender, twice its number; 1 more where they come", OTF2_TYPE_UINT64},
        };
        for (unsigned a = 0; a < attributes; a++)
            OTF2_GlobalDefWriter_WriteAttribute(definer_, a, text(known[a].name), text(known[a].says), known[a].type);
    }

    void define_nodes()
    {
        std::map<uint32_t, const char*> hosts;
        for (uint32_t r = 0; r < job_.ranks; r++)
            hosts[job_.processes[r].node] = job_.processes[r].host;
        constexpr OTF2_SystemTreeNodeRef machine = 0; // its nodes follow
        OTF2_GlobalDefWriter_WriteSystemTreeNode(definer_, machine, text("job"), text("machine"),
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
        for (const auto& [node, host] : hosts) {
            OTF2_GlobalDefWriter_WriteSystemTreeNode(definer_, node + 1, text(host), text("node"), machine);
            OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(definer_, node + 1, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
        }
    }

    void define_ranks()
    {
        for (uint32_t r = 0; r < job_.ranks; r++) {
            const TraceProcess& p = job_.processes[r];
            OTF2_GlobalDefWriter_WriteLocationGroup(definer_, r, text("MPI Rank " + std::to_string(r)),
                                                    OTF2_LOCATION_GROUP_TYPE_PROCESS, p.node + 1,
                                                    OTF2_UNDEFINED_LOCATION_GROUP);
            auto say = [&](const char* name, OTF2_Type type, OTF2_AttributeValue value) {
                OTF2_GlobalDefWriter_WriteLocationGroupProperty(definer_, r, text(name), type, value);
            };
            OTF2_AttributeValue value;
            value.stringRef = text(p.program);
            say("WORKSHARE::PROGRAM", OTF2_TYPE_STRING, value);
            value.int64 = p.begin;
            say("WORKSHARE::BEGIN_NS", OTF2_TYPE_INT64, value);
            value.int64 = p.end;
            say("WORKSHARE::END_NS", OTF2_TYPE_INT64, value);
        }
    }

    void define_threads()
    {
        for (uint32_t i = 0; i < job_.thread_count; i++) {
            const TraceThread& t = job_.threads[i];
            OTF2_GlobalDefWriter_WriteLocation(definer_, location(i), text(thread_name(t)),
                                               OTF2_LOCATION_TYPE_CPU_THREAD, written_[i], t.rank);
            auto say = [&](const char* name, uint64_t n) {
                OTF2_AttributeValue value;
                value.uint64 = n;
                OTF2_GlobalDefWriter_WriteLocationProperty(definer_, location(i), text(name), OTF2_TYPE_UINT64, value);
            };
            OTF2_AttributeValue value;
            value.stringRef = text(kind_name(t.kind));
            OTF2_GlobalDefWriter_WriteLocationProperty(definer_, location(i), text("WORKSHARE::KIND"), OTF2_TYPE_STRING,
                                                       value);
            say("WORKSHARE::NODE", job_.processes[t.rank].node);
            say("WORKSHARE::CORE", t.core);
            say("WORKSHARE::DROPPED", t.dropped);
        }
    }

    // Defines MPI_COMM_WORLD: its members are places in a group, which has each rank's first thread.
    void define_communicator()
    {
        std::vector<uint64_t> homes(job_.ranks), members(job_.ranks);
        for (uint32_t r = 0; r < job_.ranks; r++) {
            homes[r] = r; // location() of a rank's first thread
            members[r] = r;
        }
        OTF2_GlobalDefWriter_WriteGroup(definer_, 0, text("MPI"), OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                        OTF2_GROUP_FLAG_NONE, job_.ranks, homes.data());
        OTF2_GlobalDefWriter_WriteGroup(definer_, 1, text("MPI_COMM_WORLD"), OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, job_.ranks, members.data());
        OTF2_GlobalDefWriter_WriteComm(definer_, 0, text("MPI_COMM_WORLD"), 1, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
    }

    void define_region(EventKind kind, uint64_t which, OTF2_RegionRef ref)
    {
        const std::string named = which < job_.name_count ? job_.names[which] : "?";
        std::string name, file;
        OTF2_RegionRole role = OTF2_REGION_ROLE_ARTIFICIAL;
        OTF2_Paradigm paradigm = OTF2_PARADIGM_USER;
        uint32_t line = 0;
        switch (kind) {
        case EventKind::mpi:
            name = named;
            role = role_of(name);
            paradigm = OTF2_PARADIGM_MPI;
            break;
        case EventKind::region:
        case EventKind::chunk: {
            name = kind == EventKind::chunk ? "chunk of " + named : named;
            role = kind == EventKind::chunk ? OTF2_REGION_ROLE_CODE : OTF2_REGION_ROLE_LOOP;
            const size_t colon = named.find(':');
            if (colon != named.npos && (line = uint32_t(std::strtoul(named.c_str() + colon + 1, nullptr, 10))) > 0)
                file = named.substr(0, colon);
            break;
        }
        case EventKind::phase:
            name = named;
            role = OTF2_REGION_ROLE_CODE;
            break;
        case EventKind::visit: name = "guest"; break;
        case EventKind::lent: name = "core lent"; break;
        case EventKind::asleep: name = "asleep"; break;
        case EventKind::parallel:
            name = "parallel region";
            role = OTF2_REGION_ROLE_PARALLEL;
            break;
        case EventKind::rows: name = "rows move"; break;
        case EventKind::tasks: name = "tasks move"; break;
        }
        // The canonical name is the loop's for its chunks, too; the description is the kind, which ws-timeline goes by.
        const OTF2_StringRef shown = text(name), canonical = kind == EventKind::chunk ? text(named) : shown;
        OTF2_GlobalDefWriter_WriteRegion(definer_, ref, shown, canonical, text(kind_name(kind)), role, paradigm,
                                         OTF2_REGION_FLAG_NONE, text(file), line, 0);
    }

    const TraceJob& job_;
    std::string error_;
    OTF2_Archive* archive_ = nullptr;
    OTF2_AttributeList* values_ = nullptr;
    OTF2_GlobalDefWriter* definer_ = nullptr; // in definitions()
    std::vector<uint64_t> written_; // by thread
    std::map<std::pair<EventKind, uint64_t>, OTF2_RegionRef> regions_;
    std::map<std::string, OTF2_StringRef> strings_;
};

} // namespace

std::string why_no_otf2() { return ""; }

TraceWriter* new_otf2_writer(const TraceJob& job, const std::string& path) { return new Otf2Writer(job, path); }

} // namespace ws::trace
