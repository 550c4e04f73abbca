/* SPDX-License-Identifier: MIT */
/* flags: -fopenmp */
void g(int);

void one_loop(int n)
{
#pragma ws for
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        g(i);
#pragma omp parallel for
#pragma ws for
    for (int i = 0; i < n; i++)
        g(i);
#pragma ws for
#pragma omp simd
    for (int i = 0; i < n; i++)
        g(i);
}

void inside(int n)
{
#pragma ws for
    for (int i = 0; i < n; i++) {
#pragma omp barrier
        g(i);
    }
#pragma ws for
    for (int i = 0; i < n; i++) {
#pragma omp for
        for (int j = 0; j < n; j++)
            g(i);
    }
}
