// SPDX-License-Identifier: MIT
//
// The speed of a node, the paper's V. A node that happens to get long tasks is not a slow one: what tasks took there is
// compared with what tasks of the same kinds took elsewhere. No MPI, no shared state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ws::policy::tasks {

// What tasks of each kind took lately, on a node or on several: of the few kinds that took most.
struct Pace {
    static constexpr int most = 8;
    struct KindPace {
        uint16_t kind = 0;
        float mean_s = 0, tasks = 0; // 0 tasks: an empty place
        float seconds() const { return mean_s * tasks; }
    } kinds[most];

    void add(const KindPace& more)
    {
        KindPace* least = &kinds[0];
        for (KindPace& k : kinds) {
            if (k.tasks > 0 && k.kind == more.kind) {
                k.mean_s = (k.seconds() + more.seconds()) / (k.tasks + more.tasks);
                k.tasks += more.tasks;
                return;
            }
            if (k.seconds() < least->seconds())
                least = &k;
        }
        if (more.seconds() > least->seconds())
            *least = more;
    }
    void operator+=(const Pace& more)
    {
        for (const KindPace& k : more.kinds)
            if (k.tasks > 0)
                add(k);
    }
};

// V of a core: how long the tasks that ran here would have taken at everybody's mean for their kinds, by what they
// took. `all`: of all nodes, this one among them. 0: not known.
inline double speed(const Pace& own, const Pace& all)
{
    double there_s = 0, here_s = 0;
    for (const Pace::KindPace& k : own.kinds)
        for (const Pace::KindPace& a : all.kinds)
            if (k.tasks > 0 && a.tasks > 0 && k.kind == a.kind) {
                there_s += double(k.tasks) * double(a.mean_s);
                here_s += double(k.seconds());
            }
    return here_s > 0 ? there_s / here_s : 0;
}

// The same to share out work by: a node of which little is known counts as one like all.
inline double speed_to_count_on(const Pace& own, const Pace& all)
{
    constexpr double tasks_to_trust = 4;
    double there_s = 0, here_s = 0, tasks = 0;
    for (const Pace::KindPace& k : own.kinds)
        for (const Pace::KindPace& a : all.kinds)
            if (k.tasks > 0 && a.tasks > 0 && k.kind == a.kind) {
                there_s += double(k.tasks) * double(a.mean_s);
                here_s += double(k.seconds());
                tasks += double(k.tasks);
            }
    if (!(here_s > 0))
        return 1;
    const double some_s = tasks_to_trust * there_s / tasks;
    return (there_s + some_s) / (here_s + some_s);
}

// What is measured is never equal, and shares of equal nodes that differ by one task would cost a whole task.
inline bool as_good_as_equal(double speed, double other)
{
    return std::max(speed, other) < 1.25 * std::min(speed, other);
}

// In one word, for memory that others read.
inline uint64_t packed(const Pace::KindPace& k)
{
    uint32_t mean;
    std::memcpy(&mean, &k.mean_s, sizeof mean);
    return uint64_t(k.kind) << 48 | uint64_t(std::clamp(k.tasks, 0.0f, 65535.0f)) << 32 | mean;
}
inline Pace::KindPace unpacked(uint64_t word)
{
    const uint32_t mean = uint32_t(word);
    Pace::KindPace k = {uint16_t(word >> 48), 0, float(word >> 32 & 0xffff)};
    std::memcpy(&k.mean_s, &mean, sizeof mean);
    return k.mean_s >= 0 && k.mean_s <= 1e9f ? k : Pace::KindPace{}; // other processes can write there
}

} // namespace ws::policy::tasks
