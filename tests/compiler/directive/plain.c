/* SPDX-License-Identifier: MIT
 *
 * What a loop is to be in its function at -O3, with clang also at -O2: with a directive as without.
 */

/* A loop of a few instructions in a loop: its time depends on where it begins. */
#define PRODUCT(version, directive) \
    void product_##version(double *y, const int *begin, const int *column, const double *a, const double *x, int n) \
    { \
        directive \
        for (int r = 0; r < n; r++) { \
            double sum = 0; \
            for (int i = begin[r]; i < begin[r + 1]; i++) \
                sum += a[i] * x[column[i]]; \
            y[r] = sum; \
        } \
    }

PRODUCT(plain, )
PRODUCT(shared, _Pragma("ws for"))

/* Its only caller gives it a constant. */
__attribute__((noinline)) static void scale(double *y, double factor, long n)
{
    _Pragma("ws for")
    for (long i = 0; i < n; i++)
        y[i] *= factor;
}

void scale_all(double *y, long n) { scale(y, 3.75, n); }

/* The factor is the other operand once an instruction may write over it. */
#define MAP(version, directive) \
    void map_##version(double *y, const double *x, double a, long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) { \
            double v = x[i]; \
            for (int k = 0; k < 40; k++) \
                v = a * v * (1.0 - v); \
            y[i] = v; \
        } \
    }

MAP(plain, )
MAP(shared, _Pragma("ws for"))

/* The weight is loaded first, then the place, which takes longer. */
#define SCATTER(version, directive, atomic) \
    void scatter_##version(double *sums, const int *place, const double *weight, long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) { \
            atomic \
            sums[place[i]] += weight[i]; \
        } \
    }

SCATTER(plain, , )
SCATTER(shared, _Pragma("ws for"), _Pragma("ws atomic"))

/* Numbers that an addition of doubles cannot have changed are loaded once. */
#define CROSS(version, directive, atomic) \
    void cross_##version(double *sums, const double *of, const int (*place)[2], long n) \
    { \
        directive \
        for (long i = 0; i < n; i++) { \
            atomic \
            sums[place[i][0]] += of[place[i][1]]; \
            atomic \
            sums[place[i][1]] += of[place[i][0]]; \
        } \
    }

CROSS(plain, , )
CROSS(shared, _Pragma("ws for"), _Pragma("ws atomic"))

/* In a file of its own, as it were: what says of an object's type nothing. */
#ifdef OTHER_TYPES
union number {
    double d;
    float f[2];
};
typedef double __attribute__((may_alias)) any_double;

#define OTHER(name, object) \
    void other_##name(union number *at, const int *place, const double *what, long n) \
    { \
        _Pragma("ws for") \
        for (long i = 0; i < n; i++) { \
            _Pragma("ws atomic") \
            object += (__typeof__(object)) what[i]; \
        } \
    }

#if OTHER_TYPES == 1
OTHER(member, at[place[i]].d)
#elif OTHER_TYPES == 2
OTHER(element, at[place[i]].f[1])
#else
OTHER(any, *(any_double *) &at[place[i]])
#endif
#endif
