/* SPDX-License-Identifier: MIT
 *
 * MPIX_Load_create and its like (reorder_test.py): reorder WHAT [NUMBER]. Needs a core for each process (mpirun -bind-to core). */
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

/* Of the core with most to do, or the node by its cores. loads[r] is for rank r of comm. */
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
        const double was = highest(comm, scaled, by_node), is = highest(central, scaled, by_node), spread = highest(dist, scaled, by_node);
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
            printf("rank %d: case %d: comm %u algorithm %s domain %s spare %d n %d\n", rank, k, which, algorithms[algorithm], domains[domain], spare, n);
    }
    double all = worst;
    MPI_Reduce(&worst, &all, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("distributed by central at worst %.3f\n", all);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    if (!strcmp(what, "random")) {
        look_around();
        random_cases(number);
    } else
        CHECK(!"known");
    return end();
}
