! SPDX-License-Identifier: MIT
! Data clauses and reductions on the kinds of variables that Fortran has.
module data_module
    use check
    implicit none
    type point
        real(8) :: x = 0, y = 0
    end type
    type box
        real(8), allocatable :: values(:)
        type(point) :: corner
    end type
    type(point), save :: module_point
    integer, allocatable :: module_array(:)
    interface operator(+)
        procedure add_points
    end interface
    !$ws declare reduction(+: point: omp_out = omp_out + omp_in) initializer(omp_priv = point(0d0, 0d0))
contains
    elemental function add_points(a, b) result(sum)
        type(point), intent(in) :: a, b
        type(point) :: sum
        sum = point(a%x + b%x, a%y + b%y)
    end function

    subroutine assumed_shape(a, b)
        real(8), intent(in) :: a(0:)
        real(8), intent(out) :: b(:)
        integer :: i
        !$ws do default(none) shared(a, b)
        do i = 1, size(b)
            call work
            b(i) = a(i - 1) * 2
        end do
    end subroutine

    subroutine explicit_shape(n, m, a, text)
        integer, intent(in) :: n, m
        real(8), intent(inout) :: a(n, m)
        character(*), intent(inout) :: text(n)
        real(8) :: automatic(n)
        integer :: i, j
        automatic = 0
        !$ws do private(j) firstprivate(automatic) lastprivate(automatic)
        do i = 1, n
            call work
            automatic(1) = i
            do j = 1, m
                a(i, j) = i + 100 * j + automatic(2)
            end do
            text(i) = 'line ' // achar(iachar('a') + mod(i, 26))
        end do
        call expect(automatic(1) == n .and. all(automatic(2:) == 0), 'an automatic array')
    end subroutine

    subroutine optionals(n, total, offset)
        integer, intent(in) :: n
        integer, intent(out) :: total
        integer, intent(in), optional :: offset
        integer :: i
        total = 0
        !$ws do reduction(+: total)
        do i = 1, n
            total = total + i
            if (present(offset)) total = total + offset
        end do
    end subroutine
end module

program data
    use data_module
    implicit none
    integer :: i, j, n, m, smallest, largest, bits_and, bits_or, bits_xor, minus
    integer :: histogram(0:9), longest_line
    integer, allocatable :: dynamic(:), reduced(:)
    integer, target :: room(100)
    integer, pointer :: pointed(:), scalar_pointer
    real(8) :: x(100), y(0:99), total, factorial, matrix(20, 5), sums(4)
    complex(8) :: z
    real(4) :: low, high
    logical :: all_true, any_true, equal, different
    character(8) :: text(20), private_text
    type(point) :: p
    type(box) :: boxes(20)
    !$WS  DECLARE REDUCTION(longest: integer: &
    !$ws&     omp_out = max(omp_out, omp_in)) initializer(omp_priv = 0)

    call begin

    call test('shapes')
    y = [(i * 1d0, i = 0, 99)]
    call assumed_shape(y, x)
    call expect(all(x == 2 * y), 'assumed')
    call assumed_shape(y(0:99:2), x(1:50))
    call expect(all(x(1:50) == 2 * y(0:99:2)), 'a section')
    call explicit_shape(20, 5, matrix, text)
    call expect(all(matrix(:, 3) == [(i + 300, i = 1, 20)]) .and. text(3) == 'line d', 'explicit')
    allocate (dynamic(64), module_array(64))
    pointed => room(1:100:3)
    scalar_pointer => room(100)
    room = 0
    !$ws do shared(pointed, dynamic)
    do i = 1, 34
        call work
        dynamic(i) = i
        module_array(i) = -i
        pointed(i) = pointed(i) + i
        if (i == 34) scalar_pointer = scalar_pointer + 1
    end do
    call expect(all(dynamic(1:34) + module_array(1:34) == 0), 'allocatable')
    call expect(all(room(1:97:3) == [(i, i = 1, 33)]) .and. room(100) == 35, 'pointers')

    call test('derived types')
    !$ws do
    do i = 1, 20
        call work
        allocate (boxes(i)%values(i))
        boxes(i)%values = i
        boxes(i)%corner%x = sum(boxes(i)%values)
    end do
    call expect(all(boxes%corner%x == [(1d0 * i * i, i = 1, 20)]), 'allocatable components')

    call test('private')
    n = 7
    m = 3
    private_text = 'abc'
    room = 0
    deallocate (module_array)
    allocate (module_array(5))
    module_array = 9
    !$ws do private(j, p) firstprivate(n, private_text, module_array) lastprivate(m)
    do i = 1, 100
        call work
        j = i
        p%x = i
        n = n + 0
        module_array(1) = i
        m = j + n
        if (private_text == 'abc' .and. module_array(5) == 9) room(i) = int(p%x)
    end do
    call expect(all(room == [(i, i = 1, 100)]), 'values')
    call expect(m == 107 .and. n == 7 .and. module_array(1) == 9, 'after it')

    call test('scalar reductions')
    total = 0
    factorial = 1
    minus = 1000
    smallest = huge(smallest)
    largest = -huge(largest)
    low = huge(low)
    high = -huge(high)
    bits_and = -1
    bits_or = 0
    bits_xor = 0
    all_true = .true.
    any_true = .false.
    equal = .true.
    different = .false.
    z = 0
    !$ws do reduction(+: total, z) reduction(*: factorial) reduction(-: minus) reduction(min: smallest, low) &
    !$ws    reduction(max: largest, high) reduction(iand: bits_and) reduction(ior: bits_or) reduction(ieor: bits_xor) &
    !$ws  & reduction(.and.: all_true) reduction(.or.: any_true) reduction(.eqv.: equal) reduction(.neqv.: different)
    do i = 1, 99
        call work
        total = total + i
        z = z + cmplx(i, -i, 8)
        if (i <= 10) factorial = factorial * i
        minus = minus - i
        smallest = min(smallest, abs(i - 50))
        largest = max(largest, mod(i * 37, 101))
        low = min(low, real(i) - 60)
        high = max(high, real(mod(i * 37, 101)))
        bits_and = iand(bits_and, not(ishft(1, mod(i, 5))))
        bits_or = ior(bits_or, ishft(1, mod(i, 5) + 5))
        bits_xor = ieor(bits_xor, i)
        all_true = all_true .and. i > 0
        any_true = any_true .or. i == 57
        equal = equal .eqv. mod(i, 2) == 0
        different = different .neqv. mod(i, 2) == 0
    end do
    call expect(total == 4950 .and. z == cmplx(4950, -4950, 8), '+')
    call expect(factorial == 3628800, '*')
    call expect(minus == 1000 - 4950, '-')
    call expect(smallest == 0 .and. largest == maxval([(mod(i * 37, 101), i = 1, 99)]), 'min and max of integers')
    call expect(low == -59 .and. high == largest, 'min and max of reals')
    call expect(bits_and == not(31) .and. bits_or == 992 .and. bits_xor == 0, 'bits')
    call expect(all_true .and. any_true, '.and. and .or.')
    call expect(equal .and. different, '.eqv. and .neqv.')

    call test('array reductions')
    histogram = 0
    sums = 1
    allocate (reduced(3))
    reduced = 100
    !$ws do reduction(+: histogram) reduction(*: sums) reduction(max: reduced) private(j)
    do i = 1, 200
        call work
        histogram(mod(i * 7, 10)) = histogram(mod(i * 7, 10)) + 1
        j = 1 + i / 51
        if (mod(i, 50) == 0) sums(j) = sums(j) * i
        reduced(mod(i, 3) + 1) = max(reduced(mod(i, 3) + 1), i)
    end do
    call expect(all(histogram == 20), 'bounds not from 1')
    call expect(all(sums == [50, 100, 150, 200]), 'product')
    call expect(all(reduced == [198, 199, 200]), 'allocatable')

    call test('declared reductions')
    p = point(1d0, 2d0)
    longest_line = 0
    !$ws do reduction(+: p) reduction(longest: longest_line)
    do i = 1, 100
        call work
        p = p + point(1d0 * i, -1d0 * i)
        longest_line = max(longest_line, mod(i * 31, 97))
    end do
    call expect(p%x == 5051 .and. p%y == -5048, 'of a derived type')
    call expect(longest_line == maxval([(mod(i * 31, 97), i = 1, 100)]), 'by name')

    call test('schedules')
    do n = 1, 4
        room = 0
        !$ws do schedule(static, n) steal_schedule(static, 2 * n)
        do i = 1, 100
            call work
            room(i) = room(i) + 1
        end do
        !$ws do schedule(dynamic, n + 0_8), steal_schedule(guided, n)
        do i = 1, 100
            call work
            room(i) = room(i) + 1
        end do
        !$ws do schedule(guided) steal_schedule(auto)
        do i = 1, 100
            call work
            room(i) = room(i) + 1
        end do
        !$ws do steal_schedule(dynamic, size(room) / 25)
        do i = 1, 100
            room(i) = room(i) + 1
        end do
        call expect(all(room == 4), 'each once')
    end do

    call test('optional arguments')
    call optionals(10, n)
    call optionals(10, m, 2)
    call expect(n == 55 .and. m == 75, 'sums')

    call finish
end program
