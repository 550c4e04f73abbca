/* SPDX-License-Identifier: MIT
 *
 * A function that nobody else sees and that is called once is inlined, though it is large: also into a loop that stands
 * in the program twice.
 */
#define DERIVATIVE(d, a, b, c) \
    for (int k = 0; k < 3; k++) \
    d += (a[k] + b[k]) * (b[k] + c[k]) - (c[k] - a[k]) * (a[k] * b[k] + c[k]) + a[k] * (c[k] * c[k] - b[k])

static double called_once(const double (*p)[3])
{
    double d[6] = {0};
    DERIVATIVE(d[0], p[0], p[1], p[2]);
    DERIVATIVE(d[1], p[1], p[2], p[3]);
    DERIVATIVE(d[2], p[2], p[3], p[4]);
    DERIVATIVE(d[3], p[3], p[4], p[5]);
    DERIVATIVE(d[4], p[4], p[5], p[6]);
    DERIVATIVE(d[5], p[5], p[6], p[7]);
    return d[0] * d[1] + d[2] * d[3] + d[4] * d[5];
}

void volumes(double *y, const double (*corners)[8][3], long n)
{
    _Pragma("ws for")
    for (long i = 0; i < n; i++)
        y[i] = called_once(corners[i]);
}

/* A function for another processor, which its caller may not run, is not. */
#include <immintrin.h>

__attribute__((target("avx2,fma"))) static double for_avx2(const double (*p)[3])
{
    const __m256d a = _mm256_loadu_pd(p[0]), b = _mm256_loadu_pd(p[1]), c = _mm256_fmadd_pd(a, b, a);
    double d[4];
    _mm256_storeu_pd(d, _mm256_permute4x64_pd(c, 0x1b));
    return d[0] * d[1] + d[2] * d[3];
}

void sums(double *y, const double (*corners)[8][3], long n)
{
    const int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    _Pragma("ws for")
    for (long i = 0; i < n; i++)
        y[i] = has_avx2 ? for_avx2(corners[i]) : corners[i][0][0];
}
