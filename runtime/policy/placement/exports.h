// SPDX-License-Identifier: MIT
//
// What libmpich's functions of workshare/mpix.h call: the same, by these names. A program's own calls go through
// libmpich (see mpir_workshare.c), whether it is linked with libws or not.
#pragma once

#include "workshare/mpix.h"

extern "C" {
decltype(MPIX_Load_create) ws_MPIX_Load_create;
decltype(MPIX_Dist_load_create) ws_MPIX_Dist_load_create;
decltype(MPIX_Load_graph_create) ws_MPIX_Load_graph_create;
decltype(MPIX_Load_active) ws_MPIX_Load_active;
decltype(MPIX_Load_imbalance) ws_MPIX_Load_imbalance;
}
