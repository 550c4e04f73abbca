// SPDX-License-Identifier: MIT
#include "policy/reorder/reorder.h"

#include "policy/reorder/host.h"

namespace ws::policy::reorder {

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

} // namespace ws::policy::reorder
