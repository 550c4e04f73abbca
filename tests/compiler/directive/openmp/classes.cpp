// SPDX-License-Identifier: MIT
// OpenMP's loops of C++ for -fws=openmp: classes, templates, iterators, exceptions that are caught.
#include "../accept/check.h"

#include <omp.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int N = 200;

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
    double side;
};

class Mesh {
public:
    explicit Mesh(int n) : values_(n, 1.0) {}
    void scale(double by)
    {
        const int n = int(values_.size());
#pragma omp parallel for firstprivate(n, by) // shared
        for (int i = 0; i < n; i++)
            values_[i] *= by;
    }
    double total() const
    {
        double sum = 0;
#pragma omp parallel for reduction(+ : sum) // shared
        for (auto it = values_.begin(); it < values_.end(); ++it)
            sum += *it;
        return sum;
    }

private:
    std::vector<double> values_;
};

template <class T>
T add_all(T step)
{
    T sum = 0;
#pragma omp parallel for schedule(static) // shared
    for (int i = 0; i < N; i++) {
#pragma omp atomic
        sum += step;
    }
    return sum;
}

thread_local int mine;

void classes()
{
    Mesh mesh(N);
    mesh.scale(2);
    CHECK(mesh.total() == 2 * N);
    CHECK(add_all(2) == 2 * N && add_all(0.5) == N / 2 && add_all(0.5L) == N / 2);
}

void lambdas_and_pointers()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < N; i++)
        shapes.push_back(std::unique_ptr<Shape>(new Square(i % 3)));
    double sum = 0;
    const auto area = [&](int i) { return shapes[i]->area(); };
#pragma omp parallel for reduction(+ : sum) // shared, but the compiler cannot see all that it calls: 'function pointer'
    for (int i = 0; i < N; i++)
        sum += area(i);
    CHECK(sum == 67 * 0 + 67 * 1 + 66 * 4);
    const auto number = [] { return omp_get_thread_num(); };
    int most = 0;
#pragma omp parallel for reduction(max : most) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::lambdas_and_pointers()::<lambda()>::operator()')
    for (int i = 0; i < N; i++)
        most = number() > most ? number() : most;
    CHECK(most < omp_get_max_threads());
#pragma omp parallel for // stays OpenMP: uses '{anonymous}::mine', which is local to each thread
    for (int i = 0; i < N; i++)
        mine++;
}

void critical_sections()
{
    std::vector<int> list;
#pragma omp parallel for // *
    for (int i = 0; i < N; i++) {
        try {
            if (i % 2)
                throw std::runtime_error("odd");
#pragma omp critical
            list.push_back(i);
        } catch (const std::exception &) {
        }
        work();
    }
    CHECK(list.size() == size_t(N / 2));
}

}  // namespace

static void run_all()
{
    RUN(classes);
    RUN(lambdas_and_pointers);
    RUN(critical_sections);
}
