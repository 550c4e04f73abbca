! SPDX-License-Identifier: MIT
! Words of a directive that are wrong: the grammar's messages.
subroutine clauses(n, a)
    implicit none
    integer, intent(in) :: n
    real, intent(inout) :: a(n)
    integer :: i, k
    real :: s

!$ws
!$ws for
!$ws parallel do
!$ws enddo do
!$ws end parallel do
!$ws do nowait
    do i = 1, n
        a(i) = i
    end do
!$ws end do nowait
!$ws do num_threads(4) if(n > 3)
    do i = 1, n
        a(i) = i
    end do
!$ws do private(k
!$ws do private k
!$ws do private()
!$ws do , private(k)
!$ws do private(k),, shared(a)
!$ws do 3
!$WS DO SCHEDULE(AUTO, N) STEAL_SCHEDULE(STATIC 4)
!$ws do schedule(monotonic: dynamic) steal_schedule(guided,)
!$ws do schedule(static) schedule(dynamic)
!$ws do collapse(1) collapse(1) default(none) default(shared)
!$ws do default(private)
!$ws do reduction(k) reduction(+ k)
!$ws do lastprivate(conditional: k) reduction(task, +: s)
!$ws atomic sequential
    s = s + 1
!$ws atomic read write
    s = s + 1
!$ws atomic read release
    k = n
!$ws end atomic update
!$ws critical one
!$ws critical (1)
!$ws critical (one
!$ws critical (one) two
!$ws critical (a_name_that_is_longer_than_a_name_in_fortran_may_be_by_us)
!$ws end critical 3
!$ws end critcal
!$ws& private(k)
!$ws do &
    do i = 1, n
        a(i) = i
    end do
    !$ws do &
    !$ws &    private(k) &
    ! a comment may stand between
    !$WS&    nonsense(k)
    do i = 1, n
        a(i) = i
    end do
!$wsdo
!$ws do schedule( && guided , ( n ) )
    do i = 1, n
        a(i) = i
    end do
!$ws do schedule(fast) steal_schedule(Runtime, 3)
!$ws do schedule(dynamic) & private(k) &
!$ws& & firstprivate(s)
!$ws atomic & update
    s = s + 1
!$ws do name(mine)
!$ws do name('')
!$ws do name('one') name("two")
!$ws do name('one' 'two')
!$ws do name('one' // 'two')
!$ws do name('one
!$ws do name
!$ws do name('one'')
!$ws atomic name('one')
    s = s + 1
end subroutine
