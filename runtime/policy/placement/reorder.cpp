// SPDX-License-Identifier: MIT
#include "policy/placement/reorder.h"

#include "policy/placement/host.h"

namespace ws::policy::placement {

namespace {

class Reorder final : public policy::Policy {
public:
    policy::Wants attach(policy::Rank& rank) override
    {
        host.node = rank.node;
        host.node_number = rank.node_number;
        host.board = rank.board;
        host.meter = rank.meter;
        return {};
    }
    void detach(policy::Rank&) override { host = {}; }
};

} // namespace

policy::Policy& policy()
{
    static Reorder reorder;
    return reorder;
}

} // namespace ws::policy::placement
