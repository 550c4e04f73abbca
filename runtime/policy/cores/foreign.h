// SPDX-License-Identifier: MIT
//
// Cores of other jobs of this user (-workshare-across-jobs): they join this rank's regions while no rank of their
// own job on this node computes, or when that job has ended. A rank of that job that goes on recalls all of them, by
// its page of the book: threads that have done their part of the region leave them at once, one that still computes
// goes on beside that rank until it has done its part. Only jobs that share lend, and are lent to.
#pragma once

#include "book/book.h"

#include <map>
#include <vector>

namespace ws::policy::cores {

class Foreign {
public:
    // `book` outlives this. Between two regions; all of it by the rank's own thread.
    void attach(book::Reader& book, double ticks_per_us);
    bool is_attached() const { return book_; }

    // Offers these CPUs of this rank's to other jobs; false if they cannot be offered.
    bool offer(const std::vector<int>& cpus) { return book_->share(cpus); }
    // The rank's open region has that many threads; 0: none is open.
    void show_threads(unsigned threads) { book_->show_threads(threads); }
    uint64_t used_by_others() const { return book_ ? book_->used_by_others() : 0; }

    // could_borrow() returns how many cores are available. borrow() takes `most` of them at most; their CPUs are then
    // in cpus().
    unsigned could_borrow(uint64_t now);
    unsigned borrow(unsigned most, uint64_t now);
    const std::vector<int>& cpus() const { return cpus_; }
    // By the thread of the region on the core of cpus()[i], when it has done its part: gives the core back if it was
    // recalled; true then, and the thread is to wait elsewhere.
    bool member_done(size_t i);
    // Gives the others back. `late`: core ticks of threads beside ranks of the cores' job that had come back;
    // `recalled`: cores of such jobs, `left` of them: given back before this.
    struct Lent {
        uint64_t used, late;
        unsigned recalled, left;
    };
    Lent give_back(uint64_t now);

private:
    void look(uint64_t now);
    uint64_t came_back(size_t lender) const;

    book::Reader* book_ = nullptr;
    double ticks_per_us_ = 1000;
    bool looked_ = false, leaving_ = false;
    uint64_t looked_at_ = 0;
    base::Flag changes_ = 0;
    std::vector<book::Lenders> lenders_;
    std::map<uint64_t, unsigned> patience_us_; // of a job: how long its ranks must have rested
    struct Taken {
        book::SharedCore* core;
        base::Hardware::Word with;
        size_t lender;
        // Its thread, when it has done its part; read when the region is over.
        uint64_t done_at = 0, late = 0;
        bool left = false;
    };
    std::vector<Taken> taken_;
    std::vector<int> cpus_;
    uint64_t taken_at_ = 0;
};

} // namespace ws::policy::cores
