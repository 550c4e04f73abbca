/* SPDX-License-Identifier: MIT
 *
 * Loops whose time depends on where they lie, for placement.c: compiled with and without directives, and linked at many
 * addresses.
 */
#define WS _Pragma("ws for")
#define WS_SUM _Pragma("ws for reduction(+ : sum)")

void csr(double *y, const int *begin, const int *column, const double *a, const double *x, int rows)
{
    WS
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int i = begin[r]; i < begin[r + 1]; i++)
            sum += a[i] * x[column[i]];
        y[r] = sum;
    }
}

void triad(double *a, const double *b, const double *c, double factor, long n)
{
    WS
    for (long i = 0; i < n; i++)
        a[i] = b[i] + factor * c[i];
}

void stencil(double *restrict to, const double *restrict from, int width, int height)
{
    WS
    for (int j = 1; j < height - 1; j++)
        for (int i = 1; i < width - 1; i++)
            to[j * width + i] = 0.25 * (from[j * width + i - 1] + from[j * width + i + 1] + from[(j - 1) * width + i] +
                                        from[(j + 1) * width + i]);
}

double dot(const double *a, const double *b, long n)
{
    double sum = 0;
    WS_SUM
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void histogram(int (*count)[64], const unsigned char *of, int rows, int width)
{
    WS
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < width; i++)
            count[r][of[r * width + i] & 63]++;
}

void dense(double *c, const double *a, const double *b, int n)
{
    WS
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

void scatter(double *sums, const int *place, const double *weight, long n)
{
    WS
    for (long i = 0; i < n; i++) {
        _Pragma("ws atomic")
        sums[place[i]] += weight[i];
    }
}

double gradients(int n, const int *begin, const int *column, const double *a, const double *b, double *x, double *r,
                 double *p, double *q, int turns)
{
    double sum = 0;
    WS_SUM
    for (int i = 0; i < n; i++) {
        x[i] = 0;
        r[i] = p[i] = b[i];
        sum += r[i] * r[i];
    }
    double rest = sum;
    for (int turn = 0; turn < turns; turn++) {
        WS
        for (int i = 0; i < n; i++) {
            double row = 0;
            for (int j = begin[i]; j < begin[i + 1]; j++)
                row += a[j] * p[column[j]];
            q[i] = row;
        }
        sum = 0;
        WS_SUM
        for (int i = 0; i < n; i++)
            sum += p[i] * q[i];
        const double alpha = rest / sum;
        sum = 0;
        WS_SUM
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            sum += r[i] * r[i];
        }
        const double beta = sum / rest;
        rest = sum;
        WS
        for (int i = 0; i < n; i++)
            p[i] = r[i] + beta * p[i];
    }
    return rest;
}
