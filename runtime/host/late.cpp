// SPDX-License-Identifier: MIT
//
// libws-late.so: what `workshare` loads first into a program that is linked with no MPI. It may be an interpreter,
// which loads its MPI library later, for itself alone; or a script that starts the program.
//
// Each function of MPI here jumps to that of the libws for the MPI library that the process has loaded by then. The
// first call finds out which one that is. Without such a libws they jump to the MPI library's own. The jump passes on
// the caller's registers and its return address, so it needs no prototypes, and libws sees where the call comes from.
//
// A program that is linked with MPI begins again with the libws for it, so that libws also stands before OpenMP.
#include "base/mpi_family.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <string>
#include <unistd.h>

// What calls jump to: at first code that has the function found, then the function.
#define FUNCTION(number, name) extern "C" __attribute__((visibility("hidden"))) const char ws_late_first_##name[];
#include "late_functions.h"
#undef FUNCTION
#define FUNCTION(number, name) ws_late_first_##name,
extern "C" {
__attribute__((used, visibility("hidden"))) const void* volatile ws_late_functions[] = {
#include "late_functions.h"
};
}
#undef FUNCTION

#if defined(__x86_64__)
#define FUNCTION(number, name)                                                                                         \
    asm(".text; .globl " #name "; .type " #name ", @function; " #name ": jmp *ws_late_functions + 8 * " #number        \
        "(%rip); .size " #name ", . - " #name "; .globl ws_late_first_" #name "; .hidden ws_late_first_" #name         \
        "; ws_late_first_" #name ": pushq $" #number "; jmp ws_late_first");
// All registers that may have arguments; MPI has none that are floating-point numbers.
asm(R"(.text
ws_late_first:
    pushq %rdi; pushq %rsi; pushq %rdx; pushq %rcx; pushq %r8; pushq %r9; pushq %rax; subq $8, %rsp
    movq 64(%rsp), %rdi
    movq 72(%rsp), %rsi
    call ws_late_find
    movq %rax, %r11
    addq $8, %rsp; popq %rax; popq %r9; popq %r8; popq %rcx; popq %rdx; popq %rsi; popq %rdi; addq $8, %rsp
    jmp *%r11
)");
#else
#define FUNCTION(number, name)                                                                                         \
    asm(".text; .globl " #name "; .type " #name ", %function; " #name ": adrp x16, ws_late_functions + 8 * " #number   \
        "; ldr x16, [x16, :lo12:ws_late_functions + 8 * " #number "]; br x16; .size " #name ", . - " #name             \
        "; .globl ws_late_first_" #name "; .hidden ws_late_first_" #name "; ws_late_first_" #name                      \
        ": mov x17, #" #number "; b ws_late_first");
asm(R"(.text
ws_late_first:
    stp x29, x30, [sp, #-96]!
    mov x29, sp
    stp x0, x1, [sp, #16]; stp x2, x3, [sp, #32]; stp x4, x5, [sp, #48]; stp x6, x7, [sp, #64]; str x8, [sp, #80]
    mov x0, x17
    mov x1, x30
    bl ws_late_find
    mov x16, x0
    ldp x0, x1, [sp, #16]; ldp x2, x3, [sp, #32]; ldp x4, x5, [sp, #48]; ldp x6, x7, [sp, #64]; ldr x8, [sp, #80]
    ldp x29, x30, [sp], #96
    br x16
)");
#endif
#include "late_functions.h"
#undef FUNCTION

namespace ws::host {

namespace {

constexpr const char* names[] = {
#define FUNCTION(number, name) #name,
#include "late_functions.h"
#undef FUNCTION
};

void note(const std::string& text)
{
    if (base::is_first_rank())
        std::fprintf(stderr, "workshare: note: %s; it runs without Workshare\n", text.c_str());
}

// The MPI libraries that this process has loaded.
struct Loaded {
    std::string file, soname;
    const char* family = nullptr; // null: none that is known
    bool has_two = false;         // another family's, too
};

// Null: it has none.
const char* soname_of(const dl_phdr_info& info)
{
    const char* names_of_it = nullptr;
    size_t place = 0;
    for (unsigned i = 0; i < info.dlpi_phnum; i++) {
        if (info.dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const auto* d = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++) {
            if (d->d_tag == DT_STRTAB && d->d_un.d_ptr >= info.dlpi_addr) // the vdso's is relative
                names_of_it = reinterpret_cast<const char*>(d->d_un.d_ptr);
            if (d->d_tag == DT_SONAME)
                place = d->d_un.d_val;
        }
    }
    return names_of_it && place ? names_of_it + place : nullptr;
}

Loaded find_loaded()
{
    Loaded loaded;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* to) {
            auto& all = *static_cast<Loaded*>(to);
            const char* const soname = soname_of(*info);
            const char* const family = soname ? base::family_of(soname) : nullptr;
            if (family && all.family)
                all.has_two |= std::strcmp(family, all.family) != 0;
            else if (family)
                all.file = info->dlpi_name, all.soname = soname, all.family = family;
            return 0;
        },
        &loaded);
    return loaded;
}

// The folder of this library, which has one for each family.
std::string folder()
{
    Dl_info self;
    const std::string file = dladdr(names, &self) ? self.dli_fname : "";
    return file.substr(0, file.rfind('/'));
}

// Returns the libws for a family; empty: there is none.
std::string libws_of(const char* family)
{
    const std::string file = folder() + "/" + family + "/libws.so.1";
    return access(file.c_str(), R_OK) == 0 ? file : "";
}

// Workshare's own MPICH loads libws by itself.
bool is_workshares_own(const Loaded& loaded)
{
    return access((loaded.file.substr(0, loaded.file.rfind('/')) + "/libws.so.1").c_str(), F_OK) == 0;
}

// Loads the libws for the MPI library that is loaded. Null: calls go to MPI itself, and rank 0 has printed why.
void* load()
{
    const Loaded loaded = find_loaded();
    const char* const launcher = base::family_of_launcher();
    if (!loaded.family) {
        note("the program calls an MPI library that Workshare does not know");
        return nullptr;
    }
    if (is_workshares_own(loaded))
        return nullptr;
    if (loaded.has_two) {
        note("the program has loaded two MPI libraries, one of them " + loaded.soname);
        return nullptr;
    }
    if (launcher && std::strcmp(loaded.family, "abi") != 0 && std::strcmp(launcher, loaded.family) != 0) {
        note(std::string("the launcher is from ") + launcher + ", but the program has loaded " + loaded.soname +
             " of " + loaded.family + ": each rank is a job of its own");
        return nullptr;
    }
    const std::string file = libws_of(loaded.family);
    if (file.empty()) {
        note(std::string("the program has loaded ") + loaded.soname + " of " + loaded.family +
             ", which this Workshare was not built for");
        return nullptr;
    }
    // Libws calls functions of MPI by their names, and so does ws_late_next(): the library is to be visible to all.
    dlopen(loaded.file.c_str(), RTLD_NOLOAD | RTLD_GLOBAL | RTLD_LAZY);
    void* const libws = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!libws)
        note(std::string("cannot load a library: ") + dlerror());
    return libws;
}

// What the code at `caller` would have found without us: a function of the libraries that it is linked with.
void* next_for(const void* caller, const char* name)
{
    if (void* const found = dlsym(RTLD_NEXT, name))
        return found;
    Dl_info from;
    void* const library = dladdr(caller, &from) ? dlopen(from.dli_fname, RTLD_NOLOAD | RTLD_LAZY) : nullptr;
    return library ? dlsym(library, name) : nullptr;
}

std::mutex lock; // of find()

const void* find(size_t number, const void* caller)
{
    const std::lock_guard<std::mutex> guard(lock);
    static void* const libws = load();
    void* found = libws ? dlsym(libws, names[number]) : nullptr;
    if (!found)
        found = next_for(caller, names[number]);
    if (!found) {
        std::fprintf(stderr, "workshare: error: the program calls %s, which its MPI library does not have\n",
                     names[number]);
        std::abort();
    }
    return ws_late_functions[number] = found; // the same, whichever thread finds it
}

// A program that a script has started, and that is linked with MPI: as `workshare` would have started it.
__attribute__((constructor)) void begin_again_with(int, char** argv, char**)
{
    const Loaded loaded = find_loaded();
    const char* const preloaded = std::getenv("LD_PRELOAD");
    if (!loaded.family || loaded.has_two || is_workshares_own(loaded) || !preloaded || libws_of(loaded.family).empty())
        return;
    constexpr char own_name[] = "libws-late.so";
    std::string all = preloaded;
    const size_t at = all.find(own_name);
    if (at == all.npos)
        return;
    all.replace(at, sizeof own_name - 1, std::string(loaded.family) + "/libws.so.1");
    if (at == 0 || all[at - 1] != '/') { // by its name alone, in a folder with a blank, the first of LD_LIBRARY_PATH
        all.erase(at, std::strlen(loaded.family) + 1);
        const char* const folders = std::getenv("LD_LIBRARY_PATH");
        std::string paths = folders ? folders : "";
        paths.insert(std::min(paths.find(':'), paths.size()), std::string("/") + loaded.family);
        setenv("LD_LIBRARY_PATH", paths.c_str(), 1);
    }
    setenv("LD_PRELOAD", all.c_str(), 1);
    char self[PATH_MAX] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) > 0)
        execv(self, argv);
}

} // namespace

// The function of this name in the libraries behind this one: of a tool, or of MPI. Libws asks, which is visible to
// nobody and sees nothing behind itself.
extern "C" __attribute__((visibility("default"))) void* ws_late_next(const char* name)
{
    return dlsym(RTLD_NEXT, name);
}

extern "C" __attribute__((used, visibility("hidden"))) const void* ws_late_find(size_t number, const void* caller)
{
    return find(number, caller);
}

} // namespace ws::host
