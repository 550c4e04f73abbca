// SPDX-License-Identifier: MIT
#include "openmp/unit.h"

#include "directive/openmp_threads.h"
#include "loop/participant.h"
#include "openmp/identity.h"

namespace ws::openmp {

using loop::Participant;
using loop::self;

__thread Unit* current __attribute__((tls_model("initial-exec")));

void be(Unit& unit)
{
    current = &unit;
    directive::thread_settings = &unit.settings;
    Participant& p = self;
    p.number = unit.units.lo;
    p.numbers = unit.units.of;
    p.level = directive::openmp_level();
    p.depth = unit.settings.depth;
}

Current::Current(Unit* unit)
    : was_(current), settings_(directive::thread_settings), number_(self.number), numbers_(self.numbers),
      level_(self.level), depth_(self.depth),
      in_region_(self.in_region)
{
    if (unit) {
        be(*unit);
        self.in_region = true; // loops of ours in its body are its own
    } else {
        current = nullptr;
        directive::thread_settings = nullptr;
        self.numbers = 0;
    }
}
Current::~Current()
{
    current = was_;
    directive::thread_settings = settings_;
    Participant& p = self;
    p.number = number_;
    p.numbers = numbers_;
    p.level = level_;
    p.depth = depth_;
    p.in_region = in_region_;
}

AsCarrier::AsCarrier() : borrowed_(0)
{
    const Unit* const unit = current;
    if (WS_LIKELY(!unit) || !unit->carrier)
        return;
    const uintptr_t own = thread_pointer();
    if (unit->carrier_pointer != own) {
        borrowed_ = own;
        set_thread_pointer(unit->carrier_pointer);
    }
}
AsCarrier::~AsCarrier()
{
    if (WS_UNLIKELY(borrowed_ != 0))
        set_thread_pointer(borrowed_);
}

} // namespace ws::openmp
