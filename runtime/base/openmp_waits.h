// SPDX-License-Identifier: MIT
//
// How long idle OpenMP threads of a job spin. mpirun sets these variables, unless the user has set one of them
// (calm_openmp() in launcher/mpiexec.cpp, with the reasons), and WS_CALMED=1. Programs that a rank or a job's script
// starts get none of them.
#pragma once

namespace ws::base {

struct OpenMPWait {
    const char *variable, *value;
};
constexpr OpenMPWait openmp_waits[] = {
    {"OMP_WAIT_POLICY", "active"}, {"GOMP_SPINCOUNT", "10000"}, {"KMP_BLOCKTIME", "1"}};

} // namespace ws::base
