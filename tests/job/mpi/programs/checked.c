/* SPDX-License-Identifier: MIT
 *
 * checked short N: the last rank runs N loops of 2 to 10 short iterations, right ones, and checks each.
 * checked kinds: loops that WS_CHECK exercises, or cannot; each rank runs all of them but one.
 * checked right|sum|chain|scratch N: N executions of one loop in each rank; prints what came out, which for the last
 * three is only by chance the same when the loop is shared:
 *    sum      adds to a variable without a reduction
 *    chain    each iteration uses what the one before has written
 *    scratch  iterations share a temporary that should be private */
#include "test.h"

static void short_loops(int number)
{
    for (int n = 0; n < number; n++) {
        int iterations = 2 + n % 9, hits[10] = {0};
        long sum = 0;
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < iterations; i++) {
            hits[i]++;
            sum += i + 1;
        }
        CHECK(sum == (long) iterations * (iterations + 1) / 2);
        for (int i = 0; i < iterations; i++)
            CHECK(hits[i] == 1);
    }
}

static void never_run(void)
{
#pragma ws for name("never run")
    for (int i = 0; i < 100; i++)
        busy(1e-6);
}

static void kinds(void)
{
    long sum = 0;
    int last = -1;
    for (int n = 0; n < 10; n++) {
#pragma ws for name("free") reduction(+ : sum)
        for (int i = 0; i < 100; i++)
            sum += i;
#pragma ws for name("in order") lastprivate(last)
        for (int i = 0; i < 20; i++)
            last = i;
        CHECK(last == 19);
#pragma ws for name("dynamic") schedule(dynamic, 3) reduction(+ : sum)
        for (int i = 0; i < 20; i++)
            sum += i;
#pragma ws for name("one chunk") schedule(dynamic, 1000) reduction(+ : sum)
        for (int i = 0; i < 20; i++)
            sum += i;
#pragma ws for name("one iteration") reduction(+ : sum)
        for (int i = 7; i < 8; i++)
            sum += i;
#pragma ws for name("empty") reduction(+ : sum)
        for (int i = 7; i < 7; i++)
            sum += i;
        long inner = 0;
#pragma ws for name("outer") reduction(+ : inner)
        for (int i = 0; i < 2; i++) {
#pragma ws for name("inner") reduction(+ : inner)
            for (int k = 0; k < 4; k++)
                inner += k;
        }
        CHECK(inner == 12);
    }
    CHECK(sum == 10 * (4950 + 190 + 190 + 7));
    if (getenv("NO_SUCH_VARIABLE"))
        never_run();
}

enum { size = 20000 };
static long numbers[size];

static long one_loop(const char *kind)
{
    long sum = 0, scratch[8];
    for (int i = 0; i < size; i++)
        numbers[i] = i % 7;
    if (!strcmp(kind, "right")) {
#pragma ws for reduction(+ : sum)
        for (int i = 0; i < size; i++)
            sum += numbers[i] * i;
    } else if (!strcmp(kind, "sum")) {
#pragma ws for
        for (int i = 0; i < size; i++)
            sum += numbers[i] * i;
    } else if (!strcmp(kind, "chain")) {
#pragma ws for
        for (int i = 1; i < size; i++)
            numbers[i] = numbers[i - 1] * 3 % 1001 + i;
        sum = numbers[size - 1];
    } else {
#pragma ws for
        for (int i = 0; i < size; i++) {
            for (int k = 0; k < 8; k++)
                scratch[k] = i + k;
            __asm__ volatile("" ::: "memory"); /* it is memory for the compiler, too */
            for (int k = 0; k < 8; k++)
                numbers[i] += scratch[k] * 5;
        }
        for (int i = 0; i < size; i++)
            sum += numbers[i] * (i % 3);
    }
    return sum;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    const char *kind = argv[1];
    const int number = argc > 2 ? atoi(argv[2]) : 1;
    if (!strcmp(kind, "short")) {
        if (rank == ranks - 1) {
            busy(5e-3); /* until the others wait */
            short_loops(number);
        }
    } else if (!strcmp(kind, "kinds"))
        kinds();
    else {
        unsigned long checksum = 0;
        for (int n = 0; n < number; n++)
            checksum = checksum * 31 + (unsigned long) one_loop(kind);
        MPI_Allreduce(MPI_IN_PLACE, &checksum, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (!rank)
            printf("%lu\n", checksum);
    }
    return end();
}
