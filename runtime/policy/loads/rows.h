// SPDX-License-Identifier: MIT
//
// How the loads of nodes travel: the letter's form, and how often one may be sent. No MPI here.
#pragma once

#include "measure/node_load.h"
#include <string>
#include <string_view>
#include <vector>

namespace ws::policy::loads {

using measure::NodeLoad;

struct Row {
    uint32_t node;
    NodeLoad load;
};

// A letter of node `sender`: all nodes of which it knows something.
std::string write(uint32_t sender, const std::vector<Row>& rows);
// False if it is no such letter, or names nodes beyond `nodes`.
bool read(std::string_view letter, unsigned nodes, uint32_t& sender, std::vector<Row>& rows);

// Microseconds between two letters of a node. In each round node 0 sends all rows to all nodes: with many nodes that
// limits the rate.
double every_us(unsigned nodes);

} // namespace ws::policy::loads
