// SPDX-License-Identifier: MIT
#include "policy/nblb/nblb.h"

#include <cstdio>

namespace ws::policy::nblb {

Job job;
Sums sums;

namespace {

class Nblb final : public policy::Policy {
public:
    const char* name() const override { return "nblb"; }

    policy::Wants attach(policy::Rank& rank) override
    {
        job = Job(rank);
        job.window = rank.window;
        job.lends = rank.window && (rank.window->ranks() > 1 || rank.window->workers() > 0);
        return {};
    }

    void end(policy::Rank&) override
    {
        job.on = false;
        job.lends = false;
        job.window = nullptr;
        constexpr int numbers = sizeof(Sums) / sizeof(uint64_t);
        PMPI_Reduce(&sums, &all_, numbers, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        if (all_.unfreed) // on rank 0
            std::fprintf(stderr, "workshare: pools of tasks were not freed (ws_tasks_free): %llu, of all ranks\n",
                         static_cast<unsigned long long>(all_.unfreed));
    }

    void tell(observe::Facts& facts) const override
    {
        const Sums& s = all_;
        if (!s.run)
            return;
        char text[200];
        std::snprintf(text, sizeof text,
                      "%llu tasks ran, %llu of them moved to another node (%.3g MB), with %llu letters",
                      static_cast<unsigned long long>(s.run), static_cast<unsigned long long>(s.moved_in),
                      1e-6 * double(s.bytes_in), static_cast<unsigned long long>(s.letters));
        facts.policies.emplace_back(text);
    }

private:
    Sums all_; // on rank 0
};

} // namespace

policy::Policy& policy()
{
    static Nblb nblb;
    return nblb;
}

} // namespace ws::policy::nblb
