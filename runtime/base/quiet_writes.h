// SPDX-License-Identifier: MIT
//
// A file that grows beyond `ulimit -f`, and a pipe whose reader has gone, end the process by a signal, unless the
// program has said otherwise: for files of Workshare's, which the job must survive, write() shall just fail.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

namespace ws::base {

// While it lives, this thread does not get SIGXFSZ and SIGPIPE. The kernel sends both to the thread that writes, so its
// mask is enough: the program's handlers and its other threads keep theirs. Signals that came before stay pending.
class QuietWrites {
public:
    QuietWrites()
    {
        sigset_t pending;
        sigpending(&pending);
        sigemptyset(&ours_);
        for (const int signal : {SIGXFSZ, SIGPIPE})
            if (sigismember(&pending, signal) == 0)
                sigaddset(&ours_, signal);
        pthread_sigmask(SIG_BLOCK, &ours_, &before_);
    }
    ~QuietWrites()
    {
        const int error = errno;
        const timespec at_once = {};
        while (sigtimedwait(&ours_, nullptr, &at_once) > 0)
            ;
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    QuietWrites(const QuietWrites&) = delete;
    QuietWrites& operator=(const QuietWrites&) = delete;

private:
    sigset_t ours_, before_;
};

} // namespace ws::base
