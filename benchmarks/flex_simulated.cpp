// SPDX-License-Identifier: MIT
//
// flex_simulated [--ranks N] [--rows N] [--iterations N] [--interval N] [--unit TIME] [--speeds A,B,...] [--plan]
//
// The epidemic (flex_people.h) on processes that are not there: it is computed here, and a clock goes on by what each
// process's part would take on a processor of its speed. Three runs: in equal parts; with people distributed by the
// runtime's own code (runtime/policy/rows/); and by an oracle that knows, as often as the runtime decides, what each
// person will cost until the next time. An exchange takes no time, a move a millisecond and a nanosecond a byte, of the
// process that sends and receives most. Prints a line of JSON: the seconds of the three, and the moves.
//
// With --plan: how long one process needs to compute where the rows of all go, and what it has to send and receive, if
// the others' speeds are by chance: the median of 15, and the quickest.
#include "flex_people.h"
#include "policy/rows/monitor.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <numeric>
#include <random>

using namespace ws::policy::rows;

namespace {

struct Simulation {
    long ranks = 4, rows = 20000, iterations = 200, interval = 2;
    double unit_s = 1e-6; // of a unit of work, on a processor of speed 1
    std::vector<double> speeds = {1};

    double speed(size_t r) const { return speeds[std::min(r, speeds.size() - 1)]; }
};

// Where people of those costs are cut, by the share that each process has of all speeds.
Starts cut(const Simulation& s, const std::vector<double>& before)
{
    Starts starts(size_t(s.ranks) + 1, Rows(s.rows));
    double power = 0, reached = 0;
    for (size_t r = 0; r < size_t(s.ranks); r++)
        power += s.speed(r);
    for (size_t r = 0; r < size_t(s.ranks); r++) {
        starts[r] = std::lower_bound(before.begin(), before.end(), reached / power * before.back()) - before.begin();
        reached += s.speed(r);
    }
    return starts;
}

// The seconds of a process for its people, of whom the first i cost before[i].
double seconds(const Simulation& s, const std::vector<double>& before, const Starts& starts, size_t r)
{
    return s.unit_s * (before[size_t(starts[r + 1])] - before[size_t(starts[r])]) / s.speed(r);
}
double slowest(const Simulation& s, const std::vector<double>& before, const Starts& starts)
{
    double most = 0;
    for (size_t r = 0; r < size_t(s.ranks); r++)
        most = std::max(most, seconds(s, before, starts, r));
    return most;
}

// As Decomposition does it: an interval's numbers are looked at at the end of the iteration after it.
class Deciding {
public:
    Deciding(const Simulation& s, const flex::People& people)
        : s_(s), people_(people), starts_(equal_parts(s.rows, size_t(s.ranks))),
          monitor_({0.05, 0.15, 5, unsigned(s.interval)}, size_t(s.ranks)), sum_(size_t(s.ranks)), last_(sum_)
    {
    }
    double seconds = 0;
    unsigned moves = 0;

    void iteration(const std::vector<double>& before, long i)
    {
        seconds += slowest(s_, before, starts_);
        for (size_t r = 0; r < sum_.size(); r++) {
            sum_[r].units += before[size_t(starts_[r + 1])] - before[size_t(starts_[r])];
            sum_[r].real += ::seconds(s_, before, starts_, r);
        }
        done_++;
        if (asked_) {
            asked_ = false;
            if (decide(s_.iterations - i - 1)) {
                sum_.assign(sum_.size(), {});
                done_ = 0;
            }
        }
        if (done_ < monitor_.interval())
            return;
        last_ = sum_;
        last_done_ = done_;
        asked_ = true;
        sum_.assign(sum_.size(), {});
        done_ = 0;
    }

private:
    bool decide(long left)
    {
        Summary s;
        s.shortest = HUGE_VAL;
        for (const Work& w : last_) {
            s.longest = std::max(s.longest, w.real);
            s.shortest = std::min(s.shortest, w.real);
            s.mean += w.real / double(last_.size());
            s.units += w.units;
        }
        s.wall = s.longest;
        const double row_bytes =
            8 + 1 + 5 * double(people_.others.size()) / double(s_.rows); // a start, a state; acquaintances, weighted
        Outcome outcome;
        if (!monitor_.evaluate(s, row_bytes * double(s_.rows), outcome))
            return false;
        const Monitor::Choice c = monitor_.choose(starts_, last_, s);
        if (c.outcome != Outcome::moved)
            return false;
        Starts to(starts_.size(), -1);
        double first = 0;
        for (size_t r = 0; r < last_.size(); first += c.costs[r++].units) {
            const Range mine = range_of(starts_, r);
            const int64_t* const of = &people_.starts[size_t(mine.begin)];
            place_cuts(
                mine, c.costs[r].units, first, cuts_of(c.costs, c.shares),
                [&](Rows n) { return double(of[n] - of[0] + n); }, to);
        }
        settle(to, s_.rows, size_t(s_.ranks));
        if (monitor_.weigh(starts_, to, c.gain, double(left) / last_done_, row_bytes) != Outcome::moved)
            return false;
        const double bytes = double(volume_of(starts_, to).most) * row_bytes, took = 1e-3 + bytes * 1e-9;
        monitor_.moved(c, c.gain, bytes, took);
        starts_ = std::move(to);
        seconds += took;
        moves++;
        return true;
    }

    const Simulation& s_;
    const flex::People& people_;
    Starts starts_;
    Monitor monitor_;
    std::vector<Work> sum_, last_;
    unsigned done_ = 0, last_done_ = 0;
    bool asked_ = false;
};

void simulate(const Simulation& s)
{
    flex::People people(s.rows);
    people.make(s.rows, 0);
    const Starts equal = equal_parts(s.rows, size_t(s.ranks));
    Deciding ours(s, people);
    double equal_s = 0, oracle_s = 0;
    for (long first = 0; first < s.iterations; first += s.interval + 1) {
        std::vector<std::vector<double>> steps; // of each, what the first i people cost
        std::vector<double> together(size_t(s.rows) + 1, 0);
        for (long step = first; step < std::min(s.iterations, first + s.interval + 1); step++) {
            std::vector<double> before(size_t(s.rows) + 1, 0);
            people.live(s.rows, 0, step, [&](long i, int64_t of_person) { before[size_t(i) + 1] = double(of_person); });
            people.all = people.state;
            std::partial_sum(before.begin(), before.end(), before.begin());
            for (size_t i = 0; i < before.size(); i++)
                together[i] += before[i];
            ours.iteration(before, step);
            steps.push_back(std::move(before));
        }
        const Starts knowing = first > 0 ? cut(s, together) : equal; // at first nobody knows anything
        for (const std::vector<double>& before : steps) {
            equal_s += slowest(s, before, equal);
            oracle_s += slowest(s, before, knowing);
        }
    }
    std::printf("{\"program\": \"flex_simulated\", \"ranks\": %ld, \"rows\": %ld, \"iterations\": %ld, "
                "\"interval\": %ld, \"equal_s\": %.6f, \"policy_s\": %.6f, \"oracle_s\": %.6f, \"moves\": %u}\n",
                s.ranks, s.rows, s.iterations, s.interval, equal_s, ours.seconds, oracle_s, ours.moves);
}

void time_plan(const Simulation& s)
{
    std::mt19937 random(1);
    std::uniform_real_distribution<> some(0.5, 2);
    const Starts now = equal_parts(Rows(s.ranks) * 100000, size_t(s.ranks));
    std::vector<Work> all;
    Summary summary;
    for (long r = 0; r < s.ranks; r++) {
        all.push_back({1e5, some(random)});
        summary.longest = std::max(summary.longest, all.back().real);
    }
    std::vector<double> us;
    size_t pieces = 0;
    for (int i = 0; i < 15; i++) {
        Monitor monitor({}, size_t(s.ranks));
        const auto began = std::chrono::steady_clock::now();
        const Monitor::Choice c = monitor.choose(now, all, summary);
        const Starts to = next_partition(now, c.costs, c.shares);
        const Outcome outcome = monitor.weigh(now, to, c.gain_with(now, to), 100, 1);
        const auto me = size_t(s.ranks) / 2;
        pieces += outgoing(now, to, me).size() + incoming(now, to, me).size() + (outcome == Outcome::moved);
        us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count());
    }
    std::sort(us.begin(), us.end());
    std::printf("{\"program\": \"flex_simulated\", \"ranks\": %ld, \"plan_us\": %.1f, \"plan_least_us\": %.1f, "
                "\"pieces\": %zu}\n",
                s.ranks, us[us.size() / 2], us[0], pieces);
}

[[noreturn]] void wrong(const char* name, const char* takes, const char* text)
{
    std::fprintf(stderr, "flex_simulated: --%s takes %s, not '%s'\n", name, takes, text);
    std::exit(2);
}

long count(const char* name, long most)
{
    char* end;
    errno = 0;
    const long value = std::strtol(optarg, &end, 10);
    if (errno || end == optarg || *end || value < 1 || value > most)
        wrong(name, ("a whole number from 1 to " + std::to_string(most)).c_str(), optarg);
    return value;
}

} // namespace

int main(int argc, char** argv)
{
    Simulation s;
    enum { RANKS = 1, ROWS, ITERATIONS, INTERVAL, UNIT, SPEEDS, PLAN };
    bool plan = false;
    static const struct option options[] = {{"ranks", required_argument, nullptr, RANKS},
                                            {"rows", required_argument, nullptr, ROWS},
                                            {"iterations", required_argument, nullptr, ITERATIONS},
                                            {"interval", required_argument, nullptr, INTERVAL},
                                            {"unit", required_argument, nullptr, UNIT},
                                            {"speeds", required_argument, nullptr, SPEEDS},
                                            {"plan", no_argument, nullptr, PLAN},
                                            {nullptr, 0, nullptr, 0}};
    char* end;
    for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;)
        switch (c) {
        case RANKS: s.ranks = count("ranks", 100000); break;
        case ROWS: s.rows = count("rows", 10000000); break;
        case ITERATIONS: s.iterations = count("iterations", 1000000); break;
        case INTERVAL: s.interval = count("interval", 1000000); break;
        case UNIT:
            s.unit_s = 1e-6 * std::strtod(optarg, &end);
            if (end == optarg || std::strcmp(end, "us") != 0 || !(s.unit_s > 0))
                wrong("unit", "a time such as 0.5us", optarg);
            break;
        case SPEEDS:
            s.speeds.clear();
            for (const char* at = optarg;; at = end + 1) {
                s.speeds.push_back(std::strtod(at, &end));
                if (end == at || !(s.speeds.back() > 0) || (*end && *end != ','))
                    wrong("speeds", "positive numbers with commas between", optarg);
                if (!*end)
                    break;
            }
            break;
        case PLAN: plan = true; break;
        default: return 2; // getopt_long() has said what is wrong
        }
    if (plan) {
        time_plan(s);
        return 0;
    }
    if (s.rows < s.ranks) {
        std::fprintf(stderr, "flex_simulated: there are fewer people (%ld) than processes (%ld)\n", s.rows, s.ranks);
        return 2;
    }
    simulate(s);
    return 0;
}
