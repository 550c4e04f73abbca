// SPDX-License-Identifier: MIT
#include "openmp/library/next.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>

namespace ws::openmp {

void* next_of_all(const char* name, const char* version)
{
    void* found = version ? dlvsym(RTLD_NEXT, name, version) : nullptr;
    return found ? found : dlsym(RTLD_NEXT, name);
}

void* loaded_library()
{
    // One that came with a module of local scope is found by its name alone.
    for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"})
        if (void* const library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
            dlclose(library); // it stays as long as what brought it
            return library;
        }
    return nullptr;
}

void* next_of_library(void* caller, const char* name)
{
    Dl_info in;
    void* library = caller && dladdr(caller, &in) ? dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    void* found = library ? dlsym(library, name) : nullptr;
    if (library)
        dlclose(library); // the caller keeps it
    // The caller may have jumped to the function: then the place that it returns to is somebody else's.
    if (!found && (library = loaded_library()))
        found = dlsym(library, name);
    return found;
}

void no_next(const char* name)
{
    std::fprintf(stderr, "workshare: error: '%s' is called, but no OpenMP library has it\n", name);
    std::abort();
}

} // namespace ws::openmp
