// SPDX-License-Identifier: MIT
//
// exception HOW: an exception leaves an iteration of rank 0's loop. HOW: on the loop's own thread (owner), on a guest,
// in a `ws critical`, in a loop with a reduction, in a loop around another; or it is caught in it, or leaves no loop.
// Run without MPI by run.py, and with WITH_MPI by tests/job/mpi. The marks in comments tell the tests the lines.
#ifdef WITH_MPI
#include "../../job/mpi/programs/test.h"
#else
static int rank;
static void begin(int*, char***) {}
static int end() { return 0; }
static void busy(double) {}
static int on_guest() { return 0; }
#endif

#include <cstring>
#include <exception>
#include <stdexcept>

namespace {

[[noreturn]] void leave() { throw std::runtime_error("the reason"); }

struct Field {
    long sum = 0;

    void visit(int i, const char* how)
    {
        const bool guest = on_guest();
        if (!std::strcmp(how, guest ? "guest" : "owner") && i >= 50)
            leave();
        if (!std::strcmp(how, "critical") && i == 50) {
#pragma ws critical
            leave();
        }
        if (!std::strcmp(how, "guest") && !guest)
            busy(1e-3);
        if (!std::strcmp(how, "caught"))
            try {
                leave();
            } catch (const std::runtime_error&) {
#pragma ws atomic
                sum++;
            }
    }

    void sweep(const char* how)
    {
#pragma ws for schedule(dynamic, 1) // sweep
        for (int i = 0; i < 100; i++)
            visit(i, how);
    }
};

} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    const char* how = argc > 1 ? argv[1] : "";
    Field field;
    if (rank == 0)
        for (int r = 0; r < (std::strcmp(how, "guest") ? 1 : 1000); r++)
            field.sweep(how);
    if (!std::strcmp(how, "caught") && rank == 0 && field.sum != 100)
        return 1;
    if (!std::strcmp(how, "reduction") && rank == 0) {
        int sum = 0;
#pragma ws for reduction(+ : sum) // reduction
        for (int i = 0; i < 100; i++) {
            if (i == 99)
                leave();
            sum += i;
        }
        return sum;
    }
    if (!std::strcmp(how, "outer"))
#pragma ws for // outer
        for (int i = 0; i < 3; i++) {
            field.sweep("");
            leave();
        }
    if (!std::strcmp(how, "outside"))
        leave();
    return end();
}
