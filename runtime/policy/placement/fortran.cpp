// SPDX-License-Identifier: MIT
//
// The Fortran names: called through the modules mpix and mpix_f08 (include/workshare/mpix.F90), which hand over the
// same addresses, as a TYPE(MPI_Comm) holds the integer alone. An ierror that is not given is null.
#include "policy/placement/exports.h"
#include "base/os.h"

// Symbols of libmpifort, in programs that have it: what MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY are in mpif.h and use mpi,
// and in use mpi_f08.
extern "C" {
extern MPI_Fint* MPIR_F_MPI_UNWEIGHTED __attribute__((weak));
extern MPI_Fint* MPIR_F_MPI_WEIGHTS_EMPTY __attribute__((weak));
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_unweighted[1] __attribute__((weak));
extern MPI_Fint __mpi_f08_link_constants_MOD_mpi_weights_empty[1] __attribute__((weak));
}

namespace {

const int* weights_of(const MPI_Fint* w)
{
    if ((&MPIR_F_MPI_UNWEIGHTED && w == MPIR_F_MPI_UNWEIGHTED) || w == __mpi_f08_link_constants_MOD_mpi_unweighted)
        return MPI_UNWEIGHTED;
    if ((&MPIR_F_MPI_WEIGHTS_EMPTY && w == MPIR_F_MPI_WEIGHTS_EMPTY) ||
        w == __mpi_f08_link_constants_MOD_mpi_weights_empty)
        return MPI_WEIGHTS_EMPTY;
    return w;
}

void set(MPI_Fint* ierror, int error)
{
    if (ierror)
        *ierror = error;
}

// Handles come in and go out by address.
class NewComm {
public:
    explicit NewComm(MPI_Fint* to) : to_(to) {}
    ~NewComm() { *to_ = MPI_Comm_c2f(comm_); }
    operator MPI_Comm*() { return &comm_; }

private:
    MPI_Fint* to_;
    MPI_Comm comm_ = MPI_COMM_NULL;
};

} // namespace

#define FORTRAN WS_EXPORT void

FORTRAN ws_mpix_load_create_(MPI_Fint* comm, double* loads, MPI_Fint* info, MPI_Fint* newcomm, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Load_create(MPI_Comm_f2c(*comm), loads, MPI_Info_f2c(*info), NewComm(newcomm)));
}

FORTRAN ws_mpix_load_create_measured_(MPI_Fint* comm, void*, MPI_Fint* info, MPI_Fint* newcomm, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Load_create(MPI_Comm_f2c(*comm), MPIX_LOADS_MEASURED, MPI_Info_f2c(*info), NewComm(newcomm)));
}

FORTRAN ws_mpix_dist_load_create_(MPI_Fint* comm, MPI_Fint* count, MPI_Fint* ranks, double* loads, MPI_Fint* info,
                                  MPI_Fint* newcomm, MPI_Fint* ierror)
{
    set(ierror,
        ws_MPIX_Dist_load_create(MPI_Comm_f2c(*comm), *count, ranks, loads, MPI_Info_f2c(*info), NewComm(newcomm)));
}

FORTRAN ws_mpix_dist_load_create_measured_(MPI_Fint* comm, MPI_Fint* count, MPI_Fint* ranks, void*, MPI_Fint* info,
                                           MPI_Fint* newcomm, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Dist_load_create(MPI_Comm_f2c(*comm), *count, ranks, MPIX_LOADS_MEASURED, MPI_Info_f2c(*info),
                                         NewComm(newcomm)));
}

FORTRAN ws_mpix_load_graph_create_(MPI_Fint* comm, double* loads, MPI_Fint* indegree, MPI_Fint* sources,
                                   MPI_Fint* sourceweights, MPI_Fint* outdegree, MPI_Fint* destinations,
                                   MPI_Fint* destweights, MPI_Fint* info, MPI_Fint* newcomm, MPI_Fint* ierror)
{
    set(ierror,
        ws_MPIX_Load_graph_create(MPI_Comm_f2c(*comm), loads, *indegree, sources, weights_of(sourceweights), *outdegree,
                                  destinations, weights_of(destweights), MPI_Info_f2c(*info), NewComm(newcomm)));
}

FORTRAN ws_mpix_load_graph_create_measured_(MPI_Fint* comm, void*, MPI_Fint* indegree, MPI_Fint* sources,
                                            MPI_Fint* sourceweights, MPI_Fint* outdegree, MPI_Fint* destinations,
                                            MPI_Fint* destweights, MPI_Fint* info, MPI_Fint* newcomm, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Load_graph_create(MPI_Comm_f2c(*comm), MPIX_LOADS_MEASURED, *indegree, sources,
                                          weights_of(sourceweights), *outdegree, destinations, weights_of(destweights),
                                          MPI_Info_f2c(*info), NewComm(newcomm)));
}

FORTRAN ws_mpix_load_active_(MPI_Fint* comm, MPI_Fint* active, MPI_Fint* activecomm, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Load_active(MPI_Comm_f2c(*comm), active, NewComm(activecomm)));
}

FORTRAN ws_mpix_load_is_active_(MPI_Fint* comm, MPI_Fint* active, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Load_active(MPI_Comm_f2c(*comm), active, nullptr));
}

FORTRAN ws_mpix_load_imbalance_(MPI_Fint* comm, double* max_over_mean, MPI_Fint* ierror)
{
    set(ierror, ws_MPIX_Load_imbalance(MPI_Comm_f2c(*comm), max_over_mean));
}
