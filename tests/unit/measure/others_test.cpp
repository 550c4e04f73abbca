// SPDX-License-Identifier: MIT
#include "measure/others.h"

#include "../window/in_memory.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

using namespace ws::base;
using namespace ws::window;
using namespace ws::measure;

namespace {

std::vector<double> read(const std::string& text)
{
    char folder[] = "/tmp/others_test_XXXXXX";
    REQUIRE(mkdtemp(folder));
    std::ofstream(std::string(folder) + "/stat") << text;
    const auto seconds = cpu_seconds(folder);
    unlink((std::string(folder) + "/stat").c_str());
    rmdir(folder);
    return seconds;
}

} // namespace

TEST_CASE("the kernel's counts by CPU")
{
    const double tick = 1.0 / double(sysconf(_SC_CLK_TCK));
    const auto seconds =
        read("cpu  600 60 6 9 9 9\ncpu0 100 10 1 500 3 2 1 0 0 0\ncpu2 200 20 2 500 0 0 0 0 0 0\nintr 5\ncpus 1 2 3\n");
    REQUIRE(seconds.size() == 3); // CPU 1 is off
    CHECK(seconds[0] == Approx(111 * tick));
    CHECK(seconds[1] == 0);
    CHECK(seconds[2] == Approx(222 * tick));
    CHECK(cpu_seconds("/nowhere").empty());
    CHECK_FALSE(cpu_seconds().empty());
}

TEST_CASE("what others used of a rank's own CPU")
{
    // CPU 1: 9 of 10 s, of which the job's 5; CPU 3: 6 of 10, all the job's.
    const Others o = others({0, 1, 0, 2}, {0, 10, 0, 8}, 10, cpus({1, 3}), {{1, 5, 5}, {3, 6, 7}});
    CHECK(o.cpu == 1);
    CHECK(o.share == Approx(0.4));
    CHECK(others({0}, {10}, 10, cpus({0}), {{0, 10.2, 10.2}}).share == 0); // counted in steps
}

TEST_CASE("what others used of CPUs that ranks share")
{
    for (const double cpu : {-1.0, 0.0}) {
        const Others o = others({0, 0, 0}, {8, 7, 10}, 10, cpus({0, 1}), {{cpu, 1, 6}, {cpu, 1, 4}});
        CHECK(o.cpu == -1);
        CHECK(o.cpus == 2);
        CHECK(o.share == Approx(0.25));
    }
}

TEST_CASE("where the kernel does not say, nobody is named")
{
    CHECK(others({}, {}, 10, cpus({0}), {{0, 1, 1}}).share == 0);
    CHECK(others({1}, {1, 2}, 10, cpus({0}), {{0, 1, 1}}).share == 0);
    CHECK(others({1}, {2}, 0, cpus({0}), {{0, 1, 1}}).share == 0);
    CHECK(others({1}, {20}, 10, cpus({700}), {{700, 1, 1}}).share == 0);
}
