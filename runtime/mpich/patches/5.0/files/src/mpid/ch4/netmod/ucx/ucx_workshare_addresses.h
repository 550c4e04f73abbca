/* SPDX-License-Identifier: MIT
 *
 * How processes learn each other's addresses, without a shared-memory module. For ucx_init.c alone, after UCX_AV_INSERT.
 */
#ifndef UCX_WORKSHARE_ADDRESSES_H_INCLUDED
#define UCX_WORKSHARE_ADDRESSES_H_INCLUDED

/* Gives each process of `comm` all addresses by the process manager. MPICH exchanges them in this way between nodes. Within a node it uses
 * messages, which need these very addresses if there is no shared-memory module. */
static int workshare_exchange_addresses(MPIR_Comm * comm, const char *addrname, int addrnamelen)
{
    int mpi_errno = MPI_SUCCESS;
    const int size = comm->local_size;
    MPIR_CHKLMEM_DECL();
    char *names;
    int *procs;

    MPIR_CHKLMEM_MALLOC(names, (size_t) size * addrnamelen);
    MPIR_CHKLMEM_MALLOC(procs, size * sizeof(int));
    for (int i = 0; i < size; i++)
        procs[i] = MPIDIU_get_grank(i, comm);
    if (size == 1)
        memcpy(names, addrname, addrnamelen);
    else if (MPIR_CVAR_PMI_DISABLE_GROUP)
        mpi_errno = MPIR_pmi_allgather(addrname, addrnamelen, names, addrnamelen, MPIR_PMI_DOMAIN_ALL);
    else
        mpi_errno = MPIR_pmi_allgather_group("BC", addrname, addrnamelen, names, addrnamelen, procs, size, comm->stringtag);
    MPIR_ERR_CHECK(mpi_errno);
    for (int i = 0; i < size; i++)
        UCX_AV_INSERT(MPIDIU_comm_rank_to_av(comm, i), MPIR_comm_rank_to_lpid(comm, i), names + (size_t) i * addrnamelen);

  fn_exit:
    MPIR_CHKLMEM_FREEALL();
    return mpi_errno;
  fn_fail:
    goto fn_exit;
}

#endif /* UCX_WORKSHARE_ADDRESSES_H_INCLUDED */
