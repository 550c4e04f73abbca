// SPDX-License-Identifier: MIT
#include "book_file.h"

#include <algorithm>
#include <cstddef>
#include <unistd.h>
#include <utility>

namespace ws::top {

using base::ProcessId;

namespace {

// For what others write meanwhile: each value is either the old one or the new one.
template <class T> bool read_at(int fd, T& to, size_t offset)
{
    return pread(fd, &to, sizeof to, off_t(offset)) == ssize_t(sizeof to);
}

} // namespace

BookFile& BookFile::operator=(BookFile&& from) noexcept
{
    std::swap(fd_, from.fd_);
    return *this;
}

BookFile::~BookFile()
{
    if (fd_ >= 0)
        close(fd_);
}

bool BookFile::is_book() const
{
    using book::Book;
    uint64_t magic, stamp;
    uint32_t version, pages;
    return read_at(fd_, magic, offsetof(Book, magic_)) && magic == book::magic &&
           read_at(fd_, version, offsetof(Book, version_)) && version == book::version &&
           read_at(fd_, pages, offsetof(Book, pages_)) && pages == book::page_count &&
           read_at(fd_, stamp, offsetof(Book, stamp)) && stamp;
}

book::Flag BookFile::changes() const
{
    book::Flag changes = 0;
    read_at(fd_, changes, offsetof(book::Book, changes));
    return changes;
}

std::vector<ProcessId> BookFile::processes() const
{
    static const uint64_t here = base::own_process().pid_namespace;
    book::Flag used = 0;
    read_at(fd_, used, offsetof(book::Book, used));
    std::vector<ProcessId> found;
    for (size_t i = 0; i < std::min<size_t>(used, book::page_count); i++) {
        const size_t at = offsetof(book::Book, page) + i * sizeof(book::Page);
        book::Flag state;
        ProcessId process;
        if (read_at(fd_, state, at + offsetof(book::Page, state)) && state == book::Page::there &&
            read_at(fd_, process, at + offsetof(book::Page, process)) && process.pid_namespace == here)
            found.push_back(process);
    }
    return found;
}

} // namespace ws::top
