// SPDX-License-Identifier: MIT
#include "policy/placement/measured.h"

#include "measure/meter.h"
#include "observe/board.h"
#include "policy/placement/host.h"
#include "base/os.h"

#include <algorithm>
#include <mutex>

namespace ws::policy::placement {

namespace {

// In ticks, of what the rank's own work cost since it attached.
int64_t begun;                // when measuring began anew
int64_t in_calls;             // in MPIX functions, since then
std::mutex lock;              // of these two
thread_local int64_t entered; // the call that is under way

int64_t useful() { return int64_t(host.meter->load(base::ticks()).useful); }

} // namespace

bool can_measure() { return host.board != nullptr; }

double measured_load()
{
    std::lock_guard<std::mutex> guard(lock);
    return double(std::max<int64_t>(entered - begun - in_calls, 0)) / host.board->ticks_per_us * 1e-6;
}

void begin_measuring()
{
    std::lock_guard<std::mutex> guard(lock);
    begun = entered;
    in_calls = 0;
}

AroundCall::AroundCall()
{
    if (host.board)
        entered = useful();
}

AroundCall::~AroundCall()
{
    if (!host.board)
        return;
    const int64_t now = useful();
    std::lock_guard<std::mutex> guard(lock);
    in_calls += now - entered;
}

} // namespace ws::policy::placement
