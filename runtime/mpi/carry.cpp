// SPDX-License-Identifier: MIT
#include "mpi/carry.h"

#include "loop/region.h"
#include "mpi/end_job.h"
#include "mpi/job.h"
#include "policy/runner.h"

#include <cstdio>

namespace ws {

namespace {

// A look for letters costs some 100 ns. A rank that sleeps in its wait looks when it wakes.
constexpr double blocked_every_us = 20, called_every_us = 1000;

mail::Mail* post_office;
WS_THREAD_LOCAL bool carrier; // the home thread
uint64_t last_look;           // ticks
bool mpi_takes_locks;
void (*blocked_hook)(unsigned polls);
void (*called_hook)(const char* name, int enter);

// For as long as libws itself uses MPI's functions that look for something, which are hooked for the program's sake.
class Unpolled {
public:
    Unpolled() : polled_(job.hooks->polled) { job.hooks->polled = nullptr; }
    ~Unpolled() { job.hooks->polled = polled_; }
    Unpolled(const Unpolled&) = delete;

private:
    void (*const polled_)();
};

[[noreturn]] void give_up(const mail::Broken& e)
{
    std::fprintf(stderr, "workshare: letters between ranks: %s; ending the job\n", e.what());
    end_job();
}

void look(uint64_t now, double every_us)
{
    if (now - last_look < uint64_t(every_us * loop_host.ticks_per_us))
        return;
    last_look = now;
    const Unpolled unpolled;
    try {
        post_office->poll();
    } catch (const mail::Broken& e) {
        give_up(e);
    }
}

void carry_blocked(unsigned polls)
{
    if (carrier && !thread_in_region())
        look(ticks(), blocked_every_us);
    if (blocked_hook)
        blocked_hook(polls);
}

// MPI holds its lock here, which is not recursive, if it takes locks at all.
void carry_called(const char* name, int enter)
{
    if (enter && carrier && !mpi_takes_locks && !thread_in_region())
        look(ticks(), called_every_us);
    if (called_hook)
        called_hook(name, enter);
}

} // namespace

mail::Mail* open_mail(policy::Runner& runner)
{
    if (!runner.writes_letters())
        return nullptr;
    post_office = new mail::Mail;
    carrier = true;
    int level; // more than the program asked for if its loops call MPI
    PMPI_Query_thread(&level);
    mpi_takes_locks = level == MPI_THREAD_MULTIPLE;
    try {
        post_office->open(MPI_COMM_WORLD, [&runner](int from, mail::Kind kind, std::string_view letter) { runner.deliver(from, kind, letter); });
    } catch (const mail::Broken& e) {
        give_up(e);
    }
    return post_office;
}

void carry_in_hooks()
{
    if (!post_office)
        return;
    blocked_hook = job.hooks->blocked;
    job.hooks->blocked = carry_blocked;
    called_hook = job.hooks->called;
    job.hooks->called = carry_called;
}

void close_mail()
{
    if (!post_office)
        return;
    job.hooks->called = called_hook;
    try {
        post_office->drain([] { sched_yield(); });
        post_office->close();
    } catch (const mail::Broken& e) {
        give_up(e);
    }
    delete post_office;
    post_office = nullptr;
}

} // namespace ws
