// SPDX-License-Identifier: MIT
// flags: -std=c++20
#include <coroutine>

struct Task {
    struct promise_type {
        Task get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

Task coroutine(int n, long &out) {
    long s = 0;
#pragma ws for reduction(+ : s)
    for (int i = 0; i < n; i++)
        s += i;
#pragma ws sections
    {
        s++;
    }
    co_await std::suspend_never{};
    out = s;
}
