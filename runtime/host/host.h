// SPDX-License-Identifier: MIT
//
// The second host of the hooks (mpich/files/src/include/mpir_workshare.h): wrappers before the MPI of the machine,
// which knows nothing of Workshare. wrappers.cpp, made by generate.py, has a function for each call; what it does is
// here.
//
// PMPI_X does the work, and calls the PMPI_X behind it. MPI_X does the same, unless a tool has an MPI_X behind it, too:
// that is called, and comes to PMPI_X. So a tool before or behind sees each call once, and calls to PMPI_X lend as
// well.
//
// A call that has shown to return quickly costs two readings of the clock besides, a collective one also a store of its
// arrival (Site). Others poll before the call until it need not wait, and between polls the core is lent.
#pragma once

#include "base/os.h"
#include "host/board.h"
#include "mpich/files/src/include/mpir_workshare.h"

#include <memory>
#include <mpi.h>
#include <sched.h>

extern "C" void ws_let_woken_run(); // mpi/attach.cpp: lend::Rank::let_woken_run()
extern "C" void ws_has_waited(uint64_t began); // mpi/attach.cpp: lend::Rank::has_waited()

namespace ws::host {

extern MPIR_Workshare_hooks hooks;
// Libws has attached and the job steals, or somebody wants to know of calls: else calls are passed on at once.
extern bool active;

// The function of this name in the libraries behind this one; if there is none, one that ends the process.
void* next(const char* name);
// The MPI_X of a tool that stands between this library and the MPI whose PMPI_X is `real`; null: there is none.
void* tool(const char* name, void* real);

// The MPI call that this thread is in: the outermost, as MPI's own functions call others.
class Outermost {
public:
    // `frame` is that of the wrapper, `about` what the call is about (call_arguments.h).
    Outermost(const char* name, const void* site, void* frame, uint64_t about) : frame_(uintptr_t(frame))
    {
        if (WS_UNLIKELY(frame_ < call_.frame)) {
            frame_ = 0;
            return;
        }
        call_.frame = frame_;
        call_.name = name;
        call_.site = site;
        if (WS_UNLIKELY(hooks.called != nullptr))
            tell_begin(about);
    }
    ~Outermost()
    {
        if (WS_UNLIKELY(!frame_))
            return;
        if (WS_UNLIKELY(call_.told != nullptr))
            tell_end();
        call_.frame = 0;
    }
    Outermost(const Outermost&) = delete;
    Outermost& operator=(const Outermost&) = delete;
    explicit operator bool() const { return frame_ != 0; }

    // Return the name and the place of the calling thread's MPI call, or null outside of MPI. Stacks grow down, so
    // frames below the call's are those of its callees: an error handler may jump out of MPI and leave no call open.
    static const char* name() { return inside() ? call_.name : nullptr; }
    static const void* site() { return inside() ? call_.site : nullptr; }

private:
    static bool inside() { return uintptr_t(__builtin_frame_address(0)) < call_.frame; }
    static void tell_begin(uint64_t about);
    static void tell_end();

    struct CurrentCall {
        uintptr_t frame; // 0: in none
        const char* name;
        const void* site;
        const char* told; // hooks.called knows that it has begun
    };
    static __thread __attribute__((tls_model("initial-exec"))) CurrentCall call_;
    uintptr_t frame_; // 0: an inner one
};

// The peers and buffers of a call in one number, never 0: what mpi/calls.c notes for Workshare's own MPICH.
inline uint64_t about(uint64_t buffers, int peers)
{
    return (buffers * 0x9E3779B97F4A7C15u ^ uint64_t(uint32_t(peers)) * 0xD6E8FEB86659FD93u) | 1;
}

// What is known of a place in the program that calls MPI: whether it waits there.
class Site {
public:
    // A call that MPI or a callback of the program makes inside of another one never waits: `outermost` is false.
    Site(const char* name, const void* place, bool outermost = true)
        : calm_(outermost ? calm_sites[((uintptr_t(name) ^ uintptr_t(place) << 3) * 0x9E3779B97F4A7C15u) >> (64 - bits)]
                          : inner_),
          began_(base::ticks())
    {}
    bool waits() const { return base::load_relaxed(calm_) < enough; }
    bool is_outermost() const { return &calm_ != &inner_; }
    // The call returns. Relaxed: other threads may count at the same place; a lost count costs a look.
    void learn()
    {
        if (WS_UNLIKELY(!is_outermost()))
            return;
        const bool calm = base::ticks() - began_ < calm_ticks;
        const unsigned char so_far = base::load_relaxed(calm_);
        if (!calm || so_far < enough)
            base::store_relaxed(calm_, static_cast<unsigned char>(calm ? so_far + 1 : 0));
    }

    static void set_clock(double ticks_per_us);

private:
    static constexpr unsigned bits = 12;
    // A place is quiet after this number of calls in a row that returned quickly.
    static constexpr unsigned char enough = 16;
    static unsigned char calm_sites[1 << bits];
    static unsigned char inner_;
    static uint64_t calm_ticks;
    unsigned char& calm_;
    uint64_t began_;
};

// The calls of MPI itself that are polled.
struct Real {
    decltype(&PMPI_Iprobe) iprobe;
    decltype(&PMPI_Test) test;
    decltype(&PMPI_Testall) testall;
    decltype(&PMPI_Testany) testany;
    decltype(&PMPI_Testsome) testsome;
    decltype(&PMPI_Wait) wait;
    decltype(&PMPI_Request_get_status) get_status;
    decltype(&PMPI_Win_test) win_test;
};
extern Real real;

// Requests that are not polled like others.
enum class Unusual {
    partitioned, // MPI_Testall of MPICH 4.0 takes them for errors: each request beside one is looked at by itself
    generalized, // polls of several requests call the program's functions other than MPI_Waitall does: MPI itself waits
    persistent   // noted only if looks_end_persistent: MPI_Testall completes them, or MPI itself waits if errors_return
};
inline bool has_unusual; // the program has made one of the first two kinds
// MPI_Request_get_status makes a complete persistent request inactive, so that the call that completes it gets an empty
// status (MPICH 4.2.1).
inline bool looks_end_persistent;
inline bool has_persistent; // and the program has made one
inline bool errors_return;  // the program has set an error handler
void made_unusual(MPI_Request request, Unusual kind);
void frees_request(MPI_Request request);
bool is_any(Unusual kind, int count, const MPI_Request* requests);

// Forgets the generalized requests that a call completes, because MPI gives their handles to other requests.
class Completion {
public:
    Completion(int count, const MPI_Request* requests) : requests_(requests)
    {
        if (WS_UNLIKELY(has_unusual) && requests)
            remember(count);
    }
    ~Completion()
    {
        if (WS_UNLIKELY(before_ != nullptr))
            forget();
    }
    Completion(const Completion&) = delete;
    Completion& operator=(const Completion&) = delete;

private:
    struct Unusuals;
    void remember(int count);
    void forget();
    const MPI_Request* requests_;
    Unusuals* before_ = nullptr;
};

// Lets MPI handle what has come, so that ranks that have not arrived can: their messages or their puts and gets may
// need this rank.
void progress();

// Called by MPI calls that take something in: ranks of the node may have sends open that this was for.
inline void taken()
{
    if (WS_UNLIKELY(hooks.senders_waiting && *hooks.senders_waiting))
        hooks.taken();
}

// One-sided calls of MPICH and of Open MPI 5.0 return only after the target has polled, often many times, and nothing
// rings a target that sleeps. So while a rank is in such a call, its target polls and does not sleep when it waits; but
// not for long, because a call that waits for a lock may last until another rank unlocks it.
class Needs {
public:
    using Word = base::Hardware::Word;
    // The counts of this rank and of all ranks of the node. Null: polls are not needed (Open MPI 4.1), or the program
    // has no windows.
    inline static volatile Word *own, *all;

    // This process has begun a request whose completion may need polls of its target, and has waited for none since.
    inline static volatile bool by_request;

    // Whether another rank needs this rank's polls now.
    static bool are_open() { return WS_UNLIKELY(own != nullptr) && is_any(); }

private:
    friend class NeedsPolls;
    static constexpr unsigned bits = 16; // of the number of open calls; above, that of calls that have begun
    static constexpr Word begins = (Word(1) << bits) + 1, ends = Word(-1);
    static bool is_any();
};

// A call that needs the polls of a rank of `group`. Null, or a negative rank: those of all ranks.
class NeedsPolls {
public:
    explicit NeedsPolls(const Group* group = nullptr, int rank = -1)
        : count_(WS_UNLIKELY(Needs::own != nullptr) ? count_of(group, rank) : nullptr)
    {
        // Then the call rings. Full: a target that this finds awake sees the count before it sleeps.
        if (WS_UNLIKELY(count_ != nullptr))
            base::Hardware::fetch_add_full(*count_, Needs::begins);
    }
    ~NeedsPolls()
    {
        if (WS_UNLIKELY(count_ != nullptr))
            base::Hardware::fetch_add_full(*count_, Needs::ends);
    }
    NeedsPolls(const NeedsPolls&) = delete;
    NeedsPolls& operator=(const NeedsPolls&) = delete;

private:
    static volatile Needs::Word* count_of(const Group* group, int rank);
    volatile Needs::Word* const count_;
};

// Every rank of the node; ring_rank(): one.
void ring_all();

// Polls, and lends the core in between, until `poll()` is true.
template <class Poll> void wait_until(Poll poll)
{
    if (poll())
        return;
    taken();
    unsigned polls = 0;
    while (!poll()) {
        if (WS_UNLIKELY(!hooks.blocked))
            return; // MPI itself will wait
        if (polls >= MPIR_WORKSHARE_SLOW_POLLS && Needs::are_open()) {
            sched_yield();
            continue;
        }
        if (polls >= MPIR_WORKSHARE_SLOW_POLLS)
            hooks.blocked(polls - MPIR_WORKSHARE_SLOW_POLLS);
        polls++;
    }
    if (polls > MPIR_WORKSHARE_SLOW_POLLS && hooks.unblocked)
        hooks.unblocked();
}

// The program has nonblocking collective calls. MPI sends their messages, round by round, when ranks poll, and nobody
// rings for them.
inline bool has_rounds;
extern uint64_t round_ticks;

// The same for requests. If ranks share cores, `blocked` puts them to sleep at once, and each round would take a nap:
// so for a while after the start and after each sleep the rank lets others run between polls.
template <class Poll> void wait_for_requests(Poll poll)
{
    if (WS_UNLIKELY(Needs::by_request)) {
        Needs::by_request = false;
        const NeedsPolls needs_polls; // of any rank: whose request it was is not kept
        ring_all();
        wait_for_requests(poll);
        return;
    }
    if (WS_LIKELY(!has_rounds || !hooks.crowded)) {
        wait_until(poll);
        return;
    }
    unsigned polls = 0;
    for (uint64_t until = base::ticks() + round_ticks; !poll() && hooks.blocked;) {
        const uint64_t now = base::ticks();
        if (now < until || Needs::are_open()) {
            taken();
            sched_yield();
            continue;
        }
        hooks.blocked(polls++);
        if (base::ticks() - now > round_ticks)
            until = base::ticks() + round_ticks;
    }
    if (polls > 0 && hooks.unblocked)
        hooks.unblocked();
}

// While this is there the rank may wait for others to take what it has sent: to a rank of MPI_COMM_WORLD, or to
// several.
class OpenSends {
public:
    explicit OpenSends(int to)
    {
        const int before = base::fetch_add_relaxed(hooks.sends_open, 1); // a hint: other threads change it
        if (before == 0)
            base::store_relaxed(hooks.sends_to, to);
        else if (base::load_relaxed(hooks.sends_to) != to)
            base::store_relaxed(hooks.sends_to, -1);
    }
    ~OpenSends() { base::fetch_add_relaxed(hooks.sends_open, -1); }
    OpenSends(const OpenSends&) = delete;
    OpenSends& operator=(const OpenSends&) = delete;
};

// Ringing. A group that is not known is one whose members may be any ranks.
void ring_rank(const Group* group, int rank);

enum class Depends { on_all, on_some, on_root, root_on_all };

// A collective call that used this row has failed. The others may have made it or not, so numbers of calls say nothing
// from here on.
void abandon(int row);

// A collective call of `group`, null: not known. `needs(rank)`: this rank depends on that one. `moves()`: the arguments
// look right, and there is something to do; else MPI may return at once, without the others.
template <class Moves, class Needs, class Call>
int collective(Group* group, Depends depends, int root, Site site, Moves moves, Needs needs, Call call)
{
    const bool is_root = group && group->rank() == root,
               looks = site.waits() && (depends != Depends::root_on_all || is_root);
    if (WS_UNLIKELY(!group || !group->has_board())) {
        if (!group || group->size() > 1)
            ring_all();
        const bool may_wait = looks && group && group->size() > 1 && !group->is_of_file() &&
                              !(depends == Depends::on_root && is_root);
        const uint64_t began = may_wait ? base::ticks() : 0;
        const int error = call();
        if (may_wait && hooks.blocked)
            ws_has_waited(began); // with what MPI computes in it: how long it has waited is not seen
        site.learn();
        return error;
    }
    const uint64_t turn = group->arrive();
    const int row = group->row();
    const bool is_early = looks && !group->has_arrived(turn, needs);
    // Where all depend on all, the last one to come rings.
    if (depends == Depends::root_on_all && !is_root)
        ring_rank(group, root);
    else if (depends == Depends::on_all ? !is_early : depends != Depends::on_root || is_root)
        group->ring_members(hooks.ring);
    if (depends == Depends::on_all && !is_early)
        ws_let_woken_run();
    if (is_early && moves())
        wait_until([&] { return group->has_arrived(turn, needs) || (progress(), false); });
    const int error = call();
    if (WS_UNLIKELY(error != MPI_SUCCESS))
        abandon(row); // the group may have gone
    taken();
    site.learn();
    return error;
}

// A receive that is right: MPI_Iprobe would raise the error, and then the call again.
inline bool can_probe(const Group* group, int source, int tag)
{
    return group && (group->has_rank(source) || source == MPI_ANY_SOURCE || source == MPI_PROC_NULL) &&
           (tag >= 0 || tag == MPI_ANY_TAG);
}

// Waits until the message is there, or the probe fails: then the call that receives it says so.
inline void wait_for_message(const Group* group, int source, int tag, MPI_Comm comm)
{
    MPI_Status status;
    int flag = 0;
    wait_until([&] { return real.iprobe(source, tag, comm, &flag, &status) != MPI_SUCCESS || flag; });
    if (flag && hooks.senders_waiting && *hooks.senders_waiting)
        ring_rank(group, status.MPI_SOURCE); // a long message may need its sender
}

template <class Call> int receive(const Group* group, int source, int tag, MPI_Comm comm, Site site, Call call)
{
    if (site.waits() && can_probe(group, source, tag))
        wait_for_message(group, source, tag, comm);
    const int error = call();
    taken();
    site.learn();
    return error;
}

// MPI_Wait. MPI_Test does all of it when the request is complete, with its errors and callbacks.
inline int finish(MPI_Request* request, MPI_Status* status)
{
    int error = MPI_SUCCESS, over = 0;
    wait_until([&] { return (error = real.test(request, &over, status)) != MPI_SUCCESS || over; });
    return over || error != MPI_SUCCESS ? error : real.wait(request, status);
}

// `poll` is the call that does not wait, and says with `*over` whether it did what it is for; else `call` does.
template <class Poll, class Call> int poll_instead(Site site, Poll poll, Call call)
{
    int error = MPI_SUCCESS, over = 0;
    if (site.waits()) {
        const OpenSends open(-1);
        wait_for_requests([&] { return (error = poll(&over)) != MPI_SUCCESS || over; });
    }
    if (!over && error == MPI_SUCCESS)
        error = call();
    taken();
    site.learn();
    return error;
}

// Returns whether any of the requests is complete, or one is wrong: then the program's call says so.
bool is_any_complete(int count, const MPI_Request* requests);

// Waits until `is_over()`, which completes no request; then `call` does.
template <class IsOver, class Call> int look_before(Site site, IsOver is_over, Call call)
{
    if (site.waits()) {
        const OpenSends open(-1);
        wait_for_requests(is_over);
    }
    const int error = call();
    taken();
    site.learn();
    return error;
}

// Returns whether the requests from `next` on are complete, and moves it to the first one that is not.
bool are_complete(int count, const MPI_Request* requests, int& next);

// MPI_Request_get_status of MPICH calls the error handler of MPI_COMM_WORLD if a request has failed, and MPI_Waitall
// calls it then, too. Requests of files are not polled by it. So if the program has handlers or such requests,
// MPI_Testall completes the requests, at the first failure.
inline bool needs_testall;
// MPI_Testall calls the handler of a failed request again in each call, until the others are complete (MPICH 5): with
// handlers MPI itself waits.
inline bool testall_repeats_errors;
inline bool has_handlers; // the program has made one
#ifdef OPEN_MPI
constexpr bool status_is_handled = false;
#else
constexpr bool status_is_handled = true;
#endif

// MPI_Waitall. The requests are looked at without completing them, because errors and statuses of MPI_Testall are
// others.
template <class Test, class Call>
int wait_for_all(int count, const MPI_Request* requests, Site site, Test test, Call call)
{
    const auto mpi_waits = [&] { return look_before(site, [] { return true; }, call); };
    if (WS_UNLIKELY(has_unusual) && is_any(Unusual::generalized, count, requests))
        return mpi_waits();
    const bool partitioned = WS_UNLIKELY(has_unusual) && is_any(Unusual::partitioned, count, requests);
    if (WS_UNLIKELY(has_persistent) && is_any(Unusual::persistent, count, requests))
        return partitioned || errors_return ? mpi_waits() : poll_instead(site, test, call);
    if (status_is_handled && WS_UNLIKELY(needs_testall) && !partitioned)
        return has_handlers && testall_repeats_errors ? mpi_waits() : poll_instead(site, test, call);
    int next = 0;
    return look_before(site, [&] { return !requests || are_complete(count, requests, next); }, call);
}

// A send that is right: else the error is to name the program's call.
inline bool can_post(const Group* group, int dest, int tag) { return group && group->has_rank(dest) && tag >= 0; }

template <class Post, class Call> int send(const Group* group, int dest, int tag, Site site, Post post, Call call)
{
    if (site.waits() && can_post(group, dest, tag)) {
        MPI_Request request = MPI_REQUEST_NULL;
        int error = post(&request);
        if (request == MPI_REQUEST_NULL) // it has failed. MPICH 5 returns MPI_SUCCESS then if a handler returns
            return error;
        ring_rank(group, dest);
        const OpenSends open(group->world_rank(dest));
        error = finish(&request, MPI_STATUS_IGNORE);
        site.learn();
        return error;
    }
    ring_rank(group, dest); // a long message needs the receiver
    const int error = call();
    ring_rank(group, dest);
    site.learn();
    return error;
}

// The send is posted, the message probed for and then received by MPI_Recv, whose errors are those of the communicator:
// MPI_Test of MPICH 4.0 gives them to MPI_COMM_WORLD. Other tools do not see that: PMPI functions do it.
template <class Send, class Receive, class Call>
int exchange(const Group* group, int dest, int sendtag, int source, int recvtag, MPI_Comm comm, Site site,
             Send post_send, Receive receive, Call call)
{
    if (site.waits() && can_probe(group, source, recvtag) && can_post(group, dest, sendtag)) {
        MPI_Request request = MPI_REQUEST_NULL;
        int error = post_send(&request);
        if (request == MPI_REQUEST_NULL) // it has failed. MPICH 5 returns MPI_SUCCESS then if a handler returns
            return error;
        ring_rank(group, dest);
        const OpenSends open(group->world_rank(dest));
        wait_for_message(group, source, recvtag, comm);
        const int received = receive();
        error = finish(&request, MPI_STATUS_IGNORE);
        taken();
        site.learn();
        return error != MPI_SUCCESS ? error : received;
    }
    ring_rank(group, dest);
    const int error = call();
    ring_rank(group, dest);
    taken();
    site.learn();
    return error;
}

// Communicators, windows and files that the program makes. MPI says when it frees a communicator or a window.
void made_comm(MPI_Comm comm);
void made_win(MPI_Comm parent, MPI_Win win);
void made_file(MPI_Comm parent, MPI_File file);
// Null: it is not known.
Group* group_of_comm(MPI_Comm comm);
Group* group_of_win(MPI_Win win);
Group* group_of_file(MPI_File file);
// MPI_File_close begins; MPI may give the handle to another file before it ends.
std::unique_ptr<Group> take_file(MPI_File file);
void put_back(MPI_File file, std::unique_ptr<Group> group);

// What the wrappers of MPI_Init, MPI_T_init_thread and MPI_Finalize do besides.
int thread_level(int asked);
int tool_thread_level(int asked);
void initialized();
void finalizing();

} // namespace ws::host
