/* SPDX-License-Identifier: MIT
 *
 * Unbalanced Tree Search (Olivier et al., LCPC 2006): the trees of its benchmark, by SHA-1. For C11 and C++17.
 */
#ifndef WS_BENCH_UTS_H
#define WS_BENCH_UTS_H

#include <math.h>
#include <nettle/sha1.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct node {
    uint8_t state[SHA1_DIGEST_SIZE];
    int32_t height;
};
static bool binomial;   /* T3; else T1 */

static inline long random_of(const struct node *n)
{
    const uint8_t *s = n->state + 16;
    return (long) (((uint32_t) s[0] << 24 | (uint32_t) s[1] << 16 | (uint32_t) s[2] << 8 | s[3]) & 0x7fffffff);
}

static inline void big_endian(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t) (value >> (24 - 8 * i));
}

static inline struct node root(uint32_t seed)
{
    struct node n = { {0}, 0 };
    uint8_t text[20] = { 0 };
    struct sha1_ctx sha;
    big_endian(text + 16, seed);
    sha1_init(&sha);
    sha1_update(&sha, sizeof text, text);
    sha1_digest(&sha, sizeof n.state, n.state);
    return n;
}

static inline struct node child(const struct node *parent, uint32_t number)
{
    struct node n = { {0}, parent->height + 1 };
    uint8_t text[24];
    struct sha1_ctx sha;
    memcpy(text, parent->state, 20);
    big_endian(text + 20, number);
    sha1_init(&sha);
    sha1_update(&sha, sizeof text, text);
    sha1_digest(&sha, sizeof n.state, n.state);
    return n;
}

static inline int children_of(const struct node *n)
{
    const double u = (double) random_of(n) / 2147483648.0;
    if (binomial)               /* -t 0 -b 2000 -q 0.124875 -m 8 -r 42 */
        return n->height == 0 ? 2000 : u < 0.124875 ? 8 : 0;
    const double b = n->height < 10 ? 4 : 0;    /* -t 1 -a 3 -d 10 -b 4 -r 19 */
    const int children = (int) floor(log(1 - u) / log(1 - 1 / (1 + b)));
    return children > 100 ? 100 : children;
}

#endif
