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

#include <mpi.h>

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

    struct Call {
        uintptr_t frame; // 0: in none
        const char* name;
        const void* site;
        const char* told; // hooks.called knows that it has begun
    };
    static __thread __attribute__((tls_model("initial-exec"))) Call call_;
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
    Site(const char* name, const void* place)
        : calm_(calm_sites[((uintptr_t(name) ^ uintptr_t(place) << 3) * 0x9E3779B97F4A7C15u) >> (64 - bits)]),
          began_(base::ticks())
    {}
    bool waits() const { return base::load_relaxed(calm_) < enough; }
    // The call returns. Relaxed: other threads may count at the same place; a lost count costs a look.
    void learn()
    {
        const bool calm = base::ticks() - began_ < calm_ticks;
        const unsigned char so_far = base::load_relaxed(calm_);
        if (!calm || so_far < enough)
            base::store_relaxed(calm_, static_cast<unsigned char>(calm ? so_far + 1 : 0));
    }

    static void set_clock(double ticks_per_us);

private:
    static constexpr unsigned bits = 12;
    // A place is quiet after so many calls in a row that returned quickly.
    static constexpr unsigned char enough = 16;
    static unsigned char calm_sites[1 << bits];
    static uint64_t calm_ticks;
    unsigned char& calm_;
    uint64_t began_;
};

// Called by MPI calls that take something in: ranks of the node may have sends open that this was for.
inline void taken()
{
    if (WS_UNLIKELY(hooks.senders_waiting && *hooks.senders_waiting))
        hooks.taken();
}

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
        if (polls >= MPIR_WORKSHARE_SLOW_POLLS)
            hooks.blocked(polls - MPIR_WORKSHARE_SLOW_POLLS);
        polls++;
    }
    if (polls > MPIR_WORKSHARE_SLOW_POLLS && hooks.unblocked)
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
void ring_all();

// The calls of MPI itself that are polled.
struct Real {
    decltype(&PMPI_Iprobe) iprobe;
    decltype(&PMPI_Request_get_status) get_status;
    decltype(&PMPI_Testany) testany;
    decltype(&PMPI_Testsome) testsome;
    decltype(&PMPI_Wait) wait;
    decltype(&PMPI_Win_test) win_test;
};
extern Real real;

enum class Depends { on_all, on_root, root_on_all, on_lower };

// A collective call of `group`, null: not known.
template <class Call> int collective(Group* group, Depends depends, int root, Site site, Call call)
{
    if (WS_UNLIKELY(!group || !group->has_board())) {
        if (!group || group->size() > 1)
            ring_all();
        const int error = call();
        site.learn();
        return error;
    }
    const uint64_t turn = group->arrive();
    const bool all_wait = depends != Depends::root_on_all || group->rank() == root;
    if (depends == Depends::root_on_all && group->rank() != root)
        ring_rank(group, root);
    else if (depends != Depends::on_root || group->rank() == root)
        group->ring_members(hooks.ring);
    if (site.waits() && all_wait) {
        // The board needs no MPI. But another rank may need this one's, which has to look at its messages: as the
        // target of a one-sided call (Open MPI's MPI_Accumulate waits for it).
        unsigned looks = 0;
        wait_until([&] {
            int flag = 0;
            if (++looks > MPIR_WORKSHARE_SLOW_POLLS)
                real.iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
            return group->has_arrived(turn, depends == Depends::on_root    ? root
                                            : depends == Depends::on_lower ? Group::lower
                                                                           : Group::all);
        });
    }
    const int error = call();
    if (WS_UNLIKELY(error != MPI_SUCCESS))
        group->take_back(); // most likely the others have not come here
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

template <class Call> int receive(const Group* group, int source, int tag, MPI_Comm comm, Site site, Call call)
{
    if (site.waits() && can_probe(group, source, tag)) {
        MPI_Status status;
        int flag = 0;
        wait_until([&] {
            return real.iprobe(source, tag, comm, &flag, &status) != MPI_SUCCESS || flag;
        });
        if (flag && hooks.senders_waiting && *hooks.senders_waiting)
            ring_rank(group, status.MPI_SOURCE); // a long message may need its sender
    }
    const int error = call();
    taken();
    site.learn();
    return error;
}

// A request until it is complete: what MPI_Wait then does is MPI's own.
inline bool is_complete(MPI_Request request)
{
    int flag = 0;
    return real.get_status(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

template <class Post, class Call> int send(const Group* group, int dest, Site site, Post post, Call call)
{
    int error;
    if (site.waits()) {
        MPI_Request request;
        error = post(&request);
        if (error != MPI_SUCCESS)
            return error;
        ring_rank(group, dest);
        {
            const OpenSends open(group ? group->world_rank(dest) : -1);
            wait_until([&] { return is_complete(request); });
        }
        error = real.wait(&request, MPI_STATUS_IGNORE);
    } else {
        ring_rank(group, dest); // a long message needs the receiver
        error = call();
        ring_rank(group, dest);
    }
    site.learn();
    return error;
}

// The send is posted, so that both of two ranks that exchange may wait. Other tools do not see that: PMPI functions do
// it.
template <class Post, class Receive, class Call>
int exchange(const Group* group, int dest, int source, int tag, MPI_Comm comm, Site site, Post post, Receive get,
             Call call)
{
    int error;
    if (site.waits() && can_probe(group, source, tag)) {
        MPI_Request request;
        error = post(&request);
        if (error != MPI_SUCCESS)
            return error;
        ring_rank(group, dest);
        {
            const OpenSends open(group->world_rank(dest));
            error = receive(group, source, tag, comm, site, get);
            wait_until([&] { return is_complete(request); });
        }
        const int sent = real.wait(&request, MPI_STATUS_IGNORE);
        return error != MPI_SUCCESS ? error : sent;
    }
    ring_rank(group, dest);
    error = call();
    ring_rank(group, dest);
    taken();
    site.learn();
    return error;
}

template <class Call> int wait(const MPI_Request* request, Site site, Call call)
{
    if (site.waits() && *request != MPI_REQUEST_NULL) {
        const OpenSends open(-1);
        wait_until([&] { return is_complete(*request); });
    }
    const int error = call();
    taken();
    site.learn();
    return error;
}

template <class Call> int waitall(int count, const MPI_Request* requests, Site site, Call call)
{
    if (site.waits() && count > 0) {
        const OpenSends open(-1);
        int done = 0;
        wait_until([&] {
            while (done < count && (requests[done] == MPI_REQUEST_NULL || is_complete(requests[done])))
                done++;
            return done == count;
        });
    }
    const int error = call();
    taken();
    site.learn();
    return error;
}

// `poll` is the call that does not wait, and says with `*over` whether it did what it is for; else `call` does.
template <class Poll, class Call> int poll_instead(Site site, Poll poll, Call call)
{
    int error = MPI_SUCCESS, over = 0;
    if (site.waits()) {
        const OpenSends open(-1);
        wait_until([&] { return (error = poll(&over)) != MPI_SUCCESS || over; });
    }
    if (!over && error == MPI_SUCCESS)
        error = call();
    taken();
    site.learn();
    return error;
}

// Communicators, windows and files that the program makes and frees.
void made_comm(MPI_Comm comm);
void made_win(MPI_Comm parent, MPI_Win win);
void made_file(MPI_Comm parent, MPI_File file);
// Null: it is not known, or has more members than one can keep.
Group* group_of_comm(MPI_Comm comm);
Group* group_of_win(MPI_Win win);
Group* group_of_file(MPI_File file);
void forget(Group* group);

// What the wrappers of MPI_Init and MPI_Finalize do besides.
int thread_level(int asked);
void initialized();
void finalizing();

} // namespace ws::host
