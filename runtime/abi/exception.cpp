// SPDX-License-Identifier: MIT
//
// An exception that leaves an iteration ends the program by std::terminate, as in OpenMP: the outlined loop is code
// that must not throw. So does the end of its thread (pthread_exit, pthread_cancel), which unwinds the stack too. What
// is here says in which loop. In programs without the C++ library there is nothing to do: see loop/left.cpp.
#include "abi/abi.h"
#include "loop/participant.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace ws::abi {

using loop::self;

namespace {

using Handler = void (*)();
Handler next_handler;
void* (*type_of_exception)(); // null: there is none, or nobody knows

void name_the_loop()
{
    const bool thrown = !type_of_exception || type_of_exception();
    if (ws_group_depth && thrown) { // its name is not known: it may have been a call
        constexpr char text[] =
            "workshare: error: an exception left a ws task, or a loop in one; catch it inside the task\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
            abort();
    } else if (self.in_region || self.site) {
        char text[512];
        int length = std::snprintf(text, sizeof text, "workshare: error: %s an iteration of the ws loop%s%s; %s\n",
                                   thrown ? "an exception left" : "std::terminate was called in", self.site ? " " : "",
                                   self.site ? self.site->where : "",
                                   thrown ? "catch it inside the iteration"
                                          : "pthread_exit and pthread_cancel in an iteration do that, too");
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
    void* type = dlsym(RTLD_DEFAULT, "__cxa_current_exception_type");
    std::memcpy(&type_of_exception, &type, sizeof type);
    next_handler = set_terminate(name_the_loop);
}

} // namespace

} // namespace ws::abi
