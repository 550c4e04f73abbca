// SPDX-License-Identifier: MIT
//
// Loops whose chunks go to whichever virtual thread asks next, in the order of the iterations, as those of `dynamic` do
// in OpenMP. So an iteration may wait for any later one: while fewer virtual threads stand in such ones than OpenMP has
// threads, another one comes to it.
//
// A virtual thread has its share of the chunks, that guests can leave when it is over; but the last ones to come, as
// many as OpenMP has threads, go on until none is left. Of these are at least as many free as would be in OpenMP, as
// the chunks that were taken are the first ones of the loop in both. Where each thread of OpenMP's has a part of its
// own and takes of others' when that is over, there are as many parts here, the chunks of each in their order; and of
// the last virtual threads to come one begins in each.
#pragma once

#include "directive/openmp.h"
#include "openmp/deal.h"
#include "window/atomics.h"
#include "window/spin_lock.h"

#include <cstdint>
#include <memory>

namespace ws::openmp {

using window::Hardware;

// One execution of such a loop by a team.
struct OnDemandLoop {
    explicit OnDemandLoop(unsigned parts) : taken(new Hardware::Word[parts]()) {}
    const std::unique_ptr<volatile Hardware::Word[]> taken; // chunks, of each part; or of the first, which is all
    volatile Hardware::Word arrived = 0, passed = 0; // virtual threads that have come to it; that need it no more
    OnDemandLoop* volatile next = nullptr;           // which follows it
    OnDemandLoop *older = nullptr, *free = nullptr;  // lists of OnDemandLoops'
};

// All of a region's. Each virtual thread comes to the same ones in the same order; it may do so late.
class OnDemandLoops {
public:
    // Of `units` virtual threads; as many parts as may wait for each other.
    OnDemandLoops(unsigned units, unsigned parts) : units_(units), parts_(parts) {}
    OnDemandLoops(const OnDemandLoops&) = delete;
    ~OnDemandLoops()
    {
        while (newest_made_) {
            OnDemandLoop* const one = newest_made_;
            newest_made_ = one->older;
            delete one;
        }
    }

    // The next loop of a virtual thread that had that one before (null: none).
    OnDemandLoop& after(OnDemandLoop* before)
    {
        OnDemandLoop* volatile& link = before ? before->next : first_;
        OnDemandLoop* loop = window::load_acquire(link); // pairs with the exchange
        if (!loop) {
            OnDemandLoop* const made = make();
            if (window::exchange_if_acq_rel(link, loop, made)) {
                loop = made;
                window::store_relaxed(latest_, made); // a hint, and memory stays
            } else
                free(made);
        }
        if (before)
            pass(*before);
        return *loop;
    }

    // A virtual thread comes to no more.
    void pass(OnDemandLoop& loop)
    {
        if (Hardware::fetch_add_full(loop.passed, 1) + 1 == units_) // full: what others did with it comes before
            free(&loop);
    }

    // Is another number when a chunk was taken. Any thread, while this exists.
    uint64_t progress() const
    {
        const OnDemandLoop* const loop = window::load_relaxed(latest_);
        uint64_t taken = 0;
        for (unsigned i = 0; loop && i < parts_; i++)
            taken += Hardware::load_relaxed(loop->taken[i]);
        return taken;
    }

private:
    OnDemandLoop* make()
    {
        lock_.lock();
        OnDemandLoop* one = free_;
        if (one) {
            free_ = one->free;
            for (unsigned i = 0; i < parts_; i++)
                Hardware::store_relaxed(one->taken[i], 0); // relaxed, all: after() publishes it
            Hardware::store_relaxed(one->arrived, 0);
            Hardware::store_relaxed(one->passed, 0);
            window::store_relaxed(one->next, nullptr);
        } else {
            one = new OnDemandLoop(parts_);
            one->older = newest_made_;
            newest_made_ = one;
        }
        lock_.unlock();
        return one;
    }
    void free(OnDemandLoop* one)
    {
        lock_.lock();
        one->free = free_;
        free_ = one;
        lock_.unlock();
    }

    const unsigned units_, parts_;
    OnDemandLoop* volatile first_ = nullptr;
    OnDemandLoop* volatile latest_ = nullptr;
    window::SpinLock lock_; // of the lists
    OnDemandLoop *free_ = nullptr, *newest_made_ = nullptr;
};

// A virtual thread's part in one.
class OnDemand {
public:
    // Of n iterations, in chunks of so many; as one of `units`, of which `at_once` may wait for each other.
    void begin(OnDemandLoop& loop, uint64_t n, uint64_t chunk, directive::Deal deal, unsigned units, unsigned at_once)
    {
        loop_ = &loop;
        n_ = n;
        chunk_ = chunk ? chunk : 1;
        chunks_ = n / chunk_ + (n % chunk_ != 0);
        fraction_ = deal == directive::Deal::guided ? 2 * units : 0;
        parts_ = deal == directive::Deal::own_part_first ? at_once : 1;
        tried_ = 1;
        const Hardware::Word before = Hardware::fetch_add_full(loop.arrived, 1); // relaxed would do: it counts
        stand_at(parts_ == 1 ? 0 : unsigned(before % parts_));
        share_ = before + at_once < units ? chunks_ / units + (chunks_ % units != 0) : ~uint64_t(0);
    }
    bool next(Part& piece) // false: it has no more
    {
        if (share_ == 0)
            return false;
        uint64_t first, count;
        while (!take(first, count)) {
            if (tried_ == parts_)
                return false;
            tried_++;
            stand_at(part_ + 1 == parts_ ? 0 : part_ + 1);
        }
        share_ -= std::min(count, share_);
        piece = {first * chunk_, first + count == chunks_ ? n_ : (first + count) * chunk_};
        return true;
    }
    OnDemandLoop* loop() const { return loop_; } // the latest; null: there was none

private:
    void stand_at(unsigned part)
    {
        part_ = part;
        from_ = cut(chunks_, part, parts_);
        length_ = cut(chunks_, part + 1, parts_) - from_;
    }
    // Of its present part. Relaxed operations would do: what iterations wait for they see in ways of their own.
    bool take(uint64_t& first, uint64_t& count)
    {
        volatile Hardware::Word& taken = loop_->taken[part_];
        count = 1;
        if (fraction_ == 0) {
            const uint64_t before = Hardware::fetch_add_full(taken, 1);
            first = from_ + before;
            return before < length_;
        }
        do { // one part
            first = Hardware::load_relaxed(taken);
            if (first >= chunks_)
                return false;
            count = std::max<uint64_t>(1, (chunks_ - first) / fraction_);
        } while (!Hardware::cas_full(taken, first, first + count));
        return true;
    }

    OnDemandLoop* loop_;
    uint64_t n_, chunk_, chunks_, share_;
    unsigned fraction_;             // guided: of what is left each time; else 0
    unsigned parts_, part_, tried_; // of so many its present one; how many it has come to
    uint64_t from_, length_;        // its present part's chunks
};

} // namespace ws::openmp
