// SPDX-License-Identifier: MIT
//
// The node book (runtime/book/book.h) as ws-top reads it: which processes have pages in it. By pread, and trusting
// nothing, as board_file.h.
#pragma once

#include "book/book.h"
#include <vector>

namespace ws::top {

class BookFile {
public:
    explicit BookFile(int fd) : fd_(fd) {}
    BookFile(BookFile&& from) noexcept : fd_(from.fd_) { from.fd_ = -1; }
    BookFile& operator=(BookFile&& from) noexcept;
    ~BookFile();

    // False: it is none of this version.
    bool is_book() const;
    // Another value than the last time: processes() may give another answer. One system call.
    book::Flag changes() const;
    // Those in the pid namespace of this process.
    std::vector<base::ProcessId> processes() const;

private:
    int fd_;
};

} // namespace ws::top
