// SPDX-License-Identifier: MIT
#include "policy/rows/monitor.h"


#include <cmath>

namespace ws::policy::rows {

// An interval that the runtime chooses lasts longer than it takes to learn that others had the core
// (kept_off_us). What a move costs at least: a few agreements of all processes, and memory that is asked for.
constexpr double flex_interval_us = 20000, flex_move_us = 1000;

bool is_dedicated(double real, double cpu, double th1)
{
    return !(real > 0) || th1 >= 1 || (real - cpu) / real < th1;
}

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

namespace {

std::vector<double> shares_of(const std::vector<double>& rates, size_t active)
{
    return relative_power({rates.begin(), rates.begin() + std::ptrdiff_t(active)});
}

} // namespace

double wins_in(const std::vector<std::vector<Work>>& intervals, const std::vector<double>& shares)
{
    unsigned won = 0;
    for (const std::vector<Work>& all : intervals) {
        double units = 0, was = 0, would = 0;
        for (const Work& w : all) {
            units += w.units;
            was = std::max(was, w.real);
        }
        for (size_t p = 0; p < all.size() && p < shares.size(); p++)
            if (all[p].units > 0) // else nobody knows how fast it would have been
                would = std::max(would, shares[p] * units * all[p].real / all[p].units);
        won += would < was;
    }
    return intervals.empty() ? 1 : double(won) / double(intervals.size());
}

const double Cost::at_least = flex_move_us * 1e-6;

void Cost::moved(double bytes, double seconds)
{
    if (bytes > 0 && seconds > at_least)
        per_byte_ = (seconds - at_least) / bytes;
}

void Gains::expect(const Work& before, double gain, bool dedicated)
{
    if (last_.expected > 0) {
        const GainSums all = with_last();
        before_ = {all.expected / 2, all.measured / 2};
    }
    last_ = {};
    after_ = compared_ = 0;
    is_failure_ = false;
    if (!(before.units > 0))
        return;
    after_ = 1;
    dedicated_ = dedicated;
    time_ = before.real / before.units;
    gain_ = gain / before.units;
}

void Gains::compare(const Work& interval, bool dedicated, unsigned k)
{
    if (demand_ > 0) // the slower, the more moves have failed: so each is tried after twice as long as the one before
        demand_ *= std::pow(fading, std::ldexp(1.0, 1 - int(std::min(failed_, 20u))));
    if (after_ == 0 || after_ > k)
        return;
    after_++;
    if (dedicated != dedicated_ || !(interval.units > 0))
        return;
    const double expected = gain_ * interval.units, measured = time_ * interval.units - interval.real;
    for (GainSums* s : {&last_, &sums_}) {
        s->expected += expected;
        s->measured += measured;
    }
    compared_++;
    constexpr double least = 0.25; // of the expected gain: less is none
    if (last_.measured > least * last_.expected) {
        demand_ = 0;
        failed_ = 0;
        is_failure_ = false;
    } else {
        failed_ += is_failure_ ? 0 : 1;
        is_failure_ = true;
        demand_ = gain_ * std::ldexp(1.0, int(std::min(failed_, 20u)) - 1);
    }
}

Gains::GainSums Gains::with_last() const
{
    GainSums all = before_;
    if (!(all.expected > 0))
        all.expected = all.measured = last_.expected > 0 ? last_.expected : 1;
    return {all.expected + last_.expected, all.measured + std::clamp(last_.measured, 0.0, last_.expected)};
}

unsigned next_interval(unsigned now, const Summary& s, double th2, unsigned together)
{
    constexpr double share = 6, asking = 1000;
    constexpr unsigned least = 2, most = 10000;
    if (!(s.wall > 0))
        return now;
    const double iteration = s.wall / now, noise = share * s.error / th2;
    const double wanted = std::max({noise * noise * now / together, asking * s.asking / iteration,
                                    flex_interval_us * 1e-6 / iteration, double(least)});
    return unsigned(
        std::clamp(std::ceil(wanted), std::max(now / 2.0, double(least)), std::min(now * 4.0, double(most))));
}

void Monitor::note(const Starts& now, const std::vector<Work>& all, const Summary& s)
{
    if (first_.empty())
        first_ = now;
    lost_ = 0;
    if (s.dedicated) {
        loaded_.clear();
        return;
    }
    loaded_.push_back(all);
    if (loaded_.size() > std::max(k(), 1u))
        loaded_.erase(loaded_.begin());
    std::vector<double> rates;
    for (size_t p = 0; p < active_; p++)
        rates.push_back(all[p].units > 0 && all[p].real > 0 ? all[p].units / all[p].real : 0);
    if (now == first_ || std::find(rates.begin(), rates.end(), 0.0) != rates.end())
        return;
    const double gain = slowest(now, all, rates, first_) - s.longest;
    gained_ += gain;
    lost_ = std::max(-gain, 0.0);
}

void Monitor::change_units(double units)
{
    gains_.change_units(pace_.units > 0 ? units / pace_.units : 0);
    lately_.forget();
    loaded_.clear();
    measured_.clear();
    known_.assign(known_.size(), 0);
    doubted_ = 0;
}

bool Monitor::evaluate(const Summary& s, double bytes, Outcome& outcome)
{
    // What the slowest process would give away, and as much passing through it.
    const double apart = s.longest > 0 ? 1 - s.mean / s.longest : 0;
    const double cost = cost_.seconds(2 * apart * bytes / double(active_));
    load_.add(s.dedicated, s.longest - s.mean, s.mean - s.shortest, cost);
    gains_.compare({s.units, s.longest}, s.dedicated, k());
    pace_ = lately_.add({s.units, s.longest}, 1, s.dedicated, k());
    dedicated_ = s.dedicated;
    time_ += s.wall;
    const bool evaluated = s.dedicated || load_.is_long_term(settings_.k);
    const bool unbalanced = is_unbalanced(s.longest, s.shortest, settings_.th2);
    if (!settings_.interval) // while foreign load lasts, rates are those of k intervals
        interval_ = next_interval(interval_, s, settings_.th2, s.dedicated ? 1 : k());
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
        doubted_pace_ = {};
        doubted_as_ = now;
        sums_.assign(all.size(), {});
    }
    doubted_++;
    square_ += s.error * s.longest * s.error * s.longest;
    doubted_pace_.units += pace_.units;
    doubted_pace_.real += pace_.real;
    for (size_t i = 0; i < all.size(); i++) {
        sums_[i].units += all[i].units;
        sums_[i].real += all[i].real;
    }
    c.costs = attribution_.costs(sums_);
    c.rates = rates_of(c.costs, known_);
    double units = 0, power = 0;
    for (size_t i = 0; i < all.size(); i++) {
        units += c.costs[i].units;
        power += i < active_ ? c.rates[i] : 0;
        c.longest = std::max(c.longest, sums_[i].real);
    }
    if (!(units > 0) || !(power > 0))
        return c;
    const double gain = c.longest - units / power;
    c.together = doubted_;
    c.gain = gain / doubted_;
    c.before = {doubted_pace_.units / doubted_, doubted_pace_.real / doubted_};
    // The slowest of all processes exceeds this number of standard errors by chance once in 10,000 intervals.
    const double errors = std::sqrt(2 * std::log(double(active_) * 1e4));
    const double noise = errors * std::sqrt(square_);
    if (!(gain * gains_.trust() > noise)) {
        c.outcome = gain > noise ? Outcome::untrusted : gain > 0 ? Outcome::noise : Outcome::same;
        return c;
    }
    doubted_ = 0;
    c.shares = shares_of(c.rates, active_);
    // After a move, too, foreign load is watched for k intervals.
    constexpr double most = 0.9;
    const bool wanders = !loaded_.empty() && (loaded_.size() < k() || wins_in(loaded_, c.shares) < most);
    c.outcome = wanders ? Outcome::burst : s.dedicated || may_try() ? Outcome::moved : Outcome::untrusted;
    return c;
}

Outcome Monitor::weigh(const Starts& from, const Starts& to, double gain, double intervals, double row_bytes) const
{
    const Volume v = volume_of(from, to);
    if (v.all == 0 || !(gain > 0))
        return Outcome::same;
    const double cost = cost_.seconds(double(v.most) * row_bytes), all = gain * intervals;
    if (!(all > cost))
        return Outcome::unpaid;
    const bool is_more = gain > gains_.demand() * pace_.units;
    return is_more && all * gains_.trust() > cost ? Outcome::moved : Outcome::untrusted;
}

bool Monitor::is_to_undo(const Starts& former, const Starts& now, const Summary& s, double intervals,
                         double row_bytes) const
{
    const double loss = gains_.loss();
    const unsigned n = gains_.compared();
    if (!(loss > 0) || former.size() != now.size())
        return false;
    // The noise of the mean of k intervals, and of those before. Two standard errors are enough, because a move that is
    // undone in vain costs only a move.
    const double noise = 2 * s.error * s.longest * std::sqrt(2 / double(k()));
    const Volume v = volume_of(now, former);
    return n >= k() && v.all > 0 && loss > noise && loss * intervals > cost_.seconds(double(v.most) * row_bytes);
}

bool Monitor::is_losing(const Starts& now, const Summary& s, double intervals, double row_bytes) const
{
    constexpr double much = 0.05, errors = 4;
    if (!(lost_ > std::max(much, errors * s.error) * s.longest) || first_.size() != now.size())
        return false;
    const Volume v = volume_of(now, first_);
    return v.all > 0 && lost_ * intervals > cost_.seconds(double(v.most) * row_bytes);
}

void Monitor::undone(double bytes, double seconds)
{
    cost_.moved(bytes, seconds);
    gained_ -= 2 * seconds;
    risk_ = std::max(risk_, lost_ + 2 * seconds);
    gains_.undone();
    lately_.forget();
    loaded_.clear();
    doubted_ = 0;
}

Monitor::Choice Monitor::resize(size_t active, const std::vector<Work>& all)
{
    Choice c;
    c.outcome = Outcome::moved;
    c.costs = attribution_.costs(all);
    c.rates = rates_of(c.costs, known_);
    c.shares = shares_of(c.rates, active);
    return c;
}

// Nothing of the time before can be compared with what comes.
void Monitor::resized(size_t active, double bytes, double seconds)
{
    active_ = active;
    cost_.moved(bytes, seconds);
    gains_.undone();
    lately_.forget();
    loaded_.clear();
    first_.clear();
    lost_ = 0;
    doubted_ = 0;
}

void Monitor::moved(const Choice& choice, double gain, double bytes, double seconds)
{
    cost_.moved(bytes, seconds);
    gains_.expect(choice.before, gain, dedicated_);
    lately_.forget();
    loaded_.clear();
}

} // namespace ws::policy::rows
