// SPDX-License-Identifier: MIT
//
// Latencies by powers of two: bucket i counts those of [2^i, 2^(i+1)) ns, the first all below, the last all above.
#pragma once

#include "observe/board.h"
#include <cmath>

namespace ws::observe {

struct Histogram {
    double counts[latency_buckets];

    double total() const
    {
        double n = 0;
        for (double c : counts)
            n += c;
        return n;
    }

    // In seconds: the value that a share q of all do not exceed, as if those of a bucket were spread evenly on a
    // logarithmic scale. True to a factor of 2. 0 when there are none.
    double quantile(double q) const
    {
        double left = q * total();
        for (unsigned i = 0; i < latency_buckets; i++) {
            if (counts[i] > 0 && left <= counts[i])
                return 1e-9 * std::exp2(i + left / counts[i]);
            left -= counts[i];
        }
        return longest();
    }

    // The upper bound of the highest bucket that has any, in seconds.
    double longest() const
    {
        for (unsigned i = latency_buckets; i-- > 0;)
            if (counts[i] > 0)
                return 1e-9 * std::exp2(i + 1);
        return 0;
    }
};

} // namespace ws::observe
