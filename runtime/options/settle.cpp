// SPDX-License-Identifier: MIT
//
// Other spellings of variables, translated when libws is loaded: before its other constructors, which read some.
#include "options/options.h"

namespace ws::option {

namespace {

std::vector<std::string>* notes; // never destroyed; null: not settled yet

__attribute__((constructor(101))) void settle() { notes = new std::vector<std::string>(settle_names(spellings())); }

} // namespace

const std::vector<std::string>& notes_on_names()
{
    if (!notes)
        settle();
    return *notes;
}

} // namespace ws::option
