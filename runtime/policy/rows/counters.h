// SPDX-License-Identifier: MIT
//
// What a process's work is measured by: operations of floating point that the processor counts, or its instructions, by
// PAPI's low-level interface in a module that is loaded when somebody asks (papi.cpp); if neither is available, what
// the program has registered.
#pragma once

#include <string>

namespace ws::policy {
struct Job;
}

namespace ws::policy::rows {

// In the order of preference, worst first. All processes of a partition use the same.
enum class Source : int { registered, instructions, flop, fake, given };
constexpr unsigned sources = 5;
const char* source_text(Source source); // for the verdict

// Counters of this process, with all its threads, so guests and workers, too. Opened once.
class Counters {
public:
    // The best that there is here; `why` says why it is nothing better.
    Source open(const policy::Job& job);
    const std::string& why() const { return why_; }
    // Units since some moment: FLOP, or instructions divided by those that the calibration took for a FLOP.
    double read(Source source) const;
    // The speed of a pretended processor, in units per second; 0: it is real.
    double fake_speed() const { return fake_speed_; }

private:
    void open_papi(double ticks_per_us);

    bool opened_ = false;
    Source best_ = Source::registered;
    std::string why_;
    double fake_speed_ = 0;
    double per_event_[2] = {1, 1};
    int (*read_)(long long events[2]) = nullptr;
};

// What the module shows. Opens what it can of the two counters (operations, instructions) for this process, and returns
// a bit for each; `why`: what keeps the first from counting.
#define WS_PAPI_OPEN_NAME "ws_papi_open"
#define WS_PAPI_READ_NAME "ws_papi_read"
using PapiOpen = int (*)(char* why, int room);
using PapiRead = int (*)(long long events[2]); // 0, or an error of PAPI's

} // namespace ws::policy::rows
