// SPDX-License-Identifier: MIT
//
// The order of steps, with made-up policies.
#include "policy/runner.h"

#include "policy/together.h"

#include "../window/in_memory.h"
#include "base/os.h"

#include <catch2/catch.hpp>
#include <string>

using namespace ws::lend;
using namespace ws::base;
using namespace ws::window;
using namespace ws::policy;

// together.cpp has this with MPI.
void ws::policy::say_who_is_missing(const Job&) {}

namespace {

class Made : public Policy {
public:
    explicit Made(const char* name) : name_(name) {}
    Wants attach(Job& job) override
    {
        job.wants_periods |= periods;
        return wants;
    }
    Wants step(Job&, uint64_t, uint64_t budget) override
    {
        log += name_;
        this->budget = budget;
        for (const uint64_t until = ticks() + takes; ticks() < until;)
            ;
        return wants;
    }
    void end(Job&) override { log += "."; }
    void detach(Job&) override { log += "-"; }

    static inline std::string log;
    Wants wants;
    uint64_t budget = 0, takes = 0;
    bool periods = false;

private:
    const char* const name_;
};

Made a("a"), b("b"), c("c");
const volatile uint64_t chunk = 123;

// As registry.cpp has it.
struct Fresh {
    Fresh()
    {
        Made::log.clear();
        for (Made* p : {&a, &b, &c}) {
            p->wants = {};
            p->takes = 0;
            p->periods = false;
        }
    }
};

} // namespace

const std::vector<Policy*>& ws::policy::policies()
{
    static const std::vector<Policy*> all = {&a, &b, &c};
    return all;
}

TEST_CASE("nobody wants anything", "[runner]")
{
    Fresh fresh;
    Runner runner(policies(), chunk);
    runner.attach({});
    CHECK(runner.due_at == SpareTime::never);
    CHECK_FALSE(runner.when_idle);
    runner.step(ticks());
    CHECK(Made::log == "");
    CHECK_FALSE(runner.job().wants_periods);
    runner.end();
    runner.detach();
    CHECK(Made::log == "...---");
}

TEST_CASE("a policy asks for a step when it has none to ask in", "[runner]")
{
    Fresh fresh;
    Runner runner(policies(), chunk);
    runner.attach({});
    runner.job().steps->want(b, {false, 5});
    CHECK(runner.due_at == 5);
    runner.step(6);
    CHECK(Made::log == "b");
    CHECK(runner.due_at == SpareTime::never); // as it said in its step
    runner.job().steps->want(b, {false, 9});
    runner.job().steps->want(b, {});
    CHECK(runner.due_at == SpareTime::never);
}

TEST_CASE("who takes what is left takes turns", "[runner]")
{
    Fresh fresh;
    a.wants.when_idle = c.wants.when_idle = true;
    Runner runner(policies(), chunk);
    runner.attach({});
    CHECK(runner.when_idle);
    CHECK(runner.due_at == SpareTime::never);
    for (int i = 0; i < 4; i++)
        runner.step(ticks());
    CHECK((Made::log == "caca" || Made::log == "acac"));
    CHECK(a.budget == 123);
    a.wants.when_idle = false;
    for (int i = 0; i < 5; i++) // it says so at its next step
        runner.step(ticks());
    CHECK(Made::log.substr(6) == "ccc");
    c.wants.when_idle = false;
    runner.step(ticks());
    CHECK_FALSE(runner.when_idle);
}

TEST_CASE("who is due comes first, the longest due before others", "[runner]")
{
    Fresh fresh;
    const uint64_t now = ticks();
    a.wants.when_idle = true;
    b.wants.due_at = now + 1000;
    c.wants.due_at = now + 500;
    Runner runner(policies(), chunk);
    runner.attach({});
    CHECK(runner.due_at == now + 500);
    runner.step(now);
    CHECK(Made::log == "a");
    b.wants = c.wants = {};
    runner.step(now + 2000);
    CHECK(Made::log == "ac");
    CHECK(runner.due_at == now + 1000);
    runner.step(now + 2000);
    CHECK(Made::log == "acb");
    CHECK(runner.due_at == SpareTime::never);
}

TEST_CASE("who is always due leaves as much time as it takes", "[runner]")
{
    Fresh fresh;
    a.wants.due_at = 1;
    a.takes = 3000000;
    Runner runner(policies(), chunk);
    runner.attach({});
    CHECK(runner.due_at == 1);
    const uint64_t now = ticks();
    runner.step(now);
    CHECK(runner.due_at >= now + 2 * a.takes);
    CHECK(runner.due_at < now + 2 * (ticks() - now));
}

TEST_CASE("one policy that wants periods is enough", "[runner]")
{
    Fresh fresh;
    b.periods = true;
    Runner runner(policies(), chunk);
    runner.attach({});
    CHECK(runner.job().wants_periods);
}

TEST_CASE("each policy has deciders of its own", "[runner]")
{
    InMemory memory(2);
    Window window[2];
    Job rank[2];
    for (unsigned r = 0; r < 2; r++) {
        memory.map(window[r], r);
        rank[r].window = &window[r];
    }
    const uint64_t now = ticks(), until = now + (uint64_t(1) << 30);
    CHECK(rank[0].node_decider(a).take(now, until));
    CHECK_FALSE(rank[1].node_decider(a).take(now, until));
    CHECK(rank[1].node_decider(b).take(now, until));
    rank[0].window = nullptr;
    CHECK_FALSE(rank[0].node_decider(c).take(now, until));
}
