// SPDX-License-Identifier: MIT
//
// The policy: when ranks measure, and what a region gets. Decisions: balance.h. Arithmetic: deal.h, assign.h, turns.h,
// regions.h. The node's memory: table.h. The threads: team.h.
#include "policy/cores/dpb.h"

#include "openmp/library/region_cores.h"
#include "measure/meter.h"
#include "observe/board.h"
#include "observe/recorder.h"
#include "policy/cores/balance.h"
#include "policy/cores/foreign.h"
#include "policy/cores/regions.h"
#include "policy/cores/reserve.h"
#include "policy/cores/team.h"
#include "policy/cores/tell.h"
#include "policy/cores/turns.h"
#include "base/os.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <strings.h>

namespace ws::policy::cores {

using observe::bump;
using observe::EventKind;
using observe::Facts;
using observe::record;
using observe::recording;
using option::Options;
using base::cpu_relax;
using base::ticks;
constexpr double unknown_period_us = 500000; // length of a measurement if no turns are found
// What threads that come and go cost a region: measured 20 to 50 for one, with libgomp, which ends them.
constexpr double thread_cost_us = 60;
// How long a region waits for cores, at most: a rank is asked for them when it has waited for borrow_least_us.
constexpr double most_wait_us = 60;
// Regions that would take up to this long without borrowed cores soon run without, to learn whether these make them
// faster.
constexpr double most_trial_us = 20000;
// How often a rank that waits looks whether it is to decide.
constexpr double decide_least_us = 1000, decide_most_us = 20000;
// How long a rank waits before it lends its cores to members in reserve, and how often it looks whether there are some.
constexpr double lend_after_us = 100, look_for_reserves_us = 2000, look_while_lent_us = 20000;

namespace {

WS_THREAD_LOCAL bool home_thread;

// How long a futex call takes that wakes nobody: the least of some.
uint64_t wake_ticks()
{
    volatile Flag word = 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        const uint64_t began = ticks();
        base::futex_wake(&word);
        least = std::min(least, ticks() - began);
    }
    return least;
}

// The user has said which threads run where.
bool threads_are_placed()
{
    for (const char* name : {"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
        if (const char* said = std::getenv(name); said && *said)
            return true;
    const char* bind = std::getenv("OMP_PROC_BIND");
    return bind && *bind && strcasecmp(bind, "false") != 0;
}

// It joins the parts, each a member: what a region is given depends on all of them at once. Arithmetic, shared memory
// and decisions are theirs.
class Dpb final : public policy::Policy, openmp::RegionCores {
public:
    policy::Wants attach(policy::Job& job) override;
    policy::Wants step(policy::Job& job, uint64_t now, uint64_t budget) override;
    void wait_ends(policy::Job&) override { reserve_.take_back(ticks()); }
    void end(policy::Job&) override;
    void tell(Facts& facts) const override;
    void detach(policy::Job&) override
    {
        if (openmp::region_cores == this)
            openmp::set_region_cores(nullptr);
        table_.detach();
    }

    unsigned open(unsigned asked, const void* site, const void* region) override;
    void member(unsigned number, const void* region) override
    {
        if (!is_own(region))
            return;
        team_.member(number);
        openmp::own_short_tasks.region_begins();
        Reserve::is_member = number >= threads_;
        if (WS_UNLIKELY(Reserve::is_member))
            reserve_.wait(number - threads_);
    }
    void member_done(unsigned number, const void* region) override
    {
        if (!is_own(region))
            return;
        reserve_.arrives();
        add_counts();
        team_.member_done(number);
        if (WS_UNLIKELY(foreign_extra_) && number >= team_.processors() &&
            foreign_.member_done(number - team_.processors()))
            team_.leave();
    }
    void arrives() override { reserve_.arrives(); }
    void close(const void* region) override;

private:
    bool share(policy::Job& job, bool fixed);
    void begin_region(const void* site, const void* region, uint64_t now);
    void show_threads(unsigned threads);
    unsigned wait_for_cores(const void* site, unsigned own, unsigned most, uint64_t& now, uint64_t& waits);
    unsigned borrow(const void* site, unsigned own, unsigned most, unsigned there, uint64_t now);
    bool keeps_alone(const void* site, unsigned own);
    unsigned hold_reserve(const void* site, unsigned more);
    void close_reserve(uint64_t now);
    template <class Lent> void tell_lent(const Lent& lent); // cores of other ranks of the job
    void add_counts();
    uint64_t lend_to_reserves(uint64_t now);
    void look_at_deal();
    void note_cores(unsigned cores);
    void offer();
    void give_foreign_back(uint64_t now);
    Spent spent(uint64_t now);
    void look_at_periods(uint64_t now);
    void measure_at(uint64_t now);
    void tell_measured();
    uint64_t decide_every() const;

    bool lends_ = false, balances_ = false, attached_ = false, ended_ = false;
    // Regions are shared, and only those that are left to OpenMP may have lent cores. Else they are as they would be.
    bool shared_ = false;  // CPUs were divided
    bool shares_ = false, offered_ = false; // cores with other jobs
    unsigned me_ = 0, usual_ = 1, first_ = 1;
    double ticks_per_us_ = 1000;
    observe::Board* board_ = nullptr;
    measure::Meter* meter_ = nullptr;
    const window::Window* window_ = nullptr;
    book::Reader* book_ = nullptr;
    Table table_;
    Team team_;
    Foreign foreign_;
    Turns turns_;
    Regions regions_;
    TaskRegions task_regions_;
    openmp::ShortTasks::Limits short_tasks_ = {};
    bool cancels_ = false; // tasks that are put after a cancel construct need not run
    Reserve reserve_;
    bool lends_now_ = false; // some of this rank's cores, in its present wait
    volatile Hardware::Word tasks_ = 0, barriers_ = 0; // of the region
    Balance balance_;

    // Else it is another thread's, which got what it asked for. Relaxed: threads of this region are begun after the
    // store, those of another see neither value as theirs.
    bool is_own(const void* region) const { return base::load_relaxed(region_) == region; }

    const void* volatile region_ = nullptr; // of the home thread, if it has one open
    bool has_regions_ = false;
    const void* site_ = nullptr;
    uint64_t opened_ = 0;
    unsigned wished_ = 0; // the most threads that a region wanted, of those that are measured
    unsigned threads_ = 1, extra_ = 0, foreign_extra_ = 0;
    // The open region asked for one thread, most often by an if clause: how long it takes says nothing of other
    // executions. Or it could have borrowed cores, and was not to.
    bool asked_for_one_ = false, kept_alone_ = false;
    std::vector<observe::CoresFrom> cores_; // over time
    std::optional<Done> told_; // what the verdict tells of: the mode is set
    int node_ = 0;
    Flag seen_ = 0;         // generation that this rank has its processors of
    Flag deals_seen_ = 0;
    uint64_t turn_told_ = 0;
    uint64_t deal_seen_at_ = 0;
};

// Where this rank's own thread is at home: not where it has a worker.
int home_cpu(const window::Window& w)
{
    const int here = sched_getcpu();
    base::CpuSet workers;
    for (unsigned i = 0; i < w.workers(); i++)
        if (const base::CpuMask worker = w.mask(w.first_worker() + i); worker.count() == 1)
            workers.add(worker);
    if (!workers.mask().has(here))
        return here;
    const base::CpuMask own = w.mask(w.me());
    for (int c = own.first(); c >= 0; c = own.first(c + 1))
        if (!workers.mask().has(c))
            return c;
    return here;
}

// What a rank tells the others of its node, to begin with.
struct RankLimits {
    int home;
    unsigned usual, most;
    bool fixed;
};

// Whether a process's number means the same one in all ranks of the node.
bool same_processes(const window::Window& w)
{
    const uint64_t own = w.home(w.me()).process.pid_namespace;
    for (unsigned r = 0; own && r < w.ranks(); r++)
        if (w.home(r).process.pid_namespace != own)
            return false;
    return own;
}

bool Dpb::share(policy::Job& job, bool fixed)
{
    window::Window& w = *job.window;
    me_ = w.me();
    // What the program sets in its environment after MPI_Init counts as it does without, where nothing is asked for.
    usual_ = fixed ? 1 : openmp::openmp_usual();
    // A program that has set a number of threads itself has no more, whatever there is.
    const unsigned most = fixed                                  ? 1
                          : openmp::threads_set_here() ? usual_
                                                                 : std::max(usual_, openmp::most_threads());
    const RankLimits mine = {home_cpu(w), usual_, most, fixed};
    std::vector<RankLimits> all(w.ranks());
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, job.node);
    std::vector<base::CpuSet> masks;
    std::vector<int> home;
    std::vector<unsigned> usual, mosts;
    for (unsigned r = 0; r < w.ranks(); r++) {
        masks.emplace_back(w.mask(r));
        home.push_back(all[r].home);
        usual.push_back(all[r].usual);
        mosts.push_back(all[r].most);
    }
    if (std::all_of(all.begin(), all.end(), [](const RankLimits& limits) { return limits.fixed; }))
        return false; // which has been said
    const Start start = start_of(masks, home, usual, job.options->cores);
    if (start.cpus.empty()) {
        if (me_ == 0)
            std::fprintf(
                stderr,
                "workshare: warning: -workshare-openmp has no effect on node %d: it has fewer cores than ranks\n",
                job.node_number);
        return false;
    }
    shared_ = start.shared;
    if (!table_.attach(job.node, w, start, mosts))
        return false;
    reserve_.attach(table_, w, me_, same_processes(w));
    return true;
}

policy::Wants Dpb::attach(policy::Job& job)
{
    const Options& o = *job.options;
    const bool lends = o.openmp == Options::openmp_lend || o.openmp == Options::openmp_auto,
               balances = o.openmp == Options::openmp_balance || o.openmp == Options::openmp_auto,
               shares = o.across_jobs && !o.ignore_jobs;
    const int me = job.rank;
    int first;
    if (!lends && !balances) { // regions keep their threads
        if (o.across_jobs && me == 0)
            std::fputs(
                "workshare: warning: -workshare-across-jobs requires -workshare-openmp=lend, balance or auto\n",
                stderr);
        return {};
    }
    told_ = Done{lends, balances, shares, job.ticks_per_us, 0, false};
    node_ = job.node_number;
    const char* why = !job.window ? "no window is shared" : openmp::why_threads_are_fixed();
    PMPI_Comm_size(MPI_COMM_WORLD, &first);
    if (why)
        first = me;
    PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (why && first == me)
        std::fprintf(stderr, "workshare: warning: -workshare-openmp has no effect in rank %d, and perhaps others: %s\n",
                     me, why);
    if (o.across_jobs && o.ignore_jobs && me == 0)
        std::fputs("workshare: warning: -workshare-across-jobs has no effect, because WS_IGNORE_JOBS=1 is set\n",
                   stderr);
    if (!job.window)
        return {};
    told_->alone = job.window->ranks() == 1 && !shares;
    if (told_->alone || !share(job, why != nullptr))
        return {};
    home_thread = true;
    attached_ = true;
    lends_ = lends;
    balances_ = balances;
    shares_ = shares;
    ticks_per_us_ = job.ticks_per_us;
    board_ = job.board;
    meter_ = job.meter;
    window_ = job.window;
    book_ = job.book;
    job.wants_periods |= balances;
    first_ = table_.first()[me_];
    team_.attach(table_, *job.window, me_, ticks_per_us_, threads_are_placed(), false);
    board_->process.openmp_cores = team_.own();
    note_cores(team_.own());
    turns_ = Turns(uint64_t(unknown_period_us * ticks_per_us_));
    regions_ = Regions(uint64_t(thread_cost_us * ticks_per_us_), uint64_t(most_wait_us * ticks_per_us_),
                       uint64_t(most_trial_us * ticks_per_us_));
    task_regions_ = TaskRegions(ticks_per_us_);
    cancels_ = openmp::has_cancellation();
    short_tasks_ = openmp::ShortTasks::limits(ticks_per_us_, wake_ticks());
    if (!why) // all that a region needs is there
        openmp::set_region_cores(this);
    if (!balances_)
        return {false, shares_ || lends_ ? ticks() + decide_every() : Wants::never};
    balance_.attach(table_, *job.window, job.node_decider(*this),
                    o.openmp_deal == Options::openmp_deal_paper ? paper_deal : whole_deal, me_ == 0, ticks_per_us_);
    return {false, ticks() + decide_every()};
}

uint64_t Dpb::decide_every() const
{
    const double quarter = double(meter_->period()) / 4, us = ticks_per_us_;
    return uint64_t(std::clamp(quarter, decide_least_us * us, decide_most_us * us));
}

// When the book is there, which is made after attach().
void Dpb::offer()
{
    if (offered_ || !book_->joined())
        return;
    offered_ = true;
    foreign_.attach(*book_, ticks_per_us_);
    std::vector<int> cpus;
    for (unsigned p = 0; p < table_.processors(); p++)
        if (table_.processor(p).first == me_)
            cpus.push_back(table_.processor(p).cpu);
    if (!foreign_.offer(cpus))
        std::fprintf(stderr,
                     "workshare: warning: rank %d shares only some of its cores with other jobs, because the node book "
                     "is full\n",
                     window_->home(me_).world_rank);
}

// ---- a region of the home thread

// Between two regions: applies a new deal. Measuring begins again when this rank has it.
void Dpb::look_at_deal()
{
    const Flag generation = Hardware::load_acquire(table_.head().generation); // acquire: the targets, and the promises
    if (WS_LIKELY(generation == seen_))
        return;
    board_->process.openmp_cores = team_.settle();
    if (team_.own() == Hardware::load_relaxed(table_.row(me_).target)) {
        seen_ = generation;
        const Flag deals = Hardware::load_relaxed(table_.head().deals); // relaxed: `generation` was read
        if (deals == deals_seen_)
            turns_.go_on();
        else {
            turns_.begin_anew();
            deal_seen_at_ = ticks();
        }
        deals_seen_ = deals;
        wished_ = 0;
        note_cores(team_.own());
    }
}

// For the report: this rank has the cores of the present deal.
void Dpb::note_cores(unsigned cores)
{
    const Flag deal = Hardware::load_relaxed(table_.head().deals); // relaxed: `generation` was read
    if (!cores_.empty() && cores_.back().deal == int64_t(deal))
        return;
    const double at_s = cores_.empty() ? 0 : double(ticks() - board_->attached_at) * 1e-6 / ticks_per_us_;
    const observe::CoresFrom from = {deal, at_s, double(Hardware::load_relaxed(table_.head().deal_periods)),
                                     double(cores)};
    if (cores_.size() < observe::most_cores_over_time)
        cores_.push_back(from);
    else
        cores_.back() = from;
}

void Dpb::measure_at(uint64_t now)
{
    look_at_periods(now);
    const uint64_t turns = meter_->turns();
    if (turns != turn_told_) { // one has begun
        turn_told_ = turns;
        table_.row(me_).turn.write({seen_, now, Hardware::Word(meter_->load(now).useful)});
    }
    if (WS_LIKELY(!turns_.is_due(turns, meter_->period(), now)))
        return;
    if (wished_)
        Hardware::store_relaxed(table_.row(me_).most, wished_);
    if (turns_.sample(turns, meter_->period(), spent(now)) && seen_ == Hardware::load_relaxed(table_.head().generation))
        tell_measured();
}

void Dpb::tell_measured()
{
    Hardware::Word words[measured_words] = {Hardware::Word(seen_) << 1 | turns_.by_turns(), turns_.periods(),
                                            turns_.useful(), turns_.waited(), turns_.took(), turns_.calls()};
    for (unsigned back = 0; back < turns_told; back++)
        words[6 + back] = turns_.turn(back).useful, words[6 + turns_told + back] = turns_.turn(back).at;
    table_.row(me_).measured.write(words);
}

// Useful is what lent processors did, too.
Spent Dpb::spent(uint64_t now)
{
    const window::Load load = meter_->load(now);
    return {now, load.useful + meter_->helped(), load.waited};
}

// The program's turns have been found, or are others now: the last two have been measured, if they began under this
// deal.
void Dpb::look_at_periods(uint64_t now)
{
    const measure::Periods* const periods = meter_->periods();
    if (!periods || WS_LIKELY(!turns_.are_others(periods->length())))
        return;
    Spent past[2];
    unsigned many = 0;
    for (; many < 2 && periods->turn(many).at && periods->turn_began(many) >= deal_seen_at_; many++)
        past[many] = periods->turn(many);
    turns_.change(periods->length(), periods->turns(), spent(now), past, many);
}

void Dpb::begin_region(const void* site, const void* region, uint64_t now)
{
    base::store_relaxed(region_, region);
    if (WS_UNLIKELY(!has_regions_)) {
        has_regions_ = true;
        Hardware::store_relaxed(table_.row(me_).seen, 1);
    }
    site_ = site;
    opened_ = now;
    extra_ = foreign_extra_ = 0;
    Hardware::store_relaxed(tasks_, 0); // relaxed, both: its threads begin later
    Hardware::store_relaxed(barriers_, 0);
}

// Relaxed: a hint for those who borrow cores of ranks that wait.
void Dpb::show_threads(unsigned threads)
{
    Hardware::store_relaxed(table_.row(me_).threads, threads);
    if (WS_UNLIKELY(shares_))
        foreign_.show_threads(threads);
}

// For ranks that begin to wait at this moment: which of two ranks is first after a barrier is chance, but decides about
// the whole region. Returns how many cores are available then. `waits`: how long they may take, 0: it does not wait.
unsigned Dpb::wait_for_cores(const void* site, unsigned own, unsigned most, uint64_t& now, uint64_t& waits)
{
    const unsigned others = table_.processors() - std::min(table_.processors(), team_.own());
    waits = others ? regions_.waits(site, own, std::min(most, others)) : 0;
    unsigned there = 0;
    while (!there && now - opened_ < waits) {
        cpu_relax();
        now = ticks();
        there = team_.could_borrow(now);
    }
    return there;
}

// Borrows some of the `there` lent cores, if at most `most` of them pay.
unsigned Dpb::borrow(const void* site, unsigned own, unsigned most, unsigned there, uint64_t now)
{
    const unsigned more = std::min(most, there);
    return more && regions_.pays(site, own, more) ? team_.borrow(more, now) : 0;
}

// What the rank's own counters say, for the verdict of the node.
template <class Lent> void add(LentRow& row, const Lent& lent)
{
    bump(row.regions);
    bump(row.used, lent.used);
    bump(row.late, lent.late);
    bump(row.recalled, lent.recalled);
    bump(row.left, lent.left);
}

unsigned Dpb::open(unsigned asked, const void* site, const void* region)
{
    if (!home_thread || region_ || ended_)
        return asked;
    uint64_t now = ticks();
    begin_region(site, region, now);
    if (balances_) {
        look_at_deal();
        measure_at(now);
    }
    if (WS_UNLIKELY(shares_))
        offer();
    // As many as the rank has processors; as many as it began with if those are as many.
    const unsigned own = !team_.has_moved() && !shared_ ? std::max(usual_, first_) : team_.own();
    // What the program says itself is the most that it wants.
    const bool set = !asked && openmp::threads_set_here();
    const unsigned wish = asked ? asked : set ? openmp::openmp_usual() : std::max(openmp::most_threads(), usual_);
    wished_ = std::max(wished_, wish);
    asked_for_one_ = asked == 1;
    unsigned more = 0; // that it could have
    uint64_t waits = 0;
    if (lends_) {
        more = team_.could_borrow(now);
        if (WS_UNLIKELY(!more && wish > own))
            more = wait_for_cores(site, own, wish - own, now, waits);
        if (more && !regions_.pays(site, own, more))
            more = 0;
    }
    if (WS_UNLIKELY((asked > 1 || set) && wish < own + more)) { // of one: most often by an if clause
        bump(board_->process.openmp_limited);
        bump(table_.row(me_).limited);
    }
    unsigned there = 0; // cores of other jobs
    if (WS_UNLIKELY(foreign_.is_attached()) && wish > own)
        there = foreign_.could_borrow(now);
    kept_alone_ = wish > own && (more || there) && keeps_alone(site, own);
    if (more && wish > own && !kept_alone_)
        extra_ = borrow(site, own, wish - own, more, now);
    if (waits)
        regions_.waited(site, extra_ != 0);
    if (WS_UNLIKELY(there) && wish > own + extra_ && !kept_alone_)
        if (more = std::min(there, wish - own - extra_); regions_.pays(site, own + extra_, more))
            foreign_extra_ = foreign_.borrow(more, now);
    if (WS_UNLIKELY(team_.has_workers()))
        team_.take_own(now);
    team_.place(foreign_.cpus());
    if ((extra_ || foreign_extra_) && !cancels_)
        openmp::short_tasks = &short_tasks_;
    threads_ = std::min(wish, own + extra_ + foreign_extra_);
    show_threads(threads_);
    return threads_ + (lends_ && wish > threads_ && !kept_alone_ ? hold_reserve(site, wish - threads_) : 0);
}

// Those of short tasks by what a task takes.
bool Dpb::keeps_alone(const void* site, unsigned own)
{
    return task_regions_.compares(site, own) ? task_regions_.keeps_alone(site, own) : regions_.keeps_alone(site, own);
}

// For ranks that begin to wait later: as many members as they have cores, and at most `more`.
unsigned Dpb::hold_reserve(const void* site, unsigned more)
{
    const unsigned others = table_.processors() - std::min(table_.processors(), team_.own() + extra_);
    if (others == 0 || !task_regions_.wants_reserve(site))
        return 0;
    return reserve_.open(std::min(more, others), threads_);
}

// Adds to the region what the calling thread has counted since it was here. Tasks that others have put in the last
// barrier of an earlier one are among them: then tasks are taken to be shorter than they are.
void Dpb::add_counts()
{
    openmp::RegionCounts& counts = openmp::region_counts;
    if (WS_LIKELY(!counts.tasks && !counts.barriers))
        return;
    Hardware::fetch_add_full(tasks_, counts.tasks); // relaxed would do: it counts
    if (!Reserve::is_member)
        Hardware::fetch_add_full(barriers_, counts.barriers);
    counts = {};
}

void Dpb::close_reserve(uint64_t now)
{
    add_counts();
    const unsigned members = reserve_.count();
    const Reserve::Lent lent = reserve_.close(now);
    const uint64_t tasks = Hardware::load_relaxed(tasks_);
    if (WS_LIKELY(!tasks && !members))
        return;
    if (!ended_ && !asked_for_one_) {
        task_regions_.took(site_, (now - opened_) * threads_ + lent.used, tasks,
                           Hardware::load_relaxed(barriers_) / threads_, members != 0, lent.cores != 0);
        if (!members)
            task_regions_.lasted(site_, now - opened_, tasks, threads_ - extra_ - foreign_extra_, threads_);
    }
    if (lent.cores)
        tell_lent(lent);
}

template <class Lent> void Dpb::tell_lent(const Lent& lent)
{
    meter_->helped(lent.used / team_.own());
    bump(board_->process.openmp_lent);
    bump(board_->process.openmp_lent_ticks, lent.used);
    bump(board_->process.openmp_late_ticks, lent.late);
    bump(board_->process.openmp_recalled, lent.recalled);
    bump(board_->process.openmp_left, lent.left);
    add(table_.row(me_).lent, lent);
}

void Dpb::give_foreign_back(uint64_t now)
{
    const Foreign::Lent lent = foreign_.give_back(now);
    meter_->helped(lent.used / team_.own());
    bump(board_->process.openmp_shared);
    bump(board_->process.openmp_shared_ticks, lent.used);
    bump(board_->process.openmp_shared_late_ticks, lent.late);
    bump(board_->process.openmp_shared_recalled, lent.recalled);
    bump(board_->process.openmp_shared_left, lent.left);
    add(table_.row(me_).foreign, lent);
}

void Dpb::end(policy::Job&)
{
    ended_ = true;
    reserve_.take_back(ticks());
    if (attached_) {
        board_->process.openmp_cores = team_.own_at_end();
        note_cores(team_.own_at_end());
    }
    if (!foreign_.is_attached())
        return;
    const uint64_t given = foreign_.used_by_others();
    bump(table_.row(me_).used_by_others, given);
    base::store_relaxed(board_->process.openmp_given_ticks, given);
}

void Dpb::close(const void* region)
{
    if (!is_own(region))
        return;
    const uint64_t now = ticks();
    base::store_relaxed(region_, nullptr);
    openmp::short_tasks = nullptr;
    show_threads(0);
    if (!ended_ && !asked_for_one_)
        regions_.took(site_, now - opened_, threads_, threads_ - extra_ - foreign_extra_,
                      (kept_alone_ || extra_ || foreign_extra_) && reserve_.count() == 0);
    if (WS_UNLIKELY(recording))
        record(EventKind::parallel, opened_, now, 0, threads_, extra_ + foreign_extra_);
    close_reserve(now);
    if (WS_UNLIKELY(foreign_extra_))
        give_foreign_back(now);
    if (WS_UNLIKELY(team_.passes_over()))
        team_.forgive(now);
    if (!extra_ && WS_LIKELY(!team_.has_workers()))
        return;
    const Team::Lent lent = team_.give_back(now);
    if (WS_UNLIKELY(lent.beside)) {
        RankRow& row = table_.row(me_);
        bump(board_->process.openmp_beside, lent.beside);
        bump(board_->process.openmp_beside_ticks, lent.beside_ticks);
        bump(row.beside, lent.beside);
        bump(row.beside_ticks, lent.beside_ticks);
        Hardware::store_relaxed(row.beside_longest,
                                std::max<uint64_t>(Hardware::load_relaxed(row.beside_longest), lent.beside_longest));
    }
    if (extra_)
        tell_lent(lent);
}

// ---- in blocked time

policy::Wants Dpb::step(policy::Job&, uint64_t now, uint64_t)
{
    if (ended_)
        return {};
    if (WS_UNLIKELY(shares_))
        offer();
    const uint64_t lends_at = lends_ ? lend_to_reserves(now) : Wants::never;
    if (!balances_)
        return {false, std::min<uint64_t>(lends_at, shares_ && !offered_ ? now + decide_every() : Wants::never),
                lends_now_};
    if (!region_) { // else this rank waits inside a region
        look_at_deal();
        if (!has_regions_)
            measure_at(now);
    }
    balance_.step(now, decide_every());
    return {false, std::min(lends_at, now + decide_every()), lends_now_};
}

// Returns when to look again.
uint64_t Dpb::lend_to_reserves(uint64_t now)
{
    lends_now_ = false;
    if (!reserve_.is_wanted() || region_) // a rank that waits inside a region of its own has threads on its cores
        return now + uint64_t(look_for_reserves_us * ticks_per_us_);
    window::Load load;
    if (!window_->load(me_).read(load) || !load.waits)
        return now + uint64_t(look_for_reserves_us * ticks_per_us_);
    if (double(now - load.at) < lend_after_us * ticks_per_us_)
        return load.at + uint64_t(lend_after_us * ticks_per_us_);
    lends_now_ = reserve_.lend(now);
    return now + uint64_t((lends_now_ ? look_while_lent_us : look_for_reserves_us) * ticks_per_us_);
}

void Dpb::tell(Facts& facts) const
{
    if (!told_)
        return;
    if (attached_)
        facts.cores = cores_;
    Done done = *told_;
    if (attached_)
        done.job_s = double(ticks() - board_->attached_at) * 1e-6 / ticks_per_us_;
    cores::tell(facts, attached_ && me_ == 0 ? &table_ : nullptr, node_, done);
}

} // namespace

policy::Policy& policy()
{
    static Dpb dpb;
    return dpb;
}

} // namespace ws::policy::cores
