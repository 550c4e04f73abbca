// SPDX-License-Identifier: MIT
//
// What the user has chosen to see.
#pragma once

#include <cstdint>
#include <string>

namespace ws::top {

enum class Column { rank, state, computing, lent, waiting, borrowed, efficiency, steals, chunks };
constexpr int columns = 9;
const char* column_name(Column column);

struct View {
    Column sort = Column::rank;
    bool reverse = false;
    bool since_start = false; // shares since the job began, not since the last refresh
    bool summary = false;     // no row for each core
    bool phases = false;      // a row for each phase in place of those of loops
    bool paused = false, help = false;
    bool plain_list = false;  // all rows, no keys: for files
    uint64_t job = 0;         // 0: the first
    unsigned scroll = 0;      // rows; put right by lay_out()
    double interval = 1;
    std::string message;      // in place of the keys
    std::string place;        // in a recording, beside the job's name
    bool replay = false;      // with keys that move in it
};

} // namespace ws::top
