// SPDX-License-Identifier: MIT
//
// What the program's code uses, told by its constructors before main. MPI_Init looks the variable up by name
// (runtime/mpich/files/src/include/mpir_workshare.h).
#include "abi/abi.h"
#include "mpich/files/src/include/mpir_workshare.h"
#include "base/atomics.h"
#include "base/os.h"

static_assert(WS_USES_CRITICAL == MPIR_WORKSHARE_USES_LOCKS, "one meaning on both sides");
static_assert(WS_USES_MPI_IN_LOOPS == MPIR_WORKSHARE_USES_MPI_IN_LOOPS, "one meaning on both sides");

extern "C" { __attribute__((visibility("default"))) unsigned ws_used_features; }

// Another name of ws_uses: C++ has none with a hyphen.
asm(".globl \"" WS_LINK_SYMBOL "\"\n\t.set \"" WS_LINK_SYMBOL "\", ws_uses");

// A library that is loaded later adds its own; by then MPI_Init has most likely run.
WS_EXPORT void ws_uses(unsigned features)
{
    ws::base::or_relaxed(ws_used_features, features); // relaxed: read once, by the main thread
}
