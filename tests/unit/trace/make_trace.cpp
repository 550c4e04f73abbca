// SPDX-License-Identifier: MIT
//
// make_trace FILE RANKS NODES STEPS shared|plain|parallel|tasks [DROPPED]: writes the trace of made_up.h through the
// module's own code.
#include "made_up.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" const char* ws_trace_check(int, const char*);
extern "C" ws::trace::TraceWriter* ws_trace_open(const ws::trace::TraceJob&, const char*);

int main(int argc, char** argv)
{
    if (argc < 6)
        return 2;
    made_up::Job job;
    const auto number = [&](int i) { return uint32_t(std::atoi(argv[i])); };
    if (!std::strcmp(argv[5], "parallel"))
        made_up::make_parallel(job, number(2), number(4));
    else if (!std::strcmp(argv[5], "tasks"))
        made_up::make_tasks(job, number(2), number(4));
    else
        made_up::make(job, number(2), number(3), number(4), !std::strcmp(argv[5], "shared"),
                      argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 0);
    const char* error = ws_trace_check(ws::trace::trace_interface, argv[1]);
    if (!error)
        error = made_up::write(job, argv[1], ws_trace_open);
    if (error)
        std::fprintf(stderr, "%s: %s\n", argv[1], error);
    return error ? 1 : 0;
}
