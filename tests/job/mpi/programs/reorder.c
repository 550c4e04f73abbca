/* SPDX-License-Identifier: MIT
 *
 * MPIX_Load_create and its like (reorder_test.py): reorder WHAT [NUMBER]. Needs a core for each process (mpirun
 * -bind-to core). */
#define _GNU_SOURCE
#include "test.h"
#include <float.h>
#include <malloc.h>
#include <math.h>
#include <sched.h>
#include <workshare/mpix.h>

static uint64_t state = 1;
static unsigned below(unsigned n) /* the same on all ranks */
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned) ((state >> 33) % n);
}

static int first_of_node, own_core;

static void look_around(void)
{
    MPI_Comm node;
    cpu_set_t cpus;
    first_of_node = rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&first_of_node, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    sched_getaffinity(0, sizeof cpus, &cpus);
    CHECK(CPU_COUNT(&cpus) == 1);
    for (own_core = 0; own_core < CPU_SETSIZE - 1 && !CPU_ISSET(own_core, &cpus); own_core++)
        ;
}

/* Returns the load of the core with most to do, or of the node by its cores. loads[r] is for rank r of comm. */
static double highest(MPI_Comm comm, const double *loads, int by_node)
{
    int n, me;
    double most = 0;
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &me);
    struct { int node, core; } mine = {first_of_node, own_core}, *all = malloc((size_t) n * sizeof *all);
    MPI_Allgather(&mine, 2, MPI_INT, all, 2, MPI_INT, comm);
    for (int r = 0; r < n; r++) {
        double sum = 0;
        int cores = 0;
        for (int s = 0; s < n; s++) {
            if (all[s].node != all[r].node || (!by_node && all[s].core != all[r].core))
                continue;
            sum += loads[s];
            int known = 0;
            for (int t = 0; t < s; t++)
                known |= all[t].node == all[s].node && all[t].core == all[s].core;
            cores += !known;
        }
        most = fmax(most, sum / cores);
    }
    free(all);
    return most;
}

/* All processes of comm, each once. */
static void check_permutation(MPI_Comm comm, MPI_Comm newcomm)
{
    int how, n, old_rank, seen = 0;
    CHECK(newcomm != MPI_COMM_NULL);
    if (newcomm == MPI_COMM_NULL)
        return;
    MPI_Comm_compare(comm, newcomm, &how);
    CHECK(how == MPI_SIMILAR || how == MPI_CONGRUENT);
    MPI_Comm_size(newcomm, &n);
    MPI_Comm_rank(comm, &old_rank);
    int *old = malloc((size_t) n * sizeof *old);
    MPI_Allgather(&old_rank, 1, MPI_INT, old, 1, MPI_INT, newcomm);
    for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++)
            seen += old[s] == r;
    CHECK(seen == n);
    free(old);
}

static void draw(double *loads, int n)
{
    const unsigned kind = below(7);
    for (int r = 0; r < n; r++)
        switch (kind) {
        case 0: loads[r] = 0; break;
        case 1: loads[r] = 3; break;
        case 2: loads[r] = r == n / 2 ? 1e300 : 1; break;
        case 3: loads[r] = below(3) ? DBL_MAX / (1 + below(9)) : 0; break;
        case 4: loads[r] = 5e-324 * below(9); break;
        case 5: loads[r] = 1 + below(4); break;
        default: loads[r] = below(1000) / 7.0; break;
        }
}

static void set(MPI_Info info, const char *key, const char *format, int value)
{
    char text[32];
    snprintf(text, sizeof text, format, value);
    MPI_Info_set(info, key, text);
}

/* Random loads, on communicators of all kinds, by all algorithms; each process knows all, its own, or any. */
static void random_cases(int count)
{
    static const char *algorithms[] = {"auto", "roundrobin", "lpt", "exact"}, *domains[] = {"core", "numa", "node"};
    double worst = 1;
    for (int k = 0; k < count; k++) {
        MPI_Comm comm, central, dist, sparse;
        const unsigned which = below(4);
        if (which == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        else if (which == 1) /* backwards */
            MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        else if (which == 2) /* in any order, not all */
            MPI_Comm_split(MPI_COMM_WORLD, rank % 3 != 1, rank * 7919 % 101, &comm);
        else
            MPI_Comm_dup(MPI_COMM_SELF, &comm);
        int n, me;
        MPI_Comm_size(comm, &n);
        MPI_Comm_rank(comm, &me);
        /* Different sizes in parts of the job: draw as for all, then use the first. */
        double *loads = calloc((size_t) ranks, sizeof *loads);
        draw(loads, ranks);
        const unsigned algorithm = below(6) % 4, domain = below(3), spare_draw = below(4);
        const int spare = spare_draw ? 0 : n / 3, working = n - spare;
        for (int r = working; r < n; r++)
            loads[r] = 0;
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "ws_load_algorithm", algorithms[algorithm]);
        MPI_Info_set(info, "ws_load_domain", domains[domain]);
        set(info, "ws_load_spare", "%d", spare);
        set(info, "ws_load_cell", "%d", 1 << below(8));

        CHECK(MPIX_Load_create(comm, loads, info, &central) == MPI_SUCCESS);
        check_permutation(comm, central);
        CHECK(MPIX_Dist_load_create(comm, me < working, &me, loads + me, info, &dist) == MPI_SUCCESS);
        check_permutation(comm, dist);
        /* Rank 0 knows the even ranks', the last the others', backwards. */
        int known = 0, *whose = malloc((size_t) n * sizeof *whose);
        double *of = malloc((size_t) n * sizeof *of);
        for (int r = working; r-- > 0;)
            if ((r % 2 && me == n - 1) || (r % 2 == 0 && me == 0))
                whose[known] = r, of[known++] = loads[r];
        CHECK(MPIX_Dist_load_create(comm, known, whose, of, info, &sparse) == MPI_SUCCESS);
        check_permutation(comm, sparse);

        double scaled[1024], most = 0;
        for (int r = 0; r < n; r++)
            most = fmax(most, loads[r]);
        for (int r = 0; r < n; r++)
            scaled[r] = most > 0 ? loads[r] / most : 0;
        const int by_node = domain == 2;
        const double was = highest(comm, scaled, by_node), is = highest(central, scaled, by_node),
                     spread = highest(dist, scaled, by_node);
        if (algorithm == 0 && domain != 1) {
            CHECK(is <= was * (1 + 1e-9));
            CHECK(spread <= was * (1 + 1e-9));
            if (spread > 0)
                worst = fmin(worst, is / spread);
        }
        MPI_Comm all[] = {central, dist, sparse}, active_comm, copy;
        for (int i = 0; i < 3; i++) {
            int active, new_rank, new_n;
            MPI_Comm_rank(all[i], &new_rank);
            CHECK(MPIX_Load_active(all[i], &active, NULL) == MPI_SUCCESS && active == (new_rank < working));
            MPI_Comm_dup(all[i], &copy);
            CHECK(MPIX_Load_active(copy, &active, &active_comm) == MPI_SUCCESS && active == (new_rank < working));
            CHECK((active_comm != MPI_COMM_NULL) == active);
            if (active) {
                int r;
                MPI_Comm_rank(active_comm, &r);
                MPI_Comm_size(active_comm, &new_n);
                CHECK(r == new_rank && new_n == working);
                MPI_Comm_free(&active_comm);
            }
            MPI_Comm_free(&copy);
            MPI_Comm_free(&all[i]);
        }
        MPI_Info_free(&info);
        MPI_Comm_free(&comm);
        free(loads), free(whose), free(of);
        if (failures)
            printf("rank %d: case %d: comm %u algorithm %s domain %s spare %d n %d\n", rank, k, which,
                   algorithms[algorithm], domains[domain], spare, n);
    }
    double all = worst;
    MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("distributed by central at worst %.3f\n", all);
}

/* A ring of heavy edges between r and r + n/2, lighter ones to the next rank: the former belong on one core. */
static void graph_cases(int count)
{
    for (int k = 0; k < count; k++) {
        const int weighted = k % 2, half = ranks / 2;
        MPI_Comm comm, newcomm;
        MPI_Comm_split(MPI_COMM_WORLD, 0, k % 3 ? rank : -rank, &comm);
        int me, next, partner;
        MPI_Comm_rank(comm, &me);
        next = (me + 1) % ranks;
        partner = (me + half) % ranks;
        /* Out: partner, next. In: next's counterpart first, so that the order of either list can be told. */
        int destinations[] = {partner, next}, sources[] = {(me + ranks - 1) % ranks, (me + ranks - half) % ranks};
        int out_weights[] = {100, 1}, in_weights[] = {1, 100};
        double *loads = malloc((size_t) ranks * sizeof *loads);
        for (int r = 0; r < ranks; r++)
            loads[r] = k < 2 ? 1 : 1 + r % half;
        CHECK(MPIX_Load_graph_create(comm, loads, 2, sources, weighted ? in_weights : MPI_UNWEIGHTED, 2, destinations,
                                     weighted ? out_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, &newcomm) == MPI_SUCCESS);
        check_permutation(comm, newcomm);
        int in, out, has_weights, kind;
        MPI_Topo_test(newcomm, &kind);
        CHECK(kind == MPI_DIST_GRAPH);
        MPI_Dist_graph_neighbors_count(newcomm, &in, &out, &has_weights);
        CHECK(in == 2 && out == 2 && has_weights == weighted);
        int r, from[2], from_weights[2], to[2], to_weights[2];
        MPI_Comm_rank(newcomm, &r);
        MPI_Dist_graph_neighbors(newcomm, 2, from, from_weights, 2, to, to_weights);
        CHECK(to[0] == (r + half) % ranks && to[1] == (r + 1) % ranks);
        CHECK(from[0] == (r + ranks - 1) % ranks && from[1] == (r + ranks - half) % ranks);
        if (weighted)
            CHECK(to_weights[0] == 100 && to_weights[1] == 1 && from_weights[0] == 1 && from_weights[1] == 100);
        int mine = r, got[2] = {-1, -1};
        MPI_Neighbor_allgather(&mine, 1, MPI_INT, got, 1, MPI_INT, newcomm);
        CHECK(got[0] == from[0] && got[1] == from[1]);
        CHECK(highest(newcomm, loads, 0) <= highest(comm, loads, 0) * (1 + 1e-9));
        /* Partners together: an even number of processes on each core, and exchanges cost no balance. */
        struct { int node, core; } here = {first_of_node, own_core}, *all = malloc((size_t) ranks * sizeof *all);
        MPI_Allgather(&here, 2, MPI_INT, all, 2, MPI_INT, newcomm);
        if (weighted && ranks % 8 == 0)
            CHECK(all[partner].node == all[me].node && all[partner].core == all[me].core);
        free(all);
        MPI_Comm_free(&newcomm);
        MPI_Comm_free(&comm);
        free(loads);
    }
}

static int told; /* class of the error that a handler saw last */
static void note_error(MPI_Comm *comm, int *code, ...)
{
    (void) comm;
    MPI_Error_class(*code, &told);
}

/* The error, in all ranks, with this text; comm works as before. */
static void expect(MPI_Comm comm, int code, MPI_Comm newcomm, int class, const char *text)
{
    char message[MPI_MAX_ERROR_STRING] = "";
    int got, length, one = 1, sum = 0;
    MPI_Error_class(code, &got);
    MPI_Error_string(code, message, &length);
    if (got != class || !strstr(message, text))
        printf("rank %d: class %d, wanted %d with '%s': %s\n", rank, got, class, text, message);
    CHECK(got == class && strstr(message, text));
    CHECK(newcomm == MPI_COMM_NULL);
    if (comm == MPI_COMM_NULL)
        return;
    CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
    int inter, n;
    MPI_Comm_test_inter(comm, &inter);
    if (!inter) {
        MPI_Comm_size(comm, &n);
        CHECK(sum == n);
    }
}

static MPI_Info one_key(const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    return info;
}

static void errors(int workshare)
{
    MPI_Comm comm, new, inter, half;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double *loads = malloc((size_t) ranks * sizeof *loads);
    int *everybody = malloc((size_t) ranks * sizeof *everybody), active;
    for (int r = 0; r < ranks; r++)
        loads[r] = 1, everybody[r] = r;
    char text[200], names[2][32];
    for (int dist = 0; dist < 2; dist++) {
#define CREATE(comm, loads, info)                                                                                      \
    (new = comm, dist ? MPIX_Dist_load_create(comm, 1, &rank, (loads) ? (loads) + rank : NULL, info, &new)             \
                      : MPIX_Load_create(comm, loads, info, &new))
        snprintf(names[dist], sizeof names[dist], "MPIX_%soad_create", dist ? "Dist_l" : "L");
        int code = CREATE(MPI_COMM_NULL, loads, MPI_INFO_NULL);
        expect(MPI_COMM_NULL, code, new, MPI_ERR_COMM, "comm is MPI_COMM_NULL");
        expect(comm, code, new, MPI_ERR_COMM, names[dist]);
        /* Wrong in one process alone; its number is in the message. */
        static const struct { double value; const char *text;
        } wrong[] = {{-1, "is negative (-1)"},
                     {-DBL_MIN, "is negative"},
                     {INFINITY, "is infinite (inf)"},
                     {-INFINITY, "is negative"},
                     {NAN, "is not a number"}};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            if (rank == ranks - 1)
                loads[ranks - 1] = wrong[i].value;
            code = CREATE(comm, loads, MPI_INFO_NULL);
            snprintf(text, sizeof text, "loads[%d] %s", dist ? 0 : ranks - 1, wrong[i].text);
            expect(comm, code, new, MPI_ERR_ARG, text);
            snprintf(text, sizeof text, "on rank %d", ranks - 1);
            expect(comm, code, new, MPI_ERR_ARG, text);
            loads[ranks - 1] = 1;
        }
        code = CREATE(comm, (rank ? loads : NULL), MPI_INFO_NULL);
        expect(comm, code, new, MPI_ERR_ARG, "loads is NULL on rank 0");
        code = dist ? MPIX_Dist_load_create(comm, 1, &rank, loads, MPI_INFO_NULL, rank ? &new : NULL)
                    : MPIX_Load_create(comm, loads, MPI_INFO_NULL, rank ? &new : NULL);
        expect(comm, code, rank ? new : MPI_COMM_NULL, MPI_ERR_ARG, "newcomm is NULL on rank 0");
        static const char *keys[][3] = {{"ws_load_algorithm", "best", "is none of roundrobin, lpt, exact, auto"},
                                        {"ws_load_domain", "socket", "is none of core, numa, node"},
                                        {"ws_load_spare", "-1", "is not a number from 0 to"},
                                        {"ws_load_spare", "1000000", "is not a number from 0 to"},
                                        {"ws_load_spare", "2x", "is not a number"},
                                        {"ws_load_cell", "0", "is not a number of at least 1"}};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            MPI_Info info = one_key(keys[i][0], keys[i][1]);
            code = CREATE(comm, loads, info);
            expect(comm, code, new, MPI_ERR_INFO_VALUE, keys[i][0]);
            expect(comm, code, new, MPI_ERR_INFO_VALUE, keys[i][2]);
            MPI_Info_free(&info);
        }
        if (ranks > 1) {
            MPI_Info info = one_key("ws_load_domain", rank == 1 ? "node" : "core");
            code = CREATE(comm, loads, info);
            expect(comm, code, new, MPI_ERR_INFO_VALUE, "info is not the same on rank ");
            MPI_Info_free(&info);
            code = dist ? MPIX_Dist_load_create(comm, 1, &rank, rank == 1 ? MPIX_LOADS_MEASURED : loads, MPI_INFO_NULL,
                                                &new)
                        : MPIX_Load_create(comm, rank == 1 ? MPIX_LOADS_MEASURED : loads, MPI_INFO_NULL, &new);
            expect(comm, code, new, workshare ? MPI_ERR_ARG : MPI_ERR_UNSUPPORTED_OPERATION,
                   workshare ? "MPIX_LOADS_MEASURED" : "mpirun -workshare");
        }
        if (!workshare) {
            code = dist ? MPIX_Dist_load_create(comm, 0, NULL, MPIX_LOADS_MEASURED, MPI_INFO_NULL, &new)
                        : MPIX_Load_create(comm, MPIX_LOADS_MEASURED, MPI_INFO_NULL, &new);
            expect(comm, code, new, MPI_ERR_UNSUPPORTED_OPERATION, "start the job with mpirun -workshare");
        }
    }
    /* Wrong counts. */
    int code = MPIX_Dist_load_create(comm, rank == 0 ? -3 : 1, &rank, loads, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_COUNT, "a count is negative (-3) on rank 0");
    code = MPIX_Dist_load_create(comm, 1, rank == 0 ? NULL : &rank, loads, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_ARG, "ranks is NULL on rank 0");
    int other = rank == 0 ? ranks : rank;
    code = MPIX_Dist_load_create(comm, 1, &other, loads, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_RANK, "ranks[0] on rank 0 is");
    for (int r = 0; r < ranks; r++) {
        code = MPIX_Dist_load_create(comm, rank == r ? 0 : 1, &rank, loads, MPI_INFO_NULL, &new);
        snprintf(text, sizeof text, "no rank gives the load of rank %d", r);
        expect(comm, code, new, MPI_ERR_RANK, text);
        code = MPIX_Dist_load_create(comm, rank == 0 ? ranks : rank == r, rank == 0 ? everybody : &rank, loads,
                                     MPI_INFO_NULL, &new);
        snprintf(text, sizeof text, "the load of rank %d is given 2 times", r);
        if (r > 0)
            expect(comm, code, new, MPI_ERR_RANK, text);
        else
            CHECK(code == MPI_SUCCESS && MPI_Comm_free(&new) == MPI_SUCCESS);
    }
    if (ranks > 2) { /* as many as there should be, but one of them twice */
        other = rank == 1 ? 2 : rank;
        code = MPIX_Dist_load_create(comm, 1, &other, loads, MPI_INFO_NULL, &new);
        expect(comm, code, new, MPI_ERR_RANK, "the load of rank ");
    }
    /* Graphs. */
    const int self = rank, weight = rank == 0 ? -1 : 1;
    other = rank == 0 ? -1 : rank;
    code =
        MPIX_Load_graph_create(comm, loads, 1, &other, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_RANK, "neighbour 0 of rank 0 is -1");
    code = MPIX_Load_graph_create(comm, loads, 1, &self, &weight, 1, &self, &weight, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_ARG, "weight 0 on rank 0 is negative");
    code =
        MPIX_Load_graph_create(comm, loads, -1, &self, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_COUNT, "a count is negative");
    code = MPIX_Load_graph_create(comm, loads, 1, NULL, MPI_UNWEIGHTED, 1, &self, MPI_UNWEIGHTED, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_ARG, "sources or destinations is NULL");
    code = MPIX_Load_graph_create(comm, loads, 1, &self, NULL, 1, &self, NULL, MPI_INFO_NULL, &new);
    expect(comm, code, new, MPI_ERR_ARG, "sourceweights or destweights is NULL");
    if (ranks > 1) {
        const int one = 1;
        code = MPIX_Load_graph_create(comm, loads, 1, &self, rank == 1 ? MPI_UNWEIGHTED : &one, 1, &self,
                                      rank == 1 ? MPI_UNWEIGHTED : &one, MPI_INFO_NULL, &new);
        expect(comm, code, new, MPI_ERR_ARG, "MPI_UNWEIGHTED");
    }
    CHECK(MPIX_Load_graph_create(comm, loads, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                 &new) == MPI_SUCCESS);
    MPI_Comm_free(&new);

    expect(comm, MPIX_Load_active(comm, NULL, NULL), MPI_COMM_NULL, MPI_ERR_ARG, "active is NULL");
    expect(comm, MPIX_Load_active(comm, rank ? &active : NULL, &new), rank ? MPI_COMM_NULL : new,
           rank ? MPI_SUCCESS : MPI_ERR_ARG, "");
    if (new != MPI_COMM_NULL)
        MPI_Comm_free(&new);
    double ratio;
    expect(comm, MPIX_Load_imbalance(comm, NULL), MPI_COMM_NULL, MPI_ERR_ARG, "max_over_mean is NULL");
    if (!workshare)
        expect(comm, MPIX_Load_imbalance(comm, &ratio), MPI_COMM_NULL, MPI_ERR_UNSUPPORTED_OPERATION,
               "mpirun -workshare");
    if (ranks > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &inter);
        MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
        new = comm;
        code = MPIX_Load_create(inter, loads, MPI_INFO_NULL, &new);
        expect(inter, code, new, MPI_ERR_COMM, "comm is an intercommunicator");
        new = comm;
        code = MPIX_Dist_load_create(inter, 1, &rank, loads, MPI_INFO_NULL, &new);
        expect(inter, code, new, MPI_ERR_COMM, "comm is an intercommunicator");
        expect(inter, MPIX_Load_imbalance(inter, &ratio), MPI_COMM_NULL, MPI_ERR_COMM, "comm is an intercommunicator");
        MPI_Comm_free(&inter);
        MPI_Comm_free(&half);
    }
    /* A handler of the program's own is called, once in each process. */
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    loads[0] = rank == ranks - 1 ? -1 : 1;
    code = MPIX_Load_create(comm, loads, MPI_INFO_NULL, &new);
    CHECK(told == MPI_ERR_ARG);
    expect(comm, code, new, MPI_ERR_ARG, "is negative");
    MPI_Errhandler_free(&handler);
    free(loads), free(everybody);
    MPI_Comm_free(&comm);
}

/* Called again and again, memory does not grow: by less than a kilobyte a call, as the length of UCX's queues
 * varies. */
static void repeat(int count)
{
    double *loads = malloc((size_t) ranks * sizeof *loads);
    MPI_Comm sub;
    MPI_Comm_dup(MPI_COMM_WORLD, &sub);
    const int working = ranks > 1 ? ranks - 1 : 1;
    MPI_Info cells = one_key("ws_load_cell", "1");
    set(cells, "ws_load_spare", "%d", ranks - working);
    size_t before = 0;
    for (int k = 0; k < count; k++) {
        MPI_Comm new[4], active, copy;
        const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
        for (int r = 0; r < ranks; r++)
            loads[r] = 1 + (k + r * 7) % 5;
        MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, &new[0]);
        MPIX_Dist_load_create(sub, 1, &rank, loads + rank, MPI_INFO_NULL, &new[1]);
        MPIX_Dist_load_create(sub, rank < working, &rank, loads + rank, cells, &new[2]);
        MPIX_Load_active(new[2], &(int){0}, &active);
        if (active != MPI_COMM_NULL)
            MPI_Comm_free(&active);
        MPIX_Load_graph_create(sub, loads, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, &new[3]);
        for (int i = 0; i < 4; i++)
            MPI_Comm_free(&new[i]);
        if (k % 16 == 0) { /* what is kept with a communicator goes with it */
            MPI_Comm_dup(MPI_COMM_WORLD, &copy);
            MPIX_Dist_load_create(copy, rank < working, &rank, loads + rank, cells, &new[0]);
            MPI_Comm_free(&copy);
            MPI_Comm_free(&new[0]);
        }
        if (k == count / 4)
            before = mallinfo2().uordblks;
    }
    const size_t after = mallinfo2().uordblks;
    if (after > before + 65536)
        printf("rank %d: %zu bytes in use after a quarter of %d calls, %zu at the end\n", rank, before, count, after);
    CHECK(after <= before + 65536);
    MPI_Info_free(&cells);
    MPI_Comm_free(&sub);
    free(loads);
}

/* Rank r works 1 + r parts, asleep or on its core; the heaviest first half share cores with the lightest. */
static void measured(int sleeping)
{
    const double part = 0.01; /* long beside what a rank does besides: some 5 ms */
    MPI_Comm new;
    double ratio, again, loads[64];
    const struct timespec t = {0, (long) (part * 1e9)};
    if (rank % 2)
        for (int k = 0; k <= rank; k++)
            sleeping ? (void) nanosleep(&t, NULL) : busy(part);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPIX_Load_imbalance(MPI_COMM_WORLD, &ratio) == MPI_SUCCESS);
    CHECK(MPIX_Load_imbalance(MPI_COMM_WORLD, &again) == MPI_SUCCESS);
    CHECK(MPIX_Load_create(MPI_COMM_WORLD, MPIX_LOADS_MEASURED, MPI_INFO_NULL, &new) == MPI_SUCCESS);
    for (int r = 0; r < ranks; r++)
        loads[r] = r % 2 ? 1 + r : 0;
    const double was = highest(MPI_COMM_WORLD, loads, 0), is = highest(new, loads, 0);
    double mean = 0;
    for (int r = 0; r < ranks; r++)
        mean += loads[r] / 2;
    if (rank == 0)
        printf("imbalance %.2f %.2f predicted %.2f, highest %g then %g\n", ratio, again, was / mean, was, is);
    MPI_Comm_free(&new);
    /* no work was done since the last call */
    CHECK(MPIX_Dist_load_create(MPI_COMM_WORLD, 0, NULL, MPIX_LOADS_MEASURED, MPI_INFO_NULL, &new) == MPI_SUCCESS);
    MPI_Comm_free(&new);
}

/* What is made of comm has comm's error handler, as MPI 4.0 says in 9.3. */
static void handlers(void)
{
    MPI_Errhandler own, found, all[3];
    MPI_Comm made[4];
    double loads[64];
    const double load = rank;
    const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    int active;
    for (int r = 0; r < ranks; r++)
        loads[r] = r;
    MPI_Comm_create_errhandler(note_error, &own);
    all[0] = MPI_ERRORS_ARE_FATAL, all[1] = MPI_ERRORS_RETURN, all[2] = own;
    for (int h = 0; h < 3; h++) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, all[h]);
        MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, &made[0]);
        MPIX_Dist_load_create(MPI_COMM_WORLD, 1, &rank, &load, MPI_INFO_NULL, &made[1]);
        MPIX_Load_graph_create(MPI_COMM_WORLD, loads, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                               MPI_INFO_NULL, &made[2]);
        MPIX_Load_active(MPI_COMM_WORLD, &active, &made[3]);
        for (int i = 0; i < 4; i++) {
            MPI_Comm_get_errhandler(made[i], &found);
            if (found != all[h])
                printf("rank %d: communicator %d has not the error handler %d\n", rank, i, h);
            CHECK(found == all[h]);
            if (h == 2) {
                MPI_Errhandler_free(&found);
                told = -1;
                MPI_Comm_call_errhandler(made[i], MPI_ERR_OTHER);
                CHECK(told == MPI_ERR_OTHER);
            }
            MPI_Comm_free(&made[i]);
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
}

/* The job ends with the message. */
static void fatal(void)
{
    double loads[64];
    MPI_Comm new;
    for (int r = 0; r < ranks; r++)
        loads[r] = rank == 1 && r == 0 ? NAN : 1;
    MPIX_Load_create(MPI_COMM_WORLD, loads, MPI_INFO_NULL, &new);
    printf("went on\n");
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    look_around();
    if (!strcmp(what, "random"))
        random_cases(number);
    else if (!strcmp(what, "graph"))
        graph_cases(number);
    else if (!strcmp(what, "errors"))
        errors(number);
    else if (!strcmp(what, "repeat"))
        repeat(number);
    else if (!strcmp(what, "measured"))
        measured(number);
    else if (!strcmp(what, "handlers"))
        handlers();
    else if (!strcmp(what, "fatal"))
        fatal();
    else
        CHECK(!"known");
    return end();
}
