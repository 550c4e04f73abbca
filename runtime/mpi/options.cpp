// SPDX-License-Identifier: MIT
#include "mpi/options.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace ws {

const std::array<const char*, 22> option_names = {"WS_ENABLE", "WS_QUIET", "WS_QUANTUM", "WS_SPIN", "WS_LINGER",
                                                  "WS_CHUNK_TIME", "WS_VICTIM", "WS_WORKERS", "WS_POLL", "WS_SCHEDULE",
                                                  "WS_CORES", "WS_STACKSIZE", "WS_CHECK", "WS_STEAL_SCHEDULE", "WS_STATS_FILE", "WS_REPORT", "WS_REPORT_FILE",
                                                  "WS_TRACE", "WS_TRACE_KEEP", "WS_TRACE_BUFFER", "WS_STEAL_ALL", "WS_CHAOS"};

namespace {

bool number(const char* name, uint64_t least, uint64_t most, uint64_t& value, std::string& error)
{
    const char* text = std::getenv(name);
    if (!text)
        return true;
    char* end;
    unsigned long long v = std::strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || v < least || v > most) {
        error = std::string(name) + "=" + text + " is not a number from " + std::to_string(least) + " to " +
                std::to_string(most);
        return false;
    }
    value = v;
    return true;
}

bool number(const char* name, unsigned least, unsigned most, unsigned& value, std::string& error)
{
    uint64_t v = value;
    bool ok = number(name, uint64_t(least), uint64_t(most), v, error);
    value = unsigned(v);
    return ok;
}

bool flag(const char* name, bool& value, std::string& error)
{
    unsigned v = value;
    bool ok = number(name, 0u, 1u, v, error);
    value = v;
    return ok;
}

bool read_workers(int& value, std::string& error)
{
    const char* text = std::getenv("WS_WORKERS");
    if (text && std::strcmp(text, "auto") == 0) {
        value = all_spare_cores;
        return true;
    }
    unsigned v = 0;
    bool ok = number("WS_WORKERS", 0u, max_node_cores, v, error);
    if (!ok)
        error += ", nor auto";
    value = int(v);
    return ok;
}

bool read_victim(unsigned& value, std::string& error)
{
    static constexpr const char* names[] = {"auto", "most", "fewest", "nearest", "random", "none"}; // as in policy/steal/victim.cpp
    const char* text = std::getenv("WS_VICTIM");
    if (!text)
        return true;
    for (unsigned i = 0; i < 6; i++)
        if (std::strcmp(text, names[i]) == 0) {
            value = i;
            return true;
        }
    error = std::string("WS_VICTIM=") + text + " is none of auto, most, fewest, nearest, random, none";
    return false;
}

bool trace(Options& o, std::string& error)
{
    auto ends_with = [](const std::string& text, const std::string& end) {
        return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
    };
    if (const char* file = std::getenv("WS_TRACE"))
        o.trace = file;
    if (!o.trace.empty() && !ends_with(o.trace, ".json") && !ends_with(o.trace, ".otf2")) {
        error = "WS_TRACE=" + o.trace + " ends in neither .json nor .otf2";
        return false;
    }
    if (const char* keep = std::getenv("WS_TRACE_KEEP")) {
        o.trace_keep_oldest = std::strcmp(keep, "oldest") == 0;
        if (!o.trace_keep_oldest && std::strcmp(keep, "newest") != 0) {
            error = std::string("WS_TRACE_KEEP=") + keep + " is neither newest nor oldest";
            return false;
        }
    }
    return number("WS_TRACE_BUFFER", 1u, 1u << 20, o.trace_buffer_mib, error);
}

std::string_view trim(std::string_view s)
{
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.front())))
        s.remove_prefix(1);
    while (!s.empty() && std::isspace(static_cast<unsigned char>(s.back())))
        s.remove_suffix(1);
    return s;
}

bool same_word(std::string_view a, const char* b)
{
    return a.size() == std::strlen(b) && strncasecmp(a.data(), b, a.size()) == 0;
}

// OMP_SCHEDULE's syntax: [modifier:]kind[,chunk], in any case, with blanks.
bool schedule(const char* name, RuntimeSchedule& value, std::string& error)
{
    const char* text = std::getenv(name);
    if (!text)
        return true;
    std::string_view rest = trim(text);
    size_t colon = rest.find(':'), comma = rest.find(',');
    bool ok = true;
    if (colon != rest.npos) { // chunks may be handed out in any order here: both modifiers are kept by that
        std::string_view modifier = trim(rest.substr(0, colon));
        ok = same_word(modifier, "monotonic") || same_word(modifier, "nonmonotonic");
        comma = comma == rest.npos ? comma : comma - colon - 1;
        rest = rest.substr(colon + 1);
    }
    static constexpr const char* kinds[] = {"auto", "static", "dynamic", "guided"}; // as in ws_schedule
    std::string_view kind = trim(rest.substr(0, comma));
    int k = 0;
    while (k < 4 && !same_word(kind, kinds[k]))
        k++;
    ok = ok && k < 4;
    if (ok && comma != rest.npos) {
        std::string chunk(trim(rest.substr(comma + 1)));
        char* end;
        errno = 0;
        value.chunk = std::strtol(chunk.c_str(), &end, 10);
        ok = k != WS_AUTO && !chunk.empty() && !*end && std::isdigit(static_cast<unsigned char>(chunk[0])) && errno == 0 &&
             value.chunk > 0;
    }
    if (!ok)
        error = std::string(name) + "=" + text + " is not a schedule such as dynamic, guided,4 or static,16 (auto takes no chunk)";
    value.kind = ws_schedule(k);
    return ok;
}

// OMP_STACKSIZE's syntax: a number and, perhaps after blanks, B, K, M, G or T; K without.
bool stack_size(uint64_t& value, std::string& error)
{
    const char* text = std::getenv("WS_STACKSIZE");
    if (!text)
        return true;
    constexpr uint64_t least = 64 << 10, most = uint64_t(1) << 40;
    const std::string number(trim(text)); // strtoull would take a sign, too
    char* end;
    errno = 0;
    const uint64_t count = std::strtoull(number.c_str(), &end, 10);
    const std::string_view unit = trim(end);
    static constexpr char units[] = "BKMGT";
    const char* found = unit.size() == 1 ? std::strchr(units, std::toupper(static_cast<unsigned char>(unit[0]))) : nullptr;
    const unsigned shift = unit.empty() ? 10 : found ? 10 * unsigned(found - units) : 0;
    if (number.empty() || !std::isdigit(static_cast<unsigned char>(number[0])) || errno || (!unit.empty() && !found) ||
        count > most >> shift || count << shift < least) {
        error = std::string("WS_STACKSIZE=") + text + " is not a size from 64K to 1T such as 512M, 4G or 65536 (KiB)";
        return false;
    }
    value = count << shift;
    return true;
}

// 0, or errno.
int why_not_writable(const char* path)
{
    struct stat s;
    if (stat(path, &s) == 0 && S_ISFIFO(s.st_mode)) // opened and closed, it would end for its reader
        return access(path, W_OK) == 0 ? 0 : errno;
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            unlink(path);
        else if (errno == EEXIST) // a link to nothing yet
            fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    }
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

// How many letters to insert, to drop, to replace or to swap with the next one make b of a. mpirun does the same for its options.
size_t letters_apart(const std::string& a, const std::string& b)
{
    std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
    for (size_t i = 0; i <= a.size(); i++)
        for (size_t j = 0; j <= b.size(); j++) {
            d[i][j] = i && j ? d[i - 1][j - 1] + (a[i - 1] != b[j - 1]) : i + j;
            if (i && j)
                d[i][j] = std::min({d[i][j], d[i - 1][j] + 1, d[i][j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a.size()][b.size()];
}

} // namespace

std::string meant_option(const std::string& misspelt)
{
    std::string nearest;
    size_t least = 4;
    for (size_t n = 0; n < option_names.size() - options_for_tests; n++) {
        const size_t apart = letters_apart(misspelt, option_names[n]);
        if (apart < least) {
            least = apart;
            nearest = option_names[n];
        }
    }
    return nearest;
}

std::string with_meant_options(const std::vector<std::string>& misspelt)
{
    std::string all;
    for (const std::string& name : misspelt) {
        const std::string meant = meant_option(name);
        all += (all.empty() ? "" : ", ") + name + (meant.empty() ? "" : " (did you mean " + meant + "?)");
    }
    return all;
}

bool can_write_files(const Options& o, std::string& error)
{
    const struct {
        const char* what;
        const std::string& path;
    } files[] = {{"report", o.report_file}, {"trace", o.trace}};
    for (const auto& f : files) {
        const int trouble = f.path.empty() ? 0 : why_not_writable(f.path.c_str());
        if (trouble) {
            error = std::string("cannot write the ") + f.what + " to " + f.path + ": " + std::strerror(trouble);
            return false;
        }
    }
    return true;
}

bool read_options(Options& o, std::string& error, std::vector<std::string>& unknown)
{
    if (!flag("WS_QUIET", o.quiet, error) || !number("WS_QUANTUM", 1, 1000000, o.quantum_us, error) ||
        !number("WS_SPIN", 0, 1000000, o.spin_us, error) || !number("WS_LINGER", 0, 1000000, o.linger_us, error) ||
        !number("WS_CHUNK_TIME", 1, 1000000, o.chunk_us, error) ||
        !read_victim(o.victim, error) || !read_workers(o.workers, error) || !flag("WS_POLL", o.poll, error) ||
        !schedule("WS_SCHEDULE", o.schedule, error) || !schedule("WS_STEAL_SCHEDULE", o.steal_schedule, error) ||
        !number("WS_CORES", 0, 1000000, o.cores, error) || !stack_size(o.stack_bytes, error) || !flag("WS_STEAL_ALL", o.steal_all, error) ||
        !number("WS_CHECK", uint64_t(0), uint64_t(5), o.check, error) ||
        !number("WS_CHAOS", uint64_t(0), ~uint64_t(0), o.chaos, error) || !flag("WS_REPORT", o.report, error) || !trace(o, error))
        return false;
    if (const char* file = std::getenv("WS_STATS_FILE"))
        o.stats_file = file;
    if (const char* file = std::getenv("WS_REPORT_FILE"))
        o.report_file = file;

    for (char** e = environ; *e; e++) {
        if (std::strncmp(*e, "WS_", 3) != 0)
            continue;
        std::string name(*e, std::strcspn(*e, "="));
        bool found = false;
        for (const char* k : option_names)
            found |= name == k;
        if (!found)
            unknown.push_back(name);
    }
    return true;
}

} // namespace ws
