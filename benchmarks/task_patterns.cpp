// SPDX-License-Identifier: MIT
//
// Task graphs as in "Task Bench: A Parameterized Benchmark for Evaluating Parallel Runtime Performance" (Slaughter et
// al., SC 2020): steps of `width` tasks, each of which needs results of the step before. Three programs: a pool of
// tasks into which rank 0 puts the whole graph (the default), plain MPI in which each rank computes its columns
// (--by-hand), and OpenMP's tasks in one process (WITH_OMP). Column c costs 1 - imbalance to 1 + imbalance of the mean,
// rising.
#include "bench.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#ifndef WITH_OMP
#include <workshare/task.h>
#endif

namespace {

using Value = uint64_t;
using Columns = std::vector<int>;

enum Pattern { stencil, fft, tree, random_three, patterns };
const char *const pattern_names[] = { "stencil", "fft", "tree", "random" };

Pattern pattern = stencil;
int width = 16;
long steps = 50, inner = 200000, payload = 16;
double imbalance = 0;
bool by_hand = false, spread = false;
unsigned long wrong = 0;
std::vector<Value> right; // of the last step

uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// A tree has more columns in each step, until all have a task.
int columns_of(long step)
{
    return pattern != tree || step > 30 ? width : int(std::min<long>(1L << step, width));
}

// The columns of the step before that a task needs, in rising order.
Columns needs_of(long step, int column)
{
    Columns needs;
    if (step == 0)
        return needs;
    const int before = columns_of(step - 1);
    int bits = 0;
    while (2 << bits < width)
        bits++;
    const int far = 1 << (bits ? (step - 1) % (bits + 1) : 0);
    switch (pattern) {
    case stencil: needs = { column - 1, column, column + 1 }; break;
    case fft: needs = { column - far, column, column + far }; break;
    case tree:
        needs = before < width ? Columns{ column / 2 } : Columns{ column, column ^ far };
        break;
    default:
        for (uint64_t i = 0; i < 3; i++)
            needs.push_back(int(mixed(uint64_t(step) * 3 + i + uint64_t(column) * 1000003) % uint64_t(width)));
        std::sort(needs.begin(), needs.end());
        needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    }
    needs.erase(std::remove_if(needs.begin(), needs.end(), [&](int c) { return c < 0 || c >= before; }), needs.end());
    return needs;
}

// What a task computes from its inputs: their values in the order of needs_of(), and a chain of operations that depend
// on each other, which costs the same on each core and in each program.
Value result_of(long step, int column, const std::vector<Value> &inputs)
{
    const double share = width > 1 ? 2.0 * column / (width - 1) - 1 : 0;
    double x = 1;
    for (long i = long(double(inner) * (1 + imbalance * share)); i > 0; i--)
        x = x * 0.999999 + 3e-6;
    __asm__ volatile("" : : "x"(x)); // it is needed
    uint64_t v = mixed(uint64_t(step) << 32 | uint64_t(column));
    for (const Value in : inputs)
        v = mixed(v ^ in);
    return v;
}

void check(const std::vector<Value> &last)
{
    wrong += last != right;
}

void serial(void *)
{
    std::vector<Value> row, before;
    for (long s = 0; s < steps; s++) {
        before.swap(row);
        row.assign(size_t(columns_of(s)), 0);
        for (int c = 0; c < columns_of(s); c++) {
            std::vector<Value> in;
            for (const int n : needs_of(s, c))
                in.push_back(before[size_t(n)]);
            row[size_t(c)] = result_of(s, c, in);
        }
    }
    if (right.empty())
        right = row;
    check(row);
}

#ifdef WITH_OMP

void parallel(void *)
{
    std::vector<Value> rows[2] = { std::vector<Value>(size_t(width)), std::vector<Value>(size_t(width)) };
#pragma omp parallel
#pragma omp single
    for (long s = 0; s < steps; s++) {
        Value *const row = rows[s % 2].data(), *const before = rows[(s + 1) % 2].data();
        for (int c = 0; c < columns_of(s); c++) {
            const Columns needs = needs_of(s, c);
            const int n = int(needs.size()), *const need = needs.data();
#pragma omp task firstprivate(s, c, needs) depend(iterator(i = 0 : n), in : before[need[i]]) depend(out : row[c])
            {
                std::vector<Value> in;
                for (const int k : needs)
                    in.push_back(before[k]);
                row[c] = result_of(s, c, in);
            }
        }
    }
    check(rows[(steps + 1) % 2]);
}

#else

int rank_of(int column) { return int(long(column) * bench_ranks / width); }

// Each rank computes its columns. What another one needs it sends as soon as the step is over.
void mpi(void *)
{
    const int me = bench_rank;
    std::vector<Value> row(static_cast<size_t>(width)), before(static_cast<size_t>(width));
    const size_t each = size_t(payload) / sizeof(Value);
    std::vector<std::vector<Value>> out, in;
    for (long s = 0; s < steps; s++) {
        before = row;
        if (s > 0) {
            std::vector<MPI_Request> requests;
            std::vector<std::pair<int, int>> pairs; // a column of the step before, and the rank that needs it
            for (int c = 0; c < columns_of(s); c++)
                for (const int n : needs_of(s, c))
                    if (rank_of(n) != rank_of(c))
                        pairs.push_back({ n, rank_of(c) });
            std::sort(pairs.begin(), pairs.end());
            pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
            out.assign(pairs.size(), {}), in.assign(pairs.size(), {});
            for (size_t i = 0; i < pairs.size(); i++) {
                const auto [column, to] = pairs[i];
                if (to != me && rank_of(column) != me)
                    continue;
                requests.emplace_back();
                std::vector<Value> &data = to == me ? in[i] : out[i];
                data.assign(each, before[size_t(column)]);
                if (to == me)
                    MPI_Irecv(data.data(), int(each), MPI_UINT64_T, rank_of(column), column, MPI_COMM_WORLD,
                              &requests.back());
                else
                    MPI_Isend(data.data(), int(each), MPI_UINT64_T, to, column, MPI_COMM_WORLD, &requests.back());
            }
            MPI_Waitall(int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
            for (size_t i = 0; i < pairs.size(); i++)
                if (pairs[i].second == me)
                    before[size_t(pairs[i].first)] = in[i][0];
        }
        for (int c = 0; c < columns_of(s); c++) {
            if (rank_of(c) != me)
                continue;
            std::vector<Value> values;
            for (const int n : needs_of(s, c))
                values.push_back(before[size_t(n)]);
            row[size_t(c)] = result_of(s, c, values);
        }
    }
    for (int c = 0; c < width; c++)
        if (rank_of(c) != me)
            row[size_t(c)] = 0;
    MPI_Allreduce(MPI_IN_PLACE, row.data(), width, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        check(row);
}

void must(int error)
{
    if (!error)
        return;
    fprintf(stderr, "task_patterns: rank %d: %s\n", bench_rank, ws_last_error());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

struct Place {
    long step;
    int column;
};

int compute(ws_task *task)
{
    const Place at = *static_cast<const Place *>(task->data);
    std::vector<Value> in;
    const void *data;
    size_t bytes;
    for (size_t i = 0, n = needs_of(at.step, at.column).size(); i < n; i++) {
        must(ws_task_get_input(task, i, &data, &bytes));
        in.push_back(*static_cast<const Value *>(data));
    }
    std::vector<Value> result(size_t(payload) / sizeof(Value), result_of(at.step, at.column, in));
    return ws_task_set_result(task, result.data(), result.size() * sizeof(Value));
}

ws_pool *pool;
int kind;

// Rank 0 puts the whole graph. The future of a task is dropped as soon as all that need it are put.
void parallel(void *)
{
    std::vector<uint64_t> row, before;
    for (long s = 0; bench_rank == 0 && s < steps; s++) {
        before.swap(row);
        row.assign(size_t(columns_of(s)), 0);
        for (int c = 0; c < columns_of(s); c++) {
            std::vector<uint64_t> inputs;
            for (const int n : needs_of(s, c))
                inputs.push_back(before[size_t(n)]);
            ws_task_options o = {};
            o.future = &row[size_t(c)];
            o.inputs = inputs.data();
            o.inputs_count = inputs.size();
            o.has_rank = spread;
            o.rank = rank_of(c);
            const Place at = { s, c };
            must(ws_pool_put(pool, kind, &at, sizeof at, &o));
        }
        for (const uint64_t f : before)
            must(ws_pool_drop_result(pool, f));
    }
    must(ws_pool_run(pool));
    std::vector<Value> last, result(size_t(payload) / sizeof(Value));
    for (const uint64_t f : row) {
        must(ws_pool_get_result(pool, f, result.data(), size_t(payload), nullptr));
        last.push_back(result[0]);
    }
    if (bench_rank == 0)
        check(last);
}

#endif

void usage(const char *name)
{
    if (bench_rank == 0)
        printf("%s: a graph of tasks, as in Task Bench\n"
               "  --pattern P        stencil, fft, tree or random: what a task needs of the step before (stencil)\n"
               "  --width W          tasks of a step (16)\n"
               "  --steps S          steps (50)\n"
               "  --inner N          operations of a task, on average (200000)\n"
               "  --imbalance F      column c takes from 1 - F to 1 + F times as long, rising (0)\n"
               "  --bytes B          of a result (16)\n"
               "  --by-hand          plain MPI: each rank computes its columns\n"
               "  --spread           tasks are sent to the rank of their column\n"
               "  --repeats R        timed runs (10)\n"
               "  --json             one JSON object instead of text\n",
               name);
}

} // namespace

int main(int argc, char **argv)
{
    enum { PATTERN = 1, WIDTH, STEPS, INNER, IMBALANCE, BYTES, BY_HAND, SPREAD, REPEATS, JSON, HELP };
    static const option options[] = { { "pattern", 1, nullptr, PATTERN }, { "width", 1, nullptr, WIDTH },
                                      { "steps", 1, nullptr, STEPS },     { "inner", 1, nullptr, INNER },
                                      { "bytes", 1, nullptr, BYTES },     { "imbalance", 1, nullptr, IMBALANCE },
                                      { "by-hand", 0, nullptr, BY_HAND }, { "spread", 0, nullptr, SPREAD },
                                      { "repeats", 1, nullptr, REPEATS }, { "json", 0, nullptr, JSON },
                                      { "help", 0, nullptr, HELP },       { nullptr, 0, nullptr, 0 } };
    long repeats = 10;
    bool json = false;
    bench_init(&argc, &argv);
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case PATTERN:
            pattern = Pattern(std::find_if(pattern_names, pattern_names + patterns,
                                           [](const char *name) { return !strcmp(name, optarg); }) -
                              pattern_names);
            if (pattern == patterns)
                bench_fail(2, "%s: --pattern takes stencil, fft, tree or random, not '%s'", argv[0], optarg);
            break;
        case WIDTH: width = int(bench_count(argv[0], "width", optarg, 1, 65536)); break;
        case STEPS: steps = bench_count(argv[0], "steps", optarg, 1, 1000000); break;
        case INNER: inner = bench_count(argv[0], "inner", optarg, 0, 1000000000); break;
        case BYTES: payload = bench_count(argv[0], "bytes", optarg, 8, 1 << 20) / 8 * 8; break;
        case IMBALANCE: {
            char *end;
            imbalance = strtod(optarg, &end);
            if (end == optarg || *end || !(imbalance >= 0 && imbalance <= 1))
                bench_fail(2, "%s: --imbalance takes a number from 0 to 1, not '%s'", argv[0], optarg);
            break;
        }
        case BY_HAND: by_hand = true; break;
        case SPREAD: spread = true; break;
        case REPEATS: repeats = bench_count(argv[0], "repeats", optarg, 1, 100000); break;
        case JSON: json = true; break;
        default: usage(argv[0]); MPI_Finalize(); return 0;
        }
    if (pattern == tree && width & (width - 1))
        bench_fail(2, "%s: a tree needs a power of two as its width, not %d", argv[0], width);
    const long all_inner = inner;
    inner = 0; // values do not depend on what they cost
    serial(nullptr);
    inner = all_inner;
    bench_body body = parallel;
#ifdef WITH_OMP
    if (by_hand || spread)
        bench_fail(2, "%s: --by-hand and --spread are of MPI's program", argv[0]);
    bench_cores = 2;
#else
    if (by_hand)
        body = mpi;
    ws_task_kind description = {};
    description.name = "column";
    description.run = compute;
    description.result = size_t(payload);
    must(ws_pool_create(MPI_COMM_WORLD, &pool));
    must(ws_pool_register(pool, &description, &kind));
#endif
    const bench_result r = bench_measure(body, serial, nullptr, repeats, 1);
#ifndef WITH_OMP
    must(ws_pool_free(&pool));
#endif
    unsigned long all = wrong;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (bench_rank == 0 && json) {
        printf("{\"program\": \"task_patterns\", \"pattern\": \"%s\", \"ranks\": %d", pattern_names[pattern],
               bench_ranks);
        bench_json_result(r);
    } else if (bench_rank == 0)
        bench_print_result(r);
    bench_json_end(json);
    if (all)
        bench_fail(1, "%s: WRONG: %lu results differ", argv[0], all);
    MPI_Finalize();
}
