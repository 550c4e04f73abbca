// SPDX-License-Identifier: MIT
#include "policy/rows/exchange.h"

#include <cstddef>

namespace ws::policy::rows {

namespace {

constexpr int most_direct = 16; // processes: each message may wake its receiver
constexpr int numbers_of = sizeof(Numbers) / sizeof(double);
static_assert(offsetof(Numbers, real) == Flight::by_most * sizeof(double), "those before it by maximum");

} // namespace

Exchange::Exchange(Processes& processes, int tag)
    : tag_(tag), rank_(size_t(processes.rank)), direct_(processes.size <= most_direct), flight_(processes.flight()),
      rows_(size_t(processes.size))
{
}

void Exchange::begin(const ProcessMeasurement& mine)
{
    mine_ = mine;
    rows_[rank_] = mine;
    if (!direct_) {
        flight_->combine(&mine_.numbers.shared, &all_.shared, numbers_of);
        return;
    }
    for (size_t r = 0; r < rows_.size(); r++)
        if (r != rank_) {
            flight_->receive(&rows_[r], sizeof(ProcessMeasurement), int(r), tag_);
            flight_->send(&mine_, sizeof(ProcessMeasurement), int(r), tag_);
        }
}

void Exchange::ask_rows(const Work& mine)
{
    if (direct_)
        return;
    mine_.work = mine;
    flight_->gather(&mine_, rows_.data(), sizeof mine_);
}

bool Exchange::has_numbers(bool wait)
{
    if (!flight_->complete(wait))
        return false;
    if (direct_) { // in the order of the ranks, so that all come to the same sums
        all_ = rows_[0].numbers;
        for (size_t r = 1; r < rows_.size(); r++)
            Flight::add(&rows_[r].numbers.shared, &all_.shared, numbers_of);
    }
    return true;
}

} // namespace ws::policy::rows
