// SPDX-License-Identifier: MIT
#include "lend/chooser.h"

#include "loop/chaos.h"

namespace ws {

void Chooser::start(Window& window, unsigned core, VictimPolicy policy, bool help_own)
{
    window_ = &window;
    core_ = core;
    me_ = window.core(core).home;
    policy_ = policy;
    help_own_ = help_own;
    random_ = core + 1;
    distances_.resize(window.ranks());
    for (unsigned r = 0; r < window.ranks(); r++)
        distances_[r] = static_cast<unsigned char>(distance(window.core(core).place, window.core(r).place));
}

uint64_t Chooser::random()
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
}

// More is better.
double Chooser::score(const Target& t) const
{
    // What a cache line costs grows with the distance; what a chunk costs grows less, as most of it is computing.
    static constexpr double nearness[] = {1.25, 1.25, 1.2, 1.1, 1.05, 1};
    constexpr double far_above = 1e15; // any amount of work, in ticks
    const double work = double(t.look.remaining) * double(t.look.unit_ticks + 1);
    switch (policy_) {
    case VictimPolicy::most: return work;
    case VictimPolicy::fewest: return work + far_above * (Descriptor::max_joiners - t.look.joiners);
    case VictimPolicy::nearest: return work + far_above * (6 - distances_[t.rank]);
    default: return work / (t.look.joiners + 2) * nearness[distances_[t.rank]];
    }
}

Target Chooser::choose(Hungry hunger, bool direct, uint64_t least)
{
    Window& w = *window_;
    const unsigned ranks = w.ranks();
    const bool any = policy_ == VictimPolicy::random || chaos;
    Target best;
    why_none_ = Refusal::nothing_shared;
    double most = 0;
    unsigned found = 0;
    // Each thief begins elsewhere: equally good regions get their helpers evenly.
    for (unsigned k = 0, r = me_; k < ranks; k++, r = r + 1 < ranks ? r + 1 : 0) {
        const bool own = r == me_;
        if (own && !help_own_)
            continue;
        const Flag open = Hardware::load_relaxed(w.open(r)); // a hint; the descriptor decides
        if (!(own && direct)) {
            GuestSlot& slot = w.guest(r, core_);
            const Flag state = Hardware::load_acquire(slot.state); // ready: the guest listens. Pairs with guest_main()
            if (state == guest_refused || state == guest_away) {
                if (open)
                    why_none_ = state == guest_away ? Refusal::no_guest : Refusal::barred;
                continue;
            }
            if (state == guest_none) {
                Hardware::store_relaxed(slot.state, guest_wanted);
                Hardware::store_release(w.row(r).hunger.wanted, 1); // the owner scans its slots after it has read this
            }
            if (state != guest_ready || !open) {
                if (open)
                    why_none_ = Refusal::no_guest;
                if (Hardware::load_relaxed(w.row(r).hunger.hungry) < hunger)
                    Hardware::store_release(w.row(r).hunger.hungry, hunger); // after wanted
                continue;
            }
        } else if (!open) {
            if (Hardware::load_relaxed(w.row(r).hunger.hungry) < hunger)
                Hardware::store_release(w.row(r).hunger.hungry, hunger);
            continue;
        }
        for (Flag rest = open; rest; rest &= rest - 1) {
            Target t = {r, unsigned(__builtin_ctz(rest)), {}};
            t.look = w.row(r).loops[t.slot].look();
            if (!t.look.remaining) {
                why_none_ = Refusal::too_little;
                continue;
            }
            if (own && direct) // a worker: nothing is nearer
                return t;
            if (t.look.unit_ticks && t.look.remaining * t.look.unit_ticks < least) {
                why_none_ = Refusal::too_little;
                continue;
            }
            if (any ? random() % ++found == 0 : score(t) > most) {
                most = any ? 0 : score(t);
                best = t;
            }
        }
    }
    return best;
}

} // namespace ws
