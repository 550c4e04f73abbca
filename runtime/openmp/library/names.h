// SPDX-License-Identifier: MIT
//
// What a place in the program's code is called: file:line where it has debug information (-g), else its function's
// symbol, else the program and an offset as addr2line takes it.
#pragma once

namespace ws::openmp {

// Never freed. Any thread; the first call loads the module that reads debug information.
const char* name_of_function(const void* function);
// `caller`: where a call of the program's returns to.
const char* name_of_call(const void* caller);

} // namespace ws::openmp
