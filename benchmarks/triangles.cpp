// SPDX-License-Identifier: MIT
//
// Triangle counting as in the GAP suite: vertices renumbered by falling degree, every edge kept at its later end
// only, sorted lists intersected. Each rank counts for an equal number of vertices, so the work is as uneven as
// the graph is. The graph is an edge list from a file or a generated Kronecker graph.
#include "bench.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr const char *program = "triangles";

using Vertex = uint32_t;
using Edge = std::pair<Vertex, Vertex>;

// earlier(v): the neighbours of v that have a smaller number, ascending.
struct Graph {
    std::vector<uint64_t> begin;        // one more than there are vertices
    std::vector<Vertex> earlier;

    long vertices() const { return static_cast<long>(begin.size()) - 1; }
};

// Edges of a text file: two whole numbers a line, '#' begins a comment. Names the file and the line when it is bad.
// `vertices` is how many there are.
std::vector<Edge> read_edges(const std::string &path, uint64_t &vertices, std::string &error)
{
    FILE *file = fopen(path.c_str(), "r");
    if (!file) {
        error = path + ": " + strerror(errno);
        return {};
    }
    std::vector<std::pair<uint64_t, uint64_t>> raw;
    char *text = nullptr;
    size_t room = 0;
    long number = 0;
    ssize_t length;
    while (errno = 0, (length = getline(&text, &room, file)) >= 0) {
        number++;
        const char *at = text + strspn(text, " \t\r\n");
        if (*at == '#' || at == text + length)
            continue;
        uint64_t ends[2];
        bool good = true;
        for (uint64_t &end : ends) {
            at += strspn(at, " \t");
            char *after;
            errno = 0;
            good = good && *at >= '0' && *at <= '9';
            end = good ? strtoull(at, &after, 10) : 0;
            good = good && errno == 0 && strchr(" \t\r\n", *after);
            at = good ? after : at;
        }
        if (!good || at + strspn(at, " \t\r\n") != text + length) {
            error = path + ":" + std::to_string(number) + ": expected two vertex numbers, found '"
                + std::string(text, strcspn(text, "\r\n")).substr(0, 60) + "'";
            break;
        }
        raw.emplace_back(ends[0], ends[1]);
    }
    if (error.empty() && ferror(file))
        error = path + ":" + std::to_string(number + 1) + ": " + strerror(errno);
    free(text);
    fclose(file);

    // Any numbers are good names for vertices; from here on they are 0, 1, 2, ...
    std::vector<uint64_t> names;
    names.reserve(2 * raw.size());
    for (auto [u, v] : raw) {
        names.push_back(u);
        names.push_back(v);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    if (names.size() > UINT32_MAX)
        error = path + ": more than " + std::to_string(UINT32_MAX) + " vertices";
    vertices = names.size();
    std::vector<Edge> edges;
    if (!error.empty())
        return edges;
    edges.reserve(raw.size());
    auto number_of = [&](uint64_t name) {
        return static_cast<Vertex>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
    };
    for (auto [u, v] : raw)
        edges.emplace_back(number_of(u), number_of(v));
    return edges;
}

// splitmix64: a good hash of a counter, so any edge can be made at any time and the graph is the same everywhere.
uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// Graph500's Kronecker graph: each bit of an edge's ends falls into quadrant A, B, C or D.
std::vector<Edge> kronecker_edges(int scale, long edge_factor, uint64_t seed)
{
    constexpr double A = 0.57, B = 0.19, C = 0.19;
    std::vector<Edge> edges(static_cast<size_t>(edge_factor) << scale);
    for (size_t e = 0; e < edges.size(); e++) {
        Vertex u = 0, v = 0;
        for (int bit = 0; bit < scale; bit++) {
            double p = static_cast<double>(mix(mix(seed) ^ (e * 64 + static_cast<size_t>(bit))) >> 11) * 0x1p-53;
            u |= static_cast<Vertex>(p >= A + B) << bit;
            v |= static_cast<Vertex>((p >= A && p < A + B) || p >= A + B + C) << bit;
        }
        edges[e] = { u, v };
    }
    return edges;
}

// Drops self-loops and doubled edges, numbers the vertices by falling degree, keeps each edge at its later end.
Graph build(const std::vector<Edge> &edges, size_t n)
{
    std::vector<uint64_t> degree(n + 1);
    std::vector<Edge> clean;
    clean.reserve(edges.size());
    for (auto [u, v] : edges)
        if (u != v)
            clean.emplace_back(std::min(u, v), std::max(u, v));
    std::sort(clean.begin(), clean.end());
    clean.erase(std::unique(clean.begin(), clean.end()), clean.end());
    for (auto [u, v] : clean) {
        degree[u]++;
        degree[v]++;
    }
    std::vector<Vertex> by_degree(n), place(n);
    for (size_t v = 0; v < n; v++)
        by_degree[v] = static_cast<Vertex>(v);
    std::sort(by_degree.begin(), by_degree.end(),
              [&](Vertex a, Vertex b) { return degree[a] != degree[b] ? degree[a] > degree[b] : a < b; });
    for (size_t i = 0; i < n; i++)
        place[by_degree[i]] = static_cast<Vertex>(i);

    Graph g;
    g.begin.assign(n + 1, 0);
    for (auto &[u, v] : clean) {
        Vertex a = place[u], b = place[v];
        u = std::max(a, b);
        v = std::min(a, b);
        g.begin[u + size_t{ 1 }]++;
    }
    std::sort(clean.begin(), clean.end());
    for (size_t v = 0; v < n; v++)
        g.begin[v + 1] += g.begin[v];
    g.earlier.reserve(clean.size());
    for (auto [u, v] : clean)
        g.earlier.push_back(v);
    return g;
}

// Triangles whose latest vertex is u. Not inlined: the serial and the shared loop run the very same instructions.
__attribute__((noinline)) uint64_t triangles_of(const Graph &g, long u)
{
    uint64_t count = 0;
    const Vertex *u_begin = &g.earlier[0] + g.begin[u], *u_end = &g.earlier[0] + g.begin[u + 1];
    for (const Vertex *v = u_begin; v != u_end; v++) {
        const Vertex *w = &g.earlier[0] + g.begin[*v], *w_end = &g.earlier[0] + g.begin[*v + 1];
        for (const Vertex *x = u_begin; x != v && w != w_end;) {
            Vertex a = *x, b = *w;
            count += a == b;
            x += a <= b;
            w += b <= a;
        }
    }
    return count;
}

struct Count {
    const Graph &graph;
    long first, end;            // this rank's vertices
    uint64_t shared = 0;        // the result of the last parallel count, the same on all ranks
    uint64_t serial = 0;        // rank 0
    long wrong = 0;             // counts that differed from the one before
    long runs = 0;
};

void count_shared(void *context)
{
    Count &c = *static_cast<Count *>(context);
    const Graph &g = c.graph;
    uint64_t mine = 0, all = 0;
    long first = c.first, end = c.end;
#ifdef _OPENMP
#pragma omp parallel for schedule(runtime) reduction(+ : mine)
#else
#pragma ws for reduction(+ : mine)
#endif
    for (long u = first; u < end; u++)
        mine += triangles_of(g, u);
    bench_loop_left = bench_now();
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    c.wrong += c.runs++ > 0 && all != c.shared;
    c.shared = all;
}

void count_serial(void *context)
{
    Count &c = *static_cast<Count *>(context);
    uint64_t count = 0;
    for (long u = 0; u < c.graph.vertices(); u++)
        count += triangles_of(c.graph, u);
    c.serial = count;
}

// Rank 0 reads, so that a bad file gives one message and slow storage is asked once.
Graph graph_of_file(const std::string &path)
{
    std::string error;
    std::vector<Edge> edges;
    uint64_t sizes[3] = { 0, 0, 0 };    // vertices, edges, bad
    if (bench_rank == 0) {
        edges = read_edges(path, sizes[0], error);
        sizes[1] = edges.size();
        sizes[2] = !error.empty();
    }
    MPI_Bcast(sizes, 3, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (sizes[2])
        bench_fail(1, "%s: %s", program, error.c_str());
    uint64_t count = sizes[1];
    edges.resize(count);
    constexpr uint64_t piece = 1u << 24;
    static_assert(sizeof(Edge) == 8, "broadcast as pairs");
    for (uint64_t at = 0; at < count; at += piece)
        MPI_Bcast(edges.data() + at, static_cast<int>(2 * std::min(piece, count - at)), MPI_UINT32_T, 0,
                  MPI_COMM_WORLD);
    return build(edges, sizes[0]);
}

void usage()
{
    if (bench_rank == 0)
        puts("triangles: counts the triangles of a graph, vertices cut into equal counts per rank\n"
             "  --file PATH        an edge list: two vertex numbers a line, '#' begins a comment\n"
             "  --scale S          instead: a Kronecker graph of 2^S vertices (16)\n"
             "  --edgefactor F     with F edges a vertex (16)\n"
             "  --seed N           another graph of the same kind (1)\n"
             "  --repeats R        timed runs (10)\n"
             "  --warmup W         runs before them (1)\n"
             "  --json             one JSON object instead of text");
}

}   // namespace

int main(int argc, char **argv)
{
    enum { FILE_PATH = 1, SCALE, EDGEFACTOR, SEED, REPEATS, WARMUP, JSON, HELP };
    static const option options[] = {
        { "file", required_argument, nullptr, FILE_PATH }, { "scale", required_argument, nullptr, SCALE },
        { "edgefactor", required_argument, nullptr, EDGEFACTOR }, { "seed", required_argument, nullptr, SEED },
        { "repeats", required_argument, nullptr, REPEATS }, { "warmup", required_argument, nullptr, WARMUP },
        { "json", no_argument, nullptr, JSON }, { "help", no_argument, nullptr, HELP }, { nullptr, 0, nullptr, 0 }
    };
    bench_init(&argc, &argv);
    std::string path;
    long scale = 16, edge_factor = 16, seed = 1, repeats = 10, warmup = 1;
    bool json = false;
    for (int c; (c = bench_option(argc, argv, options)) != -1;)
        switch (c) {
        case FILE_PATH: path = optarg; break;
        case SCALE: scale = bench_count(program, "scale", optarg, 1, 28); break;
        case EDGEFACTOR: edge_factor = bench_count(program, "edgefactor", optarg, 1, 1024); break;
        case SEED: seed = bench_count(program, "seed", optarg, 0, INT32_MAX); break;
        case REPEATS: repeats = bench_count(program, "repeats", optarg, 1, 1000000); break;
        case WARMUP: warmup = bench_count(program, "warmup", optarg, 0, 1000000); break;
        case JSON: json = true; break;
        case HELP: usage(); MPI_Finalize(); return 0;
        }

    Graph graph = path.empty()
                      ? build(kronecker_edges(static_cast<int>(scale), edge_factor, static_cast<uint64_t>(seed)),
                              size_t{ 1 } << scale)
                      : graph_of_file(path);
    long n = graph.vertices();
    Count count{ graph, n * bench_rank / bench_ranks, n * (bench_rank + 1) / bench_ranks };
    bench_result result = bench_measure(count_shared, count_serial, &count, repeats, warmup);

    uint64_t expected = count.serial;
    MPI_Bcast(&expected, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (count.shared != expected || count.wrong)
        bench_fail(1, "%s: WRONG: %lu triangles instead of %lu; %ld of %ld counts differed from the one before",
                   program, static_cast<unsigned long>(count.shared), static_cast<unsigned long>(expected), count.wrong,
                   count.runs);

    if (bench_rank == 0 && json) {
        printf("{\"program\": \"%s\", \"ranks\": %d, \"vertices\": %ld, \"edges\": %zu, \"triangles\": %lu, "
               "\"repeats\": %ld",
               program, bench_ranks, n, graph.earlier.size(), static_cast<unsigned long>(expected), repeats);
        bench_json_result(result);
    } else if (bench_rank == 0) {
        printf("%ld vertices, %zu edges, %lu triangles\n", n, graph.earlier.size(),
               static_cast<unsigned long>(expected));
        bench_print_result(result);
    }
    bench_json_end(json);
    MPI_Finalize();
    return 0;
}
