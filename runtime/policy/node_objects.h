// SPDX-License-Identifier: MIT
//
// Objects in memory that the processes of a node map at different addresses (node/memory.h). One process constructs a
// root object and the arrays that it owns; Boost.Interprocess places them and links them by offsets. Nothing is
// allocated later, so nobody needs a lock: a killed process cannot hold one. Each process follows the offsets once,
// checks them, and keeps the pointers.
//
// This header takes 0.7 s to compile: include it in a .cpp file.
#pragma once

#define BOOST_DISABLE_ASSERTS // libws would grow by their text, 20 KB; what is shared is checked here

#include <boost/interprocess/allocators/allocator.hpp>
#include <boost/interprocess/containers/vector.hpp>
#include <boost/interprocess/indexes/iset_index.hpp>
#include <boost/interprocess/managed_external_buffer.hpp>
#include <boost/interprocess/mem_algo/rbtree_best_fit.hpp>
#include <boost/interprocess/sync/mutex_family.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace ws::policy {

class NodeObjects {
    static constexpr size_t line = 64;
    using BestFit = boost::interprocess::rbtree_best_fit<boost::interprocess::null_mutex_family,
                                                           boost::interprocess::offset_ptr<void>, line>;
    // Its index stays empty: a search for a name would follow offsets that are not checked. There is one root, whose
    // offset goes to the other processes in a message.
    using Buffer =
        boost::interprocess::basic_managed_external_buffer<char, BestFit, boost::interprocess::iset_index>;

    // What an allocation takes: its control block, in whole lines.
    static constexpr size_t allocated(size_t bytes)
    {
        return (bytes + BestFit::PayloadPerAllocation + line - 1) / line * line;
    }

public:
    using Manager = Buffer::segment_manager;
    template <class T>
    using Array = boost::interprocess::vector<T, boost::interprocess::allocator<T, Manager>>;

    // The sum of these is the memory needed.
    template <class Root>
    static size_t root_bytes()
    {
        static_assert(alignof(Root) <= line);
        return Manager::get_min_size() + allocated(sizeof(Root));
    }
    template <class T>
    static constexpr size_t array_bytes(size_t count)
    {
        static_assert(alignof(T) <= line);
        return allocated(count * sizeof(T));
    }

    // `memory` begins at a cache line.
    NodeObjects(void* memory, size_t bytes) : memory_(static_cast<char*>(memory)), bytes_(bytes) {}

    // For one process: constructs Root(manager, arguments...) in memory of zeroes. Its offset; -1 if there is not
    // enough memory.
    template <class Root, class... Arguments>
    int64_t construct(Arguments... arguments)
    {
        try {
            Buffer buffer(boost::interprocess::create_only, memory_, bytes_);
            return buffer.get_handle_from_address(
                new (buffer.allocate(sizeof(Root))) Root(buffer.get_segment_manager(), arguments...));
        } catch (...) { // interprocess_exception, or bad_alloc of the same library
            return -1;
        }
    }
    // For each process: the root; null if the offset is wrong.
    template <class Root>
    Root* root(int64_t offset) const
    {
        return offset >= 0 ? checked(reinterpret_cast<Root*>(memory_ + offset), 1) : nullptr;
    }
    // Its array; null if it has not `count` elements, or if they lie outside the memory.
    template <class T>
    T* elements(Array<T>& array, size_t count) const
    {
        return array.size() == count ? checked(array.data(), count) : nullptr;
    }

private:
    template <class T>
    T* checked(T* first, size_t count) const
    {
        const uintptr_t at = uintptr_t(first) - uintptr_t(memory_);
        return at <= bytes_ && at % alignof(T) == 0 && count <= (bytes_ - at) / sizeof(T) ? first : nullptr;
    }

    char* memory_;
    size_t bytes_;
};

} // namespace ws::policy
