// SPDX-License-Identifier: MIT
//
// Programs of tasks: rank 0 runs one, the other ranks wait; or, --balanced, each rank runs its own. Built with
// ws::task_group, with directives (WITH_WS), and as OpenMP's tasks (WITH_OMP), which run in one process. The serial
// program, without a task, is measured in the same run.
#include "bench.h"
#ifdef WITH_NETTLE
#include "uts.h"
#endif

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#ifdef WITH_OMP
#include <omp.h>
#elif !defined WITH_WS
#include <workshare/ws.hpp>
#endif

namespace {

// What the programs are written for: Group::run() puts a task, wait() waits for those of the function that it is in.

struct Serial {
    template <class F> void run(F&& task) { task(); }
    void wait() {}
    template <class F> static void all(F&& program) { program(); }
};

#ifdef WITH_OMP
struct Tasks {
    template <class F> void run(const F& task)
    {
#pragma omp task firstprivate(task)
        task();
    }
    void wait()
    {
#pragma omp taskwait
    }
    template <class F> static void all(F&& program)
    {
#pragma omp parallel
#pragma omp single
        program();
    }
};
#elif defined WITH_WS
struct Tasks {
    template <class F> void run(const F& task)
    {
#pragma ws task firstprivate(task)
        task();
    }
    void wait()
    {
#pragma ws taskwait
    }
    template <class F> static void all(F&& program) { program(); }
};
#else
struct Tasks : ws::task_group {
    template <class F> static void all(F&& program) { program(); }
};
#endif

// ---- Fibonacci numbers

int cutoff = 20;

long fib_here(int n) { return n < 2 ? n : fib_here(n - 1) + fib_here(n - 2); }

template <class Group> long fib(int n)
{
    if (n < 2)
        return n;
    if (n < cutoff)
        return fib_here(n);
    long a = 0;
    Group tasks;
    tasks.run([&a, n] { a = fib<Group>(n - 1); });
    const long b = fib<Group>(n - 2);
    tasks.wait();
    return a + b;
}

// ---- queens: how many ways there are to place n on a board, a task for each place in the first rows

struct Board {
    uint32_t columns, rising, falling;
};

template <class Group> long queens(int n, int row, Board taken)
{
    const uint32_t all = (1u << n) - 1;
    if (row == n)
        return 1;
    long found[32] = {};
    Group tasks;
    for (uint32_t free = all & ~(taken.columns | taken.rising | taken.falling); free; free &= free - 1) {
        const uint32_t queen = free & -free;
        long& here = found[__builtin_ctz(queen)];
        const Board next = {taken.columns | queen, (taken.rising | queen) << 1, (taken.falling | queen) >> 1};
        if (row < 3)
            tasks.run([&here, n, row, next] { here = queens<Group>(n, row + 1, next); });
        else
            here = queens<Serial>(n, row + 1, next);
    }
    tasks.wait();
    return std::accumulate(found, found + n, 0L);
}

// ---- merge sort, whose merges are cut in two as well

constexpr long sort_alone = 8192;

template <class Group> void merge(const int* a, long na, const int* b, long nb, int* to)
{
    if (na < nb) {
        std::swap(a, b);
        std::swap(na, nb);
    }
    if (na + nb < sort_alone) {
        std::merge(a, a + na, b, b + nb, to);
        return;
    }
    const long half = na / 2, there = std::lower_bound(b, b + nb, a[half]) - b;
    Group tasks;
    tasks.run([=] { merge<Group>(a, half, b, there, to); });
    merge<Group>(a + half, na - half, b + there, nb - there, to + half + there);
    tasks.wait();
}

// Into `a`, or into `other`.
template <class Group> void sort(int* a, int* other, long n, bool into_other)
{
    if (n < sort_alone) {
        std::sort(a, a + n);
        if (into_other)
            std::copy(a, a + n, other);
        return;
    }
    const long half = n / 2;
    Group tasks;
    tasks.run([=] { sort<Group>(a, other, half, !into_other); });
    sort<Group>(a + half, other + half, n - half, !into_other);
    tasks.wait();
    into_other ? merge<Group>(a, half, a + half, n - half, other)
               : merge<Group>(other, half, other + half, n - half, a);
}

// ---- LU of a sparse matrix of blocks, after the program of the Barcelona OpenMP Tasks Suite

constexpr int blocks = 24, edge = 32;
using Block = std::vector<double>;

struct Sparse {
    Block at[blocks][blocks];
    Sparse()
    {
        uint32_t random = 1;
        for (int i = 0; i < blocks; i++)
            for (int j = 0; j < blocks; j++) {
                const bool is_far = (i < j && i % 3) || (i > j && j % 3) || i % 2 != 0 || j % 2 != 0;
                if (is_far && i != j && i != j + 1 && j != i + 1)
                    continue;
                at[i][j].resize(edge * edge);
                for (double& x : at[i][j])
                    x = double((random = random * 1664525 + 1013904223) >> 8) * 0x1p-24 + (i == j ? 0 : -0.5);
                for (int k = 0; i == j && k < edge; k++)
                    at[i][j][size_t(k * edge + k)] += 4 * edge;
            }
    }
};

void lu_of(double* d)
{
    for (int k = 0; k < edge; k++)
        for (int i = k + 1; i < edge; i++) {
            const double f = d[i * edge + k] /= d[k * edge + k];
            for (int j = k + 1; j < edge; j++)
                d[i * edge + j] -= f * d[k * edge + j];
        }
}
void forward(const double* d, double* c)
{
    for (int k = 0; k < edge; k++)
        for (int i = k + 1; i < edge; i++)
            for (int j = 0; j < edge; j++)
                c[i * edge + j] -= d[i * edge + k] * c[k * edge + j];
}
void divide(const double* d, double* r)
{
    for (int i = 0; i < edge; i++)
        for (int k = 0; k < edge; k++) {
            const double f = r[i * edge + k] /= d[k * edge + k];
            for (int j = k + 1; j < edge; j++)
                r[i * edge + j] -= f * d[k * edge + j];
        }
}
void subtract(const double* r, const double* c, double* to)
{
    for (int i = 0; i < edge; i++)
        for (int k = 0; k < edge; k++)
            for (int j = 0; j < edge; j++)
                to[i * edge + j] -= r[i * edge + k] * c[k * edge + j];
}

template <class Group> void lu(Sparse& m)
{
    for (int k = 0; k < blocks; k++) {
        const double* const d = m.at[k][k].data();
        lu_of(m.at[k][k].data());
        Group ends;
        for (int j = k + 1; j < blocks; j++) {
            if (m.at[k][j].size())
                ends.run([d, c = m.at[k][j].data()] { forward(d, c); });
            if (m.at[j][k].size())
                ends.run([d, r = m.at[j][k].data()] { divide(d, r); });
        }
        ends.wait();
        Group inner;
        for (int i = k + 1; i < blocks; i++)
            for (int j = k + 1; j < blocks; j++)
                if (m.at[i][k].size() && m.at[k][j].size()) {
                    m.at[i][j].resize(edge * edge);
                    inner.run([r = m.at[i][k].data(), c = m.at[k][j].data(), to = m.at[i][j].data()] {
                        subtract(r, c, to);
                    });
                }
        inner.wait();
    }
}

// ---- Strassen's product, of matrices in the order of its recursion: quarters lie one after the other

using Numbers = std::vector<double>;

void product(const double* a, const double* b, double* c, long n) // rows
{
    std::fill(c, c + n * n, 0.0);
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

Numbers sum(const double* a, const double* b, long n, double sign)
{
    Numbers c(static_cast<size_t>(n * n));
    for (long i = 0; i < n * n; i++)
        c[size_t(i)] = a[i] + sign * b[i];
    return c;
}

template <class Group> void strassen(const double* a, const double* b, double* c, long n)
{
    if (n <= 64) {
        product(a, b, c, n);
        return;
    }
    const long h = n / 2, q = h * h;
    const double *a11 = a, *a12 = a + q, *a21 = a + 2 * q, *a22 = a + 3 * q;
    const double *b11 = b, *b12 = b + q, *b21 = b + 2 * q, *b22 = b + 3 * q;
    Numbers m[7];
    for (Numbers& one : m)
        one.resize(size_t(q));
    Group tasks;
    tasks.run([=, &m] { strassen<Group>(sum(a11, a22, h, 1).data(), sum(b11, b22, h, 1).data(), m[0].data(), h); });
    tasks.run([=, &m] { strassen<Group>(sum(a21, a22, h, 1).data(), b11, m[1].data(), h); });
    tasks.run([=, &m] { strassen<Group>(a11, sum(b12, b22, h, -1).data(), m[2].data(), h); });
    tasks.run([=, &m] { strassen<Group>(a22, sum(b21, b11, h, -1).data(), m[3].data(), h); });
    tasks.run([=, &m] { strassen<Group>(sum(a11, a12, h, 1).data(), b22, m[4].data(), h); });
    tasks.run([=, &m] { strassen<Group>(sum(a21, a11, h, -1).data(), sum(b11, b12, h, 1).data(), m[5].data(), h); });
    strassen<Group>(sum(a12, a22, h, -1).data(), sum(b21, b22, h, 1).data(), m[6].data(), h);
    tasks.wait();
    for (long i = 0; i < q; i++) {
        const size_t k = size_t(i);
        c[i] = m[0][k] + m[3][k] - m[4][k] + m[6][k];
        c[q + i] = m[2][k] + m[4][k];
        c[2 * q + i] = m[1][k] + m[3][k];
        c[3 * q + i] = m[0][k] - m[1][k] + m[2][k] + m[5][k];
    }
}

// ---- Unbalanced Tree Search: tree T1, a task for each node

#ifdef WITH_NETTLE
template <class Group> long search(const node& n)
{
    const int children = children_of(&n);
    long found[100] = {};
    Group tasks;
    for (int i = 0; i < children; i++)
        tasks.run([&here = found[i], &n, i] { here = search<Group>(child(&n, uint32_t(i))); });
    tasks.wait();
    return std::accumulate(found, found + children, 1L);
}
#endif

// ---- what is measured

long size = 0; // of the problem; 0: the program's own

uint64_t checksum(const void* data, size_t bytes)
{
    uint64_t sum = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
    return sum;
}

template <class Group> uint64_t run_fib()
{
    long n = 0;
    Group::all([&n] { n = fib<Group>(int(size ? size : 35)); });
    return uint64_t(n);
}

template <class Group> uint64_t run_queens()
{
    long n = 0;
    Group::all([&n] { n = queens<Group>(int(size ? size : 12), 0, {0, 0, 0}); });
    return uint64_t(n);
}

template <class Group> uint64_t run_sort()
{
    const long n = size ? size : 1000000;
    static std::vector<int> start, a, other;
    if (start.empty()) {
        uint32_t random = 1;
        start.resize(size_t(n));
        other.resize(size_t(n));
        for (int& x : start)
            x = int((random = random * 1664525 + 1013904223) >> 1);
    }
    a = start;
    Group::all([n] { sort<Group>(a.data(), other.data(), n, false); });
    return checksum(a.data(), a.size() * sizeof(int));
}

template <class Group> uint64_t run_lu()
{
    Sparse m;
    Group::all([&m] { lu<Group>(m); });
    uint64_t sum = 0;
    for (auto& row : m.at)
        for (Block& b : row)
            sum = sum * 31 + checksum(b.data(), b.size() * sizeof(double));
    return sum;
}

template <class Group> uint64_t run_strassen()
{
    const long n = size ? size : 512;
    static Numbers a, b, c;
    if (a.empty()) {
        a.resize(size_t(n * n));
        b = c = a;
        for (size_t i = 0; i < a.size(); i++) {
            a[i] = double(i % 17) - 8;
            b[i] = double(i % 13) - 6;
        }
    }
    Group::all([n] { strassen<Group>(a.data(), b.data(), c.data(), n); });
    return checksum(c.data(), c.size() * sizeof(double));
}

#ifdef WITH_NETTLE
template <class Group> uint64_t run_uts()
{
    long n = 0;
    Group::all([&n] { n = search<Group>(root(19)); });
    return uint64_t(n);
}
#endif

struct Program {
    const char* name;
    uint64_t (*tasks)();
    uint64_t (*serial)();
    uint64_t right; // of its own size; 0: what the serial program gives
};
const Program programs[] = {
    {"fib", run_fib<Tasks>, run_fib<Serial>, 9227465},
    {"queens", run_queens<Tasks>, run_queens<Serial>, 14200},
    {"sort", run_sort<Tasks>, run_sort<Serial>, 0},
    {"lu", run_lu<Tasks>, run_lu<Serial>, 0},
    {"strassen", run_strassen<Tasks>, run_strassen<Serial>, 0},
#ifdef WITH_NETTLE
    {"uts", run_uts<Tasks>, run_uts<Serial>, 4130071},
#endif
};
const Program* program = &programs[0];
bool balanced, without;
uint64_t right_one, wrong;

void check(uint64_t result) { wrong += result != right_one; }

void parallel(void*)
{
    if (balanced || bench_rank == 0)
        check(without ? program->serial() : program->tasks());
    MPI_Barrier(MPI_COMM_WORLD);
}

void serial(void*) { check(program->serial()); }

void usage(const char* me)
{
    if (bench_rank == 0)
        printf("%s: a program of tasks by rank 0, while the others wait\n"
               "  --what fib|queens|sort|lu|strassen|uts   (fib)\n"
               "  --size N      number, rows of the board, elements, rows of the matrix\n"
               "  --cutoff N    fib: smaller numbers without tasks (20)\n"
               "  --balanced    each rank runs it\n"
               "  --without     the serial program instead\n"
               "  --repeats R   (10)\n"
               "  --json        one JSON object instead of text\n",
               me);
}

} // namespace

int main(int argc, char** argv)
{
    enum { WHAT = 1, SIZE, CUTOFF, BALANCED, WITHOUT, REPEATS, JSON, HELP };
    static const option options[] = { { "what", 1, nullptr, WHAT },       { "size", 1, nullptr, SIZE },
                                      { "cutoff", 1, nullptr, CUTOFF },   { "balanced", 0, nullptr, BALANCED },
                                      { "without", 0, nullptr, WITHOUT }, { "repeats", 1, nullptr, REPEATS },
                                      { "json", 0, nullptr, JSON },       { "help", 0, nullptr, HELP },
                                      { nullptr, 0, nullptr, 0 } };
    long repeats = 10;
    bool json = false;
    bench_init(&argc, &argv);
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case WHAT:
            program = std::find_if(std::begin(programs), std::end(programs),
                                   [](const Program& p) { return !strcmp(p.name, optarg); });
            if (program == std::end(programs))
                bench_fail(2, "%s: --what: there is no program '%s'", argv[0], optarg);
            break;
        case SIZE: size = bench_count(argv[0], "size", optarg, 1, 1000000000); break;
        case CUTOFF: cutoff = int(bench_count(argv[0], "cutoff", optarg, 2, 100)); break;
        case BALANCED: balanced = true; break;
        case WITHOUT: without = true; break;
        case REPEATS: repeats = bench_count(argv[0], "repeats", optarg, 1, 100000); break;
        case JSON: json = true; break;
        default: usage(argv[0]); MPI_Finalize(); return 0;
        }
    right_one = program->right && !size ? program->right : program->serial();
    bench_cores = balanced ? 1 : 0;
    const bench_result r = bench_measure(parallel, serial, nullptr, repeats, 2);
    unsigned long all = wrong;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"task_groups\", \"what\": \"%s\", \"ranks\": %d", program->name, bench_ranks);
        bench_json_result(r);
    } else if (bench_rank == 0)
        bench_print_result(r);
    bench_json_end(json);
    if (all)
        bench_fail(1, "%s: WRONG: %lu results of %s differ", argv[0], all, program->name);
    MPI_Finalize();
}
