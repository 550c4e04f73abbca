! SPDX-License-Identifier: MIT
subroutine conditions(n, a)
    implicit none
    integer :: n, i, a(n)
    !$ws do if(parallel: n > 3)
    do i = 1, n
        a(i) = i
    end do
    !$ws do if(n > 3) if(n > 4)
    do i = 1, n
        a(i) = i
    end do
    !$ws do if()
    do i = 1, n
        a(i) = i
    end do
end subroutine

subroutine simd(n, a)
    implicit none
    integer :: n, i, k
    real :: a(n)
    k = 0
    !$ws do safelen(8)
    do i = 1, n
        a(i) = i
    end do
    !$ws do simd linear(k : 2)
    do i = 1, n
        a(i) = k
    end do
    !$ws simd
    do i = 1, n
        a(i) = i
    end do
    !$ws do simd
    do i = 1, n
        a(i) = i
    end do
    !$ws end do simd nowait
end subroutine

subroutine sections(n, a)
    implicit none
    integer :: n, k, a(n)
    !$ws sections nowait
    a(1) = 1
    !$ws end sections
    !$ws sections schedule(static)
    a(1) = 1
    !$ws end sections
    !$ws sections
    a(1) = 1
    !$ws section private(k)
    a(2) = 1
    !$ws end sections
    !$ws sections
    a(1) = 1
    !$ws end sections nowait
end subroutine
