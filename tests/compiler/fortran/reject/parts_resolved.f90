! SPDX-License-Identifier: MIT
subroutine loops(n, a)
    implicit none
    integer :: n, i
    real :: a(n)
    !$ws do if(n)
    do i = 1, n
        a(i) = i
    end do
    !$ws do simd safelen(0)
    do i = 1, n
        a(i) = i
    end do
    !$ws do simd
    do while (n > 0)
    end do
    !$ws sections private(zork)
    a(1) = 1
    !$ws section
    return
    !$ws end sections
end subroutine
