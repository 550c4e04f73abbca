// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::base {

// A file of zeroes without a name, which only this user can open, and whose size nobody can change: a process that maps
// it cannot be killed by a file that shrinks. -1: the system refuses it. Closed on exec.
inline int make_sealed_file(const char* name, size_t bytes)
{
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    fchmod(fd, 0600);
    if (ftruncate(fd, off_t(bytes)) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    close(fd);
    return -1;
}

} // namespace ws::base
