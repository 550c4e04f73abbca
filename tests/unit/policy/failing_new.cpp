// SPDX-License-Identifier: MIT
#include "failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

thread_local long allocations_left = -1;

static void* allocated(size_t alignment, size_t bytes)
{
    const bool fails = allocations_left > 0 && --allocations_left == 0;
    void* const memory = fails ? nullptr : std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void* operator new(size_t bytes) { return allocated(alignof(std::max_align_t), bytes); }
void* operator new(size_t bytes, std::align_val_t alignment) { return allocated(size_t(alignment), bytes); }
// Not inlined: GCC would see free() for what it takes for the library's operator new, and warn.
#define WS_DELETE __attribute__((noinline)) void operator delete
WS_DELETE(void* memory) noexcept { std::free(memory); }
WS_DELETE(void* memory, size_t) noexcept { std::free(memory); }
WS_DELETE(void* memory, std::align_val_t) noexcept { std::free(memory); }
WS_DELETE(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
