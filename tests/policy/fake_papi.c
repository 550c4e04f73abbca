/* SPDX-License-Identifier: MIT
 *
 * Stands before libpapi in a test: counts CPU time as if it were events, on machines whose kernel refuses counters.
 * FAKE_PAPI says what this processor can count: flop, instructions, nothing; or that the kernel has "refused" it.
 * FAKE_PAPI_TIMES: what rank 1's counts are multiplied by, as processors differ in what they count.
 */
#include <papi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *can(void)
{
    const char *what = getenv("FAKE_PAPI");
    return what ? what : "nothing";
}

int PAPI_library_init(int version) { return version; }
int PAPI_create_eventset(int *set)
{
    static int next = 1;
    *set = next++;
    return PAPI_OK;
}
int PAPI_assign_eventset_component(int set, int component) { (void) set, (void) component; return PAPI_OK; }
int PAPI_set_opt(int option, PAPI_option_t *value) { (void) option, (void) value; return PAPI_OK; }
int PAPI_add_event(int set, int event)
{
    (void) set;
    const char *needed = event == PAPI_TOT_INS ? "instructions" : event == PAPI_FP_OPS ? "flop" : "";
    return strcmp(can(), needed) == 0 ? PAPI_OK : PAPI_ENOEVNT;
}
int PAPI_start(int set) { (void) set; return PAPI_OK; }
int PAPI_cleanup_eventset(int set) { (void) set; return PAPI_OK; }
int PAPI_destroy_eventset(int *set) { *set = PAPI_NULL; return PAPI_OK; }
int PAPI_read(int set, long long *values)
{
    (void) set;
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    *values = t.tv_sec * 1000000000LL + t.tv_nsec;
    const char *rank = getenv("PMI_RANK"), *times = getenv("FAKE_PAPI_TIMES");
    if (times && rank && strcmp(rank, "1") == 0)
        *values *= atoll(times);
    return PAPI_OK;
}
const PAPI_component_info_t *PAPI_get_component_info(int component)
{
    static PAPI_component_info_t info = {.disabled_reason = "/proc/sys/kernel/perf_event_paranoid forbids it" };
    (void) component;
    info.disabled = strcmp(can(), "refused") == 0;
    return &info;
}
char *PAPI_strerror(int code) { (void) code; return "no such event"; }
