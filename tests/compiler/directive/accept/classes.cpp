// SPDX-License-Identifier: MIT
// What only C++ has: members, templates, lambdas, iterators, classes in data clauses, references, exceptions.
#include "check.h"

#include <array>
#include <deque>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int N = 100;
constexpr int sum_of_n = N * (N - 1) / 2;

struct Field {
    std::vector<int> cells = std::vector<int>(N);
    int n = N, offset = 0;
    int total = 0;

    void fill(int factor) {
#pragma ws for firstprivate(factor) schedule(dynamic, 2) steal_schedule(guided, 4)
        for (int i = 0; i < n; i++) {
            cells[i] = i * factor + offset;
            work();
        }
    }
    double sum() const {
        double s = 0;
#pragma ws for reduction(+ : s)
        for (int i = 0; i < int(cells.size()); i++)
            s += this->cells[i];
        return s;
    }
    int sum_into_member() {
        total = 0;
#pragma ws for reduction(+ : total)
        for (int i = 0; i < n; i++)
            total += cells[i];
        return total;
    }
    template <class F>
    void each(F &&f) {
#pragma ws for
        for (int i = 0; i < n; i++)
            f(cells[i]);
    }
    static long count(long n) {
        long c = 0;
#pragma ws for reduction(+ : c)
        for (long i = 0; i < n; i++)
            c++;
        return c;
    }
};

void members() {
    Field field;
    field.fill(3);
    CHECK_SCHEDULE(WS_DYNAMIC, 2, WS_GUIDED, 4);
    for (int i = 0; i < N; i++)
        CHECK(field.cells[i] == 3 * i);
    CHECK(field.sum() == 3 * sum_of_n);
    CHECK(field.sum_into_member() == 3 * sum_of_n);
    int plus = 5;
    field.each([&](int &cell) { cell += plus; });
    CHECK(field.sum() == 3 * sum_of_n + 5 * N);
    CHECK(Field::count(77) == 77);
}

template <class T, int Chunk = 3>
T sum(const std::vector<T> &x, int steal) {
    T s{};
#pragma ws for reduction(+ : s) schedule(guided, Chunk) steal_schedule(dynamic, steal)
    for (typename std::vector<T>::size_type i = 0; i < x.size(); ++i) {
        s += x[i];
        work();
    }
    return s;
}

template <class Index>
long countdown(Index from) {
    long s = 0;
#pragma ws for reduction(+ : s)
    for (Index i = from; i > 0; i--)
        s += i;
    return s;
}

template <bool Twice>
struct Scale {
    template <class T>
    static void apply(std::vector<T> &x) {
#pragma ws for
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] *= Twice ? 2 : 1;
    }
};

void templates() {
    std::vector<double> x(N);
    std::iota(x.begin(), x.end(), 0.0);
    CHECK(sum(x, 3) == sum_of_n);
    CHECK_SCHEDULE(WS_GUIDED, 3, WS_DYNAMIC, 3);
    CHECK(sum<double, 7>(x, 1) == sum_of_n);
    CHECK_SCHEDULE(WS_GUIDED, 7, WS_DYNAMIC, 1);
    CHECK(sum(std::vector<long>(64, 2), 1) == 128);
    CHECK(countdown<int>(N) == sum_of_n + N);
    CHECK(countdown<unsigned>(N) == sum_of_n + N);
    CHECK(countdown<unsigned char>(N) == sum_of_n + N);
    CHECK(countdown<unsigned long>(N) == sum_of_n + N);
    Scale<true>::apply(x);
    Scale<false>::apply(x);
    CHECK(sum(x, 1) == 2 * sum_of_n);
}

// Inlined and in a comdat section: its site must survive.
inline long inline_sum(const std::vector<int> &x) {
    long s = 0;
#pragma ws for reduction(+ : s)
    for (std::size_t i = 0; i < x.size(); i++)
        s += x[i];
    return s;
}

void iterators() {
    std::vector<double> x(N);
    std::deque<int> d(N, 2);
    std::iota(x.begin(), x.end(), 0.0);
    double s = 0;
#pragma ws for reduction(+ : s)
    for (auto it = x.begin(); it != x.end(); ++it) {
        s += *it;
        work();
    }
    CHECK(s == sum_of_n);
    s = 0;
#pragma ws for reduction(+ : s)
    for (std::vector<double>::iterator it = x.begin(); it < x.end(); it += 2)
        s += *it;
    CHECK(s == 2450);
    s = 0;
#pragma ws for reduction(+ : s)
    for (auto it = d.cbegin(); it != d.cend(); it++)
        s += *it;
    CHECK(s == 2 * N);
    s = 0;
#pragma ws for reduction(+ : s)
    for (double *p = x.data(); p < x.data() + N; ++p)
        s += *p;
    CHECK(s == sum_of_n);
    CHECK(inline_sum(std::vector<int>(N, 3)) == 3 * N);
}

void range_for() {
    std::vector<double> x(N, 1.0);
    double s = 0;
#pragma ws for reduction(+ : s)
    for (double &e : x) {
        e += 1;
        s += e;
        work();
    }
    CHECK(s == 2 * N);
    int fixed[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, t = 0;
#pragma ws for reduction(+ : t)
    for (auto v : fixed)
        t += v;
    CHECK(t == 55);
#if __cplusplus >= 201703L
    std::vector<std::pair<int, int>> pairs(N, {1, 2});
#pragma ws for reduction(+ : t)
    for (const auto &p : pairs) {
        auto [a, b] = p;
        t += a * b;
    }
    CHECK(t == 55 + 2 * N);
#endif
}

struct Counted {
    int value;
    static int alive;
    explicit Counted(int v = 0) : value(v) { __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED); }
    Counted(const Counted &other) : value(other.value) { __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED); }
    Counted &operator=(const Counted &) = default;
    ~Counted() { __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED); }
};
int Counted::alive;

void classes_in_data_clauses() {
    {
        Counted first(5), own, last(9);
        std::string text = "abc";
        std::vector<std::string> out(N);
#pragma ws for private(own) firstprivate(first, text) lastprivate(last)
        for (int i = 0; i < N; i++) {
            own.value = i;
            last.value = own.value + first.value;
            out[i] = text + std::to_string(i);
            work();
        }
        CHECK(last.value == 104 && own.value == 0 && first.value == 5 && out[42] == "abc42");
    }
    CHECK(Counted::alive == 0);
    std::string both = "x";
#pragma ws for firstprivate(both) lastprivate(both) schedule(dynamic, 1)
    for (int i = 0; i < N; i++)
        if (i == N - 1)
            both += "y";
    CHECK(both == "xy");
}

struct Vector3 {
    double x, y, z;
    Vector3(double x = 0, double y = 0, double z = 0) : x(x), y(y), z(z) {}
    Vector3 &operator+=(const Vector3 &o) {
        x += o.x;
        y += o.y;
        z += o.z;
        return *this;
    }
};
#pragma ws declare reduction(+ : Vector3 : omp_out += omp_in)
#pragma ws declare reduction(concatenate : std::vector<int> : omp_out.insert(omp_out.end(), omp_in.begin(), omp_in.end()))

void user_defined_reductions() {
    Vector3 v;
    std::vector<int> all;
    int count = 0;
#pragma ws for reduction(+ : v, count) reduction(concatenate : all)
    for (int i = 0; i < N; i++) {
        v += Vector3{1.0 * i, 1, 2};
        all.push_back(i);
        count++;
        work();
    }
    CHECK(v.x == sum_of_n && v.y == N && v.z == 2 * N && count == N);
    CHECK(int(all.size()) == N && std::accumulate(all.begin(), all.end(), 0) == sum_of_n);
}

void references_and_lambdas() {
    int target = 0, factor = 2;
    int &reference = target;
    long reduced = 0;
    long &by_reference = reduced;
#pragma ws for reduction(+ : by_reference) schedule(static)
    for (int i = 0; i < N; i++) {
        __atomic_add_fetch(&reference, 1, __ATOMIC_RELAXED);
        by_reference += i;
    }
    CHECK(target == N && reduced == sum_of_n);
    auto square = [&](int n) {
        long s = 0;
#pragma ws for reduction(+ : s) collapse(2)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                s += factor;
        return s;
    };
    CHECK(square(12) == 288);
    long nested = 0;
#pragma ws for reduction(+ : nested)
    for (int i = 0; i < 10; i++)
        nested += square(3);
    CHECK(nested == 180);
    long called = 0;
#pragma ws for reduction(+ : called)
    for (int i = 0; i < N; i++) {
        auto twice = [factor](int v) { return factor * v; };
        called += twice(i);
    }
    CHECK(called == 2 * sum_of_n);
#if __cplusplus >= 201402L
    auto generic = [](auto n) {
        decltype(n) s = 0;
#pragma ws for reduction(+ : s)
        for (decltype(n) i = 0; i < n; i++)
            s += i;
        return s;
    };
    CHECK(generic(10) == 45 && generic(10ul) == 45 && generic(short(10)) == 45);
#endif
}

void exceptions_inside_an_iteration() {
    int caught = 0;
#pragma ws for reduction(+ : caught)
    for (int i = 0; i < N; i++) {
        try {
            if (i % 10 == 0)
                throw i;
        } catch (int) {
            caught++;
        }
    }
    CHECK(caught == 10);
}

void inside_a_try_block() {
    int s = 0;
    try {
        std::string local = "kept";
#pragma ws for reduction(+ : s)
        for (int i = 0; i < N; i++)
            s += int(local.size());
        if (s == 4 * N)
            throw local;
    } catch (const std::string &text) {
        CHECK(text == "kept");
        s = -1;
    }
    CHECK(s == -1);
}

struct Base {
    virtual ~Base() = default;
    virtual int value() const { return 1; }
};
struct Derived : Base {
    int value() const override { return 2; }
};

void virtual_calls() {
    Derived derived;
    const Base &base = derived;
    int s = 0;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += base.value();
    CHECK(s == 2 * N);
}

int static_sum = [] {
    int s = 0;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < 10; i++)
        s += i;
    return s;
}();

void before_main() { CHECK(static_sum == 45); }

constexpr int chunk_of(int n) { return n / 2; }

void constant_expressions() {
    int s = 0;
    constexpr int four = 4;
    using Pair = std::pair<int, int>;
#pragma ws for schedule(dynamic, chunk_of(10)) steal_schedule(dynamic, std::pair<int, int>(four, 1).first) reduction(+ : s)
    for (int i = 0; i < N; i++)
        s += Pair(i, 0).first;
    CHECK(s == sum_of_n);
    CHECK_SCHEDULE(WS_DYNAMIC, 5, WS_DYNAMIC, 4);
}

void default_none() {
    int a[N], factor = 2;
    std::array<int, N> b{};
#pragma ws for default(none) shared(a, b) firstprivate(factor)
    for (int i = 0; i < N; i++)
        a[i] = b[i] = factor * i;
    CHECK(a[N - 1] == 2 * N - 2 && b[1] == 2);
}

#define LOOP(type, variable) for (type variable{0}; variable < N; variable++)

template <class T>
long braces_in_a_template(T n) {
    long s = 0;
#pragma ws for reduction(+ : s)
    for (T i{0}; i < n; i++)
        s += long(i);
    return s;
}

void braces() {
    std::vector<double> x(N, 1);
    std::array<int, N> b{};
    long s = 0;
#pragma ws for schedule(dynamic, 3)
    for (std::vector<double>::iterator it{x.begin()}; it < x.end(); ++it)
        *it += 1;
#pragma ws for
    for (auto i{0}; i < N; i++)
        b[i] = std::array<int, 2>{{i, 2}}[0];
#pragma ws for reduction(+ : s)
    for (unsigned long i = {b.size() - 1}; i > 0; i--)
        s += b[i];
#pragma ws for collapse(2) reduction(+ : s)
    for (int i{1}; i < 3; i++)
        for (int j{0}; j < 2; j++)
            s += i;
    long cubes = 0;
#pragma ws for collapse(3) reduction(+ : cubes)
    for (int i{0}; i < 2; i++) {
        for (auto j{int(b.size()) - N}; j < 3; j++) {
            for (unsigned k{1}; k < 6; k += 2)
                for (int l{0}; l < 2; l++)
                    cubes++;
        }
    }
    CHECK(cubes == 2 * 3 * 3 * 2);
#pragma ws for reduction(+ : s)
    // a comment between
    LOOP(long long, k)
        s += 1;
    CHECK(s == sum_of_n + 6 + N && x[N - 1] == 2);
    CHECK(braces_in_a_template(N) == sum_of_n && braces_in_a_template((unsigned char) 4) == 6);
}

}  // namespace

static void run_all(void) {
    RUN(members);
    RUN(templates);
    RUN(iterators);
    RUN(range_for);
    RUN(classes_in_data_clauses);
    RUN(user_defined_reductions);
    RUN(references_and_lambdas);
    RUN(exceptions_inside_an_iteration);
    RUN(inside_a_try_block);
    RUN(virtual_calls);
    RUN(before_main);
    RUN(constant_expressions);
    RUN(default_none);
    RUN(braces);
}
