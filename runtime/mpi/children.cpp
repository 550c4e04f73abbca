// SPDX-License-Identifier: MIT
//
// Programs that a rank starts: they inherit nothing of Workshare's. Before MPI_Init a program may be a script that
// starts the rank, so that everything goes on to what it starts.
//
// MPI_Init takes our variables and libraries out of the rank's environment. The variables that OpenMP's libraries read
// stay there, because the rank's own may be loaded or read them later. So they are taken out of what a child gets:
// the functions below stand before the C library's, where libws is loaded first or the program is linked with it. There
// they also give a child that a helper thread starts the CPUs of the rank.
#include "mpi/children.h"

#include "openmp/library/next.h"
#include "options/options.h"
#include "base/cpus.h"
#include "base/environment.h"
#include "base/openmp_waits.h"

#include <alloca.h>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <spawn.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>
#include <vector>

namespace ws::mpi {

using openmp::Next;

namespace {

constexpr char threads_variable[] = "OMP_NUM_THREADS=", folders_variable[] = "LD_LIBRARY_PATH=";

bool is_rank; // written once, before there are children
bool calmed;
// Where mpirun has the loader look for our libraries, in front of the user's folders, if they lie in one with a blank;
// else empty.
char our_folder[4096];
base::CpuSet* rank_cpus;
// OMP_NUM_THREADS as early.c has set it, in place, or null; and as the user has it, or empty: not at all.
const char* told_threads;
char own_threads[64];

bool begins_with(const char* text, const char* what) { return std::strncmp(text, what, std::strlen(what)) == 0; }

const char* entry_of(char** environment, const char* begin)
{
    for (char** e = environment; e && *e; e++)
        if (begins_with(*e, begin))
            return *e;
    return nullptr;
}

// Before main(): later the program may have put another one there.
__attribute__((constructor)) void note_threads()
{
    const char *const own = std::getenv("WS_OPENMP_OWN"), *const why = std::getenv("WS_OPENMP_WHY");
    if (!own || !*own || *own == '?' || (why && *why))
        return;
    const int length = *own == '-' ? 0 : std::snprintf(own_threads, sizeof own_threads, "%s%s", threads_variable, own);
    if (length < int(sizeof own_threads))
        told_threads = entry_of(environ, threads_variable);
}

bool is_ours(const char* library, size_t length)
{
    const char* name = library;
    for (size_t i = 0; i < length; i++)
        if (library[i] == '/')
            name = library + i + 1;
    const auto is = [&](const char* one) {
        return size_t(library + length - name) == std::strlen(one) && std::memcmp(name, one, std::strlen(one)) == 0;
    };
    return is("libws-calls.so") || is("libws-early.so") || is("libws-late.so") || is("libws-waits.so") ||
           is("libws.so.1");
}

// Whether the value of LD_PRELOAD has one of ours without its folder.
bool names_ours(const char* libraries)
{
    while (*libraries) {
        const size_t one = std::strcspn(libraries, ": ");
        if (is_ours(libraries, one) && !std::memchr(libraries, '/', one))
            return true;
        libraries += one + (libraries[one] != '\0');
    }
    return false;
}

// The value of LD_PRELOAD without our libraries, into `to`, which has room for as much. Its length.
size_t without_ours(const char* libraries, char* to)
{
    size_t length = 0;
    while (*libraries) {
        const size_t one = std::strcspn(libraries, ": ");
        if (one && !is_ours(libraries, one)) {
            if (length)
                to[length++] = ':';
            std::memcpy(to + length, libraries, one);
            length += one;
        }
        libraries += one + (libraries[one] != '\0');
    }
    to[length] = '\0';
    return length;
}

// Returns the user's part of the value of LD_LIBRARY_PATH.
const char* behind_ours(const char* folders)
{
    const size_t length = std::strlen(our_folder);
    if (!length || std::strncmp(folders, our_folder, length) != 0)
        return folders;
    return !folders[length] ? folders + length : folders[length] == ':' ? folders + length + 1 : folders;
}

bool is_option(const char* entry)
{
    const size_t length = std::strcspn(entry, "=");
    const bool is_long = begins_with(entry, "WORKSHARE_");
    if (!is_long && !begins_with(entry, "WS_"))
        return begins_with(entry, "WORKSHARE=");
    const char* const name = entry + (is_long ? std::strlen("WORKSHARE") : std::strlen("WS"));
    const auto is_name = [&](const char* variable) {
        return *variable && std::strlen(variable + 2) == size_t(entry + length - name) &&
               std::memcmp(variable + 2, name, std::strlen(variable + 2)) == 0;
    };
    for (const option::OptionRow& row : option::option_rows)
        if (is_name(row.variable) || (!is_long && is_name(row.former_variable)))
            return true;
    return false;
}

// Returns the variable that `entry` sets as mpirun has set it for idle threads, or null.
const char* calmed_by(const char* entry)
{
    for (const base::OpenMPWait& wait : base::openmp_waits) {
        const size_t length = std::strlen(wait.variable);
        if (begins_with(entry, wait.variable) && entry[length] == '=' && !std::strcmp(entry + length + 1, wait.value))
            return wait.variable;
    }
    return nullptr;
}

// In the process's own environment the entry itself is looked at: the program may have set the same number. In another
// one, most often a copy, the text is.
bool is_told(const char* entry, bool copied)
{
    return told_threads && (entry == told_threads || (copied && std::strcmp(entry, told_threads) == 0));
}

// A child's environment. The child of a vfork() shares this process's memory, and one of fork() may find any lock held:
// so it is made on the caller's stack, of the sizes that are asked for first.
struct Sizes {
    size_t entries = 1, text = 0;
};

Sizes sizes_of(char* const* given)
{
    Sizes sizes;
    for (char* const* e = given; e && *e; e++) {
        sizes.entries++;
        if (begins_with(*e, "LD_PRELOAD=") || begins_with(*e, folders_variable))
            sizes.text += std::strlen(*e) + 1;
    }
    return sizes;
}

char** without_ours(char* const* given, char** to, char* text)
{
    const bool copied = given != environ;
    char** end = to;
    for (char* const* e = given; e && *e; e++) {
        if (is_option(*e) || (calmed && calmed_by(*e)))
            continue;
        if (is_told(*e, copied)) {
            if (*own_threads)
                *end++ = own_threads;
            continue;
        }
        if (begins_with(*e, "LD_PRELOAD=")) {
            const size_t name = std::strlen("LD_PRELOAD="), length = without_ours(*e + name, text + name);
            if (!length && (*e)[name])
                continue;
            std::memcpy(text, *e, name);
            *end++ = text;
            text += name + length + 1;
            continue;
        }
        // in a copy that was made before: the process's own has no such folder any more
        if (copied && begins_with(*e, folders_variable)) {
            const char* const folders = *e + std::strlen(folders_variable);
            const char* const rest = behind_ours(folders);
            if (rest != folders && !*rest)
                continue;
            if (rest != folders) {
                std::strcpy(std::strcpy(text, folders_variable) + std::strlen(folders_variable), rest);
                *end++ = text;
                text += std::strlen(text) + 1;
                continue;
            }
        }
        *end++ = *e;
    }
    *end = nullptr;
    return to;
}

// `given` as the child is to have it; a constant of the caller's frame.
#define WS_ENVIRONMENT(made, given)                                                                                   \
    const Sizes made##_sizes = is_rank ? sizes_of(given) : Sizes();                                                   \
    char* const* const made = !is_rank ? given                                                                        \
                                       : without_ours(given, static_cast<char**>(alloca(                              \
                                                                 made##_sizes.entries * sizeof(char*))),              \
                                                      static_cast<char*>(alloca(made##_sizes.text + 1)))

// Returns whether the calling thread of the kernel is one of Workshare's, whatever identity it has taken.
bool is_helper()
{
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return std::strcmp(name, "ws guest") == 0 || std::strcmp(name, "ws worker") == 0;
}

// A child has the CPUs of the thread that starts it: meanwhile a helper thread has those of the rank.
class WithRanksCpus {
public:
    WithRanksCpus() : moved_(is_rank && is_helper())
    {
        if (!moved_)
            return;
        CPU_ZERO(&before_);
        moved_ = sched_getaffinity(0, sizeof before_, &before_) == 0;
        const int error = errno;
        rank_cpus->mask().bind();
        errno = error;
    }
    ~WithRanksCpus()
    {
        const int error = errno;
        if (moved_)
            sched_setaffinity(0, sizeof before_, &before_);
        errno = error;
    }
    WithRanksCpus(const WithRanksCpus&) = delete;

private:
    bool moved_;
    cpu_set_t before_; // of one CPU; on a machine with more than this has room for, the thread stays on the rank's
};

// A command for the shell, which takes our part of OpenMP's variables out. Null: it is right as it is, or there is no
// memory. The variables are exported already, and on the first line, so that the shell counts lines as before.
char* for_shell(const char* command)
{
    const char* const threads = entry_of(environ, threads_variable);
    const bool told = threads && is_told(threads, false);
    if (!is_rank || !command || (!told && !calmed))
        return nullptr;
    const char* const own = told && *own_threads ? own_threads + sizeof threads_variable - 1 : nullptr;
    if (own && std::strchr(own, '\''))
        return nullptr;
    std::string all;
    if (own)
        all.append(threads_variable).append("'").append(own).append("'; ");
    else if (told)
        all.append("unset OMP_NUM_THREADS; ");
    for (char** entry = environ; calmed && entry && *entry; entry++)
        if (const char* const variable = calmed_by(*entry))
            all.append("unset ").append(variable).append("; ");
    return strdup(all.append(command).c_str());
}

} // namespace

void leave_lent_core()
{
    if (!is_rank || !is_helper())
        return;
    rank_cpus->mask().bind();
    prctl(PR_SET_NAME, program_invocation_short_name);
}

// ---- the C library's functions, each before the next one of its name

namespace {

Next<int(const char*, char* const*, char* const*)> next_execve("execve"), next_execvpe("execvpe");
Next<int(int, char* const*, char* const*)> next_fexecve("fexecve");
Next<int(int, const char*, char* const*, char* const*, int)> next_execveat("execveat");
using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                  char* const*);
Next<Spawn> next_spawn("posix_spawn"), next_spawnp("posix_spawnp");
Next<int(const char*)> next_system("system");
Next<FILE*(const char*, const char*)> next_popen("popen");

// Once, as a child cannot look for them: other threads may have held the loader's lock when it was forked.
void find_functions()
{
    next_execve.of_all();
    next_execvpe.of_all();
    next_fexecve.of_all();
    next_execveat.of_all();
    next_spawn.of_all();
    next_spawnp.of_all();
    next_system.of_all();
    next_popen.of_all();
}

int execute(Next<int(const char*, char* const*, char* const*)>& next, const char* file, char* const* arguments,
            char* const* given)
{
    WS_ENVIRONMENT(environment, given);
    const WithRanksCpus cpus;
    return next(nullptr)(file, arguments, environment);
}

int spawn(Next<Spawn>& next, pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* arguments, char* const* given)
{
    WS_ENVIRONMENT(environment, given);
    const WithRanksCpus cpus;
    return next(nullptr)(child, file, actions, attributes, arguments, environment);
}

// The arguments of execl() and its like, from `first` on, up to a null. `rest` is left behind that.
size_t count_arguments(const char* first, va_list rest)
{
    size_t count = 1;
    for (const char* one = first; one; one = va_arg(rest, const char*))
        count++;
    return count;
}
void fill_arguments(char** to, const char* first, va_list rest)
{
    for (const char* one = first; one; one = va_arg(rest, const char*))
        *to++ = const_cast<char*>(one);
    *to = nullptr;
}

#define WS_ARGUMENTS(made, first)                                                                                     \
    va_list made##_rest;                                                                                              \
    va_start(made##_rest, first);                                                                                     \
    const size_t made##_count = count_arguments(first, made##_rest);                                                  \
    va_end(made##_rest);                                                                                              \
    char** const made = static_cast<char**>(alloca(made##_count * sizeof(char*)));                                    \
    va_start(made##_rest, first);                                                                                     \
    fill_arguments(made, first, made##_rest)

} // namespace

void begin_children()
{
    static base::CpuSet cpus = base::own_cpus();
    rank_cpus = &cpus;
    calmed = std::getenv("WS_CALMED") != nullptr;
    std::vector<std::string> spelt_out; // WORKSHARE_X
    std::vector<const char*> names = {"WORKSHARE"};
    for (const option::OptionRow& row : option::option_rows) {
        spelt_out.push_back(std::string("WORKSHARE") + (row.variable + 2));
        names.push_back(row.variable);
        if (*row.former_variable)
            names.push_back(row.former_variable);
    }
    for (const std::string& name : spelt_out)
        names.push_back(name.c_str());
    base::take_out(names);
    if (const char* const libraries = std::getenv("LD_PRELOAD")) {
        const char* const folders = std::getenv("LD_LIBRARY_PATH");
        if (folders && names_ours(libraries))
            std::snprintf(our_folder, sizeof our_folder, "%.*s", int(std::strcspn(folders, ":")), folders);
        std::string others(std::strlen(libraries) + 1, '\0');
        others.resize(without_ours(libraries, others.data()));
        if (!others.empty())
            setenv("LD_PRELOAD", others.c_str(), 1);
        else if (*libraries)
            unsetenv("LD_PRELOAD");
        if (const char* const rest = folders ? behind_ours(folders) : nullptr; rest && rest != folders) {
            if (*rest)
                setenv("LD_LIBRARY_PATH", std::string(rest).c_str(), 1);
            else
                unsetenv("LD_LIBRARY_PATH");
        }
    }
    find_functions();
    is_rank = true;
}

// By the versions that the C library gives them, and hidden, as the functions of OpenMP's libraries are
// (openmp/library/regions.cpp).
#if defined(__x86_64__)
#define WS_FIRST_GLIBC "GLIBC_2.2.5"
#define WS_GLIBC_OF_EXECVPE "GLIBC_2.11"
#else
#define WS_FIRST_GLIBC "GLIBC_2.17"
#define WS_GLIBC_OF_EXECVPE "GLIBC_2.17"
#endif
#define WS_C_FUNCTION(result, name, version, ...)                                                                     \
    asm(".symver children_" #name "," #name "@" version);                                                             \
    extern "C" __attribute__((visibility("default"))) result children_##name(__VA_ARGS__)

WS_C_FUNCTION(int, execve, WS_FIRST_GLIBC, const char* file, char* const* arguments, char* const* environment)
{
    return execute(next_execve, file, arguments, environment);
}
WS_C_FUNCTION(int, execv, WS_FIRST_GLIBC, const char* file, char* const* arguments)
{
    return execute(next_execve, file, arguments, environ);
}
WS_C_FUNCTION(int, execvp, WS_FIRST_GLIBC, const char* file, char* const* arguments)
{
    return execute(next_execvpe, file, arguments, environ);
}
WS_C_FUNCTION(int, execvpe, WS_GLIBC_OF_EXECVPE, const char* file, char* const* arguments, char* const* environment)
{
    return execute(next_execvpe, file, arguments, environment);
}
WS_C_FUNCTION(int, execl, WS_FIRST_GLIBC, const char* file, const char* first, ...)
{
    WS_ARGUMENTS(arguments, first);
    va_end(arguments_rest);
    return execute(next_execve, file, arguments, environ);
}
WS_C_FUNCTION(int, execlp, WS_FIRST_GLIBC, const char* file, const char* first, ...)
{
    WS_ARGUMENTS(arguments, first);
    va_end(arguments_rest);
    return execute(next_execvpe, file, arguments, environ);
}
WS_C_FUNCTION(int, execle, WS_FIRST_GLIBC, const char* file, const char* first, ...)
{
    WS_ARGUMENTS(arguments, first);
    char* const* const environment = va_arg(arguments_rest, char* const*);
    va_end(arguments_rest);
    return execute(next_execve, file, arguments, environment);
}
WS_C_FUNCTION(int, fexecve, WS_FIRST_GLIBC, int file, char* const* arguments, char* const* given)
{
    WS_ENVIRONMENT(environment, given);
    const WithRanksCpus cpus;
    return next_fexecve(nullptr)(file, arguments, environment);
}
WS_C_FUNCTION(int, execveat, "GLIBC_2.34", int folder, const char* file, char* const* arguments, char* const* given,
              int flags)
{
    WS_ENVIRONMENT(environment, given);
    const WithRanksCpus cpus;
    return next_execveat(nullptr)(folder, file, arguments, environment, flags);
}
#define WS_SPAWN_PARAMETERS                                                                                           \
    pid_t *child, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,   \
        char *const *arguments, char *const *environment
#if defined(__x86_64__)
asm(".symver children_posix_spawn_2,posix_spawn@GLIBC_2.15");
asm(".symver children_posix_spawnp_2,posix_spawnp@GLIBC_2.15");
extern "C" __attribute__((visibility("default"))) int children_posix_spawn_2(WS_SPAWN_PARAMETERS)
{
    return spawn(next_spawn, child, file, actions, attributes, arguments, environment);
}
extern "C" __attribute__((visibility("default"))) int children_posix_spawnp_2(WS_SPAWN_PARAMETERS)
{
    return spawn(next_spawnp, child, file, actions, attributes, arguments, environment);
}
#else
WS_C_FUNCTION(int, posix_spawn, WS_FIRST_GLIBC, WS_SPAWN_PARAMETERS)
{
    return spawn(next_spawn, child, file, actions, attributes, arguments, environment);
}
WS_C_FUNCTION(int, posix_spawnp, WS_FIRST_GLIBC, WS_SPAWN_PARAMETERS)
{
    return spawn(next_spawnp, child, file, actions, attributes, arguments, environment);
}
#endif
WS_C_FUNCTION(int, system, WS_FIRST_GLIBC, const char* command)
{
    const WithRanksCpus cpus;
    char* const changed = for_shell(command);
    const int status = next_system(nullptr)(changed ? changed : command);
    const int error = errno;
    std::free(changed);
    errno = error;
    return status;
}
WS_C_FUNCTION(FILE*, popen, WS_FIRST_GLIBC, const char* command, const char* mode)
{
    const WithRanksCpus cpus;
    char* const changed = for_shell(command);
    FILE* const file = next_popen(nullptr)(changed ? changed : command, mode);
    const int error = errno;
    std::free(changed);
    errno = error;
    return file;
}

} // namespace ws::mpi
