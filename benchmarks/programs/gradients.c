/* SPDX-License-Identifier: MIT
 *
 * Conjugate gradients: a matrix of 27 entries a row (a cube of 48^3 points and their neighbours) in compressed rows. An
 * iteration is a chain of three kinds of loops, 50 to 500 us each: the product, the update of solution and residual,
 * the new direction, with an Allreduce behind two of them. The first rank has a given share of the rows. Scalar
 * products are summed as integers, so that their order has no part in the result.
 */
#include "program.h"

enum { SIDE = 48, ITERATIONS = 15, HALO = SIDE * SIDE + SIDE + 1 };

static const double fixed = 0x1p40;     /* units of scalar products; vectors stay near 1 */
static const long rows = (long) SIDE * SIDE * SIDE;
static long first, count;       /* this rank's rows */
static int *row_begin, *column;
static double *entry;
/* direction: of all rows, of which this rank's and the halo count */
static double *x, *residual, *direction, *product;
static long *bounds;            /* of all ranks */

static double right_hand_side(long row) { return 0.5 + 0.5 * program_random((uint64_t) row); }

static void make_matrix(void)
{
    row_begin = (int *) malloc(sizeof(int) * (size_t) (count + 1));
    column = (int *) malloc(sizeof(int) * 27 * (size_t) count);
    entry = (double *) malloc(sizeof(double) * 27 * (size_t) count);
    int used = 0;
    for (long r = 0; r < count; r++) {
        const long row = first + r, i = row % SIDE, j = row / SIDE % SIDE, k = row / SIDE / SIDE;
        row_begin[r] = used;
        for (long dk = -1; dk <= 1; dk++)
            for (long dj = -1; dj <= 1; dj++)
                for (long di = -1; di <= 1; di++) {
                    if (i + di < 0 || i + di >= SIDE || j + dj < 0 || j + dj >= SIDE || k + dk < 0 || k + dk >= SIDE)
                        continue;
                    const long other = row + di + SIDE * dj + SIDE * SIDE * dk;
                    column[used] = (int) other;
                    entry[used++] = other == row ? 27.0 : -1.0;
                }
    }
    row_begin[count] = used;
}

static void begin(void)
{
    memset(direction, 0, sizeof(double) * (size_t) rows);
    for (long r = 0; r < count; r++) {
        x[r] = product[r] = 0;
        residual[r] = direction[first + r] = right_hand_side(first + r);
    }
}

/* Rows of the neighbours that this rank's rows name, and the other way round. */
static void exchange(void)
{
    for (int side = 0; side < 2; side++) {
        /* side 0: my first rows go to the rank before, what I get is the rank's behind; side 1: my last rows go
         * behind */
        const int to = side ? bench_rank + 1 : bench_rank - 1, from = side ? bench_rank - 1 : bench_rank + 1;
        double *const send = side ? direction + first + count - HALO : direction + first;
        double *const receive = side ? direction + first - HALO : direction + first + count;
        MPI_Sendrecv(send, HALO, MPI_DOUBLE, to < 0 || to >= bench_ranks ? MPI_PROC_NULL : to, side, receive, HALO,
                     MPI_DOUBLE, from < 0 || from >= bench_ranks ? MPI_PROC_NULL : from, side, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static double summed(int64_t mine)
{
    int64_t all = 0;
    IN_MPI(MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    return (double) all / fixed;
}

static double multiply(void)
{
    int64_t sum = 0;
    LOOP_REDUCE(+, sum)
    for (long r = 0; r < count; r++) {
        double s = 0;
        for (int e = row_begin[r]; e < row_begin[r + 1]; e++)
            s += entry[e] * direction[column[e]];
        product[r] = s;
        sum += (int64_t) (s * direction[first + r] * fixed);
    }
    return summed(sum);
}

static double advance(double step)
{
    int64_t sum = 0;
    LOOP_REDUCE(+, sum)
    for (long r = 0; r < count; r++) {
        x[r] += step * direction[first + r];
        residual[r] -= step * product[r];
        sum += (int64_t) (residual[r] * residual[r] * fixed);
    }
    return summed(sum);
}

static void turn_direction(double share)
{
    LOOP
    for (long r = 0; r < count; r++)
        direction[first + r] = residual[r] + share * direction[first + r];
}

static void turn(void)
{
    int64_t sum = 0;
    for (long r = 0; r < count; r++)
        sum += (int64_t) (residual[r] * residual[r] * fixed);
    double square = summed(sum);
    for (int i = 0; i < ITERATIONS; i++) {
        IN_MPI(exchange());
        const double before = square, curvature = multiply();
        square = advance(before / curvature);
        turn_direction(square / before);
    }
    IN_MPI(MPI_Barrier(MPI_COMM_WORLD));
}

static uint64_t hash(bool of_all)
{
    (void) of_all;
    uint64_t sum = 0;
    for (long r = 0; r < count; r++)
        sum += program_hash((uint64_t) (first + r), x[r]);
    return sum;
}

int main(int argc, char **argv)
{
    bench_init(&argc, &argv);
    struct program_repeats o = { 30, 5, false };
    long share = 25;
    const struct program_option own[] = { { "share", "share P     of the rows, in %, that rank 0 has", &share, 5, 95 },
                                          { 0 } };
    if (!program_options("gradients", "conjugate gradients", argc, argv, own, &o))
        return 0;
    bounds = (long *) malloc(sizeof(long) * (size_t) (bench_ranks + 1));
    for (int r = 0; r <= bench_ranks; r++)
        bounds[r] = r == 0 ? 0
                    : bench_ranks == 1 ? rows
                                       : rows * share / 100 + (rows - rows * share / 100) * (r - 1) / (bench_ranks - 1);
    first = bounds[bench_rank];
    count = bounds[bench_rank + 1] - first;
    for (int r = 0; r < bench_ranks && bench_ranks > 1; r++)
        if (bounds[r + 1] - bounds[r] < HALO)
            bench_fail(2, "gradients: too many ranks: rank %d has %ld rows, and %d is the least", r,
                       bounds[r + 1] - bounds[r], HALO);
    make_matrix();
    x = (double *) malloc(sizeof(double) * (size_t) count);
    residual = (double *) malloc(sizeof(double) * (size_t) count);
    product = (double *) malloc(sizeof(double) * (size_t) count);
    direction = (double *) malloc(sizeof(double) * (size_t) rows);
    const struct program program = { "gradients", begin, turn, hash };
    program_run(&program, o.repeats, o.warmup, o.json);
    free(bounds);
    free(row_begin);
    free(column);
    free(entry);
    free(x);
    free(residual);
    free(product);
    free(direction);
    MPI_Finalize();
    return 0;
}
