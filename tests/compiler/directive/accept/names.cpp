// SPDX-License-Identifier: MIT
// What loops in C++ functions are called: with the classes and namespaces, without parameters, alike by all compilers.
#include "check.h"

#include <string>
#include <vector>

enum { N = 8 };
static long sink;

#define LOOP \
    for (int i = 0; i < N; i++) { \
        _Pragma("ws atomic") sink += i; \
        work(); \
    }

namespace outer {
namespace {

template <class T>
struct Box {
    explicit Box(T) {
#line 100 "names.cpp"
#pragma ws for
        LOOP
    }
    ~Box() {
#line 110 "names.cpp"
#pragma ws for
        LOOP
    }
    void run(int, const std::string &) const {
#line 120 "names.cpp"
#pragma ws for
        LOOP
    }
    template <class U>
    U convert(U from) {
#line 130 "names.cpp"
#pragma ws for
        LOOP
        return from;
    }
    void operator()(int) {
#line 140 "names.cpp"
#pragma ws for
        LOOP
    }
    void inside(int) const {
        struct Inner {
            static void go(int) {
#line 150 "names.cpp"
#pragma ws for
                LOOP
            }
        };
        Inner::go(1);
        const auto lambda = [](int, std::string) {
#line 160 "names.cpp"
#pragma ws for
            LOOP
        };
#define CHECK_INNER(type) CHECK_NAME("names.cpp:150:outer::(anonymous namespace)::Box<" type ">::inside::Inner::go")
        if (sizeof(T) == sizeof(char))
            CHECK_INNER("char");
        else
            CHECK_INNER("double");
        lambda(1, "");
    }
};

}  // namespace

void members() {
    Box<double> box(1);
    CHECK_NAME("names.cpp:100:outer::(anonymous namespace)::Box<double>::Box");
    box.run(1, "");
    CHECK_NAME("names.cpp:120:outer::(anonymous namespace)::Box<double>::run");
    box.convert(std::string());
    CHECK_NAME("names.cpp:130:outer::(anonymous namespace)::Box<double>::convert<std::string>");
    box.convert(std::vector<int>());
    CHECK_NAME("names.cpp:130:outer::(anonymous namespace)::Box<double>::convert<std::vector<int, std::allocator<int> > >");
    box(1);
    CHECK_NAME("names.cpp:140:outer::(anonymous namespace)::Box<double>::operator()");
    box.inside(1);
    CHECK_NAME("names.cpp:160:outer::(anonymous namespace)::Box<double>::inside::{lambda}");
    {
        Box<char> other('c');
        CHECK_NAME("names.cpp:100:outer::(anonymous namespace)::Box<char>::Box");
        other.inside(1);
        CHECK_NAME("names.cpp:160:outer::(anonymous namespace)::Box<char>::inside::{lambda}");
    }
    CHECK_NAME("names.cpp:110:outer::(anonymous namespace)::Box<char>::~Box");
}

// One line in several functions, and several instances.
template <int number, class... Rest>
void instance(Rest...) {
#line 200 "names.cpp"
#pragma ws for
    LOOP
}
#line 210 "names.cpp"
static void overloaded(int) { _Pragma("ws for") LOOP }
static void overloaded(double) { _Pragma("ws for") LOOP }
std::string operator*(const std::string &s, int) {
#line 220 "names.cpp"
#pragma ws for
    LOOP
    return s;
}
extern "C" void f() {
#line 230 "names.cpp"
#pragma ws for
    LOOP
}

void functions() {
    instance<1>();
    CHECK_NAME("names.cpp:200:outer::instance<1>");
    instance<2>(1, 'c', std::string());
    CHECK_NAME("names.cpp:200:outer::instance<2, int, char, std::string>");
    overloaded(1);
    CHECK_NAME("names.cpp:210:outer::overloaded");
    overloaded(1.0);
    CHECK_NAME("names.cpp:211:outer::overloaded");
    (void) (std::string() * 3);
    CHECK_NAME("names.cpp:220:outer::operator*");
    f();
    CHECK_NAME("names.cpp:230:f");
    const auto lambda = [] {
#line 240 "names.cpp"
#pragma ws for
        LOOP
    };
    lambda();
    CHECK_NAME("names.cpp:240:outer::functions::{lambda}");
    // Lambdas have no names: two of a line are told apart by numbers.
#line 250 "names.cpp"
    const auto one = [] { _Pragma("ws for") LOOP }; const auto two = [] { _Pragma("ws for") LOOP };
    one();
    if (&ws_fake_site) {
        const std::string name = ws_fake_site->where;
        two();
        CHECK(name != ws_fake_site->where);
        CHECK_NAME(name.back() == '2' ? "names.cpp:250:outer::functions::{lambda}" : "names.cpp:250:outer::functions::{lambda}#2");
    }
}

// What is too long loses its middle; instances that look the same then are told apart all the same.
template <class T>
void with_type() {
#line 300 "names.cpp"
#pragma ws for
    LOOP
}
template <int n>
struct With {};
using Long = std::vector<std::vector<std::vector<std::vector<int>>>>;
void long_names() {
    std::string names[2];
    with_type<std::vector<std::pair<With<1>, Long>>>();
    if (&ws_fake_site)
        names[0] = ws_fake_site->where;
    with_type<std::vector<std::pair<With<2>, Long>>>();
    if (&ws_fake_site)
        names[1] = ws_fake_site->where;
    for (const std::string &name : names)
        CHECK(!&ws_fake_site || (name.size() <= WS_NAME_MAX && name.find("...") != std::string::npos && name.compare(0, 30, "names.cpp:300:outer::with_type") == 0));
    CHECK(!&ws_fake_site || names[0] != names[1]);
}

}  // namespace outer

static void run_all(void) {
    using namespace outer;
    RUN(members);
    RUN(functions);
    RUN(long_names);
}
