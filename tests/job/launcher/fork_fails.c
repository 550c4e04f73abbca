/* SPDX-License-Identifier: MIT
 *
 * Preloaded: FORK_FAILS=NAME:N, in programs of that name fork fails after N times, as where a user may have no more
 * processes (a limit that root does not have). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pid_t fork(void)
{
    static int forks;
    const char *where = getenv("FORK_FAILS"), *count = where ? strchr(where, ':') : NULL;
    const size_t length = count ? (size_t) (count - where) : 0;

    if (count && strlen(program_invocation_short_name) == length &&
        !strncmp(program_invocation_short_name, where, length) && forks++ >= atoi(count + 1)) {
        errno = EAGAIN;
        return -1;
    }
    return ((pid_t (*)(void)) dlsym(RTLD_NEXT, "fork"))();
}
