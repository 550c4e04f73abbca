/* SPDX-License-Identifier: MIT
 *
 * Rank 1 waits in MPI in every way there is a hook for, each time for a message or an epoch of rank 0 that comes late;
 * prints the ways in which it was not told that it is blocked. Then polls only: nothing may be told but, with FAKE_POLL
 * set, each look that found nothing.
 * Argument: `multiple` for MPI_THREAD_MULTIPLE; `mpi_t` for MPI_T's variables instead, `no_mpi_t` where there is no
 * libws to have them. With FAKE_CALLED set also: which function of MPI a thread is in.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct fake_counts {
    unsigned long blocked, waits, polled, taken, rings[16];
    unsigned long calls, nested;
    const char *first, *last;
    int level;
    const void *site;
};

static struct fake_counts *counts;
static struct fake_counts before;
static int rank, wrong;
static MPI_Comm comm;           /* rank 0 and 1 of the world, the other way round */
static MPI_Win win;

static void late(void)
{
    struct timespec ms20 = { 0, 20000000 };
    nanosleep(&ms20, NULL);
}

static void begin(void)
{
    MPI_Barrier(comm);
    before = *counts;
}

/* Receives, and tells the sender, who waits for it, that it has received. */
static void receive(const char *what, void *buffer, int count, MPI_Datatype type, int from)
{
    unsigned long taken = counts->taken;
    MPI_Recv(buffer, count, type, from, 0, comm, MPI_STATUS_IGNORE);
    if (counts->taken == taken) {
        printf("%s: the receiver does not say so\n", what);
        wrong = 1;
    }
}

static void look(const char *what, int found, int polled)
{
    if (found)
        return;
    if ((counts->polled > before.polled) != polled) {
        printf("%s: polled %s\n", what, polled ? "not called" : "called");
        wrong = 1;
    }
    before.polled = counts->polled;
}

static void end(const char *what, int told)
{
    int blocked = counts->blocked > before.blocked, waits = counts->waits > before.waits;
    if (rank == 1 && (blocked != told || waits != told)) {
        printf("%s: blocked %s, unblocked %s\n", what, blocked ? "called" : "not called",
               waits ? "called" : "not called");
        wrong = 1;
    }
    if (rank == 0 && counts->rings[1] == before.rings[1]) {
        printf("%s: rank 1 was not rung\n", what);
        wrong = 1;
    }
}

#define CHECK(condition) \
    do { if (!(condition)) { printf("line %d: not " #condition "\n", __LINE__); wrong = 1; } } while (0)

static void ignore(MPI_Comm *with, int *error, ...)
{
    (void)with;
    (void)error;
}

static jmp_buf out;

static void jump(MPI_Comm *with, int *error, ...)
{
    (void)with;
    (void)error;
    longjmp(out, 1);
}

static void *thread(void *name)
{
    unsigned long calls = counts->calls;
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK(counts->calls == calls + 1 && !strcmp(counts->last, name));
    return NULL;
}

static __attribute__((noinline)) const void *site_of_a_call(void)
{
    int x;
    MPI_Comm_rank(comm, &x);
    return counts->site;
}

/* Each MPI function that the program calls is reported at its start and end, once; those that MPICH itself calls for it
 * are not. */
static void check_calls(void)
{
    int x = 0, flag, version, size, level;
    MPI_Comm copy;
    MPI_File file;
    MPI_Request request;
    MPI_Errhandler handler;
    pthread_t other;
    unsigned long calls = counts->calls;
    const void *sites[3];
    char name[] = "hooks_app_XXXXXX";

    CHECK(!strcmp(counts->first, "MPI_Comm_rank")); /* not the rest of MPI_Init */
#define CALL(name, ...) \
    do { calls = counts->calls; name(__VA_ARGS__); CHECK(counts->calls == calls + 1); CHECK(!strcmp(counts->last, #name)); \
    } while (0)
    CALL(MPI_Barrier, comm);
    CALL(MPI_Allreduce, MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, comm);
    CALL(MPI_Comm_dup, comm, &copy);
    CALL(MPI_Comm_split_type, MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &copy);
    CALL(MPI_Ibarrier, copy, &request);
    CALL(MPI_Wait, &request, MPI_STATUS_IGNORE);
    CALL(MPI_Pcontrol, 7);
    CHECK(counts->level == 7);
    CALL(MPI_Get_library_version, (char[MPI_MAX_LIBRARY_VERSION_STRING]) { 0 }, &size);
    CALL(MPI_Initialized, &flag);
    CALL(MPI_Get_version, &version, &size);
    calls = counts->calls;
    PMPI_Comm_free(&copy);
    CHECK(counts->calls == calls + 1 && !strcmp(counts->last, "MPI_Comm_free"));
    if (rank == 0)
        close(mkstemp(name));
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 1, comm);
    CALL(MPI_File_open, comm, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    CALL(MPI_File_write_at_all, file, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    CALL(MPI_File_read_at_all, file, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    CALL(MPI_File_read_at, file, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    CALL(MPI_File_read, file, &x, 1, MPI_INT, MPI_STATUS_IGNORE);
    CALL(MPI_File_close, &file);

    /* Calls that fail leave nothing: neither with an error handler that returns nor with one that jumps away */
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    CALL(MPI_Send, &x, -1, MPI_INT, 0, 0, comm);
    CALL(MPI_Send, &x, 1, MPI_INT, 17, 0, comm);
    MPI_Errhandler_free(&handler);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE && !setjmp(out)) /* else MPI's lock would not be given back */
        MPI_Send(&x, -1, MPI_INT, 0, 0, comm);
    CALL(MPI_Comm_rank, comm, &x);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL);
    CHECK(counts->nested == 0);

    /* Each call has its place */
    sites[0] = site_of_a_call();
    sites[1] = site_of_a_call();
    MPI_Comm_rank(comm, &x);
    sites[2] = counts->site;
#if defined(__x86_64__) || defined(__aarch64__)
    CHECK(sites[0] == sites[1] && sites[1] != sites[2]);
#else
    CHECK(!sites[0] && !sites[2]);
#endif

    if (level == MPI_THREAD_MULTIPLE) {
        pthread_create(&other, NULL, thread, "MPI_Recv");
        pthread_join(other, NULL);
    }
}

/* MPI_T: the variables that are there, their values, and what a write does before MPI_Init and after. */
static MPI_T_cvar_handle cvar(const char *name)
{
    int index = -1, count;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    CHECK(MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS);
    CHECK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS);
    return handle;
}

static void check_cvars_before(void)
{
    unsigned value = 0;
    char text[16];
    MPI_T_cvar_read(cvar("WS_ENABLE"), &value);
    CHECK(value == 1);
    CHECK(MPI_T_cvar_write(cvar("WS_ENABLE"), &value) != MPI_SUCCESS);
    MPI_T_cvar_read(cvar("WS_LINGER"), &value);
    CHECK(value == 60); /* from the environment */
    MPI_T_cvar_read(cvar("WS_VICTIM"), text);
    CHECK(!strcmp(text, "auto"));
    value = 555;
    CHECK(MPI_T_cvar_write(cvar("WS_QUANTUM"), &value) == MPI_SUCCESS);
    CHECK(!strcmp(getenv("WS_QUANTUM"), "555"));
    value = 0;
    CHECK(MPI_T_cvar_write(cvar("WS_QUANTUM"), &value) != MPI_SUCCESS);
    CHECK(MPI_T_cvar_write(cvar("WS_VICTIM"), "most") == MPI_SUCCESS);
    CHECK(MPI_T_cvar_write(cvar("WS_VICTIM"), "a name that is far too long") != MPI_SUCCESS);
    CHECK(!strcmp(getenv("WS_VICTIM"), "most"));
}

static void check_cvars_after(void)
{
    unsigned value = 777;
    CHECK(MPI_T_cvar_write(cvar("WS_QUANTUM"), &value) == MPI_SUCCESS);
    value = 778; /* the stand-in for libws does not like it */
    CHECK(MPI_T_cvar_write(cvar("WS_QUANTUM"), &value) == MPI_T_ERR_CVAR_SET_NOT_NOW);
    MPI_T_cvar_read(cvar("WS_QUANTUM"), &value);
    CHECK(value == 777);
    CHECK(MPI_T_cvar_write(cvar("WS_VICTIM"), "fewest") == MPI_T_ERR_CVAR_SET_NOT_NOW);
}

static void check_pvar(const char *name, int class, MPI_T_pvar_session session, void *value)
{
    int index = -1, count;
    MPI_T_pvar_handle handle;
    CHECK(MPI_T_pvar_get_index(name, class, &index) == MPI_SUCCESS);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1);
    CHECK(MPI_T_pvar_read(session, handle, value) == MPI_SUCCESS);
    MPI_T_pvar_handle_free(session, &handle);
}

static void check_pvars(unsigned long long regions)
{
    MPI_T_pvar_session session;
    unsigned long long counted;
    unsigned level;
    double seconds;
    int state, category, cvars, pvars, none;
    MPI_T_pvar_session_create(&session);
    check_pvar("WS_EXECUTIONS", MPI_T_PVAR_CLASS_COUNTER, session, &counted);
    check_pvar("WS_RANKS_BLOCKED", MPI_T_PVAR_CLASS_LEVEL, session, &level);
    check_pvar("WS_TIME_BLOCKED", MPI_T_PVAR_CLASS_TIMER, session, &seconds);
    check_pvar("WS_STATE", MPI_T_PVAR_CLASS_STATE, session, &state);
    CHECK(counted == regions);
    CHECK(level == (regions ? 101 : 0));
    CHECK(seconds == (regions ? 2.5 : 0));
    CHECK(state == (regions ? 3 : 0));
    MPI_T_pvar_session_free(&session);
    CHECK(MPI_T_category_get_index("WORKSHARE", &category) == MPI_SUCCESS);
    MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, &cvars, &pvars, &none);
    CHECK(cvars == 4 && pvars == 4);
}

static int check_mpi_t(int *argc, char ***argv)
{
    int provided, category;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (!strcmp((*argv)[1], "no_mpi_t")) {
        CHECK(MPI_T_category_get_index("WORKSHARE", &category) == MPI_T_ERR_INVALID_NAME);
        MPI_Init(argc, argv);
        MPI_Finalize();
        MPI_T_finalize();
        return wrong;
    }
    check_cvars_before();
    check_pvars(0);
    MPI_Init(argc, argv);
    check_cvars_after();
    check_pvars(103);
    MPI_Finalize();
    check_pvars(103);
    MPI_T_finalize();
    return wrong;
}

int main(int argc, char **argv)
{
    int provided, x = 0, other, flag, index, n, size;
    char big[1 << 20];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Message message;
    MPI_Group world, peer;
    MPI_Aint here = sizeof(int);
    int *memory;

    if (argc > 1 && strstr(argv[1], "mpi_t"))
        return check_mpi_t(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "multiple"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2)
        return 2;
    other = rank;               /* the peer's rank in comm */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    counts = dlsym(RTLD_DEFAULT, "fake_counts");
    if (!counts) {
        if (rank == 0)
            puts("no stand-in for libws");
        MPI_Comm_free(&comm);
        MPI_Finalize();
        return 0;
    }

#define SEND_LATE() (late(), MPI_Send(&x, 1, MPI_INT, other, 0, comm))
#define ROUND(what, sender, receiver) \
    do { begin(); if (rank == 0) { sender; } else { receiver; } end(what, 1); } while (0)
#define RECEIVE() MPI_Recv(&x, 1, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE)
#define POST() MPI_Irecv(&x, 1, MPI_INT, other, 0, comm, requests); requests[1] = MPI_REQUEST_NULL

    ROUND("Recv", SEND_LATE(), RECEIVE());
    ROUND("Wait", SEND_LATE(), POST(); MPI_Wait(requests, MPI_STATUS_IGNORE));
    ROUND("Waitall", SEND_LATE(), POST(); MPI_Waitall(2, requests, statuses));
    ROUND("Waitany", SEND_LATE(), POST(); MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    ROUND("Waitsome", SEND_LATE(), POST(); MPI_Waitsome(2, requests, &n, &index, statuses));
    ROUND("Probe", SEND_LATE(), MPI_Probe(other, 0, comm, MPI_STATUS_IGNORE); RECEIVE());
    ROUND("Mprobe", SEND_LATE(), MPI_Mprobe(other, 0, comm, &message, MPI_STATUS_IGNORE);
          MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    ROUND("Sendrecv", late(); MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 0, other, 0, comm, MPI_STATUS_IGNORE),
          MPI_Sendrecv_replace(&x, 1, MPI_INT, other, 0, other, 0, comm, MPI_STATUS_IGNORE));
    ROUND("Barrier", late(); MPI_Barrier(comm), MPI_Barrier(comm));
    ROUND("Bcast", late(); MPI_Bcast(&x, 1, MPI_INT, 1, comm), MPI_Bcast(&x, 1, MPI_INT, 1, comm));
    ROUND("Ssend", late(); receive("Ssend", &x, 1, MPI_INT, MPI_ANY_SOURCE); MPI_Send(&x, 1, MPI_INT, other, 1, comm),
          MPI_Ssend(&x, 1, MPI_INT, other, 0, comm);
          MPI_Recv(&x, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE));
    ROUND("Send of 1 MiB", late(); receive("Send of 1 MiB", big, sizeof(big), MPI_CHAR, other);
          MPI_Send(&x, 1, MPI_INT, other, 1, comm),
          MPI_Send(big, sizeof(big), MPI_CHAR, other, 0, comm);
          MPI_Recv(&x, 1, MPI_INT, other, 1, comm, MPI_STATUS_IGNORE));

    MPI_Comm_group(comm, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_allocate(here, sizeof(int), MPI_INFO_NULL, comm, &memory, &win);
    ROUND("Win_lock", MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win); MPI_Barrier(comm); late();
          MPI_Win_unlock(1, win), MPI_Barrier(comm); MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
          MPI_Get(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win); MPI_Win_unlock(1, win));
    ROUND("Win_fence", late(); MPI_Win_fence(0, win), MPI_Win_fence(0, win));
    ROUND("Win_start", late(); MPI_Win_post(peer, 0, win); MPI_Win_wait(win),
          MPI_Win_start(peer, 0, win); MPI_Win_complete(win));
    ROUND("Win_wait", MPI_Win_start(peer, 0, win); late(); MPI_Win_complete(win),
          MPI_Win_post(peer, 0, win); MPI_Win_wait(win));
    MPI_Win_lock_all(0, win);
    ROUND("Win_flush", late(); SEND_LATE(), MPI_Put(&x, 1, MPI_INT, other, 0, 1, MPI_INT, win);
          MPI_Win_flush(other, win); RECEIVE());
    /* The same by request, of what does not go at once where UCX has to send messages for it */
    ROUND("Rput", late();
          SEND_LATE(), MPI_Rput(big, sizeof(int), MPI_CHAR, other, 0, sizeof(int), MPI_CHAR, win, requests);
          MPI_Wait(requests, MPI_STATUS_IGNORE); RECEIVE());
    MPI_Win_unlock_all(win);
    if (getenv("FAKE_CALLED"))
        check_calls();

    /* A rank that only polls is not blocked. The rounds before left nothing open, so the counts must not change. */
    begin();
    if (rank == 0) {
        SEND_LATE();
        SEND_LATE();
    } else {
        POST();
        for (flag = 0; !flag;)
            MPI_Test(requests, &flag, MPI_STATUS_IGNORE);
        for (flag = 0; !flag;)
            MPI_Iprobe(other, 0, comm, &flag, MPI_STATUS_IGNORE);
        if (counts->blocked != before.blocked) {
            puts("blocked called from Test or Iprobe");
            wrong = 1;
        }
        RECEIVE();
        POST();
#define LOOK(call, flag, nothing) (call, look(#call, (flag) != (nothing), getenv("FAKE_POLL") != NULL))
        before = *counts;
        LOOK(MPI_Test(requests, &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Testall(2, requests, &flag, statuses), flag, 0);
        LOOK(MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Testsome(2, requests, &n, &index, statuses), n, 0);
        LOOK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Iprobe(other, 1, comm, &flag, MPI_STATUS_IGNORE), flag, 0);
        LOOK(MPI_Improbe(other, 1, comm, &flag, &message, MPI_STATUS_IGNORE), flag, 0);
        MPI_Win_post(peer, 0, win);
        LOOK(MPI_Win_test(win, &flag), flag, 0);
        MPI_Ssend(&x, 1, MPI_INT, other, 2, comm); /* rank 0 goes on */
        MPI_Wait(requests, MPI_STATUS_IGNORE);
        MPI_Win_wait(win);
    }
    if (rank == 0) {
        MPI_Recv(&x, 1, MPI_INT, other, 2, comm, MPI_STATUS_IGNORE);
        MPI_Send(&x, 1, MPI_INT, other, 0, comm);
        MPI_Win_start(peer, 0, win);
        MPI_Win_complete(win);
    }
    MPI_Win_free(&win);
    MPI_Group_free(&peer);
    MPI_Group_free(&world);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return wrong;
}
