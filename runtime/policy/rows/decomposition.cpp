// SPDX-License-Identifier: MIT
#include "policy/rows/decomposition.h"

#include "measure/meter.h"
#include "observe/board.h"
#include "observe/recorder.h"
#include "policy/rows/flex.h"
#include "base/os.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <functional>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace ws::policy::rows {

using observe::bump;
using base::ticks;
using By = Processes::By;

namespace {

constexpr int exchange_tag = 32767; // no structure has it: moves number theirs from 0 on

// Each process of a node is as fast as its node. leader(p): the lowest rank of the node of process p.
template <class Leader> void share_in_node(std::vector<Work>& all, Leader leader)
{
    std::vector<Work> node(all.size()); // by the leader's rank
    for (size_t p = 0; p < all.size(); p++) {
        node[leader(p)].units += all[p].units;
        node[leader(p)].real += all[p].real;
    }
    for (size_t p = 0; p < all.size(); p++)
        if (const Work& w = node[leader(p)]; w.units > 0)
            all[p].real = all[p].units * w.real / w.units;
}

} // namespace

Decomposition::Decomposition(Flex& flex, std::unique_ptr<Processes> processes, Rows rows, const Wishes& wishes)
    : flex_(flex), processes_(std::move(processes)), rank_(processes_->rank), size_(processes_->size),
      is_measured_(flex.job().is_there()), active_(size_ - wishes.spare), wanted_(active_),
      allowance_(is_measured_ && rank_ == 0 ? flex.job().options->cores_file : ""), wishes_(wishes)
{
    starts_ = equal_parts(rows, size_t(active_), size_t(size_));
    measure_from_now(job().node_number);
}

Decomposition::Decomposition(Flex& flex, std::unique_ptr<Processes> processes, const Known& known, Starts starts,
                             Decomposition* former)
    : flex_(flex), processes_(std::move(processes)), rank_(processes_->rank), size_(processes_->size),
      is_measured_(known.is_measured), active_(known.active), wanted_(known.wanted),
      allowance_(is_measured_ && rank_ == 0 ? flex.job().options->cores_file : ""), wishes_(known.wishes),
      starts_(std::move(starts)), iterations_(known.iterations)
{
    goal_.set(known.aim, known.goal);
    is_asked_ = known.is_asked;
    allowed_ = std::min(known.allowed, size_);
    structures_changed();
    // Nodes of two jobs may have one number.
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    measure_from_now(int(std::hash<std::string_view>()(host) & INT32_MAX) ^ job().node_number);
    // What is known of speeds stays so, unless somebody measures in another unit.
    if (is_measured_ && processes_->all(!former || former->source_ == source_) && former)
        before_ = former->done_until_now();
}

void Decomposition::take_over(Decomposition& former)
{
    structures_ = std::move(former.structures_);
    structures_changed();
    if (rank_ == 0 && former.rank_ == 0)
        allowance_ = std::move(former.allowance_);
}

void Decomposition::receive_numbers()
{
    std::lock_guard<base::SpinLock> guard(deciding_);
    decide(true);
}

Known Decomposition::known() const
{
    const bool is_new = next_goal_.is_new;
    return {wishes_, active_, wanted_, allowed_, iterations_, is_new ? next_goal_.aim : goal_.aim(),
            is_new ? next_goal_.value : goal_.value(), is_asked_};
}

// The beginning of all measuring. Collective. Processes with the same number are on one node.
void Decomposition::measure_from_now(int node)
{
    if (!is_measured_)
        return;
    monitor_ = Monitor(wishes_.settings, size_t(size_), size_t(active_));
    interval_began_ = ticks();
    flex_.totals.partitions++;
    // The best that all have.
    source_ = Source(processes_->combined(By::least, int64_t(flex_.counters.open(job()))));
    flex_.totals.measured = source_text(source_);
    if (const std::string& why = flex_.counters.why(); !why.empty() && source_ < Source::flop)
        flex_.totals.measured += " (" + why + ")";
    leader_ = rank_;
    if (wishes_.by_node) {
        node_ = processes_->split(node);
        node_->broadcast(&leader_, sizeof leader_, 0);
    }
    exchange_ = std::make_unique<Exchange>(*processes_, exchange_tag);
    measured_.resize(size_t(size_));
    lately_.resize(size_t(size_));
    structures_changed();
}

const policy::Job& Decomposition::job() const { return flex_.job(); }

// One of the first processes has joined, and has no rows yet.
bool Decomposition::has_gaps() const
{
    if (rows() < active_)
        return false;
    for (int p = 0; p < active_; p++)
        if (range_of(starts_, size_t(p)).empty())
            return true;
    return false;
}

bool Decomposition::is_to_resize() const { return wanted_ != active_ || (is_asked_ && has_gaps()); }

bool Decomposition::is_measured() const { return is_measured_ && job().is_there(); }

double Decomposition::units_now() const
{
    return source_ == Source::flop || source_ == Source::instructions ? flex_.counters.read(source_) : 0;
}

Decomposition::~Decomposition()
{
    decide(true); // others may have gone on in blocked time, and need this process
    exchange_.reset();
}

void Decomposition::structures_changed()
{
    signature_ = 1;
    elements_ = 0;
    for (const Structure& s : structures_) {
        signature_ = signature_ * 1099511628211u + s.signature();
        if (s.layout == Layout::csr && s.arrays[0].data())
            elements_ += double(s.elements(count()));
    }
    if (elements_ == 0)
        elements_ = double(count());
}

void Decomposition::add_work(double units)
{
    given_ += units;
    has_given_ = true;
}

void Decomposition::begin_iteration()
{
    if (!is_measured())
        return;
    const uint64_t now = ticks();
    if (done_ == 0)
        interval_began_ = now;
    at_begin_ = job().meter->load(now);
    units_at_begin_ = units_now();
    begun_ = true;
}

std::string Decomposition::end_begin()
{
    ending_ = true;
    if (!is_measured()) {
        const std::string trouble = is_to_resize() ? begin_resize() : "";
        is_asked_ = false;
        return trouble;
    }
    const uint64_t now = ticks();
    if (begun_) {
        begun_ = false;
        const window::Load at_end = job().meter->load(now);
        // `useful` may go back a little, when it is found out that others had the core.
        const double useful = double(int64_t(at_end.useful - at_begin_.useful)) / job().ticks_per_us * 1e-6;
        const double kept = job().seconds(at_end.kept_off - at_begin_.kept_off);
        double units =
            source_ == Source::flop || source_ == Source::instructions ? units_now() - units_at_begin_ : elements_;
        double real = std::max(useful + kept, 0.0);
        if (source_ == Source::fake) {
            const double cpu = units / flex_.counters.fake_speed();
            kept_ += std::max(real - cpu, 0.0);
            real = std::max(real, cpu);
        } else
            kept_ += kept;
        real_ += real;
        units_ += units;
        // Work that changes from iteration to iteration is no noise, where the program says how much it is.
        const double said = given_ - given_before_, work = said > 0 ? said : units;
        if (const double each = work > 0 ? real / work : 0; each > 0) {
            const double weight = 1 / double(std::min<uint64_t>(++seen_, 200)), apart = each - mean_;
            mean_ += weight * apart;
            variance_ = (1 - weight) * (variance_ + weight * apart * apart);
        }
    }
    given_before_ = given_;
    iterations_++;
    done_++;
    std::lock_guard<base::SpinLock> guard(deciding_);
    std::string trouble;
    if (stage_ != Stage::idle)
        trouble = act();
    if (is_to_resize() && trouble.empty())
        trouble = begin_resize();
    wanted_ = active_; // a wish is one, whatever comes of it
    is_asked_ = false;
    // While rows move, arrays are not as they were measured.
    if (done_ >= monitor_.interval() && trouble.empty() && !move_)
        close_interval();
    return trouble;
}

// The interval's numbers go to all processes, while they compute the next iteration.
void Decomposition::close_interval()
{
    trouble_ = find_trouble(false);
    const bool computes = count() > 0;
    if (!computes) // what it does is not done for rows, and more rows elsewhere would not change it
        real_ = kept_ = units_ = given_ = 0;
    double real = real_, kept = kept_;
    measured_done_ = done_;
    iterations_then_ = iterations_ + 1;
    sparse_then_ = sparse();
    if (next_goal_.is_new)
        goal_.set(next_goal_.aim, next_goal_.value);
    next_goal_.is_new = false;
    if (node_) { // a node's processes share what there is
        double sums[3] = {real, kept, computes ? 1.0 : 0.0};
        node_->combine(By::sum, sums, 3);
        real = sums[0] / std::max(sums[2], 1.0);
        kept = sums[1] / std::max(sums[2], 1.0);
    }
    const double error = mean_ > 0 && seen_ > 1 ? std::sqrt(variance_ / double(done_)) / mean_ : 0;
    double bytes = 0;
    if (trouble_.empty())
        for (const Structure& s : structures_)
            bytes += s.bytes(count());
    ProcessMeasurement m;
    m.numbers = {is_dedicated(real, real - kept, wishes_.settings.th1) ? 0.0 : 1.0,
                 real,
                 computes ? -real : -HUGE_VAL,
                 computes && std::isfinite(error) ? error * real : 0,
                 computes ? job().seconds(ticks() - interval_began_) : 0,
                 asked_s_,
                 has_given_ || !computes ? 0.0 : 1.0,
                 trouble_.empty() ? 0.0 : double(rank_ + 1),
                 computes ? real : 0,
                 computes ? 1.0 : 0.0,
                 bytes,
                 units_,
                 given_,
                 double(allowance_.look())};
    m.work = {units_, real_};
    m.leader = leader_;
    const uint64_t began = ticks();
    exchange_->begin(m);
    asked_s_ = job().seconds(ticks() - began);
    stage_ = Stage::numbers;
    flex_.want_steps();
    before_ = {units_, given_, real_, m.numbers.ungiven, 0};
    real_ = kept_ = units_ = given_ = given_before_ = 0;
    has_given_ = false;
    done_ = 0;
}

bool Decomposition::step()
{
    if (!deciding_.try_lock())
        return true; // at the end of an iteration, by another thread or by this one below us
    decide(false);
    const bool more = is_deciding();
    deciding_.unlock();
    return more;
}

void Decomposition::decide(bool wait)
{
    if (stage_ == Stage::numbers) {
        const uint64_t began = ticks();
        if (!exchange_->has_numbers(wait))
            return;
        asked_s_ += wait ? job().seconds(ticks() - began) : 0;
        look_at_numbers();
    }
    if (stage_ == Stage::rows && exchange_->has_rows(wait)) {
        plan();
        stage_ = Stage::decided;
        bump(job().board->process.flex_plans);
        bump(job().board->process.flex_plans_blocked, wait ? 0 : 1);
    }
}

void Decomposition::look_at_numbers()
{
    const Numbers& all = exchange_->numbers();
    flex_.totals.intervals++;
    bump(job().board->process.flex_intervals);
    Summary& s = summary_;
    s = {};
    s.dedicated = all.shared == 0;
    s.longest = all.longest;
    s.shortest = std::max(-all.shorter, 0.0);
    s.mean = all.computing > 0 ? all.real / all.computing : 0;
    s.error = s.longest > 0 ? all.error / s.longest : 0;
    s.wall = all.wall;
    s.asking = all.asking;
    // What only some processes say is no measure of what they have done beside the others.
    const bool is_given = all.ungiven == 0 && all.given_units > 0;
    s.units = is_given ? all.given_units : all.units;
    bytes_ = all.bytes;
    stage_ = Stage::decided;
    sized_ = active_;
    if (const int allowed = int(std::min(all.allowed, double(size_))); allowed > 0) {
        if (active_ > allowed || (allowed != allowed_ && !goal_.is_set()))
            sized_ = allowed;
        allowed_ = allowed;
    }
    if (all.trouble > 0 || has_gaps())
        return;
    if (is_given)
        flex_.totals.measured = source_text(Source::given);
    else if (flex_.totals.measured == source_text(Source::given))
        flex_.totals.measured = source_text(source_);
    use_given(is_given, s.units);
    std::vector<Work> alone; // of this interval
    for (size_t p = 0; p < measured_.size(); p++)
        if (exchange_->is_direct() || p == size_t(rank_)) {
            const ProcessMeasurement& m = exchange_->rows()[p];
            const Work work = {is_given ? m.numbers.given_units : m.work.units, m.work.real};
            alone.push_back(work);
            measured_[p] = lately_[p].add(work, measured_done_, s.dedicated, monitor_.k());
        }
    const Gains::GainSums gains = monitor_.gains().sums();
    if (exchange_->is_direct() && !wishes_.by_node)
        monitor_.note(starts_, alone, s);
    unbalanced_ = monitor_.evaluate(s, bytes_, outcome_);
    tell_gains(gains);
    const bool loses = monitor_.is_losing(starts_, s, intervals_left(), row_bytes());
    undoes_ = loses || monitor_.is_to_undo(former_, starts_, s, intervals_left(), row_bytes());
    if (undoes_) {
        next_ = loses ? monitor_.first() : former_;
        outcome_ = Outcome::moved;
        return;
    }
    if (!unbalanced_ && !goal_.is_set())
        return;
    stage_ = Stage::rows;
    exchange_->ask_rows(measured_[size_t(rank_)]);
}

// Work is what the program says, or not; in an interval in which all did `units` units of it.
void Decomposition::use_given(bool is_given, double units)
{
    if (is_given != was_given_) { // what intervals have in common is no unit
        lately_.assign(lately_.size(), {});
        monitor_.change_units(units);
    }
    was_given_ = is_given;
}

// What was compared in this interval.
void Decomposition::tell_gains(const Gains::GainSums& before)
{
    const Gains::GainSums& now = monitor_.gains().sums();
    const double expected = now.expected - before.expected, measured = now.measured - before.measured;
    flex_.totals.expected_s += expected;
    flex_.totals.measured_s += measured;
    const auto to_ticks = [this](double s) { return uint64_t(std::max(s, 0.0) * 1e6 * job().ticks_per_us); };
    bump(job().board->process.flex_expected_ticks, to_ticks(expected));
    bump(job().board->process.flex_gained_ticks, to_ticks(measured));
}

void Decomposition::plan()
{
    const auto n = size_t(size_);
    const std::vector<ProcessMeasurement>& rows = exchange_->rows();
    for (size_t p = 0; p < n && !exchange_->is_direct(); p++)
        measured_[p] = rows[p].work;
    std::vector<Work> all = measured_;
    if (wishes_.by_node)
        share_in_node(all, [&](size_t p) { return size_t(rows[p].leader); });
    if (goal_.is_set() && sized_ == active_ && monitor_.is_steady())
        size_by_goal(all);
    if (!unbalanced_)
        return;
    choice_ = monitor_.choose(starts_, all, summary_);
    outcome_ = choice_.outcome;
    gain_ = choice_.gain;
    next_.clear();
    if (outcome_ != Outcome::moved || sparse_then_)
        return;
    next_ = next_partition(starts_, choice_.costs, choice_.shares);
    gain_ = choice_.gain_with(starts_, next_);
    outcome_ = weigh(next_);
}

// If the move pays in the iterations that are left.
void Decomposition::size_by_goal(const std::vector<Work>& all)
{
    const auto active = size_t(active_);
    const double n = measured_done_;
    const std::vector<double> rates = monitor_.resize(active, all).rates;
    double units = 0; // of an iteration
    for (const Work& w : all)
        units += w.units / n;
    goal_.measured(active, (summary_.wall - summary_.longest) / n);
    const auto most = size_t(std::clamp<Rows>(rows(), 1, allowed_ ? allowed_ : size_));
    const size_t to = goal_.choose(active, most, units, rates);
    if (to == active)
        return;
    const Monitor::Choice c = monitor_.resize(to, all);
    const double cost = monitor_.cost_of(starts_, next_partition(starts_, c.costs, c.shares), row_bytes());
    if (goal_.gain(active, to, units, rates) * n * intervals_left() > cost)
        sized_ = int(to);
}

Outcome Decomposition::weigh(const Starts& to) const
{
    return monitor_.weigh(starts_, to, gain_, intervals_left(), row_bytes());
}

// As many iterations are left as were done, if nobody says.
double Decomposition::intervals_left() const
{
    const double left =
        double(wishes_.iterations ? std::max<int64_t>(wishes_.iterations - iterations_then_, 0) : iterations_then_);
    return left / measured_done_;
}

double Decomposition::row_bytes() const { return rows() ? bytes_ / double(rows()) : 0; }

std::string Decomposition::act()
{
    decide(true);
    stage_ = Stage::idle;
    if (const auto rank = int(exchange_->numbers().trouble))
        return trouble_of(rank - 1);
    if (!is_to_resize())
        wanted_ = sized_;
    if (is_to_resize()) { // rows move for that
        undoes_ = false;
        return "";
    }
    if (outcome_ == Outcome::moved) {
        if (std::string text = agree_on_structures(); !text.empty())
            return text;
        const Structure* const s = sparse();
        if (undoes_) {
            // Rows go back to where they were, whatever they weigh.
        } else if (s) {
            next_ = cut_sparse(*s);
            gain_ = choice_.gain;
            outcome_ = weigh(next_);
        } else if (next_.empty()) { // the sparse matrix has gone since
            next_ = next_partition(starts_, choice_.costs, choice_.shares);
            gain_ = choice_.gain_with(starts_, next_);
            outcome_ = weigh(next_);
        }
    }
    if (outcome_ == Outcome::moved)
        start_move(std::move(next_));
    else
        flex_.totals.outcome[unsigned(outcome_)]++;
    return "";
}

// Rows weigh what they have elements, and a little for themselves. Collective.
Starts Decomposition::cut_sparse(const Structure& s)
{
    const auto me = size_t(rank_);
    Starts cut(starts_.size(), -1);
    double first = 0;
    for (size_t p = 0; p < me; p++)
        first += choice_.costs[p].units;
    const int64_t base = s.start(0);
    place_cuts(
        mine(), choice_.costs[me].units, first, cuts_of(choice_.costs, choice_.shares),
        [&](Rows i) { return double(s.start(i) - base + i); }, cut);
    processes_->combine(By::most, cut.data(), cut.size());
    settle(cut, rows(), choice_.shares.size());
    return cut;
}

// ---- moving

// In this interval and the one before, as far as rows have not moved since.
Decomposition::Done Decomposition::done_until_now() const
{
    if (count() == 0)
        return before_;
    return {before_.units + units_, before_.given + given_, before_.real + real_,
            before_.ungiven + (has_given_ ? 0.0 : 1.0), 0};
}

// What each has done. Collective.
std::vector<Work> Decomposition::work_until_now()
{
    Done mine = done_until_now();
    mine.leader = leader_;
    std::vector<Done> done(starts_.size() - 1);
    const std::unique_ptr<Flight> flight = processes_->flight();
    flight->gather(&mine, done.data(), sizeof mine);
    flight->complete(true);
    Done sum;
    for (const Done& d : done)
        sum = {sum.units + d.units, sum.given + d.given, 0, sum.ungiven + d.ungiven, 0};
    const bool is_given = sum.ungiven == 0 && sum.given > 0;
    use_given(is_given, is_given ? sum.given : sum.units);
    std::vector<Work> all;
    for (const Done& d : done)
        all.push_back({is_given ? d.given : d.units, d.real});
    if (wishes_.by_node)
        share_in_node(all, [&](size_t p) { return size_t(done[p].leader); });
    return all;
}

// The first `wanted_` processes get all rows. Collective. "" or what is wrong.
std::string Decomposition::begin_resize()
{
    resizes_to_ = std::exchange(wanted_, active_);
    is_asked_ = false;
    if (std::string text = agree_on_structures(); !text.empty()) {
        resizes_to_ = 0;
        return text;
    }
    Starts to = equal_parts(rows(), size_t(resizes_to_), size_t(size_));
    if (is_measured()) {
        choice_ = monitor_.resize(size_t(resizes_to_), work_until_now());
        const Structure* const s = sparse();
        const auto is_known = [](const Work& w) { return w.units > 0; };
        const bool known = std::any_of(choice_.costs.begin(), choice_.costs.end(), is_known);
        to = s && known ? cut_sparse(*s) : next_partition(starts_, choice_.costs, choice_.shares);
    }
    start_move(std::move(to));
    return "";
}

// What that process has found, said to all. Collective.
std::string Decomposition::trouble_of(int rank)
{
    char words[160] = "";
    std::snprintf(words, sizeof words, "%s (rank %d)", trouble_.c_str(), rank);
    processes_->broadcast(words, sizeof words, rank);
    return words;
}

// Rows are to move: whether all have the same structures, in good order. Collective.
std::string Decomposition::agree_on_structures()
{
    trouble_ = find_trouble(true);
    const auto signature = int64_t(signature_);
    int64_t all[3] = {trouble_.empty() ? 0 : int64_t(rank_) + 1, signature, ~signature};
    processes_->combine(By::most, all, 3);
    if (all[0])
        return trouble_of(int(all[0]) - 1);
    return all[1] == ~all[2] ? "" : "processes have registered different structures";
}

const Structure* Decomposition::sparse() const
{
    for (const Structure& s : structures_)
        if (s.layout == Layout::csr)
            return &s;
    return nullptr;
}

std::string Decomposition::find_trouble(bool to_move)
{
    for (Structure& s : structures_) {
        for (size_t a = 0; a < s.arrays.size(); a++)
            if (a == 0 || (s.arrays[0].data() && s.arrays[0].is_there(s.length(0, count())))) // whose length starts say
                s.arrays[a].refresh(s.length(a, count()));
        if (std::string text = s.trouble(count(), to_move); !text.empty())
            return text;
    }
    return "";
}

void Decomposition::start_move(Starts to)
{
    from_ = starts_;
    next_ = std::move(to);
    rounds_ = rounds_of(from_, next_);
    round_ = 1;
    moved_bytes_ = 0;
    move_began_ = base::seconds_now();
    move_ = std::make_unique<Move>(*processes_, structures_, from_, part_way(from_, next_, 1, rounds_),
                                   is_checked());
    if (!move_->begin())
        rounds_ = 0;
}

bool Decomposition::is_checked() const { return is_measured() && job().options->flex_check; }

bool Decomposition::end_finish()
{
    ending_ = false;
    if (!move_)
        return false;
    const uint64_t began = ticks();
    Rows done = 0;
    while (rounds_ > 0) {
        move_->finish();
        moved_bytes_ += move_->bytes();
        starts_ = part_way(from_, next_, round_, rounds_);
        done = round_;
        if (round_ == rounds_)
            break;
        round_++;
        move_ = std::make_unique<Move>(*processes_, structures_, starts_, part_way(from_, next_, round_, rounds_),
                                       is_checked());
        if (!move_->begin())
            rounds_ = 0;
    }
    move_.reset();
    const int to = std::exchange(resizes_to_, 0);
    if (to && done) // of one that stopped half way, the larger number has rows
        active_ = wanted_ = rounds_ ? to : std::max(active_, to);
    if (rounds_ == 0) {
        flex_.totals.outcome[unsigned(Outcome::no_memory)]++;
        if (rank_ == 0 && !said_no_memory_)
            std::fprintf(
                stderr,
                "workshare: warning: XMPI: rows stay where they are, because a process has no memory for more\n");
        said_no_memory_ = true;
    }
    const double took = base::seconds_now() - move_began_;
    const uint64_t ended = ticks();
    if (is_measured())
        bump(job().board->process.flex_move_ticks, ended - began);
    if (done == 0)
        return false;
    structures_changed();
    double most[2] = {moved_bytes_, took}, sum = moved_bytes_ / 2; // each byte leaves one process and comes to another
    processes_->combine(By::most, most, 2);
    processes_->combine(By::sum, &sum, 1);
    const Rows rows = volume_of(from_, starts_).all;
    flex_.totals.moves++;
    flex_.totals.resized += to != 0;
    flex_.totals.rows += double(rows);
    flex_.totals.bytes += sum;
    flex_.totals.move_s += most[1];
    if (!is_measured())
        return true;
    bump(job().board->process.flex_moves);
    bump(job().board->process.flex_bytes, uint64_t(moved_bytes_));
    if (to) {
        monitor_.resized(size_t(active_), most[0], most[1]);
        former_.clear();
    } else if (undoes_) {
        monitor_.undone(most[0], most[1]);
        former_.clear();
        flex_.totals.undone++;
    } else {
        monitor_.moved(choice_, gain_, most[0], most[1]);
        former_ = from_;
    }
    undoes_ = false;
    flex_.totals.outcome[unsigned(Outcome::moved)]++;
    if (observe::recording)
        observe::record(observe::EventKind::rows, began, ended, 0, uint64_t(rows), uint64_t(moved_bytes_));
    // What was measured meanwhile is of two partitions.
    real_ = kept_ = units_ = given_ = given_before_ = 0;
    has_given_ = false;
    done_ = 0;
    before_ = {};
    lately_.assign(lately_.size(), {});
    mean_ = variance_ = 0;
    seen_ = 0;
    return true;
}

} // namespace ws::policy::rows
