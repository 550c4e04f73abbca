// SPDX-License-Identifier: MIT
//
// Tasks in C++: members, templates, lambdas, and firstprivate objects that are copied and destroyed.
#include "check.h"

#include <vector>

namespace {

int alive;

struct Text {
    std::vector<int> values;
    explicit Text(int n) : values(unsigned(n), n) { add(1); }
    Text(const Text& other) : values(other.values) { add(1); }
    ~Text() { add(-1); }
    static void add(int n)
    {
#pragma ws atomic
        alive += n;
    }
    long sum() const
    {
        long total = 0;
        for (int value : values)
            total += value;
        return total;
    }
};

void copied()
{
    long found[20] = {};
    {
        Text text(10);
        for (int i = 0; i < 20; i++) {
#pragma ws task firstprivate(text) shared(found)
            {
                work();
                found[i] = text.sum() + i;
            }
        }
        text.values.clear();
#pragma ws taskwait
    }
    for (int i = 0; i < 20; i++)
        CHECK(found[i] == 100 + i);
    CHECK(alive == 0);
    long total = 0;
    Text text(3);
#pragma ws taskloop firstprivate(text) reduction(+ : total) grainsize(2)
    for (int i = 0; i < 9; i++)
        total += text.sum();
    CHECK(total == 81 && alive == 1);
}

template <class T> T fib(T n)
{
    if (n < 2)
        return n;
    T a{}, b{};
#pragma ws taskgroup
    {
#pragma ws task shared(a)
        a = fib<T>(n - 1);
        b = fib<T>(n - 2);
    }
    return a + b;
}

struct Tree {
    int value;
    Tree *left, *right;

    long sum()
    {
        long l = 0, r = 0;
        if (left) {
#pragma ws task shared(l)
            l = left->sum();
        }
        if (right) {
#pragma ws task shared(r) if(value % 2)
            r = right->sum();
        }
#pragma ws taskwait
        return value + l + r;
    }
};

void members()
{
    std::vector<Tree> nodes(63);
    for (int i = 0; i < 63; i++)
        nodes[unsigned(i)] = {i, 2 * i + 1 < 63 ? &nodes[unsigned(2 * i + 1)] : nullptr,
                              2 * i + 2 < 63 ? &nodes[unsigned(2 * i + 2)] : nullptr};
    CHECK(nodes[0].sum() == 31 * 63);
}

void in_lambdas()
{
    long total = 0;
    const auto put = [&total](long n) {
#pragma ws task shared(total)
        {
#pragma ws atomic
            total += n;
        }
    };
    for (long n = 0; n < 10; n++)
        put(n);
#pragma ws taskwait
    CHECK(total == 45);
#pragma ws taskloop shared(total)
    for (auto n{1L}; n < 10; n++) {
#pragma ws atomic
        total += n;
    }
    CHECK(total == 90);
    // So that guests come to the fake runtime, too.
#pragma ws for
    for (int i = 0; i < 100; i++)
        work();
}

void templates()
{
    CHECK(fib(12) == 144);
    CHECK(fib(10L) == 55);
}

} // namespace

static void run_all(void)
{
    RUN(copied);
    RUN(templates);
    RUN(members);
    RUN(in_lambdas);
}
