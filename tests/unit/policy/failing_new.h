// SPDX-License-Identifier: MIT
//
// Memory that is refused.
#pragma once

// Per thread: `new` fails when this becomes 0, once. Negative: never.
extern thread_local long allocations_left;
