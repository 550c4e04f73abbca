// SPDX-License-Identifier: MIT
//
// Mappings of files and of shared memory, which are unmapped when their object is destroyed. What needs flags that
// decide where or whether there is memory (MAP_FIXED, MAP_NORESERVE, PROT_NONE) calls mmap, and says why.
#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <sys/mman.h>

namespace ws::base {

using Mapping = boost::interprocess::mapped_region;
using boost::interprocess::copy_on_write; // private
using boost::interprocess::read_only;
using boost::interprocess::read_private; // read only, and private
using boost::interprocess::read_write;

// An open file that a mapping is made of. Its opener closes it.
class MappedFile {
public:
    explicit MappedFile(int fd) : fd_(fd) {}
    boost::interprocess::mapping_handle_t get_mapping_handle() const
    {
        return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(fd_);
    }

private:
    int fd_;
};

// Maps the first `bytes` of a file. The mapping is empty, with a null address, if the system refuses it.
inline Mapping map(int fd, boost::interprocess::mode_t mode, size_t bytes, int flags = 0)
{
    try {
        if (bytes) // mapped_region would map the whole file
            return Mapping(MappedFile(fd), mode, 0, bytes, nullptr, flags);
    } catch (...) { // interprocess_exception, or bad_alloc while it is made
    }
    return {};
}

// Memory without a file, which children of this process share if `mode` is read_write.
inline Mapping map_anonymous(boost::interprocess::mode_t mode, size_t bytes)
{
    return map(-1, mode, bytes, MAP_ANONYMOUS);
}

template <class T>
T* at(const Mapping& mapping)
{
    return static_cast<T*>(mapping.get_address());
}

} // namespace ws::base
