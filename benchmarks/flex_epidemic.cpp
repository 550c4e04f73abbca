// SPDX-License-Identifier: MIT
//
// An epidemic on a social graph with heavy-tailed degrees: who is susceptible looks at all acquaintances each day, so
// the work moves through the population. People move by XMPI. Chance is counted off, by day and pair, so the result is
// bit for bit that of a run in which nobody moves.
#include "flex.hpp"

namespace {

constexpr uint64_t graph_seed = 5, chance_seed = 6;
constexpr long acquaintances = 8; // that each person brings along
constexpr int8_t susceptible = 0, days_ill = 12, recovered = 100;

struct Epidemic {
    const flex::Options& o;
    std::vector<int64_t> starts;
    std::vector<int32_t> others;
    std::vector<int8_t> weights, state, all; // of the acquaintances; of own people: days left; of all

    // Person i brings acquaintances among those before, early ones more often; and as many nearby.
    template <class F> void edges(F f) const
    {
        for (long i = 1; i < o.rows; i++)
            for (long k = 0; k < acquaintances; k++) {
                const double u = flex::random_unit(graph_seed, uint64_t(i), uint64_t(k));
                const long j = k % 2 ? std::max(0L, i - 1 - long(u * 50)) : long(double(i) * u * u);
                if (i != j)
                    f(i, j);
            }
    }
    void make(const flex::Rows& rows)
    {
        starts.assign(size_t(rows.count) + 1, 0);
        const auto mine = [&](long p) { return p >= rows.displ && p < rows.displ + rows.count; };
        edges([&](long i, long j) {
            starts[size_t(mine(i) ? i - rows.displ + 1 : 0)] += mine(i);
            starts[size_t(mine(j) ? j - rows.displ + 1 : 0)] += mine(j);
        });
        starts[0] = 0;
        for (size_t i = 1; i < starts.size(); i++)
            starts[i] += starts[i - 1];
        others.resize(size_t(starts.back()));
        std::vector<int64_t> at(starts);
        edges([&](long i, long j) {
            if (mine(i))
                others[size_t(at[size_t(i - rows.displ)]++)] = int32_t(j);
            if (mine(j))
                others[size_t(at[size_t(j - rows.displ)]++)] = int32_t(i);
        });
        weights.assign(others.size(), 1);
        state.assign(size_t(rows.count), susceptible);
        all.assign(size_t(o.rows), susceptible);
        for (long p = 0; p < o.rows; p += std::max(1L, o.rows / 20)) // twenty who have come from elsewhere
            if (p >= o.rows / 2) {
                all[size_t(p)] = days_ill;
                if (mine(p))
                    state[size_t(p - rows.displ)] = days_ill;
            }
    }
    void add(ws::Partition& p)
    {
        p.add_csr(starts, others, weights);
        p.add(state);
    }
    void moved(const flex::Rows&) {}
    double iterate(const flex::Rows& rows, long day)
    {
        int64_t looked = 0;
        for (MPI_Count i = 0; i < rows.count; i++) {
            int8_t& s = state[size_t(i)];
            if (s > 0 && s != recovered && --s == 0)
                s = recovered;
            if (s != susceptible)
                continue;
            looked += starts[size_t(i) + 1] - starts[size_t(i)];
            for (int64_t e = starts[size_t(i)]; e < starts[size_t(i) + 1]; e++) {
                const int8_t other = all[size_t(others[size_t(e)])];
                if (other > 0 && other != recovered &&
                    flex::random_unit(chance_seed + uint64_t(day), uint64_t(rows.displ + i),
                                      uint64_t(others[size_t(e)])) < 0.03) {
                    s = days_ill;
                    break;
                }
            }
        }
        return double(looked) + double(rows.count);
    }
    void exchange(const flex::Rows& rows)
    {
        MPI_Allgatherv(state.data(), int(rows.count), MPI_INT8_T, all.data(), rows.counts.data(), rows.displs.data(),
                       MPI_INT8_T, MPI_COMM_WORLD);
    }
    const char* compare(const Epidemic& other, const flex::Rows&, const flex::Rows&) const
    {
        return all == other.all ? "bit for bit" : nullptr;
    }
};

} // namespace

int main(int argc, char** argv)
{
    bench_init(&argc, &argv);
    flex::Options o;
    o.program = "flex_epidemic";
    o.rows = 20000;
    flex::read_options(o, argc, argv,
                       "an epidemic on a social graph; a unit of work is a person or an acquaintance that is looked at",
                       "");
    Epidemic program{o, {}, {}, {}, {}, {}}, reference{o, {}, {}, {}, {}, {}};
    return flex::run(o, program, reference, true);
}
