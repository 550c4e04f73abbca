! SPDX-License-Identifier: MIT
! OpenMP's loops of Fortran for -fws=openmp.
module numbers
  implicit none
  integer, parameter :: n = 200
  integer :: own
  !$omp threadprivate(own)
contains
  integer function thread()
    use omp_lib
    thread = omp_get_thread_num()
  end function

  subroutine shared_loops(good)
    logical, intent(inout) :: good
    integer :: i, j, m, total, h(4)
    real(8) :: a(n), s
    s = 0
    m = 5
    total = 0
    h = 0
    !$omp parallel do ! shared
    do i = 1, n
      a(i) = 2 * i
    end do
    !$omp parallel do reduction(+ : s) schedule(dynamic, m) ! shared
    do i = 1, n
      s = s + a(i)
    end do
    good = good .and. s == n * (n + 1)
    !$omp parallel do collapse(2) schedule(static) ! shared
    do i = 1, 10
      do j = 1, 20
        !$omp atomic
        total = total + i * j
        !$omp critical (histogram)
        h(mod(j, 4) + 1) = h(mod(j, 4) + 1) + 1
        !$omp end critical (histogram)
      end do
    end do
    !$omp end parallel do
    good = good .and. total == 55 * 210 .and. all(h == 50)
    s = 0
    !$omp parallel do reduction(max : s) private(j) lastprivate(m) schedule(guided, 2 * m + 1) ! shared
    do i = n, 1, -1
      j = i
      s = max(s, a(j))
      m = i
    end do
    good = good .and. s == 2 * n .and. m == 1
  end subroutine

  subroutine other_loops(good)
    logical, intent(inout) :: good
    integer :: i, most
    most = 0
    !$omp parallel do reduction(max : most) ! stays OpenMP: calls 'omp_get_thread_num' (in 'thread')
    do i = 1, n
      most = max(most, thread())
    end do
    !$omp parallel do ! stays OpenMP: uses 'own', which is local to each thread
    do i = 1, n
      own = i
    end do
    !$omp parallel do ordered ! stays OpenMP: is 'ordered'
    do i = 1, n
      !$omp ordered
      most = i
      !$omp end ordered
    end do
    good = good .and. most == n
  end subroutine

  subroutine bounds(good)
    use omp_lib
    logical, intent(inout) :: good
    integer :: i, nt, total
    nt = omp_get_max_threads()
    total = 0
    !$omp parallel do reduction(+ : total) ! stays OpenMP: depends on the number of threads
    do i = 1, nt
      total = total + i
    end do
    !$omp parallel do reduction(+ : total) ! stays OpenMP: depends on the number of threads
    do i = 1, omp_get_max_threads()
      total = total + i
    end do
    good = good .and. total == nt * (nt + 1)
  end subroutine
end module

program loops
  use numbers
  implicit none
  logical :: good
  good = .true.
  call shared_loops(good)
  call other_loops(good)
  call bounds(good)
  if (.not. good) stop 1
  print '(a)', 'ok'
end program
