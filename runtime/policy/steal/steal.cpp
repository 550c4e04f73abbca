// SPDX-License-Identifier: MIT
#include "policy/steal/steal.h"

#include "policy/steal/victim.h"

namespace ws::policy::steal {

namespace {

class Steal final : public policy::Policy {
public:
    const char* name() const override { return "steal"; }
    policy::Wants attach(policy::Rank& rank) override
    {
        rank.victims = chosen_ = &victims[rank.options->victim];
        return {};
    }
    void tell(observe::Facts& facts) const override { facts.helps_nobody = !chosen_->score; }

private:
    const lend::VictimPolicy* chosen_ = nullptr;
};

} // namespace

policy::Policy& policy()
{
    static Steal steal;
    return steal;
}

} // namespace ws::policy::steal
