// SPDX-License-Identifier: MIT
#include "lend/chooser.h"

#include "loop/chaos.h"

#include <algorithm>

namespace ws::lend {

using observe::Refusal;
using base::Flag;
using base::Hardware;
using window::Window;
using window::guest_away;

void Chooser::start(Window& window, unsigned core, Score score, bool help_own)
{
    window_ = &window;
    core_ = core;
    me_ = window.home(core).rank;
    score_ = score;
    help_own_ = help_own;
    random_ = core + 1;
    distances_.resize(window.ranks());
    for (unsigned r = 0; r < window.ranks(); r++)
        distances_[r] = static_cast<unsigned char>(window::distance(window.home(core).place, window.home(r).place));
}

uint64_t Chooser::random()
{
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
}

Target Chooser::choose(window::Hungry hunger, bool direct, uint64_t least)
{
    Window& w = *window_;
    const unsigned ranks = w.ranks();
    Target best;
    why_none_ = Refusal::nothing_shared;
    little_left_ = unknown;
    if (WS_UNLIKELY(!score_)) // nobody is helped, and nobody is told that somebody waits
        return best;
    double most = 0;
    // Each thief begins its look at another rank, so that equally good regions get equally many helpers.
    for (unsigned k = 0, r = me_; k < ranks; k++, r = r + 1 < ranks ? r + 1 : 0) {
        const bool own = r == me_;
        if (own && !help_own_)
            continue;
        const Flag open = w.open_slots(r);
        if (!(own && direct)) {
            window::GuestSlot& slot = w.guest(r, core_);
            // ready: the guest listens. Pairs with Guests::live()
            const Flag state = Hardware::load_acquire(slot.state);
            if (state == window::guest_refused || state == guest_away) {
                if (open)
                    why_none_ = state == guest_away ? Refusal::no_guest : Refusal::barred;
                continue;
            }
            if (state == window::guest_none) {
                Hardware::store_relaxed(slot.state, window::guest_wanted);
                Hardware::store_release(w.row(r).hunger.wanted, 1); // the owner scans its slots after it has read this
            }
            if (state != window::guest_ready || !open) {
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
            if (t.look.full) {
                why_none_ = Refusal::full;
                continue;
            }
            if (own && direct) // a worker: nothing is nearer
                return t;
            const uint64_t left = t.look.remaining * t.look.unit_ticks; // 0: it is not known
            if (left && left < least) {
                why_none_ = Refusal::too_little;
                little_left_ = std::min(little_left_, left / (t.look.joiners + 1));
                continue;
            }
            const Candidate c = {double(t.look.remaining) * double(t.look.unit_ticks + 1), t.look.joiners,
                                 distances_[r], random()};
            const double score = loop::chaos ? double(c.random >> 1) + 1 : score_(c);
            if (score > most) {
                most = score;
                best = t;
            }
        }
    }
    return best;
}

} // namespace ws::lend
