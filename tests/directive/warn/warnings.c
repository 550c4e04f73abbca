/* SPDX-License-Identifier: MIT
 *
 * What -Wall warns of: the text stands in the line, after `warns:`. */
#ifdef __cplusplus
extern "C"
#endif
int omp_get_thread_num(void);

__thread int count, values[9];
static __thread int last;

void f(int *a, int n)
{
    static __thread int seen;
    seen = 0;
#pragma ws for
    for (int i = 0; i < n; i++) {
        a[i] = omp_get_thread_num(); // warns: 'omp_get_thread_num' is the same for all guests in the loop of '#pragma ws for'; use a reduction or a private variable
        count++;                     // warns: each guest writes a 'count' of its own, a thread's variable, in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        last = i;                    // warns: each guest writes a 'last' of its own, a thread's variable, in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
        if (a[i])
            seen += 2;               // warns: each guest writes a 'seen' of its own, a thread's variable, in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
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
        goto *targets[i % 2];        // warns: a computed 'goto' must not leave the iteration, in the loop of '#pragma ws for'; whether it does cannot be seen
    even:
        a[i] = 1;
    odd:
        a[i]++;
    }
}

#ifdef __cplusplus
template <class T> void of_a_template(T *a, int n)
{
#pragma ws for
    for (int i = 0; i < n; i++)
        a[i] = T(last = i);          // warns: each guest writes a 'last' of its own, a thread's variable, in the loop of '#pragma ws for'; use a reduction or a lastprivate variable
}
void instances(int *a, long *b)
{
    of_a_template(a, 9);
    of_a_template(b, 9);
}
#endif
