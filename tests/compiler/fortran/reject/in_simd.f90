! SPDX-License-Identifier: MIT
subroutine in_simd(n, a)
    implicit none
    integer :: n, i, j, k, a(n)
    k = 0
    !$ws do simd
    do i = 1, n
        !$ws atomic
        k = k + i
    end do
    !$ws do simd
    do i = 1, n
        !$ws critical
        k = k + i
        !$ws end critical
    end do
    !$ws do simd
    do i = 1, n
        !$ws do
        do j = 1, n
            a(j) = i
        end do
    end do
end subroutine
