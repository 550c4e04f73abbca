! SPDX-License-Identifier: MIT
subroutine jumps(n, a)
    implicit none
    integer :: n, a(n)
    !$ws sections
    a(1) = 1
    !$ws section
    if (n > 3) goto 10
    a(1) = 2
    !$ws end sections
    10 continue
end subroutine
