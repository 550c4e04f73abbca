// SPDX-License-Identifier: MIT
#include "observe/recorder.h"

#include "base/spin_lock.h"
#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

namespace ws::observe {

bool recording;

namespace {

uint64_t own_capacity, guest_capacity; // of a log
uint64_t others_all, others_left;      // for all logs of other threads of the program
constexpr uint64_t first_part = 64;    // such a log begins with this many of these
bool logs_keep_oldest;
unsigned own_node_rank;
base::SpinLock logs_lock;
std::vector<EventLog*> logs;
WS_THREAD_LOCAL EventLog* own_log;

EventLog* new_log(SeatKind kind, unsigned core)
{
    EventLog* log =
        new EventLog{kind, core, nullptr, kind == SeatKind::guest ? guest_capacity : own_capacity, 0, logs_keep_oldest};
    uint64_t most = log->capacity;
    logs_lock.lock();
    if (kind == SeatKind::none) {
        most = others_all / 2;
        log->capacity = std::min(first_part, others_left / 2);
        log->grows = log->capacity > 0;
        others_left -= log->capacity;
    }
    logs.push_back(log);
    logs_lock.unlock();
    // mmap, because untouched pages must cost nothing (MAP_NORESERVE). Without memory all of it is dropped, and
    // counted.
    if (log->capacity) {
        void* memory = mmap(nullptr, most * sizeof(Event), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) {
            log->capacity = 0;
            log->grows = false;
        } else
            log->events = static_cast<Event*>(memory);
    }
    return log;
}

// A log of another thread of the program is full and may grow: to no more than is left for logs of threads to come. A
// log that cannot grow now never grows again, as it begins to replace its events.
bool grow(EventLog& log)
{
    logs_lock.lock();
    const uint64_t more = others_left > log.capacity ? std::min(log.capacity, (others_left - log.capacity) / 2) : 0;
    others_left -= more;
    log.capacity += more;
    logs_lock.unlock();
    log.grows = more > 0;
    return log.grows;
}

} // namespace

void start_recording(uint64_t bytes, unsigned own_threads, unsigned guests, unsigned node_rank, bool keep_oldest)
{
    own_node_rank = node_rank;
    const uint64_t all = bytes / sizeof(Event);
    own_capacity = all / 2 / own_threads;
    guest_capacity = all / 4 / (guests ? guests : 1);
    others_all = others_left = all / 4;
    logs_keep_oldest = keep_oldest;
    recording = true;
}

void record_as(SeatKind kind, unsigned core)
{
    if (recording && !own_log)
        own_log = new_log(kind, core);
}

void record(EventKind kind, uint64_t begin, uint64_t end, uint32_t id, uint64_t a, uint64_t b)
{
    if (WS_UNLIKELY(!own_log))
        own_log = new_log(SeatKind::none, own_node_rank);
    EventLog& log = *own_log;
    const uint64_t i = log.written++;
    if (i < log.capacity || (log.grows && grow(log)))
        log.events[i] = {begin, end, kind, 0, id, a, b};
    else if (log.capacity && !log.keep_oldest)
        log.events[i % log.capacity] = {begin, end, kind, 0, id, a, b};
}

const std::vector<EventLog*>& event_logs() { return logs; }

void stop_recording() { recording = false; }

} // namespace ws::observe
