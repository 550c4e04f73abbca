// SPDX-License-Identifier: MIT
//
// Functions of the languages' own libraries: what they do is known, though not seen.
#ifndef WS_CLAUSES_LIBRARY_H
#define WS_CLAUSES_LIBRARY_H

#include <string>

namespace ws {

// Whether a linker symbol is one of those that do not ask OpenMP for its threads, and call nothing that they were not
// given. Beside the compilers' builtins: what those do not know.
bool is_library_function(const std::string &symbol);

}  // namespace ws

#endif
