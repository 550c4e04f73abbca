// SPDX-License-Identifier: MIT
//
// papi_test MODULE: what the module for PAPI counts, with a libpapi that is none (fake_papi.c) before the real one: in
// what order events are tried, and whose work counts.
#include "policy/rows/counters.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <time.h>

using namespace ws::policy::rows;

namespace {

int wrong = 0;

void expect(bool holds, const char* what, double value)
{
    if (!holds) {
        wrong++;
        std::printf("%s: %g\n", what, value);
    }
}

// A thread computes for `seconds` of its own processor's time, however many others there are.
void compute(double seconds)
{
    timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (double(now.tv_sec - begin.tv_sec) + double(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
}

} // namespace

int main(int argc, char** argv)
{
    void* const module = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
    if (!module) {
        std::printf("%s\n", argc > 1 ? dlerror() : "which module?");
        return 2;
    }
    const auto open = reinterpret_cast<PapiOpen>(dlsym(module, WS_PAPI_OPEN_NAME));
    const auto read = reinterpret_cast<PapiRead>(dlsym(module, WS_PAPI_READ_NAME));
    char why[200] = "";
    const char* const can = std::getenv("FAKE_PAPI");
    const bool operations = !std::strcmp(can, "flop") || !std::strcmp(can, "dp");
    const bool instructions = !std::strcmp(can, "instructions");

    std::atomic<int> stage{0};
    std::thread early([&] { // as a worker: it is there before
        while (stage == 0)
            std::this_thread::yield();
        compute(0.03);
        stage = 2;
        while (stage == 2)
            std::this_thread::yield();
    });
    const int which = open(why, sizeof why);
    expect(which == (operations ? 1 : instructions ? 2 : 0), "opened", which);
    const char* const said = operations                      ? ""
                             : !std::strcmp(can, "refused") ? "PAPI: /proc/sys/kernel/perf_event_paranoid forbids it"
                             : instructions ? "PAPI counts no floating-point operations: no such event"
                                            : "PAPI counts no floating-point operations or instructions: no such event";
    if (std::strcmp(why, said) != 0) {
        wrong++;
        std::printf("said '%s', not '%s'\n", why, said);
    }
    long long begin[2] = {-1, -1}, own[2], before[2], after[2];
    expect(read(begin) == 0, "read", 0);
    compute(0.03);
    read(own);
    stage = 1;
    while (stage != 2)
        std::this_thread::yield();
    read(before);
    std::thread late([] { compute(0.03); }); // as a guest
    late.join();
    read(after);
    stage = 3;
    early.join();
    if (which) {
        const int i = which == 1 ? 0 : 1;
        const auto seconds = [&](const long long(&a)[2], const long long(&b)[2]) { return double(b[i] - a[i]) * 1e-9; };
        expect(seconds(begin, own) >= 0.03, "of the calling thread", seconds(begin, own));
        expect(seconds(own, before) >= 0.03, "of a thread that was there", seconds(own, before));
        expect(seconds(before, after) >= 0.03, "of a thread that was started later", seconds(before, after));
    } else
        expect(begin[0] == -1 && begin[1] == -1, "read without counters", double(begin[0]));
    return wrong != 0;
}
