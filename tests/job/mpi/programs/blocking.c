/* SPDX-License-Identifier: MIT
 *
 * blocking TABLE SECONDS [CASE...]: the cases of tests/job/mpi/blocking_calls.txt, or those named. Under another MPI
 * than Workshare's own BLOCKING_PATIENCE says how many seconds LATE waits for help at most, and a case is tried once,
 * with whatever algorithm. In each, all ranks but one (LATE) block in a call while LATE computes a shared loop. When
 * guests have done enough of it, LATE makes what the others wait for, out of the middle of its loop. So a rank that is
 * not called back, or does not listen, returns late.
 */
#include <ctype.h>

#include "blocking/collectives.h"
#include "blocking/communicators.h"
#include "blocking/files.h"
#include "blocking/messages.h"
#include "blocking/threads.h"
#include "blocking/windows.h"

enum { N = 1000, ENOUGH = 12, TRIES = 8 };

static const struct {
    const char *name;
    Case *run;
} cases[] = {
#define NAMED(name) {#name, name}
    {"recv", recv_},
    {"wait", wait_},
    {"send", send_},
    NAMED(recv_any),
    NAMED(waitall),
    NAMED(waitany),
    NAMED(waitsome),
    NAMED(probe),
    NAMED(probe_any),
    NAMED(mprobe),
    NAMED(recv_init),
    NAMED(startall),
    NAMED(sendrecv),
    NAMED(sendrecv_replace),
    NAMED(ssend),
    NAMED(ssend_big),
    NAMED(ssend_to_any),
    NAMED(isend),
    NAMED(issend),
    NAMED(send_init),
    NAMED(ssend_init),
    NAMED(send_to_posted),
    NAMED(rsend),
    NAMED(irsend),
    NAMED(rsend_init),
    NAMED(buffer_detach),
    NAMED(ibsend),
    NAMED(bsend_init),
    NAMED(mrecv),
    NAMED(imrecv),
    NAMED(fence),
    NAMED(win_start),
    NAMED(win_complete),
    NAMED(win_wait),
    NAMED(win_lock),
    NAMED(win_lock_all),
    NAMED(win_unlock),
    NAMED(win_unlock_all),
    NAMED(win_flush),
    NAMED(win_flush_all),
    NAMED(win_flush_local),
    NAMED(win_flush_local_all),
    NAMED(put_flush),
    NAMED(get_flush),
    NAMED(fetch_and_op),
    NAMED(compare_and_swap),
    NAMED(rput),
    NAMED(rget),
    NAMED(raccumulate),
    NAMED(rget_accumulate),
    NAMED(win_create),
    NAMED(win_allocate),
    NAMED(win_allocate_shared),
    NAMED(win_create_dynamic),
    NAMED(win_free),
    NAMED(win_set_info),
    NAMED(comm_dup),
    NAMED(comm_dup_with_info),
    NAMED(comm_idup),
    NAMED(comm_split),
    NAMED(comm_split_type),
    NAMED(comm_create),
    NAMED(comm_create_group),
    NAMED(cart_create),
    NAMED(cart_sub),
    NAMED(graph_create),
    NAMED(dist_graph_create),
    NAMED(dist_graph_create_adjacent),
    NAMED(intercomm_create),
    NAMED(intercomm_merge),
    NAMED(file_open),
    NAMED(file_close),
    NAMED(read_all),
    NAMED(read_at_all),
    NAMED(write_all),
    NAMED(write_at_all),
    NAMED(read_all_begin),
    NAMED(read_at_all_begin),
    NAMED(write_all_begin),
    NAMED(write_at_all_begin),
    NAMED(read_ordered),
    NAMED(write_ordered),
    NAMED(read_ordered_begin),
    NAMED(write_ordered_begin),
    NAMED(iread_all),
    NAMED(iread_at_all),
    NAMED(iwrite_all),
    NAMED(iwrite_at_all),
    NAMED(iwrite_waitall),
    NAMED(iwrite_waitany),
    NAMED(file_set_view),
    NAMED(file_set_size),
    NAMED(file_preallocate),
    NAMED(file_sync),
    NAMED(file_seek_shared),
    NAMED(file_set_atomicity),
    NAMED(file_set_info),
#if MPI_VERSION >= 4
    NAMED(isendrecv),
    NAMED(isendrecv_replace),
    NAMED(precv),
    NAMED(psend),
    NAMED(pready_range),
    NAMED(pready_list),
    NAMED(comm_idup_with_info),
    NAMED(comm_create_from_group),
    NAMED(intercomm_create_from_groups),
#endif
#ifdef HAS_FLUSH
    NAMED(buffer_flush),
    NAMED(buffer_iflush),
    NAMED(comm_detach_buffer),
    NAMED(comm_flush_buffer),
    NAMED(comm_iflush_buffer),
#endif
#ifdef HAS_ACCEPT
    NAMED(comm_accept),
    NAMED(comm_connect),
#endif
    NAMED(probe_self),
    NAMED(mprobe_self),
    NAMED(grequest),
};

static double patience = 2; /* seconds */

/* LATE's loop. Its own thread makes the event when guests are surely at work and have enough left. */
static double compute(Case *run, int *guest_iterations)
{
    static volatile int guests, over;
    double event = 0, deadline = now() + patience;
    guests = over = 0;
    do { /* a busy machine may let a first loop pass without help */
#pragma ws for
        for (int i = 0; i < N; i++) {
            busy(5e-6);
            if (on_guest())
                __atomic_fetch_add(&guests, 1, __ATOMIC_RELAXED);
            else if (!over && guests > ENOUGH) {
                over = 1;
                event = now();
                run(ACT);
            }
        }
    } while (!over && now() < deadline);
    *guest_iterations = guests;
    if (!over) {
        event = now();
        run(ACT);
    }
    return event;
}

static double usable; /* seconds that a rung call may be late */

static void one_case(const char *title, Case *run, const char *wake)
{
    double late = 0, plain = 0, best = 1e9;
    int guests = 0, met = 0, wrong = failures, again = 1;
    for (int t = 0; again && t < (patience < 2 ? 1 : TRIES); t++) {
        run(PREPARE);
        MPI_Barrier(MPI_COMM_WORLD);
        plain = now();
        run(ACT);
        plain = now() - plain;
        run(FINISH);

        double event, returned = 0;
        run(PREPARE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == LATE)
            event = compute(run, &guests);
        else {
            run(ACT);
            returned = now();
        }
        run(FINISH);
        MPI_Bcast(&event, 1, MPI_DOUBLE, LATE, MPI_COMM_WORLD);
        MPI_Bcast(&guests, 1, MPI_INT, LATE, MPI_COMM_WORLD);
        late = returned - event;
        if (rank == 0 && guests > ENOUGH) {
            met = met > guests ? met : guests;
            best = late - plain < best ? late - plain : best;
            again = !strcmp(wake, "rung") && best > usable;
        }
        MPI_Bcast(&again, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    wrong = failures - wrong;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%s %s %d %.1f %.1f %s\n", title, wake, met, 1e6 * best, 1e6 * plain, wrong ? "wrong" : "right");
        fflush(stdout);
    }
}

static MPI_T_cvar_handle algorithm_handle(const char *variable, char *about, int size)
{
    char name[160];
    int index, length = size, count, verbosity, binding, scope;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    snprintf(name, sizeof name, "MPIR_CVAR_%s_ALGORITHM", variable);
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return MPI_T_CVAR_HANDLE_NULL;
    int none = 0;
    MPI_T_cvar_get_info(index, NULL, &none, &verbosity, &type, &values, about, &length, &binding, &scope);
    return handle;
}

/* `algorithms`: all of a variable's values, in MPICH's order; its own description must know them and no others. */
static void with_algorithms(const char *title, Case *run, const char *wake, const char *variable,
                            const char *algorithms)
{
    static char about[4096];
    MPI_T_cvar_handle handle = algorithm_handle(variable, about, sizeof about);
    if (handle == MPI_T_CVAR_HANDLE_NULL) {
        if (rank == 0)
            printf("%s: MPICH has no variable MPIR_CVAR_%s_ALGORITHM\n", title, variable);
        failures++;
        return;
    }
    char list[1024], *rest, *names[64];
    int number = 0, count = 0, next = 0, unlisted = 0;
#ifdef MPICH_NUMVERSION
    const int since_42 = MPICH_NUMVERSION >= 40200000;
#else
    const int since_42 = 0;
#endif
    snprintf(list, sizeof list, "%s", algorithms);
    for (char *name = strtok_r(list, " \n", &rest); name && count < 64; name = strtok_r(NULL, " \n", &rest))
        if (*name != '+' || since_42)
            names[count++] = name + (*name == '+');
    for (const char *p = strstr(about, " - "); p; p = strstr(p + 1, " - "), number++) {
        char name[200], one_title[320];
        const char *end = p, *begin;
        while (end > about && isspace((unsigned char)end[-1]))
            end--;
        for (begin = end; begin > about && !isspace((unsigned char)begin[-1]);)
            begin--;
        snprintf(name, sizeof name, "%.*s", (int)(end - begin), begin);
        /* in 4.0's the text before a name may end where that begins */
        int at = next, usable_at_all = 1;
        const char *listed = "";
        for (; at < count; at++) {
            listed = names[at] + (*names[at] == '!' || *names[at] == '2');
            size_t more = since_42 || strlen(name) < strlen(listed) ? 0 : strlen(name) - strlen(listed);
            if (!strcmp(name + more, listed))
                break;
        }
        if (at < count) {
            usable_at_all = *names[at] != '!' && (*names[at] != '2' || (ranks & (ranks - 1)) == 0);
            snprintf(name, sizeof name, "%s", listed);
            if (!since_42)
                CHECK(at == next);
            next = since_42 ? next : at + 1;
        } else
            unlisted++;
        snprintf(one_title, sizeof one_title, "%s/%s", title, name);
        if (usable_at_all) {
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_T_cvar_write(handle, &number);
            MPI_Barrier(MPI_COMM_WORLD);
            one_case(one_title, run, wake);
        }
    }
    if (!since_42 && (unlisted || next < count)) {
        if (rank == 0)
            printf("%s: MPIR_CVAR_%s_ALGORITHM has %d others, and not %s\n", title, variable, unlisted,
                   next < count ? names[next] : "");
        failures++;
    }
    CHECK(number > 1);
    number = 0; /* auto */
    MPI_T_cvar_write(handle, &number);
    MPI_T_cvar_handle_free(&handle);
}

static char *algorithms_of(char *variables, const char *variable)
{
    size_t length = strlen(variable);
    for (char *p = variables; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (!strncmp(p, variable, length) && p[length] == ' ')
            return strndup(p + length, strcspn(p + length, "\n"));
    }
    return NULL;
}

static int chosen(int argc, char **argv, const char *name)
{
    int any = argc <= 3;
    for (int i = 3; i < argc; i++)
        any |= !strcmp(argv[i], name);
    return any;
}

/* Tries the cases that the lines of a section name, if the table has it. */
static void try_section(const char *table, const char *title, char *variables, int argc, char **argv)
{
    const char *begin = strstr(table, title), *end;
    char *rest;
    if (!begin)
        return;
    begin += strlen(title);
    end = strstr(begin, "\n[");
    char *lines = strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
    for (char *l = strtok_r(lines, "\n", &rest); l; l = strtok_r(NULL, "\n", &rest)) {
        char *words, variable[128];
        l[strcspn(l, "#")] = 0;
        char *call = strtok_r(l, " ", &words), *wake = call ? strtok_r(NULL, " ", &words) : NULL;
        for (char *name = wake ? strtok_r(NULL, " ", &words) : NULL; name; name = strtok_r(NULL, " ", &words)) {
            if (!chosen(argc, argv, name))
                continue;
            Case *run = find_collective(name, variable, sizeof variable);
            if (run) {
                char *algorithms = patience < 2 ? NULL : algorithms_of(variables, variable);
                if (algorithms)
                    with_algorithms(name, run, wake, variable, algorithms);
                else
                    one_case(name, run, wake);
                free(algorithms);
                continue;
            }
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                if (!strcmp(cases[i].name, name))
                    run = cases[i].run;
            if (run)
                one_case(name, run, wake);
            else if (strcmp(name, "-"))
                printf("no case is named %s\n", name);
        }
    }
    free(lines);
}

int main(int argc, char **argv)
{
    int provided;
    if (getenv("BLOCKING_THREADS"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (getenv("BLOCKING_PATIENCE"))
        patience = atof(getenv("BLOCKING_PATIENCE"));
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    usable = atof(argv[2]);
    int late = LATE, size;
    MPI_Comm_group(MPI_COMM_WORLD, &world_group);
    MPI_Group_incl(world_group, 1, &late, &late_group);
    MPI_Group_excl(world_group, 1, &late, &others_group);
    base = malloc(BIG * sizeof *base);
    for (int r = 0; r < ranks; r++) {
        all_ranks[r] = r;
        line[r] = r + 1;
        edges[r] = (r + 1) % ranks;
    }
    snprintf(file_name, sizeof file_name, "/tmp/blocking.%d", (int) getpid());
    MPI_Bcast(file_name, sizeof file_name, MPI_CHAR, 0, MPI_COMM_WORLD);
    signalled = shared_memory(sizeof *signalled);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    mpi_shares_memory = size == ranks;
    MPI_Comm_free(&node);
    collectives_begin();

    static char table[1 << 16];
    FILE *f = fopen(argv[1], "r");
    table[fread(table, 1, sizeof table - 1, f)] = 0;
    fclose(f);
    char *variables = strstr(table, "\n[algorithms]");
    if (variables)
        *variables++ = 0;
    if (getenv("BLOCKING_THREADS"))
        try_section(table, "\n[threads]\n", variables, argc, argv);
    else {
        try_section(table, "\n[waits]\n", variables, argc, argv);
#ifdef HAS_FLUSH
        try_section(table, "\n[waits since 4.2]\n", variables, argc, argv);
#endif
#ifdef HAS_ACCEPT
        try_section(table, "\n[waits since 5.0]\n", variables, argc, argv);
#endif
    }

    collectives_end();
    MPI_Group_free(&world_group);
    MPI_Group_free(&late_group);
    MPI_Group_free(&others_group);
    MPI_T_finalize();
    return end();
}
