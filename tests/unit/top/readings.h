// SPDX-License-Identifier: MIT
//
// Made-up readings. A tick is a nanosecond.
#pragma once

#include "sample.h"

constexpr uint64_t ms = 1000000;

inline ws::top::Reading rank_reading(int rank, int ranks, uint64_t at, unsigned workers = 0)
{
    using namespace ws::observe;
    ws::top::Reading r;
    r.at = at;
    r.job = 0x1234567800000000;
    r.rank = r.node_rank = rank;
    r.size = r.node_ranks = ranks;
    r.pid = 1000 + rank;
    r.node_cores = unsigned(ranks) * (1 + workers);
    r.own_workers = workers;
    r.first_worker = unsigned(ranks) + unsigned(rank) * workers;
    r.attached_at = 1;
    r.host = "host";
    r.program = "/path/prog";
    r.seats.resize(1 + workers + r.node_cores);
    r.seats[0].kind = SeatKind::home;
    r.seats[0].core = unsigned(rank);
    r.seats[0].state = Seated::computing;
    r.seats[0].since = 1;
    for (unsigned w = 1; w <= workers; w++) {
        r.seats[w].kind = SeatKind::worker;
        r.seats[w].core = r.first_worker + w - 1;
        r.seats[w].state = Seated::asleep;
        r.seats[w].since = 1;
    }
    r.calls = {"MPI_Recv", "MPI_Allreduce"};
    return r;
}

inline ws::top::SeatReading& guest_on(ws::top::Reading& r, unsigned core)
{
    ws::top::SeatReading& s = r.seats[r.cores() + core];
    s.kind = ws::observe::SeatKind::guest;
    s.core = core;
    return s;
}

// The rank waits in call 0 since `since`, and its core is lent to `to` since `lent`.
inline void lend(ws::top::Reading& r, uint64_t since, uint64_t lent, int to)
{
    r.seats[0].state = ws::observe::Seated::lent;
    r.seats[0].waits_since = since;
    r.seats[0].since = lent;
    r.seats[0].other = to;
    r.seats[0].call = 0;
    r.seats[0].lend.lends++;
}
