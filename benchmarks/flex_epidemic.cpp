// SPDX-License-Identifier: MIT
//
// An epidemic (flex_people.h) whose people move by XMPI. Chance is counted off, by step and pair, so the result is bit
// for bit that of a run in which nobody moves.
#include "flex.hpp"
#include "flex_people.h"

namespace {

struct Epidemic {
    flex::People people;
    static constexpr double waited = 0;

    explicit Epidemic(const flex::Options& o) : people(o.rows) {}
    void make(const flex::Rows& rows) { people.make(rows.count, rows.displ); }
    void add(ws::partition& p)
    {
        p.add_csr(people.starts, people.others, people.weights);
        p.add(people.state);
    }
    void moved(const flex::Rows&) {}
    double iterate(const flex::Rows& rows, long step)
    {
        double units = 0;
        people.live(rows.count, rows.displ, step, [&](long, int64_t of_person) { units += double(of_person); });
        return units;
    }
    void exchange(const flex::Rows& rows)
    {
        MPI_Allgatherv(people.state.data(), int(rows.count), MPI_INT8_T, people.all.data(), rows.counts.data(),
                       rows.displs.data(), MPI_INT8_T, MPI_COMM_WORLD);
    }
    const char* compare(const Epidemic& other, const flex::Rows&, const flex::Rows&) const
    {
        return people.all == other.people.all ? "bit for bit" : nullptr;
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
    Epidemic program(o), reference(o);
    return flex::run(o, program, reference, true);
}
