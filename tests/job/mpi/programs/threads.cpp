// SPDX-License-Identifier: MIT
//
// threads WHAT THREADS ROUNDS [SEED]: programs with MPI_THREAD_MULTIPLE whose threads run loops at once. Each iteration
// counts itself in its owner's memory: every count must come to 1, whichever thread runs it.
//
//   loops    in each round the threads of one rank run loops of random length and cost at once, while the others wait
//   inside   as loops, with loops in the iterations, which are plain ones
//   mpi      as loops, with messages to the thread's fellow in the other ranks between the loops
//   come     threads that come and go, one loop each
//   openmp   the threads are OpenMP's
//   end      a thread runs loops while the others call MPI_Finalize
#include "test.h"
#include <atomic>
#include <functional>
#include <omp.h>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<long> on_guests, on_owners;
std::atomic<int> wrong;

struct Iterations {
    explicit Iterations(long n) : ran(static_cast<size_t>(n)) {}
    std::vector<unsigned char> ran; // not atomic: nobody else has the iteration

    void check(const char* what, int thread, int round)
    {
        for (size_t i = 0; i < ran.size(); i++)
            if (ran[i] != 1 && wrong++ < 10)
                printf("rank %d: %s, thread %d, round %d: iteration %zu of %zu ran %d times\n", rank, what, thread,
                       round, i, ran.size(), ran[i]);
    }
};

void count(const std::thread::id& owner) { (std::this_thread::get_id() == owner ? on_owners : on_guests)++; }

// One loop of `n` iterations of `unit` seconds.
void loop(int thread, int round, long n, double unit, bool inside)
{
    Iterations all(n);
    const auto owner = std::this_thread::get_id();
    unsigned char* ran = all.ran.data();
    long sum = 0, last = -1, inner_total = 0;
    switch (round % 3) {
    case 0:
#pragma ws for reduction(+ : sum, inner_total)
        for (long i = 0; i < n; i++) {
            ran[i]++;
            sum += i;
            count(owner);
            busy(unit);
            if (inside) {
                long inner = 0;
#pragma ws for reduction(+ : inner)
                for (int j = 0; j < 10; j++)
                    inner += j;
                inner_total += inner;
            }
        }
        break;
    case 1:
#pragma ws for reduction(+ : sum) lastprivate(last) schedule(dynamic, 2) steal_schedule(dynamic)
        for (long i = 0; i < n; i++) {
            ran[i]++;
            sum += i;
            last = i;
            count(owner);
            busy(unit);
        }
        CHECK(n == 0 || last == n - 1);
        break;
    default:
#pragma ws for reduction(+ : sum) schedule(guided) steal_schedule(auto)
        for (long i = n - 1; i >= 0; i--) {
            ran[i]++;
            sum += i;
            count(owner);
            busy(unit);
        }
    }
    CHECK(sum == n * (n - 1) / 2);
    CHECK(!inside || round % 3 || inner_total == 45 * n);
    all.check("loop", thread, round);
}

void loops(int thread, int round, uint64_t seed, bool inside, bool mpi)
{
    uint64_t state = seed * 7919 + static_cast<uint64_t>(thread) * 104729 + static_cast<uint64_t>(round);
    const int number = 1 + static_cast<int>(random_below(&state, 4));
    for (int k = 0; k < number; k++) {
        const long n = static_cast<long>(random_below(&state, random_below(&state, 3) ? 60 : 600));
        loop(thread, round + k, n, 1e-6 * static_cast<double>(random_below(&state, n > 100 ? 4 : 30)), inside);
        if (mpi) {
            int got = -1, token = thread * 1000 + round;
            MPI_Sendrecv(&token, 1, MPI_INT, rank, thread, &got, 1, MPI_INT, rank, thread, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            CHECK(got == token);
        }
    }
}

// Runs work(0) ... work(threads - 1) at once; half of the threads are made by C++, half by POSIX.
void* call(void* work)
{
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
}

void on_threads(int threads, const std::function<void(int)>& work)
{
    std::vector<std::thread> of_cxx;
    std::vector<pthread_t> of_posix;
    std::vector<std::function<void()>> each(static_cast<size_t>(threads));
    for (int t = 1; t < threads; t++)
        each[static_cast<size_t>(t)] = [&work, t] { work(t); };
    for (int t = 1; t < threads; t++)
        if (t % 2)
            of_cxx.emplace_back(each[static_cast<size_t>(t)]);
        else
            pthread_create(&of_posix.emplace_back(), nullptr, call, &each[static_cast<size_t>(t)]);
    work(0); // and the thread that called MPI_Init
    for (std::thread& t : of_cxx)
        t.join();
    for (pthread_t t : of_posix)
        pthread_join(t, nullptr);
}

} // namespace

int main(int argc, char** argv)
{
    const std::string what = argv[1];
    const int threads = atoi(argv[2]), rounds = atoi(argv[3]);
    const uint64_t seed = argc > 4 ? strtoull(argv[4], nullptr, 10) : 1;
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(level == MPI_THREAD_MULTIPLE);

    std::thread to_the_end;
    std::atomic<bool> ended{false};
    for (int r = 0; r < rounds; r++) {
        if (rank == r % ranks) {
            if (what == "come") {
                for (int t = 0; t < threads; t += 4)
                    on_threads(4, [&](int k) { loop(t + k, t + k, 20, 1e-6, false); });
            } else if (what == "openmp") {
#pragma omp parallel num_threads(threads)
                loops(omp_get_thread_num(), r, seed, false, false);
            } else {
                on_threads(threads, [&](int t) { loops(t, r, seed, what == "inside", what == "mpi"); });
            }
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (what == "end")
        to_the_end = std::thread([&] {
            for (int r = 0; !ended; r++)
                loop(0, r, 50, 5e-6, false);
            loop(0, 0, 50, 5e-6, false);
        });
    long mine[2] = {on_owners, on_guests}, all[2];
    failures += wrong;
    MPI_Reduce(mine, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("iterations by owners %ld, by others %ld\n", all[0], all[1]);
    const int status = end();
    ended = true;
    if (to_the_end.joinable())
        to_the_end.join();
    return status || wrong;
}
