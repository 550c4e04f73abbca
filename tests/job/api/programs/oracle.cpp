// SPDX-License-Identifier: MIT
//
// oracle SEED REGIONS: ws.hpp's loops of random length, cost, kind and options; each iteration counts itself in the
// owner's memory; every count must come to 1 and every result be right.
#include "../../mpi/programs/test.h"

#include <functional>
#include <vector>
#include <workshare/ws.hpp>

namespace {

constexpr long most = 3000;
std::vector<unsigned> ran(most);
double unit;

void body(long i)
{
    ran[static_cast<size_t>(i)]++; // not atomic: nobody else has iteration i
    if (unit > 0)
        busy(unit);
}

ws::options random_options(uint64_t& state)
{
    ws::options o("oracle");
    const ws_schedule without_chunk[] = {WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME};
    const ws_schedule with_chunk[] = {WS_STATIC, WS_DYNAMIC, WS_GUIDED};
    const ws_schedule own = with_chunk[random_below(&state, 3)], steal = with_chunk[random_below(&state, 3)];
    const auto chunk = 1 + static_cast<int64_t>(random_below(&state, 20));
    switch (random_below(&state, 6)) {
    case 0: return o;
    case 1: return o.schedule(without_chunk[random_below(&state, 5)]);
    case 2: return o.schedule(own, chunk);
    case 3: return o.schedule(own, chunk).steal_schedule(steal, chunk + 1);
    case 4: return o.schedule(own, chunk).steal_schedule(without_chunk[random_below(&state, 5)]);
    default: return o.steal_schedule(steal, chunk);
    }
}

// Sums of i * i come out exact in any order.
long squares(long n) { return (n - 1) * n * (2 * n - 1) / 6; }

void loop(unsigned kind, long n, const ws::options& o)
{
    const auto first = ran.begin(), last = first + n;
    auto index_of = [](const unsigned& x) { return &x - ran.data(); };
    switch (kind) {
    case 0:
        ws::for_each(0, n, [](long i) { body(i); }, o);
        break;
    case 1: // unsigned, across the middle of its range
        ws::for_each((1ul << 63) - 5, (1ul << 63) - 5 + static_cast<unsigned long>(n),
                     [](unsigned long i) { body(static_cast<long>(i - ((1ul << 63) - 5))); }, o);
        break;
    case 2:
        ws::for_each(first, last, [&](unsigned& x) { body(index_of(x)); }, o);
        break;
    case 3:
        ws::for_chunks(static_cast<short>(-1000), static_cast<short>(n - 1000), [](short lo, short hi) {
            CHECK(lo < hi);
            for (; lo < hi; lo++)
                body(lo + 1000);
        }, o);
        break;
    case 4:
        ws::for_chunks(ran.data(), ran.data() + n, [&](unsigned* lo, unsigned* hi) {
            CHECK(lo < hi);
            for (; lo < hi; lo++)
                body(index_of(*lo));
        }, o);
        break;
    case 5: {
        long sum = ws::transform_reduce(0, n, 7L, std::plus<>(), [](long i) { return body(i), i * i; }, o);
        CHECK(sum == 7 + squares(n));
        break;
    }
    default: {
        // A result that is no number: each participant's parts are appended, none lost.
        auto all = ws::transform_reduce(
            first, last, std::vector<long>{-1},
            [](std::vector<long> a, const std::vector<long>& b) {
                a.insert(a.end(), b.begin(), b.end());
                return a;
            },
            [&](unsigned& x) { return body(index_of(x)), std::vector<long>{index_of(x)}; }, o);
        long sum = 0;
        for (long i : all)
            sum += i < 0 ? 0 : i * i;
        CHECK(static_cast<long>(all.size()) == n + 1 && sum == squares(n));
    }
    }
}

} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    uint64_t common = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1, own = common * 1000 + static_cast<uint64_t>(rank);
    const int regions = argc > 2 ? atoi(argv[2]) : 50;
    for (int r = 0; r < regions; r++) {
        // whom the others wait for
        const int late = static_cast<int>(random_below(&common, static_cast<uint64_t>(ranks)));
        const long n = static_cast<long>(random_below(&own, rank == late ? most : 8));
        unit = 1e-6 * static_cast<double>(random_below(&own, n > 200 ? 3 : 20));
        std::fill(ran.begin(), ran.end(), 0u);
        loop(static_cast<unsigned>(random_below(&own, 7)), n, random_options(own));
        for (long i = 0; i < most; i++)
            CHECK(ran[static_cast<size_t>(i)] == (i < n));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
