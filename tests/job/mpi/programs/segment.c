// SPDX-License-Identifier: MIT
//
// segment KEY [kill]: makes a System V segment, with that key or, if it is 0, without one, and ends.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

int main(int argc, char** argv)
{
    if (shmget((key_t)strtol(argv[1], 0, 0), 4096, IPC_CREAT | 0600) < 0)
        return 2;
    if (argc > 2 && !strcmp(argv[2], "kill"))
        raise(SIGKILL);
    return 0;
}
