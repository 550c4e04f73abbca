! SPDX-License-Identifier: MIT
!
! compared_fortran right|wrong N: as compared.c, for Fortran's variables.
module loops
  use iso_c_binding
  implicit none
  logical :: wrong
  integer(c_intptr_t) :: own_thread
  integer :: counted
  real(8) :: total(3)
  complex(8) :: turned
  interface
    function pthread_self() bind(c)
      import
      integer(c_intptr_t) :: pthread_self
    end function
  end interface
contains
  integer function off()
    off = 0
    if (wrong) off = merge(0, 1, pthread_self() == own_thread)
  end function

  subroutine work(x, n, answer)
    integer, intent(in) :: n
    real(8), intent(in) :: x(n)
    real(8), intent(inout) :: answer
    real(8) :: best, histogram(5)
    integer(8) :: hash
    logical :: fine
    integer :: i
    real :: unused, in_block
    common /block/ unused, in_block
    best = 0
    histogram = 0
    hash = 0
    fine = .true.
    in_block = 0
    counted = 0
    total = 0
    turned = 0
!$ws do reduction(+: answer, counted) name("dummy and module")
    do i = 1, n
      answer = answer + x(i) + off()
      counted = counted + 1 + off()
    end do
!$ws do reduction(+: total, turned) name("module arrays")
    do i = 1, n
      total(1 + mod(i, 3)) = total(1 + mod(i, 3)) + x(i) + off()
      turned = turned + cmplx(x(i), -x(i) + off(), 8)
    end do
!$ws do reduction(max: best) reduction(ieor: hash) reduction(.and.: fine) name("others")
    do i = 1, n
      best = max(best, x(i) + off())
      hash = ieor(hash, (int(i, 8) + off()) * 77777777_8)
      fine = fine .and. off() == 0
    end do
!$ws do reduction(+: histogram, in_block) name("local array and common")
    do i = 1, n
      histogram(1 + mod(i, 5)) = histogram(1 + mod(i, 5)) + x(i) + off()
      in_block = in_block + real(x(i)) + off()
    end do
    call inner()
    if (.not. wrong .and. (counted /= n .or. .not. fine)) stop 2
  contains
    subroutine inner()
      integer :: k
!$ws do reduction(+: answer, best) name("of the host")
      do k = 1, n
        answer = answer + x(k) + off()
        best = best + 1 + off()
      end do
    end subroutine
  end subroutine
end module

program compared
  use loops
  use mpi
  implicit none
  real(8) :: x(1000), answer
  integer :: error, turn, turns
  character(len=16) :: argument
  call mpi_init(error)
  call get_command_argument(1, argument)
  wrong = argument == 'wrong'
  call get_command_argument(2, argument)
  read (argument, *) turns
  own_thread = pthread_self()
  do turn = 1, turns
    call random_number(x)
    answer = 0
    call work(x, 1000, answer)
  end do
  call mpi_finalize(error)
end program
