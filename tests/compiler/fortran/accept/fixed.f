C     SPDX-License-Identifier: MIT
C     Fixed form: the three comment characters, continuation in columns 5 and 6, what lies beyond column 72.
      program fixed
      use check
      implicit none
      integer i, j, n, total, count(100), pairs(10, 10)
      call begin

      call test('sentinels')
      count = 0
C$WS  DO
      do 10 i = 1, 100
        call work
        count(i) = count(i) + 1
   10 continue
c$ws do
      do 20 i = 1, 100
        count(i) = count(i) + 1
   20 continue
*$ws do schedule(dynamic, 3)
      do i = 1, 100
        count(i) = count(i) + 1
      end do
!$ws end do
C     No continuation: column 6 is 0.
!$ws 0do
      do i = 1, 100
        count(i) = count(i) + 1
      end do
      call expect(all(count .eq. 4), 'each once')

      call test('continuation')
      total = 0
      n = 5
!$ws  do
!$ws& private(j)
C     a comment, and a line without anything

!$ws 1 reduction(+: total)
*$ws&    firstprivate                                                   ignored
!$ws +   (n)
      do i = 1, 100
        j = i
        total = total + j + n
      end do
      call expect(total .eq. 5550, 'sum')
c$ws  do
c$ws& collapse(2)
      do i = 1, 10
        do j = 1, 10
          pairs(j, i) = i
        end do
      end do
c$ws  end do
      call expect(sum(pairs) .eq. 550, 'collapse')

      call test('atomic and critical')
      n = 0
      total = 0
c$ws  do
      do i = 1, 100
c$ws    atomic
        n = n + 1
C$WS    CRITICAL (SUM)
        total = total + i
C$WS    END CRITICAL (SUM)
      end do
      call expect(n .eq. 100 .and. total .eq. 5050, 'counts')
      call finish
      end
