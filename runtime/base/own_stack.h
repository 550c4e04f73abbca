// SPDX-License-Identifier: MIT
//
// Where the calling thread's stack is. In the process's first thread this takes some 100 us, because the C library
// reads /proc/self/maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace ws::base {

struct OwnStack {
    uintptr_t lowest = 0;
    size_t bytes = 0; // 0: not known
    size_t guard = 0; // bytes below
};

inline OwnStack own_stack()
{
    OwnStack stack;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return stack;
    void* lowest = nullptr;
    pthread_attr_getstack(&attributes, &lowest, &stack.bytes);
    pthread_attr_getguardsize(&attributes, &stack.guard);
    pthread_attr_destroy(&attributes);
    stack.lowest = uintptr_t(lowest);
    return stack;
}

} // namespace ws::base
