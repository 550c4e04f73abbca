// SPDX-License-Identifier: MIT
//
// The module that counts with PAPI: loaded under -workshare by a program that uses XMPI, so that nobody else pays for
// libpapi. Counts all threads of the process, in user mode: those that are there, as the rank's workers are, and those
// that they start from then on.
#include "base/os.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <papi.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

// Per event, a set for each thread. Two events are two lists, because a processor that cannot count operations may well
// count instructions.
std::vector<int> sets[2];

void close_sets(std::vector<int>& all)
{
    for (int& set : all) {
        long long value;
        PAPI_stop(set, &value);
        PAPI_cleanup_eventset(set);
        PAPI_destroy_eventset(&set);
    }
    all.clear();
}

// Attached also where it is the calling thread's: of others PAPI lets a thread have one set that runs.
int open_set(int& set, int event, pid_t thread)
{
    int error = PAPI_create_eventset(&set);
    if (!error)
        error = PAPI_assign_eventset_component(set, 0);
    if (!error)
        error = PAPI_attach(set, static_cast<unsigned long>(thread));
    PAPI_option_t inherit;
    std::memset(&inherit, 0, sizeof inherit);
    inherit.inherit.eventset = set;
    inherit.inherit.inherit = PAPI_INHERIT_ALL;
    if (!error)
        error = PAPI_set_opt(PAPI_INHERIT, &inherit);
    if (!error)
        error = PAPI_add_event(set, event);
    if (!error)
        error = PAPI_start(set);
    long long value;
    if (!error)
        error = PAPI_read(set, &value);
    return error;
}

std::vector<pid_t> threads()
{
    std::vector<pid_t> all = {pid_t(syscall(SYS_gettid))};
    if (DIR* const folder = opendir("/proc/self/task")) {
        while (const dirent* entry = readdir(folder))
            if (const auto thread = pid_t(std::atoi(entry->d_name)); thread > 0 && thread != all[0])
                all.push_back(thread);
        closedir(folder);
    }
    return all;
}

int open_sets(std::vector<int>& all, int event)
{
    for (const pid_t thread : threads()) {
        int set = PAPI_NULL;
        const int error = open_set(set, event, thread);
        if (set != PAPI_NULL)
            all.push_back(set);
        if (!error)
            continue;
        if (set != PAPI_NULL) {
            std::vector<int> last = {set};
            all.pop_back();
            close_sets(last);
        }
        if (all.empty() || syscall(SYS_tgkill, getpid(), thread, 0) == 0) { // else it has ended meanwhile
            close_sets(all);
            return error;
        }
    }
    return PAPI_OK;
}

} // namespace

WS_EXPORT int ws_papi_open(char* why, int room)
{
    const int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT) {
        std::snprintf(why, size_t(room), "PAPI: %s", version < 0 ? PAPI_strerror(version) : "another version");
        return 0;
    }
    int error = PAPI_OK;
    for (const int event : {PAPI_FP_OPS, PAPI_DP_OPS})
        if ((error = open_sets(sets[0], event)) == PAPI_OK)
            return 1;
    // Not both: a processor has few counters.
    const int which = open_sets(sets[1], PAPI_TOT_INS) == PAPI_OK ? 2 : 0;
    // What the kernel refuses, such as by kernel.perf_event_paranoid, PAPI tells of the component.
    const PAPI_component_info_t* const component = PAPI_get_component_info(0);
    if (component && component->disabled)
        std::snprintf(why, size_t(room), "PAPI: %s", component->disabled_reason);
    else
        std::snprintf(why, size_t(room), "PAPI counts no floating-point operations%s: %s",
                      which ? "" : " or instructions", PAPI_strerror(error));
    return which;
}

WS_EXPORT int ws_papi_read(long long events[2])
{
    for (int i = 0; i < 2; i++)
        for (size_t t = 0; t < sets[i].size(); t++) {
            long long value;
            if (const int error = PAPI_read(sets[i][t], &value))
                return error;
            events[i] = (t ? events[i] : 0) + value;
        }
    return 0;
}
