/* SPDX-License-Identifier: MIT
 *
 * How MPICH finds the Workshare runtime. Included by mpir_progress_hook.c: a file of its own would need an
 * entry in Makefile.am, and with that autoconf and automake to build MPICH.
 */
#include "mpiimpl.h"
#include "mpir_workshare.h"
#include <dlfcn.h>

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

void MPIR_Workshare_init(void)
{
    MPIR_Workshare_attach_fn attach = NULL;
    const char *enable = getenv("WS_ENABLE"), *why = NULL;
    void *lib;
    int rank, ok, all_ok;

    if (!enable || strcmp(enable, "1"))
        return;

    if ((lib = open_libws()))
        attach = (MPIR_Workshare_attach_fn) dlsym(lib, MPIR_WORKSHARE_ATTACH_NAME);
    if (!attach)
        why = dlerror();

    /* Attaching is collective: all ranks or none. */
    ok = attach != NULL;
    if (PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD) != MPI_SUCCESS)
        return;
    if (all_ok) {
        /* The hooks themselves, not a copy: libws takes back blocked and ring while it still finalizes. */
        if (attach(MPIR_WORKSHARE_VERSION, &MPIR_Workshare) != 0)
            memset(&MPIR_Workshare, 0, sizeof(MPIR_Workshare));
        return;
    }

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "workshare: cannot load " LIBWS ": %s; running without stealing\n",
                why ? why : "it failed on another rank");
}

void MPIR_Workshare_finalize(void)
{
    if (MPIR_Workshare.finalize)
        MPIR_Workshare.finalize();
    memset(&MPIR_Workshare, 0, sizeof(MPIR_Workshare));
}
