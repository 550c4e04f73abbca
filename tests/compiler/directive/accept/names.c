/* SPDX-License-Identifier: MIT
 * What loops are called: where they are, or what their name clause says. */
#include "check.h"

enum { N = 8 };

static int a[N];

#define LOOP \
    for (int i = 0; i < N; i++) \
        a[i] = i;
#define TEXT(x) #x
#define PRAGMA(x) _Pragma(TEXT(x))
#define SHARED PRAGMA(ws for) LOOP
#define NAMED(name_) PRAGMA(ws for name(name_)) LOOP
#define STEP "step "

static void by_place(void)
{
#line 100 "folder/file.c"
#pragma ws for
    LOOP
    CHECK_NAME("folder/file.c:100:by_place");
#line 200 "./file.c"
    SHARED
    CHECK_NAME("file.c:200:by_place");
#line 300 "/a/folder with \"quotes\" \\ and \303\244/file.c"
#pragma ws for
    LOOP
    CHECK_NAME("/a/folder with \"quotes\" \\ and \303\244/file.c:300:by_place");
}

/* In one line: numbers tell them apart, in the order of the source, however often each runs. */
static void two_in_a_line(void)
{
    for (int round = 0; round < 2; round++) {
#line 400 "file.c"
        SHARED CHECK_NAME("file.c:400:two_in_a_line"); SHARED CHECK_NAME("file.c:400:two_in_a_line#2"); SHARED CHECK_NAME("file.c:400:two_in_a_line#3");
    }
}

static void f(void)
{
#line 500 "file.c"
    SHARED SHARED
    CHECK_NAME("file.c:500:f#2");
}

static void by_name(void)
{
#line 600 "file.c"
#pragma ws for name("smooth")
    LOOP
    CHECK_NAME("smooth");
#pragma ws for schedule(dynamic, 2), name("a \"quoted\" \\ 'name'"), private(a)
    for (int i = 0; i < N; i++)
        (void) i;
    CHECK_NAME("a \"quoted\" \\ 'name'");
    CHECK_SCHEDULE(WS_DYNAMIC, 2, WS_AUTO, 0);
#pragma ws for name(STEP "1" " of " "2")
    LOOP
    CHECK_NAME("step 1 of 2");
    NAMED("from a macro")
    CHECK_NAME("from a macro");
#pragma ws for name("gr\303\274n \xC3\xBC \u00fc ü %s %n ?\?/ \? : , ) #")
    LOOP
    CHECK_NAME("gr\303\274n \303\274 \303\274 \303\274 %s %n ?" "?/ ? : , ) #");
    /* Two of one name are one loop to the reader. */
#pragma ws for name("smooth")
    LOOP
    CHECK_NAME("smooth");
#ifdef __cplusplus
#pragma ws for name(R"raw(a "raw" \ one)raw")
    LOOP
    CHECK_NAME("a \"raw\" \\ one");
#endif
    CHECK(a[N - 1] == N - 1);
}

#define CHARACTERS "0123456789012345678901234567890123456789"
static void longest(void)
{
    /* 191 bytes. */
#pragma ws for name(CHARACTERS CHARACTERS CHARACTERS CHARACTERS "0123456789012345678901234567890")
    LOOP
    CHECK(!&ws_fake_site || strlen(ws_fake_site->where) == WS_NAME_MAX);
#line 700 "folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/folder/"
#pragma ws for
    LOOP
    CHECK(!&ws_fake_site || (strlen(ws_fake_site->where) <= WS_NAME_MAX && strstr(ws_fake_site->where, "/folder:700:longest")
                             && strncmp(ws_fake_site->where, "...", 3) == 0));
}

static void give_guests_a_chance(void)
{
    long sum = 0;
#pragma ws for reduction(+ : sum) name("the last")
    for (int i = 0; i < 64; i++) {
        sum += i;
        work();
    }
    CHECK(sum == 64 * 63 / 2);
}

static void run_all(void)
{
    RUN(by_place);
    RUN(two_in_a_line);
    RUN(f);
    RUN(by_name);
    RUN(longest);
    RUN(give_guests_a_chance);
}
