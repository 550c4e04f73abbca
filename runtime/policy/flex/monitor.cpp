// SPDX-License-Identifier: MIT
#include "policy/flex/monitor.h"

#include "window/times.h"

#include <cmath>

namespace ws::policy::flex {

bool is_dedicated(double real, double cpu, double th1) { return !(real > 0) || (real - cpu) / real < th1; }

bool is_unbalanced(double longest, double shortest, double th2) { return longest - shortest > th2 * longest; }

void Load::add(bool dedicated, double lost, double late, double cost)
{
    if (dedicated) {
        row_ = 0;
        return;
    }
    if (!row_++)
        lost_ = lost;
    for (unsigned k = 1; k <= most; k++) {
        with_[k] += row_ <= k ? lost_ : 0;
        with_[k] += row_ == k ? 2 * cost + late : 0; // there and back, and back an interval too late
    }
}

unsigned Load::automatic() const
{
    unsigned best = most;
    for (unsigned k = most; k >= 1; k--)
        if (with_[k] < with_[best])
            best = k;
    return best;
}

Work Lately::add(const Work& interval, unsigned iterations, bool dedicated, unsigned k)
{
    const double kept = loaded_ && !dedicated ? 1 - 1.0 / k : 0;
    loaded_ = !dedicated;
    sum_ = {kept * sum_.units + interval.units, kept * sum_.real + interval.real};
    iterations_ = kept * iterations_ + iterations;
    const double part = iterations / iterations_;
    return {part * sum_.units, part * sum_.real};
}

const double Cost::at_least = window::times::flex_move_us * 1e-6;

void Cost::moved(double bytes, double seconds)
{
    if (bytes > 0 && seconds > at_least)
        per_byte_ = (seconds - at_least) / bytes;
}

unsigned next_interval(unsigned now, const Summary& s, double th2)
{
    constexpr double share = 6, asking = 1000;
    constexpr unsigned least = 2, most = 10000;
    if (!(s.wall > 0))
        return now;
    const double iteration = s.wall / now, noise = share * s.error / th2;
    const double wanted = std::max({noise * noise * now, asking * s.asking / iteration,
                                    window::times::flex_interval_us * 1e-6 / iteration, double(least)});
    return unsigned(
        std::clamp(std::ceil(wanted), std::max(now / 2.0, double(least)), std::min(now * 4.0, double(most))));
}

bool Monitor::evaluate(const Summary& s, double bytes, Outcome& outcome)
{
    // What the slowest process would give away, and as much passing through it.
    const double apart = s.longest > 0 ? 1 - s.mean / s.longest : 0;
    const double cost = cost_.seconds(2 * apart * bytes / double(known_.size()));
    load_.add(s.dedicated, s.longest - s.mean, s.mean - s.shortest, cost);
    const bool evaluated = s.dedicated || load_.is_long_term(settings_.k);
    const bool unbalanced = is_unbalanced(s.longest, s.shortest, settings_.th2);
    if (!settings_.interval)
        interval_ = next_interval(interval_, s, settings_.th2);
    if (evaluated && !unbalanced)
        doubted_ = 0;
    outcome = !evaluated ? (unbalanced ? Outcome::burst : Outcome::balanced) : Outcome::balanced;
    return evaluated && unbalanced;
}

Monitor::Choice Monitor::choose(const Starts& now, const std::vector<Work>& all, const Summary& s)
{
    Choice c;
    // Foreign load comes and goes: what it does is no sign of what rows cost.
    if (s.dedicated && !measured_.empty() && measured_as_ != now)
        attribution_.learn(measured_as_, measured_, now, all);
    measured_as_ = now;
    measured_ = s.dedicated ? all : std::vector<Work>();
    // Intervals that were refused for noise, one after the other, say more together.
    if (doubted_ == 0 || sums_.size() != all.size() || doubted_as_ != now) {
        doubted_ = 0;
        square_ = 0;
        doubted_as_ = now;
        sums_.assign(all.size(), {});
    }
    doubted_++;
    square_ += s.error * s.longest * s.error * s.longest;
    for (size_t i = 0; i < all.size(); i++) {
        sums_[i].units += all[i].units;
        sums_[i].real += all[i].real;
    }
    c.costs = attribution_.costs(sums_);
    const std::vector<double> rates = rates_of(c.costs, known_);
    double units = 0, power = 0, longest = 0;
    for (size_t i = 0; i < all.size(); i++) {
        units += c.costs[i].units;
        power += rates[i];
        longest = std::max(longest, sums_[i].real);
    }
    if (!(units > 0) || !(power > 0))
        return c;
    const double gain = longest - units / power;
    c.gain = gain / doubted_;
    // So many standard errors that the slowest of all processes goes beyond them by chance once in 10,000 intervals.
    const double errors = std::sqrt(2 * std::log(double(all.size()) * 1e4));
    if (!(gain > errors * std::sqrt(square_))) {
        c.outcome = gain > 0 ? Outcome::noise : Outcome::same;
        return c;
    }
    doubted_ = 0;
    c.outcome = Outcome::moved;
    c.shares = relative_power(rates);
    return c;
}

Outcome Monitor::weigh(const Starts& from, const Starts& to, double gain, double intervals, double row_bytes) const
{
    const Volume v = volume_of(from, to);
    if (v.all == 0)
        return Outcome::same;
    return gain * intervals > cost_.seconds(double(v.most) * row_bytes) ? Outcome::moved : Outcome::unpaid;
}

} // namespace ws::policy::flex
