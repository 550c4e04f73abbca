// SPDX-License-Identifier: MIT
//
// The module's two doors, and the names that both formats use.
#include "trace/writers.h"
#include "base/open_file.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::trace {

using observe::SeatKind;

const char* remember(const std::string& error)
{
    static std::string text;
    text = error;
    return text.empty() ? nullptr : text.c_str();
}

const char* kind_name(SeatKind kind)
{
    switch (kind) {
    case SeatKind::home: return "home";
    case SeatKind::worker: return "worker";
    case SeatKind::guest: return "guest";
    case SeatKind::none: break;
    }
    return "thread";
}

const char* kind_name(EventKind kind)
{
    switch (kind) {
    case EventKind::mpi: return "mpi";
    case EventKind::lent: return "lent";
    case EventKind::asleep: return "asleep";
    case EventKind::visit: return "visit";
    case EventKind::chunk: return "chunk";
    case EventKind::region: return "execution";
    case EventKind::phase: return "phase";
    case EventKind::parallel: return "parallel";
    case EventKind::rows: return "rows";
    case EventKind::tasks: return "tasks";
    }
    return "unknown";
}

std::string thread_name(const TraceThread& t)
{
    std::string core = "core " + std::to_string(t.core) + ": ", rank = "rank " + std::to_string(t.rank);
    return t.kind == SeatKind::home ? core + rank : core + kind_name(t.kind) + " of " + rank;
}

namespace {

bool ends_with(const std::string& text, const char* end)
{
    size_t n = std::strlen(end);
    return text.size() > n && text.compare(text.size() - n, n, end) == 0;
}

std::string folder_of(const std::string& path)
{
    size_t slash = path.rfind('/');
    return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool is_folder(const std::string& path)
{
    struct stat s;
    return stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

bool of_archive(const std::string& name) { return ends_with(name, ".evt") || ends_with(name, ".def"); }

bool has_other_files(const std::string& folder)
{
    bool found = false;
    if (DIR* d = opendir(folder.c_str())) {
        while (const dirent* e = readdir(d))
            found |= std::strcmp(e->d_name, ".") != 0 && std::strcmp(e->d_name, "..") != 0 && !of_archive(e->d_name);
        closedir(d);
    }
    return found;
}

// As opening it for writing will go, without changing what is there.
std::string check(const std::string& path)
{
    if (std::string why = ends_with(path, ".otf2") ? why_no_otf2() : ""; !why.empty())
        return why;
    struct stat s;
    if (const int error = base::why_not_writable(path.c_str()))
        return std::strerror(error);
    if (!ends_with(path, ".otf2"))
        return "";
    if (stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode))
        return "an OTF2 archive needs a regular file; for a pipe or a device name the trace FILE.json";
    const std::string folder = archive_folder(path);
    if (lstat(folder.c_str(), &s) != 0)
        return access(folder_of(path).c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
    if (!is_folder(folder))
        return "its events go into the folder " + folder + ", which is a file: choose another name";
    if (has_other_files(folder))
        return "its events go into the folder " + folder + ", which has files of yours: choose another name";
    return access(folder.c_str(), W_OK | X_OK) == 0 ? "" : folder + ": " + std::strerror(errno);
}

} // namespace

std::string archive_folder(const std::string& path) { return path.substr(0, path.size() - std::strlen(".otf2")); }

std::string clear_archive(const std::string& path)
{
    const std::string folder = archive_folder(path);
    if (DIR* d = opendir(folder.c_str())) {
        while (const dirent* e = readdir(d)) {
            if (of_archive(e->d_name))
                unlinkat(dirfd(d), e->d_name, 0);
        }
        closedir(d);
        if (rmdir(folder.c_str()) < 0)
            return folder + ": " + std::strerror(errno);
    }
    for (const std::string& file : {path, folder + ".def"})
        if (unlink(file.c_str()) < 0 && errno != ENOENT)
            return file + ": " + std::strerror(errno);
    return "";
}

} // namespace ws::trace

extern "C" __attribute__((visibility("default"))) const char* ws_trace_check(int interface, const char* path)
{
    if (interface != ws::trace::trace_interface)
        return ws::trace::remember("the module is of another version than libws");
    return ws::trace::remember(ws::trace::check(path));
}

extern "C" __attribute__((visibility("default"))) ws::trace::TraceWriter* ws_trace_open(const ws::trace::TraceJob& job,
                                                                                        const char* path)
{
    return ws::trace::ends_with(path, ".otf2") ? ws::trace::new_otf2_writer(job, path)
                                               : ws::trace::new_json_writer(job, path);
}
