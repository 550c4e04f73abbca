// SPDX-License-Identifier: MIT
//
// The node book with real processes: each stands for a job.
#include "book/book.h"
#include "../window/in_memory.h"
#include "base/lift.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ws::base;
using namespace ws::window;
using namespace ws::book;

namespace {

// What open_book() takes for /proc: this process and its children alone. Jobs that run beside the test keep a book
// alive, and with it what the jobs of earlier cases have left there.
class Processes {
public:
    Processes()
    {
        if (!mkdtemp(folder_) || chmod(folder_, 0755) != 0) // another user looks, too
            std::abort();
        add(getpid());
    }
    ~Processes() // of this process alone: children end by signals
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    void add(pid_t pid) { std::filesystem::create_directory_symlink("/proc/" + std::to_string(pid), entry(pid)); }
    void remove(pid_t pid) { std::filesystem::remove(entry(pid)); }
    const char* folder() const { return folder_; }

private:
    std::string entry(pid_t pid) const { return folder_ + ("/" + std::to_string(pid)); }
    char folder_[32] = "/tmp/book-test-XXXXXX";
} processes;

Opened open_own_book(std::string& problem) { return open_book(problem, processes.folder()); }

// A child that runs `body` and then waits until it is killed.
class Child {
public:
    explicit Child(const std::function<void(int out)>& body)
    {
        int up[2];
        REQUIRE(pipe(up) == 0);
        pid = fork();
        if (pid == 0) {
            for (const int s : {SIGTERM, SIGABRT, SIGSEGV}) // not by Catch's handlers
                signal(s, SIG_DFL);
            close(up[0]);
            alarm(20);
            processes.add(getpid());
            body(up[1]);
            for (;;)
                pause();
        }
        close(up[1]);
        in_ = up[0];
    }
    uint64_t answer() const
    {
        uint64_t value = 0;
        REQUIRE(read(in_, &value, sizeof value) == sizeof value);
        return value;
    }
    bool says_more() const
    {
        pollfd more = {in_, POLLIN, 0};
        return poll(&more, 1, 0) > 0;
    }
    void end(int signal = SIGTERM)
    {
        if (pid <= 0)
            return;
        kill(pid, signal);
        waitpid(pid, nullptr, 0);
        processes.remove(pid);
        close(in_);
        pid = 0;
    }
    ~Child() { end(); }
    Child(const Child&) = delete;
    pid_t pid;

private:
    int in_;
};

void tell(int out, uint64_t value) { (void) !write(out, &value, sizeof value); }

uint64_t inode_of(int fd)
{
    struct stat s = {};
    fstat(fd, &s);
    return s.st_ino;
}

Reader* join_as(uint64_t job, CpuMask mask)
{
    std::string problem;
    auto* reader = new Reader; // until the process ends
    return reader->join(open_own_book(problem), own_process(), job, 0, mask) ? reader : nullptr;
}

} // namespace

TEST_CASE("jobs on the same CPUs see each other, come and go")
{
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000, 3001})));
    CHECK(problem == "");
    CHECK(reader.neighbours(cpus({3000, 3001})).empty());
    Flag before = reader.changes();
    {
        Child same([](int out) { tell(out, join_as(1, cpus({3000})) != nullptr); }), other([](int out) {
            Reader* r = join_as(2, cpus({3001, 3002}));
            r->show_busy(false);
            tell(out, 1);
        }), elsewhere([](int out) { tell(out, join_as(3, cpus({3003})) != nullptr); });
        CHECK(same.answer());
        CHECK(other.answer());
        CHECK(elsewhere.answer());
        CHECK(reader.changes() != before);
        before = reader.changes();
        const auto neighbours = reader.neighbours(cpus({3000, 3001}));
        REQUIRE(neighbours.size() == 1); // neither the same job nor one on other CPUs is a neighbour
        CHECK(neighbours[0].job == 2);
        CHECK(neighbours[0].process.pid == other.pid);
        CHECK(neighbours[0].mask.mask().has(3002));
        CHECK_FALSE(neighbours[0].is_busy());
        other.end(SIGKILL);
        CHECK(reader.drop_dead(neighbours));
        CHECK(reader.changes() != before);
        CHECK(reader.neighbours(cpus({3000, 3001})).empty());
    }
    reader.leave();
    CHECK_FALSE(reader.joined());
}

TEST_CASE("a neighbour that sleeps is not busy, whatever it said last, and one that computes is")
{
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    Child sleeps([](int out) { tell(out, join_as(2, cpus({3000})) != nullptr); });
    Child computes([](int out) {
        tell(out, join_as(3, cpus({3000})) != nullptr);
        for (volatile unsigned turn = 0;; turn = turn + 1) {
        }
    });
    REQUIRE((sleeps.answer() && computes.answer()));
    const auto neighbours = reader.neighbours(cpus({3000}));
    REQUIRE(neighbours.size() == 2);
    const Neighbour& idle = neighbours[neighbours[0].job == 2 ? 0 : 1];
    const Neighbour& busy = neighbours[neighbours[0].job == 2 ? 1 : 0];
    CHECK(idle.is_busy()); // nothing is known yet
    for (const double until = seconds_now() + 5; idle.is_busy() && seconds_now() < until;) {
        usleep(20000);
        REQUIRE(busy.is_busy());
    }
    CHECK_FALSE(idle.is_busy());
    kill(computes.pid, SIGSTOP);
    for (const double until = seconds_now() + 5; busy.is_busy() && seconds_now() < until;)
        usleep(20000);
    CHECK_FALSE(busy.is_busy());
    kill(computes.pid, SIGCONT);
    for (const double until = seconds_now() + 5; !busy.is_busy() && seconds_now() < until;)
        usleep(20000);
    CHECK(busy.is_busy());
    reader.leave();
}

TEST_CASE("jobs that start at once have one book, and so has one that comes when the first have gone")
{
    for (int round = 0; round < 20; round++) {
        const auto start = [](int out) {
            std::string problem;
            const Opened opened = open_own_book(problem);
            auto* reader = new Reader;
            const uint64_t inode = inode_of(opened.fd);
            tell(out, reader->join(opened, own_process(), uint64_t(getpid()), 0, cpus({3000})) ? inode : 0);
        };
        Child a(start), b(start), c(start), d(start);
        const uint64_t inode = a.answer();
        CHECK(inode != 0);
        CHECK(b.answer() == inode);
        CHECK(c.answer() == inode);
        CHECK(d.answer() == inode);
        a.end(SIGKILL);
        b.end();
        Child e(start);
        CHECK(e.answer() == inode);
    }
}

TEST_CASE("the processes of a job come to the book of their first")
{
    Child first([](int out) {
        std::string problem;
        const Opened opened = open_own_book(problem);
        auto* reader = new Reader;
        tell(out, uint64_t(opened.fd));
        tell(out, reader->join(opened, own_process(), 7, 0, cpus({3000})));
    });
    const int fd = int(first.answer());
    CHECK(first.answer());
    Reader reader;
    CHECK(reader.join(open_book_of(first.pid, fd), own_process(), 8, 1, cpus({3000})));
    CHECK(reader.neighbours(cpus({3000})).size() == 1);
    reader.leave();
    CHECK(open_book_of(first.pid, 987).fd < 0);
    CHECK_FALSE(reader.join({}, own_process(), 8, 1, cpus({3000})));
}

TEST_CASE("what is no book is passed over, and named")
{
    for (const bool right_size : {false, true}) {
        Child foreign([&](int out) {
            const int fd = fcntl(memfd_create(file_name, MFD_ALLOW_SEALING), F_DUPFD, 100);
            show_process();
            tell(out, ftruncate(fd, right_size ? off_t(sizeof(Book)) : 100) == 0);
        });
        CHECK(foreign.answer());
        std::string problem;
        Reader reader;
        CHECK(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
        CHECK(problem.find(" of process " + std::to_string(foreign.pid) + ",") != std::string::npos);
        reader.leave();
    }
    // A book whose making began and will never end: readers wait for it for a moment only.
    Child unmade([](int out) {
        const int fd = fcntl(memfd_create(file_name, MFD_ALLOW_SEALING), F_DUPFD, 100);
        show_process();
        tell(out, ftruncate(fd, off_t(sizeof(Book))) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
        tell(out, inode_of(fd));
    });
    CHECK(unmade.answer());
    const uint64_t inode = unmade.answer();
    // A process that waits for it must not show it to others: it would live as long as any process waits.
    Child waits([](int out) {
        tell(out, 1);
        std::string problem;
        open_own_book(problem).close();
    });
    CHECK(waits.answer());
    bool shown = false;
    for (int i = 0; i < 100; i++) {
        usleep(1000);
        for (int fd = first_lifted; fd < first_lifted + 8; fd++) {
            const std::string path = "/proc/" + std::to_string(waits.pid) + "/fd/" + std::to_string(fd);
            const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
            shown |= file >= 0 && inode_of(file) == inode;
            if (file >= 0)
                close(file);
        }
    }
    CHECK_FALSE(shown);
    std::string problem;
    Reader reader;
    CHECK(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    CHECK_FALSE(problem.empty());
    reader.leave();
}

TEST_CASE("another user's book is none of ours, and not worth a word")
{
    Child theirs([](int out) {
        if (setuid(65534)) {
            tell(out, 0);
            return;
        }
        tell(out, join_as(9, cpus({3000})) != nullptr);
    });
    if (!theirs.answer())
        return; // only root can be another
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    CHECK(problem == "");
    CHECK(reader.neighbours(cpus({3000})).empty());
    reader.leave();
}

namespace {

int answers; // where the handler below writes

// A file named as the book, on which this process holds a lease. A process that opens it for writing breaks the lease
// and waits until it is given up. Its number is written to `out`.
void lend_a_name(int out, bool gives_up)
{
    answers = out;
    static bool keeps;
    keeps = !gives_up;
    show_process();
    struct sigaction action = {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
        tell(answers, 2);
        if (!keeps)
            fcntl(info->si_fd, F_SETLEASE, F_UNLCK);
    };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGRTMIN, &action, nullptr);
    const int made = memfd_create(file_name, 0);
    const int low = open(("/proc/self/fd/" + std::to_string(made)).c_str(), O_RDONLY);
    const int fd = fcntl(low, F_DUPFD, 100);
    close(low);
    close(made);
    fcntl(fd, F_SETSIG, SIGRTMIN);
    tell(out, fcntl(fd, F_SETLEASE, F_RDLCK) == 0);
}

double seconds_to_open()
{
    const double begin = seconds_now();
    std::string problem;
    const Opened opened = open_own_book(problem);
    CHECK(opened.fd >= 0);
    opened.close();
    return seconds_now() - begin;
}

} // namespace

TEST_CASE("another user's files are not opened, whatever they are named")
{
    for (const int dumpable : {1, 0}) { // without it, /proc says that the process is root's
        Child theirs([&](int out) {
            show_process(); // as one of this user's
            if (setuid(65534) != 0 || prctl(PR_SET_DUMPABLE, dumpable) != 0)
                tell(out, 0);
            else
                lend_a_name(out, true);
        });
        if (!theirs.answer())
            return; // only root can be another
        seconds_to_open();
        CHECK_FALSE(theirs.says_more());
    }
}

TEST_CASE("a lease on a file named as the book holds nobody up")
{
    Child own([](int out) { lend_a_name(out, false); });
    REQUIRE(own.answer());
    CHECK(seconds_to_open() < 10); // the kernel would wait for 45 s
}

TEST_CASE("books that others are making at the same time are no trouble")
{
    std::vector<std::unique_ptr<Child>> children;
    for (int c = 0; c < 6; c++)
        children.push_back(std::make_unique<Child>([](int out) {
            uint64_t troubles = 0;
            for (int i = 0; i < 60; i++) {
                std::string problem;
                const Opened opened = open_own_book(problem);
                troubles += opened.fd < 0 || !problem.empty();
                opened.close();
            }
            tell(out, troubles);
        }));
    for (auto& child : children)
        CHECK(child->answer() == 0);
}

TEST_CASE("a book is waited for that can be seen from its first moment, as its maker has no low number free")
{
    Child maker([](int out) {
        // The numbers up to ours are taken. It may be seen empty, then without seals, then without its stamp.
        while (dup(0) < ws::base::first_lifted)
            ;
        const int fd = memfd_create(file_name, MFD_ALLOW_SEALING);
        show_process();
        auto* book = new Book;
        book->magic_ = magic;
        book->version_ = version;
        book->pages_ = page_count;
        book->bytes = sizeof(Book);
        tell(out, uint64_t(fd));
        usleep(5000);
        (void) !ftruncate(fd, off_t(sizeof(Book)));
        usleep(5000);
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
        usleep(5000);
        book->stamp = 1; // earlier than all others
        (void) !pwrite(fd, book, sizeof(Book), 0);
    });
    CHECK(maker.answer() > uint64_t(ws::base::first_lifted));
    std::string problem;
    const Opened opened = open_own_book(problem);
    CHECK(problem == "");
    Flag stamp = 0;
    CHECK(pread(opened.fd, &stamp, sizeof stamp, offsetof(Book, stamp)) == ssize_t(sizeof stamp));
    CHECK(stamp == 1);
    opened.close();
}

TEST_CASE("a number that passes from a book to another file is no trouble")
{
    Child changes([](int out) {
        std::string problem;
        const int book = open_own_book(problem).fd, other = memfd_create("other", 0), number = 80;
        tell(out, 1);
        for (;;) {
            dup2(book, number);
            dup2(other, number);
        }
    });
    CHECK(changes.answer());
    for (int i = 0; i < 400; i++) {
        std::string problem;
        const Opened opened = open_own_book(problem);
        REQUIRE(problem == "");
        opened.close();
    }
}

TEST_CASE("pages are used again")
{
    const auto own = own_process();
    std::string problem;
    Reader keeper;
    REQUIRE(keeper.join(open_own_book(problem), own, 1, 0, cpus({3000})));
    for (unsigned i = 0; i < 2 * page_count; i++) {
        Reader reader;
        REQUIRE(reader.join(open_own_book(problem), own, 2, 0, cpus({3000})));
        reader.leave();
    }
    CHECK(keeper.neighbours(cpus({3000})).empty());
    keeper.leave();
}

// ---- cores that jobs lend each other

namespace {

// A job of one process that offers its CPUs and is at rest, or computes.
void offer(int out, uint64_t job, std::initializer_list<int> list, bool busy = false)
{
    Reader* r = join_as(job, cpus(list));
    r->show_busy(busy);
    tell(out, r->share(list));
}

// All that there are, of jobs that are at rest.
std::vector<SharedCore*> cores_at_rest(const Reader& reader)
{
    std::vector<SharedCore*> cores;
    bool leaving;
    for (const Lenders& l : reader.lenders(leaving))
        if (Reader::at_rest(l, ticks(), 0))
            cores.insert(cores.end(), l.cores.begin(), l.cores.end());
    return cores;
}

} // namespace

TEST_CASE("cores are lent by jobs at rest that share, and by no others")
{
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    REQUIRE(reader.share({3000}));
    CHECK(cores_at_rest(reader).empty()); // not its own
    Child rests([](int out) { offer(out, 2, {3001, 3002}); });
    Child computes([](int out) { offer(out, 3, {3003}, true); });
    Child keeps([](int out) {
        Reader* r = join_as(4, cpus({3004}));
        r->show_busy(false);
        tell(out, 1);
    });
    CHECK((rests.answer() && computes.answer() && keeps.answer()));
    auto cores = cores_at_rest(reader);
    REQUIRE(cores.size() == 2);
    CHECK(cores[0]->cpu == 3001);
    CHECK(cores[1]->cpu == 3002);

    // A job that does not share comes to one of those CPUs.
    {
        Child comes([](int out) { tell(out, join_as(5, cpus({3002})) != nullptr); });
        CHECK(comes.answer());
        cores = cores_at_rest(reader);
        REQUIRE(cores.size() == 1);
        CHECK(cores[0]->cpu == 3001);
    }
    // One that shares and computes there.
    Child other([](int out) { offer(out, 6, {3001}, true); });
    CHECK(other.answer());
    CHECK(cores_at_rest(reader).size() == 1); // 3002 again: who had come has gone
    reader.leave();
}

TEST_CASE("a core that is lent is one borrower's, until it gives it back or dies")
{
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    Child lender([](int out) { offer(out, 2, {3001}); });
    REQUIRE(lender.answer());
    const auto cores = cores_at_rest(reader);
    REQUIRE(cores.size() == 1);
    const Hardware::Word with = reader.take(*cores[0]);
    REQUIRE(with);
    const auto try_it = [](int out) {
        Reader* r = join_as(3, cpus({3003}));
        const auto found = cores_at_rest(*r);
        tell(out, found.size() == 1 && r->take(*found[0]));
    };
    Child second(try_it);
    CHECK_FALSE(second.answer());
    reader.give_back(*cores[0], with, 7);
    CHECK(cores[0]->used == 7);
    Child third(try_it);
    CHECK(third.answer());
    CHECK_FALSE(reader.take(*cores[0]));
    third.end(SIGKILL);
    CHECK(cores_at_rest(reader).size() == 1); // and finds out that it has died
    CHECK(reader.take(*cores[0]));
    reader.leave();
}

TEST_CASE("cores of a job that has ended stay, until they are another's")
{
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    Child first([](int out) { offer(out, 2, {3001}, true); });
    REQUIRE(first.answer());
    CHECK(cores_at_rest(reader).empty());
    const Flag before = reader.changes();
    first.end(SIGKILL);
    bool leaving;
    (void) reader.lenders(leaving); // finds out
    CHECK(reader.changes() != before);
    CHECK(cores_at_rest(reader).size() == 1);
    // The next job takes the page, and with it what was left.
    Child next([](int out) {
        Reader* r = join_as(5, cpus({3001}));
        tell(out, r != nullptr);
    });
    CHECK(next.answer());
    CHECK(cores_at_rest(reader).empty());
    reader.leave();
}

// ---- a book that somebody else writes into

namespace {

// Writes all over the book until it is killed: what rows have already, and words that are wrong in every place.
[[noreturn]] void scribble(int fd, unsigned seed)
{
    const Mapping mapping = map(fd, read_write, sizeof(Book));
    auto* const words = at<volatile uint32_t>(mapping);
    std::minstd_rand random(seed);
    const size_t head = offsetof(Book, changes) / 4, pages = offsetof(Book, page) / 4,
                 cores = offsetof(Book, core) / 4, all = sizeof(Book) / 4;
    constexpr uint32_t values[] = {~0u, 0, 1, 2, 3000, 0x7fffffff, 0x80000000, page_count, page_count + 1, 0xdeadbeef};
    for (;;) {
        const size_t where[] = {head + random() % 4, pages + random() % 2048, cores + random() % 2048,
                                random() % all};
        const size_t at = where[random() % 4];
        if (at >= head) // the head is looked at once, when the book is joined
            words[at] = values[random() % std::size(values)];
    }
}

} // namespace

TEST_CASE("a book into which somebody writes at random neither kills nor stops its readers")
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        Reader reader;
        std::string problem;
        REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
        reader.share({3000});
        Child lender([](int out) { offer(out, 2, {3001, 3002}); });
        REQUIRE(lender.answer());
        const int fd = reader.fd();
        Child scribbles([&](int out) {
            tell(out, 1);
            scribble(fd, seed);
        });
        REQUIRE(scribbles.answer());
        const double begin = seconds_now();
        unsigned looks = 0;
        for (; seconds_now() - begin < 0.5 && looks < 2000; looks++) {
            bool leaving;
            for (const Neighbour& n : reader.neighbours(cpus({3000, 3001})))
                (void) n.is_busy();
            for (const Lenders& l : reader.lenders(leaving)) {
                (void) Reader::at_rest(l, ticks(), 0);
                for (SharedCore* core : l.cores) {
                    REQUIRE((Reader::cpu_of(*core) >= -1 && Reader::cpu_of(*core) < 4096));
                    if (const Hardware::Word with = reader.take(*core))
                        reader.give_back(*core, with, 1);
                }
            }
            (void) reader.used_by_others();
            std::string ignored;
            Reader other;
            if (other.join(open_own_book(ignored), own_process(), 3, 0, cpus({3001})) && other.share({3001}))
                other.leave();
        }
        CHECK(looks > 0);
        reader.leave();
    }
}

TEST_CASE("a user that no page can have does not keep a core")
{
    Reader reader;
    std::string problem;
    REQUIRE(reader.join(open_own_book(problem), own_process(), 1, 0, cpus({3000})));
    Child lender([](int out) { offer(out, 2, {3001}); });
    REQUIRE(lender.answer());
    const auto cores = cores_at_rest(reader);
    REQUIRE(cores.size() == 1);
    for (const Flag user : {Flag(page_count + 1), Flag(0x7fffffff), ~Flag(0)}) {
        cores[0]->user = user;
        const Hardware::Word with = reader.take(*cores[0]);
        CHECK(with);
        reader.give_back(*cores[0], with, 0);
    }
    cores[0]->cpu = 1 << 30;
    CHECK(Reader::cpu_of(*cores[0]) == -1);
    reader.leave();
}
