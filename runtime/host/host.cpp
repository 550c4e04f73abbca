// SPDX-License-Identifier: MIT
//
// How libws finds its way into a program whose MPI knows nothing of it: what mpir_workshare.c does in Workshare's own.
#include "host/host.h"

#include "abi/abi.h"
#include "base/mpi_family.h"
#include "base/spin_lock.h"
#include "mpi/call_arguments.h"
#include "mpi/end_job.h"
#include "mpi/host_node.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <sched.h>
#include <sstream>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>

extern "C" unsigned ws_used_features;
extern "C" std::remove_pointer_t<MPIR_Workshare_attach_fn> ws_fork_attach; // mpi/attach.cpp

namespace ws::host {

MPIR_Workshare_hooks hooks;
bool active;
Real real;
__thread Outermost::CurrentCall Outermost::call_;
unsigned char Site::calm_sites[1 << bits], Site::inner_ = Site::enough;
uint64_t Site::calm_ticks;

// A call that takes less has not waited: nobody could have used the core.
constexpr double calm_us = 20;
// MPI_Init is over on all ranks within this time of each other; then some have been started without Workshare.
constexpr double together_s = 30;

// Ranks that have all begun a nonblocking collective call end it within this time, if they have CPUs.
constexpr double round_us = 200;
uint64_t round_ticks;

// A one-sided call that takes longer than this waits for something else than polls of its target.
constexpr double need_us = 20000;
static uint64_t need_ticks;

void Site::set_clock(double ticks_per_us)
{
    calm_ticks = uint64_t(calm_us * ticks_per_us);
    round_ticks = uint64_t(round_us * ticks_per_us);
    need_ticks = uint64_t(need_us * ticks_per_us);
}

// In place of a function that the MPI of this job does not have, while that with whose mpi.h this library is made does.
[[noreturn]] void is_missing()
{
    std::fprintf(stderr, "workshare: error: the program calls a function that its MPI library does not have\n");
    std::abort();
}

// Null: nobody behind this library has it. Libws-late.so, which loads this library late, asks in its own place.
static void* behind(const char* name)
{
    static const auto late = reinterpret_cast<void* (*)(const char*)>(dlsym(RTLD_DEFAULT, "ws_late_next"));
    return late ? late(name) : dlsym(RTLD_NEXT, name);
}

__attribute__((cold, noinline)) void* next(const char* name)
{
    void* found = behind(name);
    // MPICH 5.0.2's library of the standard's ABI has MPI_File_close under this name alone
    if (!found && name[0] == 'P')
        found = behind(name + 1);
    return found ? found : reinterpret_cast<void*>(is_missing);
}

__attribute__((cold, noinline)) void* tool(const char* name, void* real)
{
    void* const found = behind(name);
    Dl_info there, mpi;
    if (!found || !dladdr(found, &there) || !dladdr(real, &mpi) || there.dli_fbase == mpi.dli_fbase)
        return nullptr;
    // An MPI may have its PMPI_X in a library of their own.
    const char *const slash = std::strrchr(there.dli_fname, '/'), *const file = slash ? slash + 1 : there.dli_fname;
    return base::family_of(file) ? nullptr : found;
}

__attribute__((cold, noinline)) void Outermost::tell_begin(uint64_t about)
{
    if (call_.told) // it never returned
        hooks.called(call_.told, 0);
    call_.told = call_.name;
    ws_call_arguments = about;
    hooks.called(call_.name, 1);
}

__attribute__((cold, noinline)) void Outermost::tell_end()
{
    if (hooks.called)
        hooks.called(call_.told, 0);
    call_.told = nullptr;
}

namespace {

// Where the ranks of this node are, and the memory that they share.
struct Node {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Group world = MPI_GROUP_NULL, here = MPI_GROUP_NULL;
    CallBoard board;
    bool has_board = false;
    unsigned rank = 0;            // of this process on the node
    std::vector<int> world_ranks; // of the ranks of the node
};
Node node;
bool targets_poll; // one-sided calls of this MPI library need polls of their targets

// Communicators, windows and files by their handles. Looked up without a lock: a handle that a thread uses is not being
// freed by another.
class HandleTable {
public:
    Group* find(uintptr_t key) const
    {
        const HandleEntries* const entries = base::load_acquire(entries_); // pairs with grow()
        for (size_t i = entries->place(key);; i = entries->after(i)) {
            const uintptr_t there = base::load_acquire(entries->entry[i].key); // pairs with insert()
            if (there == key)
                return entries->entry[i].group;
            if (there == free)
                return nullptr;
        }
    }
    void insert(uintptr_t key, Group* group)
    {
        const std::lock_guard<base::SpinLock> guard(lock_);
        if (entries_->used >= entries_->entry.size() / 2)
            grow();
        entries_->insert(key, group);
    }
    // Takes out the group of this handle, if there is one.
    Group* take(uintptr_t key)
    {
        const std::lock_guard<base::SpinLock> guard(lock_);
        for (size_t i = entries_->place(key); entries_->entry[i].key != free; i = entries_->after(i))
            if (entries_->entry[i].key == key) {
                base::store_release(entries_->entry[i].key, gone);
                return entries_->entry[i].group;
            }
        return nullptr;
    }

private:
    static constexpr uintptr_t free = 0, gone = 1;
    struct HandleEntry {
        uintptr_t key = free;
        Group* group = nullptr;
    };
    struct HandleEntries {
        explicit HandleEntries(unsigned bits) : bits(bits), entry(size_t(1) << bits) {}
        size_t place(uintptr_t key) const { return (key * 0x9E3779B97F4A7C15u) >> (64 - bits); }
        size_t after(size_t i) const { return (i + 1) & (entry.size() - 1); }
        void insert(uintptr_t key, Group* group)
        {
            size_t i = place(key);
            while (entry[i].key != free && entry[i].key != gone)
                i = after(i);
            used += entry[i].key == free;
            entry[i].group = group;
            base::store_release(entry[i].key, key); // pairs with find()
        }
        unsigned bits;
        size_t used = 0; // entries that are not free
        std::vector<HandleEntry> entry;
    };
    // The old entries stay, because other threads may read them: all together are as large as the new ones.
    void grow()
    {
        size_t live = 0;
        for (const HandleEntry& entry : entries_->entry)
            live += entry.key != free && entry.key != gone;
        auto* const larger = new HandleEntries(entries_->bits + (live >= entries_->entry.size() / 4));
        for (const HandleEntry& entry : entries_->entry)
            if (entry.key != free && entry.key != gone)
                larger->insert(entry.key, entry.group);
        base::store_release(entries_, larger); // pairs with find()
    }
    base::SpinLock lock_;
    HandleEntries* entries_ = new HandleEntries(10);
};
HandleTable table;

enum class HandleKind : uintptr_t { communicator = 2, window = 4, file = 6 };

// A handle is an int or a pointer.
template <class Handle> uintptr_t key_of(Handle handle, HandleKind kind)
{
    uintptr_t bits;
    if constexpr (std::is_pointer_v<Handle>)
        bits = reinterpret_cast<uintptr_t>(handle);
    else
        bits = static_cast<unsigned>(handle);
    return (bits << 3) + uintptr_t(kind);
}

std::unique_ptr<Group> members_of(MPI_Comm comm)
{
    int is_inter = 0, size = 0, rank = 0;
    MPI_Group group;
    if (PMPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS)
        return nullptr;
    PMPI_Comm_rank(comm, &rank);
    if (is_inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    std::vector<int> ranks(size_t(size), 0), in_world(ranks), on_node(ranks);
    for (int r = 0; r < size; r++)
        ranks[size_t(r)] = r;
    PMPI_Group_translate_ranks(group, size, ranks.data(), node.world, in_world.data());
    PMPI_Group_translate_ranks(group, size, ranks.data(), node.here, on_node.data());
    PMPI_Group_free(&group);
    for (int& r : in_world)
        r = r == MPI_UNDEFINED ? -1 : r;
    for (int& r : on_node)
        r = r == MPI_UNDEFINED || is_inter ? -1 : r;
    return std::make_unique<Group>(std::move(in_world), on_node, rank);
}

// The members on each node agree on a row. Collective over `comm`, an intracommunicator of processes of this job.
void agree_on_row(Group& group, MPI_Comm comm)
{
    int mine = CallBoard::none;
    if (node.has_board && group.node_members() > 1 && group.leader() == group.rank())
        mine = node.board.take_row(group.node_members());
    std::vector<int> rows(size_t(group.size()));
    const bool told = PMPI_Allgather(&mine, 1, MPI_INT, rows.data(), 1, MPI_INT, comm) == MPI_SUCCESS;
    const int row = group.node_members() > 0 ? rows[size_t(group.leader())] : CallBoard::none;
    if (told && row != CallBoard::none)
        group.use(node.board, row);
}

// MPI frees a communicator or a window: the program need not have called that itself.
void forget(uintptr_t key)
{
    const std::unique_ptr<Group> group(table.take(key));
    if (group && node.has_board)
        group->leave_board();
}

int comm_keyval = MPI_KEYVAL_INVALID, win_keyval = MPI_KEYVAL_INVALID;

int comm_goes(MPI_Comm comm, int, void*, void*)
{
    forget(key_of(comm, HandleKind::communicator));
    return MPI_SUCCESS;
}

int win_goes(MPI_Win win, int, void*, void*)
{
    forget(key_of(win, HandleKind::window));
    return MPI_SUCCESS;
}

void keep(uintptr_t key, std::unique_ptr<Group> group)
{
    forget(key);
    table.insert(key, group.release());
}

// `comm` is the communicator of what has been made. Collective.
std::unique_ptr<Group> made_on(MPI_Comm comm)
{
    std::unique_ptr<Group> group = members_of(comm);
    int is_inter = 0;
    PMPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter && group->size() > 1 && group->is_of_this_job())
        agree_on_row(*group, comm);
    return group;
}

void keep_comm(MPI_Comm comm, std::unique_ptr<Group> group)
{
    // First: while the members agreed on a row, get_to_know() has kept the communicator without one. Setting the
    // attribute again calls comm_goes(), which forgets that.
    if (comm != MPI_COMM_WORLD)
        PMPI_Comm_set_attr(comm, comm_keyval, nullptr);
    keep(key_of(comm, HandleKind::communicator), std::move(group));
}

// A communicator that nobody has seen being made, as it was by MPI_Comm_idup or MPI_Comm_accept.
__attribute__((cold, noinline)) Group* get_to_know(MPI_Comm comm)
{
    static base::SpinLock lock;
    const std::lock_guard<base::SpinLock> guard(lock);
    if (comm == MPI_COMM_NULL)
        return nullptr;
    Group* const known = table.find(key_of(comm, HandleKind::communicator));
    if (known)
        return known;
    if (std::unique_ptr<Group> group = members_of(comm))
        keep_comm(comm, std::move(group));
    return table.find(key_of(comm, HandleKind::communicator));
}

} // namespace

Group* group_of_comm(MPI_Comm comm)
{
    Group* const group = table.find(key_of(comm, HandleKind::communicator));
    return WS_LIKELY(group != nullptr) ? group : get_to_know(comm);
}
Group* group_of_win(MPI_Win win) { return table.find(key_of(win, HandleKind::window)); }
Group* group_of_file(MPI_File file) { return table.find(key_of(file, HandleKind::file)); }

void made_comm(MPI_Comm comm)
{
    if (active && comm != MPI_COMM_NULL)
        keep_comm(comm, made_on(comm));
}

void made_win(MPI_Comm parent, MPI_Win win)
{
    if (!active)
        return;
    if (node.has_board && targets_poll) {
        Needs::all = &node.board.needs(node.board.all_ranks());
        Needs::own = &node.board.needs(node.rank);
    }
    keep(key_of(win, HandleKind::window), made_on(parent));
    PMPI_Win_set_attr(win, win_keyval, nullptr);
}

void made_file(MPI_Comm parent, MPI_File file)
{
    if (!active)
        return;
    std::unique_ptr<Group> group = made_on(parent);
    group->be_of_file();
    keep(key_of(file, HandleKind::file), std::move(group));
}

std::unique_ptr<Group> take_file(MPI_File file)
{
    return std::unique_ptr<Group>(table.take(key_of(file, HandleKind::file)));
}

void put_back(MPI_File file, std::unique_ptr<Group> group) { keep(key_of(file, HandleKind::file), std::move(group)); }

void abandon(int row)
{
    node.board.abandon(row);
    ring_all();
}

bool Needs::is_any()
{
    static __thread __attribute__((tls_model("initial-exec"))) struct { Word own, all; uint64_t until; } seen;
    const Word mine = base::Hardware::load_relaxed(*own), of_all = base::Hardware::load_relaxed(*all);
    constexpr Word open = (Word(1) << bits) - 1;
    if (((mine | of_all) & open) == 0)
        return false;
    const uint64_t now = base::ticks();
    if (mine != seen.own || of_all != seen.all)
        seen = {mine, of_all, now + need_ticks};
    return now < seen.until;
}

volatile Needs::Word* NeedsPolls::count_of(const Group* group, int rank)
{
    if (!group || rank < 0)
        return Needs::all;
    const int target = group->on_node(rank);
    return target >= 0 ? &node.board.needs(unsigned(target)) : nullptr;
}

void progress()
{
    int flag;
    real.iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, node.comm, &flag, MPI_STATUS_IGNORE);
}

namespace {
base::SpinLock unusual_lock;
struct Note {
    Unusual kind;
    unsigned number; // another one for each request
};
std::unordered_map<MPI_Request, Note> unusual;
} // namespace

void made_unusual(MPI_Request request, Unusual kind)
{
    const std::lock_guard<base::SpinLock> guard(unusual_lock);
    static unsigned number;
    unusual[request] = {kind, number++};
    (kind == Unusual::persistent ? has_persistent : has_unusual) = true;
}

void frees_request(MPI_Request request)
{
    const std::lock_guard<base::SpinLock> guard(unusual_lock);
    unusual.erase(request);
}

bool is_any(Unusual kind, int count, const MPI_Request* requests)
{
    const std::lock_guard<base::SpinLock> guard(unusual_lock);
    return requests && std::any_of(requests, requests + std::max(count, 0), [kind](MPI_Request request) {
        const auto found = unusual.find(request);
        return found != unusual.end() && found->second.kind == kind;
    });
}

struct Completion::Unusuals {
    struct One {
        int place;
        MPI_Request request;
        unsigned number;
    };
    std::vector<One> all;
};

void Completion::remember(int count)
{
    const std::lock_guard<base::SpinLock> guard(unusual_lock);
    for (int i = 0; i < count; i++) {
        const auto found = unusual.find(requests_[i]);
        if (found == unusual.end())
            continue;
        if (!before_)
            before_ = new Unusuals;
        before_->all.push_back({i, requests_[i], found->second.number});
    }
}

void Completion::forget()
{
    const std::unique_ptr<const Unusuals> before(before_);
    const std::lock_guard<base::SpinLock> guard(unusual_lock);
    for (const auto& one : before->all) {
        const auto found = unusual.find(one.request);
        // Another thread may have got a new request of this handle by now.
        if (requests_[one.place] == MPI_REQUEST_NULL && found != unusual.end() && found->second.number == one.number)
            unusual.erase(found);
    }
}

bool is_any_complete(int count, const MPI_Request* requests)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        int flag = 0;
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        any = true;
        if (is_any(Unusual::generalized, 1, &requests[i]) || is_any(Unusual::persistent, 1, &requests[i]) ||
            real.get_status(requests[i], &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag)
            return true;
    }
    return !any;
}

bool are_complete(int count, const MPI_Request* requests, int& next)
{
    for (; next < count; next++) {
        int flag = 0;
        // One that has failed is complete.
        if (requests[next] != MPI_REQUEST_NULL &&
            real.get_status(requests[next], &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
            return false;
    }
    return true;
}

void ring_rank(const Group* group, int rank)
{
    if (WS_UNLIKELY(!hooks.ring))
        return;
    if (WS_UNLIKELY(!group)) {
        ring_all();
        return;
    }
    const int world = group->world_rank(rank);
    if (world >= 0)
        hooks.ring(world);
}

void ring_all()
{
    for (size_t i = 0; hooks.ring && i < node.world_ranks.size(); i++)
        hooks.ring(node.world_ranks[i]);
}

namespace {

base::Clock clock_;
int level_asked, level_given = MPI_THREAD_SINGLE;
bool has_begun; // MPI_Init has come here

[[noreturn]] void end(const char* message, bool tell)
{
    if (tell)
        std::fprintf(stderr, "workshare: error: %s\n", message);
    mpi::end_job();
    _exit(1);
}

bool is_enabled()
{
    static const bool enabled = [] {
        const char* const enable = std::getenv("WS_ENABLE");
        return enable && !std::strcmp(enable, "1");
    }();
    return enabled;
}

// Workshare's own MPICH hooks itself: it exports what libws forwards.
bool is_workshares_own() { return dlsym(RTLD_NEXT, "XMPI_Get_wsize") != nullptr; }

// Sets what depends on the version of the MPI library that runs, which may be newer than the one that this library was
// made for.
void look_at_library()
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(text, &length);
    constexpr char open_mpi[] = "Open MPI v";
    targets_poll = std::strncmp(text, open_mpi, sizeof open_mpi - 1) != 0 || std::atoi(text + sizeof open_mpi - 1) >= 5;
    // Seen in 5.0.2, and not in 4.2.1; what is between was not tried.
    double mpich = 0;
    if (const char* const version = std::strstr(text, "MPICH Version:"))
        mpich = std::strtod(version + sizeof "MPICH Version:" - 1, nullptr);
    testall_repeats_errors = mpich > 4.25;
    // A message to this process itself; nobody else has used MPI_COMM_SELF yet.
    MPI_Request receive, send;
    MPI_Status status;
    int flag = 0;
    char sent = 0, received = 0;
    PMPI_Recv_init(&received, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &receive);
    PMPI_Start(&receive);
    PMPI_Isend(&sent, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, &send);
    PMPI_Wait(&send, MPI_STATUS_IGNORE);
    while (real.get_status(receive, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag)
        sched_yield();
    PMPI_Wait(&receive, &status);
    looks_end_persistent = status.MPI_SOURCE != 0;
    PMPI_Request_free(&receive);
}

// Programs and environments of the ranks may differ, and a rank may have been started without Workshare: such a one
// never comes here. Returns whether any rank has node-wide locks.
bool agree()
{
    const bool locks = ws_used_features & WS_USES_CRITICAL, enabled = is_enabled();
    int any[] = {locks, enabled, !enabled}, rank = 0, ranks = 1, has_most = 0, *most_tag = nullptr;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tag, &has_most);
    const double began = base::seconds_now();
    // By messages to ranks twice as far in each round: a collective call would match the first one of a rank that runs
    // without Workshare.
    for (int far = 1; far < ranks; far *= 2) {
        const int tag = has_most ? *most_tag : 32767, to = (rank + far) % ranks, from = (rank - far + ranks) % ranks;
        int theirs[3] = {}, done = 0;
        MPI_Request both[2];
        if (PMPI_Irecv(theirs, 3, MPI_INT, from, tag, MPI_COMM_WORLD, &both[0]) != MPI_SUCCESS ||
            PMPI_Isend(any, 3, MPI_INT, to, tag, MPI_COMM_WORLD, &both[1]) != MPI_SUCCESS)
            return false;
        while (PMPI_Testall(2, both, &done, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !done) {
            sched_yield();
            if (base::seconds_now() - began > together_s)
                end("some ranks of the job run without workshare; start all with it, or none", true);
        }
        for (int i = 0; i < 3; i++)
            any[i] = std::max(any[i], theirs[i]);
    }
    if (any[1] && any[2])
        end("some ranks have WS_ENABLE=1 in their environment, others do not; start all with workshare, or none",
            rank == 0);
    return any[0];
}

void let_threads_in(int) {} // the level that was asked for stays: see thread_level()

// What ws_fork_attach() has made for all: the node's communicator, and the memory of the board if there is a window.
void take_node()
{
    int ranks = 0, rank = 0;
    node.comm = mpi::host_node.comm;
    PMPI_Comm_rank(node.comm, &rank);
    node.rank = unsigned(rank);
    PMPI_Comm_group(MPI_COMM_WORLD, &node.world);
    PMPI_Comm_group(node.comm, &node.here);
    PMPI_Comm_size(node.comm, &ranks);
    std::vector<int> on_node(size_t(ranks), 0);
    node.world_ranks.resize(size_t(ranks));
    for (int r = 0; r < ranks; r++)
        on_node[size_t(r)] = r;
    PMPI_Group_translate_ranks(node.here, ranks, on_node.data(), node.world, node.world_ranks.data());
    if (ranks == 1 || !mpi::host_node.memory)
        return;
    node.board.map(mpi::host_node.memory, unsigned(ranks));
    node.has_board = true;
}

void find_real()
{
    const auto find = [](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(next(name));
    };
    find(real.iprobe, "PMPI_Iprobe");
    find(real.test, "PMPI_Test");
    find(real.testall, "PMPI_Testall");
    find(real.testany, "PMPI_Testany");
    find(real.testsome, "PMPI_Testsome");
    find(real.wait, "PMPI_Wait");
    find(real.get_status, "PMPI_Request_get_status");
    find(real.win_test, "PMPI_Win_test");
}

} // namespace

#if defined(OPEN_MPI)
constexpr char own_family[] = "openmpi";
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION)
constexpr char own_family[] = "mpich";
#else
constexpr char own_family[] = "abi";
#endif

// Whether a file is an MPI library of another family, whose handles mean nothing here.
static bool is_other_mpi(const char* file)
{
    const char *const slash = std::strrchr(file, '/'), *const family = base::family_of(slash ? slash + 1 : file);
    return family && std::strcmp(family, own_family) != 0;
}

namespace {

// A program that is linked with no MPI may have loaded another one than --mpi names.
void refuse_other_mpi()
{
    for (const char* library : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"})
        if (is_enabled() && is_other_mpi(library) && dlopen(library, RTLD_NOLOAD | RTLD_LAZY)) {
            std::fprintf(stderr,
                         "workshare: error: the program has loaded %s, but the wrappers are for %s; omit --mpi, or "
                         "name the program's MPI\n",
                         library, own_family);
            _exit(1);
        }
}

} // namespace

// A shared loop whose iterations call MPI does so from several threads; and one of a program that asked for
// MPI_THREAD_SERIALIZED could be inside MPI at any time.
int thread_level(int asked)
{
    refuse_other_mpi();
    level_asked = asked;
    if (is_enabled() && !is_workshares_own() &&
        (asked == MPI_THREAD_SERIALIZED || (ws_used_features & WS_USES_MPI_IN_LOOPS)))
        return level_given = MPI_THREAD_MULTIPLE;
    return level_given = asked;
}

// Open MPI (4.1, 5.0) takes the level that MPI_T_init_thread names for that of MPI, also after MPI_Init.
int tool_thread_level(int asked) { return std::max(asked, level_given); }

void initialized()
{
    has_begun = true;
    if (is_workshares_own()) {
        if (is_enabled())
            std::fprintf(stderr,
                         "workshare: warning: the program uses Workshare's own MPI library, so the wrappers for "
                         "another MPI have no effect\n");
        return;
    }
    const bool locks = agree(), steals = is_enabled();
    if (!steals && !locks)
        return;
    find_real();
    look_at_library();
    hooks.thread_level_asked = level_asked;
    hooks.let_threads_in = let_threads_in;
    hooks.call_name = Outermost::name;
    hooks.call_site = Outermost::site;
    if (steals) {
        mpi::host_bytes = [](unsigned ranks) { return CallBoard::bytes(ranks) + 64; };
        clock_.calibrate();
        Site::set_clock(clock_.ticks_per_us());
    }
    if (ws_fork_attach(MPIR_WORKSHARE_VERSION, steals ? MPIR_WORKSHARE_STEAL : 0, &hooks) != 0) {
        hooks = {};
        return;
    }
    if (steals)
        take_node();
    // The same on all ranks, because they agree on rows together: one node may have no room for its window.
    int any = steals && (hooks.blocked || hooks.called);
    PMPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (!any)
        return;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_goes, &comm_keyval, nullptr);
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_goes, &win_keyval, nullptr);
    active = true;
    made_comm(MPI_COMM_WORLD);
}

void finalizing()
{
    int rank = 0;
    if (WS_UNLIKELY(!has_begun && is_enabled()) && PMPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0)
        std::fprintf(stderr, "workshare: note: another library, which is loaded first, did not pass MPI_Init on to "
                             "Workshare; the program ran without Workshare\n");
    if (Group* const world = active ? group_of_comm(MPI_COMM_WORLD) : nullptr; world && world->has_board()) {
        const uint64_t turn = world->arrive();
        world->ring_members(hooks.ring);
        wait_until([&] { return world->has_arrived(turn, [](int) { return true; }) || (progress(), false); });
    }
    if (hooks.finalize)
        hooks.finalize();
    Needs::own = nullptr; // its memory goes
    active = node.has_board = false; // what MPI frees from here on has no row any more
    hooks = {};
    if (node.comm == MPI_COMM_NULL)
        return;
    node.comm = MPI_COMM_NULL; // which hooks.finalize() has freed
    PMPI_Group_free(&node.world);
    PMPI_Group_free(&node.here);
}

namespace {

// An environment that was meant for programs of another MPI: its handles are of another size, so no call could be
// passed on. Before main() the program begins again without this library.
__attribute__((constructor)) void begin_again_without(int, char** argv, char**)
{
    void* const init = dlsym(RTLD_NEXT, "PMPI_Init");
    Dl_info mpi;
    const char* const preloaded = std::getenv("LD_PRELOAD");
    if (!init || !preloaded || !dladdr(init, &mpi) || !is_other_mpi(mpi.dli_fname))
        return;
    std::string others, all = preloaded;
    std::replace(all.begin(), all.end(), ':', ' ');
    std::istringstream libraries(all);
    bool found = false;
    for (std::string one; libraries >> one;) {
        const bool ours = one.substr(one.rfind('/') + 1) == "libws.so.1";
        found |= ours;
        if (!ours)
            others += (others.empty() ? "" : ":") + one;
    }
    if (!found)
        return;
    const char* const ranks[] = {std::getenv("PMI_RANK"), std::getenv("OMPI_COMM_WORLD_RANK")};
    if ((!ranks[0] || !std::strcmp(ranks[0], "0")) && (!ranks[1] || !std::strcmp(ranks[1], "0")))
        std::fprintf(
            stderr,
            "workshare: note: the environment preloads the wrappers for %s, but the program uses %s; it "
            "runs without Workshare\n",
            own_family, mpi.dli_fname);
    setenv("LD_PRELOAD", others.c_str(), 1);
    unsetenv("WS_ENABLE");
    execv("/proc/self/exe", argv);
}

} // namespace

} // namespace ws::host
