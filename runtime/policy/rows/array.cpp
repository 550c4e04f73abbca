// SPDX-License-Identifier: MIT
#include "policy/rows/array.h"

#include "base/own_stack.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace ws::policy::rows {

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

Array::Array(void* address, MPI_Datatype type, const char* name)
    : address_(address), type_(duplicate(type)), name_(name)
{
}

Array::Array(Array&& o) noexcept
    : address_(o.address_), type_(std::exchange(o.type_, {})), name_(o.name_), resize_(o.resize_)
{
}

Array& Array::operator=(Array&& o) noexcept
{
    std::swap(type_, o.type_);
    address_ = o.address_;
    name_ = o.name_;
    resize_ = o.resize_;
    return *this;
}

Array::~Array() { release(type_.type); }

bool Array::resize(int64_t elements)
{
    if (elements > INT64_MAX / std::max<int64_t>(type_.extent, 1))
        return false;
    const int64_t bytes = elements * type_.extent;
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
    const uintptr_t last = begin + uintptr_t(std::max<int64_t>(elements * type_.extent, 1) - 1);
    unsigned char in_core;
    for (const uintptr_t at : {begin, last})
        if (mincore(reinterpret_cast<void*>(at & ~(page - 1)), 1, &in_core) != 0)
            return false;
    return true;
}

namespace {

// Whether memory at `at` belongs to the program itself or one of its libraries: a static variable.
bool is_static(const void* at)
{
    struct StaticSearch {
        uintptr_t at;
        bool found;
    } search = {reinterpret_cast<uintptr_t>(at), false};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* data) {
            auto& s = *static_cast<StaticSearch*>(data);
            for (unsigned i = 0; i < info->dlpi_phnum; i++) {
                const auto& p = info->dlpi_phdr[i];
                s.found |= p.p_type == PT_LOAD && s.at - (info->dlpi_addr + p.p_vaddr) < p.p_memsz;
            }
            return int(s.found);
        },
        &search);
    return search.found;
}

bool is_on_stack(const void* at)
{
    const base::OwnStack stack = base::own_stack();
    return reinterpret_cast<uintptr_t>(at) - stack.lowest < stack.bytes;
}

// Tools and programs bring allocators of their own, whose blocks look different.
bool is_gnu_malloc()
{
    static const bool is = [] {
        Dl_info malloc_is, libc_is;
        return dladdr(reinterpret_cast<void*>(&std::malloc), &malloc_is) &&
               dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &libc_is) &&
               malloc_is.dli_fbase == libc_is.dli_fbase;
    }();
    return is;
}

} // namespace

std::string Array::trouble(int64_t elements) const
{
    if (resize_)
        return "";
    const std::string no = std::string("*") + name_ + " is not memory from malloc(): it is ";
    if (is_static(data()))
        return no + "a static variable";
    if (is_on_stack(data()))
        return no + "on the stack";
    if (!is_gnu_malloc())
        return "";
    const auto at = reinterpret_cast<uintptr_t>(data());
    const std::string inside = no + "inside other memory, or from an allocator that needs XMPI_Set_resize()";
    constexpr uintptr_t align = 2 * sizeof(size_t), flags = 7, least = 4 * sizeof(size_t);
    // The word before a block has its size and flags.
    unsigned char in_core;
    const uintptr_t page = page_size();
    if (at % align || mincore(reinterpret_cast<void*>((at - align) & ~(page - 1)), 1, &in_core) != 0)
        return inside;
    const uintptr_t size = reinterpret_cast<const size_t*>(at)[-1] & ~flags, end = at - align + size;
    if (size < least || size % align || end < at ||
        mincore(reinterpret_cast<void*>((end - 1) & ~(page - 1)), 1, &in_core) != 0)
        return inside;
    const auto usable = int64_t(malloc_usable_size(data()));
    if (usable < elements * type_.extent)
        return std::string("the memory of *") + name_ + " has " + std::to_string(usable) + " bytes, but " +
               std::to_string(elements) + " elements have " + std::to_string(elements * type_.extent);
    return "";
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
        if (to_move)
            if (std::string text = arrays[a].trouble(length(a, count)); !text.empty())
                return text;
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

} // namespace ws::policy::rows
