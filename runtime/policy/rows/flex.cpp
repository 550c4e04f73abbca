// SPDX-License-Identifier: MIT
#include "policy/rows/flex.h"

#include "policy/rows/host.h"
#include "base/os.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ws::policy::rows {

// A rank that waits looks so often whether the others' numbers have come, each time half as often: mostly they have
// before it waits, and each look wakes it.
constexpr double flex_look_least_us = 10, flex_look_most_us = 20000;

namespace {

// Of intervals in which rows did not move though their processes were unequal, those with that reason; or nothing.
std::string reason_text(Outcome outcome, const char* words)
{
    const uint64_t n = told.outcome[unsigned(outcome)];
    return n ? ", " + std::to_string(n) + " " + words : "";
}

class Flex final : public policy::Policy {
public:
    policy::Wants attach(policy::Rank& rank) override
    {
        host = Job(rank);
        host.home = pthread_self();
        host.steps = rank.steps;
        return {};
    }
    // Numbers of an interval come when the slowest process has ended it: asked for ever more seldom until then.
    policy::Wants step(policy::Rank&, uint64_t now, uint64_t) override
    {
        if (!step_all()) {
            pause_us_ = flex_look_least_us;
            return {};
        }
        const double us = pause_us_;
        pause_us_ = std::min(2 * us, flex_look_most_us);
        return {false, now + uint64_t(us * host.ticks_per_us)};
    }
    void end(policy::Rank&) override { host.steps = nullptr; }
    void want()
    {
        pause_us_ = flex_look_least_us;
        host.steps->want(*this, {false, base::ticks()});
    }
    void tell(observe::Facts& facts) const override
    {
        if (!told.partitions)
            return;
        char text[240];
        std::string gained;
        if (told.moves)
            std::snprintf(text, sizeof text,
                          "XMPI moved rows %llu time%s in %llu intervals (%.4g rows, %.4g MB, %.3g s), by ",
                          static_cast<unsigned long long>(told.moves), told.moves == 1 ? "" : "s",
                          static_cast<unsigned long long>(told.intervals), told.rows, told.bytes * 1e-6, told.move_s);
        else
            std::snprintf(text, sizeof text, "XMPI moved no rows in %llu intervals, by ",
                          static_cast<unsigned long long>(told.intervals));
        if (told.expected_s > 0)
            gained = ", with " + std::to_string(std::lround(100 * told.measured_s / told.expected_s)) +
                     " % of the gain expected of it";
        if (told.undone)
            gained += "; " + std::to_string(told.undone) + (told.undone == 1 ? " move was" : " moves were") +
                      " undone for having gained nothing";
        facts.policies.push_back(
            text + told.measured + gained + reason_text(Outcome::burst, "not for bursts of foreign load") +
            reason_text(Outcome::noise, "not for noise") +
            reason_text(Outcome::unpaid, "not as it would not have paid") +
            reason_text(Outcome::untrusted, "not as moves before had not gained what was expected") +
            reason_text(Outcome::no_memory, "not for want of memory"));
    }
    void detach(policy::Rank&) override { host = {}; }

private:
    double pause_us_ = flex_look_least_us;
};

Flex flex;

} // namespace

void Job::want_steps() const
{
    if (steps && pthread_equal(pthread_self(), home))
        flex.want();
}

policy::Policy& policy()
{
    return flex;
}

} // namespace ws::policy::rows
