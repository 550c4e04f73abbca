// SPDX-License-Identifier: MIT
//
// Runs a few short programs ("actors") under every interleaving of their atomic operations: an Atomics class for
// BasicDescriptor (base/atomics.h) whose operations are scheduled, and the search over schedules.
//
//   Memory model: x86's (TSO). Each actor has a store buffer: a store becomes visible to others at a later step of the
//   scheduler's choice, in order; a compare-and-swap or fetch-and-add drains the actor's own buffer first. So missing
//   "full" operations are found, while the weaker orders of other machines are not explored.
//
//   Search: depth first; it goes back to a state by restoring a copy of the world, of the actors and of what they use
//   of their stacks. A state that was seen before is not explored again. A state is a 64-bit hash of memory, of the
//   store buffers, of what each actor has read so far (its local state is a function of that) and of what the checker
//   recorded.
#pragma once

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <ucontext.h>
#include <unordered_set>
#include <vector>

namespace explore {

using Word = uint64_t;

class Explorer {
public:
    // One run's world: actors, and what a check needs. The search copies it and later goes on from the copy, so an
    // actor must own no memory: what lies on its stack is restored byte by byte, or thrown away without a destructor.
    struct World {
        virtual ~World() = default;
        virtual std::vector<std::function<void()>> actors() = 0;
        virtual uint64_t hash() const = 0; // memory that actors share outside the Atomics: the checker's records
        virtual void at_end() {}           // every actor is done
        // The shared words. An operation on any other word does not count as a step, as no other actor looks at that
        // word.
        std::vector<volatile Word*> memory;
    };

    struct Result {
        std::string violation; // empty: none
        uint64_t runs = 0, states = 0;
        bool complete = false; // every interleaving was covered
    };

    template <class W>
    static Result run(uint64_t most_states = 20000000)
    {
        Explorer e;
        return e.search<W>(most_states);
    }

    // ---- for actors and Atomics

    static Explorer& current() { return *current_; }
    void fail(const std::string& what)
    {
        if (violation_.empty())
            violation_ = what;
    }
    // Blocks the calling actor until `ready`, which looks at memory without being scheduled.
    void wait(std::function<bool()> ready)
    {
        Actor& a = *running_;
        a.ready = std::move(ready);
        yield();
        a.ready = nullptr;
    }
    // Runs `f` as a single step.
    template <class F>
    void at_once(F&& f)
    {
        yield();
        while (!running_->buffer.empty())
            drain_one(*running_);
        direct_ = true;
        f();
        direct_ = false;
    }
    [[gnu::noinline]] void yield()
    {
        if (direct_)
            return;
        running_->top = static_cast<char*>(__builtin_frame_address(0)) - own_frame;
        if (_setjmp(running_->here) == 0)
            _longjmp(scheduler_, 1);
    }

    Word load(const volatile Word& w)
    {
        if (!shared(w))
            return w;
        yield();
        Word v = w;
        if (!direct_) {
            for (const Store& s : running_->buffer)
                if (s.to == &w)
                    v = s.value;
            remember(v);
        }
        return v;
    }
    void store(volatile Word& w, Word v)
    {
        if (!shared(w)) {
            w = v;
            return;
        }
        yield();
        if (direct_)
            w = v;
        else
            running_->buffer.push_back({&w, v});
    }
    template <class F>
    Word modify(volatile Word& w, F&& f) // read-modify-write as one step
    {
        yield();
        if (!direct_)
            while (!running_->buffer.empty())
                drain_one(*running_);
        Word old = w;
        w = f(old);
        if (!direct_)
            remember(old);
        return old;
    }

private:
    struct Store {
        volatile Word* to;
        Word value;
    };
    struct Actor {
        ucontext_t first;  // where it begins
        std::jmp_buf here; // where it continues: swapcontext would cost two system calls a step
        bool begun = false;
        std::vector<char> stack = std::vector<char>(64 * 1024);
        char* top = nullptr; // what is below this on its stack is not in use
        std::function<void()> body;
        std::function<bool()> ready; // waiting: until this
        std::vector<Store> buffer;
        uint64_t read = 0; // hash of all that it has read
        bool done = false;
    };
    static constexpr size_t own_frame = 512; // more than yield() and setjmp() have below yield()'s frame address

    // A state to go back to, and what is possible there.
    template <class W>
    struct Choice {
        struct Actor {
            std::jmp_buf here;
            bool begun, done;
            char* top;
            std::vector<char> used;
            std::function<bool()> ready;
            std::vector<Store> buffer;
            uint64_t read;
        };
        W world;
        std::vector<Actor> actors;
        std::vector<unsigned> possible;
        size_t taken; // the first that has not been tried
    };

    static uint64_t mix(uint64_t h, uint64_t v)
    {
        h ^= v + 0x9E3779B97F4A7C15ull + (h << 6) + (h >> 2);
        h *= 0xFF51AFD7ED558CCDull;
        return h ^ h >> 32;
    }
    bool shared(const volatile Word& w) const
    {
        const auto& m = world_->memory;
        return std::find(m.begin(), m.end(), &w) != m.end();
    }
    void remember(uint64_t v) { running_->read = mix(running_->read + 1, v); }
    static void drain_one(Actor& a)
    {
        *a.buffer.front().to = a.buffer.front().value;
        a.buffer.erase(a.buffer.begin());
    }
    static void enter()
    {
        Explorer& e = *current_;
        Actor& a = *e.running_;
        a.body();
        a.done = true;
        _longjmp(e.scheduler_, 1);
    }

    // Steps that are possible now: actor k runs (k), or its oldest store becomes visible (actors + k).
    void steps(std::vector<unsigned>& s)
    {
        s.clear();
        unsigned n = unsigned(actors_.size());
        direct_ = true; // `ready` only looks
        for (unsigned k = 0; k < n; k++) {
            Actor& a = *actors_[k];
            if (!a.done && (!a.ready || (a.buffer.empty() && a.ready())))
                s.push_back(k);
            if (!a.buffer.empty())
                s.push_back(n + k);
        }
        direct_ = false;
    }
    void take(unsigned step)
    {
        unsigned n = unsigned(actors_.size());
        if (step >= n)
            return drain_one(*actors_[step - n]);
        running_ = actors_[step].get();
        running_->read = mix(running_->read, 1); // its position
        if (_setjmp(scheduler_) != 0)
            return;
        if (running_->begun)
            _longjmp(running_->here, 1);
        running_->begun = true;
        setcontext(&running_->first);
    }
    uint64_t state(const World& world) const
    {
        uint64_t h = world.hash();
        for (volatile Word* w : world.memory)
            h = mix(h, *w);
        for (auto& a : actors_) {
            h = mix(h, a->read);
            for (const Store& s : a->buffer)
                for (size_t k = 0; k < world.memory.size(); k++)
                    if (world.memory[k] == s.to)
                        h = mix(mix(h, k), s.value);
            h = mix(h, a->buffer.size() * 2 + a->done);
        }
        return h;
    }
    void start(World& world)
    {
        std::vector<std::function<void()>> bodies = world.actors();
        actors_.resize(bodies.size());
        for (size_t k = 0; k < bodies.size(); k++) {
            if (!actors_[k])
                actors_[k].reset(new Actor);
            Actor& a = *actors_[k];
            a.body = std::move(bodies[k]);
            a.ready = nullptr;
            a.buffer.clear();
            a.read = 0;
            a.done = a.begun = false;
            getcontext(&a.first);
            a.first.uc_stack.ss_sp = a.stack.data();
            a.first.uc_stack.ss_size = a.stack.size();
            a.first.uc_link = nullptr;
            makecontext(&a.first, enter, 0);
        }
    }

    template <class W>
    void save(Choice<W>& to, const W& world) const
    {
        to.world = world;
        to.actors.resize(actors_.size());
        for (size_t k = 0; k < actors_.size(); k++) {
            const Actor& a = *actors_[k];
            auto& s = to.actors[k];
            std::memcpy(s.here, a.here, sizeof a.here);
            s.begun = a.begun, s.done = a.done, s.top = a.top, s.read = a.read, s.ready = a.ready, s.buffer = a.buffer;
            if (a.begun && !a.done)
                s.used.assign(a.top, const_cast<char*>(a.stack.data()) + a.stack.size());
        }
    }
    template <class W>
    void go_back(const Choice<W>& to, W& world)
    {
        world = to.world;
        for (size_t k = 0; k < actors_.size(); k++) {
            Actor& a = *actors_[k];
            const auto& s = to.actors[k];
            std::memcpy(a.here, s.here, sizeof a.here);
            a.begun = s.begun, a.done = s.done, a.top = s.top, a.read = s.read, a.ready = s.ready, a.buffer = s.buffer;
            if (s.begun && !s.done)
                std::memcpy(s.top, s.used.data(), s.used.size());
        }
    }

    template <class W>
    Result search(uint64_t most_states)
    {
        Result result;
        std::unordered_set<uint64_t> seen;
        std::vector<std::unique_ptr<Choice<W>>> path, spare; // spare: for the memory that they own
        W world;
        current_ = this;
        world_ = &world;
        start(world);
        std::vector<unsigned> possible;
        for (;;) {
            result.runs++;
            for (;;) {
                steps(possible);
                if (possible.empty()) {
                    bool all_done = true;
                    for (auto& a : actors_)
                        all_done &= a->done;
                    if (!all_done)
                        fail("actors wait for ever");
                    else {
                        direct_ = true;
                        world.at_end();
                        direct_ = false;
                    }
                    break;
                }
                if (!seen.insert(state(world)).second)
                    break;
                if (possible.size() > 1) {
                    if (spare.empty())
                        spare.emplace_back(new Choice<W>);
                    path.push_back(std::move(spare.back()));
                    spare.pop_back();
                    save(*path.back(), world);
                    path.back()->possible = possible;
                    path.back()->taken = 1;
                }
                take(possible[0]);
                if (!violation_.empty())
                    break;
            }
            // Go on from the last state in which something has not been tried yet.
            bool on = false;
            while (violation_.empty() && !on && !path.empty()) {
                Choice<W>& last = *path.back();
                if (last.taken == last.possible.size()) {
                    spare.push_back(std::move(path.back()));
                    path.pop_back();
                    continue;
                }
                go_back(last, world);
                take(last.possible[last.taken++]);
                on = true;
            }
            result.states = seen.size();
            result.violation = violation_;
            result.complete = violation_.empty() && !on;
            if (!violation_.empty() || !on || seen.size() > most_states)
                return result;
        }
    }

    inline static Explorer* current_ = nullptr;
    std::vector<std::unique_ptr<Actor>> actors_;
    Actor* running_ = nullptr;
    World* world_ = nullptr;
    std::jmp_buf scheduler_;
    bool direct_ = false; // operations act at once, unscheduled
    std::string violation_;
};

// The Atomics that BasicDescriptor is instantiated with.
struct Scheduled {
    using Word = explore::Word;
    static Explorer& e() { return Explorer::current(); }

    static Word load_relaxed(const volatile Word& w) { return e().load(w); }
    static Word load_acquire(const volatile Word& w) { return e().load(w); }
    static void store_relaxed(volatile Word& w, Word v) { e().store(w, v); }
    static void store_release(volatile Word& w, Word v) { e().store(w, v); }
    static bool cas_full(volatile Word& w, Word expected, Word desired)
    {
        return e().modify(w, [&](Word old) { return old == expected ? desired : old; }) == expected;
    }
    static Word fetch_add_full(volatile Word& w, Word v)
    {
        return e().modify(w, [&](Word old) { return old + v; });
    }
};

// Wrong on purpose: compares and stores in two steps.
struct TornCas : Scheduled {
    static bool cas_full(volatile Word& w, Word expected, Word desired)
    {
        if (e().load(w) != expected)
            return false;
        e().store(w, desired);
        return true;
    }
};

// Wrong on purpose: the guest's leaving is a plain store.
struct TornLeave : Scheduled {
    static Word fetch_add_full(volatile Word& w, Word v)
    {
        Word old = e().load(w);
        e().store(w, old + v);
        return old;
    }
};

} // namespace explore
