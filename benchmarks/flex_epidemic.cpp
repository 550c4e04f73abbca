// SPDX-License-Identifier: MIT
//
// An epidemic on a social graph with heavy-tailed degrees: who is susceptible looks at all acquaintances each step, so
// the work moves through the population, all the run long. People move by XMPI. Chance is counted off, by step and
// pair, so the result is bit for bit that of a run in which nobody moves.
#include "flex.hpp"

namespace {

constexpr uint64_t graph_seed = 5, chance_seed = 6;
constexpr long acquaintances = 8; // that each person brings along
constexpr int8_t susceptible = 0, steps_ill = 60, recovered = 100;
constexpr double infects = 0.006; // whom it meets in a step

struct Epidemic {
    const flex::Options& o;
    std::vector<int64_t> starts;
    std::vector<int32_t> others;
    std::vector<int8_t> weights, state, all; // of the acquaintances; of own people: steps left; of all

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
                all[size_t(p)] = steps_ill;
                if (mine(p))
                    state[size_t(p - rows.displ)] = steps_ill;
            }
    }
    void add(ws::Partition& p)
    {
        p.add_csr(starts, others, weights);
        p.add(state);
    }
    void moved(const flex::Rows&) {}
    double iterate(const flex::Rows& rows, long step)
    {
        double units = 0;
        live(rows, step, [&](MPI_Count, int64_t of_person) { units += double(of_person); });
        return units;
    }
    // A step of those people; count(i, units) is called for each.
    template <class F> void live(const flex::Rows& rows, long step, F count)
    {
        for (MPI_Count i = 0; i < rows.count; i++) {
            int8_t& s = state[size_t(i)];
            if (s > 0 && s != recovered && --s == 0)
                s = recovered;
            const bool looks = s == susceptible;
            count(i, looks ? 1 + starts[size_t(i) + 1] - starts[size_t(i)] : 1);
            if (!looks)
                continue;
            for (int64_t e = starts[size_t(i)]; e < starts[size_t(i) + 1]; e++) {
                const int8_t other = all[size_t(others[size_t(e)])];
                if (other > 0 && other != recovered &&
                    flex::random_unit(chance_seed + uint64_t(step), uint64_t(rows.displ + i),
                                      uint64_t(others[size_t(e)])) < infects) {
                    s = steps_ill;
                    break;
                }
            }
        }
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

// What could at most be won by somebody who decides as often as XMPI does: of runs that only sleep, the seconds in
// equal parts, and if after each interval, and the step in which its numbers travel, people are dealt anew by what each
// will cost until the next time. On one process.
struct Oracle {
    double equal = 0, knowing = 0;
    Oracle(const flex::Options& o, long interval)
    {
        flex::Rows everybody;
        everybody.count = MPI_Count(o.rows);
        Epidemic e{o, {}, {}, {}, {}, {}};
        e.make(everybody);
        double power = 0;
        for (int r = 0; r < bench_ranks; r++)
            power += o.speed(r);
        std::vector<long> begin(size_t(bench_ranks) + 1);
        for (int r = 0; r <= bench_ranks; r++)
            begin[size_t(r)] = o.rows / bench_ranks * r + std::min(long(r), o.rows % bench_ranks);
        const std::vector<long> equal_parts = begin;
        // of each step of the interval: before[i], the cost of the first i people
        std::vector<std::vector<double>> before;
        for (long first = 0; first < o.iterations; first += interval + 1) {
            before.clear();
            std::vector<double> all(size_t(o.rows) + 1, 0);
            for (long step = first; step < std::min(o.iterations, first + interval + 1); step++) {
                before.emplace_back(size_t(o.rows) + 1, 0);
                std::vector<double>& costs = before.back();
                e.live(everybody, step, [&](MPI_Count i, int64_t of_person) {
                    costs[size_t(i) + 1] = costs[size_t(i)] + double(of_person);
                });
                e.all = e.state;
                for (size_t i = 0; i < all.size(); i++)
                    all[i] += costs[i];
            }
            double cut = 0;
            for (int r = 1; first > 0 && r < bench_ranks; r++) {
                cut += o.speed(r - 1) / power * all.back();
                begin[size_t(r)] = std::lower_bound(all.begin(), all.end(), cut) - all.begin();
            }
            for (const std::vector<double>& costs : before) {
                equal += o.unit * slowest(o, costs, equal_parts);
                knowing += o.unit * slowest(o, costs, begin);
            }
        }
    }

private:
    static double slowest(const flex::Options& o, const std::vector<double>& before, const std::vector<long>& begin)
    {
        double most = 0;
        for (int r = 0; r < bench_ranks; r++)
            most =
                std::max(most, (before[size_t(begin[size_t(r) + 1])] - before[size_t(begin[size_t(r)])]) / o.speed(r));
        return most;
    }
};

} // namespace

int main(int argc, char** argv)
{
    bench_init(&argc, &argv);
    flex::Options o;
    o.program = "flex_epidemic";
    o.rows = 20000;
    flex::read_options(
        o, argc, argv, "an epidemic on a social graph; a unit of work is a person or an acquaintance that is looked at",
        "  --oracle N         prints what a run would take that only sleeps, in equal parts and if each N "
        "steps rows were dealt\n"
        "                     by what they are going to cost, and does not run\n");
    if (o.oracle) {
        if (bench_rank == 0) {
            const Oracle oracle(o, o.oracle);
            std::printf(o.json ? "{\"program\": \"%s\", \"ranks\": %d, \"equal_s\": %.6f, \"oracle_s\": %.6f" :
                                 "%s, %d ranks: in equal parts %.3f s, by an oracle %.3f s\n",
                        o.program, bench_ranks, oracle.equal, oracle.knowing);
        }
        bench_json_end(o.json);
        MPI_Finalize();
        return 0;
    }
    Epidemic program{o, {}, {}, {}, {}, {}}, reference{o, {}, {}, {}, {}, {}};
    return flex::run(o, program, reference, true);
}
