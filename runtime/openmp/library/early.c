/* SPDX-License-Identifier: MIT
 *
 * Loaded first, and initialized before all other libraries (-z initfirst), by mpirun -workshare-openmp=share: OpenMP's
 * libraries read OMP_NUM_THREADS when they are initialized, and a program may ask at once. So this library decides how
 * many virtual threads a region has, and sets the variable for all that read it.
 *
 * Not every program can have them: a virtual thread moves from one thread of the system to another, and what the kernel
 * keeps for each thread does not move with it. A program that can reach such state is told its own number of threads,
 * and its regions are left to OpenMP. What it can reach is decided by what the program and its libraries import.
 *
 * What libws and the next program in a chain (a shell, env) find in the environment, until MPI_Init (mpi/children.cpp):
 *
 *   WS_OPENMP_OWN   OMP_NUM_THREADS as the user had it; -: not at all; ?: no program was loaded yet
 *   WS_OPENMP_WHY   why no region of this program is shared; empty: they are
 *   WS_OPENMP_ROOM  the place of OMP_NUM_THREADS, which the user has not set and this program is not to see */
#define _GNU_SOURCE
#include "openmp/library/imports.h"
#include "openmp/library/virtual_threads.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* What the texts of an OpenMP library have, and no program needs. */
static const char *const within[] = {"GOMP_CPU_AFFINITY", "KMP_AFFINITY"};

/* An OpenMP library that is linked into the program: nothing of it is seen but its texts. */
static int has_openmp_within(const struct dl_phdr_info *program)
{
    for (unsigned i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &program->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || (part->p_flags & (PF_R | PF_W)) != PF_R)
            continue;
        for (size_t k = 0; k < sizeof within / sizeof *within; k++)
            if (memmem((const void *)(program->dlpi_addr + part->p_vaddr), part->p_filesz, within[k],
                       strlen(within[k])))
                return 1;
    }
    return 0;
}

/* The C library is not initialized yet, and takes the environment as it finds it: so values are put into its table, in
 * place. */
static char **environment;

static char **place_of(const char *name)
{
    const size_t length = strlen(name);
    for (char **e = environment; *e; e++)
        if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
            return e;
    return NULL;
}

/* NULL: it is not there, or empty. */
static const char *value_of(const char *name)
{
    char **place = place_of(name);
    return place && (*place)[strlen(name) + 1] ? *place + strlen(name) + 1 : NULL;
}

/* mpirun has made a place for each that is set here. */
static void set(const char *name, const char *value, char *text, size_t room)
{
    char **place = place_of(name);
    if (!place)
        return;
    snprintf(text, room, "%s=%s", name, value);
    *place = text;
}

static unsigned number_of(const char *text)
{
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < 100000 ? (unsigned) number : 0;
}

static unsigned number_in(const char *name)
{
    return number_of(value_of(name));
}

/* help: its former name, which libws replaces only later. */
static int is_share(const char *mode)
{
    return mode && (strcmp(mode, "share") == 0 || strcmp(mode, "help") == 0 || strncmp(mode, "share:", 6) == 0);
}

/* NULL: it can have virtual threads. */
static const char *why_not(void)
{
    static char why[256];
    struct ws_imports look = {.trusted = value_of("WS_OPENMP_TRUST")};
    dl_iterate_phdr(ws_look_at_imports, &look);
    const char *cancels = value_of("OMP_CANCELLATION");
    if (look.sanitizer)
        return "a sanitizer watches the threads' stacks";
    if (look.function) {
        ws_tell_import(why, sizeof why, &look, "");
        return why;
    }
    if (look.event) {
        snprintf(why, sizeof why, "%s uses omp_fulfill_event(), for which its tasks wait", look.event);
        return why;
    }
    if (!look.has_library && look.program.dlpi_phdr && has_openmp_within(&look.program))
        return "the program has an OpenMP library linked into it";
    if (look.tool) /* libomp finds that one first: libws cannot stand before it (tool/tool.h) */
        return "an OMPT tool in the program itself watches its parallel regions";
    return cancels && strcasecmp(cancels, "true") == 0 ? "OMP_CANCELLATION is true" : NULL;
}

static unsigned virtual_threads(const char *mode, const char *own_threads)
{
    const unsigned ranks = number_in("MPI_LOCALNRANKS"), own = number_of(own_threads),
                   limit = number_in("OMP_THREAD_LIMIT");
    unsigned threads = strncmp(mode, "share:", 6) == 0 ? (unsigned) strtol(mode + 6, NULL, 10) : 0;
    if (threads == 0) {
        const unsigned pretended = number_in("WS_CORES");
        const long online = sysconf(_SC_NPROCESSORS_ONLN); /* of the node: ranks may be bound to some of them */
        const unsigned cpus = pretended ? pretended : online > 0 ? (unsigned) online : 0;
        const char *workers = value_of("WS_WORKERS");
        const unsigned spare = ranks && cpus > ranks ? cpus / ranks - 1 : 0; /* cores of each rank */
        const int is_auto = workers && strcmp(workers, "auto") == 0;
        threads = ws_virtual_threads(ranks, cpus, own, is_auto ? spare : number_of(workers));
    }
    threads = limit && threads > limit ? limit : threads;
    return threads > 256 ? 256 : threads;
}

/* The program before this one in a chain has found the user's `own` value in OMP_NUM_THREADS, and was given another one
 * in place of it unless it was left alone: what stands there now is the user's still, or what that program has set. */
static void undo_last(const char *mode, const char *own, int was_left_alone)
{
    static char restored[64];
    char number[16];
    const char *now = value_of("OMP_NUM_THREADS");
    own = strcmp(own, "-") == 0 ? NULL : own;
    snprintf(number, sizeof number, "%u", virtual_threads(mode, own));
    if (!was_left_alone && now && strcmp(now, number) == 0)
        set("OMP_NUM_THREADS", own ? own : "", restored, sizeof restored);
}

__attribute__((constructor)) static void decide(int argc, char **argv, char **envp)
{
    static char own_text[64], why_text[300], threads_text[64], no_text[32];
    /* Writable, as entries of the environment are: bash writes to them for a moment. */
    static char no_threads[] = "OMP_NUM_THREADS=", no_room[] = "WS_OPENMP_ROOM=";
    (void) argc;
    (void) argv;
    environment = envp;
    const char *mode = value_of("WS_OPENMP"), *enabled = value_of("WS_ENABLE");
    if (!is_share(mode) || !enabled || strcmp(enabled, "1") != 0 || !place_of("WS_OPENMP_OWN"))
        return;
    char **room = place_of("WS_OPENMP_ROOM");
    if (room && !place_of("OMP_NUM_THREADS")) /* the program before this one in a chain was to have none */
        *room = no_threads;
    const char *own = value_of("WS_OPENMP_OWN");
    if (own && strcmp(own, "?") != 0) /* it is the next program of a chain */
        undo_last(mode, own, value_of("WS_OPENMP_WHY") != NULL);
    set("WS_OPENMP_WHY", "", no_text, sizeof no_text);
    own = value_of("OMP_NUM_THREADS");
    set("WS_OPENMP_OWN", own ? own : "-", own_text, sizeof own_text);
    const char *why = place_of("OMP_NUM_THREADS")
                          ? why_not()
                          : "OMP_NUM_THREADS is set for some processes only, or a script has unset it";
    if (why) {
        set("WS_OPENMP_WHY", why, why_text, sizeof why_text);
        if (!own && (room = place_of("OMP_NUM_THREADS")))
            *room = no_room;
        return;
    }
    char number[16];
    snprintf(number, sizeof number, "%u", virtual_threads(mode, own));
    set("OMP_NUM_THREADS", number, threads_text, sizeof threads_text);
}

/* A program may look OpenMP's functions up by dlsym(), which does not see libws's: those have versions, for the
 * linker's sake. These here have none, and are the first of their names; they jump to libws's, or, without it, to the
 * library's. */
#include <dlfcn.h>

#define FUNCTIONS(each)                                                                                               \
    each(omp_get_thread_num, "OMP_1.0") each(omp_get_num_threads, "OMP_1.0") each(omp_get_max_threads, "OMP_1.0")     \
    each(omp_in_parallel, "OMP_1.0") each(omp_get_dynamic, "OMP_1.0") each(omp_set_dynamic, "OMP_1.0")                \
    each(omp_set_num_threads, "OMP_1.0") each(omp_get_nested, "OMP_1.0") each(omp_set_nested, "OMP_1.0")              \
    each(omp_get_level, "OMP_3.0") each(omp_get_active_level, "OMP_3.0") each(omp_get_ancestor_thread_num, "OMP_3.0") \
    each(omp_get_team_size, "OMP_3.0") each(omp_get_max_active_levels, "OMP_3.0")                                     \
    each(omp_set_max_active_levels, "OMP_3.0") each(omp_get_schedule, "OMP_3.0") each(omp_set_schedule, "OMP_3.0")

__attribute__((used, visibility("hidden"))) void *ws_early_find(const char *name, const char *version)
{
    void *libws = dlopen("libws.so.1", RTLD_LAZY | RTLD_NOLOAD), *found = libws ? dlvsym(libws, name, version) : NULL;
    return found ? found : dlsym(RTLD_NEXT, name);
}

#if defined(__x86_64__)
#define JUMP(name) \
    asm(".text; .globl " #name "; .type " #name ", @function; " #name ": jmp *ws_early_" #name "(%rip); .size " #name \
        ", .-" #name);
#else
#define JUMP(name)                                                                                                    \
    asm(".text; .globl " #name "; .type " #name ", %function; " #name ": adrp x16, ws_early_" #name                   \
        "; ldr x16, [x16, :lo12:ws_early_" #name "]; br x16; .size " #name ", .-" #name);
#endif
/* The first call, with at most two arguments. */
#define FIRST(name, version)                                                                                          \
    static long first_##name(long a, long b);                                                                         \
    __attribute__((used, visibility("hidden"))) long (*ws_early_##name)(long, long) = first_##name;                   \
    static long first_##name(long a, long b)                                                                          \
    {                                                                                                                 \
        void *found = ws_early_find(#name, version);                                                                  \
        if (!found)                                                                                                   \
            return strncmp(#name, "omp_get_num", 11) == 0 || strncmp(#name, "omp_get_max", 11) == 0;                  \
        ws_early_##name = (long (*)(long, long)) found;                                                               \
        return ws_early_##name(a, b);                                                                                 \
    }                                                                                                                 \
    JUMP(name)
FUNCTIONS(FIRST)
