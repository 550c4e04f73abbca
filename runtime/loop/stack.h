// SPDX-License-Identifier: MIT
//
// Stacks that loop bodies run on: as large as the rank's own may become, reserved and not touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ws::loop {

struct StackSize {
    size_t bytes, guard;
    bool chosen; // the user has chosen it, so it must not be made smaller
};
// `wanted`: WS_STACKSIZE; 0 if it says nothing.
StackSize stack_size(size_t wanted);

// What glibc takes out of each new thread's stack for static thread-local storage, in bytes; 0 if it does not say.
size_t static_tls_bytes();

// Where the calling thread runs on another stack than its own: the lowest address of it, and of what lies below as a
// guard; 0: on its own.
struct OtherStack {
    uintptr_t lowest, guard;
};
extern __thread OtherStack other_stack __attribute__((tls_model("initial-exec")));

} // namespace ws::loop
