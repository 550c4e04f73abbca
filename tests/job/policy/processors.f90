! SPDX-License-Identifier: MIT
!
! An unmodified MPI+OpenMP program in Fortran: rank 0 has four times the work. Its threads sleep for it.
program processors
   use mpi
   use omp_lib
   use, intrinsic :: iso_c_binding
   implicit none
   interface
      integer(c_int) function usleep(usec) bind(c)
         import :: c_int
         integer(c_int), value :: usec
      end function
   end interface
   integer, parameter :: iterations = 480
   integer :: rank, ierr, turn, i, threads, least, most, work
   integer :: counts(iterations)
   integer(c_int) :: ignored

   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   work = merge(160000, 40000, rank == 0)
   least = huge(least)
   most = 0
   do turn = 1, 50
      threads = 0
      counts = 0
      !$omp parallel private(ignored)
      !$omp single
      threads = omp_get_num_threads()
      !$omp end single
      !$omp do
      do i = 1, iterations
         counts(i) = counts(i) + 1
      end do
      !$omp end do
      ignored = usleep(int(work / omp_get_num_threads(), c_int))
      !$omp end parallel
      least = min(least, threads)
      most = max(most, threads)
      if (any(counts /= 1)) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
   end do
   print '(a,i0,a,i0,a,i0,a,i0,a,i0)', 'rank ', rank, ' told ', omp_get_max_threads(), &
      ' least ', least, ' most ', most, ' last ', threads
   call MPI_Finalize(ierr)
end program
