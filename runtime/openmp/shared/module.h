// SPDX-License-Identifier: MIT
//
// Functions of modules that lie beside libws, in lib/workshare, loaded when they are first needed.
#pragma once

#include <dlfcn.h>
#include <string>

namespace ws::openmp {

// Null: the module was not built, or a library that it needs is missing.
inline void* function_of_module(const char* file, const char* name)
{
    Dl_info own;
    if (!dladdr(reinterpret_cast<const void*>(function_of_module), &own) || !own.dli_fname)
        return nullptr;
    const std::string path = own.dli_fname;
    void* const module =
        dlopen((path.substr(0, path.rfind('/') + 1) + "workshare/" + file).c_str(), RTLD_NOW | RTLD_LOCAL);
    return module ? dlsym(module, name) : nullptr;
}

} // namespace ws::openmp
