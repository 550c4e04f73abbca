// SPDX-License-Identifier: MIT
//
// What the rewriter tells the plugin: comments behind the first two lines of the rewritten file, one per directive,
//
//     !ws-mark KIND LINE KINDS FILE
//
// where KIND is `loop`, `atomic` or `critical`, FILE:LINE is where gfortran places the construct and KINDS is the low part of
// ws_site::kinds (0 but for a loop).
#ifndef WS_FORTRAN_MARKS_H
#define WS_FORTRAN_MARKS_H

namespace ws {

inline constexpr const char *fortran_mark = "!ws-mark ";

}  // namespace ws

#endif
