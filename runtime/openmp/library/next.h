// SPDX-License-Identifier: MIT
//
// The function of the program's OpenMP library that one of ours, of the same name, stands before: as the program's own
// call would have found it.
//
// Most often it is among the libraries that the program was linked with, for all to see. Else a library brought it,
// perhaps under a name of its own, for its own use, and another one brought another: the caller's is meant.
#pragma once

#include "base/atomics.h"
#include "base/os.h"

namespace ws::openmp {

// Among all, after libws, of that version if there is such a one; null: there is none.
void* next_of_all(const char* name, const char* version);
// That of a library which the caller's brought, or of an OpenMP library that is loaded at all; null: there is none.
void* next_of_library(void* caller, const char* name);
// dlopen()'s handle of an OpenMP library that is loaded, in whatever scope; null: there is none.
void* loaded_library();
[[noreturn]] void no_next(const char* name);

// One for each function, a static of it. Any thread. Costs a load once it was found among all.
template <class Function> class Next {
public:
    constexpr explicit Next(const char* name, const char* version = nullptr) : name_(name), version_(version) {}

    // Null: not there for all to see.
    Function* of_all()
    {
        void* f = base::load_relaxed(found_); // relaxed: there is nothing behind it
        if (WS_LIKELY(f != nullptr))
            return reinterpret_cast<Function*>(f);
        if ((f = next_of_all(name_, version_)))
            base::store_relaxed(found_, f);
        return reinterpret_cast<Function*>(f);
    }
    // `caller`: where in the program. Null if it has none at all.
    Function* find(void* caller)
    {
        Function* const f = of_all();
        return WS_LIKELY(f != nullptr) ? f : reinterpret_cast<Function*>(next_of_library(caller, name_));
    }
    // Ends the process if there is none: the caller wants it to go on.
    Function* operator()(void* caller)
    {
        Function* const f = find(caller);
        if (WS_UNLIKELY(f == nullptr))
            no_next(name_);
        return f;
    }

private:
    const char *const name_, *const version_;
    void* found_ = nullptr; // a constant from the first call on that found it
};

} // namespace ws::openmp
