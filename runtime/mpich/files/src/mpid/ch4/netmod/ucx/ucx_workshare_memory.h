/* SPDX-License-Identifier: MIT
 *
 * How much shared memory UCX takes, and of which kind. For ucx_init.c alone.
 *
 * UCX's receive buffers lie in /dev/shm, or in UCX_POSIX_DIR: 65 are needed from the start, and the pool grows by
 * MM_RX_BUFS_GROW at a time, 512 by default. That is 4.3 MB per rank, so 16 ranks do not fit into the
 * 64 MB of a default container. With steps of 32 buffers it is 0.8 MB per rank.
 */
#ifndef UCX_WORKSHARE_MEMORY_H_INCLUDED
#define UCX_WORKSHARE_MEMORY_H_INCLUDED

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define WORKSHARE_UCX_DIR "/dev/shm"
#define WORKSHARE_UCX_GROW 512  /* UCX's own */
#define WORKSHARE_UCX_GROW_LESS 32

/* Returns the bytes that a worker allocates before the first message if its pool grows by `grow` buffers; measured with
 * UCX 1.13. */
static double workshare_queue_bytes(unsigned long grow)
{
    const unsigned long first = 65;
    return 20e3 + 8388. * ((first + grow - 1) / grow * grow);
}

/* Returns whether the program's user set a variable of UCX whose name ends with `end`: "RX_BUFS_GROW" is also a part of
 * UCX_POSIX_MM_RX_BUFS_GROW. `value` is the last one found. */
static int workshare_is_set(const char *end, const char **value)
{
    extern char **environ;
    int found = 0;

    for (char **e = environ; *e; e++) {
        const char *equals = strchr(*e, '=');
        if (!strncmp(*e, "UCX_", 4) && equals && equals - *e > strlen(end) &&
            !strncmp(equals - strlen(end), end, strlen(end))) {
            *value = equals + 1;
            found = 1;
        }
    }
    return found;
}

/* Returns whether UCX may use POSIX shared memory, as UCX_TLS says it; NULL: it may use everything. */
static int workshare_uses_posix(const char *transports)
{
    static const char *const names[] = { "all", "posix", "shm", "sm", "mm" };
    int except, named = 0;

    if (!transports)
        return 1;
    except = transports[0] == '^';
    for (const char *at = transports + except; *at; at += strcspn(at, ","), at += *at == ',')
        for (int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            named |= strcspn(at, ",") == strlen(names[i]) &&
                !strncmp(at, names[i], strlen(names[i]));
    return named != except;
}

/* Returns whether UCX_TLS has its default value: neither the environment nor a configuration file sets it. */
static int workshare_has_default_transports(const ucp_config_t * config)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    int is_default;

    if (!stream)
        return 0;
    ucp_config_print(config, stream, NULL, UCS_CONFIG_PRINT_CONFIG);
    if (fclose(stream))
        return 0;
    is_default = strstr(text, "UCX_TLS=all\n") != NULL;
    free(text);
    return is_default;
}

/* Ends the job: the queues of this node's ranks do not fit into `dir`. One rank per node says so. */
static void workshare_end_without_room(const char *dir, double need, double free_bytes)
{
    if (MPIR_Process.local_rank == 0) {
        fprintf(stderr,
                "workshare: error: the message queues of %d ranks need %.1f MB and %s has %.1f MB free; make it larger "
                "(docker run --shm-size=%.0fm), or set UCX_POSIX_DIR to a folder with room\n",
                MPIR_Process.local_size, need / 1e6, dir, free_bytes / 1e6, 2 * need / (1 << 20) + 1);
        fflush(stderr);
        /* Hydra ends the others when this rank exits, and prints what it wrote; told to abort, it may lose the line. */
        if (!getenv("MPI_LOCALNRANKS"))
            MPIR_pmi_abort(1, "");
        exit(1);
    }
    /* The other ranks wait to be ended, too: hydra would name one that exits first. */
    sleep(10);
    exit(1);
}

/* Settles what the user left open, before UCX opens anything. Until MPICH 4.2 all ranks of a node come here before any of
 * them allocates memory (MPIDU_Init_shm_init() comes in between), so all of them see the same free memory, and no file is
 * left. MPICH 5.0 initializes a process without the others: its ranks compare with the size of the file system. */
static void workshare_fit_memory(ucp_config_t * config)
{
    const char *dir = getenv("UCX_POSIX_DIR"), *grow = NULL;
    const char *transports = getenv("UCX_TLS");
    const int ranks = MPIR_Process.local_size;
    unsigned long steps = WORKSHARE_UCX_GROW;
    double free_bytes, need;
    struct statvfs fs;
    struct sysinfo machine;
    char *after;

    if (!dir || !*dir)
        dir = WORKSHARE_UCX_DIR;
    if (!workshare_uses_posix(transports) || statvfs(dir, &fs) < 0)
        return;
    free_bytes = (double) fs.f_bavail * fs.f_frsize;
    if (workshare_is_set("MM_RX_BUFS_GROW", &grow)) {
        steps = strtoul(grow, &after, 10);
        if (*after || steps == 0)
            return;     /* UCX says what is wrong */
    } else if (ranks * WORKSHARE_UCX_WORKERS * workshare_queue_bytes(steps) > free_bytes / 2) {
        steps = WORKSHARE_UCX_GROW_LESS;
        ucp_config_modify(config, "MM_RX_BUFS_GROW", MPL_QUOTE(WORKSHARE_UCX_GROW_LESS));
    }
    need = ranks * WORKSHARE_UCX_WORKERS * workshare_queue_bytes(steps);
    /* Since MPICH 5.0 the ranks come here in any order, and some have allocated theirs already. */
    if (MPICH_NUMVERSION >= 50000000)
        free_bytes = (double) fs.f_blocks * fs.f_frsize;
    if (need > free_bytes)
        workshare_end_without_room(dir, need, free_bytes);

    /* UCX opens its System V segments to the user's group, whose members can read and forge messages. They are left out
     * unless /dev/shm could run full: messages that nobody expects yet stay in these buffers, however many they are. */
    if (sysinfo(&machine) == 0 && free_bytes >= 0.25 * machine.totalram * machine.mem_unit &&
        workshare_has_default_transports(config))
        ucp_config_modify(config, "TLS", "^sysv");
}

#endif /* UCX_WORKSHARE_MEMORY_H_INCLUDED */
