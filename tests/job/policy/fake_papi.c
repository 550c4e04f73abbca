/* SPDX-License-Identifier: MIT
 *
 * Stands before libpapi in a test: counts CPU time as if it were events, on machines whose kernel refuses counters. A
 * set counts the thread that it is attached to; and what threads do that were started later, the set of the thread that
 * opened the first (as those inherit it).
 * FAKE_PAPI says what this processor can count: flop, dp (operations, by the name of those of double precision alone),
 * instructions, nothing; or that the kernel has "refused" it.
 * FAKE_PAPI_TIMES: what rank 1's counts are multiplied by, as processors differ in what they count.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <papi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256 };
static struct { pid_t thread; bool inherits, runs; } sets[MOST];
static int made;
static pid_t before[MOST], opener; /* threads that were there when PAPI began */
static int befores;

static const char *can(void)
{
    const char *what = getenv("FAKE_PAPI");
    return what ? what : "nothing";
}

static long long cpu_ns(clockid_t clock)
{
    struct timespec t = { 0, 0 };
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long thread_ns(pid_t thread) { return cpu_ns((~(clockid_t) thread) << 3 | 6); }

int PAPI_library_init(int version)
{
    DIR *folder = opendir("/proc/self/task");
    opener = (pid_t) syscall(SYS_gettid);
    befores = 0;
    for (struct dirent *d; folder && (d = readdir(folder));)
        if (atoi(d->d_name) > 0 && befores < MOST)
            before[befores++] = (pid_t) atoi(d->d_name);
    if (folder)
        closedir(folder);
    return version;
}

int PAPI_create_eventset(int *set)
{
    if (made == MOST)
        return PAPI_ENOMEM;
    *set = made++;
    sets[*set].thread = 0;
    sets[*set].inherits = sets[*set].runs = false;
    return PAPI_OK;
}

int PAPI_assign_eventset_component(int set, int component) { (void) set, (void) component; return PAPI_OK; }

int PAPI_attach(int set, unsigned long thread)
{
    sets[set].thread = (pid_t) thread;
    return syscall(SYS_tgkill, getpid(), (pid_t) thread, 0) == 0 ? PAPI_OK : PAPI_ESYS;
}

int PAPI_set_opt(int option, PAPI_option_t *value)
{
    if (option == PAPI_INHERIT)
        sets[value->inherit.eventset].inherits = value->inherit.inherit == PAPI_INHERIT_ALL;
    return PAPI_OK;
}

int PAPI_add_event(int set, int event)
{
    (void) set;
    const char *needed = event == PAPI_TOT_INS ? "instructions" : event == PAPI_FP_OPS ? "flop" :
                         event == PAPI_DP_OPS ? "dp" : "";
    return strcmp(can(), needed) == 0 ? PAPI_OK : PAPI_ENOEVNT;
}

int PAPI_start(int set)
{
    sets[set].runs = true;
    return PAPI_OK;
}

int PAPI_stop(int set, long long *values)
{
    *values = 0;
    sets[set].runs = false;
    return PAPI_OK;
}

int PAPI_cleanup_eventset(int set) { (void) set; return PAPI_OK; }
int PAPI_destroy_eventset(int *set) { *set = PAPI_NULL; return PAPI_OK; }

int PAPI_read(int set, long long *values)
{
    if (!sets[set].runs)
        return PAPI_ENOTRUN;
    *values = thread_ns(sets[set].thread);
    if (sets[set].inherits && sets[set].thread == opener) {
        *values = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < befores; i++)
            *values -= before[i] == opener ? 0 : thread_ns(before[i]);
    }
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
