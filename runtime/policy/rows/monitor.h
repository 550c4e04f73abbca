// SPDX-License-Identifier: MIT
//
// When rows are to move: the paper's algorithm 1, and what a move must promise besides. Arithmetic, without MPI or
// clock: all processes come to the same answer by themselves, from the same numbers.
//
//   G. Martin, M.-C. Marinescu, D. Singh, J. Carretero: FLEX-MPI: an MPI extension for supporting dynamic load
//   balancing on heterogeneous non-dedicated systems. Euro-Par 2013. Algorithm 1, by its lines.
#pragma once

#include "policy/rows/plan.h"

namespace ws::policy::rows {

struct MonitorSettings {
    double th1 = 0.05;       // of the real time: what others may take of a processor that is still "dedicated"
    double th2 = 0.15;       // of the longest real time: more imbalance than this is not tolerated
    unsigned k = 5;          // intervals in a row: shorter foreign load is a burst. 0: chosen (auto)
    unsigned interval = 100; // iterations. 0: chosen (auto)
};

// Lines 1 to 5. `cpu`: of the real time, that in which the process had its processor; less than none, if it is found
// out now that others had it before. With TH1 = 1 every processor is dedicated.
bool is_dedicated(double real, double cpu, double th1);
// Line 12.
bool is_unbalanced(double longest, double shortest, double th2);

// What all processes know of an interval at once, by one reduction. Times in seconds.
struct Summary {
    bool dedicated = true;            // line 6: all of them
    double longest = 0, shortest = 0; // real time
    double mean = 0;
    double error = 0; // the largest standard error of a process's real time, as a part of `longest`
    double wall = 0;  // that the interval took, waiting included
    double asking = 0; // of it: what the reduction took
    double units = 0;  // of all processes
};

// Lines 7 and 8: intervals in a row in which some processor was not dedicated.
class Load {
public:
    // The interval is over. `lost`: seconds that it took longer than a balanced one; `late`: that an interval takes
    // longer when the load has gone and rows are still where they had gone for its sake; `cost`: of a move.
    void add(bool dedicated, double lost, double late, double cost);
    bool is_long_term(unsigned k) const { return row_ >= (k ? k : automatic()); } // k = 0: auto
    // The k with which all loads so far, the one that lasts included, would have cost least.
    unsigned automatic() const;

private:
    static constexpr unsigned most = 10;
    unsigned row_ = 0;
    double lost_ = 0;           // in the first interval of this row: later ones may be balanced again
    double with_[most + 1] = {}; // seconds that loads would have cost with each k
};

// What one process does while foreign load lasts: one interval alone meets more or less of the others' turns. About as
// many count as make a load a lasting one; without foreign load the last interval alone.
class Lately {
public:
    // Adds an interval of `iterations` iterations. Returns the work that is taken for it.
    Work add(const Work& interval, unsigned iterations, bool dedicated, unsigned k);
    void forget() { *this = Lately(); } // rows have moved

private:
    bool loaded_ = false;
    Work sum_;
    double iterations_ = 0;
};

// The part of these intervals, each by its own rates, in which those shares would have been faster than what was
// measured. Foreign load that wanders from one process to another makes a partition win in some and lose in others.
double wins_in(const std::vector<std::vector<Work>>& intervals, const std::vector<double>& shares);

// Why rows did not move after an interval, or that they did.
enum class Outcome : uint8_t { moved, balanced, burst, noise, unpaid, same, no_memory, untrusted };
constexpr unsigned outcomes = 8;

// Whether moves have gained what was expected of them. Compared are the intervals after a move, as many as make a load
// a lasting one: how long the slowest process took for a unit of work, before and after.
class Gains {
public:
    // Seconds, of all intervals that were compared.
    struct GainSums {
        double expected = 0, measured = 0;
    };
    // Rows have moved: of an interval before, what all processes did and what the slowest took, and what that was to
    // gain.
    void expect(const Work& before, double gain, bool dedicated);
    // An interval is over. Foreign load that has come or gone since has nothing to do with the move: not compared.
    void compare(const Work& interval, bool dedicated, unsigned k);
    // Returns the factor by which expected gains count, 1 at most: the part of them that was measured. A move counts
    // half as much as the one after it. At first it is 1, as if one move had gained what was expected.
    double trust() const { return with_last().measured / with_last().expected; }
    // Seconds a unit of work that the next move has to promise, besides paying: after a move that gained nothing more
    // than that one had promised, and twice as much each further time in a row. The demand fades, so that moves are
    // tried again, each time later. 0: the last move has gained something.
    double demand() const { return demand_; }
    // Seconds that the last move costs per compared interval; 0: it has gained, or no interval was compared.
    double loss() const { return compared_ && last_.measured < 0 ? -last_.measured / compared_ : 0; }
    // Intervals since the last move that were compared.
    unsigned compared() const { return compared_; }
    // The last move was undone: there is nothing to compare with.
    void undone() { after_ = compared_ = 0; }
    // Work is measured in other units, of which one of those before is `factor`: those intervals cannot be compared.
    void change_units(double factor) { after_ = compared_ = 0, demand_ = factor > 0 ? demand_ / factor : 0; }
    const GainSums& sums() const { return sums_; }

private:
    // of the demand, an interval, after one failure; its root after two, and so on
    static constexpr double fading = 0.9;
    GainSums with_last() const;

    double demand_ = 0;
    unsigned compared_ = 0;   // intervals since the last move
    unsigned failed_ = 0;     // moves in a row that have gained nothing
    bool is_failure_ = false; // the last one is among them

    GainSums before_; // of the moves before the last one, the less the older
    unsigned after_ = 0; // the interval to come is the first after the last one, and so on; 0: none is compared
    bool dedicated_ = true;
    double time_ = 0, gain_ = 0; // of a unit
    GainSums last_, sums_;
};

// What moving costs, from the moves that there were.
class Cost {
public:
    double seconds(double bytes) const { return at_least + bytes * per_byte_; } // bytes of the process with most
    void moved(double bytes, double seconds);

private:
    static const double at_least;
    double per_byte_ = 1e-9; // of memory that is copied, until one is known
};

// The interval that auto takes next: so long that noise stays well below TH2 in as many as count `together`, that
// asking each other costs less than a thousandth, and that a processor's sharing can be told.
unsigned next_interval(unsigned now, const Summary& s, double th2, unsigned together);

// One decomposition's decisions, in the order of the algorithm's lines; what each remembers lies in a class of its own
// where it can be told apart (Load, Gains, Cost, Lately), else here.
class Monitor {
public:
    Monitor() = default;
    Monitor(const MonitorSettings& settings, size_t processes) : Monitor(settings, processes, processes) {}
    // The first `active` of them have rows.
    Monitor(const MonitorSettings& settings, size_t processes, size_t active)
        : settings_(settings), known_(processes), active_(active),
          interval_(settings.interval ? settings.interval : first_interval)
    {
    }

    // Iterations of the interval that runs now.
    unsigned interval() const { return interval_; }

    // What each process did in the interval that is over, by itself, with rows as in `now`. Before evaluate().
    void note(const Starts& now, const std::vector<Work>& all, const Summary& s);

    // Work is measured by something else from this interval on, in which all did `units` of it. What was measured
    // before is in other units.
    void change_units(double units);

    // Lines 6 to 9 and 12: whether lines 10 to 14 follow. If not, `outcome` has the reason. `bytes`: of all data.
    bool evaluate(const Summary& s, double bytes, Outcome& outcome);

    // Lines 10, 11 and 13. By what was measured of each process in the interval.
    struct Choice {
        Outcome outcome = Outcome::same;
        std::vector<double> shares; // if it is `moved`: of the processes,
        std::vector<Work> costs;    // and what the rows that each has now cost
        std::vector<double> rates;
        double longest = 0;  // what the slowest took for them
        double together = 1; // intervals that the three are of
        double gain = 0;     // seconds an interval, if rows could be cut
        Work before;         // what all did in an interval, and what it took
        // What is gained with whole rows, if those of a process cost the same.
        double gain_with(const Starts& from, const Starts& to) const
        {
            return (longest - slowest(from, costs, rates, to)) / together;
        }
    };
    Choice choose(const Starts& now, const std::vector<Work>& all, const Summary& s);
    double of_rows() const { return attribution_.of_rows(); }
    // Whether moving those rows pays over the intervals that are left. `row_bytes`: of one row, all structures.
    Outcome weigh(const Starts& from, const Starts& to, double gain, double intervals, double row_bytes) const;
    // Whether to undo the last move, with which rows went from `former` to `now`: if it has made intervals longer,
    // beyond what noise explains, and moving back pays over the intervals that are left.
    bool is_to_undo(const Starts& former, const Starts& now, const Summary& s, double intervals,
                    double row_bytes) const;
    // Whether rows are to go back to where they were first(): beside foreign load the last interval has lasted much
    // longer than it would have there, by its own rates.
    bool is_losing(const Starts& now, const Summary& s, double intervals, double row_bytes) const;
    const Starts& first() const { return first_; }
    // Whether the last interval says how fast processes are: nobody else had their cores, or has had them for long.
    bool is_steady() const { return dedicated_ || load_.is_long_term(settings_.k); }
    double cost_of(const Starts& from, const Starts& to, double row_bytes) const
    {
        return cost_.seconds(double(volume_of(from, to).most) * row_bytes);
    }
    // Rows have moved back.
    void undone(double bytes, double seconds);
    // The first `active` processes are to have the rows: shares, costs and rates. Rates are those of `all`, or known
    // from before; a newcomer of which none is known gets the mean.
    Choice resize(size_t active, const std::vector<Work>& all);
    // They have them.
    void resized(size_t active, double bytes, double seconds);
    // Rows have moved for that choice. `bytes`: of the process with most.
    void moved(const Choice& choice, double gain, double bytes, double seconds);

    const Gains& gains() const { return gains_; }
    unsigned k() const { return settings_.k ? settings_.k : load_.automatic(); }

private:
    static constexpr unsigned first_interval = 5;
    static constexpr double budget = 0.01; // of the time: what moves for foreign load may cost

    // Whether another move for foreign load may be tried. After one was undone, the gains of all moves and a small part
    // of the time have to cover what such a move costs.
    bool may_try() const { return !(risk_ > 0) || gained_ + budget * time_ >= risk_; }

    MonitorSettings settings_;
    std::vector<double> known_; // rates of all processes
    size_t active_ = 0;         // those that have rows
    Attribution attribution_;
    Starts measured_as_; // the partition that `measured_` is of
    std::vector<Work> measured_;
    unsigned doubted_ = 0;   // intervals in a row that were unbalanced, maybe by chance: their sums, of one partition
    double square_ = 0;      // of the standard error of these sums
    std::vector<Work> sums_;
    Starts doubted_as_;
    Work doubted_pace_;
    std::vector<std::vector<Work>> loaded_; // the last k intervals of the foreign load that lasts, under one partition
    double time_ = 0; // seconds of all intervals
    // Beside foreign load, compared with the first partition: what was gained in all intervals, what was lost in the
    // last one, and the most that was lost in one after which rows went back.
    Starts first_;
    double gained_ = 0, lost_ = 0, risk_ = 0;
    Lately lately_; // what all do, and what the slowest takes
    Work pace_;
    bool dedicated_ = true; // the last interval
    unsigned interval_ = 100;
    Load load_;
    Cost cost_;
    Gains gains_;
};

} // namespace ws::policy::rows
