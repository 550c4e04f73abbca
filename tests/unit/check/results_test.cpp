// SPDX-License-Identifier: MIT
#include "check/results.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using ws::check::Result;
using ws::check::Spread;

namespace {

template <class T> double between(const Result& r, T one, T other)
{
    return ws::check::distance(r, reinterpret_cast<const char*>(&one), reinterpret_cast<const char*>(&other));
}

Result only(const char* text)
{
    const auto results = ws::check::parse_results(text);
    REQUIRE(results.size() == 1);
    return results[0];
}

} // namespace

TEST_CASE("what a compiler says of results is read", "[results]")
{
    const auto all = ws::check::parse_results("total=f8+@16* count=i4x10+@&3 box=? sum=c4*@0**+24");
    REQUIRE(all.size() == 4);
    CHECK((all[0].name == "total" && all[0].type == 'f' && all[0].bytes == 8 && all[0].operation == '+' &&
           all[0].place == 16 && all[0].pointers == 1));
    CHECK(
        (all[1].name == "count" && all[1].count == 10 && all[1].is_static && all[1].place == 3 && all[1].size() == 40));
    CHECK((all[2].name == "box" && all[2].type == '?'));
    CHECK((all[3].pointers == 2 && all[3].behind == 24 && all[3].size() == 8));
    CHECK(ws::check::parse_results("").empty());
}

TEST_CASE("what is not understood is not compared", "[results]")
{
    for (const char* text : {"x", "x=", "x=i", "x=i4", "x=i4+", "x=i4+@", "x=i3+@0", "x=f2+@0", "x=s8+@0", "x=i4x0+@0",
                             "x=i4%@0", "x=i4+@0!", "x=i4+@&6", "x=i4+@&0*", "x=i4+@8*-4"})
        CHECK(only(text).type == '?');
}

TEST_CASE("a result is found through pointers, and by its address", "[results]")
{
    static double there[3] = {1, 2, 3};
    double* pointer = there;
    double** to_pointer = &pointer;
    const struct {
        long other;
        double** pointer;
        double value;
    } data = {0, to_pointer, 5};
    struct {
        ws_site site;
        const void* more[8];
    } site = {{"", 0, {}}, {nullptr, nullptr, nullptr, there + 1}};
    CHECK(ws::check::find_result(only("x=f8+@16"), &site.site, &data) == reinterpret_cast<const char*>(&data.value));
    CHECK(ws::check::find_result(only("x=f8+@8**+16"), &site.site, &data) == reinterpret_cast<const char*>(there + 2));
    CHECK(ws::check::find_result(only("x=f8+@&1"), &site.site, nullptr) == reinterpret_cast<const char*>(there + 1));
    CHECK(ws::check::find_result(only("x=f8+@&0"), &site.site, nullptr) == nullptr);
    pointer = nullptr;
    CHECK(ws::check::find_result(only("x=f8+@8**"), &site.site, &data) == nullptr);
}

TEST_CASE("values are printed with all their digits", "[results]")
{
    auto text = [](const char* type, auto value) {
        return ws::check::text_of_element(only(type), reinterpret_cast<const char*>(&value));
    };
    CHECK(text("x=i4+@0", -5) == "-5");
    CHECK(text("x=u4+@0", -5) == "4294967291");
    CHECK(text("x=i8+@0", std::numeric_limits<long>::min()) == "-9223372036854775808");
    CHECK(text("x=i1+@0", static_cast<signed char>(-128)) == "-128");
    CHECK(text("x=u16+@0", ~static_cast<unsigned __int128>(0)) == "340282366920938463463374607431768211455");
    CHECK(text("x=f8+@0", 0.1) == "0.10000000000000001");
    CHECK(text("x=f4+@0", 0.5f) == "0.5");
    const float z[2] = {1, -2};
    CHECK(ws::check::text_of_element(only("x=c4+@0"), reinterpret_cast<const char*>(z)) == "(1, -2)");
}

TEST_CASE("numbers that are none, and infinities, equal themselves", "[results]")
{
    const Result r = only("x=f8+@0");
    const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
    CHECK(between(r, nan, nan) == 0);
    CHECK(between(r, infinite, infinite) == 0);
    CHECK(between(r, 0.0, -0.0) == 0);
    CHECK(between(r, infinite, 1.0) == infinite);
    CHECK(between(r, nan, 1.0) == infinite);
    CHECK(between(r, -infinite, infinite) == infinite);
    CHECK(between(only("x=i4+@0"), 3, 3) == 0);
    CHECK(between(only("x=i4+@0"), 3, 4) > 0);
}

TEST_CASE("a right sum in another order is allowed, a lost part is not", "[results]")
{
    // Sums of n random numbers, of one sign or of both. Each is added up in two parts of every second number, and in
    // two other ways.
    uint64_t state = 11;
    auto random = [&] {
        return double((state = state * 6364136223846793005u + 1442695040888963407u) >> 11) / 9007199254740992.0;
    };
    const Result r = only("x=f8+@0");
    for (unsigned n : {10u, 100u, 1000u, 100000u})
        for (double shift : {0.0, 0.5}) {
            for (unsigned turn = 0; turn < 200; turn++) {
                double serial = 0, parts[3][3] = {}, largest = 0;
                for (unsigned i = 0; i < n; i++) {
                    const double x = random() - shift;
                    serial += x;
                    for (auto& part : parts)
                        part[unsigned(3 * random())] += x;
                    largest = x;
                }
                const double dealt_1 = parts[0][2] + parts[0][0] + parts[0][1],
                             dealt_2 = parts[1][0] + parts[1][1] + parts[1][2];
                Spread s = {std::max(std::fabs(dealt_1 - serial), std::fabs(dealt_2 - serial)), std::fabs(serial)};
                for (double part : parts[0])
                    s.magnitude = std::max(s.magnitude, std::fabs(part));
                const double shared = parts[2][1] + parts[2][0] + parts[2][2], seconds = n * 1e-9;
                CHECK(std::fabs(shared - serial) <= ws::check::allowed(r, s, n, seconds));
                if (std::fabs(largest) > 1e-3)
                    CHECK(std::fabs(shared - largest - serial) > ws::check::allowed(r, s, n, seconds));
                CHECK(ws::check::allowed(r, s, n, seconds) <= ws::check::most_rounding(r, s, n, seconds));
            }
        }
}

TEST_CASE("nothing is allowed where nothing is rounded", "[results]")
{
    const Spread s = {1, 1000};
    for (const char* text : {"x=i4+@0", "x=f8=@0", "x=u8*@0"}) {
        CHECK(ws::check::allowed(only(text), s, 1000, 1) == 0);
        CHECK(ws::check::most_rounding(only(text), s, 1000, 1) == 0);
    }
}
