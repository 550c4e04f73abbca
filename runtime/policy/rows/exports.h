// SPDX-License-Identifier: MIT
//
// What libmpich's functions of workshare/xmpi.h call: the same, by these names. A program's own calls go through
// libmpich (see mpir_workshare.c), whether it is linked with libws or not.
#pragma once

#include "workshare/xmpi.h"

extern "C" {
decltype(XMPI_Get_wsize) ws_XMPI_Get_wsize;
decltype(XMPI_Get_counts) ws_XMPI_Get_counts;
decltype(XMPI_Register) ws_XMPI_Register;
decltype(XMPI_Register_csr) ws_XMPI_Register_csr;
decltype(XMPI_Set_resize) ws_XMPI_Set_resize;
decltype(XMPI_Deregister) ws_XMPI_Deregister;
decltype(XMPI_Set_work) ws_XMPI_Set_work;
decltype(XMPI_Resize) ws_XMPI_Resize;
decltype(XMPI_Set_comm) ws_XMPI_Set_comm;
decltype(XMPI_Set_goal) ws_XMPI_Set_goal;
decltype(XMPI_Monitor_begin) ws_XMPI_Monitor_begin;
decltype(XMPI_Monitor_end) ws_XMPI_Monitor_end;
decltype(XMPI_Monitor_end_begin) ws_XMPI_Monitor_end_begin;
decltype(XMPI_Monitor_end_finish) ws_XMPI_Monitor_end_finish;
decltype(XMPI_Partition_free) ws_XMPI_Partition_free;
decltype(XMPI_Alloc) ws_XMPI_Alloc;
decltype(XMPI_Free) ws_XMPI_Free;
}
