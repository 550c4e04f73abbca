// SPDX-License-Identifier: MIT
//
// Sets of CPUs of any size, and what is asked of a kernel that wants large ones: a stand-in for its calls pretends CPUs
// beyond 1,024.
#include "base/cpus.h"
#include "window/window.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <unistd.h>

using namespace ws::base;
using namespace ws::window;

namespace {

// The kernel of this test: the thread may use these of `possible` CPUs.
int possible = 4096;
std::vector<int> allowed = {5, 1023, 1024, 4095};
int refuses = 0; // an errno
std::vector<int> bound_to;

std::vector<int> list(CpuMask mask)
{
    std::vector<int> cpus;
    for (int c = mask.first(); c >= 0; c = mask.first(c + 1))
        cpus.push_back(c);
    return cpus;
}

} // namespace

extern "C" int sched_getaffinity(pid_t, size_t bytes, cpu_set_t* set) noexcept
{
    if (refuses || 8 * bytes < size_t(possible)) {
        errno = refuses ? refuses : EINVAL;
        return -1;
    }
    std::memset(static_cast<void*>(set), 0, bytes);
    for (int c : allowed)
        reinterpret_cast<unsigned long*>(set)[c / CpuMask::bits] |= 1ul << (c % CpuMask::bits);
    return 0;
}

extern "C" int sched_setaffinity(pid_t, size_t bytes, const cpu_set_t* set) noexcept
{
    bound_to = list({reinterpret_cast<const unsigned long*>(set), unsigned(bytes / sizeof(long))});
    for (int c : bound_to)
        for (int a : allowed)
            if (c == a)
                return 0;
    errno = EINVAL;
    return -1;
}

TEST_CASE("what a set holds", "[cpus]")
{
    CpuSet set;
    CHECK(set.mask().empty());
    CHECK(set.mask().first() == -1);
    CHECK_FALSE(set.mask().has_room(-1));
    CHECK_FALSE(set.mask().has(-1));
    CHECK(set.mask().has_room(1023));
    CHECK_FALSE(set.mask().has_room(1024));
    CHECK_FALSE(set.mask().has(100000));
    for (int c : {0, 63, 64, 1023, 1024, 9999})
        set.add(c);
    CHECK(list(set) == std::vector<int>{0, 63, 64, 1023, 1024, 9999});
    CHECK(set.mask().count() == 6);
    CHECK(set.mask().has(9999));
    CHECK(set.mask().first(64) == 64);
    CHECK(set.mask().first(65) == 1023);
    CHECK(set.mask().first(10000) == -1);

    CpuSet small;
    small.add(63);
    small.add(65);
    CHECK(set.mask().common(small) == 1);
    CHECK(small.mask().common(set) == 1);
    small.add(set.mask());
    CHECK(small.mask().count() == 7);
    const unsigned size = set.mask().size();
    set.clear();
    CHECK(set.mask().empty());
    CHECK(set.mask().size() == size);
}

TEST_CASE("the own CPUs on machines of all sizes", "[cpus]")
{
    refuses = 0;
    for (int p : {4096, 5000, 100000}) {
        possible = p;
        const CpuSet own = own_cpus();
        CHECK(list(own) == allowed);
        CHECK(own.mask().has_room(p - 1));
        CHECK(own.mask().bind());
        CHECK(bound_to == allowed);
    }
    possible = 64;
    allowed = {0, 2};
    CHECK(own_cpus().mask().size() == CpuSet::usual);
    CHECK(list(own_cpus()) == allowed);
    CpuSet other;
    other.add(1);
    CHECK_FALSE(other.mask().bind());
    possible = 4096;
    allowed = {5, 1023, 1024, 4095};
}

TEST_CASE("where affinities are refused all CPUs are taken to be allowed", "[cpus]")
{
    refuses = EPERM;
    std::vector<int> online(size_t(sysconf(_SC_NPROCESSORS_ONLN)));
    std::iota(online.begin(), online.end(), 0);
    CHECK(list(own_cpus()) == online);
    refuses = 0;
}

TEST_CASE("masks in the window", "[cpus]")
{
    const unsigned size = own_cpus().mask().size();
    REQUIRE(size == 64);
    const size_t bytes = Window::bytes(3, 4, size);
    CHECK(bytes > Window::bytes(3, 4));
    std::vector<char> memory(bytes, char(0x55));
    Window w;
    for (unsigned r = 0; r < 3; r++) {
        w.map(memory.data(), 3, 4, r, size);
        w.init_own(int(r), 3, r == 2, {4095});
    }
    for (unsigned c = 0; c < 3; c++)
        CHECK(list(w.mask(c)) == allowed);
    CHECK(list(w.mask(3)) == std::vector<int>{4095}); // of the worker
    CHECK(w.home(3).running_on == 4095);
    CpuSet one;
    one.add(7);
    w.set_mask(1, one);
    CHECK(list(w.mask(0)) == allowed);
    CHECK(list(w.mask(1)) == std::vector<int>{7});
    CHECK(list(w.mask(2)) == allowed);
    CHECK(w.guest(2, 3).state == guest_none);
}
