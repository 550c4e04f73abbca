// SPDX-License-Identifier: MIT
#include "openmp/library/names.h"

#include "abi/abi.h"
#include "base/modules.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace ws::openmp {

namespace {

using NameCode = int (*)(const void* code, char* text, size_t room); // debug_names.cpp

// `code`: an instruction; `shown`: its address in the message if nothing is known of it.
const char* name_of(const void* code, const void* shown)
{
    static const auto read = reinterpret_cast<NameCode>(base::function_of_module("names.so", "ws_name_code"));
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
