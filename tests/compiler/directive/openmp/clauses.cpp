// SPDX-License-Identifier: MIT
// OpenMP's loops whose clauses call functions: what those do counts as what the loop does.
#include "../accept/check.h"

#include <omp.h>

namespace {

constexpr int N = 200;
int lowest; // thread number, always 0

void note() { lowest = omp_get_thread_num() < 0; }

struct Made {
    Made() { note(); }
    int value = 0;
};
struct Copied {
    Copied() = default;
    Copied(const Copied &other) : value(other.value) { note(); }
    int value = 0;
};
struct Assigned {
    Assigned &operator=(const Assigned &other)
    {
        note();
        value = other.value;
        return *this;
    }
    int value = 0;
};
struct Destroyed {
    ~Destroyed() { note(); }
    int value = 0;
};
struct Harmless {
    Harmless() : value(1) {}
    Harmless(const Harmless &other) : value(other.value) {}
    Harmless &operator=(const Harmless &other)
    {
        value = other.value;
        return *this;
    }
    ~Harmless() { value = -1; }
    int value;
};
struct Sum {
    Sum &operator+=(int more)
    {
        value += more;
        return *this;
    }
    int value = 0;
};

Sum combined(const Sum &one, const Sum &other)
{
    note();
    Sum sum;
    sum.value = one.value + other.value;
    return sum;
}
Sum begun()
{
    note();
    return Sum();
}

#pragma omp declare reduction(plain : Sum : omp_out += omp_in.value)
#pragma omp declare reduction(asks : Sum : omp_out = combined(omp_out, omp_in))
#pragma omp declare reduction(asks_first : Sum : omp_out += omp_in.value) initializer(omp_priv = begun())

void classes()
{
    Made made;
    Copied copied;
    Assigned assigned;
    Destroyed destroyed;
    Harmless harmless;
    int seen[N] = {};
#pragma omp parallel for private(made) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::note')
    for (int i = 0; i < N; i++)
        seen[i] += made.value + 1;
#pragma omp parallel for firstprivate(copied) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::note')
    for (int i = 0; i < N; i++)
        seen[i] += copied.value + 1;
#pragma omp parallel for lastprivate(assigned) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::note')
    for (int i = 0; i < N; i++)
        seen[i] += (assigned.value = i) / N + 1;
#pragma omp parallel for private(destroyed) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::note')
    for (int i = 0; i < N; i++)
        seen[i] += (destroyed.value = i) / N + 1;
#pragma omp parallel for firstprivate(harmless) lastprivate(harmless) // shared
    for (int i = 0; i < N; i++)
        seen[i] += (harmless.value = i) / N + 1;
    CHECK(assigned.value == N - 1 && harmless.value == N - 1);
    for (int n : seen)
        CHECK(n == 5);
}

void reductions()
{
    Sum sum, other, third;
#pragma omp parallel for reduction(plain : sum) // shared
    for (int i = 0; i < N; i++)
        sum += i;
#pragma omp parallel for reduction(asks : other) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::note')
    for (int i = 0; i < N; i++)
        other += i;
#pragma omp parallel for reduction(asks_first : third) // stays OpenMP: calls 'omp_get_thread_num' (in '{anonymous}::note')
    for (int i = 0; i < N; i++)
        third += i;
    CHECK(sum.value == N * (N - 1) / 2 && other.value == sum.value && third.value == sum.value);
}

}  // namespace

static void run_all()
{
    RUN(classes);
    RUN(reductions);
}
