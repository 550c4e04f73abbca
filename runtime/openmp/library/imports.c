/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "openmp/library/imports.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* State of the kernel's for each thread, or a search through all of a process's threads (setuid() waits for each of
 * them to answer, and one whose identity is borrowed does not). */
static const char *const of_thread[] = {
    "gettid",
    "syscall",
    "pthread_sigmask",
    "sigprocmask",
    "sigaltstack",
    "pthread_setaffinity_np",
    "sched_setaffinity",
    "pthread_setschedparam",
    "sched_setscheduler",
    "timer_create",
    "pthread_getcpuclockid",
    "set_mempolicy",
    "numa_run_on_node",
    "hwloc_set_cpubind",
    "hwloc_set_membind",
    "pthread_mutexattr_setprotocol",
    "pthread_mutexattr_setrobust",
    "setuid",
    "setgid",
    "seteuid",
    "setegid",
    "setreuid",
    "setregid",
    "setresuid",
    "setresgid",
    "setgroups",
    "initgroups",
    "unshare",
    "setns",
    "prctl",
};
static const char *const of_sanitizers[] = {"__asan_init", "__tsan_init"};
/* Tasks of virtual threads run when they are created: they cannot wait for what comes after them. */
static const char *const of_tasks[] = {"omp_fulfill_event", "omp_fulfill_event_"};
static const char *const libraries[] = {"libgomp.so", "libomp.so", "libiomp5.so"};

/* Libraries of the system, and those that MPI and libws bring, call such functions for themselves. */
static const char *const trusted[] = {
    "libc.so",     "libm.so",      "libpthread.so",  "libdl.so",        "librt.so",   "ld-linux",
    "libgcc_s.so", "libstdc++.so", "libgfortran.so", "libquadmath.so",  "libgomp.so", "libomp.so",
    "libiomp5.so", "libws",        "libmpi",         "libucp.so",       "libuct.so",  "libucs.so",
    "libucm.so",   "libhwloc.so",  "libpmi",         "libfabric.so",    "libnuma.so", "libatomic.so",
    "libz.so",     "libudev.so",   "libcap.so",      "libpciaccess.so", "libxml2.so", "libicu",
    "liblzma.so",  "libnl-",       "librdmacm.so",   "libibverbs.so",   "linux-vdso", "libopen-",
    "libevent",    "libc++",       "libcaf_",        "libslurm",        "libpsm",     "libefa.so",
    "libmlx",      "libbsd.so",    "libmd.so",       "libubsan.so",      "libucc.so", "libopen_mpi", "libcrypto.so",
};

static int begins_with_one(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return 1;
    return 0;
}

static const char *is_one(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return words[i];
    return NULL;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *ws_next_name(const char **names, size_t *length)
{
    static const char between[] = ",: "; /* colons, as commas end an item of WORKSHARE */
    const char *name = *names ? *names + strspn(*names, between) : "";
    *length = strcspn(name, between);
    *names = name + *length;
    return *length ? name : NULL;
}

int ws_is_trusted(const char *names, const char *path)
{
    const char *file = *path ? name_of(path) : "program", *name;
    for (size_t length; (name = ws_next_name(&names, &length));)
        if (strncmp(file, name, length) == 0 && (file[length] == '\0' || file[length] == '.'))
            return 1;
    return 0;
}

int ws_tell_import(char *text, size_t room, const struct ws_imports *found, const char *whose)
{
    return snprintf(text, room, "%s%s uses %s(), which depends on system threads (-workshare-openmp-trust)", whose,
                    found->file, found->function);
}

/* By the table that the loader itself uses. */
static int exports(const uint32_t *table, const ElfW(Sym) *symbols, const char *names, const char *name)
{
    const uint32_t buckets = table[0], first = table[1], bloom = table[2];
    const uint32_t *bucket = table + 4 + bloom * (sizeof(ElfW(Addr)) / sizeof *table), *chain = bucket + buckets;
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char) *c;
    uint32_t i = buckets ? bucket[hash % buckets] : 0;
    for (; i >= first && i; i++) {
        if ((chain[i - first] | 1) == (hash | 1) && strcmp(names + symbols[i].st_name, name) == 0)
            return 1;
        if (chain[i - first] & 1)
            break;
    }
    return 0;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

int ws_look_at_imports(struct dl_phdr_info *info, size_t size, void *found)
{
    (void) size;
    struct ws_imports *look = found;
    const char *file = name_of(info->dlpi_name);
    look->has_library |= begins_with_one(file, libraries, COUNT(libraries));
    if (*file && begins_with_one(file, trusted, COUNT(trusted)))
        return 0;
    if (!look->program.dlpi_phdr) /* the first one */
        look->program = *info;
    const ElfW(Sym) *symbols = NULL;
    const char *names = NULL;
    const uint32_t *hash = NULL, *gnu_hash = NULL;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
             d->d_tag != DT_NULL; d++) {
            /* glibc has made these addresses, but not in the vdso. */
            const void *at =
                (const void *)(d->d_un.d_ptr < info->dlpi_addr ? d->d_un.d_ptr + info->dlpi_addr : d->d_un.d_ptr);
            if (d->d_tag == DT_SYMTAB)
                symbols = at;
            else if (d->d_tag == DT_STRTAB)
                names = at;
            else if (d->d_tag == DT_HASH)
                hash = at;
            else if (d->d_tag == DT_GNU_HASH)
                gnu_hash = at;
        }
    }
    if (!symbols || !names)
        return 0;
    const int is_trusted = ws_is_trusted(look->trusted, info->dlpi_name);
    /* Imports stand before what the GNU table lists. */
    const uint32_t count = gnu_hash ? gnu_hash[1] : hash ? hash[1] : 0;
    for (uint32_t i = 1; i < count; i++) {
        if (symbols[i].st_shndx != SHN_UNDEF)
            continue;
        const char *name = names + symbols[i].st_name, *one;
        if (!look->function && !is_trusted && (one = is_one(name, of_thread, COUNT(of_thread)))) {
            look->function = one;
            look->file = *file ? file : "the program";
        }
        if ((one = is_one(name, of_sanitizers, COUNT(of_sanitizers))))
            look->sanitizer = one;
        if ((one = is_one(name, of_tasks, COUNT(of_tasks))))
            look->event = *file ? file : "the program";
    }
    look->tool |= !*file && gnu_hash && exports(gnu_hash, symbols, names, "ompt_start_tool");
    return 0;
}
