// SPDX-License-Identifier: MIT
//
// Loops whose chunks go to whichever virtual thread asks next, in the order of the iterations, as those of `dynamic`
// and `guided` do in OpenMP.
//
// A virtual thread that has taken its share of the chunks is set aside while others have had no turn yet: so turns are
// of one size, by which the region's loop learns what they cost, and its opener can let helpers in between two. Those
// of the last turn go on until none is left, so that all who take part end together.
#pragma once

#include "openmp/library/regions.h"
#include "openmp/shared/distribution.h"
#include "base/atomics.h"
#include "base/spin_lock.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace ws::openmp {

using base::Flag;
using base::Hardware;

// One execution of such a loop by a team.
struct OnDemandLoop {
    explicit OnDemandLoop(unsigned parts) : taken(new Hardware::Word[parts]()) {}
    const std::unique_ptr<volatile Hardware::Word[]> taken; // chunks, of each part; or of the first, which is all
    volatile Hardware::Word passed = 0; // virtual threads that need it no more
    OnDemandLoop* volatile next = nullptr; // which follows it
    OnDemandLoop *older = nullptr, *free = nullptr; // lists of OnDemandLoops'
};

// All of a region's. Each virtual thread comes to the same ones in the same order; it may do so late.
class OnDemandLoops {
public:
    explicit OnDemandLoops(unsigned units) : units_(units) {}
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
        OnDemandLoop* loop = base::load_acquire(link); // pairs with the exchange
        if (!loop) {
            OnDemandLoop* const made = make();
            if (base::exchange_if_acq_rel(link, loop, made)) {
                loop = made;
                base::store_relaxed(latest_, made); // a hint, and memory stays
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
        const OnDemandLoop* const loop = base::load_relaxed(latest_);
        uint64_t taken = 0;
        for (unsigned i = 0; loop && i < units_; i++)
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
            for (unsigned i = 0; i < units_; i++)
                Hardware::store_relaxed(one->taken[i], 0); // relaxed, all: after() publishes it
            Hardware::store_relaxed(one->passed, 0);
            base::store_relaxed(one->next, nullptr);
        } else {
            one = new OnDemandLoop(units_);
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

    const unsigned units_;
    OnDemandLoop* volatile first_ = nullptr;
    OnDemandLoop* volatile latest_ = nullptr;
    base::SpinLock lock_; // of the lists
    OnDemandLoop *free_ = nullptr, *newest_made_ = nullptr;
};

// A virtual thread's part in one.
class OnDemand {
public:
    // Deals n iterations, in chunks of `chunk` (0: 1), to number `number` of `units`. Guided: many at a time while many
    // are left. Own part first: each has a part of the chunks, and takes of others' when that is over, as libomp's
    // threads do.
    void begin(OnDemandLoop& loop, uint64_t n, uint64_t chunk, Distribution distribution, unsigned number,
               unsigned units)
    {
        loop_ = &loop;
        n_ = n;
        chunk_ = chunk ? chunk : 1;
        chunks_ = n / chunk_ + (n % chunk_ != 0);
        fraction_ = is_guided(distribution) ? 2 * units : 0;
        share_ = chunks_ / units + (chunks_ % units != 0);
        had_ = 0;
        parts_ = distribution == Distribution::own_part_first ? units : 1;
        tried_ = 1;
        stand_at(parts_ == 1 ? 0 : number);
    }
    bool next(IterationRange& piece) // false: there is no more
    {
        uint64_t first, count;
        while (!take(first, count)) {
            if (tried_ == parts_)
                return false;
            tried_++;
            stand_at(part_ + 1 == parts_ ? 0 : part_ + 1);
        }
        had_ += count;
        claims_++;
        piece = {first * chunk_, first + count == chunks_ ? n_ : (first + count) * chunk_};
        return true;
    }
    bool has_had_share() const { return had_ >= share_; }
    // Its turn begins again. False: it has taken nothing in this one, and has to continue.
    bool end_turn() { return std::exchange(had_, 0) != 0; }
    // Claims of chunks since the region began.
    void begin_region() { claims_ = 0; }
    uint64_t claims() const { return claims_; }
    OnDemandLoop* loop() const { return loop_; } // the latest; null: there was none

private:
    void stand_at(unsigned part)
    {
        part_ = part;
        from_ = cut(chunks_, part, parts_);
        length_ = cut(chunks_, part + 1, parts_) - from_;
    }
    // Takes a piece of its present part. Relaxed operations would do, because iterations that wait for something
    // synchronize in ways of their own.
    bool take(uint64_t& first, uint64_t& count)
    {
        volatile Hardware::Word& taken = loop_->taken[part_];
        count = 1;
        if (fraction_ == 0) {
            const Hardware::Word before = Hardware::fetch_add_full(taken, 1);
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
    uint64_t n_, chunk_, chunks_, share_, had_, claims_;
    unsigned fraction_;             // guided: of what is left each time; else 0
    unsigned parts_, part_, tried_; // its present one of how many; how many it has come to
    uint64_t from_, length_;        // its present part's chunks
};

} // namespace ws::openmp
