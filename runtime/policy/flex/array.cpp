// SPDX-License-Identifier: MIT
#include "policy/flex/array.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace ws::policy::flex {

namespace {

uintptr_t page_size()
{
    static const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
    return page;
}

// What comes is the first to touch a large array's new memory: in large pages that costs a third. From this size on
// malloc() has a mapping for each array, which is advised as a whole: realloc() could not move two with mremap().
constexpr int64_t own_mapping = int64_t(1) << 25;
void take_large_pages(void* memory, int64_t bytes)
{
    if (bytes < own_mapping)
        return;
    const auto begin = reinterpret_cast<uintptr_t>(memory), page = page_size();
    const uintptr_t end = (begin + malloc_usable_size(memory) + page - 1) & ~(page - 1), first = begin & ~(page - 1);
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE); // where there are none, small ones do
}

} // namespace

Array::Array(void* address, MPI_Datatype type, const char* name) : address_(address), name_(name)
{
    MPI_Count lower, extent, true_lower, true_extent, size;
    PMPI_Type_dup(type, &type_);
    PMPI_Type_get_extent_x(type, &lower, &extent);
    PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent);
    PMPI_Type_size_x(type, &size);
    extent_ = extent;
    holes_ = size != extent || true_extent != extent || true_lower != 0;
}

Array::Array(Array&& o) noexcept
    : address_(o.address_), type_(std::exchange(o.type_, MPI_DATATYPE_NULL)), extent_(o.extent_), holes_(o.holes_),
      name_(o.name_), resize_(o.resize_)
{
}

Array& Array::operator=(Array&& o) noexcept
{
    std::swap(type_, o.type_);
    address_ = o.address_;
    extent_ = o.extent_;
    holes_ = o.holes_;
    name_ = o.name_;
    resize_ = o.resize_;
    return *this;
}

Array::~Array()
{
    if (type_ != MPI_DATATYPE_NULL)
        PMPI_Type_free(&type_);
}

bool Array::resize(int64_t elements)
{
    if (elements > INT64_MAX / std::max<int64_t>(extent_, 1))
        return false;
    const int64_t bytes = elements * extent_;
    if (resize_)
        return resize_(address_, bytes) == 0;
    void* const moved = std::realloc(data(), size_t(std::max<int64_t>(bytes, 1))); // realloc(p, 0) frees
    if (!moved)
        return false;
    *static_cast<void**>(address_) = moved;
    take_large_pages(moved, bytes);
    return true;
}

bool Array::is_there(int64_t elements) const
{
    const uintptr_t page = page_size(), begin = reinterpret_cast<uintptr_t>(data());
    const uintptr_t last = begin + uintptr_t(std::max<int64_t>(elements * extent_, 1) - 1);
    unsigned char in_core;
    for (const uintptr_t at : {begin, last})
        if (mincore(reinterpret_cast<void*>(at & ~(page - 1)), 1, &in_core) != 0)
            return false;
    return true;
}

int64_t Structure::start(int64_t i) const
{
    if (wide_starts)
        return reinterpret_cast<const int64_t*>(arrays[0].data())[i];
    return reinterpret_cast<const int32_t*>(arrays[0].data())[i];
}

void Structure::set_start(int64_t i, int64_t value)
{
    if (wide_starts)
        reinterpret_cast<int64_t*>(arrays[0].data())[i] = value;
    else
        reinterpret_cast<int32_t*>(arrays[0].data())[i] = int32_t(value);
}

int64_t Structure::length(size_t a, int64_t count) const
{
    if (layout != Layout::csr)
        return count * width;
    return a == 0 ? count + 1 : elements(count);
}

std::string Structure::trouble(int64_t count, bool to_move) const
{
    for (size_t a = 0; a < arrays.size(); a++) {
        const bool starts = layout == Layout::csr && a == 0;
        if (!arrays[a].data())
            return std::string("*") + arrays[a].name() + " is NULL";
        if ((starts || to_move) && !arrays[a].is_there(length(a, count)))
            return std::string("the memory of *") + arrays[a].name() + " is not there any more";
        for (int64_t i = 0; starts && i < count; i++)
            if (start(i + 1) < start(i))
                return "starts[" + std::to_string(i + 1) + "] is less than the one before";
    }
    return "";
}

uint64_t Structure::signature() const
{
    uint64_t s = uint64_t(layout) * 31 + uint64_t(width);
    for (const Array& a : arrays)
        s = s * 1099511628211u + uint64_t(a.extent());
    return s;
}

double Structure::bytes(int64_t count) const
{
    double sum = 0;
    for (size_t a = 0; a < arrays.size(); a++)
        sum += double(length(a, count)) * double(arrays[a].extent());
    return sum;
}

} // namespace ws::policy::flex
