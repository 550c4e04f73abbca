C     SPDX-License-Identifier: MIT
      subroutine fixed(n, a)
      implicit none
      integer n, i, k
      real a(n)
C$WS  DO  SCHEDULE(DYNAMIC,
C$WS 1 2.5)
      do i = 1, n
        a(i) = i
      end do
c$ws do private(k,
c$ws&           i, missing)
      do i = 1, n
        if (a(i) .gt. 3) exit
      end do
      end
