// SPDX-License-Identifier: MIT
//
// `ws atomic` on types that no instruction handles (long double, complex). All others are compiled to instructions,
// plain ones while ws_alone is set (loop/participant.h).
#include "abi/abi.h"
#include "base/spin_lock.h"

namespace {
ws::base::SpinLock lock;
} // namespace

WS_EXPORT void ws_atomic_start(void) { lock.lock(); }
WS_EXPORT void ws_atomic_end(void) { lock.unlock(); }
