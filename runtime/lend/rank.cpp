// SPDX-License-Identifier: MIT
#include "lend/rank.h"

#include "lend/body_stack.h"
#include "base/atomics.h"

#include <cerrno>

namespace ws::lend {

using base::Hardware;

void Rank::start()
{
    peers_.start(window);
    home_.start();
    stand_in_.start();
    workers_.start();
}

void Rank::retime(const LendTimes& t)
{
    base::store_relaxed(times.spin_ticks, t.spin_ticks);
    base::store_relaxed(times.linger_ticks, t.linger_ticks);
    base::store_relaxed(times.quantum_us, t.quantum_us);
    base::store_relaxed(times.longest_quantum_us, t.longest_quantum_us);
}

void Rank::stop()
{
    stand_in_.stop();
    home_.stop();
    workers_.stop();
}

int Rank::start_body_thread(pthread_t& thread, base::CpuMask cpus, void* (*run)(void*), void* argument) const
{
    const BodyStack body = {options.stack_bytes, window.own_home().world_rank};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    // With its creator's mask it could begin on its creator's CPU, the one that is surely busy, and would have to wait
    // for a time slice there before it could move away.
    int error = EINVAL;
    if (!cpus.empty()) {
        pthread_attr_setaffinity_np(&attributes, cpus.size() * sizeof *cpus.words(),
                                    reinterpret_cast<const cpu_set_t*>(cpus.words()));
        error = create_body_thread(thread, attributes, body, run, argument);
    }
    if (error == EINVAL || error == EPERM) { // those are not its CPUs to use
        pthread_attr_destroy(&attributes);
        pthread_attr_init(&attributes);
        error = create_body_thread(thread, attributes, body, run, argument);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

bool Rank::is_blocked() const
{
    return Hardware::load_relaxed(window.own_home().occupancy) == window::rank_blocked; // relaxed: a hint
}

} // namespace ws::lend
