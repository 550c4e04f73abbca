// SPDX-License-Identifier: MIT
//
// ws.hpp without MPI: every kind of range, body and result, and every error. Prints what is wrong and returns 1, or 0.
#include <workshare/ws.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>
// clang before 16 cannot compile the views of GCC 12's library.
#if __cplusplus >= 202002L && (!defined(__clang__) || __clang_major__ >= 16)
#define HAS_VIEWS
#include <ranges>
#include <span>
#endif

static int failures;
#define CHECK(...) \
    do { \
        if (!(__VA_ARGS__)) { \
            failures++; \
            std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
        } \
    } while (0)

namespace {

// Every index of [first, last) once and no other; chunks without gaps.
template <class I>
void check_index(I first, I last)
{
    const uint64_t n = first < last ? static_cast<uint64_t>(last) - static_cast<uint64_t>(first) : 0;
    std::vector<int> ran(n);
    auto nth = [&](I i) { return static_cast<uint64_t>(i) - static_cast<uint64_t>(first); };
    ws::for_each(first, last, [&](I i) { ran.at(nth(i))++; });
    for (int r : ran)
        CHECK(r == 1);
    uint64_t total = 0;
    ws::for_chunks(first, last, [&](I lo, I hi) {
        CHECK(lo < hi);
        total += static_cast<uint64_t>(hi) - static_cast<uint64_t>(lo);
    });
    CHECK(total == n);
    CHECK(ws::transform_reduce(first, last, uint64_t(3), std::plus<>(), [&](I i) { return nth(i); }) ==
          3 + n * (n - 1) / 2);
}

template <class I>
void check_index_type()
{
    using limits = std::numeric_limits<I>;
    check_index<I>(0, 100);
    check_index<I>(5, 6);
    check_index<I>(5, 5);
    check_index<I>(6, 5);
    check_index<I>(limits::max(), limits::min());
    check_index<I>(static_cast<I>(limits::max() - 100), limits::max());
    check_index<I>(limits::min(), static_cast<I>(limits::min() + 100));
    if (limits::is_signed)
        check_index<I>(static_cast<I>(-50), 50);
    else
        check_index<I>(static_cast<I>(limits::max() / 2 - 50), static_cast<I>(limits::max() / 2 + 50));
}

void indices()
{
    check_index_type<char>();
    check_index_type<signed char>();
    check_index_type<unsigned char>();
    check_index_type<short>();
    check_index_type<unsigned short>();
    check_index_type<int>();
    check_index_type<unsigned>();
    check_index_type<long>();
    check_index_type<unsigned long>();
    check_index_type<long long>();
    check_index_type<unsigned long long>();
    check_index<signed char>(-128, 127);
    // Bounds of different types meet in the wider one.
    long sum = 0;
    ws::for_each(-3, 4L, [&](long i) { sum += i; });
    ws::for_each(static_cast<short>(1), 4ul, [&](unsigned long i) { sum += static_cast<long>(i); });
    CHECK(sum == 6);
}

template <class R>
void check_range(R&& range, long n)
{
    long seen = 0, in_chunks = 0;
    ws::for_each(range, [&](const auto& x) { seen += x; });
    ws::for_each(std::begin(range), std::end(range), [&](const auto& x) { seen += x; });
    CHECK(seen == n * (n - 1));
    ws::for_chunks(range, [&](auto lo, auto hi) {
        for (; lo != hi; ++lo)
            in_chunks += *lo;
    });
    ws::for_chunks(std::begin(range), std::end(range),
                   [&](auto lo, auto hi) { in_chunks += static_cast<long>(hi - lo); });
    CHECK(in_chunks == n * (n - 1) / 2 + n);
    auto square = [](const auto& x) { return static_cast<long>(x) * x; };
    const long squares = (n - 1) * n * (2 * n - 1) / 6;
    CHECK(ws::transform_reduce(range, 0L, std::plus<>(), square) == squares);
    CHECK(ws::transform_reduce(std::begin(range), std::end(range), 1L, std::plus<>(), square) == squares + 1);
}

void ranges()
{
    std::vector<int> vector(100), empty;
    for (int i = 0; i < 100; i++)
        vector[static_cast<size_t>(i)] = i;
    const std::vector<int>& constant = vector;
    int array[100];
    std::copy(vector.begin(), vector.end(), array);
    check_range(vector, 100);
    check_range(constant, 100);
    check_range(std::vector<int>(vector), 100);
    check_range(array, 100);
    check_range(std::deque<int>(vector.begin(), vector.end()), 100);
    check_range(std::array<short, 3>{0, 1, 2}, 3);
    check_range(empty, 0);
    long first = -1;
    ws::for_each(vector.rbegin(), vector.rend(), [&](int x) { first = first < 0 ? x : first; });
    CHECK(first == 99);
    ws::for_each(vector.end(), vector.begin(), [&](int) { first = -2; });
    CHECK(first == 99);
    ws::for_each(vector, [](int& x) { x = -x; });
    CHECK(vector[99] == -99);
    const std::vector<bool> bits(70, true);
    CHECK(ws::transform_reduce(bits, 0, std::plus<>(), [](bool b) { return b ? 1 : 0; }) == 70);
#ifdef HAS_VIEWS
    check_range(std::span<int>(array), 100);
    check_range(std::views::iota(0, 50), 50);
    check_range(std::views::iota(0, 50) | std::views::transform([](int i) { return long(i); }), 50);
#endif
}

std::atomic<int> calls;
void plain_function(int) { calls++; }

struct Heavy { // must not be copied
    std::unique_ptr<int> counter = std::make_unique<int>(0);
    void operator()(int i) const { *counter += i; }
};
struct Large { // is not copied either
    std::array<double, 1000> table{};
    const Large* self = this;
    void operator()(int) const { CHECK(self == this); }
};

void bodies()
{
    ws::for_each(0, 10, plain_function);
    ws::for_each(0, 10, &plain_function);
    std::function<void(int)> function = plain_function;
    ws::for_each(0, 10, function);
    ws::for_each(0, 10, std::bind(plain_function, std::placeholders::_1));
    CHECK(calls == 40);
    Heavy heavy;
    ws::for_each(0, 10, heavy);
    CHECK(*heavy.counter == 45);
    ws::for_each(0, 10, Large());
    // A named functor at two places, with and without options: nothing is mixed up.
    int seen = 0;
    auto count = [&](int) { seen++; };
    for (int i = 0; i < 3; i++) {
        ws::for_each(0, 10, count);
        ws::for_each(0, 10, count, "named");
        ws::for_each(0, 10, count, ws::options().schedule(WS_DYNAMIC, i + 1).steal_schedule(WS_GUIDED));
        ws::for_each(0, 10, count, ws::options("long name").schedule(WS_STATIC).steal_schedule(WS_STATIC, 1000000));
    }
    CHECK(seen == 120);
    // Inside a loop, and on a thread that MPI does not know.
    ws::for_each(0, 10, [&](int) { ws::for_each(0, 10, count); });
    std::thread([&] { ws::for_each(0, 10, count); }).join();
    CHECK(seen == 230);
}

struct Least { // no default constructor, no copy
    explicit Least(std::unique_ptr<int> v) : value(std::move(v)) {}
    std::unique_ptr<int> value;
};

void reductions()
{
    std::vector<int> v{5, 3, 8, 1, 9};
    CHECK(ws::transform_reduce(v, 100, [](int a, int b) { return a < b ? a : b; }, [](int x) { return x; }) == 1);
    CHECK(ws::transform_reduce(v, 0.5, std::plus<>(), [](int x) { return x * 0.5; }) == 13.5);
    CHECK(ws::transform_reduce(v, std::string("="), std::plus<>(), [](int x) { return std::to_string(x); }) ==
          "=53819");
    CHECK(ws::transform_reduce(v, 1LL, std::multiplies<>(), [](int x) { return x; }) == 5 * 3 * 8 * 9);
    CHECK(ws::transform_reduce(3, 3, 42, std::plus<>(), [](int x) { return x; }) == 42);
    Least least = ws::transform_reduce(
        v, Least(std::make_unique<int>(100)),
        [](Least a, Least b) { return *a.value < *b.value ? std::move(a) : std::move(b); },
        [](int x) { return Least(std::make_unique<int>(x)); });
    CHECK(*least.value == 1);
}

// The message of what `call`, written on this line, throws.
template <class F>
void refused(int line, const std::string& message, F call)
{
    const std::string mark = "LINE", place = __FILE__ ":" + std::to_string(line) + ":operator()";
    std::string wanted = "workshare: " + message, got = "nothing";
    wanted.replace(wanted.find(mark), mark.size(), place);
    try {
        call();
    } catch (const std::invalid_argument& e) {
        got = e.what();
    }
    if (got != wanted) {
        failures++;
        std::printf("wanted: %s\ngot:    %s\n", wanted.c_str(), got.c_str());
    }
}
#define REFUSED(message, call) refused(__LINE__, message, [&] { call; })

void errors()
{
    bool ran = false;
    auto body = [&](auto) { ran = true; };
    auto id = [](auto i) { return i; };
    auto kind = [](int k) { return static_cast<ws_schedule>(k); };
    auto options = [] { return ws::options(); };
    std::function<void(int)> none;
    void (*null)(int) = nullptr;
    std::function<int(int, int)> no_sum;
    std::function<int(int)> no_transformation;
    REFUSED("LINE: 'first' is negative where 'last' is unsigned", ws::for_each(-1, 5u, body));
    REFUSED("LINE: 'last' is negative where 'first' is unsigned",
            ws::for_chunks(5ul, -1, [&](auto, auto) { ran = true; }));
    REFUSED("LINE: the body is empty", ws::for_each(0, 5, none));
    REFUSED("name (LINE): the body is empty", ws::for_each(0, 5, null, "name"));
    REFUSED("LINE: the body is empty", ws::for_chunks(0, 5, std::function<void(int, int)>()));
    REFUSED("LINE: the reduction is empty", ws::transform_reduce(0, 5, 0, no_sum, id));
    REFUSED("LINE: the transformation is empty", ws::transform_reduce(0, 5, 0, std::plus<>(), no_transformation));
    REFUSED("LINE: chunk size 0 in schedule is not positive",
            ws::for_each(0, 5, body, options().schedule(WS_DYNAMIC, 0)));
    REFUSED("LINE: chunk size -2 in steal schedule is not positive",
            ws::for_each(0, 0, body, options().steal_schedule(WS_AUTO, -2)));
    REFUSED("LINE: schedule 5 is none of WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME",
            ws::for_each(0, 5, body, options().schedule(kind(5))));
    REFUSED("LINE: chunk size 4 in schedule: WS_RUNTIME takes none",
            ws::for_each(0, 5, body, options().schedule(WS_RUNTIME, 4)));
    REFUSED("LINE: chunk size 7 in steal schedule: WS_AUTO takes none",
            ws::for_each(0, 5, body, options().steal_schedule(WS_AUTO, 7)));
    REFUSED("LINE: steal schedule 256 is none of WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME",
            ws::for_each(0, 5, body, options().steal_schedule(kind(256))));
    // A call site that has seen a good chunk size.
    for (int64_t chunk : {1, 2, -7}) {
        const int line = __LINE__ + 1;
        auto call = [&] { ws::for_each(0, 5, [](int) {}, options().schedule(WS_DYNAMIC, chunk)); };
        if (chunk > 0)
            call();
        else
            refused(line, "LINE: chunk size -7 in schedule is not positive", call);
    }
    CHECK(!ran);
}

} // namespace

int main()
{
    indices();
    ranges();
    bodies();
    reductions();
    errors();
    return failures != 0;
}
