// SPDX-License-Identifier: MIT
//
// For files that other processes have open, that a user names, or that somebody else could have put in place of what is
// expected. None of these functions waits in open(): that of a named pipe waits for its other end, that of a file on
// which somebody holds a lease up to 45 s.
#pragma once


#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::base {

// How long a named pipe that is to be read may have no writer: one that is started together with
// the reader needs milliseconds; and how often it is looked for.
constexpr unsigned writer_patience_ms = 2000, writer_look_ms = 10;

// Opens what `path` leads to with `flags`, if it is a regular file and `accepts(struct stat)` says yes; else -1. A file
// that is not accepted is never opened, only referred to: opening a device or a pipe can block or do something.
template <class Accepts> int open_regular(const char* path, int flags, Accepts&& accepts)
{
    const int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0)
        return -1;
    struct stat s;
    const bool fits = fstat(place, &s) == 0 && S_ISREG(s.st_mode) && accepts(s);
    const int fd = fits ? open(("/proc/self/fd/" + std::to_string(place)).c_str(),
                               flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
                        : -1;
    close(place);
    return fd;
}

// Opens `path` for writing from its start, whatever kind of file it is: the descriptor, or -1 and errno. A named pipe
// that nobody reads is ENXIO. Writing then waits, as ever.
inline int open_to_write(const char* path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd >= 0)
        fcntl(fd, F_SETFL, O_WRONLY);
    return fd;
}

// Returns 0 if open_to_write(path) can succeed later, else errno. Changes nothing: a file that it had to create is gone
// again, and a pipe is not opened, because closing it would end it for its reader.
inline int why_not_writable(const char* path)
{
    struct stat s;
    if (stat(path, &s) == 0 && S_ISFIFO(s.st_mode))
        return access(path, W_OK) == 0 ? 0 : errno;
    constexpr int flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    int fd = open(path, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, flags | O_CREAT | O_EXCL, 0666);
        if (fd >= 0)
            unlink(path);
        else if (errno == EEXIST) // a link to nothing yet
            fd = open(path, flags | O_CREAT, 0666);
    }
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

// Reads all of `path` into `text`: "" or what is wrong. Waits for data of a pipe that has a writer, and for
// writer_patience_ms for a writer.
inline std::string read_whole(const char* path, std::string& text)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat s;
    std::string wrong;
    if (fd < 0 || fstat(fd, &s) < 0)
        wrong = std::strerror(errno);
    bool begun = fd >= 0 && !S_ISFIFO(s.st_mode);
    char piece[65536];
    for (unsigned waited_ms = 0; wrong.empty();) {
        const ssize_t n = read(fd, piece, sizeof piece);
        if (n > 0)
            text.append(piece, size_t(n));
        // EAGAIN: the pipe has a writer, which has written nothing yet
        begun = begun || n > 0 || (n < 0 && errno == EAGAIN);
        if (n == 0 && begun)
            break;
        if (n == 0 && waited_ms >= writer_patience_ms)
            wrong = "it is a pipe without a writer";
        else if (n == 0) {
            poll(nullptr, 0, writer_look_ms);
            waited_ms += writer_look_ms;
        } else if (n < 0 && errno == EAGAIN) {
            pollfd more = {fd, POLLIN, 0};
            poll(&more, 1, -1);
        } else if (n < 0 && errno != EINTR)
            wrong = std::strerror(errno);
    }
    if (fd >= 0)
        close(fd);
    return wrong;
}

} // namespace ws::base
