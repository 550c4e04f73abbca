! SPDX-License-Identifier: MIT
! atomic in all its forms and types, critical, in loops and in what loops call.
module sync_module
    use check
    use, intrinsic :: iso_fortran_env, only: int8, int16, int64
    implicit none
    integer :: in_called = 0
    integer(int64) :: in_critical = 0
contains
    subroutine called(n)
        integer, intent(in) :: n
        integer(int64) :: before
        !$ws atomic
        in_called = in_called + n
        !$ws critical (sum_up)
        before = in_critical
        call work
        in_critical = before + n
        !$ws end critical (sum_up)
    end subroutine
end module

program sync
    use sync_module
    implicit none
    integer :: i, n, tickets(0:999), x, largest, smallest, bits, old, new
    integer(int8) :: small
    integer(int16) :: short
    integer(int64) :: long
    real(4) :: single
    real(8) :: double, histogram(0:6), product
    complex(8) :: z
    logical :: flag, right
    real(8), allocatable :: cells(:)

    call begin

    call test('update')
    x = 0
    small = 0
    short = 0
    long = 0
    single = 0
    double = 1000
    z = 0
    largest = 0
    smallest = huge(smallest)
    bits = 0
    flag = .false.
    product = 1
    histogram = 0
    allocate (cells(10))
    cells = 0
    !$ws do
    do i = 1, 1000
        if (mod(i, 50) == 0) call work
        !$ws atomic
        x = x + 1
        !$ws atomic update
        small = small + 1_int8
        !$ws atomic update relaxed
        short = 2_int16 + short
        !$ws atomic seq_cst
        long = long + i
        !$ws end atomic
        !$ws atomic
        single = single + 1
        !$ws atomic
        double = double - 0.5d0
        !$ws atomic
        z = z + (1d0, -1d0)
        !$ws atomic
        largest = max(largest, i)
        !$ws atomic
        smallest = min(i, smallest)
        !$ws atomic
        bits = ior(bits, ishft(1, mod(i, 30)))
        !$ws atomic
        flag = flag .or. i == 777
        if (i <= 4) then
            !$ws atomic
            product = product * i
        end if
        !$ws atomic
        histogram(mod(i, 7)) = histogram(mod(i, 7)) + 1
        !$ws atomic
        cells(mod(i, 10) + 1) = cells(mod(i, 10) + 1) + 1
    end do
    call expect(x == 1000, 'integer')
    call expect(small == int(mod(1000, 256) - 256, int8) .and. short == 2000 .and. long == 500500, 'other integers')
    call expect(nint(single) == 1000 .and. nint(double) == 500 .and. nint(product) == 24, 'reals')
    call expect(nint(real(z)) == 1000 .and. nint(aimag(z)) == -1000, 'complex')
    call expect(largest == 1000 .and. smallest == 1 .and. bits == 2**30 - 1 .and. flag, 'max, min, ior, .or.')
    call expect(nint(sum(histogram)) == 1000 .and. all(nint(cells) == 100), 'elements')

    call test('read, write and capture')
    n = 0
    tickets = 0
    x = -1
    right = .true.
    !$ws do private(old, new) reduction(.and.: right)
    do i = 0, 999
        if (mod(i, 50) == 0) call work
        !$ws atomic capture
        old = n
        n = n + 1
        !$ws end atomic
        tickets(old) = tickets(old) + 1
        !$ws atomic write
        x = i
        !$ws atomic read
        new = x
        right = right .and. new >= 0 .and. new < 1000
    end do
    call expect(n == 1000 .and. all(tickets == 1), 'each ticket once')
    call expect(right, 'what is read was written')
    n = 0
    tickets = 0
    !$ws do private(new)
    do i = 0, 999
        !$ws atomic capture acq_rel
        n = n + 1
        new = n
        !$ws end atomic
        tickets(new - 1) = tickets(new - 1) + 1
    end do
    call expect(all(tickets == 1), 'the new value')

    call test('critical')
    n = 0
    x = 0
    double = 0
    !$ws do private(old)
    do i = 1, 300
        !$ws critical
        old = n
        if (mod(i, 30) == 0) call work
        n = old + 1
        !$ws end critical
        !$WS CRITICAL (Other_Name)
        old = x
        x = old + 2
        double = double + 0.5d0
        !$WS END CRITICAL (OTHER_NAME)
    end do
    !$ws end do
    call expect(n == 300 .and. x == 600 .and. nint(double) == 150, 'counts')

    call test('in what is called')
    in_called = 0
    in_critical = 0
    !$ws do schedule(dynamic, 1)
    do i = 1, 300
        call called(i)
    end do
    call expect(in_called == 45150 .and. in_critical == 45150, 'sums')
    call called(1)
    call expect(in_called == 45151, 'outside loops')

    call finish
end program
