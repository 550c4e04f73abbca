/* SPDX-License-Identifier: MIT
 *
 * A loop in which straight code is vectorized once inner loops are unrolled and before their array is gone: with a
 * directive as without.
 */
static double operator_of[8][8];

void set_operator(int i, int j, double v) { operator_of[i][j] = v; }

#define ASSEMBLE(version, directive) \
    void assemble_##version(double *out, const double *in, const int (*nodes)[8], long n) \
    { \
        directive \
        for (long e = 0; e < n; e++) { \
            double local[8]; \
            for (int i = 0; i < 8; i++) { \
                double sum = 0; \
                for (int j = 0; j < 8; j++) \
                    sum += operator_of[i][j] * in[nodes[e][j]]; \
                local[i] = sum; \
            } \
            for (int i = 0; i < 8; i++) \
                out[nodes[e][i]] += local[i]; \
        } \
    }

ASSEMBLE(plain, )
ASSEMBLE(shared, _Pragma("ws for"))
