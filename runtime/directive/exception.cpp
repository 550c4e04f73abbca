// SPDX-License-Identifier: MIT
//
// An exception that leaves an iteration ends the program by std::terminate, as in OpenMP: the outlined loop is code
// that must not throw. Here it says in which loop. In programs without the C++ library nothing is to do.
#include "loop/participant.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace ws {

namespace {

using Handler = void (*)();
Handler next_handler;

void name_the_loop()
{
    if (self.in_region || self.site) {
        char text[512];
        int length = std::snprintf(text, sizeof text,
                                   "workshare: an exception left an iteration of the ws loop%s%s; it must be caught inside\n",
                                   self.site ? " " : "", self.site ? self.site->where : "");
        if (write(STDERR_FILENO, text, length < int(sizeof text) ? size_t(length) : sizeof text - 1) < 0)
            abort();
    }
    if (next_handler)
        next_handler();
    abort();
}

// The program's C++ library, not the parts of one that are in libws.
__attribute__((constructor)) void take_over_terminate()
{
    void* found = dlsym(RTLD_DEFAULT, "_ZSt13set_terminatePFvvE");
    if (!found)
        return;
    Handler (*set_terminate)(Handler);
    std::memcpy(&set_terminate, &found, sizeof found);
    next_handler = set_terminate(name_the_loop);
}

} // namespace

} // namespace ws
