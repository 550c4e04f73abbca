// SPDX-License-Identifier: MIT
#include "book/book.h"

#include "base/lift.h"
#include "base/open_file.h"
#include "base/sealed_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace ws::book {

using base::CpuMask;
using base::Mapping;
using base::Sight;
using base::lift;

// Making a book takes microseconds, and many time slices on a crowded machine. A process that takes longer was stopped,
// and its book is passed over.
constexpr unsigned book_patience_us = 200000, book_look_us = 100;

namespace {

// How often one call looks for pages of dead processes. In a book that is in order the second look finds none.
constexpr unsigned most_looks = 4;

// What the names of this user's signs begin with. The process's number follows.
std::string sign_of_user() { return std::string(file_name) + "-" + std::to_string(geteuid()) + "-"; }

uint64_t monotonic_ns()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return uint64_t(t.tv_sec) * 1000000000 + uint64_t(t.tv_nsec);
}

enum class BookStage { foreign, unfinished, ready };

// How far `fd` is as a book, which is mapped as soon as it has its size and its seals.
BookStage look(int fd, Mapping& mapping)
{
    if (!mapping.get_address()) {
        struct stat s;
        if (fstat(fd, &s) < 0 || (s.st_size && uint64_t(s.st_size) != sizeof(Book)))
            return BookStage::foreign;
        // Not if the file can shrink: that could kill its readers.
        const int seals = fcntl(fd, F_GET_SEALS);
        if (seals < 0)
            return BookStage::foreign;
        if (!s.st_size || !(seals & F_SEAL_SHRINK))
            return BookStage::unfinished;
        mapping = base::map(fd, base::read_write, sizeof(Book));
        if (!mapping.get_address())
            return BookStage::foreign;
    }
    const Book* const book = base::at<Book>(mapping);
    if (!Hardware::load_acquire(book->stamp)) // pairs with make_book()
        return BookStage::unfinished;
    const bool ours = book->magic_ == magic && book->version_ == version && book->pages_ == page_count &&
                      book->bytes == sizeof(Book);
    return ours ? BookStage::ready : BookStage::foreign;
}

// Empty: that is no book of ours. Waits a while for one that is being made.
Mapping map_book(int fd)
{
    Mapping mapping;
    BookStage stage = look(fd, mapping);
    for (unsigned us = 0; stage == BookStage::unfinished && us < book_patience_us;
         us += book_look_us) {
        usleep(book_look_us);
        stage = look(fd, mapping);
    }
    return stage == BookStage::ready ? std::move(mapping) : Mapping();
}

// A book that others can see, and its sign.
Opened make_book(uint64_t& stamp)
{
    // Nobody looks at it before it is lifted: then it has its size, its seals and its head, and lacks the stamp alone.
    // Unless all low numbers are taken: then they find it empty, and wait.
    const int fd = base::make_sealed_file(file_name, sizeof(Book));
    if (fd < 0)
        return {};
    const Mapping mapping = base::map(fd, base::read_write, sizeof(Book));
    Book* const book = base::at<Book>(mapping);
    if (!book) {
        close(fd);
        return {};
    }
    book->magic_ = magic;
    book->version_ = version;
    book->pages_ = page_count;
    book->bytes = sizeof(Book);
    const Opened made = {lift(fd), show_process()};
    stamp = monotonic_ns();
    Hardware::store_release(book->stamp, stamp); // after the head, and when all can see it
    return made;
}

std::string entry(const char* proc, int pid, const char* fd)
{
    return std::string(proc) + "/" + std::to_string(pid) + "/fd/" + fd;
}

// Returns whether /proc/PID is this user's.
bool is_own_folder(const char* proc, int pid)
{
    struct stat s;
    return stat((std::string(proc) + "/" + std::to_string(pid)).c_str(), &s) == 0 && s.st_uid == geteuid();
}

// Returns whether the process is this user's, given that its folder is. Root owns the folder of another user's process,
// too, if that may not be looked into (prctl PR_SET_DUMPABLE). So for root, the kernel's own word counts. The kernel
// takes microseconds to write it, so only processes that have a book are asked.
bool is_own_process(const char* proc, int pid)
{
    if (geteuid() != 0)
        return true;
    unsigned long user = ~0ul;
    if (FILE* const status = std::fopen((std::string(proc) + "/" + std::to_string(pid) + "/status").c_str(), "re")) {
        char line[256];
        while (user == ~0ul && std::fgets(line, sizeof line, status))
            std::sscanf(line, "Uid: %*u %lu", &user); // the effective one
        std::fclose(status);
    }
    return user == geteuid();
}

int open_own_file(const std::string& path)
{
    return base::open_regular(path.c_str(), O_RDWR, [](const struct stat& s) { return s.st_uid == geteuid(); });
}

bool is_named_as_book(const std::string& path)
{
    static const std::string name = std::string("/memfd:") + file_name;
    char target[64];
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    return length >= ssize_t(name.size()) && name.compare(0, name.size(), target, name.size()) == 0;
}

bool same_file(int a, int b)
{
    struct stat of_a, of_b;
    return fstat(a, &of_a) == 0 && fstat(b, &of_b) == 0 && of_a.st_ino == of_b.st_ino && of_a.st_dev == of_b.st_dev;
}

struct Found {
    int fd = -1;
    uint64_t stamp = 0;
};

// Processes that show_process() shows, by their names alone: anybody can write such a name.
std::vector<int> shown_processes()
{
    std::vector<int> pids;
    FILE* const sockets = std::fopen("/proc/net/unix", "re");
    if (!sockets)
        return pids;
    const std::string mine = "@" + sign_of_user();
    char line[256];
    while (std::fgets(line, sizeof line, sockets))
        if (const char* const name = std::strrchr(line, '@');
            name && std::strncmp(name, mine.c_str(), mine.size()) == 0)
            pids.push_back(std::atoi(name + mine.size()));
    std::fclose(sockets);
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    return pids;
}

// Finds and opens the earliest of the books that processes of this user have open; `own` is open already. The kernel
// hides the files of other users' processes, but not from root.
Found find_earliest(const char* proc, const Found& own, std::string& problem)
{
    Found earliest;
    const auto consider = [&](Found book) {
        if (earliest.fd < 0 || book.stamp < earliest.stamp)
            std::swap(earliest, book);
        if (book.fd >= 0 && book.fd != own.fd)
            close(book.fd);
    };
    for (const int pid : shown_processes()) {
        DIR* const files = pid > 0 && is_own_folder(proc, pid) ? opendir(entry(proc, pid, "").c_str()) : nullptr;
        while (dirent* file = files ? readdir(files) : nullptr) {
            if (std::atoi(file->d_name) < base::first_lifted)
                continue; // books never have such low numbers
            if (pid == getpid() && std::atoi(file->d_name) == own.fd) {
                consider(own);
                continue;
            }
            const std::string path = entry(proc, pid, file->d_name);
            if (!is_named_as_book(path) || !is_own_process(proc, pid))
                continue;
            // Not lifted: others would find it by our number, too. Those who wait for a book whose maker has been
            // killed would keep it there for each other, as long as jobs begin.
            const int fd = open_own_file(path);
            if (fd < 0)
                continue;
            if (!is_named_as_book("/proc/self/fd/" + std::to_string(fd))) { // by now the number may be another file's
                close(fd);
                continue;
            }
            if (const Mapping mapping = map_book(fd); mapping.get_address()) {
                consider({fd, Hardware::load_relaxed(base::at<Book>(mapping)->stamp)});
                continue;
            }
            problem = "ignoring the file " + std::string(file_name) + " of process " + std::to_string(pid) +
                      ", which is not a node book of this version";
            close(fd);
        }
        if (files)
            closedir(files);
    }
    return earliest;
}

} // namespace

// A socket to which nobody connects: its name goes with the process, and /proc/net/unix lists the names of all. To look
// for books in the files of all processes took 2 to 3 ms in MPI_Init, with 133 processes, and more the more there are.
int show_process()
{
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    // An abstract name, which begins with a null byte, has no file.
    const std::string name = '\0' + sign_of_user() + std::to_string(getpid());
    std::copy(name.begin(), name.end(), address.sun_path);
    const socklen_t length = socklen_t(offsetof(sockaddr_un, sun_path) + name.size());
    // EADDRINUSE: this process is shown already. Otherwise others do not find its book; it finds theirs.
    if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        close(fd);
        return -1;
    }
    return lift(fd);
}

// Jobs that start at the same time come to the same book. Each first makes one that all can see, then stamps it, then
// looks at all books and takes the earliest. All jobs find that one, as it could be seen before it was stamped, so
// before any later book was stamped, and so before the makers of later ones looked.
Opened open_book(std::string& problem, const char* proc)
{
    uint64_t stamp = 0;
    const Opened made = make_book(stamp);
    if (made.fd < 0)
        return {};
    // our own at the latest; none if /proc does not show it
    const Found earliest = find_earliest(proc, {made.fd, stamp}, problem);
    if (earliest.fd == made.fd)
        return made;
    if (earliest.fd < 0 || !same_file(earliest.fd, made.fd)) {
        const Opened found = {lift(earliest.fd), made.sign};
        close(made.fd);
        return found;
    }
    // Ours keeps its number, as another process may be opening it by that number just now.
    close(earliest.fd);
    return made;
}

Opened open_book_of(pid_t pid, int fd, const char* proc)
{
    return {lift(open_own_file(entry(proc, pid, std::to_string(fd).c_str())))};
}

void Opened::close() const
{
    for (const int each : {fd, sign})
        if (each >= 0)
            ::close(each);
}

bool Reader::join(Opened opened, const ProcessId& own, uint64_t job, int rank, CpuMask mask, int node)
{
    Mapping mapping = opened.fd < 0 ? Mapping() : map_book(opened.fd);
    Book* const book = base::at<Book>(mapping);
    for (unsigned i = 0; book && i < page_count; i++) {
        Page& page = book->page[i];
        if (Hardware::load_relaxed(page.state) != Page::free ||
            !Hardware::cas_full(page.state, Page::free, Page::written))
            continue;
        page.process = own;
        page.job = job;
        page.rank = rank;
        page.node = node;
        Hardware::store_relaxed(page.shares, 0);
        Hardware::store_relaxed(page.threads, 0);
        Hardware::store_relaxed(page.since, base::ticks());
        std::fill(std::begin(page.mask), std::end(page.mask), 0);
        std::copy_n(mask.words(), std::min(mask.size(), mask_words), page.mask);
        Hardware::store_relaxed(page.busy, 1);
        for (Flag used = Hardware::load_relaxed(book->used); used <= i; used = Hardware::load_relaxed(book->used))
            Hardware::cas_full(book->used, used, i + 1);
        mapping_ = std::move(mapping);
        book_ = book;
        clear_cores(Flag(i + 1)); // of the process that had the page
        Hardware::store_release(page.state, Page::there); // after all of it. Pairs with neighbours()
        Hardware::fetch_add_full(book->changes, 1);
        opened_ = opened;
        page_ = &page;
        own_ = own;
        job_ = job;
        node_ = node;
        return true;
    }
    opened.close();
    return false;
}

void Reader::free_page(Page& page, const ProcessId& process) const
{
    // It may have been freed, and taken by a newcomer, since it was looked at.
    if (page.process.pid == process.pid && page.process.started == process.started &&
        Hardware::cas_full(page.state, Page::there, Page::free))
        Hardware::fetch_add_full(book_->changes, 1);
}

void Reader::leave()
{
    if (!page_)
        return;
    free_page(*page_, own_);
    opened_.close();
    mapping_ = Mapping();
    book_ = nullptr;
    page_ = nullptr;
    opened_ = {};
    shared_.clear();
}

std::vector<Neighbour> Reader::neighbours(CpuMask mask) const
{
    std::vector<Neighbour> found;
    if (!page_)
        return found;
    for (unsigned look = 0; look == 0 || (drop_dead(found) && look < most_looks); look++) {
        found.clear();
        const unsigned used = std::min(Hardware::load_acquire(book_->used), page_count);
        for (unsigned i = 0; i < used; i++) {
            Page& page = book_->page[i];
            if (Hardware::load_acquire(page.state) != Page::there || page.job == job_ ||
                page.process.pid_namespace != own_.pid_namespace)
                continue; // acquire: pairs with join()
            const CpuMask its(page.mask, mask_words);
            if (its.common(mask))
                found.push_back({&page, page.process, page.job, base::CpuSet(its)});
        }
    }
    return found;
}

bool Reader::drop_dead(const std::vector<Neighbour>& neighbours) const
{
    bool dropped = false;
    for (const Neighbour& n : neighbours)
        if (!base::process_alive(n.process, n.process.started ? Sight::state : Sight::existence)) {
            free_page(*n.page, n.process);
            dropped = true;
        }
    return dropped;
}

// ---- cores that jobs lend each other

namespace {

Flag user_of(Hardware::Word word) { return Flag(word & 0xffffffff); }
Hardware::Word next_use(Hardware::Word word, Flag user) { return ((word >> 32) + 1) << 32 | user; }

} // namespace

// What a process that has gone has left: it offers nothing any more, and uses nothing.
void Reader::clear_cores(Flag owner)
{
    const unsigned used = std::min(Hardware::load_acquire(book_->cores_used), core_count);
    for (unsigned c = 0; c < used; c++) {
        SharedCore& core = book_->core[c];
        const Hardware::Word user = Hardware::load_relaxed(core.user);
        if (user_of(user) == owner)
            Hardware::cas_full(core.user, user, next_use(user, 0)); // fails if somebody has taken it over
        if (Hardware::load_relaxed(core.owner) == owner) {
            Hardware::store_release(core.there, 0);
            Hardware::cas_full(core.owner, owner, 0);
        }
    }
}

bool Reader::share(const std::vector<int>& cpus)
{
    if (!page_)
        return false;
    const Flag me = Flag(page_ - book_->page) + 1;
    size_t next = 0;
    for (unsigned c = 0; c < core_count && next < cpus.size(); c++) {
        SharedCore& core = book_->core[c];
        if (Hardware::load_relaxed(core.owner) || !Hardware::cas_full(core.owner, 0, me))
            continue;
        core.process = own_;
        core.job = job_;
        core.node = node_;
        core.cpu = cpus[next++];
        Hardware::store_relaxed(core.used, 0);
        for (Flag used = Hardware::load_relaxed(book_->cores_used); used <= c;
             used = Hardware::load_relaxed(book_->cores_used))
            Hardware::cas_full(book_->cores_used, used, c + 1);
        Hardware::store_release(core.there, 1); // after all of it. Pairs with lenders()
        shared_.push_back(&core);
    }
    Hardware::store_release(page_->shares, 1);
    Hardware::fetch_add_full(book_->changes, 1);
    return next == cpus.size();
}

std::vector<Lenders> Reader::lenders(bool& leaving) const
{
    leaving = false;
    std::vector<Lenders> found;
    if (!page_)
        return found;
    std::vector<Neighbour> others; // all processes of other jobs
    const unsigned cores = std::min(Hardware::load_acquire(book_->cores_used), core_count);
    const auto is_there = [&](const Page& page) {
        return Hardware::load_acquire(page.state) == Page::there &&
               page.process.pid_namespace == own_.pid_namespace; // acquire: pairs with join()
    };
    for (unsigned look = 0; look == 0 || (drop_dead(others) && look < most_looks); look++) {
        others.clear();
        const unsigned pages = std::min(Hardware::load_acquire(book_->used), page_count);
        for (unsigned i = 0; i < pages; i++)
            if (Page& page = book_->page[i]; is_there(page) && (page.job != job_ || page.node != node_))
                others.push_back({&page, page.process, page.job, base::CpuSet(CpuMask(page.mask, mask_words))});
    }
    const auto has_cpu = [](const Neighbour& n, int cpu) { return cpu >= 0 && n.mask.mask().has(cpu); };
    // A CPU that a job has left behind may be another one's now: that one's offer counts. 0: none, 1: left behind, 2.
    std::vector<int> offered(cores);
    for (unsigned c = 0; c < cores; c++) {
        const SharedCore& core = book_->core[c];
        if (!Hardware::load_acquire(core.there) || core.job == job_) // acquire: pairs with share()
            continue;
        const bool lives = std::any_of(others.begin(), others.end(), [&](const Neighbour& n) {
            return n.page->job == core.job && n.page->node == core.node;
        });
        if (!lives && base::process_alive(core.process, Sight::existence))
            leaving = true;
        else
            offered[c] = 1 + lives;
    }
    for (unsigned c = 0; c < cores; c++) {
        SharedCore& core = book_->core[c];
        const int cpu = cpu_of(core);
        if (!offered[c])
            continue;
        const auto shared_by = [&](const Neighbour& n) { return n.page->job == core.job && n.page->node == core.node; };
        const bool kept = std::any_of(others.begin(), others.end(), [&](const Neighbour& n) {
            return has_cpu(n, cpu) && !Hardware::load_acquire(n.page->shares);
        });
        const bool own = cpu >= 0 && CpuMask(page_->mask, mask_words).has(cpu);
        bool better = false;
        for (unsigned o = 0; o < cores && cpu >= 0; o++)
            better |= o != c && offered[o] && book_->core[o].cpu == cpu &&
                      (offered[o] > offered[c] || (offered[o] == offered[c] && o < c));
        if (kept || own || better)
            continue;
        std::vector<Page*> at_rest;
        for (const Neighbour& n : others)
            if (shared_by(n) || has_cpu(n, cpu))
                at_rest.push_back(n.page);
        auto group = std::find_if(found.begin(), found.end(), [&](const Lenders& l) {
            return l.job == core.job && l.cores.front()->node == core.node && l.pages == at_rest;
        });
        if (group == found.end())
            group = found.insert(found.end(), {core.job, at_rest, {}});
        group->cores.push_back(&core);
    }
    return found;
}

int Reader::cpu_of(const SharedCore& core)
{
    const int cpu = *static_cast<const volatile int32_t*>(&core.cpu);
    return cpu >= 0 && unsigned(cpu) < mask_words * CpuMask::bits ? cpu : -1;
}

bool Reader::at_rest(const Lenders& lenders, uint64_t now, uint64_t ticks)
{
    return std::all_of(lenders.pages.begin(), lenders.pages.end(), [&](const Page* page) {
        return !Hardware::load_relaxed(page->busy) && Hardware::load_relaxed(page->threads) <= 1 &&
               now > Hardware::load_relaxed(page->since) + ticks;
    });
}

Hardware::Word Reader::take(SharedCore& core) const
{
    const Hardware::Word was = Hardware::load_relaxed(core.user);
    const Flag user = user_of(was);
    // One whose page is free has died. No process has a page beyond the last.
    if (user && user <= page_count && Hardware::load_acquire(book_->page[user - 1].state) == Page::there)
        return 0;
    const Hardware::Word mine = next_use(was, Flag(page_ - book_->page) + 1);
    return Hardware::cas_full(core.user, was, mine) ? mine : 0;
}

void Reader::give_back(SharedCore& core, Hardware::Word taken, uint64_t used) const
{
    if (Hardware::cas_full(core.user, taken, next_use(taken, 0))) // else its owner's page is another's now
        for (Hardware::Word sum = Hardware::load_relaxed(core.used);
             !Hardware::cas_full(core.used, sum, sum + used); sum = Hardware::load_relaxed(core.used)) {
        }
}

uint64_t Reader::used_by_others() const
{
    uint64_t sum = 0;
    for (const SharedCore* core : shared_)
        sum += Hardware::load_relaxed(core->used);
    return sum;
}

} // namespace ws::book
