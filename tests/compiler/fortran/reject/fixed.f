C     SPDX-License-Identifier: MIT
C     Fixed form: places in lines that are joined.
      subroutine fixed(n, a)
      implicit none
      integer n, i, k
      real a(n)
c$ws do nowait
      do 10 i = 1, n
        a(i) = i
   10 continue
*$ws  do  private(k)
!$ws& nonsense(k)
      do 20 i = 1, n
        a(i) = i
   20 continue
!$ws  end do
!$ws& private(k)
!$ws  xdo
!$ws 1private(k)
c$wsdo
!$ws  do &
!$ws  do
!$ws& schedule(dynamic, & 4)
      do 30 i = 1, n
        a(i) = i
   30 continue
      end
