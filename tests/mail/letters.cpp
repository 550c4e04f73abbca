// SPDX-License-Identifier: MIT
//
// letters N: the ranks post N letters to each other, and answer some, while the program itself sends messages of its
// own, asks for any message that comes, and calls collectives. Each letter is counted and its number and bytes are
// checked; so is what the program sends.
#include "mail/mail.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sched.h>
#include <vector>

using namespace ws::mail;

namespace {

int rank, size;

[[noreturn]] void fail(const char* what, long a, long b)
{
    std::printf("rank %d: %s: %ld, %ld\n", rank, what, a, b);
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
}

// The first 8 bytes are the letter's number among those from this rank to that one; all other bytes are computed from
// it.
std::string write(uint64_t number, size_t bytes)
{
    std::string letter(bytes, '\0');
    for (size_t i = 0; i < bytes; i++)
        letter[i] = char(number * 31 + i * 7);
    if (bytes >= sizeof number)
        std::memcpy(letter.data(), &number, sizeof number);
    return letter;
}

} // namespace

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long letters = argc > 1 ? std::atol(argv[1]) / size : 1000;
    std::mt19937 random(unsigned(rank) + 1);
    std::vector<uint64_t> sent(size_t(size), 0), seen(size_t(size), 0);
    enum : Kind { plain, to_answer };

    Mail mail;
    const auto post = [&](int to, Kind kind) {
        // Most are small; one of 5,000 has a megabyte, some have nothing.
        const unsigned dice = random() % 5000;
        const size_t bytes = dice == 0 ? 1 << 20 : dice < 10 ? large - 4 + dice : dice < 20 ? 0 : 8 + dice % 120;
        mail.post(to, kind, write(sent[size_t(to)]++, bytes));
    };
    mail.open(MPI_COMM_WORLD, [&](int from, Kind kind, std::string_view letter) {
        const uint64_t number = seen[size_t(from)]++;
        if (letter != write(number, letter.size()))
            fail("a letter is wrong: number, bytes", long(number), long(letter.size()));
        if (kind == to_answer)
            post(from, plain);
    });

    long ring = rank;
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (long i = 0, turn = 0; i < letters || turn % 50; turn++) {
        for (int burst = 0; burst < 40 && i < letters; burst++, i++)
            post(int(random() % unsigned(size)), i % 8 ? plain : to_answer);
        mail.poll();
        if (turn % 5 == 0 && size > 1) { // a message of the program's, which takes whatever comes first
            long got;
            MPI_Request request;
            MPI_Isend(&ring, 1, MPI_LONG, next, 1, MPI_COMM_WORLD, &request);
            MPI_Status status;
            MPI_Recv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            if (status.MPI_SOURCE != before || status.MPI_TAG != 1)
                fail("a foreign message: source, tag", status.MPI_SOURCE, status.MPI_TAG);
            ring = got;
        }
    }
    mail.drain([] { sched_yield(); });

    std::vector<uint64_t> should(static_cast<size_t>(size));
    MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, should.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
        if (seen[size_t(r)] != should[size_t(r)])
            fail("letters lost or doubled: seen, sent", long(seen[size_t(r)]), long(should[size_t(r)]));
    if (mail.queued())
        fail("letters left: bytes", long(mail.queued()), 0);
    mail.close();
    uint64_t all = mail.received();
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        std::printf("%lu letters\n", static_cast<unsigned long>(all));
    MPI_Finalize();
    return 0;
}
