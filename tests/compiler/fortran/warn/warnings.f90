! SPDX-License-Identifier: MIT
!
! What -Wall warns of: the text stands in the line, after `warns:`.
module of_threads
    implicit none
    type pair
        integer :: first, second(9)
    end type
    integer :: last, values(9), kept
    type(pair), save :: both
    common /kept_by_threads/ kept
    !$omp threadprivate(last, values, both, /kept_by_threads/)
end module

subroutine f(n, a)
    use omp_lib, only: by_module => omp_get_thread_num
    use of_threads
    implicit none
    integer, intent(in) :: n
    integer, intent(inout) :: a(n)
    integer, external :: omp_get_thread_num
    integer, save :: count
    !$omp threadprivate(count)
    integer :: i
    last = 0
    !$ws do
    do i = 1, n
        a(i) = omp_get_thread_num() ! warns: 'omp_get_thread_num' is the same for all helper threads in the loop of '!$ws do'; use a reduction or a private variable
        a(i) = a(i) + by_module()   ! warns: 'omp_get_thread_num' is the same for all helper threads in the loop of '!$ws do'; use a reduction or a private variable
        count = count + 1           ! warns: each helper thread writes its own copy of thread-local 'count' in the loop of '!$ws do'; use a reduction or a lastprivate variable
        if (a(i) > 1) last = i      ! warns: each helper thread writes its own copy of thread-local 'last' in the loop of '!$ws do'; use a reduction or a lastprivate variable
        kept = a(i)                 ! warns: each helper thread writes its own copy of thread-local 'kept' in the loop of '!$ws do'; use a reduction or a lastprivate variable
        both%first = i              ! warns: each helper thread writes its own copy of thread-local 'both' in the loop of '!$ws do'; use a reduction or a lastprivate variable
        both%second(1) = i
        values(mod(i, 9) + 1) = last + kept + count
    end do
    a(1) = omp_get_thread_num()
    last = count
end subroutine

subroutine g(n, a)
    implicit none
    integer, intent(in) :: n
    integer, intent(inout) :: a(n)
    integer :: i, to
    !$ws do private(to)
    do i = 1, n
        assign 10 to to
        goto to                     ! warns: an assigned 'goto' must not leave the iteration, in the loop of '!$ws do'; the compiler cannot see whether it does
10      a(i) = 1
        goto (20, 30), a(i)
20      a(i) = a(i) + 1
30      a(i) = a(i) + 1
    end do
end subroutine

subroutine h(a)
    use of_threads
    implicit none
    integer, intent(inout) :: a(2)
    integer, external :: omp_get_thread_num
    !$ws sections
    last = 1                        ! warns: each helper thread writes its own copy of thread-local 'last' in '!$ws sections'; use a reduction or a lastprivate variable
    !$ws section
    a(1) = omp_get_thread_num()     ! warns: 'omp_get_thread_num' is the same for all helper threads in '!$ws sections'; use a reduction or a private variable
    !$ws end sections
end subroutine
