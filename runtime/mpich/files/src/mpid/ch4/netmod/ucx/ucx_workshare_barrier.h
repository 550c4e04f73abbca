/* SPDX-License-Identifier: MIT
 *
 * The barrier at the end of MPI_Finalize. For ucx_init.c alone.
 *
 * The process manager's barrier does not poll the network, and others may need this process for their
 * disconnects: a thread waits in the barrier while this one makes progress.
 */
#ifndef UCX_WORKSHARE_BARRIER_H_INCLUDED
#define UCX_WORKSHARE_BARRIER_H_INCLUDED

#include <pthread.h>
#include <signal.h>

#if MPICH_NUMVERSION < 40200000
#define WORKSHARE_UCX_WORKERS MPIDI_UCX_global.num_vnis
#else
#define WORKSHARE_UCX_WORKERS MPIDI_UCX_global.num_vcis
#endif

struct pmi_barrier {
    pthread_mutex_t lock;
    pthread_cond_t left;
    int is_over;
    int mpi_errno;
};

static void *wait_in_pmi_barrier(void *arg)
{
    struct pmi_barrier *barrier = arg;

    barrier->mpi_errno = MPIR_pmi_barrier();
    pthread_mutex_lock(&barrier->lock);
    barrier->is_over = 1;
    pthread_cond_signal(&barrier->left);
    pthread_mutex_unlock(&barrier->lock);
    return NULL;
}

static int pmi_barrier_with_progress(void)
{
    struct pmi_barrier barrier = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
    struct timespec until;
    long pause = 20000;         /* nanoseconds */
    sigset_t all, before;
    pthread_t thread;
    int err;

    /* signals are for the program's own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = MPIR_Process.size == 1 ||
        pthread_create(&thread, NULL, wait_in_pmi_barrier, &barrier);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err)
        return MPIR_pmi_barrier();

    pthread_mutex_lock(&barrier.lock);
    while (!barrier.is_over) {
        pthread_mutex_unlock(&barrier.lock);
        for (int i = 0; i < WORKSHARE_UCX_WORKERS; i++)
            ucp_worker_progress(MPIDI_UCX_global.ctx[i].worker);
        pause = MPL_MIN(2 * pause, 1000000);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += pause;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&barrier.lock);
        if (!barrier.is_over)
            pthread_cond_timedwait(&barrier.left, &barrier.lock, &until);
    }
    pthread_mutex_unlock(&barrier.lock);
    pthread_join(thread, NULL);
    return barrier.mpi_errno;
}

#endif /* UCX_WORKSHARE_BARRIER_H_INCLUDED */
