// SPDX-License-Identifier: MIT
#include "observe/moments.h"

#include <algorithm>
#include <cmath>

namespace ws::observe {

void Moments::start(const Moment& first, uint64_t step)
{
    count_ = 0;
    step_ = step;
    add(first);
}

void Moments::add(const Moment& m)
{
    if (count_ == most) {
        for (unsigned i = 1; i < most / 2; i++)
            all_[i] = all_[2 * i];
        count_ = most / 2;
        step_ *= 2;
    }
    all_[count_++] = m;
    next_ = m.at + step_;
}

namespace {

struct SharesSoFar {
    double mpi, lent, close_wait, borrowed;
};

SharesSoFar between(const Moment& a, const Moment& b, double at)
{
    const double part = b.at > a.at ? (at - double(a.at)) / double(b.at - a.at) : 0;
    const auto mix = [&](uint64_t Moment::*field) {
        return double(a.*field) + part * (double(b.*field) - double(a.*field));
    };
    return {mix(&Moment::mpi), mix(&Moment::lent), mix(&Moment::close_wait), mix(&Moment::borrowed)};
}

double three_decimals(double x, double most) { return std::round(1000 * std::min(most, std::max(0.0, x))) / 1000; }

} // namespace

std::vector<TimeSlice> slices_of(const Moments& moments, const Moment& last)
{
    std::vector<Moment> all(moments.begin(), moments.end());
    if (all.empty() || last.at <= all[0].at)
        return {};
    if (last.at > all.back().at)
        all.push_back(last);
    const double begin = double(all[0].at), slice = (double(all.back().at) - begin) / time_slices;
    std::vector<TimeSlice> slices;
    SharesSoFar before = between(all[0], all[0], begin);
    size_t next = 1; // the first moment at or behind the slice's end
    for (unsigned i = 1; i <= time_slices; i++) {
        const double end = begin + i * slice;
        while (next + 1 < all.size() && double(all[next].at) < end)
            next++;
        const SharesSoFar now = between(all[next - 1], all[next], end);
        const double waited = now.mpi - before.mpi + now.close_wait - before.close_wait;
        const double computing = three_decimals(1 - waited / slice, 1);
        slices.push_back({computing, three_decimals((now.lent - before.lent) / slice, 1 - computing),
                          three_decimals((now.borrowed - before.borrowed) / slice, 1e6)});
        before = now;
    }
    return slices;
}

} // namespace ws::observe
