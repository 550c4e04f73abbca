// SPDX-License-Identifier: MIT
//
// In a child of fork(), by its one thread: locks of the process that other threads held are free again.
#pragma once

namespace ws::abi {

void free_merge_lock();    // gcc.cpp
void free_call_lock();     // api.cpp
void forget_waits();       // waits.cpp
void use_fresh_locks();    // critical.cpp: those of the child alone, none of them held

} // namespace ws::abi
