// SPDX-License-Identifier: MIT
#include "openmp/unit.h"

#include "loop/participant.h"
#include "openmp/code.h"
#include "openmp/meet.h"
#include "openmp/team.h"
#include "openmp/watch.h"

namespace ws::openmp {

using directive::Question;
using directive::openmp_asked;
using loop::Participant;
using loop::self;

__thread Unit* current __attribute__((tls_model("initial-exec")));

namespace {

// A question of the thread that `current` is about, before it is answered.
void asked(Question question, void* caller)
{
    Unit& unit = *current;
    if (question == Question::setting) {
        meet_other("it sets what its own regions have");
        return;
    }
    if (unit.watch) {
        unit.watch->note_question(question, caller);
        return;
    }
    VirtualTeam& team = *unit.team;
    Participant& p = self;
    if (team.units <= team.told || harmless_question(caller).is) {
        p.number = unit.units.lo;
        p.numbers = unit.units.of;
    } else {
        Watch::note_late(team.site, use::numbers); // from the next execution on no more than it may know of
        if (directive::openmp_unseen())
            give_up(team.site, "it asks for thread numbers");
        p.numbers = team.told;
        if (question != Question::threads)
            p.number = team.slot(unit);
    }
}

} // namespace

Current::Current(Unit* unit)
    : was_(current), asked_(openmp_asked), number_(self.number), numbers_(self.numbers), level_(self.level),
      depth_(self.depth)
{
    current = unit;
    openmp_asked = unit ? asked : nullptr;
    if (!unit || unit->watch)
        self.numbers = 0;
}
Current::~Current()
{
    current = was_;
    openmp_asked = asked_;
    Participant& p = self;
    p.number = number_;
    p.numbers = numbers_;
    p.level = level_;
    p.depth = depth_;
}

} // namespace ws::openmp
