/* SPDX-License-Identifier: MIT
 *
 * How MPICH finds the Workshare runtime. Included by mpir_progress_hook.c: a file of its own would need an
 * entry in Makefile.am, and with that autoconf and automake to build MPICH.
 */
#include "mpiimpl.h"
#include "mpir_workshare.h"
#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

/* libmpi_abi has a libws of its own, which is compiled with the standard's mpi.h: there, handles are pointers, and constants have other values
 * than in this file. */
#ifdef BUILD_MPI_ABI
#define LIBWS "libws_abi.so.1"
#define CLASS_OF_LIBWS(varclass) ((varclass) - 1 + MPI_T_PVAR_CLASS_STATE)
#define SCOPE_OF_LIBWS(scope) ((scope) - 1 + MPI_T_SCOPE_CONSTANT)
#define LEVEL_FOR_LIBWS(level) ((level) == MPI_THREAD_SINGLE ? 0 : 512 << (level))
typedef void *Comm_of_program, *Info_of_program, *Datatype_of_program;
#else
#define LIBWS "libws.so.1"
#define CLASS_OF_LIBWS(varclass) (varclass)
#define SCOPE_OF_LIBWS(scope) (scope)
#define LEVEL_FOR_LIBWS(level) (level)
typedef MPI_Comm Comm_of_program;
typedef MPI_Info Info_of_program;
typedef MPI_Datatype Datatype_of_program;
#endif

#if MPICH_NUMVERSION < 40200000
static MPIR_Errflag_t no_error = MPIR_ERR_NONE;
#define NO_ERROR &no_error
#elif MPICH_NUMVERSION < 50000000
#define NO_ERROR MPIR_ERR_NONE
#else
#define NO_ERROR MPIR_COLL_ATTR_SYNC
#endif
#if MPICH_NUMVERSION < 50000000
#define MPIR_INT_INTERNAL MPI_INT
#endif

MPIR_Workshare_hooks MPIR_Workshare;
__thread MPIR_Workshare_call_t MPIR_Workshare_call;
int MPIR_Workshare_notes_calls;

/* The runtime belongs to this very MPICH: libws in libmpich's folder is preferred to any in the search path. */
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

/* Returns whether `word` is the first item of a list separated by commas. */
static int begins_with(const char *list, const char *word)
{
    size_t length = strlen(word);
    list += strspn(list, " \t");
    if (strncmp(list, word, length))
        return 0;
    list += length;
    list += strspn(list, " \t");
    return *list == ',' || !*list;
}

/* Returns what the environment said when MPI began: libws removes its variables later, so that children do not inherit
 * them. A program that is linked with libws has WS_ENABLE from it. Under another launcher, a program that is not may have
 * only the other spellings (runtime/options/spelling.h has all of them, in the same order). */
static int is_enabled(void)
{
    static int enabled = -1;
    if (enabled < 0) {
        const char *enable = getenv("WS_ENABLE"), *list = getenv("WORKSHARE");
        if (!enable)
            enable = getenv("WORKSHARE_ENABLE");
        enabled = enable ? !strcmp(enable, "1") : list && begins_with(list, "on");
    }
    return enabled;
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

unsigned MPIR_Workshare_quick_polls;

/* A wait that comes here before MPIR_Workshare_quick_polls polls slowly: it has waited as long after fewer polls. */
void MPIR_Workshare_turn(unsigned *polls)
{
    if (*polls < MPIR_WORKSHARE_POLLS - MPIR_WORKSHARE_SLOW_POLLS)
        *polls = MPIR_WORKSHARE_POLLS - MPIR_WORKSHARE_SLOW_POLLS;
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Workshare_blocked(polls);
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

void MPIR_Workshare_looked(void)
{
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Workshare.polled();
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

void MPIR_Workshare_tell_taken(void)
{
    if (*MPIR_Workshare.senders_waiting || MPIR_Workshare.sends_open > 0)
        MPIR_Workshare.taken();
}

void MPIR_Workshare_handled(void)
{
    MPIR_Workshare.events++;
    MPIR_Workshare_taken();
}

/* MPICH's functions are "internal_Send" in the source, ROMIO's "PMPI_File_delete" or "MPI_FILE_READ". Each gets its MPI name when
 * it is asked for the first time. The table has more rows than MPI has functions. */
static const char *public_name(const char *source)
{
    static struct {
        const char *source, *name;
    } rows[2048];
    static MPL_initlock_t lock = MPL_INITLOCK_INITIALIZER;
    const size_t count = sizeof(rows) / sizeof(rows[0]);
    size_t i = ((uintptr_t) source / 8) % count, same;
    const char *there;
    char name[64], *c;

    while ((there = __atomic_load_n(&rows[i].source, __ATOMIC_ACQUIRE)) && there != source)
        i = (i + 1) % count;
    if (there)
        return rows[i].name;

    if (!strncmp(source, "internal_", 9)) {
        snprintf(name, sizeof(name), "MPI_%s", source + 9);
    } else if (!strncmp(source, "internalX_", 10)) {
        snprintf(name, sizeof(name), "MPIX_%s", source + 10);
    } else {
        snprintf(name, sizeof(name), "%s", source + !strncmp(source, "PMPI", 4));
        if (!strncmp(name, "MPI_", 4) && isupper(name[4]) && isupper(name[5]))
            for (c = name + 5; *c; c++)
                *c = tolower(*c);
    }
    MPL_initlock_lock(&lock);
    while (rows[i].source && rows[i].source != source)
        i = (i + 1) % count;
    if (!rows[i].source) {
        for (same = 0; same < count && !(rows[same].source && !strcmp(rows[same].name, name)); same++);
        rows[i].name = same < count ? rows[same].name : MPL_strdup(name);
        __atomic_store_n(&rows[i].source, source, __ATOMIC_RELEASE);
    }
    MPL_initlock_unlock(&lock);
    return rows[i].name;
}

/* Called from inside the function, if there is one: a frame that is not below it is a leftover of one that never returned. */
static const char *call_name(void)
{
    if ((uintptr_t) __builtin_frame_address(0) >= MPIR_Workshare_call.frame)
        return NULL;
    return public_name(MPIR_Workshare_call.name);
}

static const void *call_site(void)
{
    if ((uintptr_t) __builtin_frame_address(0) >= MPIR_Workshare_call.frame)
        return NULL;
#if defined(__x86_64__) || defined(__aarch64__)
    return ((const void *const *) MPIR_Workshare_call.frame)[1];
#else
    return NULL;
#endif
}

void MPIR_Workshare_grequest_wait(MPIR_Request * request_ptr, MPI_Status * status)
{
    MPIR_WORKSHARE_WAIT(polls);

    while (MPIR_Workshare.blocked && MPIR_Request_has_poll_fn(request_ptr) && !MPIR_Request_is_complete(request_ptr)) {
        MPIR_Grequest_poll(request_ptr, status);
        MPIR_Workshare_turn(&polls);    /* that may have taken long */
    }
}

static int is_on_one_node(const MPIR_Comm * comm_ptr)
{
#if MPICH_NUMVERSION < 50000000
    return comm_ptr->node_comm && comm_ptr->node_comm->local_size == comm_ptr->local_size;
#else
    return (comm_ptr->attr & MPIR_COMM_ATTR__HIERARCHY) && (comm_ptr->hierarchy_flags & MPIR_COMM_HIERARCHY__SINGLE_NODE);
#endif
}

int MPIR_Workshare_agree_on_mask(uint32_t * mask, MPIR_Comm * comm_ptr, MPIR_Workshare_errflag_t errflag)
{
    int mpi_errno;
    const int count = MPIR_MAX_CONTEXT_MASK + 1;

    if (!MPIR_Workshare.crowded || !is_on_one_node(comm_ptr))
        return MPIR_Allreduce_impl(MPI_IN_PLACE, mask, count, MPIR_INT_INTERNAL, MPI_BAND, comm_ptr, errflag);
    mpi_errno = MPIR_Reduce_impl(comm_ptr->rank == 0 ? MPI_IN_PLACE : mask, mask, count, MPIR_INT_INTERNAL, MPI_BAND, 0,
                                 comm_ptr, errflag);
    if (mpi_errno)
        return mpi_errno;
    return MPIR_Bcast_impl(mask, count, MPIR_INT_INTERNAL, 0, comm_ptr, errflag);
}

void MPIR_Workshare_sleep_while(MPL_atomic_int_t * word, int value)
{
    int turns = 0;

    while (MPL_atomic_load_int(word) == value) {
        if (turns++ < 100)
            MPL_sched_yield();
        else
            syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
    }
}

void MPIR_Workshare_wake(MPL_atomic_int_t * word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static __thread const char *told_of;

void MPIR_Workshare_tell_begin(void)
{
    if (MPIR_Workshare_call.told)       /* it never returned */
        MPIR_Workshare.called(told_of, 0);
    MPIR_Workshare_call.told = 1;
    told_of = public_name(MPIR_Workshare_call.name);
    MPIR_Workshare.called(told_of, 1);
}

void MPIR_Workshare_tell_end(void)
{
    MPIR_Workshare_call.told = 0;
    if (MPIR_Workshare.called)
        MPIR_Workshare.called(told_of, 0);
}

static int initialized;         /* the environment is read */

/* What libws shows in MPI_T, with the values of its control variables that are numbers; nothing before MPIR_Workshare_mpi_t_init */
static const MPIR_Workshare_variables_t *shown;
static unsigned *numbers;
static void **places;           /* of all its control variables: what MPI_T reads and writes */

/* `addr` is the variable's row. */
static void pvar_value(void *addr, void *obj_handle, int count, void *buf)
{
    const MPIR_Workshare_pvar_t *p = addr;
    unsigned long long value = shown->pvar(p - shown->pvars);

    switch (CLASS_OF_LIBWS(p->varclass)) {
        case MPI_T_PVAR_CLASS_STATE:
            *(int *) buf = value;
            break;
        case MPI_T_PVAR_CLASS_LEVEL:
            *(unsigned *) buf = value;
            break;
        case MPI_T_PVAR_CLASS_TIMER:
            *(double *) buf = 1e-9 * value;
            break;
        default:
            *(unsigned long long *) buf = value;
    }
}

static const char category[] = "WORKSHARE";

static void *register_text(const MPIR_Workshare_cvar_t * c)
{
    MPIR_T_cvar_value_t def;
    const char *set = getenv(c->name);

    def.str = set && strlen(set) < c->length ? set : c->text;
    MPIR_T_CVAR_REGISTER_impl(MPI_CHAR, c->name, NULL, c->length, MPI_T_ENUM_NULL, MPI_T_VERBOSITY_USER_BASIC,
                              MPI_T_BIND_NO_OBJECT, SCOPE_OF_LIBWS(c->scope), NULL, NULL, def, category, c->desc);
    return LOOKUP_CVAR_BY_NAME(c->name)->addr;
}

static void *register_number(const MPIR_Workshare_cvar_t * c, unsigned *place)
{
    MPIR_T_cvar_value_t def;
    const char *set = getenv(c->name);
    char *end;
    unsigned long value = set ? strtoul(set, &end, 10) : 0;

    def.u = c->value;
    *place = set && isdigit(*set) && !*end && value >= c->least && value <= c->most ? value : c->value;
    MPIR_T_CVAR_REGISTER_impl(MPI_UNSIGNED, c->name, place, 1, MPI_T_ENUM_NULL, MPI_T_VERBOSITY_USER_BASIC,
                              MPI_T_BIND_NO_OBJECT, SCOPE_OF_LIBWS(c->scope), NULL, NULL, def, category, c->desc);
    return place;
}

void MPIR_Workshare_mpi_t_init(void)
{
    MPIR_Workshare_variables_fn ask = NULL;
    void *lib = shown ? NULL : open_libws();
    MPI_T_enum states;
    int i;

    if (lib)
        ask = (MPIR_Workshare_variables_fn) dlsym(lib, MPIR_WORKSHARE_VARIABLES_NAME);
    if (!ask || !(shown = ask(MPIR_WORKSHARE_VERSION)))
        return;

    numbers = MPL_calloc(shown->cvar_count, sizeof(*numbers), MPL_MEM_MPIT);
    places = MPL_calloc(shown->cvar_count, sizeof(*places), MPL_MEM_MPIT);
    MPIR_Assert(numbers && places);
    for (i = 0; i < shown->cvar_count; i++) {
        const MPIR_Workshare_cvar_t *c = &shown->cvars[i];
        places[i] = c->length ? register_text(c) : register_number(c, &numbers[i]);
    }

    MPIR_T_enum_create("WS_STATE", &states);
    for (i = 0; shown->states[i]; i++)
        MPIR_T_enum_add_item(states, shown->states[i], i);
    for (i = 0; i < shown->pvar_count; i++) {
        const MPIR_Workshare_pvar_t *p = &shown->pvars[i];
        int varclass = CLASS_OF_LIBWS(p->varclass), is_state = varclass == MPI_T_PVAR_CLASS_STATE;
        MPI_Datatype type = is_state ? MPI_INT : varclass == MPI_T_PVAR_CLASS_LEVEL ? MPI_UNSIGNED :
            varclass == MPI_T_PVAR_CLASS_TIMER ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG;
        MPIR_T_PVAR_REGISTER_impl(varclass, type, p->name, (void *) p, 1, is_state ? states : MPI_T_ENUM_NULL,
                                  MPI_T_VERBOSITY_USER_BASIC, MPI_T_BIND_NO_OBJECT,
                                  MPIR_T_PVAR_FLAG_READONLY | MPIR_T_PVAR_FLAG_CONTINUOUS, pvar_value, NULL, category, p->desc);
    }
    MPIR_T_cat_add_desc(category, "Ranks that wait in MPI run loop iterations of ranks that compute");
}

/* Until MPI_Init a write is as good as the environment: libws reads that. Later libws decides what it can change. */
int MPIR_Workshare_cvar_write(const void *place, const void *value)
{
    const MPIR_Workshare_cvar_t *c;
    int i = 0, scope;
    char number[16];

    while (shown && i < shown->cvar_count && places[i] != place)
        i++;
    if (!shown || i == shown->cvar_count)
        return MPI_SUCCESS;
    c = &shown->cvars[i];
    scope = SCOPE_OF_LIBWS(c->scope);
    if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY)   /* MPICH 4.2 looks at that from MPI_Init on only */
        return MPI_T_ERR_CVAR_SET_NEVER;
    if (c->length && strlen(value) >= c->length)
        return MPI_T_ERR_INVALID;
    if (initialized && !is_enabled())   /* nobody will ever read it but the tool */
        return MPI_SUCCESS;
    if (!c->length) {
        unsigned v = *(const unsigned *) value;
        if (v < c->least || v > c->most)
            return MPI_T_ERR_INVALID;
        if (initialized && shown->set_cvar(i, v) == 0)
            return MPI_SUCCESS;
        snprintf(number, sizeof(number), "%u", v);
    }
    if (initialized)
        return MPI_T_ERR_CVAR_SET_NOT_NOW;
    if (setenv(c->name, c->length ? value : number, 1))
        return MPI_T_ERR_MEMORY;
    return MPI_SUCCESS;
}

/* Until libws is loaded: with more ranks than cores, the ranks that others wait for in MPI_Init must get a core. */
static void yield(unsigned polls)
{
    sched_yield();
}

/* The functions of workshare/mpix.h and xmpi.h. libws has them as ws_..., and is loaded when one is first called. In a job without -workshare,
 * ranks that share cores would spin while others need the core, so they yield. */
static void *mpix_function(const char *name, const char *in_libws)
{
    static void *lib;
    void *f = NULL;

    if (!lib && !(lib = open_libws()))
        fprintf(stderr, "workshare: error: %s: cannot load " LIBWS ": %s\n", name, dlerror());
    if (lib && !(f = dlsym(lib, in_libws)))
        fprintf(stderr, "workshare: error: %s: %s\n", name, dlerror());
    return f;
}

static int mpix_missing(const char *name)
{
    int err = MPIR_Err_create_code(MPI_SUCCESS, MPIR_ERR_RECOVERABLE, name, __LINE__, MPI_ERR_UNSUPPORTED_OPERATION, "**notimpl",
                                   "%s", "there is no " LIBWS);
    return MPIR_Err_return_comm(NULL, name, err);
}

static int yield_begin(void)
{
    if (MPIR_Workshare.blocked)
        return 0;
    MPIR_Workshare.blocked = yield;
    return 1;
}

static void yield_end(int began)
{
    if (began && MPIR_Workshare.blocked == yield)
        MPIR_Workshare.blocked = NULL;
}

#define MPIX_IN_LIBWS(name, parameters, arguments) \
    MPICH_API_PUBLIC int name parameters; \
    int name parameters { \
        static int (*f) parameters; \
        int yields, err; \
        if (!f && !(f = (int (*) parameters) mpix_function(#name, "ws_" #name))) \
            return mpix_missing(#name); \
        yields = yield_begin(); \
        err = f arguments; \
        yield_end(yields); \
        return err; \
    }
MPIX_IN_LIBWS(MPIX_Load_create, (Comm_of_program comm, const double *loads, Info_of_program info, Comm_of_program * newcomm),
              (comm, loads, info, newcomm))
MPIX_IN_LIBWS(MPIX_Dist_load_create,
              (Comm_of_program comm, int count, const int *ranks, const double *loads, Info_of_program info, Comm_of_program * newcomm),
              (comm, count, ranks, loads, info, newcomm))
MPIX_IN_LIBWS(MPIX_Load_graph_create,
              (Comm_of_program comm, const double *loads, int indegree, const int *sources, const int *sourceweights, int outdegree,
               const int *destinations, const int *destweights, Info_of_program info, Comm_of_program * newcomm),
              (comm, loads, indegree, sources, sourceweights, outdegree, destinations, destweights, info, newcomm))
MPIX_IN_LIBWS(MPIX_Load_active, (Comm_of_program comm, int *active, Comm_of_program * activecomm), (comm, active, activecomm))
MPIX_IN_LIBWS(MPIX_Load_imbalance, (Comm_of_program comm, double *max_over_mean), (comm, max_over_mean))

/* A partition is an int (xmpi.h). */
MPIX_IN_LIBWS(XMPI_Get_wsize, (Comm_of_program comm, MPI_Count rows, Info_of_program info, int *partition, MPI_Count * count, MPI_Count * displ),
              (comm, rows, info, partition, count, displ))
MPIX_IN_LIBWS(XMPI_Get_counts, (int partition, MPI_Count * counts, MPI_Count * displs), (partition, counts, displs))
MPIX_IN_LIBWS(XMPI_Register, (int partition, void *address, MPI_Count width, Datatype_of_program type, int layout),
              (partition, address, width, type, layout))
MPIX_IN_LIBWS(XMPI_Register_csr,
              (int partition, void *starts, Datatype_of_program start_type, void *columns, Datatype_of_program column_type, void *values,
               Datatype_of_program value_type), (partition, starts, start_type, columns, column_type, values, value_type))
MPIX_IN_LIBWS(XMPI_Set_resize, (int partition, void *address, int (*resize) (void *, MPI_Count)), (partition, address, resize))
MPIX_IN_LIBWS(XMPI_Deregister, (int partition, void *address), (partition, address))
MPIX_IN_LIBWS(XMPI_Set_work, (int partition, double work), (partition, work))
MPIX_IN_LIBWS(XMPI_Resize, (int partition, int processes), (partition, processes))
MPIX_IN_LIBWS(XMPI_Set_comm, (Comm_of_program comm, int *partition), (comm, partition))
MPIX_IN_LIBWS(XMPI_Set_goal, (int partition, int goal, double value), (partition, goal, value))
MPIX_IN_LIBWS(XMPI_Monitor_begin, (int partition), (partition))
MPIX_IN_LIBWS(XMPI_Monitor_end, (int partition, MPI_Count * count, MPI_Count * displ, int *moved), (partition, count, displ, moved))
MPIX_IN_LIBWS(XMPI_Monitor_end_begin, (int partition), (partition))
MPIX_IN_LIBWS(XMPI_Monitor_end_finish, (int partition, MPI_Count * count, MPI_Count * displ, int *moved), (partition, count, displ, moved))
MPIX_IN_LIBWS(XMPI_Partition_free, (int *partition), (partition))
MPIX_IN_LIBWS(XMPI_Alloc, (MPI_Count bytes, void *address), (bytes, address))
MPIX_IN_LIBWS(XMPI_Free, (void *address), (address))

/* The same for Fortran (mpix.mod, mpix_f08.mod, xmpi.mod): addresses only. */
#define MPIX_FORTRAN(name, parameters, arguments) \
    MPICH_API_PUBLIC void name parameters; \
    void name parameters { \
        static void (*f) parameters; \
        int yields; \
        if (!f && !(f = (void (*) parameters) mpix_function(#name, "ws_" #name))) { \
            int err = mpix_missing(#name); \
            if (ierr) \
                *ierr = err; \
            return; \
        } \
        yields = yield_begin(); \
        f arguments; \
        yield_end(yields); \
    }
MPIX_FORTRAN(mpix_load_create_, (void *a, void *b, void *c, void *d, int *ierr), (a, b, c, d, ierr))
MPIX_FORTRAN(mpix_load_create_measured_, (void *a, void *b, void *c, void *d, int *ierr), (a, b, c, d, ierr))
MPIX_FORTRAN(mpix_dist_load_create_, (void *a, void *b, void *c, void *d, void *e, void *f_, int *ierr), (a, b, c, d, e, f_, ierr))
MPIX_FORTRAN(mpix_dist_load_create_measured_, (void *a, void *b, void *c, void *d, void *e, void *f_, int *ierr), (a, b, c, d, e, f_, ierr))
MPIX_FORTRAN(mpix_load_graph_create_,
             (void *a, void *b, void *c, void *d, void *e, void *f_, void *g, void *h, void *i, void *j, int *ierr),
             (a, b, c, d, e, f_, g, h, i, j, ierr))
MPIX_FORTRAN(mpix_load_graph_create_measured_,
             (void *a, void *b, void *c, void *d, void *e, void *f_, void *g, void *h, void *i, void *j, int *ierr),
             (a, b, c, d, e, f_, g, h, i, j, ierr))
MPIX_FORTRAN(mpix_load_active_, (void *a, void *b, void *c, int *ierr), (a, b, c, ierr))
MPIX_FORTRAN(mpix_load_is_active_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(mpix_load_imbalance_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(xmpi_get_wsize_, (void *a, void *b, void *c, void *d, void *e, void *f_, int *ierr), (a, b, c, d, e, f_, ierr))
MPIX_FORTRAN(xmpi_get_counts_, (void *a, void *b, void *c, int *ierr), (a, b, c, ierr))
MPIX_FORTRAN(xmpi_register_, (void *a, void *b, void *c, void *d, void *e, int *ierr), (a, b, c, d, e, ierr))
MPIX_FORTRAN(xmpi_register_csr_, (void *a, void *b, void *c, void *d, void *e, void *f_, void *g, int *ierr), (a, b, c, d, e, f_, g, ierr))
MPIX_FORTRAN(xmpi_deregister_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(xmpi_set_work_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(xmpi_resize_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(xmpi_set_comm_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(xmpi_set_goal_, (void *a, void *b, void *c, int *ierr), (a, b, c, ierr))
MPIX_FORTRAN(xmpi_monitor_begin_, (void *a, int *ierr), (a, ierr))
MPIX_FORTRAN(xmpi_monitor_end_, (void *a, void *b, void *c, void *d, int *ierr), (a, b, c, d, ierr))
MPIX_FORTRAN(xmpi_monitor_end_begin_, (void *a, int *ierr), (a, ierr))
MPIX_FORTRAN(xmpi_monitor_end_finish_, (void *a, void *b, void *c, void *d, int *ierr), (a, b, c, d, ierr))
MPIX_FORTRAN(xmpi_partition_free_, (void *a, int *ierr), (a, ierr))
MPIX_FORTRAN(xmpi_alloc_, (void *a, void *b, int *ierr), (a, b, ierr))
MPIX_FORTRAN(xmpi_free_, (void *a, int *ierr), (a, ierr))

int MPIR_Workshare_thread_level(int level)
{
    if (is_enabled())
        MPIR_Workshare.blocked = yield;
    MPIR_Workshare.thread_level_asked = LEVEL_FOR_LIBWS(level);
    MPIR_Workshare.let_threads_in = let_threads_in;
    MPIR_Workshare.call_name = call_name;
    MPIR_Workshare.call_site = call_site;
    if (is_enabled() &&
        (level == MPI_THREAD_SERIALIZED || (used_features() & MPIR_WORKSHARE_USES_MPI_IN_LOOPS)))
        return MPI_THREAD_MULTIPLE;
    return level;
}

void MPIR_Workshare_tell_launcher(const char *call)
{
    static int has_left;        /* it was told so; a session may come after MPI_Finalize */
    const int leaves = !strcmp(call, "no-MPI");

    if (leaves || has_left || getenv("MPIR_WORKSHARE_TELL"))
        MPIR_pmi_kvs_put("workshare-is-in", call);
    has_left = leaves;
}

/* MPI_Allreduce of ints over MPI_COMM_WORLD. Functions of MPI itself take a program's handles, which may be those of the standard's ABI. */
static int reduce_for_all(const int *here, int *all, int count, MPI_Op op)
{
    int err;

    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    err = MPIR_Allreduce(here, all, count, MPIR_INT_INTERNAL, op, MPIR_Process.comm_world, NO_ERROR);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    return err;
}

/* Names the ranks on both sides, once, and ends the job. */
static void refuse_to_differ(int enabled)
{
    const int rank = MPIR_Process.rank, size = MPIR_Process.size;
    int *each = MPL_calloc(size, sizeof(int), MPL_MEM_OTHER);
    int *all = MPL_calloc(size, sizeof(int), MPL_MEM_OTHER);
    int i, side, nothing = 0;

    each[rank] = enabled;
    if (reduce_for_all(each, all, size, MPI_SUM) == MPI_SUCCESS && rank == 0) {
        char lists[2][256];     /* in ranges: "0-3,5" */
        for (side = 0; side < 2; side++) {
            char *list = lists[side];
            size_t length = 0, room = sizeof(lists[side]);
            for (i = 0; i < size; i++) {
                int first = i;
                if (all[i] != side)
                    continue;
                while (i + 1 < size && all[i + 1] == side)
                    i++;
                if (length + 32 > room) {
                    snprintf(list + length, room - length, ",...");
                    break;
                }
                length += snprintf(list + length, room - length, "%s%d", length ? "," : "", first);
                if (i > first)
                    length += snprintf(list + length, room - length, "-%d", i);
            }
        }
        fprintf(stderr, "workshare: error: some ranks have WS_ENABLE=1 in their environment (%s), others do not (%s): start all with "
                "-workshare, or none; ending the job\n", lists[1], lists[0]);
        fflush(stderr);
    }
    reduce_for_all(&nothing, &i, 1, MPI_MAX);       /* the message is written */
    usleep(150000);             /* and has passed the pipes of mpirun, which an abort discards */
    if (!freopen("/dev/null", "w", stderr))     /* MPI_Abort's own words, from each rank, would bury it */
        _exit(1);
    MPIR_Abort_impl(MPIR_Process.comm_world, 1);
}

/* Returns whether any rank has node-wide locks: attaching is collective, and the ranks' programs and environments may differ. */
static int agree(int enabled)
{
    int here[3] = { (used_features() & MPIR_WORKSHARE_USES_LOCKS) != 0, enabled, !enabled }, any[3];
    if (reduce_for_all(here, any, 3, MPI_MAX) != MPI_SUCCESS)
        return 0;
    if (any[1] && any[2])
        refuse_to_differ(enabled);
    return any[0];
}

static void load_and_attach(void)
{
    MPIR_Workshare_attach_fn attach = NULL;
    const char *why = NULL;
    unsigned what = is_enabled()? MPIR_WORKSHARE_STEAL : 0;
    void *lib;
    int ok, all_ok, locks;

    initialized = 1;
    locks = agree(what != 0);
    if (!what && !locks)
        return;

    if ((lib = open_libws()))
        attach = (MPIR_Workshare_attach_fn) dlsym(lib, MPIR_WORKSHARE_ATTACH_NAME);
    if (!attach)
        why = dlerror();

    /* Attaching is collective: all ranks or none. */
    ok = attach != NULL;
    if (reduce_for_all(&ok, &all_ok, 1, MPI_MIN) != MPI_SUCCESS)
        all_ok = 0;
    if (all_ok) {
#ifdef BUILD_MPI_ABI
        /* libws calls MPI before the program's MPI_Init returns, which does this last */
        void ABI_init_builtins(void);
        ABI_init_builtins();
#endif
        /* The hooks themselves, not a copy: libws takes back blocked and ring while it still finalizes. */
        if (attach(MPIR_WORKSHARE_VERSION, what, &MPIR_Workshare) != 0)
            memset(&MPIR_Workshare, 0, sizeof(MPIR_Workshare));
        else if (what) {
            MPIR_Workshare_notes_calls = 1;     /* the start of the current call was not recorded, nor is its end */
            if (MPIR_Process.local_size == MPIR_Process.size)
                MPIR_Workshare_quick_polls = MPIR_WORKSHARE_POLLS;
        }
        return;
    }

    MPIR_Workshare.blocked = NULL;
    if (MPIR_Process.rank == 0)
        fprintf(stderr, "workshare: warning: cannot load " LIBWS ": %s; running without %s\n",
                why ? why : "it failed on another rank",
                what ? "sharing" : "critical sections between ranks");
}

/* The first thread that comes does it, once; others wait. */
void MPIR_Workshare_init(void)
{
    static MPL_initlock_t lock = MPL_INITLOCK_INITIALIZER;

    MPL_initlock_lock(&lock);
    if (!initialized)
        load_and_attach();
    MPL_initlock_unlock(&lock);
}

void MPIR_Workshare_init_from_group(int is_world)
{
    if (!is_world)
        return;
    /* MPICH 5.0 makes the communicator of a group without it */
    MPL_initlock_lock(&MPIR_init_lock);
    if (!MPIR_Process.comm_world)
        MPIR_init_comm_world();
    MPL_initlock_unlock(&MPIR_init_lock);
    MPID_THREAD_CS_EXIT(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
    MPIR_Workshare_init();
    MPID_THREAD_CS_ENTER(GLOBAL, MPIR_THREAD_GLOBAL_ALLFUNC_MUTEX);
}

void MPIR_Workshare_finalize(void)
{
    if (MPIR_Workshare.finalize) {
        MPIR_Workshare_tell_launcher("MPI_Finalize");
        MPIR_Workshare.finalize();
        MPIR_Workshare_tell_launcher("none");   /* the program's callbacks are next, and may take long */
    }
    memset(&MPIR_Workshare, 0, sizeof(MPIR_Workshare));
}
