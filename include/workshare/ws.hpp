// SPDX-License-Identifier: MIT
//
/// @file
/// Loops over lambdas that waiting MPI ranks of a node help to run: ws::for_each, ws::for_chunks,
/// ws::transform_reduce.
///
/// Header-only over libws's C interface, for C++17 and later, GCC and clang, without a plugin. Examples:
/// docs/reference/api.md. From the paper "Enhancing Load-Balancing of MPI Applications with Workshare".
///
/// @par Ranges
/// [first, last) of any integer type up to 64 bits, a pair of random-access iterators, or a range that has such
/// iterators.
///
/// @par Bodies
/// They are called as const, by the caller and by helper threads of the same process on lent cores, at the same time.
/// So results must not depend on the order in which iterations write to shared data. A small, trivially copyable body
/// (a lambda that captures scalars, pointers or references) is copied for each participant, so that the compiler may
/// keep what it captured in registers.
///
/// @par Errors
/// A bad argument throws std::invalid_argument before anything has run; it names the argument and the call. With
/// -fno-exceptions, the message goes to stderr and the program aborts. An exception that leaves a body ends the job
/// by std::terminate, with a message that names the loop and the exception.
///
/// @par Blocking
/// A call returns when the whole range has run. The caller works itself, and at the end waits for helpers in their
/// last chunk. It never waits for other ranks.
///
/// @par Threads
/// Any thread may call them. Loops of the thread that called MPI_Init are shared. With MPI_THREAD_MULTIPLE, loops of
/// up to 8 threads per rank are shared at the same time. The caller runs all other loops in order: loops inside a
/// loop, and all loops without mpirun -workshare.
///
/// @par Cost
/// If nobody helps: tens of nanoseconds per call. The loop over a chunk is compiled like a plain one.
#ifndef WORKSHARE_WS_HPP
#define WORKSHARE_WS_HPP

#if __cplusplus < 201703L
#error "<workshare/ws.hpp> needs C++17 or later; <workshare/ws.h> does not"
#endif

#include "ws.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

// One for each call site (ws_for: and body) and set of options, made by libws at the first call and kept for ever.
struct alignas(64) ws_call {
    ws_site site; // its `where` is what the loop is called
    ws_body* body; // of ws_for only
    const char* file;
    const char* name;
    uintptr_t kinds;
    unsigned line;
    ws_call* next;
};

// For this header only. Finds or makes the entry of a call site in `list`; 0, and an error, if an option is wrong.
// kinds: as in ws_site; its flags say which chunk sizes were given; above them, from bit 32 on, of what type the result
// of a reduction is (detail::result_type), to which two pointers lead from the loop's data. Thread-safe, may take a
// lock.
extern "C" ws_call* ws_find_call(ws_call** list, const char* file, unsigned line, const char* function, uintptr_t kinds,
                                 const ws_options* options) noexcept;
extern "C" void ws_bad_argument(const char* file, unsigned line, const char* function, const ws_options* options,
                                const char* what) noexcept;

namespace ws {

/// How a loop is run. The runtime chooses what is left out.
///
/// @code
/// ws::options("smooth").schedule(WS_DYNAMIC, 8)
/// @endcode
///
/// The kinds WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED and WS_RUNTIME, and the chunk sizes in iterations, mean the
/// same as in the clauses of `#pragma ws for`. A chunk size below 1, or one for WS_AUTO or WS_RUNTIME, is an error of
/// the call that gets it.
///
/// @par Source
/// MPI Workshare (schedule and steal schedule).
class options {
public:
    constexpr options() = default;

    /// Sets the loop's name, a string constant. The default is "file:line:function".
    constexpr options(const char* name) { given_.name = name; }

    /// Sets how many iterations the calling rank takes at a time.
    constexpr options& schedule(ws_schedule kind)
    {
        given_.schedule = kind;
        return *this;
    }
    constexpr options& schedule(ws_schedule kind, int64_t chunk)
    {
        given_.chunk = chunk;
        clauses_ |= WS_SITE_CHUNK;
        return schedule(kind);
    }

    /// Sets how many iterations a helper takes at a time. The default is as for the calling rank.
    constexpr options& steal_schedule(ws_schedule kind)
    {
        given_.steal_schedule = kind;
        clauses_ |= WS_SITE_STEAL;
        return *this;
    }
    constexpr options& steal_schedule(ws_schedule kind, int64_t chunk)
    {
        given_.steal_chunk = chunk;
        clauses_ |= WS_SITE_STEAL_CHUNK;
        return steal_schedule(kind);
    }

    constexpr const ws_options& c_options() const { return given_; }
    constexpr uintptr_t kinds() const
    {
        return WS_SITE_KINDS(one_byte(given_.schedule), one_byte(given_.steal_schedule)) | clauses_;
    }

private:
    // An unknown kind must not look like a known one: libws will find it.
    static constexpr unsigned one_byte(ws_schedule kind)
    {
        return static_cast<unsigned>(kind) <= WS_RUNTIME ? static_cast<unsigned>(kind) : 255u;
    }
    ws_options given_ = {};
    uintptr_t clauses_ = WS_SITE_ANY_ORDER;
};

// Where a loop is called, for its name; the functions below fill it by default.
struct location {
    const char* file;
    unsigned line;
    const char* function;
    static constexpr location here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                                   const char* function = __builtin_FUNCTION())
    {
        return {file, line, function};
    }
};

namespace detail {

[[noreturn, gnu::cold]] inline void fail()
{
#ifdef __cpp_exceptions
    throw std::invalid_argument(ws_last_error());
#else
    std::fprintf(stderr, "%s\n", ws_last_error());
    std::abort();
#endif
}

[[noreturn, gnu::cold]] inline void fail(const char* what, const options& o, const location& at)
{
    ws_bad_argument(at.file, at.line, at.function, &o.c_options(), what);
    fail();
}

// ---- one region

// What the calling thread and the guests share of a region: lives in the caller's frame until the region has ended.
// Work has participant(): what one of them does with the chunks that ws_loop_next gives it.
template <class Work>
struct region {
    Work& work;

    static inline ws_call* calls = nullptr; // of this Work's type; libws adds to it

    // noexcept: what leaves a body ends in std::terminate, where libws says which loop it was.
    static void participate(void* data) noexcept { static_cast<region*>(data)->work.participant(); }
};

// The entry of a call site in `calls`; null, and an error, if an option is wrong. A type of work can have several call
// sites (a named functor, a function pointer) and a call site several sets of options: each has an entry, usually the
// first.
inline ws_call* find_call(ws_call*& calls, uintptr_t result_type, const options& o, const location& at)
{
    ws_call* call = __atomic_load_n(&calls, __ATOMIC_ACQUIRE); // pairs with ws_find_call
    while (call && !(call->line == at.line && call->file == at.file && call->kinds == o.kinds() &&
                     call->name == o.c_options().name))
        call = call->next;
    return call ? call : ws_find_call(&calls, at.file, at.line, at.function, o.kinds() | result_type, &o.c_options());
}

// Runs start, start + 1, ... end - 1.
template <class Work>
void run(Work work, long start, long end, const options& o, const location& at)
{
    using region = region<Work>;
    ws_call* const call = find_call(region::calls, Work::result_type, o, at);
    if (!call)
        fail();
    const ws_options& c = o.c_options();
    if (((o.kinds() & WS_SITE_CHUNK) && c.chunk < 1) || ((o.kinds() & WS_SITE_STEAL_CHUNK) && c.steal_chunk < 1)) {
        // for its message
        ws_find_call(&region::calls, at.file, at.line, at.function, o.kinds() | Work::result_type, &c);
        fail();
    }
    region r = {work};
    ws_parallel_loop(region::participate, &r, start, end, 1, &call->site, c.chunk, c.steal_chunk);
}

// A participant's own copy of a body, in registers, where that can make no difference; else the body itself.
template <class F, bool is_object = std::is_object_v<F>>
constexpr bool is_copied = false;
template <class F>
constexpr bool is_copied<F, true> = std::is_trivially_copyable_v<F>&& std::is_copy_constructible_v<F> &&
                                    sizeof(F) <= 256;
template <class F>
using own = std::conditional_t<is_copied<F>, const F, const F&>;

// ---- ranges: how the runtime's numbers become the caller's indices or elements

template <class I>
constexpr bool is_index = std::is_integral_v<I> && !std::is_same_v<I, bool> && sizeof(I) <= sizeof(long);

template <class It, class = void>
constexpr bool is_random_access = false;
#if defined(__cpp_lib_concepts)
template <class It>
constexpr bool is_random_access<It, std::enable_if_t<std::random_access_iterator<It>>> = true;
#else
template <class It>
constexpr bool is_random_access<It, std::void_t<typename std::iterator_traits<It>::iterator_category>> =
    std::is_base_of_v<std::random_access_iterator_tag, typename std::iterator_traits<It>::iterator_category>;
#endif

// Integers, by value. The runtime counts in long: what is unsigned and as wide is moved into its range, in order.
template <class I>
struct index_range {
    using position = I;
    I first, last;

    static constexpr unsigned long shift = std::is_unsigned_v<I> && sizeof(I) == sizeof(long) ? ~(~0ul >> 1) : 0;
    static constexpr long to_long(I i) { return static_cast<long>(static_cast<unsigned long>(i) ^ shift); }
    static constexpr I at(long n) { return static_cast<I>(static_cast<unsigned long>(n) ^ shift); }

    long start() const { return to_long(first); }
    long end() const { return to_long(last); }
    position position_of(long n) const { return at(n); }
    template <class F>
    static void each(position lo, position hi, F&& f)
    {
        for (; lo < hi; ++lo)
            f(lo);
    }
};

// Elements, by reference.
template <class It>
struct iterator_range {
    using position = It;
    using difference = typename std::iterator_traits<It>::difference_type;
    It first;
    long count;

    long start() const { return 0; }
    long end() const { return count; }
    position position_of(long n) const { return first + static_cast<difference>(n); }
    template <class F>
    static void each(position lo, position hi, F&& f)
    {
        for (; lo != hi; ++lo)
            f(*lo);
    }
};

template <class R>
using iterator_of = decltype(std::begin(std::declval<R&>()));

template <class R, class = void>
constexpr bool is_range = false;
template <class R>
constexpr bool
    is_range<R, std::void_t<iterator_of<R>, decltype(std::end(std::declval<R&>()) - std::begin(std::declval<R&>()))>> =
        is_random_access<iterator_of<R>>;

template <class It, class End>
iterator_range<It> elements(It first, End last)
{
    static_assert(!std::is_same_v<typename std::iterator_traits<It>::value_type, bool> ||
                      !std::is_class_v<decltype(*first)>,
                  "elements of std::vector<bool> share words: iterations that write them would disturb each other");
    return {first, last - first > 0 ? static_cast<long>(last - first) : 0};
}

// The bounds in one type. A negative bound has no place in an unsigned one: that is an error, no wrong loop.
template <class I, class J>
auto indices(I first, J last, const options& o, const location& at)
{
    using index = std::common_type_t<I, J>;
    if constexpr (std::is_unsigned_v<index>) {
        if constexpr (std::is_signed_v<I>)
            if (first < 0)
                fail("'first' is negative where 'last' is unsigned", o, at);
        if constexpr (std::is_signed_v<J>)
            if (last < 0)
                fail("'last' is negative where 'first' is unsigned", o, at);
    }
    return index_range<index>{static_cast<index>(first), static_cast<index>(last)};
}

// Function pointers and std::function may hold nothing.
template <class F, class = void>
constexpr bool may_be_empty = std::is_pointer_v<F> || std::is_member_pointer_v<F>;
template <class F>
constexpr bool may_be_empty<F, std::void_t<decltype(std::declval<const F&>().operator bool())>> = true;

template <class F>
void check(const F& f, const char* what, const options& o, const location& at)
{
    if constexpr (may_be_empty<F>)
        if (!f)
            fail(what, o, at);
}

// ---- the three kinds of work

template <class Range, class F>
struct each_work {
    static constexpr uintptr_t result_type = 0;
    const Range& range;
    const F& body;
    void participant() const
    {
        own<F> f = body;
        const Range r = range;
        for (long lo, hi; ws_loop_next(&lo, &hi);)
            r.each(r.position_of(lo), r.position_of(hi), f);
    }
};

template <class Range, class F>
struct chunk_work {
    static constexpr uintptr_t result_type = 0;
    const Range& range;
    const F& body;
    void participant() const
    {
        own<F> f = body;
        const Range r = range;
        for (long lo, hi; ws_loop_next(&lo, &hi);)
            f(r.position_of(lo), r.position_of(hi));
    }
};

// For mpirun -workshare-check: a letter (as in abi/abi.h) and the size.
template <class T>
constexpr uintptr_t result_type = static_cast<uintptr_t>(std::is_floating_point_v<T> ? 'f'
                                                         : !std::is_integral_v<T>    ? '?'
                                                         : std::is_signed_v<T>       ? 'i'
                                                                                     : 'u')
                                      << 32 |
                                  static_cast<uintptr_t>(std::is_arithmetic_v<T> ? sizeof(T) : 0) << 40;

// Each participant begins with its own first element, so that no neutral element is needed; the merges exclude each
// other.
template <class Range, class T, class Reduce, class Transform>
struct reduce_work {
    static constexpr uintptr_t result_type = detail::result_type<T>;
    T& result; // first: who compares results looks for it there
    const Range& range;
    const Reduce& reduce;
    const Transform& transform;

    void participant() const
    {
        own<Reduce> add = reduce;
        own<Transform> f = transform;
        const Range r = range;
        long lo, hi;
        if (!ws_loop_next(&lo, &hi))
            return;
        T mine = first(r, f, lo);
        lo++;
        do {
            T local = std::move(mine); // not visible outside this loop: stays in registers
            r.each(r.position_of(lo), r.position_of(hi),
                   [&](auto&& i) { local = add(std::move(local), f(std::forward<decltype(i)>(i))); });
            mine = std::move(local);
        } while (ws_loop_next(&lo, &hi));
        ws_reduction_start();
        result = add(std::move(result), std::move(mine));
        ws_reduction_end();
    }

    static T first(const Range& r, const Transform& f, long n)
    {
        if constexpr (is_index<typename Range::position>)
            return static_cast<T>(f(r.position_of(n)));
        else
            return static_cast<T>(f(*r.position_of(n)));
    }
};

template <class Range, class F>
void for_each(const Range& range, const F& body, const options& o, const location& at)
{
    check(body, "the body is empty", o, at);
    run(each_work<Range, F>{range, body}, range.start(), range.end(), o, at);
}

template <class Range, class F>
void for_chunks(const Range& range, const F& body, const options& o, const location& at)
{
    using position = typename Range::position;
    static_assert(std::is_invocable_v<const F&, position, position>,
                  "the body of ws::for_chunks must be callable as const with (first, last) of a chunk");
    check(body, "the body is empty", o, at);
    run(chunk_work<Range, F>{range, body}, range.start(), range.end(), o, at);
}

template <class Range, class T, class Reduce, class Transform>
T transform_reduce(const Range& range, T init, const Reduce& reduce, const Transform& transform, const options& o,
                   const location& at)
{
    static_assert(
        std::is_invocable_r_v<T, const Reduce&, T, T>,
        "the reduction of ws::transform_reduce must be callable as const with two values of init's type, and give one");
    check(reduce, "the reduction is empty", o, at);
    check(transform, "the transformation is empty", o, at);
    run(reduce_work<Range, T, Reduce, Transform>{init, range, reduce, transform}, range.start(), range.end(), o, at);
    return init;
}

template <class I, class J>
using if_indices = std::enable_if_t<is_index<I> && is_index<J>>;
template <class It, class End>
using if_iterators = std::enable_if_t<is_random_access<It> && !std::is_integral_v<It>,
                                      decltype(std::declval<End>() - std::declval<It>())>;
template <class R>
using if_range = std::enable_if_t<is_range<R>>;

} // namespace detail

/// Calls body(i) for each index, or body(element) for each element of a range.
///
/// @code
/// void ws::for_each(first, last, body, options = {});
/// void ws::for_each(range, body, options = {});
/// @endcode
///
/// @param first    an integer, or a random-access iterator
/// @param last     one past the last index, or the end of the iterators
/// @param body     callable as const with an index, or with an element
/// @param o        how to run the loop; see ws::options
///
/// @par Errors
/// See the head of ws.hpp.
///
/// @par Source
/// MPI Workshare.
template <class I, class J, class F, class = detail::if_indices<I, J>>
void for_each(I first, J last, const F& body, const options& o = {}, location at = location::here())
{
    static_assert(std::is_invocable_v<const F&, std::common_type_t<I, J>>,
                  "the body of ws::for_each must be callable as const with an index: iterations run at the same time");
    detail::for_each(detail::indices(first, last, o, at), body, o, at);
}

template <class It, class End, class F, class = detail::if_iterators<It, End>, class = void>
void for_each(It first, End last, const F& body, const options& o = {}, location at = location::here())
{
    static_assert(
        std::is_invocable_v<const F&, decltype(*first)>,
        "the body of ws::for_each must be callable as const with an element: iterations run at the same time");
    detail::for_each(detail::elements(first, last), body, o, at);
}

template <class R, class F, class = detail::if_range<R>>
void for_each(R&& range, const F& body, const options& o = {}, location at = location::here())
{
    ws::for_each(std::begin(range), std::end(range), body, o, at);
}

/// Calls body(lo, hi) for pieces of the range that together are all of it. None is empty.
///
/// lo and hi are of the range's own kind, indices or iterators; the piece is [lo, hi). The schedule sets its length;
/// without Workshare, there is one piece.
///
/// @code
/// void ws::for_chunks(first, last, body, options = {});
/// void ws::for_chunks(range, body, options = {});
/// @endcode
///
/// @param first    an integer, or a random-access iterator
/// @param last     one past the last index, or the end of the iterators
/// @param body     callable as const with two indices, or with two iterators
/// @param o        how to run the loop; see ws::options
///
/// @par Errors
/// See the head of ws.hpp.
///
/// @par Source
/// MPI Workshare.
template <class I, class J, class F, class = detail::if_indices<I, J>>
void for_chunks(I first, J last, const F& body, const options& o = {}, location at = location::here())
{
    detail::for_chunks(detail::indices(first, last, o, at), body, o, at);
}

template <class It, class End, class F, class = detail::if_iterators<It, End>, class = void>
void for_chunks(It first, End last, const F& body, const options& o = {}, location at = location::here())
{
    detail::for_chunks(detail::elements(first, last), body, o, at);
}

template <class R, class F, class = detail::if_range<R>>
void for_chunks(R&& range, const F& body, const options& o = {}, location at = location::here())
{
    ws::for_chunks(std::begin(range), std::end(range), body, o, at);
}

/// Returns init, combined by reduce(a, b) with transform(i) of every index or element.
///
/// An empty range gives init. While others help, the order of combination changes from run to run, so floating-point
/// sums may differ in their last bits.
///
/// @code
/// T ws::transform_reduce(first, last, init, reduce, transform, options = {});
/// T ws::transform_reduce(range, init, reduce, transform, options = {});
/// @endcode
///
/// @param first      an integer, or a random-access iterator
/// @param last       one past the last index, or the end of the iterators
/// @param init       the initial value; its type is that of the result
/// @param reduce     associative and commutative, as for std::transform_reduce; takes and returns values of the
///                   result's type
/// @param transform  callable as const with an index, or with an element; several threads call it and reduce at the
///                   same time
/// @param o          how to run the loop; see ws::options
///
/// @par Errors
/// See the head of ws.hpp.
///
/// @par Source
/// MPI Workshare.
template <class I, class J, class T, class Reduce, class Transform, class = detail::if_indices<I, J>>
T transform_reduce(I first, J last, T init, const Reduce& reduce, const Transform& transform, const options& o = {},
                   location at = location::here())
{
    return detail::transform_reduce(detail::indices(first, last, o, at), std::move(init), reduce, transform, o, at);
}

template <class It, class End, class T, class Reduce, class Transform, class = detail::if_iterators<It, End>,
          class = void>
T transform_reduce(It first, End last, T init, const Reduce& reduce, const Transform& transform, const options& o = {},
                   location at = location::here())
{
    return detail::transform_reduce(detail::elements(first, last), std::move(init), reduce, transform, o, at);
}

template <class R, class T, class Reduce, class Transform, class = detail::if_range<R>>
T transform_reduce(R&& range, T init, const Reduce& reduce, const Transform& transform, const options& o = {},
                   location at = location::here())
{
    return ws::transform_reduce(std::begin(range), std::end(range), std::move(init), reduce, transform, o, at);
}

/// A lock for critical sections, to be used with std::lock_guard.
///
/// @code
/// ws::critical totals("totals");      // at namespace scope, so that it exists before MPI_Init
/// @endcode
///
/// All locks of one name, a string constant, in the job's ranks on the node are one lock, and so is
/// `#pragma ws critical (totals)`. Errors, blocking and threads are those of WS_CRITICAL in ws.h.
///
/// @par Source
/// MPI Workshare (critical).
class critical {
public:
    explicit critical(const char* name) : lock_{name, nullptr} { ws_uses(WS_USES_CRITICAL); }
    critical(const critical&) = delete;
    critical& operator=(const critical&) = delete;
    void lock() { ws_critical_start(&lock_); }
    void unlock() { ws_critical_end(&lock_); }

private:
    ws_critical lock_;
};

/// Tasks of one process: functions that may run at the same time as what put them, on the caller's thread and on helper
/// threads of the same process on lent cores.
///
/// @code
/// long fib(int n)
/// {
///     if (n < 20)
///         return serial_fib(n);
///     long a, b;
///     ws::task_group tasks;
///     tasks.run([&] { a = fib(n - 1); });
///     b = fib(n - 2);
///     tasks.wait();
///     return a + b;
/// }
/// @endcode
///
/// While no rank of the node waits, run() calls the function at once: tasks then run in order, at the cost of a call.
/// Otherwise it may be deferred, at the latest until wait() or the destructor. So between run() and wait(), the caller
/// must not wait for what the function does, for example for a message that it sends. A function may put tasks, into
/// the same group or into its own, and wait for its own. A thread has 256 deferred tasks at most, and runs those beyond
/// at once. Tasks that take less than a microsecond are better put together.
///
/// @par Errors
/// An exception that leaves a function ends the job by std::terminate. If there is no memory for a deferred task, it
/// runs at once.
///
/// @par Blocking
/// wait() and the destructor return when all functions of the group have returned; meanwhile the caller runs tasks,
/// also those of other groups. They never wait for other ranks.
///
/// @par Threads
/// Tasks of a group may put tasks into it. Only the thread that made a group may wait for it. A thread that may have
/// its loops shared has its tasks shared.
///
/// @par Source
/// MPI Workshare (future work: tasks); the deque is that of Chase and Lev, SPAA 2005.
class task_group {
public:
    task_group() = default;
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;
    ~task_group() { wait(); }

    /// Calls task(), now or later. It is moved or copied if it is deferred.
    ///
    /// @param task  callable without arguments
    /// @param name  what the tasks put here are called in reports, a string constant; nullptr: "file:line:function"
    template <class F> void run(F&& task, const char* name = nullptr, const location& at = location::here())
    {
        using kept = deferred<std::decay_t<F>>;
        const int how = ws_group_wanted();
        if (how != WS_GROUP_RUN && (how == WS_GROUP_DEFER || begin<kept>(name, at)))
            if (auto* put = kept::make(std::forward<F>(task))) {
                if (!ws_group_put(&group_, put))
                    kept::now(put);
                return;
            }
        [&]() noexcept {
            ws_group_depth++;
            std::forward<F>(task)();
            ws_group_depth--;
        }();
    }

    /// Waits until all tasks of the group are over.
    void wait()
    {
        if (__atomic_load_n(&group_.waiting, __ATOMIC_ACQUIRE) || !ws_group_depth) // pairs with the end of each task
            ws_group_wait(&group_);
    }

private:
    template <class F> struct deferred : ws_deferred {
        F task;
        static inline ws_call* calls = nullptr; // libws adds to it
        template <class G> deferred(G&& f) : ws_deferred{run_and_free, nullptr}, task(std::forward<G>(f)) {}
        template <class G> static deferred* make(G&& f)
        {
            return new (std::nothrow) deferred(std::forward<G>(f));
        }
        static void run_and_free(ws_deferred* d) noexcept
        {
            deferred* const self = static_cast<deferred*>(d);
            self->task();
            delete self;
        }
        static void now(ws_deferred* d) noexcept
        {
            ws_group_depth++;
            run_and_free(d);
            ws_group_depth--;
        }
    };

    template <class Deferred> static bool begin(const char* name, const location& at)
    {
        const options o = options(name).schedule(WS_DYNAMIC).steal_schedule(WS_DYNAMIC);
        ws_call* const call = detail::find_call(Deferred::calls, 0, o, at);
        return call && ws_group_begin(&call->site);
    }

    ws_group group_ = {};
};

/// A phase of the program, from its construction to the end of its scope.
///
/// @code
/// ws::phase solve("solve");
/// @endcode
///
/// Errors, threads and cost are those of ws_phase_begin in ws.h.
///
/// @par Source
/// Workshare.
class phase {
public:
    explicit phase(const char* name) { ws_phase_begin(name); }
    ~phase() { ws_phase_end(); }
    phase(const phase&) = delete;
    phase& operator=(const phase&) = delete;
};

/// A wait outside of MPI: while the object exists, the calling rank's core may be lent.
///
/// @code
/// {
///     ws::waiting waiting;
///     cudaStreamSynchronize(stream);
/// }
/// @endcode
///
/// Destroy the object on the thread that made it. Errors, blocking and threads are those of ws_wait_begin and
/// ws_wait_end in ws.h.
///
/// @par Source
/// Workshare.
class waiting {
public:
    waiting() noexcept { ws_wait_begin(); }
    ~waiting() { ws_wait_end(); }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;
};

} // namespace ws

#endif
