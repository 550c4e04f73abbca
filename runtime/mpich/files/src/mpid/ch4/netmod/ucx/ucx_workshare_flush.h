/* SPDX-License-Identifier: MIT
 *
 * MPICH's flush of a window over UCX, as a wait that lends its core. For ucx_win.h, in place of MPICH's own.
 */
#ifndef UCX_WORKSHARE_FLUSH_H_INCLUDED
#define UCX_WORKSHARE_FLUSH_H_INCLUDED

/* A flush rings once in this many of its polls, because its targets may have lent their cores again. */
#define MPIDI_UCX_POLLS_PER_RING 8

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_win_ring(MPIR_Win * win)
{
    for (int rank = 0; rank < win->comm_ptr->local_size; rank++)
        if (MPIDI_UCX_WIN(win).target_sync[rank].need_sync != MPIDI_UCX_WIN_SYNC_UNSET)
            MPIDIU_workshare_ring(MPIDIU_comm_rank_to_av(win->comm_ptr, rank));
}

MPL_STATIC_INLINE_PREFIX void MPIDI_UCX_flush_cmpl_cb(void *request, ucs_status_t status)
{
}

/* Flushes ep, or the worker if it is NULL. If UCX cannot map a target's memory, it sends messages:
 * then the target has to take part, the flush may take long, and targets that lent their cores are rung.
 * Holds the VCI's lock, and leaves it around the hook. */
MPL_STATIC_INLINE_PREFIX ucs_status_t MPIDI_UCX_flush(MPIR_Win * win, ucp_ep_h ep, int vni)
{
    MPIR_WORKSHARE_WAIT(polls);
    ucs_status_t status;
    void *request = ep ? ucp_ep_flush_nb(ep, 0, &MPIDI_UCX_flush_cmpl_cb) :
        ucp_worker_flush_nb(MPIDI_UCX_global.ctx[vni].worker, 0, &MPIDI_UCX_flush_cmpl_cb);

    if (request == NULL)
        return UCS_OK;
    if (UCS_PTR_IS_ERR(request))
        return UCS_PTR_STATUS(request);

    MPIR_Workshare_send_opened(-1);
    do {
        MPIR_Workshare_progressed(ucp_worker_progress(MPIDI_UCX_global.ctx[vni].worker));
        status = ucp_request_check_status(request);
        if (unlikely(MPIR_Workshare.blocked != NULL) && status == UCS_INPROGRESS) {
            if (polls && polls % MPIDI_UCX_POLLS_PER_RING == 0)
                MPIDI_UCX_win_ring(win);
            MPID_THREAD_CS_EXIT(VCI, MPIDI_VCI_LOCK(vni));
            MPIR_WORKSHARE_BLOCKED(polls, );
            MPID_THREAD_CS_ENTER(VCI, MPIDI_VCI_LOCK(vni));
        }
    } while (status == UCS_INPROGRESS);
    MPIR_Workshare_send_closed();
    ucp_request_release(request);
    return status;
}

#endif /* UCX_WORKSHARE_FLUSH_H_INCLUDED */
