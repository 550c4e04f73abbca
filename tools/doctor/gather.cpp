// SPDX-License-Identifier: MIT
#include "gather.h"

#include "directive/name_text.h"
#include "observe/board.h"

#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace doctor {

namespace {

constexpr int patience = 20; // seconds for MPI_Init and the messages of all ranks

nlohmann::json packed(const RankFacts& facts)
{
    nlohmann::json j = {{"machine", facts.machine}};
    if (facts.program)
        j["program"] = *facts.program;
    return j;
}

RankFacts unpacked(const nlohmann::json& j)
{
    RankFacts facts;
    facts.machine = j.at("machine").get<Machine>();
    if (j.contains("program"))
        facts.program = j.at("program").get<Program>();
    return facts;
}

// Bytes that are no UTF-8, of paths and variables, must not end it all.
std::string text_of(const nlohmann::json& j) { return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

// What libws shows of this process: whether it has given up.
int why_inactive()
{
    int why = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (const dirent* entry = folder ? readdir(folder) : nullptr) {
        char target[256];
        const std::string path = std::string("/proc/self/fd/") + entry->d_name;
        const ssize_t length = readlink(path.c_str(), target, sizeof target - 1);
        if (length < 0 || std::string(target, size_t(length)).find(std::string("memfd:") + ws::board_name) == std::string::npos)
            continue;
        void* mapped = mmap(nullptr, sizeof(ws::Board), PROT_READ, MAP_SHARED, std::atoi(entry->d_name), 0);
        if (mapped == MAP_FAILED)
            continue;
        const auto* board = static_cast<const ws::Board*>(mapped);
        if (board->magic == ws::board_magic && board->version == ws::board_version)
            why = int(board->inactive);
        munmap(mapped, sizeof(ws::Board));
    }
    if (folder)
        closedir(folder);
    return why;
}

[[noreturn]] void end_with(int out, const std::string& text, int code)
{
    for (size_t at = 0; at < text.size();) {
        const ssize_t n = write(out, text.data() + at, text.size() - at);
        if (n <= 0)
            break;
        at += size_t(n);
    }
    _exit(code);
}

// The child: MPI's part. Writes {"error": ...}, or {"ranks": [...]}.
[[noreturn]] void take_part(RankFacts own, int out)
{
    const auto fail = [&](const std::string& what) { end_with(out, text_of({{"error", what}}), 1); };
    const std::string library = own.machine.folder + "/../lib/libmpich.so.12";
    // What the user has set is the program's business, and may be what a finding is about: here it must not end MPI_Init.
    for (const auto& [name, value] : own.machine.environment)
        if (name.compare(0, 3, "WS_") == 0 && name != "WS_ENABLE")
            unsetenv(name.c_str());
    setenv("WS_QUIET", "1", 1);
    void* mpi = dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!mpi)
        fail(dlerror());
    const auto init = reinterpret_cast<decltype(&MPI_Init)>(dlsym(mpi, "MPI_Init"));
    const auto gather = reinterpret_cast<decltype(&MPI_Gather)>(dlsym(mpi, "MPI_Gather"));
    const auto gatherv = reinterpret_cast<decltype(&MPI_Gatherv)>(dlsym(mpi, "MPI_Gatherv"));
    const auto comm_rank = reinterpret_cast<decltype(&MPI_Comm_rank)>(dlsym(mpi, "MPI_Comm_rank"));
    const auto comm_size = reinterpret_cast<decltype(&MPI_Comm_size)>(dlsym(mpi, "MPI_Comm_size"));
    const auto finalize = reinterpret_cast<decltype(&MPI_Finalize)>(dlsym(mpi, "MPI_Finalize"));
    if (!init || !gather || !gatherv || !comm_rank || !comm_size || !finalize)
        fail(library + " lacks functions of MPI");
    if (init(nullptr, nullptr) != MPI_SUCCESS)
        fail("MPI_Init failed");
    int rank, size;
    comm_rank(MPI_COMM_WORLD, &rank);
    comm_size(MPI_COMM_WORLD, &size);
    own.machine.rank = rank;
    own.machine.size = size;
    const auto split_type = reinterpret_cast<decltype(&MPI_Comm_split_type)>(dlsym(mpi, "MPI_Comm_split_type"));
    MPI_Comm node;
    if (split_type && split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) == MPI_SUCCESS)
        comm_size(node, &own.machine.node_ranks);
    if (void* libws = dlopen("libws.so.1", RTLD_NOW | RTLD_NOLOAD)) {
        own.machine.libws_loaded = true;
        own.machine.inactive = why_inactive();
        dlclose(libws);
    }
    const std::string mine = text_of(packed(own));
    const int length = int(mine.size());
    std::vector<int> lengths(static_cast<size_t>(size)), places(lengths.size());
    gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    long total = 0;
    for (int r = 0; rank == 0 && r < size; r++) {
        places[size_t(r)] = int(total);
        total += lengths[size_t(r)];
    }
    if (total > INT_MAX)
        fail("too many ranks to gather");
    std::string all(size_t(total), ' ');
    gatherv(mine.data(), length, MPI_CHAR, &all[0], lengths.data(), places.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    nlohmann::json ranks = nlohmann::json::array();
    for (int r = 0; rank == 0 && r < size; r++)
        ranks.push_back(nlohmann::json::parse(all.substr(size_t(places[size_t(r)]), size_t(lengths[size_t(r)]))));
    finalize();
    end_with(out, text_of({{"ranks", ranks}}), 0);
}

// Everything from a pipe until its end, or for so long; what has come of the other pipe is read along.
bool read_both(int one, std::string& text, int other, std::string& rest)
{
    char part[65536];
    pollfd ends[2] = {{one, POLLIN, 0}, {other, POLLIN, 0}};
    for (const time_t until = time(nullptr) + patience; ends[0].fd >= 0;) {
        if (time(nullptr) >= until)
            return false;
        if (poll(ends, 2, 1000) <= 0)
            continue;
        for (pollfd& end : ends)
            if (end.fd >= 0 && end.revents) {
                const ssize_t n = read(end.fd, part, sizeof part);
                if (n <= 0)
                    end.fd = -1;
                else
                    (&end == ends ? text : rest).append(part, size_t(n));
            }
    }
    return true;
}

std::string first_lines(const std::string& text)
{
    std::string line = text.substr(0, text.find('\n'));
    return ws::shortened(ws::one_line(line), 200, true);
}

} // namespace

std::vector<RankFacts> gather(const RankFacts& own, bool& failed)
{
    failed = true;
    const auto alone = [&](const std::string& error) {
        std::vector<RankFacts> all;
        if (own.machine.rank == 0) {
            all.push_back(own);
            all[0].machine.mpi_error = error;
        }
        return all;
    };
    int out[2], messages[2];
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(messages, O_CLOEXEC) < 0)
        return alone(std::string("no pipe: ") + std::strerror(errno));
    const pid_t parent = getpid(), child = fork();
    if (child < 0)
        return alone(std::string("no process: ") + std::strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(out[0]);
        dup2(messages[1], 2);
        take_part(own, out[1]);
    }
    close(out[1]);
    close(messages[1]);
    std::string text, said;
    const bool in_time = read_both(out[0], text, messages[0], said);
    if (!in_time)
        kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(out[0]);
    close(messages[0]);
    if (!in_time)
        return alone("MPI_Init and the ranks' messages were not over in " + std::to_string(patience) + " s" + (said.empty() ? "" : ": " + first_lines(said)));
    const nlohmann::json answer = nlohmann::json::parse(text, nullptr, false);
    if (answer.is_discarded() || !answer.contains("ranks")) {
        const std::string what = answer.is_object() && answer.contains("error") ? answer["error"].get<std::string>()
                                 : WIFSIGNALED(status) ? std::string("MPI_Init died: ") + strsignal(WTERMSIG(status))
                                                       : "MPI_Init ended the process";
        return alone(what + (said.empty() ? "" : ": " + first_lines(said)));
    }
    failed = false;
    std::vector<RankFacts> all;
    for (const nlohmann::json& rank : answer["ranks"])
        all.push_back(unpacked(rank));
    return all;
}

} // namespace doctor
