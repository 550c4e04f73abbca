! SPDX-License-Identifier: MIT
! What loops are called: where they are, or what their name clause says.
module names_module
    use check
    use, intrinsic :: iso_c_binding
    implicit none
    type(c_ptr), bind(c, name='ws_fake_site') :: site
contains
    function called() result(text)
        character(len=:), allocatable :: text
        type(c_ptr), pointer :: where
        character(kind=c_char), pointer :: letters(:)
        integer :: i
        call c_f_pointer(site, where)
        call c_f_pointer(where, letters, [192])
        text = ''
        do i = 1, 192
            if (letters(i) == c_null_char) return
            text = text // letters(i)
        end do
    end function

    subroutine in_module(n)
        integer, intent(in) :: n
        integer :: i, s
        s = 0
        !$ws do reduction(+ : s)
        do i = 1, n
            s = s + i
        end do
        call named('names.f90:27:in_module')
        call inner
    contains
        subroutine inner
            !$ws do reduction(+ : s)
            do i = 1, n
                s = s + i
            end do
            call named('names.f90:35:inner')
        end subroutine
    end subroutine

    subroutine named(name)
        character(len=*), intent(in) :: name
        character(len=:), allocatable :: found
        integer :: from
        found = called()
        from = max(1, len(found) - len(name) + 1)     ! the compiler was given a path
        call expect(found(from:) == name .and. (from == 1 .or. index(name, 'names.f90') == 1), found)
    end subroutine
end module

program names
    use names_module
    implicit none
    integer :: i, s
    call begin
    call test('by place')
    call in_module(10)
    s = 0
    !$ws do reduction(+ : s)
    do i = 1, 10
        s = s + i
    end do
    call named('names.f90:61:names')
    call test('by name')
    !$ws do name('smooth') reduction(+ : s)
    do i = 1, 10
        s = s + i
    end do
    call named('smooth')
    !$WS DO NAME("a ""quoted"" \n & Name ! ä '") SCHEDULE(STATIC, 3) &
    !$ws& REDUCTION(+ : s)
    do i = 1, 10
        s = s + i
    end do
    call named('a "quoted" \n & Name ! ä ''')
    s = 0
    !$ws do &
    !$ws    name('it''s') &
    !$ws    reduction(+ : s)
    do i = 1, 1000
        s = s + i
        if (mod(i, 50) == 0) call work
    end do
    call named("it's")
    call expect(s == 500500, 'sum')
    call finish
end program
