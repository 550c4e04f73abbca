/* SPDX-License-Identifier: MIT */
#ifndef WS_CALL_BODY_H
#define WS_CALL_BODY_H

#include "workshare/ws.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What ws_for was given. */
struct body_call {
    ws_body *body;
    void *context;
};

/* For ws_parallel_loop; `data` is a struct body_call. */
void call_body(void *data);

#ifdef __cplusplus
}
#endif
#endif
