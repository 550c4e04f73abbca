// SPDX-License-Identifier: MIT
//
// What this process's own work has cost, from its load (measure/meter.h).
#pragma once

namespace ws::policy::placement {

// While it lives, nothing counts as computed: calls of MPIX functions are no work of the program.
class AroundCall {
public:
    AroundCall();
    ~AroundCall();
    AroundCall(const AroundCall&) = delete;
    AroundCall& operator=(const AroundCall&) = delete;
};

bool can_measure();
// Both inside of an AroundCall. Seconds since the last begin_measuring().
double measured_load();
void begin_measuring();

} // namespace ws::policy::placement
