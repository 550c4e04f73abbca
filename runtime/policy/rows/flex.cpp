// SPDX-License-Identifier: MIT
#include "policy/rows/flex.h"

#include "policy/rows/decomposition.h"
#include "base/os.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ws::policy::rows {

// A rank that waits looks so often whether the others' numbers have come, each time half as often: mostly they have
// before it waits, and each look wakes it.
constexpr double flex_look_least_us = 10, flex_look_most_us = 20000;

namespace {

// Names the number of intervals in which rows did not move, although their processes were unequal, for that reason.
std::string reason_text(const FlexTotals& totals, Outcome outcome, const char* words)
{
    const uint64_t n = totals.outcome[unsigned(outcome)];
    return n ? "; no move after " + std::to_string(n) + (n == 1 ? " interval " : " intervals ") + words : "";
}

} // namespace

policy::Wants Flex::attach(policy::Job& job)
{
    job_ = &job;
    return {};
}

// Numbers of an interval come when the slowest process has ended it. Until then this asks for them less and less often.
policy::Wants Flex::step(policy::Job&, uint64_t now, uint64_t)
{
    bool more = false;
    partitions.each([&](int, Decomposition& d) {
        more |= d.step();
        return false;
    });
    if (!more) {
        pause_us_ = flex_look_least_us;
        return {};
    }
    const double us = pause_us_;
    pause_us_ = std::min(2 * us, flex_look_most_us);
    return {false, now + uint64_t(us * job_->ticks_per_us)};
}

void Flex::want_steps()
{
    if (!job_->steps || !job_->is_home())
        return;
    pause_us_ = flex_look_least_us;
    job_->steps->want(*this, {false, base::ticks()});
}

void Flex::tell(observe::Facts& facts) const
{
    if (!totals.partitions)
        return;
    char text[240];
    std::string gained;
    if (totals.moves)
        std::snprintf(text, sizeof text,
                      "XMPI moved rows %llu time%s in %llu intervals (%.4g rows, %.4g MB, %.3g s), measured by ",
                      static_cast<unsigned long long>(totals.moves), totals.moves == 1 ? "" : "s",
                      static_cast<unsigned long long>(totals.intervals), totals.rows, totals.bytes * 1e-6,
                      totals.move_s);
    else
        std::snprintf(text, sizeof text, "XMPI moved no rows in %llu intervals, measured by ",
                      static_cast<unsigned long long>(totals.intervals));
    if (totals.expected_s > 0)
        gained = ", with " + std::to_string(std::lround(100 * totals.measured_s / totals.expected_s)) +
                 " % of the expected gain";
    if (totals.undone)
        gained += "; " + std::to_string(totals.undone) + (totals.undone == 1 ? " move was" : " moves were") +
                  " undone, because nothing was gained";
    if (totals.resized)
        gained += "; the number of processes with rows changed " + std::to_string(totals.resized) +
                  (totals.resized == 1 ? " time" : " times");
    facts.policies.push_back(
        text + totals.measured + gained + reason_text(totals, Outcome::burst, "because of bursts of foreign load") +
        reason_text(totals, Outcome::noise, "because of noise") +
        reason_text(totals, Outcome::unpaid, "because it would not have paid") +
        reason_text(totals, Outcome::untrusted, "because earlier moves had gained less than expected") +
        reason_text(totals, Outcome::no_memory, "for lack of memory"));
}

Flex& policy()
{
    static Flex& flex = *new Flex; // never destroyed: exit() may run beside its users
    return flex;
}

} // namespace ws::policy::rows
