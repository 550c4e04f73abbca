! SPDX-License-Identifier: MIT
subroutine loops(n, a)
    implicit none
    integer :: n, i
    real :: a(n)
    !$ws do
    do i = 1, n
        a(i) = i
    end do
    !$ws end do simd
end subroutine

subroutine sections(n, a)
    implicit none
    integer :: n, a(n)
    !$ws section
    a(1) = 1
    !$ws end sections
end subroutine

subroutine not_ended(n, a)
    implicit none
    integer :: n, a(n)
    !$ws sections
    a(1) = 1
end subroutine
