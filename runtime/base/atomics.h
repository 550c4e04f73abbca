// SPDX-License-Identifier: MIT
//
// The atomic operations of the window, each with its memory order in its name, so that none can be defaulted and
// every one can be searched for. Production uses libatomic_ops; tests pass another class with the same members to
// drive the protocol step by step (see tests/unit/loop).
#pragma once

#ifdef __SANITIZE_THREAD__
// The library then uses the compiler's atomics, which ThreadSanitizer sees, not inline assembly. By itself it knows
// only clang's macro.
#define AO_THREAD_SANITIZER
#endif
#include <atomic_ops.h>
#include <cstdint>
#include <type_traits>

namespace ws::base {

struct Hardware {
    using Word = AO_t;          // 64 bits: claims, ranges
    using Flag = unsigned int;  // 32 bits: states that a futex may sleep on

    static Word load_relaxed(const volatile Word& w) { return AO_load(&w); }
    static Word load_acquire(const volatile Word& w) { return AO_load_acquire(&w); }
    static void store_relaxed(volatile Word& w, Word v) { AO_store(&w, v); }
    static void store_release(volatile Word& w, Word v) { AO_store_release(&w, v); }
    static bool cas_full(volatile Word& w, Word expected, Word desired)
    {
        return AO_compare_and_swap_full(&w, expected, desired);
    }
    static Word fetch_add_full(volatile Word& w, Word v) { return AO_fetch_and_add_full(&w, v); }

    static Flag load_relaxed(const volatile Flag& f) { return AO_int_load(&f); }
    static Flag load_acquire(const volatile Flag& f) { return AO_int_load_acquire(&f); }
    static void store_relaxed(volatile Flag& f, Flag v) { AO_int_store(&f, v); }
    static void store_release(volatile Flag& f, Flag v) { AO_int_store_release(&f, v); }
    static void store_full(volatile Flag& f, Flag v) { AO_int_store_full(&f, v); }
    static bool cas_full(volatile Flag& f, Flag expected, Flag desired)
    {
        return AO_int_compare_and_swap_full(&f, expected, desired);
    }
    static void or_full(volatile Flag& f, Flag bits) { AO_int_or_full(&f, bits); }
    static void and_full(volatile Flag& f, Flag bits) { AO_int_and_full(&f, bits); }
    static Flag fetch_add_full(volatile Flag& f, Flag v) { return AO_int_fetch_and_add_full(&f, v); }
};
using Flag = Hardware::Flag;

// The same for what is neither in the window nor in the protocol: counters, pointers that are set once, settings that a
// tool may change. Any type that the machine loads and stores as one.
template <class T> using Value = std::remove_cv_t<T>;

template <class T> Value<T> load_relaxed(const volatile T& t)
{
    Value<T> value;
    __atomic_load(&t, &value, __ATOMIC_RELAXED);
    return value;
}
template <class T> Value<T> load_acquire(const volatile T& t)
{
    Value<T> value;
    __atomic_load(&t, &value, __ATOMIC_ACQUIRE);
    return value;
}
template <class T> void store_relaxed(volatile T& t, Value<T> value) { __atomic_store(&t, &value, __ATOMIC_RELAXED); }
template <class T> void store_release(volatile T& t, Value<T> value) { __atomic_store(&t, &value, __ATOMIC_RELEASE); }
template <class T> T fetch_add_relaxed(volatile T& t, Value<T> by)
{
    return __atomic_fetch_add(&t, by, __ATOMIC_RELAXED);
}
template <class T> void or_relaxed(volatile T& t, Value<T> bits) { __atomic_fetch_or(&t, bits, __ATOMIC_RELAXED); }
template <class T> void and_relaxed(volatile T& t, Value<T> bits) { __atomic_fetch_and(&t, bits, __ATOMIC_RELAXED); }
// Stores `value` if `t` is `expected`; else false, and `expected` is what it was. The relaxed one may fail for no
// reason.
template <class T> bool exchange_if_relaxed(volatile T& t, Value<T>& expected, Value<T> value)
{
    return __atomic_compare_exchange(&t, &expected, &value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
template <class T> bool exchange_if_release(volatile T& t, Value<T>& expected, Value<T> value)
{
    return __atomic_compare_exchange(&t, &expected, &value, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
template <class T> bool exchange_if_acq_rel(volatile T& t, Value<T>& expected, Value<T> value)
{
    return __atomic_compare_exchange(&t, &expected, &value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
// Puts `made` where nothing was. If another thread was faster, its object stays and `made` is deleted. Returns what is
// there; others get it by load_acquire().
template <class T> T* keep_first(T* volatile& entry, T* made)
{
    T* first = nullptr;
    if (exchange_if_acq_rel(entry, first, made))
        return made;
    delete made;
    return first;
}

} // namespace ws::base
