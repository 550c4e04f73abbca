// SPDX-License-Identifier: MIT
//
// exception HOW: an exception leaves an iteration, or the options are bad. Either must end the program with a message.
#ifdef WITH_MPI
#include "../../mpi/programs/test.h"
#else
static int rank;
static void begin(int*, char***) {}
static int end() { return 0; }
static void busy(double) {}
static int on_guest() { return 1; }
#endif

#include <cstring>
#include <workshare/ws.hpp>

namespace {
#ifdef __cpp_exceptions
[[noreturn]] void leave() { throw std::runtime_error("the reason"); }
void leave_c(int64_t, int64_t, void*) { leave(); }
#endif
} // namespace

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    const char* how = argc > 1 ? argv[1] : "";
    if (!std::strcmp(how, "options"))
        ws::for_each(0, 1, [](int) {}, ws::options("loop").schedule(WS_DYNAMIC, -1));
#ifdef __cpp_exceptions
    if (!std::strcmp(how, "owner"))
        ws::for_each(0, 100, [](int i) { if (i == 50) leave(); }, "loop");
    if (!std::strcmp(how, "sum"))
        ws::transform_reduce(0, 100, 0, [](int, int) -> int { leave(); }, [](int i) { return i; }, "loop");
    if (!std::strcmp(how, "c"))
        return ws_for(0, 1, leave_c, nullptr, nullptr);
    if (!std::strcmp(how, "guest") && rank == 0)
        for (int r = 0; r < 1000; r++)
            ws::for_each(0, 100, [](int) { on_guest() ? leave() : busy(1e-3); }, "loop");
#endif
    return end();
}
