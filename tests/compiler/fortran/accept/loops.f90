! SPDX-License-Identifier: MIT
! Kinds of loops: steps, kinds of the variable, bounds, collapse, how a loop ends, where it may stand.
module loops_module
    use check
    use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64
    implicit none
    integer :: shared_sum(100)
    type counter
        integer :: count = 0
    contains
        procedure :: fill
    end type
contains
    subroutine in_module()
        integer :: i
        shared_sum = 0
        !$ws do
        do i = 1, 100
            call work
            shared_sum(i) = shared_sum(i) + i
        end do
        !$ws end do
    end subroutine

    subroutine fill(self, values)
        class(counter), intent(inout) :: self
        integer, intent(out) :: values(:)
        integer :: i
        !$ws do
        do i = 1, size(values)
            values(i) = 2 * i + self%count
        end do
    end subroutine

    elemental integer function twice(n)
        integer, intent(in) :: n
        twice = 2 * n
    end function

    recursive subroutine descend(depth, seen)
        integer, intent(in) :: depth
        integer, intent(inout) :: seen(:)
        integer :: i
        if (depth == 0) return
        !$ws do
        do i = 1, 4
            call work
            seen((depth - 1) * 4 + i) = seen((depth - 1) * 4 + i) + 1
        end do
        call descend(depth - 1, seen)
    end subroutine

    ! A large local variable: each iteration has its own.
    integer function with_large_local(seed)
        integer, intent(in) :: seed
        integer :: large(40000)
        large = seed
        call work
        with_large_local = sum(large) / 40000
    end function

    subroutine count_up(from, to, step, iterations, total)
        integer, intent(in) :: from, to, step, iterations
        integer(int64), intent(in) :: total
        integer(int64) :: n, values
        integer :: i
        n = 0
        values = 0
        !$ws do reduction(+ : n, values)
        do i = from, to, step
            n = n + 1
            values = values + i
        end do
        call expect(n == iterations .and. values == total, 'counted')
    end subroutine

    ! Some of the three are constant.
    subroutine count_some(low, high)
        integer, intent(in) :: low, high
        integer :: i, n(6), step
        step = high / 2 + 1
        n = 0
        !$ws do reduction(+ : n)
        do i = low, huge(1), 2000000000
            n(1) = n(1) + 1
        end do
        !$ws do reduction(+ : n)
        do i = -7, high, 2000000000
            n(2) = n(2) + 1
        end do
        !$ws do reduction(+ : n)
        do i = high, -huge(1), -2000000000
            n(3) = n(3) + 1
        end do
        !$ws do reduction(+ : n)
        do i = 5, high, step
            n(4) = n(4) + 1
        end do
        !$ws do reduction(+ : n)
        do i = low, huge(1), step
            n(5) = n(5) + 1
        end do
        !$ws do reduction(+ : n)
        do i = low + 1, high - 1, 2000000000
            n(6) = n(6) + 1
        end do
        call expect(all(n == [3, 2, 3, 2, 4, 3]), 'counted with constants')
    end subroutine

    subroutine count_kinds(low1, high1, step1, low8, high8, step8)
        integer(int8), intent(in) :: low1, high1, step1
        integer(int64), intent(in) :: low8, high8, step8
        integer(int8) :: i
        integer(int64) :: j
        integer :: n(3), last
        n = 0
        last = 0
        !$ws do reduction(+ : n) lastprivate(last)
        do i = low1, high1, step1
            n(1) = n(1) + 1
            last = i
        end do
        !$ws do reduction(+ : n)
        do j = low8, high8, step8
            n(2) = n(2) + 1
        end do
        !$ws do collapse(2) reduction(+ : n)
        do i = 1, high1, 100_int8
            do j = high8, low8, -step8
                n(3) = n(3) + 1
            end do
        end do
        call expect(all(n == [3, 3, 6]) .and. last == 73, 'counted in other kinds')
    end subroutine
end module

program loops
    use loops_module
    implicit none
    integer :: i, j, k, n, last, count(-20:200), grid(12, 7), cube(3, 4, 5), values(50)
    integer(int8) :: i8
    integer(int16) :: i16
    integer(int64) :: i64, from64, total64
    logical :: right
    type(counter) :: object
    integer, parameter :: times(4) = [1, 2, 3, 4]

    call begin

    call test('by one')
    count = 0
    !$ws do
    do i = 1, 100
        call work
        count(i) = count(i) + 1
    end do
    !$ws end do
    call expect(all(count(1:100) == 1) .and. sum(count) == 100, 'each once')

    call test('steps')
    count = 0
    !$ws do
    do i = -20, 200, 7
        call work
        count(i) = count(i) + 1
    end do
    do i = -20, 200
        call expect(count(i) == merge(1, 0, mod(i + 20, 7) == 0), 'step 7')
    end do
    count = 0
    !$ws do
    do i = 200, -20, -3
        call work
        count(i) = count(i) + 1
    end do
    right = .true.
    do i = -20, 200
        right = right .and. count(i) == merge(1, 0, mod(200 - i, 3) == 0)
    end do
    call expect(right, 'step -3')
    count = 0
    n = -5
    !$ws do
    do i = 200, 3, n
        call work
        count(i) = count(i) + 1
    end do
    right = .true.
    do i = -20, 200
        right = right .and. count(i) == merge(1, 0, mod(200 - i, 5) == 0 .and. i >= 3)
    end do
    call expect(right, 'a computed step')

    ! gfortran counts iterations in the variable's type, as to - from + step: the plugin does it again.
    call test('to the end of the type')
    call count_up(1, huge(1), 2000000000, 2, 2000000002_int64)
    call count_up(-huge(1), huge(1), 2000000000, 3, 3 * (2000000000_int64 - huge(1)))
    call count_up(huge(1), -huge(1), -2000000000, 3, 3 * (huge(1) - 2000000000_int64))
    call count_up(huge(1) - 1000, huge(1), 9, 112, 112 * (huge(1) - 1000_int64) + 9 * 6216)
    call count_up(1, 10, 3, 4, 22_int64)
    call count_up(10, 1, 3, 0, 0_int64)
    call count_up(huge(1), -huge(1), 2000000000, 0, 0_int64)
    call count_up(10, 1, -3, 4, 22_int64)
    call count_some(-huge(1), huge(1))
    call count_kinds(-huge(1_int8), huge(1_int8), 100_int8, -huge(1_int64), huge(1_int64), huge(1_int64))

    call test('no iterations')
    count = 0
    n = 0
    !$ws do
    do i = 1, n
        count(i) = 1
    end do
    !$ws do
    do i = 1, 10, -1
        count(i) = 1
    end do
    call expect(all(count == 0), 'none')

    call test('kinds')
    count = 0
    !$ws do
    do i8 = 100_int8, -20_int8, -1_int8
        call work
        count(i8) = count(i8) + 1
    end do
    !$ws do
    do i16 = 1_int16, 100_int16
        count(i16) = count(i16) + 1
    end do
    from64 = 5000000000_int64
    total64 = 0
    !$ws do reduction(+: total64)
    do i64 = from64, from64 + 99
        call work
        total64 = total64 + (i64 - from64)
        count(i64 - from64) = count(i64 - from64) + 1
    end do
    call expect(all(count(1:99) == 3) .and. count(-20) == 1 .and. count(0) == 2, 'each once')
    call expect(total64 == 4950, 'sum')
    total64 = 0
    !$ws do reduction(+: total64)
    do i64 = from64 + 990, from64, -10_int64
        total64 = total64 + 1
    end do
    call expect(total64 == 100, 'down in integer(8)')

    call test('collapse')
    grid = 0
    !$ws do collapse(2)
    do j = 1, 7
        do i = 1, 12
            call work
            grid(i, j) = grid(i, j) + 100 * i + j
        end do
    end do
    right = .true.
    do j = 1, 7
        do i = 1, 12
            right = right .and. grid(i, j) == 100 * i + j
        end do
    end do
    call expect(right, 'two')
    cube = 0
    !$ws do collapse(3) schedule(dynamic, 2)
    do k = 5, 1, -1
        do j = 1, 4
            do i = 1, 3, 2
                call work
                cube(i, j, k) = cube(i, j, k) + 1
            end do
        end do
    end do
    !$ws end do
    call expect(all(cube(1:3:2, :, :) == 1) .and. all(cube(2, :, :) == 0), 'three')

    call test('labelled')
    count = 0
    !$ws do
    do 10 i = 1, 50
        if (mod(i, 2) == 0) goto 10
        count(i) = 1
10  continue
    !$ws do
    named: do i = 1, 50
        if (mod(i, 3) == 0) cycle named
        inner: do j = 1, 10
            if (j == 5) exit inner
            count(i) = count(i) + 1
        end do inner
    end do named
    !$ws end do
    right = .true.
    do i = 1, 50
        right = right .and. count(i) == mod(i, 2) + merge(0, 4, mod(i, 3) == 0)
    end do
    call expect(right, 'cycle and exit')

    call test('places')
    call in_module
    call expect(all(shared_sum == [(i, i = 1, 100)]), 'in a module procedure')
    object%count = 5
    call object%fill(values)
    call expect(all(values == [(2 * i + 5, i = 1, 50)]), 'in a type-bound procedure')
    values = 0
    call internal(50)
    call expect(all(values == [(i * 3, i = 1, 50)]), 'in an internal procedure')
    values = 0
    call descend(12, values)
    call expect(all(values(1:48) == 1), 'in a recursive one')
    block
        integer :: local(30), m
        !$ws do
        do m = 1, 30
            local(m) = twice(m)
        end do
        call expect(all(local == 2 * [(m, m = 1, 30)]), 'in a block')
    end block
    associate (part => values(11:20))
        !$ws do
        do i = 1, 10
            part(i) = -i
        end do
    end associate
    call expect(all(values(11:20) == [(-i, i = 1, 10)]), 'in an associate')
    if (size(values) == 50) then
        !$ws do
        do i = 1, 50
            values(i) = times(mod(i, 4) + 1)
        end do
    else
        values = 0
    end if
    call expect(sum(values) == 125, 'in an if')

    call test('nested and neighbours')
    grid = 0
    !$ws do private(i)
    do j = 1, 7
        !$ws do
        do i = 1, 12
            grid(i, j) = grid(i, j) + i * j
        end do
        do concurrent (i = 1:12)
            grid(i, j) = grid(i, j) + 1
        end do
        grid(:, j) = grid(:, j) + 1
        where (grid(:, j) > 20) grid(:, j) = 20
        forall (i = 1:12) grid(i, j) = grid(i, j) * 2
    end do
    right = .true.
    do j = 1, 7
        do i = 1, 12
            right = right .and. grid(i, j) == 2 * min(20, i * j + 2)
        end do
    end do
    call expect(right, 'loops inside')

    call test('large local variables')
    values = 0
    !$ws do
    do i = 1, 50
        values(i) = with_large_local(i)
    end do
    call expect(all(values == [(i, i = 1, 50)]), 'not mixed')

    call test('after the loop')
    last = 0
    !$ws do lastprivate(last, i)
    do i = 1, 33
        call work
        last = i * i
    end do
    call expect(last == 33 * 33 .and. i == 34, 'lastprivate')

    call finish

contains

    subroutine internal(n)
        integer, intent(in) :: n
        integer :: i, factor
        factor = 3
        !$ws do schedule(guided) steal_schedule(dynamic, factor)
        do i = 1, n
            call work
            values(i) = product3(i)
        end do
    end subroutine

    integer function product3(i)
        integer, intent(in) :: i
        product3 = i * times(3)
    end function

end program
