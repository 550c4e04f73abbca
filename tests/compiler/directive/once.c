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
