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
//
// Where chunks are few, and later ones have been seen to take longer, the virtual threads that have a share take them
// from the end, if the program does not mind: else the longest would be left when others have nothing to do any more.
// The last ones to come keep the library's order. If they are needed, as all others wait, the watchdog gives each a
// thread: then what OpenMP's threads would take is taken as in OpenMP, and chunks besides, whose iterations wait on
// threads that OpenMP does not have.
#pragma once

#include "directive/openmp.h"
#include "openmp/deal.h"
#include "window/atomics.h"
#include "window/os.h"
#include "window/spin_lock.h"

#include <cstdint>
#include <memory>

namespace ws::openmp {

using window::Flag;
using window::Hardware;

// What the loops of a region have shown: how much longer a chunk of the second half takes than one of the first.
struct Slopes {
    static constexpr unsigned loops = 8; // the first ones of the region
    // It is measured in the first executions, then in one of so many.
    static constexpr unsigned first_measured = 4, measure_every = 8;
    volatile double of[loops]; // 0: not known
    volatile Flag executions;
};

// One execution of such a loop by a team.
struct OnDemandLoop {
    explicit OnDemandLoop(unsigned parts) : taken(new Hardware::Word[parts]()) {}
    // Chunks, of each part; or of the first, which is all. With two ends those from the end above, at end_one each.
    const std::unique_ptr<volatile Hardware::Word[]> taken;
    static constexpr Hardware::Word end_one = Hardware::Word(1) << 32, begin_mask = end_one - 1;
    volatile Hardware::Word arrived = 0, passed = 0; // virtual threads that have come to it; that need it no more
    unsigned number = 0;                             // it is the region's n-th
    struct Half {
        volatile Hardware::Word chunks = 0, ticks = 0; // measured
    } half[2];
    OnDemandLoop* volatile next = nullptr;           // which follows it
    OnDemandLoop *older = nullptr, *free = nullptr;  // lists of OnDemandLoops'
};

// All of a region's. Each virtual thread comes to the same ones in the same order; it may do so late.
class OnDemandLoops {
public:
    // Of `units` virtual threads; as many parts as may wait for each other. `slopes` null: chunks come in the library's
    // order.
    OnDemandLoops(unsigned units, unsigned parts, Slopes* slopes = nullptr)
        : units_(units), parts_(parts), slopes_(slopes), measures_(slopes && is_measured(*slopes))
    {
    }
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
            made->number = before ? before->number + 1 : 0;
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
        if (Hardware::fetch_add_full(loop.passed, 1) + 1 != units_) // full: what others did with it comes before
            return;
        if (measures_ && loop.number < Slopes::loops)
            learn(loop);
        free(&loop);
    }

    // As measured before; 0: it is not known, or of no interest. Relaxed: of any time.
    double slope(const OnDemandLoop& loop) const
    {
        return slopes_ && loop.number < Slopes::loops ? window::load_relaxed(slopes_->of[loop.number]) : 0;
    }
    bool measures() const { return measures_; } // this execution

    // Is another number when a chunk was taken. Any thread, while this exists.
    uint64_t progress() const
    {
        const OnDemandLoop* const loop = window::load_relaxed(latest_);
        uint64_t taken = 0;
        for (unsigned i = 0; loop && i < parts_; i++) {
            const Hardware::Word word = Hardware::load_relaxed(loop->taken[i]);
            taken += (word & OnDemandLoop::begin_mask) + word / OnDemandLoop::end_one;
        }
        return taken;
    }

private:
    static bool is_measured(Slopes& slopes) // relaxed: one execution more or less is measured
    {
        const Flag n = Hardware::load_relaxed(slopes.executions);
        Hardware::store_relaxed(slopes.executions, n + 1);
        return n < Slopes::first_measured || n % Slopes::measure_every == 0;
    }
    void learn(const OnDemandLoop& loop)
    {
        double each[2];
        for (unsigned i = 0; i < 2; i++) {
            const auto chunks = double(Hardware::load_relaxed(loop.half[i].chunks));
            if (chunks == 0)
                return;
            each[i] = double(Hardware::load_relaxed(loop.half[i].ticks)) / chunks;
        }
        if (each[0] > 0)
            window::store_relaxed(slopes_->of[loop.number], each[1] / each[0]);
    }
    OnDemandLoop* make()
    {
        lock_.lock();
        OnDemandLoop* one = free_;
        if (one) {
            free_ = one->free;
            for (unsigned i = 0; i < parts_; i++)
                Hardware::store_relaxed(one->taken[i], 0); // relaxed, all: after() publishes it
            for (auto& half : one->half) {
                Hardware::store_relaxed(half.chunks, 0);
                Hardware::store_relaxed(half.ticks, 0);
            }
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
    Slopes* const slopes_;
    const bool measures_;
    OnDemandLoop* volatile first_ = nullptr;
    OnDemandLoop* volatile latest_ = nullptr;
    window::SpinLock lock_; // of the lists
    OnDemandLoop *free_ = nullptr, *newest_made_ = nullptr;
};

// A virtual thread's part in one.
class OnDemand {
public:
    // Of n iterations, in chunks of so many; as one of `units`, of which `at_once` may wait for each other. `slope`: of
    // the loop's chunks, for an order of our own; 0: the library's.
    void begin(OnDemandLoop& loop, uint64_t n, uint64_t chunk, directive::Deal deal, unsigned units, unsigned at_once,
               double slope = 0, bool measured = false)
    {
        loop_ = &loop;
        n_ = n;
        chunk_ = chunk ? chunk : 1;
        chunks_ = n / chunk_ + (n % chunk_ != 0);
        // The same for all. Of less than 4 for each of them `guided` takes one at a time, too.
        two_ends_ = chunks_ < 4 * units && chunks_ <= uint64_t(few) * at_once;
        fraction_ = is_guided(deal) && !two_ends_ ? 2 * units : 0;
        parts_ = deal == directive::Deal::own_part_first ? at_once : 1;
        tried_ = 1;
        const Hardware::Word before = Hardware::fetch_add_full(loop.arrived, 1); // relaxed would do: it counts
        const bool has_share = before + at_once < units, any_order = has_share && two_ends_ && !is_in_order(deal);
        from_end_ = any_order && slope > rises;
        const bool from_begin = any_order && slope > 0 && slope < falls;
        stand_at(from_end_ ? parts_ - 1 : from_begin || parts_ == 1 ? 0 : unsigned(before % parts_));
        share_ = has_share ? chunks_ / units + (chunks_ % units != 0) : ~uint64_t(0);
        measured_ = measured && two_ends_;
        began_ = 0;
    }
    bool next(Part& piece) // false: it has no more
    {
        if (WS_UNLIKELY(began_ != 0))
            count_chunk();
        if (share_ == 0)
            return false;
        uint64_t first, count;
        while (!take(first, count)) {
            if (tried_ == parts_)
                return false;
            tried_++;
            if (from_end_)
                stand_at(part_ == 0 ? parts_ - 1 : part_ - 1);
            else
                stand_at(part_ + 1 == parts_ ? 0 : part_ + 1);
        }
        share_ -= std::min(count, share_);
        piece = {first * chunk_, first + count == chunks_ ? n_ : (first + count) * chunk_};
        if (WS_UNLIKELY(measured_)) {
            second_half_ = 2 * first >= chunks_;
            began_ = window::ticks();
        }
        return true;
    }
    OnDemandLoop* loop() const { return loop_; } // the latest; null: there was none

    // Chunks of the second half that take so much longer or shorter than the others are worth another order.
    static constexpr double rises = 1.1, falls = 0.9;
    // And where more than so many come for each of OpenMP's threads one of them is little beside the whole.
    static constexpr unsigned few = 64;

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
            const Hardware::Word before = Hardware::fetch_add_full(taken, from_end_ ? OnDemandLoop::end_one : 1);
            if (!two_ends_) {
                first = from_ + before;
                return before < length_;
            }
            // Each call counts here, taken or not, so that of both ends together `length_` succeed, and never the same.
            const uint64_t begin = before & OnDemandLoop::begin_mask, end = before / OnDemandLoop::end_one;
            first = from_ + (from_end_ ? length_ - 1 - end : begin);
            return begin + end < length_;
        }
        do { // one part
            first = Hardware::load_relaxed(taken);
            if (first >= chunks_)
                return false;
            count = std::max<uint64_t>(1, (chunks_ - first) / fraction_);
        } while (!Hardware::cas_full(taken, first, first + count));
        return true;
    }
    void count_chunk() // relaxed would do: pass() orders it
    {
        Hardware::fetch_add_full(loop_->half[second_half_].ticks, window::ticks() - began_);
        Hardware::fetch_add_full(loop_->half[second_half_].chunks, 1);
        began_ = 0;
    }

    OnDemandLoop* loop_;
    uint64_t n_, chunk_, chunks_, share_;
    unsigned fraction_;             // guided: of what is left each time; else 0
    unsigned parts_, part_, tried_; // of so many its present one; how many it has come to
    uint64_t from_, length_;        // its present part's chunks
    bool two_ends_, from_end_;      // chunks may be taken from the end; it does so
    bool measured_, second_half_;   // its present chunk's
    uint64_t began_;                // ticks; 0: not measured
};

} // namespace ws::openmp
