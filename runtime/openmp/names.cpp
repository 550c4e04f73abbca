// SPDX-License-Identifier: MIT
#include "openmp/names.h"

#include "directive/abi.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string>

namespace ws::openmp {

namespace {

using NameCode = int (*)(const void* code, char* text, size_t room); // debug_names.cpp

NameCode load_reader()
{
    Dl_info own;
    if (!dladdr(reinterpret_cast<const void*>(load_reader), &own) || !own.dli_fname)
        return nullptr;
    std::string path = own.dli_fname;
    path = path.substr(0, path.rfind('/') + 1) + "workshare/names.so";
    void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    return module ? reinterpret_cast<NameCode>(dlsym(module, "ws_name_code")) : nullptr;
}

// `code`: an instruction; `shown`: what is told of it where nothing is known.
const char* name_of(const void* code, const void* shown)
{
    static const NameCode read = load_reader();
    Dl_info in = {};
    char text[WS_NAME_MAX + 1] = "a parallel region";
    if (!(read && read(code, text, sizeof text)) && dladdr(shown, &in) && in.dli_fname) {
        const char* slash = std::strrchr(in.dli_fname, '/');
        if (in.dli_sname && in.dli_saddr == shown)
            std::snprintf(text, sizeof text, "%s", in.dli_sname);
        else
            std::snprintf(text, sizeof text, "%.150s+0x%zx", slash ? slash + 1 : in.dli_fname,
                          size_t(uintptr_t(shown) - uintptr_t(in.dli_fbase)));
    }
    const char* const copy = strdup(text);
    return copy ? copy : "a parallel region";
}

} // namespace

const char* name_of_function(const void* function) { return name_of(function, function); }

const char* name_of_call(const void* caller) { return name_of(static_cast<const char*>(caller) - 1, caller); }

} // namespace ws::openmp
