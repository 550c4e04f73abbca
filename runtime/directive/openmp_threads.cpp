// SPDX-License-Identifier: MIT
//
// What libws knows of OpenMP's threads.
//
// A guest has no number among them. It could be given one, but no right one: arrays are made for as many threads as
// omp_get_max_threads() has told, and to tell more than OpenMP has breaks programs that cut their work into so many parts and
// begin a region to do them. So a loop of which the compiler has not seen everything is shared only where nobody in the process
// can ask: what a program asks of its OpenMP library is in the tables by which it was linked.
#include "directive/openmp_threads.h"

#include "directive/openmp.h"
#include "loop/region.h"
#include "window/spin_lock.h"

#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <initializer_list>
#include <link.h>

namespace ws {

namespace {

volatile Hardware::Flag threads_set; // the program has called omp_set_num_threads()

// ---- the library

bool brought; // nothing that we can see needs an OpenMP library

void* library_of(void* caller)
{
    Dl_info in;
    void* library = dladdr(caller, &in) ? dlopen(in.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (library && dlsym(library, "omp_get_max_threads"))
        return library; // kept
    if (library)
        dlclose(library);
    return nullptr;
}

// dlsym()'s first argument.
void* find_handle(void* caller)
{
    for (void* among_all : {RTLD_NEXT, RTLD_DEFAULT}) // else it stands before libws
        if (dlsym(among_all, "omp_get_max_threads"))
            return among_all;
    if (void* own = library_of(caller))
        return own;
    // All of the program's loops are ours: the linker may have left the library out.
    brought = true;
    void* gnu = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_LOCAL);
    return gnu ? gnu : dlopen("libomp.so.5", RTLD_LAZY | RTLD_LOCAL); // or null: looks among all, in vain
}

template <class Function>
bool look_up(Function*& function, void* handle, const char* name)
{
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    return function;
}

OpenMP find_library(void* caller)
{
    void* const from = find_handle(caller);
    OpenMP found = {};
    if (look_up(found.max_threads, from, "omp_get_max_threads") && look_up(found.num_threads, from, "omp_get_num_threads") &&
        look_up(found.thread_num, from, "omp_get_thread_num") && look_up(found.in_parallel, from, "omp_in_parallel") &&
        look_up(found.thread_limit, from, "omp_get_thread_limit") && look_up(found.parallel, from, "GOMP_parallel"))
        return found;
    OpenMP none = {};
    none.max_threads = [] { return 1; };
    return none;
}

// ---- who asks

bool starts(const char* name, const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; }

// Fortran's names end with _.
bool tells_threads_apart(const char* name)
{
    static const char* const questions[] = {"omp_get_thread_num", "omp_get_num_threads", "omp_get_max_threads", "omp_in_parallel",
                                            "omp_get_level", "omp_get_active_level", "omp_get_ancestor_thread_num", "omp_get_team_size"};
    for (const char* question : questions)
        if (starts(name, question))
            return true;
    return false;
}

// Whether a call of omp_set_num_threads() comes here.
bool set_comes_here();

struct Scan {
    bool sees_sets, asks, first;
    unsigned long long loaded, unloaded;
};

// Looks through what a library or the program refers to: the symbols of its relocations.
bool refers(const dl_phdr_info& info, const ElfW(Dyn)* dynamic, bool sees_sets)
{
    const auto address = [&](ElfW(Addr) value) { return value < info.dlpi_addr ? value + info.dlpi_addr : value; };
    const ElfW(Sym)* symbols = nullptr;
    const char* names = nullptr;
    struct {
        const ElfW(Rela)* at;
        size_t bytes;
    } tables[2] = {};
    for (; dynamic->d_tag != DT_NULL; dynamic++)
        switch (dynamic->d_tag) {
        case DT_SYMTAB: symbols = reinterpret_cast<const ElfW(Sym)*>(address(dynamic->d_un.d_ptr)); break;
        case DT_STRTAB: names = reinterpret_cast<const char*>(address(dynamic->d_un.d_ptr)); break;
        case DT_RELA: tables[0].at = reinterpret_cast<const ElfW(Rela)*>(address(dynamic->d_un.d_ptr)); break;
        case DT_RELASZ: tables[0].bytes = dynamic->d_un.d_val; break;
        case DT_JMPREL: tables[1].at = reinterpret_cast<const ElfW(Rela)*>(address(dynamic->d_un.d_ptr)); break;
        case DT_PLTRELSZ: tables[1].bytes = dynamic->d_un.d_val; break;
        default: break;
        }
    if (!symbols || !names)
        return false;
    for (const auto& table : tables)
        for (size_t i = 0; table.at && i < table.bytes / sizeof *table.at; i++) {
            const ElfW(Sym)& symbol = symbols[ELF64_R_SYM(table.at[i].r_info)];
            const char* name = names + symbol.st_name;
            if (symbol.st_shndx == SHN_UNDEF && starts(name, "omp_") &&
                (tells_threads_apart(name) || (!sees_sets && starts(name, "omp_set_num_threads"))))
                return true;
        }
    return false;
}

int look_at(dl_phdr_info* info, size_t, void* data)
{
    Scan& scan = *static_cast<Scan*>(data);
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        if (part.p_type == PT_DYNAMIC)
            scan.asks |= refers(*info, reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + part.p_vaddr), scan.sees_sets);
        // threadprivate, thread_local: of the program itself; libraries have them for themselves.
        scan.asks |= scan.first && part.p_type == PT_TLS && part.p_memsz;
    }
    scan.first = false;
    return scan.asks;
}

int count_libraries(dl_phdr_info* info, size_t, void* data)
{
    Scan& scan = *static_cast<Scan*>(data);
    scan.loaded = info->dlpi_adds;
    scan.unloaded = info->dlpi_subs;
    return 1;
}

// Anew whenever a library was loaded.
bool somebody_asks()
{
    static SpinLock lock;
    static Scan known;
    Scan now = {};
    dl_iterate_phdr(count_libraries, &now);
    lock.lock();
    if (now.loaded != known.loaded || now.unloaded != known.unloaded) {
        now.first = true;
        now.sees_sets = set_comes_here();
        dl_iterate_phdr(look_at, &now);
        known = now;
    }
    const bool asks = known.asks;
    lock.unlock();
    return asks;
}

} // namespace

const OpenMP& openmp(void* caller)
{
    static const OpenMP found = find_library(caller);
    return found;
}

void openmp_parallel(const OpenMP& library, void (*fn)(void*), void* data)
{
    const OpenMPRegion open;
    const auto choose = openmp_threads;
    library.parallel(fn, data, choose ? choose(0) : 0, 0);
}

bool may_share_openmp(const ws_site* site)
{
    if (Hardware::load_relaxed(threads_set))
        return false;
    const OpenMP& library = openmp(__builtin_return_address(0));
    if (library.thread_limit && library.thread_limit() < library.max_threads() + int(loop_host.participants) - 1)
        return false;
    return !(site->kinds & WS_SITE_UNSEEN) || !(brought || somebody_asks());
}

// ---- omp_set_num_threads

namespace {

// A program that says how many threads it wants has at most so many, guests included.
template <class Number, class Function>
void set_threads(const char* name, Number number)
{
    static const auto next = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
    Hardware::store_relaxed(threads_set, 1);
    if (next)
        next(number);
}

} // namespace

// libgomp's names and libomp's, hidden as those of openmp.cpp.
#define WS_SET_THREADS(function, name, type, version)                                                                 \
    extern "C" __attribute__((visibility("default"))) void function(type number) { set_threads<type, void(type)>(name, number); } \
    asm(".symver " #function "," name "@" version)

WS_SET_THREADS(openmp_set_threads, "omp_set_num_threads", int, "OMP_1.0");
WS_SET_THREADS(openmp_set_threads_fortran, "omp_set_num_threads_", const int*, "OMP_1.0");
WS_SET_THREADS(openmp_set_threads_fortran_8, "omp_set_num_threads_8_", const int64_t*, "OMP_1.0");
WS_SET_THREADS(openmp_set_threads_llvm, "omp_set_num_threads", int, "VERSION");
WS_SET_THREADS(openmp_set_threads_llvm_fortran, "omp_set_num_threads_", const int*, "VERSION");

namespace {

bool set_comes_here()
{
    void* gnu = dlvsym(RTLD_DEFAULT, "omp_set_num_threads", "OMP_1.0");
    void* llvm = dlvsym(RTLD_DEFAULT, "omp_set_num_threads", "VERSION");
    return (!gnu || gnu == reinterpret_cast<void*>(openmp_set_threads)) &&
           (!llvm || llvm == reinterpret_cast<void*>(openmp_set_threads_llvm));
}

} // namespace

} // namespace ws
