// SPDX-License-Identifier: MIT
//
// A policy for tests, in a libws beside the real one: it takes all the time that it gets, and tells how it was treated.
// Each line that it prints on stderr is a rank of the node, as rank 0 of the node sees it in shared memory.
//
//   PROBE_THREADS=n   every OpenMP region gets n threads
//   PROBE_DUE_US=n    a step is due every n microseconds; else 5000
//   PROBE_IDLE=0      it does not take idle time
//   PROBE_PERIODS=1   it wants periods
#include "openmp/library/region_cores.h"
#include "measure/meter.h"
#include "policy/policy.h"
#include "policy/placement/reorder.h"
#include "base/os.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace ws {

using window::Load;
using base::ticks;

namespace {

uint64_t number(const char* name, uint64_t otherwise)
{
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// A line in one write, other than fprintf's (mpi/report.cpp): other nodes' ranks print theirs at the same time.
__attribute__((format(printf, 1, 2))) void say(const char* format, ...)
{
    char line[1000];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    std::fputs(line, stderr);
}

struct alignas(64) Told {
    uint64_t steps, due_steps, longest, late, decisions, at_once, looks_wrong, useful, waited, kept_off, borrowed,
        period, turns;
    volatile uint64_t decides_until;
};

class Probe final : public policy::Policy, openmp::RegionCores {
public:
    policy::Wants attach(policy::Job& job) override
    {
        PMPI_Comm_rank(job.node, &me_);
        PMPI_Comm_size(job.node, &ranks_);
        void* base;
        MPI_Aint size;
        int unit;
        PMPI_Win_allocate_shared(me_ == 0 ? MPI_Aint(sizeof(Told)) * ranks_ : 0, 1, MPI_INFO_NULL, job.node, &base,
                                 &shared_);
        PMPI_Win_shared_query(shared_, 0, &size, &unit, &base);
        told_ = static_cast<Told*>(base);
        told_[me_] = {};
        decider_ = job.node_decider(*this);
        every_ = uint64_t(double(number("PROBE_DUE_US", 5000)) * job.ticks_per_us);
        idle_ = number("PROBE_IDLE", 1);
        attached_ = ticks();
        due_ = attached_ + every_;
        job.wants_periods = std::getenv("PROBE_PERIODS");
        if (std::getenv("PROBE_THREADS"))
            openmp::set_region_cores(this);
        return {idle_, due_};
    }

    policy::Wants step(policy::Job& job, uint64_t now, uint64_t budget) override
    {
        Told& t = told_[me_];
        t.steps++;
        if (now >= due_) {
            t.due_steps++;
            t.late = std::max(t.late, now - due_);
            due_ = now + every_;
        }
        decide(now);
        look(*job.window, now);
        while (ticks() - now < budget / 2)
            base::cpu_relax();
        t.longest = std::max(t.longest, ticks() - now);
        return {idle_, due_};
    }

    unsigned open(unsigned, const void*, const void*) override { return unsigned(number("PROBE_THREADS", 0)); }
    void member(unsigned, const void*) override {}
    void member_done(unsigned, const void*) override {}
    void arrives() override {}
    void close(const void*) override {}

    void detach(policy::Job& job) override
    {
        openmp::set_region_cores(nullptr);
        const uint64_t now = ticks();
        const Load own = job.meter->load(now); // brings the row up, too
        Told& mine = told_[me_];
        for (unsigned i = 0; i < job.board->seats; i++)
            mine.borrowed += job.board->seat(i).visit.borrowed_ticks;
        mine.period = job.meter->period();
        mine.turns = job.meter->turns();
        mine.useful = own.useful;
        mine.waited = own.waited;
        mine.kept_off = own.kept_off;
        PMPI_Barrier(job.node);
        const double us = 1 / job.ticks_per_us;
        for (int r = 0; me_ == 0 && r < ranks_; r++) {
            const Told& t = told_[r];
            const auto n = [](uint64_t number) { return static_cast<unsigned long long>(number); };
            const auto s = [&](uint64_t ticks) { return double(ticks) * us * 1e-6; };
            say("probe: rank %d node %d steps %llu due %llu longest_us %.1f late_us %.1f decisions %llu at_once %llu "
                "wrong %llu useful_s %.4f waited_s %.4f borrowed_s %.4f kept_off_s %.4f period_s %.6f turns %llu\n",
                r, job.node_number, n(t.steps), n(t.due_steps), double(t.longest) * us, double(t.late) * us,
                n(t.decisions), n(t.at_once), n(t.looks_wrong), s(t.useful), s(t.waited), s(t.borrowed),
                s(t.kept_off), s(t.period), n(t.turns));
        }
        PMPI_Win_free(&shared_);
    }

private:
    // Becomes the decider now and then, while no other rank says that it still is.
    void decide(uint64_t now)
    {
        const uint64_t until = now + every_ / 5;
        if (!decider_.take(now, until))
            return;
        told_[me_].decisions++;
        bool others = false;
        for (int r = 0; r < ranks_; r++)
            others |= r != me_ && base::load_relaxed(told_[r].decides_until) > now;
        if (ticks() < until) // else this rank was stopped, and another may have come since
            told_[me_].at_once += others;
        base::store_relaxed(told_[me_].decides_until, until);
    }

    // No rank has more time than went by, but for what guests did.
    void look(const window::Window& window, uint64_t now)
    {
        const uint64_t passed = (ticks() - attached_) * window.cores();
        for (unsigned r = 0; r < window.ranks(); r++)
            if (Load l; window.load(r).read(l))
                told_[me_].looks_wrong += l.waited + l.brought_to(now).useful > passed;
    }

    int me_ = 0, ranks_ = 1;
    MPI_Win shared_ = MPI_WIN_NULL;
    Told* told_ = nullptr;
    arbiter::Decider decider_;
    uint64_t every_ = 0, due_ = 0, attached_ = 0;
    bool idle_ = true;
};

} // namespace

const std::vector<policy::Policy*>& policy::policies()
{
    static Probe probe;
    static auto& all = *new std::vector<policy::Policy*>{&policy::placement::policy(), &probe};
    return all;
}

} // namespace ws
