// SPDX-License-Identifier: MIT
#include "base/mapping.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace ws;

namespace {

class File {
public:
    explicit File(size_t bytes) : fd(memfd_create("test", MFD_CLOEXEC)) { REQUIRE(ftruncate(fd, off_t(bytes)) == 0); }
    ~File() { close(fd); }
    File(const File&) = delete;
    const int fd;
};

bool is_mapped(void* page)
{
    unsigned char in_memory;
    return mincore(page, 1, &in_memory) == 0;
}

const size_t page = size_t(sysconf(_SC_PAGESIZE));

} // namespace

TEST_CASE("a mapping ends with its object, which can be moved")
{
    const File file(3 * page);
    void* first;
    {
        base::Mapping mapping = base::map(file.fd, base::read_write, 2 * page + 1);
        first = mapping.get_address();
        REQUIRE(first);
        CHECK(mapping.get_size() == 2 * page + 1);
        base::Mapping moved = std::move(mapping);
        CHECK(!mapping.get_address());
        CHECK(moved.get_address() == first);
        CHECK(is_mapped(base::at<char>(moved) + 2 * page));
        moved = base::map(file.fd, base::read_write, page);
        CHECK(moved.get_address());
        first = moved.get_address();
        CHECK(is_mapped(first));
    }
    CHECK(!is_mapped(first));
    CHECK(fcntl(file.fd, F_GETFD) >= 0); // the file is its opener's
}

TEST_CASE("who may write where")
{
    const File file(page);
    const base::Mapping one = base::map(file.fd, base::read_write, page);
    const base::Mapping two = base::map(file.fd, base::read_write, page);
    const base::Mapping reader = base::map(file.fd, base::read_only, page);
    const base::Mapping own = base::map(file.fd, base::copy_on_write, page);
    const base::Mapping own_reader = base::map(file.fd, base::read_private, page);
    REQUIRE((one.get_address() && two.get_address() && reader.get_address() && own.get_address()));
    CHECK(one.get_address() != two.get_address());
    *base::at<int>(one) = 7;
    CHECK(*base::at<int>(two) == 7);
    CHECK(*base::at<int>(reader) == 7);
    CHECK(*base::at<int>(own_reader) == 7);
    *base::at<int>(own) = 8;
    CHECK(*base::at<int>(one) == 7);
}

TEST_CASE("memory without a file is zero, and private or not")
{
    for (const auto mode : {base::read_write, base::copy_on_write}) {
        const base::Mapping mapping = base::map_anonymous(mode, 5 * page);
        REQUIRE(mapping.get_address());
        auto* const bytes = base::at<volatile char>(mapping);
        for (size_t i = 0; i < 5 * page; i++)
            REQUIRE(!bytes[i]);
        if (const pid_t child = fork(); child == 0) {
            bytes[page] = 1;
            _exit(0);
        } else
            while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
            }
        CHECK(bytes[page] == (mode == base::read_write));
    }
}

TEST_CASE("what the system refuses is empty, and nothing is thrown")
{
    const File file(page);
    CHECK(!base::map(-1, base::read_write, page).get_address());
    CHECK(!base::map(file.fd, base::read_write, 0).get_address()); // not the whole file
    CHECK(!base::map(file.fd, base::read_write, SIZE_MAX / 2).get_address());
    CHECK(!base::map_anonymous(base::copy_on_write, SIZE_MAX / 2).get_address());
    const int read = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    REQUIRE(read >= 0);
    CHECK(!base::map(read, base::read_write, page).get_address());
    CHECK(base::map(read, base::read_only, page).get_address());
    close(read);
    const int folder = open("/", O_RDONLY | O_CLOEXEC);
    CHECK(!base::map(folder, base::read_only, page).get_address());
    close(folder);
}
