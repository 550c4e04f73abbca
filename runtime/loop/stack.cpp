// SPDX-License-Identifier: MIT
#include "loop/stack.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <dlfcn.h>
#include <sys/resource.h>

namespace ws::loop {

__thread OtherStack other_stack __attribute__((tls_model("initial-exec")));

namespace {

constexpr size_t MiB = 1024 * 1024, GiB = 1024 * MiB;

bool unlimited(int resource)
{
    rlimit limit;
    return getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY;
}

// Whether the system lets memory be reserved for nothing as long as it is not touched.
bool reserving_is_free()
{
    if (!unlimited(RLIMIT_AS) || !unlimited(RLIMIT_DATA))
        return false;
    constexpr char strict = '2'; // the kernel counts what is reserved
    char mode = strict;
    if (FILE* f = std::fopen("/proc/sys/vm/overcommit_memory", "re")) {
        mode = char(std::fgetc(f));
        std::fclose(f);
    }
    return mode != strict;
}

} // namespace

size_t static_tls_bytes()
{
    static const size_t bytes = [] {
        size_t size = 0, alignment = 0;
        // Private to glibc, but the same in all its versions on 64-bit machines; sanitizers ask it, too.
        using Ask = void(size_t*, size_t*);
        if (Ask* const ask = reinterpret_cast<Ask*>(dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info")))
            ask(&size, &alignment);
        return size;
    }();
    return bytes;
}

StackSize stack_size(size_t wanted)
{
    // For "unlimited" pthread_create would take 2 MiB, while the rank's own stack may then become larger than any that
    // can be reserved.
    static const bool free = reserving_is_free();
    // A frame may have an array that is larger than a page: its first access must not fall on the other side of the
    // guard.
    const size_t guard = free ? 256 * MiB : MiB;
    rlimit limit;
    if (wanted)
        return {wanted, guard, true};
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        return {std::max(size_t(limit.rlim_cur), size_t(PTHREAD_STACK_MIN)), guard, false};
    return {free ? 4 * GiB : 64 * MiB, guard, false};
}

} // namespace ws::loop
