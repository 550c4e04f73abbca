// SPDX-License-Identifier: MIT
//
// Jacobi's method on a dense system, whose rows move by XMPI. A row's new value is computed in the same order in every
// process, so the result is bit for bit that of a run in which nothing moves.
#include "flex.hpp"

namespace {

struct Jacobi {
    const flex::Options& o;
    std::vector<double> a, next, x; // own rows; own values; all values
    static constexpr double waited = 0;

    void make(const flex::Rows& rows)
    {
        a.resize(size_t(rows.count) * size_t(o.rows));
        next.assign(size_t(rows.count), 0);
        x.assign(size_t(o.rows), 0);
        for (MPI_Count i = 0; i < rows.count; i++)
            for (long j = 0; j < o.rows; j++)
                a[size_t(i * o.rows + j)] =
                    rows.displ + i == j
                        ? 2
                        : (flex::random_unit(1, uint64_t(rows.displ + i), uint64_t(j)) - 0.5) / double(o.rows);
    }
    void add(ws::partition& p)
    {
        p.add(a, o.rows);
        p.add(next);
    }
    void moved(const flex::Rows&) {}
    double iterate(const flex::Rows& rows, long)
    {
        for (MPI_Count i = 0; i < rows.count; i++) {
            const double* const row = &a[size_t(i * o.rows)];
            const MPI_Count own = rows.displ + i;
            double sum = 0;
            for (long j = 0; j < o.rows; j++)
                sum += row[j] * x[size_t(j)];
            next[size_t(i)] = (1 - (sum - row[own] * x[size_t(own)])) / row[own];
        }
        return double(rows.count);
    }
    void exchange(const flex::Rows& rows)
    {
        MPI_Allgatherv(next.data(), int(rows.count), MPI_DOUBLE, x.data(), rows.counts.data(), rows.displs.data(),
                       MPI_DOUBLE, MPI_COMM_WORLD);
    }
    const char* compare(const Jacobi& other, const flex::Rows&, const flex::Rows&) const
    {
        return std::memcmp(x.data(), other.x.data(), x.size() * sizeof(double)) == 0 ? "bit for bit" : nullptr;
    }
};

} // namespace

int main(int argc, char** argv)
{
    bench_init(&argc, &argv);
    flex::Options o;
    o.program = "flex_jacobi";
    flex::read_options(o, argc, argv, "Jacobi's method on a dense matrix of random numbers; a unit of work is a row",
                       "");
    Jacobi program{o, {}, {}, {}}, reference{o, {}, {}, {}};
    return flex::run(o, program, reference, false);
}
