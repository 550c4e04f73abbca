// SPDX-License-Identifier: MIT
//
// Letters of pools, right and wrong ones: what is followed in a letter is looked at before.
#include "policy/tasks/letters.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <random>

using namespace ws::policy::tasks;

namespace {

constexpr LetterLimits bounds = {6, 3, 4, 2, 16384, -8, 7};

bool fits(const std::string& text) { return makes_sense(text.data(), text.size(), bounds); }

std::string tasks(const std::vector<Packed>& all, int node = 1)
{
    std::string text = letter(Letter::tasks, TasksHead{node, uint32_t(all.size()), 0, 0});
    for (const Packed& p : all) {
        text.append(reinterpret_cast<const char*>(&p), sizeof p);
        if (!p.apart)
            text.append((p.bytes + 7) / 8 * 8, 'x');
    }
    return text;
}

Packed task(uint64_t bytes, bool apart = false)
{
    return {3, 7, 0, 1, uint8_t(apart), 5, 5, 0, bytes, 2, {}};
}

std::string deliver(const std::vector<User>& users)
{
    std::string text = letter(Letter::deliver, Deliver{1, uint32_t(users.size())});
    for (const User& u : users)
        text.append(reinterpret_cast<const char*>(&u), sizeof u);
    return text;
}

// Goes through the tasks as Pool::receive_tasks() does. False if it would read beyond the letter.
bool walks(const std::string& text)
{
    const TasksHead head = head_in<TasksHead>(text.data(), text.size());
    size_t at = 8 + sizeof head;
    for (uint32_t i = 0; i < head.tasks; i++) {
        Packed p;
        if (at + sizeof p > text.size())
            return false;
        std::memcpy(&p, text.data() + at, sizeof p);
        at += sizeof p;
        if (p.kind >= bounds.kinds || p.origin >= uint32_t(bounds.ranks))
            return false;
        if (p.apart)
            continue;
        if (p.bytes > text.size() - at)
            return false;
        at += (p.bytes + 7) / 8 * 8;
    }
    return at <= text.size();
}

} // namespace

TEST_CASE("letters that ranks write make sense", "[letters]")
{
    Note note;
    note.node = 2;
    note.address = 5;
    CHECK(fits(letter(Letter::note, note)));
    Gift gift;
    gift.node = 2;
    gift.address = 5;
    gift.tasks = 3;
    CHECK(fits(letter(Letter::give, gift)));
    CHECK(fits(letter(Letter::gave, Gave{gift, 2})));
    CHECK(fits(letter(Letter::changed, Came{0, 0})));
    CHECK(fits(letter(Letter::result, ResultHead{1, 0, Way::here, 0, 6}) + "result"));
    CHECK(fits(letter(Letter::result, ResultHead{1, 0, Way::apart, 16383, 1 << 20})));
    CHECK(fits(letter(Letter::result, ResultHead{1, 0, Way::kept, 0, 1 << 20})));
    CHECK(fits(deliver({})));
    CHECK(fits(deliver({{0, 1}, {5, 7}})));
    CHECK(fits(letter(Letter::value, ValueHead{5, 1, 2, 16383, 1 << 20})));
    CHECK(fits(letter(Letter::given_up, GaveUp{7})));
    CHECK(fits(letter(Letter::cancel, Cancel{5, 2})));
    CHECK(fits(letter(Letter::ask)));
    CHECK(fits(letter(Letter::begin)));
    CHECK(fits(letter(Letter::answer, Counts())));
    CHECK(fits(letter(Letter::end, End{0, false})));
    CHECK(fits(tasks({})));
    CHECK(fits(tasks({task(0), task(1), task(40), task(1 << 20, true), task(17)})));
}

TEST_CASE("numbers beyond what a pool has are noticed", "[letters]")
{
    for (const int wrong : {-1, 3, 1 << 30}) {
        Note note;
        note.node = wrong;
        CHECK_FALSE(fits(letter(Letter::note, note)));
        Gift gift;
        gift.node = wrong;
        CHECK_FALSE(fits(letter(Letter::give, gift)));
        CHECK_FALSE(fits(letter(Letter::gave, Gave{gift, 2})));
        CHECK_FALSE(fits(letter(Letter::changed, Came{wrong, 1})));
        CHECK_FALSE(fits(tasks({task(8)}, wrong)));
    }
    Gift gift;
    gift.address = 6;
    CHECK_FALSE(fits(letter(Letter::give, gift)));
    Packed p = task(8);
    p.kind = 4;
    CHECK_FALSE(fits(tasks({p})));
    p = task(8);
    p.origin = 6;
    CHECK_FALSE(fits(tasks({task(8), p})));
    for (const int8_t priority : {int8_t(-9), int8_t(8)}) {
        p = task(8);
        p.priority = priority;
        CHECK_FALSE(fits(tasks({p})));
    }
    p = task(8, true);
    p.tag = 16384;
    CHECK_FALSE(fits(tasks({p})));
    p = task(8);
    p.group = 3;
    CHECK_FALSE(fits(tasks({p})));
    CHECK_FALSE(fits(letter(Letter::result, ResultHead{1, 0, Way::apart, 16384, 8})));
    CHECK_FALSE(fits(letter(Letter::result, ResultHead{1, 0, Way::apart, 5, UINT64_MAX - 7})));
    CHECK_FALSE(fits(letter(Letter::result, ResultHead{1, 0, Way(3), 0, 8})));
    CHECK_FALSE(fits(deliver({{0, 1}, {6, 1}})));
    CHECK_FALSE(fits(deliver({{-1, 1}})));
    CHECK_FALSE(fits(deliver({{0, 1}}).substr(0, 20)));
    CHECK_FALSE(fits(letter(Letter::deliver, Deliver{1, UINT32_MAX})));
    CHECK_FALSE(fits(letter(Letter::value, ValueHead{6, 1, 2, 5, 1 << 20})));
    CHECK_FALSE(fits(letter(Letter::value, ValueHead{-1, 1, 2, 5, 1 << 20})));
    CHECK_FALSE(fits(letter(Letter::value, ValueHead{1, 1, 2, 16384, 1 << 20})));
    CHECK_FALSE(fits(letter(Letter::value, ValueHead{1, 1, 2, 5, UINT64_MAX - 7})));
    CHECK_FALSE(fits(letter(Letter::given_up)));
    p = task(8, true);
    p.bytes = UINT64_MAX - 7;
    CHECK_FALSE(fits(tasks({p})));
    CHECK_FALSE(fits(letter(Letter::cancel, Cancel{6, 1})));
    CHECK_FALSE(fits(letter(Letter::cancel, Cancel{-1, 1})));
    CHECK_FALSE(fits(letter(Letter::cancel, Cancel{0, 0})));
    CHECK_FALSE(fits(letter(Letter::cancel, Cancel{0, 3})));
    std::string text = tasks({task(8)});
    for (const uint64_t bytes : {uint64_t(17), uint64_t(1) << 40, ~uint64_t(0), ~uint64_t(0) - 6}) {
        std::memcpy(&text[text.size() - 8 - sizeof(Packed) + offsetof(Packed, bytes)], &bytes, sizeof bytes);
        CHECK_FALSE(fits(text));
    }
    CHECK_FALSE(fits(""));
    CHECK_FALSE(fits(std::string(100, '\x63')));
}

TEST_CASE("of letters with random damage none is followed beyond its end", "[letters]")
{
    std::mt19937 random(1);
    unsigned refused = 0;
    for (int i = 0; i < 200000; i++) {
        std::vector<Packed> all;
        for (auto n = random() % 5; n > 0; n--)
            all.push_back(task(random() % 60, random() % 8 == 0));
        std::string text = tasks(all);
        for (auto n = 1 + random() % 3; n > 0; n--)
            switch (random() % 3) {
            case 0:
                text[random() % text.size()] = char(random());
                break;
            case 1:
                text.resize(random() % text.size() + 1);
                break;
            default:
                text[random() % text.size()] ^= char(1 << random() % 8);
            }
        const bool sense = fits(text);
        refused += !sense;
        if (sense && Letter(text[0]) == Letter::tasks && !walks(text))
            FAIL("letter " << i);
    }
    CHECK(refused > 1000);
}
