// SPDX-License-Identifier: MIT
#include "policy/flex/decomposition.h"

#include "measure/meter.h"
#include "observe/board.h"
#include "observe/recorder.h"
#include "window/os.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace ws::policy::flex {

using observe::bump;
using window::ticks;

policy::Attached host;
Told told;

namespace {

constexpr int by_maximum = 8; // of Numbers, those before `real`

double seconds(uint64_t t) { return host.seconds(t); }

// What a process tells of itself when rows may move.
struct Row {
    double units, real, bytes;
    uint64_t signature;
    int leader, in_trouble;
};

} // namespace

Decomposition::Decomposition(MPI_Comm comm, Rows rows, const Wishes& wishes) : wishes_(wishes)
{
    PMPI_Comm_dup(comm, &comm_);
    PMPI_Comm_rank(comm_, &rank_);
    PMPI_Comm_size(comm_, &size_);
    starts_ = equal_parts(rows, size_t(size_));
    if (!host.on)
        return;
    monitor_ = Monitor(wishes.settings, size_t(size_));
    told.partitions++;
    // The best that all have.
    int best = int(counters.open());
    PMPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_INT, MPI_MIN, comm_);
    source_ = Source(best);
    told.measured = source_text(source_);
    if (const std::string& why = counters.why(); !why.empty() && source_ < Source::flop)
        told.measured += " (" + why + ")";
    leader_ = rank_;
    if (wishes.by_node) {
        PMPI_Comm_split(comm_, host.node_number, rank_, &node_);
        PMPI_Bcast(&leader_, 1, MPI_INT, 0, node_);
    }
    PMPI_Type_contiguous(int(sizeof(Numbers) / sizeof(double)), MPI_DOUBLE, &numbers_type_);
    PMPI_Type_commit(&numbers_type_);
    PMPI_Op_create(reduce, 1, &numbers_op_);
    structures_changed();
}

Decomposition::~Decomposition()
{
    if (request_ != MPI_REQUEST_NULL)
        PMPI_Wait(&request_, MPI_STATUS_IGNORE);
    if (node_ != MPI_COMM_NULL)
        PMPI_Comm_free(&node_);
    if (numbers_op_ != MPI_OP_NULL) {
        PMPI_Op_free(&numbers_op_);
        PMPI_Type_free(&numbers_type_);
    }
    PMPI_Comm_free(&comm_);
}

void Decomposition::reduce(void* in, void* inout, int* length, MPI_Datatype*)
{
    const auto* a = static_cast<const double*>(in);
    auto* b = static_cast<double*>(inout);
    constexpr int all = sizeof(Numbers) / sizeof(double);
    for (int i = 0; i < *length * all; i++)
        b[i] = i % all < by_maximum ? std::max(a[i], b[i]) : a[i] + b[i];
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

void Decomposition::add_work(double units) { given_ += units; }

void Decomposition::begin_iteration()
{
    if (!host.on)
        return;
    const uint64_t now = ticks();
    if (done_ == 0)
        interval_began_ = now;
    at_begin_ = host.meter->load(now);
    units_at_begin_ = units_now();
    begun_ = true;
}

std::string Decomposition::end_begin()
{
    ending_ = true;
    if (!host.on)
        return "";
    const uint64_t now = ticks();
    if (begun_) {
        begun_ = false;
        const window::Load at_end = host.meter->load(now);
        // `useful` may go back a little, when it is found out that others had the core.
        const double useful = double(int64_t(at_end.useful - at_begin_.useful)) / host.ticks_per_us * 1e-6;
        const double kept = seconds(at_end.kept_off - at_begin_.kept_off);
        double units =
            source_ == Source::flop || source_ == Source::instructions ? units_now() - units_at_begin_ : elements_;
        double real = std::max(useful + kept, 0.0);
        if (source_ == Source::fake) {
            const double cpu = units / counters.fake_speed();
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
    std::string trouble;
    if (request_ != MPI_REQUEST_NULL)
        trouble = decide();
    // While rows move, arrays are not as they were measured.
    if (done_ >= monitor_.interval() && request_ == MPI_REQUEST_NULL && trouble.empty() && !move_)
        close_interval();
    return trouble;
}

// The interval's numbers go to all processes, while they compute the next iteration.
void Decomposition::close_interval()
{
    trouble_ = find_trouble(false);
    double real = real_, kept = kept_;
    measured_ = {units_, real_};
    given_units_ = given_;
    measured_done_ = done_;
    if (node_ != MPI_COMM_NULL) { // a node's processes share what there is
        double sums[3] = {real, kept, 1};
        PMPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, node_);
        real = sums[0] / sums[2];
        kept = sums[1] / sums[2];
    }
    const double error = mean_ > 0 && seen_ > 1 ? std::sqrt(variance_ / double(done_)) / mean_ : 0;
    const bool computes = count() > 0;
    double bytes = 0;
    if (trouble_.empty())
        for (const Structure& s : structures_)
            bytes += s.bytes(count());
    sent_ = {is_dedicated(real, real - kept, wishes_.settings.th1) ? 0.0 : 1.0,
             real,
             computes ? -real : -HUGE_VAL,
             std::isfinite(error) ? error * real : 0,
             seconds(ticks() - interval_began_),
             asked_s_,
             given_ > 0 ? 1.0 : 0.0,
             trouble_.empty() ? 0.0 : double(rank_ + 1),
             computes ? real : 0,
             computes ? 1.0 : 0.0,
             bytes,
             measured_.units,
             given_};
    PMPI_Iallreduce(&sent_, &numbers_, 1, numbers_type_, numbers_op_, comm_, &request_);
    real_ = kept_ = units_ = given_ = given_before_ = 0;
    done_ = 0;
}

std::string Decomposition::decide()
{
    const uint64_t began = ticks();
    PMPI_Wait(&request_, MPI_STATUS_IGNORE);
    asked_s_ = seconds(ticks() - began);
    told.intervals++;
    bump(host.board->process.flex_intervals);
    if (numbers_.trouble > 0)
        return trouble_of(int(numbers_.trouble) - 1);
    Summary s;
    s.dedicated = numbers_.shared == 0;
    s.longest = numbers_.longest;
    s.shortest = std::max(-numbers_.shorter, 0.0);
    s.mean = numbers_.computing > 0 ? numbers_.real / numbers_.computing : 0;
    s.error = s.longest > 0 ? numbers_.error / s.longest : 0;
    s.wall = numbers_.wall;
    s.asking = numbers_.asking;
    s.units = numbers_.given > 0 ? numbers_.given_units : numbers_.units;
    if (numbers_.given > 0) {
        measured_.units = given_units_;
        told.measured = source_text(Source::given);
    }
    measured_ = lately_.add(measured_, measured_done_, s.dedicated, monitor_.k());
    Outcome outcome;
    Starts next;
    std::string trouble;
    const Gains::Sums gains = monitor_.gains().sums();
    const bool evaluated = monitor_.evaluate(s, numbers_.bytes, outcome);
    tell_gains(gains);
    if (evaluated)
        outcome = propose(s, next, trouble);
    if (!trouble.empty())
        return trouble;
    if (outcome == Outcome::moved)
        start_move(std::move(next));
    else
        told.outcome[unsigned(outcome)]++;
    return "";
}

// What was compared in this interval.
void Decomposition::tell_gains(const Gains::Sums& before)
{
    const Gains::Sums& now = monitor_.gains().sums();
    const double expected = now.expected - before.expected, measured = now.measured - before.measured;
    told.expected_s += expected;
    told.measured_s += measured;
    const auto to_ticks = [](double s) { return uint64_t(std::max(s, 0.0) * 1e6 * host.ticks_per_us); };
    bump(host.board->process.flex_expected_ticks, to_ticks(expected));
    bump(host.board->process.flex_gained_ticks, to_ticks(measured));
}

Outcome Decomposition::propose(const Summary& s, Starts& next, std::string& trouble)
{
    const auto n = size_t(size_);
    trouble_ = find_trouble(true);
    double bytes = 0;
    for (const Structure& x : structures_)
        bytes += trouble_.empty() ? x.bytes(count()) : 0;
    const Row mine = {measured_.units, measured_.real, bytes, signature_, leader_, !trouble_.empty()};
    std::vector<Row> rows(n);
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, rows.data(), sizeof mine, MPI_BYTE, comm_);
    std::vector<Work> all;
    std::vector<Work> node(n); // by the leader's rank
    bytes = 0;
    for (const Row& r : rows) {
        all.push_back({r.units, r.real});
        node[size_t(r.leader)].units += r.units;
        node[size_t(r.leader)].real += r.real;
        bytes += r.bytes;
        if (r.in_trouble) {
            trouble = trouble_of(int(&r - rows.data()));
            return Outcome::same;
        }
        if (r.signature != rows[0].signature) {
            trouble = "processes have registered different structures";
            return Outcome::same;
        }
    }
    if (wishes_.by_node) // each process of a node is as fast as its node
        for (size_t p = 0; p < n; p++)
            if (const Work& w = node[size_t(rows[p].leader)]; w.units > 0)
                all[p].real = all[p].units * w.real / w.units;
    Monitor::Choice choice = monitor_.choose(starts_, all, s);
    if (choice.outcome != Outcome::moved)
        return choice.outcome;
    gain_ = choice.gain;

    const Structure* sparse = nullptr;
    for (const Structure& x : structures_)
        if (!sparse && x.layout == Layout::csr)
            sparse = &x;
    Starts to;
    if (sparse) { // rows weigh what they have elements, and a little for themselves
        to.assign(n + 1, -1);
        double first = 0;
        for (size_t p = 0; p < size_t(rank_); p++)
            first += choice.costs[p].units;
        const int64_t base = sparse->start(0);
        place_cuts(
            this->mine(), choice.costs[size_t(rank_)].units, first, cuts_of(choice.costs, choice.shares),
            [&](Rows i) { return double(sparse->start(i) - base + i); }, to);
        PMPI_Allreduce(MPI_IN_PLACE, to.data(), int(n + 1), MPI_INT64_T, MPI_MAX, comm_);
        settle(to, this->rows());
    } else {
        to = next_partition(starts_, choice.costs, choice.shares);
        gain_ = choice.gain_with(starts_, to);
    }

    // As many iterations are left as were done, if nobody says.
    const double left =
        double(wishes_.iterations ? std::max<int64_t>(wishes_.iterations - iterations_, 0) : iterations_);
    const double row_bytes = this->rows() ? bytes / double(this->rows()) : 0;
    const Outcome outcome = monitor_.weigh(starts_, to, gain_, left / measured_done_, row_bytes);
    if (outcome == Outcome::moved) {
        next = std::move(to);
        choice_ = std::move(choice);
    }
    return outcome;
}

// ---- moving

// What that process has found, said to all. Collective.
std::string Decomposition::trouble_of(int rank)
{
    char words[160] = "";
    std::snprintf(words, sizeof words, "%s (rank %d)", trouble_.c_str(), rank);
    PMPI_Bcast(words, sizeof words, MPI_CHAR, rank, comm_);
    return words;
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
    move_began_ = window::seconds_now();
    move_ =
        std::make_unique<Move>(comm_, structures_, from_, part_way(from_, next_, 1, rounds_), host.options->flex_check);
    if (!move_->begin())
        rounds_ = 0;
}

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
        move_ = std::make_unique<Move>(comm_, structures_, starts_, part_way(from_, next_, round_, rounds_),
                                       host.options->flex_check);
        if (!move_->begin())
            rounds_ = 0;
    }
    move_.reset();
    if (rounds_ == 0) {
        told.outcome[unsigned(Outcome::no_memory)]++;
        if (rank_ == 0 && !said_no_memory_)
            std::fprintf(stderr,
                         "workshare: XMPI: rows stay where they are: a process has no memory for more (said once)\n");
        said_no_memory_ = true;
    }
    const double took = window::seconds_now() - move_began_;
    const uint64_t ended = ticks();
    bump(host.board->process.flex_move_ticks, ended - began);
    if (done == 0)
        return false;
    structures_changed();
    bump(host.board->process.flex_moves);
    bump(host.board->process.flex_bytes, uint64_t(moved_bytes_));
    double most[2] = {moved_bytes_, took}, sum = moved_bytes_ / 2; // each byte leaves one process and comes to another
    PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, comm_);
    PMPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm_);
    monitor_.moved(choice_, gain_, most[0], most[1]);
    told.outcome[unsigned(Outcome::moved)]++;
    told.moves++;
    const Rows rows = volume_of(from_, starts_).all;
    if (observe::recording)
        observe::record(observe::EventKind::rows, began, ended, 0, uint64_t(rows), uint64_t(moved_bytes_));
    told.rows += double(rows);
    told.bytes += sum;
    told.move_s += most[1];
    // What was measured meanwhile is of two partitions.
    real_ = kept_ = units_ = given_ = given_before_ = 0;
    done_ = 0;
    lately_.forget();
    mean_ = variance_ = 0;
    seen_ = 0;
    return true;
}

} // namespace ws::policy::flex
