// SPDX-License-Identifier: MIT
//
// Objects of a policy in memory that processes map at different addresses: here one process maps it several times.
#include "base/mapping.h"
#include "policy/node_objects.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace ws;
using policy::NodeObjects;

namespace {

struct alignas(64) Row {
    volatile uint64_t word = 7;
    uint64_t more[9] = {};
};

struct Root {
    Root(NodeObjects::Manager* manager, size_t rows, size_t numbers) : rows(rows, manager), numbers(numbers, manager) {}
    alignas(64) uint64_t head = 5;
    NodeObjects::Array<Row> rows;
    NodeObjects::Array<uint16_t> numbers;
};

size_t bytes_of(size_t rows, size_t numbers)
{
    return NodeObjects::root_bytes<Root>() + NodeObjects::array_bytes<Row>(rows) +
           NodeObjects::array_bytes<uint16_t>(numbers);
}

// The same memory, as often as there are ranks.
class Node {
public:
    Node(size_t bytes, unsigned ranks) : bytes_(bytes)
    {
        const int fd = memfd_create("test", MFD_CLOEXEC);
        REQUIRE(ftruncate(fd, off_t(bytes)) == 0);
        for (unsigned r = 0; r < ranks; r++) {
            memory_.push_back(base::map(fd, base::read_write, bytes));
            REQUIRE(memory_.back().get_address());
        }
        close(fd);
    }
    NodeObjects objects(unsigned rank, size_t bytes = 0) const
    {
        return {memory_[rank].get_address(), bytes ? bytes : bytes_};
    }
    char* memory(unsigned rank) const { return base::at<char>(memory_[rank]); }
    bool has(unsigned rank, const void* p, size_t bytes) const
    {
        const size_t at = size_t(static_cast<const char*>(p) - memory(rank));
        return at <= bytes_ && bytes <= bytes_ - at;
    }

private:
    size_t bytes_;
    std::vector<base::Mapping> memory_;
};

} // namespace

TEST_CASE("all ranks have the objects that the first has made, each at its own address")
{
    constexpr unsigned ranks = 4, rows = 11, numbers = 33;
    const Node node(bytes_of(rows, numbers), ranks);
    const int64_t offset = node.objects(0).construct<Root>(rows, numbers);
    REQUIRE(offset >= 0);
    Root* root[ranks];
    Row* row[ranks];
    uint16_t* number[ranks];
    for (unsigned r = 0; r < ranks; r++) {
        const NodeObjects objects = node.objects(r);
        root[r] = objects.root<Root>(offset);
        REQUIRE(root[r]);
        row[r] = objects.elements(root[r]->rows, rows);
        number[r] = objects.elements(root[r]->numbers, numbers);
        REQUIRE((row[r] && number[r]));
        CHECK(node.has(r, root[r], sizeof(Root)));
        CHECK(node.has(r, row[r], rows * sizeof(Row)));
        CHECK(node.has(r, number[r], numbers * sizeof(uint16_t)));
        CHECK(uintptr_t(root[r]) % 64 == 0);
        CHECK(uintptr_t(row[r]) % 64 == 0);
        CHECK(root[r]->head == 5);
        for (unsigned i = 0; i < rows; i++)
            CHECK(row[r][i].word == 7);
        for (unsigned i = 0; i < numbers; i++)
            CHECK(number[r][i] == 0);
        for (unsigned other = 0; other < r; other++)
            CHECK(root[other] != root[r]);
        CHECK(!objects.elements(root[r]->rows, rows - 1));
        CHECK(!objects.elements(root[r]->rows, rows + 1));
    }
    for (unsigned r = 0; r < ranks; r++)
        row[r][r].word = 100 + r;
    for (unsigned r = 0; r < ranks; r++)
        for (unsigned i = 0; i < ranks; i++)
            CHECK(row[r][i].word == 100 + i);
}

TEST_CASE("the memory that is computed is enough, and little more than that")
{
    constexpr size_t most = 64, slack = 4 * 64;
    const Node node(bytes_of(most, most), 1);
    for (size_t rows = 1; rows <= most; rows++)
        for (size_t numbers = 1; numbers <= most; numbers += 1 + numbers / 4) {
            INFO(rows << " rows, " << numbers << " numbers");
            const size_t bytes = bytes_of(rows, numbers);
            REQUIRE(node.objects(0, bytes).construct<Root>(rows, numbers) >= 0);
            REQUIRE(node.objects(0, bytes - slack).construct<Root>(rows, numbers) == -1);
        }
}

TEST_CASE("too small a memory of any size is refused")
{
    constexpr size_t rows = 5, numbers = 5;
    const size_t all = bytes_of(rows, numbers);
    const Node node(all, 1);
    bool fits = false;
    for (size_t bytes = 1; bytes <= all; bytes++) {
        const int64_t offset = node.objects(0, bytes).construct<Root>(rows, numbers);
        REQUIRE((offset >= 0 || !fits)); // once there is enough, more is enough
        fits |= offset >= 0;
        if (offset >= 0) {
            const NodeObjects objects = node.objects(0, bytes);
            Root* const root = objects.root<Root>(offset);
            REQUIRE(root);
            REQUIRE(objects.elements(root->rows, rows));
            REQUIRE(objects.elements(root->numbers, numbers));
        }
    }
    CHECK(fits);
}

TEST_CASE("an offset outside the memory is none")
{
    const size_t bytes = bytes_of(1, 1);
    const Node node(bytes, 1);
    const NodeObjects objects = node.objects(0);
    for (const int64_t offset : {int64_t(-1), INT64_MIN, INT64_MAX, int64_t(bytes), int64_t(bytes - 64), int64_t(8)})
        CHECK(!objects.root<Root>(offset));
}

TEST_CASE("what is scribbled over the objects leads no rank out of the memory")
{
    constexpr size_t rows = 3, numbers = 9;
    const Node node(bytes_of(rows, numbers), 2);
    std::mt19937_64 random(1);
    unsigned refused = 0, found = 0;
    for (int i = 0; i < 100000; i++) {
        const int64_t offset = node.objects(0).construct<Root>(rows, numbers);
        const NodeObjects objects = node.objects(1);
        Root* const root = objects.root<Root>(offset);
        REQUIRE(root);
        auto* const words = reinterpret_cast<uint64_t*>(root);
        const uint64_t w = random();
        words[random() % (sizeof(Root) / 8)] = random() % 4 ? w >> w % 64 : rows;
        if (const Row* const row = objects.elements(root->rows, rows)) {
            REQUIRE(node.has(1, row, rows * sizeof(Row)));
            found++;
        } else
            refused++;
        if (const uint16_t* const number = objects.elements(root->numbers, numbers))
            REQUIRE(node.has(1, number, numbers * sizeof(uint16_t)));
    }
    CHECK(refused > 100);
    CHECK(found > 100);
}
