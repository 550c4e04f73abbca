// SPDX-License-Identifier: MIT
//
// compared_cxx right|wrong N: as compared.c, for what only C++ has: members, templates, references, lambdas,
// <workshare/ws.hpp>.
#include "test.h"

#include <complex>
#include <vector>
#include <workshare/ws.hpp>

static bool wrong;
static thread_local bool is_own;
static int off() { return wrong && !is_own; }

static std::vector<double> values(2000);

struct Totals {
    double sum = 0;
    int by_kind[3] = {};

    void add()
    {
        const int n = int(values.size());
#pragma ws for name("member") reduction(+ : sum)
        for (int i = 0; i < n; i++)
            sum += values[size_t(i)] + off();
#pragma ws for name("member array") reduction(+ : by_kind)
        for (int i = 0; i < n; i++)
            by_kind[i % 3] += 1 + off();
    }
};

template <class T> static void add_to(T& sum)
{
    const int n = int(values.size());
#pragma ws for name("template") reduction(+ : sum)
    for (int i = 0; i < n; i++)
        sum += T(values[size_t(i)] * 10 + 20) + T(off());
}

static void loops()
{
    Totals totals;
    totals.add();
    CHECK(wrong || totals.by_kind[0] == 667);
    int whole = 1;
    float single = 2;
    unsigned char small = 3;
    add_to(whole);
    add_to(single);
    add_to(small);
    double x = 0;
    const auto in_lambda = [&] {
#pragma ws for name("lambda") reduction(- : x) collapse(2)
        for (int i = 0; i < 40; i++)
            for (int k = 0; k < 50; k++)
                x -= values[size_t(i * 50 + k)] + off();
    };
    in_lambda();
    long parts = 0;
#pragma ws sections name("sections") reduction(+ : parts)
    {
        parts += 1 + off();
#pragma ws section
        parts += 2 + off();
#pragma ws section
        parts += 3 + off();
    }
    double y = 0, z = 0;
#pragma ws for simd name("simd") reduction(+ : y, z)
    for (int i = 0; i < 2000; i++) {
        y += values[size_t(i)];
        z += values[size_t(i)] * values[size_t(i)];
    }
    const double squares = ws::transform_reduce(
        values, 0.0, [](double a, double b) { return a + b; }, [](double v) { return v * v + off(); }, "api sum");
    const long indices = ws::transform_reduce(
        0, 1000, 7l, [](long a, long b) { return a + b; }, [](int i) { return long(i) + off(); }, "api integers");
    const auto turned = ws::transform_reduce(
        values, std::complex<double>(), [](std::complex<double> a, std::complex<double> b) { return a + b; },
        [](double v) { return std::complex<double>(v, -v); }, "api class");
    CHECK(wrong || (indices == 499507 && squares > 0 && turned.real() == -turned.imag() && parts == 6));
}

int main(int argc, char** argv)
{
    begin(&argc, &argv);
    is_own = true;
    wrong = !strcmp(argv[1], "wrong");
    for (int n = 0; n < atoi(argv[2]); n++) {
        for (size_t i = 0; i < values.size(); i++)
            values[i] = (i % 2 ? 1.0 : -1.0) / double(i + size_t(n) + 1) + 0.25 * double(i % 4);
        loops();
    }
    return end();
}
