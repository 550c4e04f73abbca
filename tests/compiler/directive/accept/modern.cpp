// SPDX-License-Identifier: MIT
// C++20: reductions declared in namespaces and classes, constructors, constraints, if constexpr, packs, bindings.
#include "check.h"

#include <tuple>
#include <vector>

namespace geometry {

struct Length {
    double x = 0;
};
#pragma ws declare reduction(+ : Length : omp_out.x += omp_in.x)

struct Holder {
    struct Weight {
        int k = 0;
    };
#pragma ws declare reduction(mine : Weight : omp_out.k += omp_in.k)
    std::vector<int> cells;

    explicit Holder(int n) : cells(n) {
#pragma ws for
        for (int i = 0; i < n; i++) {
            cells[i] = i;
            work();
        }
    }
    ~Holder() {
#pragma ws for
        for (std::size_t i = 0; i < cells.size(); i++)
            cells[i] = 0;
    }
    int weigh() const {
        Weight w;
#pragma ws for reduction(mine : w)
        for (std::size_t i = 0; i < cells.size(); i++)
            w.k += cells[i];
        return w.k;
    }
    template <class T>
        requires(sizeof(T) > 0)
    T sum(T n) {
        T s = 0;
        if constexpr (sizeof(T) == 4) {
#pragma ws for reduction(+ : s)
            for (T i = 0; i < n; i++)
                s += i;
        } else {
#pragma ws for reduction(+ : s) schedule(dynamic, sizeof(T))
            for (T i = 0; i < n; ++i)
                s += 2 * i;
        }
        return s;
    }
};

}  // namespace geometry

static void classes() {
    geometry::Holder holder(100);
    CHECK(holder.weigh() == 4950);
    CHECK(holder.sum(10) == 45);
    CHECK(holder.sum(10l) == 90);
    CHECK_SCHEDULE(WS_DYNAMIC, 8, WS_AUTO, 0);
}

static void namespaces() {
    geometry::Length length;
#pragma ws for reduction(+ : length)
    for (int i = 0; i < 10; i++)
        length.x += i;
    CHECK(length.x == 45);
}

static void bindings_and_packs() {
    auto [chunk, unused] = std::make_tuple(3, 4);
    long s = unused - 4;
#pragma ws for reduction(+ : s) schedule(dynamic, chunk)
    for (int i = 0; i < 10; i++)
        s += i;
    CHECK(s == 45);
    CHECK_SCHEDULE(WS_DYNAMIC, 3, WS_AUTO, 0);
    auto sum = [n = 10](auto... xs) mutable {
        long t = 0;
#pragma ws for reduction(+ : t) firstprivate(n)
        for (int i = 0; i < n; i++)
            t += (xs + ... + i);
        return t;
    };
    CHECK(sum(1, 2) == 75);
}

static void run_all(void) {
    RUN(classes);
    RUN(namespaces);
    RUN(bindings_and_packs);
}
