// SPDX-License-Identifier: MIT
//
// The module that counts with PAPI: loaded under -workshare by a program that uses XMPI, so that nobody else pays for
// libpapi. Counts the calling thread and all that it starts from here on, in user mode.
#include "window/os.h"

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <papi.h>

namespace {

// Sets of their own: a processor that cannot count operations may well count instructions.
int sets[2] = {PAPI_NULL, PAPI_NULL};

int open_one(int& set, int event)
{
    int error = PAPI_create_eventset(&set);
    if (!error)
        error = PAPI_assign_eventset_component(set, 0);
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
    if (error) {
        if (set != PAPI_NULL) {
            PAPI_cleanup_eventset(set);
            PAPI_destroy_eventset(&set);
        }
        set = PAPI_NULL;
    }
    return error;
}

} // namespace

WS_EXPORT int ws_papi_open(char* why, int room)
{
    const int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT) {
        std::snprintf(why, size_t(room), "PAPI: %s", version < 0 ? PAPI_strerror(version) : "another version");
        return 0;
    }
    int which = 0, error = PAPI_OK;
    for (const int event : {PAPI_FP_OPS, PAPI_DP_OPS})
        if (sets[0] == PAPI_NULL && (error = open_one(sets[0], event)) == PAPI_OK)
            which |= 1;
    if (which & 1)
        return which;
    // Not both: a processor has few counters.
    if (const int other = open_one(sets[1], PAPI_TOT_INS); other == PAPI_OK)
        which |= 2;
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
        if (sets[i] != PAPI_NULL)
            if (const int error = PAPI_read(sets[i], &events[i]))
                return error;
    return 0;
}
