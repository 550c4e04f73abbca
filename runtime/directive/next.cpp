// SPDX-License-Identifier: MIT
#include "directive/next.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace ws::directive {

void* next_of_all(const char* name, const char* version)
{
    void* found = version ? dlvsym(RTLD_NEXT, name, version) : nullptr;
    return found ? found : dlsym(RTLD_NEXT, name);
}

void* next_of_library(void* caller, const char* name)
{
    Dl_info in;
    void* library = dladdr(caller, &in) ? dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    void* found = library ? dlsym(library, name) : nullptr;
    if (library)
        dlclose(library); // the caller keeps it
    return found;
}

void no_next(const char* name)
{
    std::fprintf(stderr, "workshare: '%s' is called, but there is no OpenMP library that has it\n", name);
    std::abort();
}

} // namespace ws::directive
