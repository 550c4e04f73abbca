/* SPDX-License-Identifier: MIT
 *
 * The flags of release_gather are plain memory that others watch: rings the ranks that wait for the one just stored.
 * For release_gather.h.
 */
#ifndef RELEASE_GATHER_WORKSHARE_H_INCLUDED
#define RELEASE_GATHER_WORKSHARE_H_INCLUDED

/* After the release flag: MPI_Reduce uses the other tree, whichever flag it is. */
MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_release_gather_ring_children(MPIR_Comm * comm_ptr,
                                                                       MPIDI_POSIX_release_gather_opcode_t operation)
{
    if (likely(MPIR_Workshare.ring == NULL))
        return;
    MPIDI_POSIX_release_gather_comm_t *info = &MPIDI_POSIX_COMM(comm_ptr, release_gather);
    MPIR_Treealgo_tree_t *tree =
        operation == MPIDI_POSIX_RELEASE_GATHER_OPCODE_REDUCE ? &info->reduce_tree : &info->bcast_tree;
    for (int i = 0; i < tree->num_children; i++) {
        int child = *(int *) utarray_eltptr(tree->children, i);
        MPIDIU_workshare_ring(MPIDIU_comm_rank_to_av(comm_ptr, child));
    }
}

/* After the gather flag */
MPL_STATIC_INLINE_PREFIX void MPIDI_POSIX_release_gather_ring_parent(MPIR_Comm * comm_ptr,
                                                                     MPIDI_POSIX_release_gather_opcode_t operation)
{
    if (likely(MPIR_Workshare.ring == NULL) || MPIR_Comm_rank(comm_ptr) == 0)
        return;
    MPIDI_POSIX_release_gather_comm_t *info = &MPIDI_POSIX_COMM(comm_ptr, release_gather);
    MPIR_Treealgo_tree_t *tree = operation == MPIDI_POSIX_RELEASE_GATHER_OPCODE_REDUCE ||
        operation == MPIDI_POSIX_RELEASE_GATHER_OPCODE_ALLREDUCE ? &info->reduce_tree : &info->bcast_tree;
    MPIDIU_workshare_ring(MPIDIU_comm_rank_to_av(comm_ptr, tree->parent));
}

#endif /* RELEASE_GATHER_WORKSHARE_H_INCLUDED */
