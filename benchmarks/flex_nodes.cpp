// SPDX-License-Identifier: MIT
//
// Unequal nodes of unequal ranks: rows sleep for what they cost on the node whose core runs them, in a shared loop.
// Within a node waiting ranks steal, between nodes XMPI moves rows.
#include "flex.hpp"

namespace {

struct Nodes {
    const flex::Options& o;
    double cost; // seconds of a row of weight 1 on this rank's node
    std::vector<int> runs;
    static constexpr double waited = 0;

    // Rows cost 1 to 4, in quarters: ranks of a node, which are every fourth, have unequal work.
    static double weight(MPI_Count row, long rows) { return 1 + double(row * 4 / rows); }
    void make(const flex::Rows& rows) { runs.assign(size_t(rows.count), 0); }
    void add(ws::partition& p) { p.add(runs); }
    void moved(const flex::Rows&) {}
    double iterate(const flex::Rows& rows, long)
    {
        const long count = rows.count;
        const MPI_Count displ = rows.displ;
        double units = 0;
        for (long i = 0; i < count; i++)
            units += weight(displ + i, o.rows);
        int* const r = runs.data();
        const double each = cost;
        const long all = o.rows;
        #pragma ws for schedule(dynamic, 1) steal_schedule(dynamic, 1)
        for (long i = 0; i < count; i++) {
            if (each > 0)
                work_sleep(each * weight(displ + i, all));
            r[i]++;
        }
        return units;
    }
    void exchange(const flex::Rows&) { MPI_Barrier(MPI_COMM_WORLD); }
    const char* compare(const Nodes& other, const flex::Rows& rows, const flex::Rows&) const
    {
        int good = 1, all;
        (void) other;
        for (MPI_Count i = 0; i < rows.count; i++)
            good = good && runs[size_t(i)] == o.iterations;
        MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        return all ? "each row in each iteration once" : nullptr;
    }
};

} // namespace

int main(int argc, char** argv)
{
    bench_init(&argc, &argv);
    flex::Options o;
    o.program = "flex_nodes";
    o.rows = 640;
    o.iterations = 60;
    flex::read_options(o, argc, argv, "a shared loop over rows of unequal cost; --speeds are of the ranks' nodes", "");
    const double unit = o.unit > 0 ? o.unit : 1e-4;
    o.unit = 0; // rows sleep themselves
    Nodes program{o, unit / o.speed(bench_rank), {}}, reference{o, 0, {}};
    return flex::run(o, program, reference, true);
}
