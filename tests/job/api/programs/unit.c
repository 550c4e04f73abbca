/* SPDX-License-Identifier: MIT
 *
 * ws_for without MPI, in C99 and C++: every error, extreme ranges, names. Prints what is wrong and returns 1, or 0. */
#include <workshare/ws.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failures;
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            failures++; \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
        } \
    } while (0)

struct seen {
    int64_t first, last;
    uint64_t iterations;
    int calls;
};

static void see(int64_t lo, int64_t hi, void *context)
{
    struct seen *seen = (struct seen *) context;
    if (seen->calls++ == 0)
        seen->first = lo;
    CHECK(lo < hi);
    seen->last = hi;
    seen->iterations += (uint64_t) hi - (uint64_t) lo;
}

static void see_each(int64_t lo, int64_t hi, void *context)
{
    for (int64_t i = lo; i < hi; i++)
        CHECK(ws_for(i, i + 1, see, context, NULL) == 0);
}

static void check(int64_t begin, int64_t end, const struct ws_options *options)
{
    struct seen seen = { 0, 0, 0, 0 };
    CHECK(ws_for(begin, end, see, &seen, options) == 0);
    CHECK(seen.iterations == (begin < end ? (uint64_t) end - (uint64_t) begin : 0));
    CHECK(seen.calls == (begin < end));
    CHECK(begin >= end || (seen.first == begin && seen.last == end));
}

/* The message has the name, if there is one, where the call stands, and `end`. */
static void refused(const char *name, const char *end, ws_body *body, const struct ws_options *options)
{
    struct seen seen = { 0, 0, 0, 0 };
    char message[1000], place[600];
    CHECK(ws_for(0, 10, body, &seen, options) == EINVAL); const int line = __LINE__;
    CHECK(seen.calls == 0);
    snprintf(place, sizeof place, "%s:%d:refused", __FILE__, line);
    snprintf(message, sizeof message, *name ? "workshare: %s (%s): %s" : "workshare: %s%s: %s", name, place, end);
    if (strcmp(ws_last_error(), message) != 0) {
        failures++;
        printf("wanted: %s\ngot:    %s\n", message, ws_last_error());
    }
}

/* A value that is none of the enumeration's, as a wrong cast can give. */
static enum ws_schedule kind(int number)
{
    enum ws_schedule kind;
    memcpy(&kind, &number, sizeof kind);
    return kind;
}

int main(void)
{
    struct ws_options good, bad;
    memset(&good, 0, sizeof good);
    CHECK(strcmp(ws_last_error(), "") == 0);

    check(0, 10, NULL);
    check(0, 10, &good);
    check(-5, -5, NULL);
    check(5, -5, NULL);
    check(INT64_MIN, INT64_MAX, NULL);
    check(INT64_MAX, INT64_MIN, NULL);
    good.name = "a name";
    good.schedule = WS_DYNAMIC;
    good.chunk = INT64_MAX;
    good.steal_schedule = WS_GUIDED;
    good.steal_chunk = 1;
    check(-3, 1000, &good);
    good.schedule = WS_RUNTIME;
    good.chunk = 0;
    check(-3, 1000, &good);
    good.schedule = WS_DYNAMIC;
    good.chunk = 3;
    good.name = "another name, with %s and \"quotes\"";
    check(-3, 1000, &good);

    struct seen nested = { 0, 0, 0, 0 };
    CHECK(ws_for(0, 10, see_each, &nested, NULL) == 0);
    CHECK(nested.calls == 10 && nested.iterations == 10);

    /* Many bodies and names: none is mistaken for another, in whatever order they come. */
    static char names[1000][8];
    for (int i = 0; i < 1000; i++) {
        snprintf(names[i], sizeof names[i], "%d", i);
        good.name = names[i];
        check(0, i, &good);
        check(0, i, &good);
    }
    good.name = "l";

    refused("", "the body is NULL", NULL, NULL);
    refused("l", "the body is NULL", NULL, &good);
    bad = good, bad.chunk = -3;
    refused("l", "chunk size -3 in schedule is not positive", see, &bad);
    bad = good, bad.steal_chunk = INT64_MIN;
    refused("l", "chunk size -9223372036854775808 in steal schedule is not positive", see, &bad);
    bad = good, bad.schedule = kind(5);
    refused("l", "schedule 5 is none of WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME", see, &bad);
    bad = good, bad.steal_schedule = kind(1000);
    refused("l", "steal schedule 1000 is none of WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME", see, &bad);
    bad = good, bad.schedule = WS_AUTO, bad.chunk = 8;
    refused("l", "chunk size 8 in schedule: WS_AUTO takes none", see, &bad);
    bad = good, bad.steal_schedule = WS_RUNTIME, bad.steal_chunk = 1;
    refused("l", "chunk size 1 in steal schedule: WS_RUNTIME takes none", see, &bad);
    bad = good, bad.reserved[3] = 1;
    refused("l", "reserved fields of the options are not 0: not initialised?", see, &bad);

    /* Called by other languages: the function itself, named by its body. */
    bad = good, bad.name = NULL, bad.chunk = -1;
    CHECK((ws_for)(0, 1, see, &nested, &bad) == EINVAL);
    CHECK(strstr(ws_last_error(), "chunk size -1") && !strstr(ws_last_error(), __FILE__));
    CHECK((ws_for)(0, 1, NULL, &nested, NULL) == EINVAL &&
          strcmp(ws_last_error(), "workshare: ws_for: the body is NULL") == 0);
    int (*function)(int64_t, int64_t, ws_body *, void *, const struct ws_options *) = ws_for;
    CHECK(function(3, 2, see, &nested, NULL) == 0);

    /* Arguments with commas. */
#ifndef __cplusplus
    CHECK(ws_for(0, 1, see, &nested, &(struct ws_options){ .name = "one", .schedule = WS_STATIC }) == 0);
#endif

    /* Control characters, which could harm a terminal, are not printed. */
    bad = good, bad.name = "a\033[2J\nb\xff\xc3\xa4", bad.chunk = -1;
    CHECK(ws_for(0, 1, see, &nested, &bad) == EINVAL);
    CHECK(strncmp(ws_last_error(), "workshare: a?[2J?b?\xc3\xa4 (", 23) == 0);

    /* A message that is too long is cut, not written over something else. */
    static char longest[2000];
    memset(longest, 'x', sizeof longest - 1);
    bad = good, bad.name = longest, bad.chunk = -1;
    CHECK(ws_for(0, 1, see, &nested, &bad) == EINVAL);
    CHECK(strlen(ws_last_error()) < 1000 && strncmp(ws_last_error(), "workshare: xxx", 14) == 0);
    return failures != 0;
}
