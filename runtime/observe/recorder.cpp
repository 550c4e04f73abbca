// SPDX-License-Identifier: MIT
#include "observe/recorder.h"

#include "window/spin_lock.h"
#include <cstdlib>
#include <sys/mman.h>

namespace ws {

bool recording;

namespace {

uint64_t log_capacity;
bool logs_keep_oldest;
SpinLock logs_lock;
std::vector<EventLog*> logs;
WS_THREAD_LOCAL EventLog* own_log;

EventLog* new_log(SeatKind kind, unsigned core)
{
    // Untouched pages cost nothing.
    void* memory = mmap(nullptr, log_capacity * sizeof(Event), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EventLog* log = new EventLog{kind, core, static_cast<Event*>(memory), log_capacity, 0, logs_keep_oldest};
    if (memory == MAP_FAILED)
        log->capacity = 0; // all of it is dropped, and counted
    logs_lock.lock();
    logs.push_back(log);
    logs_lock.unlock();
    return log;
}

} // namespace

void start_recording(uint64_t bytes, unsigned threads, bool keep_oldest)
{
    log_capacity = bytes / sizeof(Event) / (threads ? threads : 1);
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
        own_log = new_log(SeatKind::none, 0);
    EventLog& log = *own_log;
    const uint64_t i = log.written++;
    if (i < log.capacity)
        log.events[i] = {begin, end, kind, 0, id, a, b};
    else if (log.capacity && !log.keep_oldest)
        log.events[i % log.capacity] = {begin, end, kind, 0, id, a, b};
}

const std::vector<EventLog*>& event_logs() { return logs; }

void stop_recording() { recording = false; }

} // namespace ws
