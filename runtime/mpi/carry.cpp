// SPDX-License-Identifier: MIT
#include "mpi/carry.h"

#include "loop/participant.h"
#include "mpi/end_job.h"
#include "mpi/job.h"
#include "policy/runner.h"
#include "window/times.h"

#include <cstdio>

namespace ws::mpi {

namespace {

mail::Mail* post_office;
WS_THREAD_LOCAL bool carrier; // the home thread
uint64_t last_look;           // ticks
bool reading;                 // the home thread is in MPI only to carry letters. No other thread reads this
void (*blocked_hook)(unsigned polls);
void (*polled_hook)();
void (*called_hook)(const char* name, int enter);
void (*without_lock)(void (*what)()); // MPICH's

[[noreturn]] void give_up(const mail::Broken& e)
{
    std::fprintf(stderr, "workshare: letters between ranks: %s; ending the job\n", e.what());
    end_job();
}

bool is_time(double every_us)
{
    if (!carrier || loop::thread_in_region())
        return false;
    const uint64_t now = window::ticks();
    if (now - last_look < uint64_t(every_us * loop::host().ticks_per_us))
        return false;
    last_look = now;
    return true;
}

void look()
{
    reading = true;
    try {
        post_office->poll();
    } catch (const mail::Broken& e) {
        give_up(e);
    }
    reading = false;
}

void carry_blocked(unsigned polls)
{
    if (is_time(window::times::letters_blocked_us))
        look();
    if (blocked_hook)
        blocked_hook(polls);
}

// With MPI_THREAD_MULTIPLE MPI holds its lock here.
void carry_called(const char* name, int enter)
{
    if (enter && is_time(window::times::letters_called_us))
        without_lock(look);
    if (called_hook)
        called_hook(name, enter);
}

// Only the program's own looks count as its waiting.
void carry_polled()
{
    if (!(carrier && reading))
        polled_hook();
}

} // namespace

mail::Mail* open_mail(policy::Runner& runner)
{
    if (!runner.writes_letters())
        return nullptr;
    post_office = new mail::Mail;
    carrier = true;
    try {
        post_office->open(MPI_COMM_WORLD, [&runner](int from, mail::Kind kind, std::string_view letter) {
            runner.deliver(from, kind, letter);
        });
    } catch (const mail::Broken& e) {
        give_up(e);
    }
    return post_office;
}

void carry_in_hooks(Job& job)
{
    if (!post_office)
        return;
    without_lock = job.hooks->without_lock;
    blocked_hook = job.hooks->blocked;
    job.hooks->blocked = carry_blocked;
    called_hook = job.hooks->called;
    job.hooks->called = carry_called;
    if (job.hooks->polled) {
        polled_hook = job.hooks->polled;
        job.hooks->polled = carry_polled;
    }
}

void close_mail(Job& job)
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

} // namespace ws::mpi
