// SPDX-License-Identifier: MIT
#include "base/cpus.h"

#include <cerrno>
#include <unistd.h>

namespace ws::base {

CpuSet own_cpus()
{
    constexpr unsigned enough = 1u << 14; // words: a million CPUs
    for (unsigned size = CpuSet::usual; size <= enough; size *= 2) {
        CpuSet set(size);
        if (set.read_own())
            return set;
        if (errno != EINVAL)
            break;
    }
    CpuSet all;
    for (int c = 0; c < sysconf(_SC_NPROCESSORS_ONLN); c++)
        all.add(c);
    return all;
}

} // namespace ws::base
