// SPDX-License-Identifier: MIT
//
// Loops whose chunks go to whichever virtual thread asks next, in the order of the iterations, as those of `dynamic`
// and `guided` do in OpenMP.
//
// A virtual thread that has taken its share of the chunks is set aside, so that the others have a turn, too, and
// somebody who comes to help finds one to run. It takes further chunks when its turn comes again. So an iteration may
// wait for any other: none is left to a thread that does not exist.
#pragma once

#include "openmp/deal.h"
#include "window/atomics.h"
#include "window/spin_lock.h"

#include <algorithm>
#include <cstdint>
#include <memory>

namespace ws::openmp {

using window::Flag;
using window::Hardware;

// One execution of such a loop by a team.
struct OnDemandLoop {
    volatile Hardware::Word taken = 0;  // chunks
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
        return loop ? uint64_t(Hardware::load_relaxed(loop->taken)) : 0;
    }

private:
    OnDemandLoop* make()
    {
        lock_.lock();
        OnDemandLoop* one = free_;
        if (one) {
            free_ = one->free;
            Hardware::store_relaxed(one->taken, 0); // relaxed, all: after() publishes it
            Hardware::store_relaxed(one->passed, 0);
            window::store_relaxed(one->next, nullptr);
        } else {
            one = new OnDemandLoop;
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
    window::SpinLock lock_; // of the lists
    OnDemandLoop *free_ = nullptr, *newest_made_ = nullptr;
};

// A virtual thread's part in one.
class OnDemand {
public:
    // Of n iterations, in chunks of `chunk` (0: 1), as one of `units`. Guided: many at a time while many are left.
    void begin(OnDemandLoop& loop, uint64_t n, uint64_t chunk, bool guided, unsigned units)
    {
        loop_ = &loop;
        n_ = n;
        chunk_ = chunk ? chunk : 1;
        chunks_ = n / chunk_ + (n % chunk_ != 0);
        fraction_ = guided ? 2 * units : 0;
        share_ = chunks_ / units + (chunks_ % units != 0);
        had_ = 0;
    }
    bool next(Part& piece) // false: there is no more
    {
        uint64_t first, count = 1;
        if (fraction_ == 0) {
            // Relaxed operations would do: what iterations wait for they see in ways of their own.
            first = Hardware::fetch_add_full(loop_->taken, 1);
            if (first >= chunks_)
                return false;
        } else {
            do {
                first = Hardware::load_relaxed(loop_->taken);
                if (first >= chunks_)
                    return false;
                count = std::max<uint64_t>(1, (chunks_ - first) / fraction_);
            } while (!Hardware::cas_full(loop_->taken, first, first + count));
        }
        had_ += count;
        piece = {first * chunk_, first + count == chunks_ ? n_ : (first + count) * chunk_};
        return true;
    }
    // Others should have a turn now: it has had its share, and more is left.
    bool has_had_share() const { return had_ >= share_ && Hardware::load_relaxed(loop_->taken) < chunks_; }
    void has_had_turn() { had_ = 0; }
    OnDemandLoop* loop() const { return loop_; } // the latest; null: there was none

private:
    OnDemandLoop* loop_;
    uint64_t n_, chunk_, chunks_, share_, had_;
    unsigned fraction_; // guided: of what is left each time; else 0
};

} // namespace ws::openmp
