! SPDX-License-Identifier: MIT
!
! `!$ws task`, taskloop, taskgroup and taskwait.
module cases
    use check
    implicit none

    integer :: ran(0:99)

contains

    recursive function fib(n) result(sum)
        integer, intent(in) :: n
        integer :: sum, a, b
        if (n < 2) then
            sum = n
            return
        end if
        !$ws task shared(a) if(n > 3) name("fib")
        a = fib(n - 1)
        !$ws end task
        !$ws task shared(b) final(n < 5) &
        !$ws& untied
        b = fib(n - 2)
        if (mod(n, 4) == 0) call work()
        !$ws end task
        !$ws taskwait
        sum = a + b
    end function

    recursive subroutine tree(i, n)
        integer, value :: i
        integer, intent(in) :: n
        integer :: child
        do child = 2 * i + 1, min(2 * i + 2, n - 1)
            !$ws task firstprivate(child)
            call tree(child, n)
            call work()
            !$ws atomic
            ran(child) = ran(child) + 1
            !$ws end task
        end do
    end subroutine

    subroutine grouped()
        call test('taskgroup')
        ran = 0
        !$ws taskgroup
        ran(0) = 1
        call tree(0, size(ran))
        !$ws end taskgroup
        call expect(all(ran == 1), 'each once')
    end subroutine

    subroutine data(n)
        integer, intent(in) :: n
        integer :: mine, array(3), list(n), seen(3), scratch
        call test('data')
        mine = 5
        array = [1, 2, 3]
        list = 2
        seen = 0
        !$ws task firstprivate(mine, array, list) private(scratch) shared(seen) default(none)
        scratch = mine
        seen = [scratch, sum(array), sum(list)]
        mine = 0
        array = 0
        list = 0
        !$ws endtask
        mine = 7
        array = 7
        !$ws taskwait
        call expect(all(seen == [5, 6, 2 * n]), 'copies')
        call expect(mine == 7 .and. all(array == 7) .and. all(list == 2), 'of the task alone')
    end subroutine

    subroutine ordered(n)
        integer, intent(in) :: n
        integer :: i, x, y, wrong
        call test('depend')
        x = 0
        y = 0
        wrong = 0
        do i = 1, n
            !$ws task depend(inout: x) shared(x, wrong) priority(2)
            if (x /= i - 1) then
                !$ws atomic
                wrong = wrong + 1
            end if
            call work()
            x = i
            !$ws end task
            !$ws task depend(in: x) depend(out: y) shared(x, y, wrong)
            if (x /= i) then
                !$ws atomic
                wrong = wrong + 1
            end if
            y = i
            !$ws end task
        end do
        !$ws taskwait
        call expect(wrong == 0 .and. x == n .and. y == n, 'in order')
    end subroutine

    subroutine loops(n)
        integer, intent(in) :: n
        integer :: i, j, last, times(n), table(4, 6)
        real :: total, part
        call test('taskloop')
        times = 0
        last = 0
        !$ws taskloop grainsize(7) lastprivate(last) name("parts") shared(times)
        do i = 1, n
            times(i) = times(i) + 1
            last = i
            call work()
        end do
        !$ws end taskloop
        call expect(all(times == 1) .and. last == n, 'each once')
        !$ws taskloop num_tasks(5) collapse(2) shared(table)
        do i = 1, 6
            do j = 1, 4
                table(j, i) = i * j
            end do
        end do
        call expect(sum(table) == 210, 'collapsed')
        total = 1
        part = 0
        !$ws taskgroup task_reduction(+: part)
        !$ws taskloop reduction(+: total) in_reduction(+: part) if(n > 1)
        do i = n, 1, -1
            total = total + i
            part = part + 1
        end do
        !$ws end taskloop
        !$ws task in_reduction(+: part)
        part = part + 10
        !$ws end task
        !$ws end taskgroup
        call expect(nint(total) == 1 + n * (n + 1) / 2 .and. nint(part) == n + 10, 'reductions')
    end subroutine

    subroutine in_a_loop(n)
        integer, intent(in) :: n
        integer :: i, a, total
        call test('tasks in a loop')
        total = 0
        !$ws do reduction(+: total) private(a)
        do i = 1, n
            !$ws task shared(a)
            a = i
            !$ws end task
            !$ws taskwait
            total = total + a
            call work()
        end do
        call expect(total == n * (n + 1) / 2, 'all')
    end subroutine

end module

program tasks
    use cases
    implicit none
    call begin()
    call test('recursion')
    call expect(fib(15) == 610, 'fib')
    call grouped()
    call data(10)
    call ordered(60)
    call loops(101)
    call in_a_loop(40)
    call finish()
end program
