// SPDX-License-Identifier: MIT
//
// Whether another process lives: real children, and what /proc may look like on other machines, in made-up folders.
#include "in_memory.h"
#include "lend/peers.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;
namespace fs = std::filesystem;

namespace {

// A process that does `what`, and then waits to be killed.
class Child {
public:
    explicit Child(void (*what)() = [] {})
    {
        int told[2];
        REQUIRE(pipe(told) == 0);
        pid = fork();
        REQUIRE(pid >= 0);
        if (pid == 0) {
            alarm(60);
            id = own_process();
            if (write(told[1], &id, sizeof id) != sizeof id)
                _exit(1);
            what();
            for (;;)
                pause();
        }
        REQUIRE(read(told[0], &id, sizeof id) == sizeof id);
        close(told[0]);
        close(told[1]);
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    void become_zombie() const
    {
        kill(pid, SIGKILL);
        siginfo_t info;
        REQUIRE(waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0);
    }
    void end()
    {
        if (pid <= 0)
            return;
        kill(pid, SIGKILL);
        waitpid(pid, nullptr, 0);
        pid = 0;
    }
    // As /proc/PID/stat has it.
    char state() const
    {
        std::ifstream f("/proc/" + std::to_string(pid) + "/stat");
        std::string line;
        std::getline(f, line);
        const size_t paren = line.rfind(')');
        return paren == line.npos ? '-' : line[paren + 2];
    }
    void wait_for_state(char wanted) const
    {
        for (int i = 0; i < 5000 && state() != wanted; i++)
            usleep(1000);
        REQUIRE(state() == wanted);
    }

    pid_t pid;
    ProcessId id;
};

// A /proc with what is written into it.
class Proc {
public:
    Proc() { REQUIRE(mkdtemp(folder_)); }
    ~Proc() { fs::remove_all(folder_); }
    Proc(const Proc&) = delete;
    Proc& operator=(const Proc&) = delete;
    operator const char*() const { return folder_; }
    void stat(pid_t pid, const std::string& name, char state, int threads, unsigned long long started)
    {
        const fs::path path = fs::path(folder_) / std::to_string(pid);
        fs::create_directories(path);
        std::ofstream(path / "stat") << pid << " (" << name << ") " << state
                                     << " 1 1 1 0 -1 4194304 96 0 0 0 11 2 0 0 20 0 " << threads << " 0 " << started
                                     << " 2818048 374 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n";
    }

private:
    char folder_[32] = "/tmp/process-XXXXXX";
};

void leave_by_pthread_exit()
{
    pthread_t thread;
    pthread_create(&thread, nullptr, [](void*) -> void* { for (;;) pause(); }, nullptr);
    syscall(SYS_exit, 0); // pthread_exit() would unwind the test's frames
}

} // namespace

TEST_CASE("real processes: alive, stopped, a zombie, gone", "[process]")
{
    const ProcessId own = own_process();
    REQUIRE(own.pid == getpid());
    REQUIRE(own.started != 0);
    CHECK(sight_of(own, own) == Sight::state);

    Child child;
    REQUIRE(child.id.pid == child.pid);
    REQUIRE(child.id.pid_namespace == own.pid_namespace);
    const Sight sight = sight_of(child.id, own);
    CHECK(sight == Sight::state);
    CHECK(process_alive(child.id, sight));
    kill(child.pid, SIGSTOP);
    child.wait_for_state('T');
    CHECK(process_alive(child.id, sight));
    kill(child.pid, SIGCONT);
    child.become_zombie();
    CHECK_FALSE(process_alive(child.id, sight));
    child.end();
    CHECK_FALSE(process_alive(child.id, sight));
}

TEST_CASE("a main thread that left while another goes on is no death", "[process]")
{
    Child child(leave_by_pthread_exit);
    child.wait_for_state('Z');
    const Sight sight = sight_of(child.id, own_process());
    CHECK(sight == Sight::state);
    CHECK(process_alive(child.id, sight));
    child.become_zombie();
    CHECK_FALSE(process_alive(child.id, sight));
}

TEST_CASE("a pid that was given again", "[process]")
{
    ProcessId before = own_process();
    before.started--;
    CHECK_FALSE(process_alive(before, Sight::state));
}

TEST_CASE("processes of other pid namespaces are not looked at", "[process]")
{
    const ProcessId own = own_process();
    Child child;
    ProcessId other = child.id;
    other.pid_namespace++;
    const Sight sight = sight_of(other, own);
    CHECK(sight == Sight::nothing);
    child.end();
    CHECK(process_alive(other, sight));
}

TEST_CASE("/proc hides the others: whether they exist is known", "[process]")
{
    Proc empty;
    Child child;
    const Sight sight = sight_of(child.id, own_process(), empty);
    CHECK(sight == Sight::existence);
    CHECK(process_alive(child.id, sight, empty));
    CHECK(process_alive(child.id, Sight::state, empty)); // from the middle of the job on
    child.end();
    CHECK_FALSE(process_alive(child.id, sight, empty));
}

TEST_CASE("/proc shows another pid namespace than the processes are in", "[process]")
{
    Proc foreign;
    Child child;
    foreign.stat(child.pid, "another", 'S', 1, child.id.started + 7);
    const Sight sight = sight_of(child.id, own_process(), foreign);
    CHECK(sight == Sight::existence);
    foreign.stat(child.pid, "another", 'Z', 1, child.id.started + 7);
    CHECK(process_alive(child.id, sight, foreign));
}

TEST_CASE("no /proc at all", "[process]")
{
    const ProcessId own = own_process("/nowhere");
    CHECK(own.pid == getpid());
    CHECK(own.pid_namespace == 0);
    CHECK(own.started == 0);
    Child child;
    ProcessId other = {child.pid, 0, 0};
    const Sight sight = sight_of(other, own, "/nowhere");
    CHECK(sight == Sight::nothing); // it may be in another namespace
    child.end();
    CHECK(process_alive(other, sight, "/nowhere"));
}

TEST_CASE("names and states in /proc/PID/stat", "[process]")
{
    Proc proc;
    const ProcessId own = own_process();
    auto alive = [&](const char* name, char state, int threads) {
        proc.stat(own.pid, name, state, threads, own.started);
        REQUIRE(sight_of(own, own, proc) == Sight::state);
        return process_alive(own, Sight::state, proc);
    };
    for (char state : {'R', 'S', 'D', 'T', 't', 'I', 'P'})
        CHECK(alive("name", state, 1));
    CHECK(alive("a) Z 1 (b) X", 'S', 1));
    CHECK_FALSE(alive("a) S 1 (b", 'Z', 1));
    CHECK_FALSE(alive("name", 'Z', 1));
    CHECK_FALSE(alive("name", 'X', 0));
    CHECK(alive("name", 'Z', 2));
}

TEST_CASE("more ranks than a word has bits, half of them in other pid namespaces", "[process]")
{
    constexpr unsigned ranks = 130;
    InMemory memory(ranks);
    Window window;
    memory.map(window, 0);
    for (unsigned r = 1; r < ranks; r += 2) { // of processes that are not here
        window.home(r).process.pid = 4194304;
        window.home(r).process.pid_namespace++;
    }
    Child child;
    window.home(100).process = child.id;
    Peers peers;
    peers.start(window);
    auto find = [&] {
        unsigned dead = Peers::none;
        for (unsigned looks = 0; looks <= ranks / Peers::at_once && dead == Peers::none; looks++)
            dead = peers.find_dead();
        return dead;
    };
    CHECK(find() == Peers::none);
    child.become_zombie();
    CHECK(find() == 100);
}
