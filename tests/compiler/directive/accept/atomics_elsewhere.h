/* SPDX-License-Identifier: MIT */
#ifdef __cplusplus
extern "C" {
#endif
void add_elsewhere(double *to, double value);
void add_wide_elsewhere(long double *to, long double value);
int next_elsewhere(void);
#ifdef __cplusplus
}
#endif
