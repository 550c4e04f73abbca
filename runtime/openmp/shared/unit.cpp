// SPDX-License-Identifier: MIT
#include "openmp/shared/unit.h"

#include "openmp/library/threads.h"
#include "loop/participant.h"
#include "openmp/shared/identity.h"

namespace ws::openmp {

using loop::self;

__thread Unit* current __attribute__((tls_model("initial-exec")));

void be(Unit& unit)
{
    current = &unit;
    thread_settings = &unit.settings;
    unit.settings.library_level = nesting_level();
}

Current::Current(Unit* unit)
    : was_(current), settings_(thread_settings), in_region_(self.in_region)
{
    if (unit) {
        be(*unit);
        self.in_region = true; // loops of ours in its body are its own
    } else {
        current = nullptr;
        thread_settings = nullptr;
    }
}
Current::~Current()
{
    current = was_;
    thread_settings = settings_;
    self.in_region = in_region_;
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
