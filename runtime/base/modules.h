// SPDX-License-Identifier: MIT
//
// Modules: parts of libws that need libraries which not every machine has. They lie in lib/workshare, and are loaded
// when they are first needed.
#pragma once

#include <dlfcn.h>
#include <string>
#include <unistd.h>

namespace ws::base {

// Where the module of this name is, or would be. libws lies in lib, and that for another MPI in lib/workshare/FAMILY.
// Empty: libws does not know where it was loaded from.
inline std::string module_path(const std::string& file)
{
    Dl_info own;
    if (!dladdr(reinterpret_cast<const void*>(module_path), &own) || !own.dli_fname)
        return "";
    const std::string library = own.dli_fname, folder = library.substr(0, library.rfind('/') + 1);
    const std::string below = folder + "workshare/" + file, beside = folder + "../" + file;
    return access(below.c_str(), F_OK) != 0 && access(beside.c_str(), F_OK) == 0 ? beside : below;
}

// Null: the module was not built, or a library that it needs is missing.
inline void* function_of_module(const char* file, const char* name)
{
    const std::string path = module_path(file);
    void* const module = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    return module ? dlsym(module, name) : nullptr;
}

} // namespace ws::base
