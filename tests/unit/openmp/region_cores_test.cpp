// SPDX-License-Identifier: MIT
//
// What a policy that chooses cores hears of the program's parallel regions. The OpenMP library is made up.
#include "openmp/library/threads.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <vector>

using namespace ws::openmp;

namespace {

int level, forks_seen, number;

const OpenMP library = [] {
    OpenMP made = {};
    made.max_threads = [] { return 0; };
    made.thread_num = [] { return number; };
    return made;
}();

struct Heard {
    std::string what;
    unsigned number;
    const void *site, *region;
};
bool operator==(const Heard& a, const Heard& b)
{
    return a.what == b.what && a.number == b.number && a.site == b.site && a.region == b.region;
}

struct Policy final : RegionCores {
    std::vector<Heard> heard;
    unsigned open(unsigned asked, const void* site, const void* region) override
    {
        heard.push_back({"open", asked, site, region});
        return asked + 3;
    }
    void member(unsigned n, const void* region) override { heard.push_back({"member", n, nullptr, region}); }
    void member_done(unsigned n, const void* region) override { heard.push_back({"done", n, nullptr, region}); }
    void arrives() override { heard.push_back({"arrives", 0, nullptr, nullptr}); }
    void close(const void* region) override { heard.push_back({"close", 0, nullptr, region}); }
};

// As long as a test case.
struct Chosen {
    explicit Chosen(Policy& policy)
    {
        level = number = forks_seen = 0;
        set_region_cores(&policy);
    }
    ~Chosen() { set_region_cores(nullptr); }
};

const int site = 0;

} // namespace

// openmp_threads.cpp, openmp_questions.cpp and openmp_fork.cpp have these.
const OpenMP* ws::openmp::found_library = &library;
const OpenMP& ws::openmp::find_openmp(void*) { return library; }
int ws::openmp::nesting_level() { return level; }
void ws::openmp::see_all_forks() { forks_seen++; }

TEST_CASE("without a policy a region gets what it asks for")
{
    const RegionOnCores region(5, &site);
    CHECK_FALSE(region.is_chosen());
    CHECK(region.threads == 5);
}

TEST_CASE("a policy hears of a region, its threads and its end")
{
    Policy policy;
    Chosen chosen(policy);
    CHECK(forks_seen == 1); // regions of libomp's that passed by come to libws from here on
    const void* its = nullptr;
    {
        const RegionOnCores region(2, &site);
        its = &region;
        CHECK(region.is_chosen());
        CHECK(region.threads == 5);
        number = 4;
        region.run_member([&] {
            policy.heard.push_back({"part", 0, nullptr, its});
            number = 9; // of a region within
        });
    }
    CHECK(policy.heard == std::vector<Heard>{{"open", 2, &site, its},
                                             {"member", 4, nullptr, its},
                                             {"part", 0, nullptr, its},
                                             {"done", 4, nullptr, its},
                                             {"close", 0, nullptr, its}});
}

TEST_CASE("a region within another is left alone")
{
    Policy policy;
    Chosen chosen(policy);
    {
        level = 1;
        const RegionOnCores region(2, &site);
        CHECK_FALSE(region.is_chosen());
        CHECK(region.threads == 2);
    }
    CHECK(policy.heard.empty());
}

TEST_CASE("a region that is open when the policy leaves ends with that policy")
{
    Policy policy;
    Chosen chosen(policy);
    {
        const RegionOnCores region(1, &site);
        set_region_cores(nullptr);
        region.run_member([] {});
    }
    REQUIRE(policy.heard.size() == 4);
    CHECK(policy.heard.back().what == "close");
}

TEST_CASE("each thread of a region runs the program's function between its two calls")
{
    Policy policy;
    Chosen chosen(policy);
    CHECK(offsetof(RegionMember, reductions) == 0);
    const RegionOnCores region(1, &site);
    RegionMember member = {nullptr,
                           [](void* data) {
                               static_cast<Policy*>(data)->heard.push_back({"fn", 0, nullptr, nullptr});
                           },
                           &policy, &region};
    RegionMember::run(&member);
    REQUIRE(policy.heard.size() == 4);
    CHECK(policy.heard[1].what == "member");
    CHECK(policy.heard[2].what == "fn");
    CHECK(policy.heard[3].what == "done");
}

TEST_CASE("a region that asks for none has one thread at least")
{
    CHECK(openmp_usual() == 1);
}
