// SPDX-License-Identifier: MIT
#include "gather.h"

#include "abi/name_text.h"
#include "base/mapping.h"
#include "observe/board.h"

#include <climits>
#include <cstdint>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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

// As MessagePack, which takes any bytes: paths and variables may have some that are no UTF-8.
using Bytes = std::vector<std::uint8_t>;

// What libws shows of this process: whether it has given up, and for how many ranks its window is. That may be more
// than MPI says, where MPI shares no memory.
void read_board(Machine& machine)
{
    DIR* folder = opendir("/proc/self/fd");
    while (const dirent* entry = folder ? readdir(folder) : nullptr) {
        char target[256];
        const std::string path = std::string("/proc/self/fd/") + entry->d_name;
        const ssize_t length = readlink(path.c_str(), target, sizeof target - 1);
        if (length < 0 || std::string(target, size_t(length)).find(std::string("memfd:") + ws::observe::board_name) ==
                              std::string::npos)
            continue;
        const ws::base::Mapping mapping =
            ws::base::map(std::atoi(entry->d_name), ws::base::read_only, sizeof(ws::observe::Board));
        const auto* const board = ws::base::at<const ws::observe::Board>(mapping);
        if (board && board->magic == ws::observe::board_magic && board->version == ws::observe::board_version)
            machine.inactive = int(board->inactive), machine.node_ranks = int(board->node_ranks);
    }
    if (folder)
        closedir(folder);
}

[[noreturn]] void end_with(int out, const nlohmann::json& answer, int code)
{
    const Bytes bytes = nlohmann::json::to_msgpack(answer);
    for (size_t at = 0; at < bytes.size();) {
        const ssize_t n = write(out, bytes.data() + at, bytes.size() - at);
        if (n <= 0)
            break;
        at += size_t(n);
    }
    _exit(code);
}

// The child: MPI's part. Writes {"error": ...}, or {"ranks": [...]}.
[[noreturn]] void take_part(RankFacts own, int out)
{
    const auto fail = [&](const std::string& what) { end_with(out, {{"error", what}}, 1); };
    const std::string library = own.machine.folder + "/../lib/libmpich.so.12";
    // The user's WS_ variables are meant for the program, and a finding may be that one is wrong: here they must not
    // end MPI_Init.
    for (const auto& [name, value] : own.machine.environment)
        if ((name.compare(0, 3, "WS_") == 0 && name != "WS_ENABLE") || name.compare(0, 9, "WORKSHARE") == 0)
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
        read_board(own.machine);
        dlclose(libws);
    }
    const Bytes mine = nlohmann::json::to_msgpack(packed(own));
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
    Bytes all(static_cast<size_t>(total));
    gatherv(mine.data(), length, MPI_BYTE, all.data(), lengths.data(), places.data(), MPI_BYTE, 0, MPI_COMM_WORLD);
    nlohmann::json ranks = nlohmann::json::array();
    for (int r = 0; rank == 0 && r < size; r++)
        ranks.push_back(nlohmann::json::from_msgpack(all.begin() + places[size_t(r)],
                                                     all.begin() + places[size_t(r)] + lengths[size_t(r)]));
    finalize();
    end_with(out, {{"ranks", ranks}}, 0);
}

// One direction of what the child and mpirun say to each other, line by line. An MPI_Init that fails asks mpirun to
// kill the job, and with it the process that could say why: that line is not passed on.
class Relay {
public:
    Relay(int from, int to) : from_(from), to_(to) {}
    int from() const { return from_; }
    bool aborts() const { return aborts_; }
    void pass()
    {
        char part[4096];
        const ssize_t n = read(from_, part, sizeof part);
        if (n <= 0) {
            from_ = -1;
            return;
        }
        kept_.append(part, size_t(n));
        for (size_t end; (end = kept_.find('\n')) != std::string::npos; kept_.erase(0, end + 1)) {
            if (kept_.compare(0, 9, "cmd=abort") == 0) {
                aborts_ = true;
                continue;
            }
            for (size_t at = 0; at <= end;) {
                const ssize_t written = write(to_, kept_.data() + at, end + 1 - at);
                if (written <= 0)
                    break;
                at += size_t(written);
            }
        }
    }

private:
    int from_, to_;
    std::string kept_;
    bool aborts_ = false;
};

// Reads a pipe until its end, or for so long. Meanwhile it reads what comes from the other pipe, and listens to mpirun.
bool read_both(int one, std::string& text, int other, std::string& rest, int child, int mpirun)
{
    char part[65536];
    Relay up(child, mpirun), down(mpirun, child);
    pollfd ends[4] = {{one, POLLIN, 0}, {other, POLLIN, 0}, {child, POLLIN, 0}, {mpirun, POLLIN, 0}};
    for (const time_t until = time(nullptr) + patience; ends[0].fd >= 0;) {
        if (time(nullptr) >= until)
            return false;
        ends[2].fd = up.from();
        ends[3].fd = down.from();
        if (poll(ends, 4, up.aborts() ? 0 : 1000) <= 0) {
            if (up.aborts())
                return true; // and has said all it has to say
            continue;
        }
        for (pollfd& end : ends) {
            if (end.fd < 0 || !end.revents)
                continue;
            if (&end - ends >= 2) {
                (&end == ends + 2 ? up : down).pass();
                continue;
            }
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
    if (const size_t said = line.find("ERROR"); said != std::string::npos) // UCX's, behind the time and the place
        line.erase(0, line.find_first_not_of(' ', said + 5));
    return ws::abi::shortened(ws::abi::one_line(line), 200, true);
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
    int out[2], messages[2], talk[2] = {-1, -1};
    const char* named = std::getenv("PMI_FD");
    const int mpirun = named ? std::atoi(named) : -1;
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(messages, O_CLOEXEC) < 0 ||
        (named && socketpair(AF_UNIX, SOCK_STREAM, 0, talk) < 0))
        return alone(std::string("cannot create a pipe: ") + std::strerror(errno));
    const pid_t parent = getpid(), child = fork();
    if (child < 0)
        return alone(std::string("cannot create a process: ") + std::strerror(errno));
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        close(out[0]);
        dup2(messages[1], 1); // UCX's messages go there
        dup2(messages[1], 2);
        if (named) {
            setenv("PMI_FD", std::to_string(talk[1]).c_str(), 1);
            close(talk[0]);
            close(mpirun);
        }
        take_part(own, out[1]);
    }
    close(out[1]);
    close(messages[1]);
    if (named)
        close(talk[1]);
    std::string text, said;
    const bool in_time = read_both(out[0], text, messages[0], said, talk[0], mpirun);
    const nlohmann::json answer = nlohmann::json::from_msgpack(text, true, false);
    const bool answered = !answer.is_discarded() && answer.contains("ranks");
    if (!answered) {
        kill(child, SIGKILL);
        // mpirun must see this process end well: else it would kill the others, and perhaps rank 0 before it has said
        // anything.
        const char goodbye[] = "cmd=finalize\n";
        if (named && write(mpirun, goodbye, sizeof goodbye - 1) > 0) {
            pollfd answers = {mpirun, POLLIN, 0};
            poll(&answers, 1, 1000);
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    close(out[0]);
    close(messages[0]);
    if (named)
        close(talk[0]);
    if (!in_time)
        return alone("MPI_Init and the ranks' messages did not finish within " + std::to_string(patience) + " s" +
                     (said.empty() ? "" : ": " + first_lines(said)));
    if (!answered) {
        const std::string what = answer.is_object() && answer.contains("error") ? answer["error"].get<std::string>()
                                 : WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL
                                     ? std::string("MPI_Init died: ") + strsignal(WTERMSIG(status))
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
