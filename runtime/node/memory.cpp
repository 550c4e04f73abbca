// SPDX-License-Identifier: MIT
#include "node/memory.h"

#include "base/open_file.h"
#include "base/os.h"
#include "base/sealed_file.h"
#include "node/split.h"

#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ws::node {

namespace {

constexpr size_t line = 64;

// Where the others find the file of the first rank, and how they know that it is this one.
struct Place {
    int64_t pid, fd;
    uint64_t device, inode;
};

int make_file(size_t bytes, Place& place)
{
    const int fd = base::make_sealed_file("workshare-node", bytes);
    struct stat s;
    if (fd >= 0 && fstat(fd, &s) == 0)
        place = {getpid(), fd, s.st_dev, s.st_ino};
    return fd;
}

int open_file(const Place& place)
{
    const std::string path = "/proc/" + std::to_string(place.pid) + "/fd/" + std::to_string(place.fd);
    return base::open_regular(path.c_str(), O_RDWR, [&](const struct stat& s) {
        return s.st_uid == geteuid() && s.st_dev == place.device && s.st_ino == place.inode;
    });
}

// Collective. The descriptor stays open until the others have opened it. -1 if this process has none.
int share_file(MPI_Comm node, bool first, size_t bytes)
{
    Place place = {};
    const int fd = first ? make_file(bytes, place) : -1;
    PMPI_Bcast(&place, sizeof place, MPI_BYTE, 0, node);
    return !first && place.pid ? open_file(place) : fd;
}

} // namespace

void* Memory::allocate(MPI_Comm node, size_t bytes, Content content)
{
    int me, unit;
    void* base = nullptr;
    MPI_Aint size;
    PMPI_Comm_rank(node, &me);
    size_t all_bytes = bytes + line;
    // Not whole pages: for those MPICH would try random addresses until one suits all ranks. That is of no use here,
    // and tools such as ThreadSanitizer cannot stand every address.
    all_bytes += all_bytes % size_t(sysconf(_SC_PAGESIZE)) == 0 ? line : 0;
    if (mpi_shares_memory()) {
        lacks_room_ = !all(node, me != 0 || base::shm_has_room(all_bytes));
        if (lacks_room_)
            return nullptr;
        const int error = PMPI_Win_allocate_shared(me == 0 ? MPI_Aint(all_bytes) : 0, 1, MPI_INFO_NULL, node, &base,
                                                   &window_);
        if (!all(node, error == MPI_SUCCESS))
            return nullptr;
        PMPI_Win_shared_query(window_, 0, &size, &unit, &base);
    } else {
        const int fd = share_file(node, me == 0, all_bytes);
        if (fd >= 0)
            mapping_ = base::map(fd, base::read_write, all_bytes);
        base = mapping_.get_address();
        const bool there = all(node, base != nullptr);
        if (fd >= 0)
            close(fd);
        if (!there) {
            mapping_ = {};
            return nullptr;
        }
    }
    void* const memory = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(base) + line - 1) & ~uintptr_t(line - 1));
    if (me == 0 && content == Content::zeroes)
        std::memset(memory, 0, bytes);
    return memory;
}

int64_t Memory::from_first(MPI_Comm node, int64_t offset)
{
    PMPI_Bcast(&offset, 1, MPI_INT64_T, 0, node);
    return offset;
}

bool Memory::all(MPI_Comm node, bool fine)
{
    int on_all = fine;
    return PMPI_Allreduce(MPI_IN_PLACE, &on_all, 1, MPI_INT, MPI_LAND, node) == MPI_SUCCESS && on_all;
}

void Memory::free()
{
    mapping_ = {};
    if (window_ != MPI_WIN_NULL)
        PMPI_Win_free(&window_);
}

} // namespace ws::node
