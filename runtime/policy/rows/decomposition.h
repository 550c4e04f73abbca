// SPDX-License-Identifier: MIT
//
// One decomposition: its structures, what its processes measure, and when its rows move.
#pragma once

#include "policy/rows/counters.h"
#include "policy/rows/allowance.h"
#include "policy/rows/exchange.h"
#include "policy/rows/goal.h"
#include "policy/rows/monitor.h"
#include "policy/rows/move.h"
#include "window/load_row.h"
#include "base/spin_lock.h"

#include <memory>

namespace ws::policy::rows {

// Info's keys, and options for what it does not say.
struct Wishes {
    MonitorSettings settings;
    bool by_node = false;
    int spare = 0; // processes that begin without rows: the last ones
    int64_t iterations = 0; // 0: unknown
};

class Flex;

// What all processes of a partition know of it: those that join are told it.
struct Known {
    Wishes wishes;
    int active = 0, wanted = 0; // processes that have rows, the first ones, and that are to have them
    int allowed = 0;
    int64_t iterations = 0;
    Goal::Aim aim = Goal::Aim::none;
    double goal = 0;
    bool is_asked = false; // for `wanted`, by XMPI_Resize
    bool is_measured = false; // all are in a job
};

// Its members are what one decision needs, from the iteration that is measured to the rows that have moved: each group
// below is written by one step and read by the next, so that parts would hand all of it on. The arithmetic is
// elsewhere: Monitor, Exchange, Move.
class Decomposition {
public:
    // Collective over `processes`. `flex` is its rank's, and outlives it.
    Decomposition(Flex& flex, std::unique_ptr<Processes> processes, Rows rows, const Wishes& wishes);
    // A partition of other processes than before, each of which has the rows that it had. `former`: this process's one
    // until now; null if it joins. Collective over `processes`.
    Decomposition(Flex& flex, std::unique_ptr<Processes> processes, const Known& known, Starts starts,
                  Decomposition* former);
    Decomposition(const Decomposition&) = delete;
    Decomposition& operator=(const Decomposition&) = delete;
    ~Decomposition();

    MPI_Comm comm() const { return processes_->comm; }
    Rows rows() const { return starts_.back(); }
    Rows count() const { return mine().size(); }
    Rows displ() const { return mine().begin; }
    int processes() const { return size_; }
    const Starts& starts() const { return starts_; }
    std::vector<Structure>& structures() { return structures_; }
    // After a structure was added or taken out.
    void structures_changed();

    // At the end of this iteration the first N processes get all rows; N is the same in all processes. What is not
    // measured, as without a job, gets equal parts.
    void resize(int processes)
    {
        wanted_ = processes;
        is_asked_ = true;
    }

    // Waits for the numbers that are under way. Collective.
    void receive_numbers();
    // What processes that join are to know, except whether all are in a job.
    Known known() const;
    // This one has from now on what is registered with `former`.
    void take_over(Decomposition& former);
    Part part() const { return {rows(), displ(), count()}; }

    // From the end of this interval on; the same in all processes.
    void set_goal(Goal::Aim aim, double value) { next_goal_ = {aim, value, true}; }

    void add_work(double units);
    void begin_iteration();
    // The end of an iteration, in two parts. Collective. "" or what is wrong, the same in all processes; then nothing
    // has moved.
    std::string end_begin();
    bool is_ending() const { return ending_; }
    bool end_finish(); // whether rows have moved

    // In blocked time, by the thread that called MPI_Init: goes on with what follows from the last interval, as far as
    // that needs no waiting. Whether there is more to do.
    bool step();

private:
    // What follows from an interval's numbers while they are under way.
    enum class Stage { idle, numbers, rows, decided };

    // What a process has done; `ungiven`: in how many parts of it without XMPI_Set_work.
    struct Done {
        double units = 0, given = 0, real = 0, ungiven = 0;
        int leader = 0; // as ProcessMeasurement has it
    };

    const policy::Job& job() const;
    bool is_measured() const;
    bool has_gaps() const;
    bool is_to_resize() const;
    void measure_from_now(int node);
    Range mine() const { return range_of(starts_, size_t(rank_)); }
    const Structure* sparse() const; // the first; or null
    void close_interval();
    bool is_deciding() const { return stage_ == Stage::numbers || stage_ == Stage::rows; }
    // Goes on up to `decided`, if `wait`, else as far as it can at once. Looks at no memory of the program.
    void decide(bool wait);
    void look_at_numbers();
    void plan();
    void size_by_goal(const std::vector<Work>& all);
    // What was decided is done: begins the move, if there is one. "" or what is wrong.
    std::string act();
    void tell_gains(const Gains::GainSums& before);
    std::string agree_on_structures();
    Starts cut_sparse(const Structure& s);
    void use_given(bool is_given, double units);
    Done done_until_now() const;
    std::vector<Work> work_until_now();
    std::string begin_resize();
    Outcome weigh(const Starts& to) const;
    double intervals_left() const;
    double row_bytes() const; // of all structures
    bool is_checked() const;
    void start_move(Starts to);
    std::string find_trouble(bool to_move);
    std::string trouble_of(int rank);
    double units_now() const;

    Flex& flex_;
    // node_: those on this node, if shares are of nodes
    const std::unique_ptr<Processes> processes_;
    std::unique_ptr<Processes> node_;
    const int rank_, size_;
    const bool is_measured_; // all are in a job
    // Processes that have rows, if there are enough: the first ones. Others take part in everything, but have nothing
    // to do, and count for nothing that is measured.
    int active_;
    int wanted_; // and that are to have them
    bool is_asked_ = false; // because the program has said so
    // The program's goal, and one that counts when an interval ends: until then others may decide about the one before.
    Goal goal_;
    struct {
        Goal::Aim aim = Goal::Aim::none;
        double value = 0;
        bool is_new = false;
    } next_goal_;
    Allowance allowance_; // rank 0's
    int allowed_ = 0; // processes that may have rows, as rank 0 said last; 0: it has not
    int leader_ = 0; // lowest rank of the node
    Wishes wishes_;
    Source source_ = Source::registered;
    Starts starts_;
    std::vector<Structure> structures_;
    Monitor monitor_;
    uint64_t signature_ = 0;
    double elements_ = 0; // units of one iteration, by what is registered

    // ---- the iteration, and the interval that runs
    bool begun_ = false, ending_ = false;
    window::Load at_begin_ = {};
    double units_at_begin_ = 0;
    unsigned done_ = 0;              // iterations of the interval
    int64_t iterations_ = 0;         // of all
    double real_ = 0, kept_ = 0, units_ = 0, given_ = 0;
    bool has_given_ = false;  // XMPI_Set_work was called in this interval, maybe with 0
    double given_before_ = 0; // of given_, at the end of the last iteration
    uint64_t interval_began_ = 0;
    Done before_; // in the interval before, with the rows that it has now
    // The time per unit of an iteration: a mean and a variance that forget, for the noise.
    double mean_ = 0, variance_ = 0;
    uint64_t seen_ = 0;

    // ---- the interval before, while its numbers are under way: as it was when it ended, as decisions are made at
    // another moment in each process. Between two ends of iterations step() may have it.
    base::SpinLock deciding_;
    std::unique_ptr<Exchange> exchange_;
    Stage stage_ = Stage::idle;
    unsigned measured_done_ = 0;
    int64_t iterations_then_ = 0; // when the decision counts
    bool sparse_then_ = false;    // some structure was
    double asked_s_ = 0;          // what sending and waiting for the last numbers took
    std::string trouble_;         // of this process
    // What was measured of each process; at first of those alone of which it is known.
    std::vector<Work> measured_;
    std::vector<Lately> lately_;
    Summary summary_;
    Starts former_;       // before the last move; empty: there is nothing to go back to
    bool undoes_ = false; // the move that is decided goes back there
    int sized_ = 0;          // processes that are to have rows by the goal, or by what is allowed
    bool unbalanced_ = false;
    bool was_given_ = false; // work was measured by XMPI_Set_work
    double bytes_ = 0; // of all structures, of all processes
    Outcome outcome_ = Outcome::same;

    // ---- a move
    std::unique_ptr<Move> move_;
    Starts next_, from_; // next_: empty while the rows' weights have to be looked at
    int resizes_to_ = 0; // processes that have rows after it; 0: as many as before
    Monitor::Choice choice_; // that it follows from,
    double gain_ = 0;        // and the seconds an interval that it is to gain
    Rows round_ = 0, rounds_ = 0;
    double moved_bytes_ = 0, move_began_ = 0;
    bool said_no_memory_ = false;
};

} // namespace ws::policy::rows
