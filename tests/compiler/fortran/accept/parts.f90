! SPDX-License-Identifier: MIT
! Sections, simd loops, and the clause if.
module parts_module
    use check
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    integer(c_int), bind(c, name='ws_fake_unshared') :: unshared
    integer :: asked = 0
contains
    logical function ask(answer)
        logical, intent(in) :: answer
        asked = asked + 1
        ask = answer
    end function

    subroutine each_once(done)
        integer, intent(inout) :: done(:)
        done = 0
        !$ws sections
            done(1) = done(1) + 1
            call work
        !$ws section
            done(2) = done(2) + 1
            call work
        !$ws section
            done(3:4) = done(3:4) + 1
        !$ws section
        !$ws end sections
    end subroutine

    subroutine last_in_the_text(x, y, seen)
        integer, intent(inout) :: x, y
        integer, intent(out) :: seen
        seen = 0
        !$WS SECTIONS firstprivate(x) lastprivate(x, y) &
        !$ws& name('four parts')
        !$ws section
            seen = x
            x = 1
            call work
        !$ws section
            y = 2
            x = 2
            call work
        !$ws section
            y = 3
        !$ws section
            x = 100
            y = 4
            call work
        !$ws endsections
    end subroutine

    subroutine reduced(n, total, highest)
        integer, intent(in) :: n
        integer, intent(out) :: total
        real, intent(out) :: highest
        integer :: i
        total = 1
        highest = -1
        !$ws sections reduction(+ : total) reduction(max : highest) private(i) default(none) shared(n)
            do i = 1, n
                total = total + i
            end do
        !$ws section
            highest = max(highest, 2.5)
            total = total + 1000
        !$ws section
            highest = max(highest, 7.)
        !$ws end sections
    end subroutine

    subroutine with_others_inside(n, x, y, z)
        integer, intent(in) :: n
        integer, intent(out) :: x, y, z
        integer :: i, j
        x = 0
        y = 0
        z = 0
        !$ws sections private(i, j)
            do i = 1, n
                !$ws atomic
                x = x + i
                !$ws critical (parts)
                y = y + i
                !$ws end critical (parts)
            end do
        !$ws section
            do i = 1, n
                !$ws atomic
                x = x + i
                !$ws critical (parts)
                y = y + i
                !$ws end critical (parts)
            end do
        !$ws section
            !$ws do reduction(+ : z)
            do j = 1, n
                z = z + j
            end do
        !$ws section
            if (n < 0) call work
        !$ws end sections
    end subroutine

    integer function conditional(n, share)
        integer, intent(in) :: n
        logical, intent(in) :: share
        integer :: i
        conditional = 0
        !$ws do if(ask(share))
        do i = 1, n
            if (share) then
                !$ws atomic
                conditional = conditional + i
            else
                conditional = mod(3 * conditional, 10007) + i
            end if
            call work
        end do
        !$ws end do
    end function

    subroutine simd(n, a, b, total, last)
        integer, intent(in) :: n
        real, intent(inout) :: a(n)
        real, intent(in) :: b(n)
        real, intent(out) :: total
        integer, intent(out) :: last
        integer :: i
        total = 0
        !$ws do simd reduction(+ : total) safelen(8) schedule(dynamic, 30) &
        !$ws    lastprivate(i) if(n > 10)
        do i = 1, n
            a(i) = 2 * a(i) + b(i)
            total = total + a(i)
        end do
        !$ws end do simd
        last = i
        !$ws do simd simdlen(4)
        do i = n, 1, -1
            a(i) = a(i) + 1
        end do
        !$ws enddo simd
    end subroutine

    subroutine simd_collapsed(hits)
        integer, intent(inout) :: hits(:, :)
        integer :: i, j
        !$ws do simd collapse(2)
        do j = 1, size(hits, 2)
            do i = 1, size(hits, 1)
                hits(i, j) = hits(i, j) + 1
            end do
        end do
    end subroutine
end module

program parts
    use parts_module
    implicit none
    integer :: done(4), x, y, z, seen, i, round, total, last, hits(20, 30), expected
    real :: highest, a(500), b(500), sum_of_a
    call begin
    call test('sections')
    call each_once(done)
    call expect(all(done == 1), 'each once')
    call test('lastprivate of sections')
    do round = 1, 20
        x = 7
        y = 8
        call last_in_the_text(x, y, seen)
        call expect(x == 100 .and. y == 4 .and. seen == 7, 'the last in the text')
    end do
    call test('reductions of sections')
    call reduced(40, total, highest)
    call expect(total == 1001 + 820 .and. highest == 7, 'combined')
    call test('directives in sections')
    call with_others_inside(40, x, y, z)
    call expect(x == 1640 .and. y == 1640 .and. z == 820, 'all')
    call test('if')
    expected = 0
    do i = 1, 50
        expected = mod(3 * expected, 10007) + i
    end do
    total = unshared
    call expect(conditional(50, .false.) == expected, 'in order')
    call expect(unshared == total + 1, 'not shared')
    call expect(conditional(50, .true.) == 1275, 'shared')
    call expect(unshared == total + 1, 'shared indeed')
    call expect(asked == 2, 'asked once for each')
    call test('simd')
    a = [(mod(i, 10), i = 1, 500)]
    b = [(mod(i, 7), i = 1, 500)]
    call simd(500, a, b, sum_of_a, last)
    call expect(all(a == [(2 * mod(i, 10) + mod(i, 7) + 1, i = 1, 500)]), 'values')
    call expect(sum_of_a == sum(a) - 500 .and. last == 501, 'sum and last')
    hits = 0
    call simd_collapsed(hits)
    call expect(all(hits == 1), 'collapsed')
    call finish
end program
