// SPDX-License-Identifier: MIT
//
// What nodes tell each other of their loads: the letter, and how often there may be one.
#include "policy/loads/rows.h"

#include <catch2/catch.hpp>

using namespace ws::policy::loads;

namespace {

Row row(uint32_t node) { return {node, {100 + node, 1.5, 4, 3, 8, 0.25 * node, 2, 3, 4, 5}}; }

} // namespace

TEST_CASE("a letter is read as it was written", "[loads]")
{
    uint32_t sender = 0;
    std::vector<Row> rows;
    REQUIRE(read(write(2, {row(0), row(7), row(2)}), 8, sender, rows));
    CHECK(sender == 2);
    REQUIRE(rows.size() == 3);
    CHECK(rows[1].node == 7);
    CHECK(rows[1].load.at == 107);
    CHECK(rows[1].load.ranks == 4);
    CHECK(rows[1].load.computing == 3);
    CHECK(rows[1].load.cores == 8);
    CHECK(rows[1].load.useful_s == 1.75);
    CHECK(rows[1].load.period_s == 5);
    CHECK(read(write(0, {}), 1, sender, rows));
    CHECK(rows.empty());
}

TEST_CASE("what is no letter of loads", "[loads]")
{
    uint32_t sender = 0;
    std::vector<Row> rows;
    const std::string letter = write(1, {row(0), row(1)});
    CHECK(read(letter, 2, sender, rows));
    CHECK_FALSE(read(letter, 1, sender, rows)); // a node that does not exist, as sender
    CHECK_FALSE(read(write(0, {row(5)}), 5, sender, rows));
    for (size_t length = 0; length < letter.size(); length++)
        if ((length - 4) % sizeof(Row))
            CHECK_FALSE(read(std::string_view(letter).substr(0, length), 2, sender, rows));
}

TEST_CASE("how often", "[loads]")
{
    CHECK(every_us(1) == 10000);
    CHECK(every_us(16) == 10000);
    for (const unsigned nodes : {100u, 1000u, 10000u}) // node 0 sends all rows to all, at 20 MB/s
        CHECK(double(write(0, std::vector<Row>(nodes)).size()) * nodes / every_us(nodes) == Approx(20).epsilon(0.01));
}
