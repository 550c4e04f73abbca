// SPDX-License-Identifier: MIT
#include "policy/rows/counters.h"

#include "policy/job.h"
#include "base/modules.h"
#include "base/os.h"

#include <cstdlib>
#include <dlfcn.h>

namespace ws::policy::rows {

// How long the counters of processors are calibrated, once per process.
constexpr double flex_calibrate_us = 2000;

const char* source_text(Source source)
{
    switch (source) {
    case Source::registered: return "registered rows";
    case Source::instructions: return "instructions";
    case Source::flop: return "floating-point operations";
    case Source::fake: return "registered rows, on pretended processors";
    case Source::given: return "XMPI_Set_work";
    }
    return "";
}

namespace {

// The speed of this rank in a list of numbers, the last of which counts for the rest. 0: the list is no such list.
double speed_of(const char* list, int rank)
{
    double speed = 0;
    for (const char* at = list;; at++) {
        char* end;
        const double value = std::strtod(at, &end);
        if (end == at || !(value > 0) || (*end && *end != ','))
            return 0;
        speed = value;
        if (rank-- == 0 || !*end)
            return speed;
        at = end;
    }
}

// Runs two operations per turn, in a chain that no compiler can shorten.
double operations(long turns)
{
    volatile double from = 1.0000001;
    double x = from;
    const double y = from;
    for (long i = 0; i < turns; i++)
        x = x * y + 1e-9;
    return x;
}

} // namespace

Source Counters::open(const policy::Job& job)
{
    if (opened_)
        return best_;
    opened_ = true;
    if (const std::string& list = job.options->flex_fake; !list.empty()) {
        fake_speed_ = speed_of(list.c_str(), job.rank);
        if (fake_speed_ > 0)
            return best_ = Source::fake;
        why_ = "WS_FLEX_FAKE is no list of speeds";
        return best_;
    }
    open_papi(job.ticks_per_us);
    return best_;
}

void Counters::open_papi(double ticks_per_us)
{
    const std::string path = base::module_path("papi.so");
    if (path.empty()) {
        why_ = "libws does not know where it was loaded from";
        return;
    }
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        const char* trouble = dlerror();
        why_ = trouble ? trouble : "the module for PAPI cannot be loaded";
        return;
    }
    const auto open = reinterpret_cast<PapiOpen>(dlsym(module, WS_PAPI_OPEN_NAME));
    read_ = reinterpret_cast<PapiRead>(dlsym(module, WS_PAPI_READ_NAME));
    char words[200] = "";
    const int which = open && read_ ? open(words, sizeof words) : 0;
    why_ = words;
    if (!which) {
        read_ = nullptr;
        return;
    }
    // Processors count the same operations differently: what this one counts for a known number of them.
    long long before[2] = {}, after[2] = {};
    const uint64_t most = uint64_t(flex_calibrate_us * ticks_per_us), began = base::ticks();
    constexpr long turns = 20000;
    long rounds = 0;
    if (read_(before) == 0)
        for (; base::ticks() - began < most; rounds++)
            operations(turns);
    const bool counted = read_(after) == 0 && rounds > 0;
    for (int i = 0; i < 2; i++)
        if (counted && (which & 1 << i) && after[i] > before[i]) {
            per_event_[i] = 2.0 * turns * double(rounds) / double(after[i] - before[i]);
            best_ = i == 0 ? Source::flop : best_ == Source::flop ? best_ : Source::instructions;
        }
}

double Counters::read(Source source) const
{
    long long events[2];
    if (!read_ || read_(events) != 0)
        return 0;
    const int i = source == Source::flop ? 0 : 1;
    return double(events[i]) * per_event_[i];
}

} // namespace ws::policy::rows
