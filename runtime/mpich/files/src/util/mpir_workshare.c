/* SPDX-License-Identifier: MIT
 *
 * How MPICH finds the Workshare runtime. Included by mpir_progress_hook.c: a file of its own would need an
 * entry in Makefile.am, and with that autoconf and automake to build MPICH.
 */
#include "mpiimpl.h"
#include "mpir_workshare.h"
#include <dlfcn.h>
#include <sched.h>

#define LIBWS "libws.so.1"

MPIR_Workshare_hooks MPIR_Workshare;

/* The runtime belongs to this very MPICH: the one beside libmpich goes before any that the search path has. */
static void *open_libws(void)
{
    char path[PATH_MAX];
    const char *slash;
    Dl_info self;

    if (dladdr(&MPIR_Workshare, &self) && (slash = strrchr(self.dli_fname, '/'))) {
        int len = snprintf(path, sizeof(path), "%.*s/" LIBWS, (int) (slash - self.dli_fname),
                           self.dli_fname);
        if (len < sizeof(path) && access(path, F_OK) == 0)
            return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    }
    return dlopen(LIBWS, RTLD_NOW | RTLD_GLOBAL);
}

static int is_enabled(void)
{
    const char *enable = getenv("WS_ENABLE");
    return enable && !strcmp(enable, "1");
}

static unsigned used_features(void)
{
    const unsigned *features = (const unsigned *) dlsym(RTLD_DEFAULT, MPIR_WORKSHARE_FEATURES_NAME);
    return features ? *features : 0;
}

/* The locks are there whatever the level, and skipped while isThreaded is 0, as MPI_Init itself does. */
static void let_threads_in(int several)
{
#if defined(MPICH_IS_THREADED)
    if (MPIR_ThreadInfo.thread_provided != MPI_THREAD_MULTIPLE)
        MPIR_ThreadInfo.isThreaded = several;
#endif
}

/* Until libws is there: with more ranks than cores, those that others wait for in MPI_Init must get one. */
static void yield(unsigned polls)
{
    sched_yield();
}

int MPIR_Workshare_thread_level(int level)
{
    if (is_enabled())
        MPIR_Workshare.blocked = yield;
    MPIR_Workshare.thread_level_asked = level;
    MPIR_Workshare.let_threads_in = let_threads_in;
    if (is_enabled() &&
        (level == MPI_THREAD_SERIALIZED || (used_features() & MPIR_WORKSHARE_USES_MPI_IN_LOOPS)))
        return MPI_THREAD_MULTIPLE;
    return level;
}

/* Whether any rank of the job has node-wide locks: attaching is collective, and programs may differ. */
static int any_has_locks(void)
{
    int locks = (used_features() & MPIR_WORKSHARE_USES_LOCKS) != 0, any = 0;
    if (PMPI_Allreduce(&locks, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) != MPI_SUCCESS)
        return 0;
    return any;
}

void MPIR_Workshare_init(void)
{
    MPIR_Workshare_attach_fn attach = NULL;
    const char *why = NULL;
    unsigned what = is_enabled()? MPIR_WORKSHARE_STEAL : 0;
    void *lib;
    int rank, ok, all_ok;

    if (!what && !any_has_locks())
        return;

    if ((lib = open_libws()))
        attach = (MPIR_Workshare_attach_fn) dlsym(lib, MPIR_WORKSHARE_ATTACH_NAME);
    if (!attach)
        why = dlerror();

    /* Attaching is collective: all ranks or none. */
    ok = attach != NULL;
    if (PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS)
        all_ok = 0;
    if (all_ok) {
        /* The hooks themselves, not a copy: libws takes back blocked and ring while it still finalizes. */
        if (attach(MPIR_WORKSHARE_VERSION, what, &MPIR_Workshare) != 0)
            memset(&MPIR_Workshare, 0, sizeof(MPIR_Workshare));
        return;
    }

    MPIR_Workshare.blocked = NULL;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "workshare: cannot load " LIBWS ": %s; running without %s\n",
                why ? why : "it failed on another rank",
                what ? "stealing" : "critical sections between ranks");
}

void MPIR_Workshare_finalize(void)
{
    if (MPIR_Workshare.finalize)
        MPIR_Workshare.finalize();
    memset(&MPIR_Workshare, 0, sizeof(MPIR_Workshare));
}
