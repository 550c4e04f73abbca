// SPDX-License-Identifier: MIT
#include "mail/batch.h"

#include <catch2/catch.hpp>
#include <random>
#include <vector>

using namespace ws::mail;

namespace {

struct Letter {
    Kind kind;
    std::string bytes;
    bool large;
    bool operator==(const Letter& o) const { return kind == o.kind && bytes == o.bytes && large == o.large; }
};

std::vector<Letter> letters_of(std::string_view bytes, bool& whole)
{
    std::vector<Letter> all;
    Opened batch(bytes);
    Header header;
    std::string_view letter;
    while (batch.next(header, letter))
        all.push_back({header.kind, std::string(letter), is_large(header)});
    whole = batch.whole();
    return all;
}

} // namespace

TEST_CASE("letters come out of a batch as they went in")
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; round++) {
        std::vector<Letter> in;
        std::string batch;
        for (unsigned i = 0; i < round % 20u; i++) {
            in.push_back({Kind(random()), std::string(random() % (i % 5 ? 40 : large + 1), char(random())), false});
            append(batch, in.back().kind, in.back().bytes);
            CHECK(batch.size() % 8 == 0);
        }
        if (round % 3 == 0) {
            in.push_back({3, "", true});
            append_header(batch, 3, large + 1 + random() % 1000);
        }
        bool whole;
        CHECK(letters_of(batch, whole) == in);
        CHECK(whole);
    }
}

TEST_CASE("what is no batch is not read beyond its end")
{
    std::string batch;
    append(batch, 1, "0123456789");
    append(batch, 2, "");
    for (size_t end = 1; end < batch.size(); end++) {
        bool whole;
        letters_of(std::string_view(batch).substr(0, end), whole);
        CHECK(whole == (end == sizeof(Header) + 16)); // behind the first letter
    }
    bool whole;
    std::string long_one;
    append_header(long_one, 1, large); // says that `large` bytes follow, but none do
    CHECK(letters_of(long_one, whole).empty());
    CHECK_FALSE(whole);
    std::string not_last;
    append_header(not_last, 1, large + 1);
    append(not_last, 2, "more");
    CHECK(letters_of(not_last, whole).empty());
    CHECK_FALSE(whole);
}
