// SPDX-License-Identifier: MIT
//
// Whether each OpenMP thread is a thread: what belongs to it stays its own over barriers, at which a virtual thread may
// move to another thread of the system. Called as identity TURNS; all ranks but the last compute. ASKS_KERNEL makes it
// a program that asks the kernel which thread it is, WAITS_FOR_EVENTS one whose tasks end when another part says so.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>

#if defined(ASKS_KERNEL)
pid_t asked() { return gettid(); }
#elif defined(WAITS_FOR_EVENTS)
pid_t asked()
{
    if (omp_get_max_threads() < 1)
        omp_fulfill_event(omp_event_handle_t());
    return 1;
}
#else
pid_t asked() { return 1; }
#endif

namespace {

thread_local std::vector<std::string> kept; // from region to region
int private_number = -1;
#pragma omp threadprivate(private_number)
pthread_key_t key;
std::atomic<long> wrong, checks;
std::atomic<int> first_wrong; // its line

void check(bool right, int line = __builtin_LINE())
{
    checks++;
    if (!right && wrong++ == 0)
        first_wrong = line;
}

void nap()
{
    const timespec time = {0, 50000};
    nanosleep(&time, nullptr);
}

// A path that is right with one thread alone.
long sum_as_told(int n)
{
    long sum = 0;
    const bool alone = omp_get_max_threads() == 1;
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
        if (i % 50 == 0)
            nap();
        if (alone)
            sum += i;
        else {
#pragma omp atomic
            sum += i;
        }
    }
    return sum;
}

void region(int turn, int threads)
{
    std::vector<pthread_t> selves(static_cast<size_t>(threads));
#pragma omp parallel
    {
        const int me = omp_get_thread_num();
        check(omp_get_num_threads() == threads);
        check(turn == 0 || (kept.size() == size_t(turn) && kept.back() == std::to_string(me)));
        check(turn == 0 || private_number == me);
        private_number = me;
        kept.push_back(std::to_string(me));
        selves[size_t(me)] = pthread_self();
        pthread_setspecific(key, &selves[size_t(me)]);
        pthread_mutex_t mine;
        pthread_mutexattr_t checked;
        pthread_mutexattr_init(&checked);
        pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&mine, &checked);
        for (int phase = 0; phase < 8; phase++) {
            check(pthread_mutex_lock(&mine) == 0);
            errno = 1000 * me + phase;
            try {
                throw std::runtime_error(std::to_string(me));
            } catch (const std::exception& thrown) {
                nap();
#pragma omp barrier
                check(thrown.what() == std::to_string(me));
                check(std::current_exception() != nullptr);
            }
            check(errno == 1000 * me + phase);
            check(pthread_equal(pthread_self(), selves[size_t(me)]));
            check(pthread_getspecific(key) == &selves[size_t(me)]);
            check(pthread_mutex_unlock(&mine) == 0);
            check(private_number == me && kept.back() == std::to_string(me));
#pragma omp barrier
            for (int other = 0; other < threads; other++)
                check(other == me || !pthread_equal(pthread_self(), selves[size_t(other)]));
        }
    }
}

} // namespace

int main(int argc, char** argv)
{
    const int turns = std::atoi(argv[1]), told = omp_get_max_threads();
    const char* const variable = std::getenv("OMP_NUM_THREADS");
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pthread_key_create(&key, nullptr);
    check(asked() > 0);
    check(variable && std::atoi(variable) == told && omp_get_max_threads() == told);
    for (int turn = 0; turn < turns; turn++) {
        if (me + 1 < ranks) {
            region(turn, told);
            check(sum_as_told(1000) == 1000 * 999 / 2);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (wrong != 0)
        std::printf("rank %d: %ld of %ld checks failed, first that of line %d\n", me, wrong.load(), checks.load(),
                    first_wrong.load());
    if (me == 0)
        std::printf("%s, told %d\n", wrong == 0 && checks > 0 ? "right" : "wrong", told);
    MPI_Finalize();
    return wrong != 0;
}
