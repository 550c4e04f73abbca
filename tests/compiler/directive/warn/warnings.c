/* SPDX-License-Identifier: MIT
 *
 * What -Wall warns of: the text stands in the line, after `warns:`. */
#ifdef __cplusplus
extern "C"
#endif
int omp_get_thread_num(void);

struct pair {
    int first, values[9];
};
__thread int count, values[9];
static __thread int last;
static __thread struct pair both, *some;

void f(int *a, int n)
{
    static __thread int seen;
    seen = 0;
#pragma ws for
    for (int i = 0; i < n; i++) {
        a[i] = omp_get_thread_num(); // warns: 'omp_get_thread_num' is the same for all helper threads in the loop of '#pragma ws for'; use a reduction or a private variable
        count++;                     // warns: each helper thread writes its own copy of thread-local 'count' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        last = i;                    // warns: each helper thread writes its own copy of thread-local 'last' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        if (a[i])
            seen += 2;               // warns: each helper thread writes its own copy of thread-local 'seen' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
    }
    a[0] = count + last + seen + omp_get_thread_num();
    count = last = 0;
}

/* Scratch space, and what is only read. */
void g(int *a, int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        static __thread int scratch;
        scratch = i;
        values[i % 9] = count;
        a[i] = scratch + last + values[i % 9];
    }
}

void h(int *a, int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        void *const targets[] = {&&even, &&odd};
        goto *targets[i % 2];        // warns: a computed 'goto' must not leave the iteration, in the loop of '#pragma ws for'; the compiler cannot see whether it does
    even:
        a[i] = 1;
    odd:
        a[i]++;
    }
}

void members(int *a, int n)
{
    some = &both;
#pragma ws for
    for (int i = 0; i < n; i++) {
        both.first = i;              // warns: each helper thread writes its own copy of thread-local 'both' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        both.values[i % 9] = i;
        some->first = i;
        _Pragma("ws atomic") count += a[i]; // warns: each helper thread writes its own copy of thread-local 'count' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
    }
}

void two(int *a)
{
#pragma ws sections
    {
        last = 1;                    // warns: each helper thread writes its own copy of thread-local 'last' in '#pragma ws sections'; use a reduction or a lastprivate variable
#pragma ws section
        a[0] = omp_get_thread_num(); // warns: 'omp_get_thread_num' is the same for all helper threads in '#pragma ws sections'; use a reduction or a private variable
    }
}

#ifdef __cplusplus
template <class T> void of_a_template(T *a, int n)
{
#pragma ws for
    for (int i = 0; i < n; i++)
        a[i] = T(last = i);          // warns: each helper thread writes its own copy of thread-local 'last' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
}
void instances(int *a, long *b)
{
    of_a_template(a, 9);
    of_a_template(b, 9);
}
/* What a thread initializes when it first uses it. */
struct Total {
    int sum;
    Total &operator+=(int value) { sum += value; return *this; }
    Total &operator++() { ++sum; return *this; }
    bool operator==(int value) const { return sum == value; }
};
int first_value();
extern thread_local int elsewhere;
thread_local int later = first_value();
thread_local Total total;
struct Counts {
    static thread_local int seen;
};
void classes(int *a, int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
        elsewhere++;                 // warns: each helper thread writes its own copy of thread-local 'elsewhere' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        later = i;                   // warns: each helper thread writes its own copy of thread-local 'later' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        total += i;                  // warns: each helper thread writes its own copy of thread-local 'total' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        ++total;                     // warns: each helper thread writes its own copy of thread-local 'total' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        Counts::seen++;              // warns: each helper thread writes its own copy of thread-local 'seen' in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        a[i] = total == later;
    }
}
#endif
