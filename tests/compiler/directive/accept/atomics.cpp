// SPDX-License-Identifier: MIT
// ws atomic and ws critical in what only C++ has: references, templates, members, lambdas, exceptions.
#include "check.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int N = 300;

template <class T>
T add_all(T step)
{
    T sum = 0;
    T &by_reference = sum;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws atomic
        by_reference += step;
        work();
    }
    return sum;
}

void templates()
{
    CHECK(add_all<char>(1) == char(N));
    CHECK(add_all<unsigned short>(3) == 3 * N);
    CHECK(add_all(2) == 2 * N);
    CHECK(add_all(2ll) == 2 * N);
    CHECK(add_all(0.5f) == N / 2);
    CHECK(add_all(0.25) == N / 4);
    CHECK(add_all(0.5L) == N / 2);
}

template <class Real>
class Mesh {
public:
    explicit Mesh(int nodes) : nodes_(nodes) {}

    void assemble()
    {
#pragma ws for
        for (int e = 0; e < N; e++) {
            add(e % nodes_.size(), Real(1));
            add((e * 3 + 1) % nodes_.size(), Real(2));
            int number;
#pragma ws atomic capture
            number = elements_++;
#pragma ws atomic
            sum_ += number;
#pragma ws atomic
            everywhere_ += 1;
            work();
        }
    }
    Real total() const
    {
        Real sum = 0;
        for (Real value : nodes_)
            sum += value;
        return sum;
    }
    long sum() const { return sum_; }
    static int everywhere() { return everywhere_; }

private:
    void add(size_t node, Real value)
    {
#pragma ws atomic
        nodes_[node] += value;
    }

    std::vector<Real> nodes_;
    int elements_ = 0;
    long sum_ = 0;
    static int everywhere_;
};
template <class Real>
int Mesh<Real>::everywhere_;

void members()
{
    Mesh<double> mesh(17);
    mesh.assemble();
    CHECK(mesh.total() == 3 * N && mesh.sum() == N * (N - 1) / 2 && Mesh<double>::everywhere() == N);
    Mesh<long double> precise(5);
    precise.assemble();
    CHECK(precise.total() == 3 * N && Mesh<long double>::everywhere() == N);
}

void lambdas()
{
    long count = 0;
    std::vector<double> values(9, 0.0);
    const auto record = [&](int i) {
#pragma ws atomic
        values[i % 9] += 1;
        long before;
#pragma ws atomic capture
        {
            before = count;
            count += 2;
        }
        return before;
    };
#pragma ws for
    for (int i = 0; i < N; i++) {
        record(i);
        work();
    }
    double sum = 0;
    for (double value : values)
        sum += value;
    CHECK(sum == N && count == 2 * N);
}

void read_and_write_through_references()
{
    int data[N] = {};
    int flags[N] = {};
#pragma ws for
    for (int i = 0; i < N; i++) {
        int &flag = flags[i], &value = data[i];
        int seen;
#pragma ws atomic write release
        flag = i;
#pragma ws atomic read acquire
        seen = flag;
#pragma ws atomic
        value = value + seen;
        work();
    }
    CHECK(data[0] == 0 && data[N - 1] == N - 1);
}

template <class Container>
void push(Container &container, typename Container::value_type value)
{
#pragma ws critical(container)
    container.push_back(std::move(value));
}

void criticals()
{
    std::vector<std::string> words;
#pragma ws for
    for (int i = 0; i < N; i++) {
        push(words, std::to_string(i));
        work();
    }
    CHECK(words.size() == size_t(N));
}

// An exception may pass through the code of a critical as long as it does not leave it.
void exceptions_within()
{
    int caught = 0, kept = 0;
#pragma ws for
    for (int i = 0; i < N; i++) {
#pragma ws critical
        {
            try {
                std::string text(i % 2 ? "odd" : "even");
                if (i % 2)
                    throw std::runtime_error(text);
                kept++;
            } catch (const std::runtime_error &error) {
                caught += error.what() == std::string("odd");
            }
        }
        work();
    }
    CHECK(caught == N / 2 && kept == N / 2);
}

}  // namespace

static void run_all()
{
    RUN(templates);
    RUN(members);
    RUN(lambdas);
    RUN(read_and_write_through_references);
    RUN(criticals);
    RUN(exceptions_within);
}
