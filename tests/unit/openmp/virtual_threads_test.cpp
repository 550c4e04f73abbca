// SPDX-License-Identifier: MIT
#include "openmp/library/virtual_threads.h"

#include <catch2/catch.hpp>

TEST_CASE("virtual threads: four per core that could help, from 4 to 16", "[openmp]")
{
    CHECK(ws_virtual_threads(1, 2, 1, 0) == 4);
    CHECK(ws_virtual_threads(2, 2, 1, 0) == 8);
    CHECK(ws_virtual_threads(8, 2, 1, 0) == 8); // no more than the node has CPUs for
    CHECK(ws_virtual_threads(64, 64, 1, 0) == 16);
    CHECK(ws_virtual_threads(0, 0, 1, 0) == 16); // nothing is known
    CHECK(ws_virtual_threads(2, 16, 8, 0) == 16);
    CHECK(ws_virtual_threads(2, 64, 32, 0) == 64); // twice the rank's own threads
}

TEST_CASE("virtual threads: with workers a rank that waits lends all of its cores", "[openmp]")
{
    CHECK(ws_virtual_threads(2, 16, 8, 7) == 64);
    CHECK(ws_virtual_threads(2, 16, 1, 7) == 64);
    CHECK(ws_virtual_threads(2, 2, 8, 7) == 16); // on two CPUs
    CHECK(ws_virtual_threads(2, 8, 1, 1) == 16);
    CHECK(ws_virtual_threads(1, 64, 1, 3) == 16);
    CHECK(ws_virtual_threads(16, 128, 4, 7) == 64);
    CHECK(ws_virtual_threads(2, 0, 4, 3) == 32);
}
