// SPDX-License-Identifier: MIT
#include "program.h"
#include "wording.h"

#include "abi/abi.h"
#include "abi/name_text.h"
#include "elf_file.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace doctor {

namespace {

bool starts(const std::string& text, const char* with) { return text.compare(0, std::strlen(with), with) == 0; }
std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string real_path(const std::string& path)
{
    char resolved[PATH_MAX];
    return realpath(path.c_str(), resolved) ? resolved : path;
}

bool is_file(const std::string& path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// In PATH if it has no slash. Empty: not found.
std::string find(const std::string& given)
{
    if (given.find('/') != std::string::npos)
        return access(given.c_str(), F_OK) == 0 ? given : "";
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string candidate = (folder.empty() ? "." : folder) + "/" + given;
        if (is_file(candidate) && access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return "";
}

// What a command with one more variable writes; false if it does not end well within seconds.
bool run(const std::vector<std::string>& command, std::string variable, std::string& output)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> environment;
    for (char** e = environ; *e; e++)
        environment.push_back(*e);
    environment.push_back(&variable[0]);
    environment.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    pid_t pid;
    const int failed = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    bool late = false;
    char part[4096];
    for (pollfd wait = {ends[0], POLLIN, 0}; !failed;) {
        late = poll(&wait, 1, 5000) <= 0;
        const ssize_t n = late ? 0 : read(ends[0], part, sizeof part);
        if (n <= 0)
            break;
        output.append(part, size_t(n));
    }
    close(ends[0]);
    if (failed)
        return false;
    if (late)
        kill(pid, SIGKILL);
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 && !late;
}

// The loader itself says what it would load. Only glibc's loader is asked: another program named there might do
// anything.
void ask_loader(const ElfFile& file, Program& p)
{
    const std::string loader = file.interpreter();
    if (!starts(base_name(loader), "ld-linux") || !(starts(loader, "/lib") || starts(loader, "/usr/lib")))
        return;
    std::string output;
    // As ldd does: with --list the loader would stop at the first library that is not there.
    if (!run({loader, p.path}, "LD_TRACE_LOADED_OBJECTS=1", output) && output.empty())
        return;
    p.loader_asked = true;
    std::istringstream lines(output);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(": version `") != std::string::npos && line.find("not found") != std::string::npos &&
            p.loader_says.empty())
            p.loader_says = line.substr(line.find(": version `") + 2);
        const size_t name = line.find_first_not_of(" \t"), arrow = line.find(" => ");
        if (name == std::string::npos || arrow == std::string::npos)
            continue;
        std::string path = line.substr(arrow + 4);
        path = starts(path, "not found") ? "" : path.substr(0, path.rfind(" (0x"));
        p.libraries.push_back({line.substr(name, arrow - name), path});
    }
}

void read_loops(const ElfFile& file, const std::string& path, Program& p)
{
    for (size_t at = 0; at + sizeof(ws_site) <= file.section_bytes(WS_SITE_SECTION); at += sizeof(ws_site)) {
        const uint64_t kinds = file.word(WS_SITE_SECTION, at + offsetof(ws_site, kinds));
        const int abi = int(kinds >> 24 & 255);
        if (!abi)
            continue; // the linker's padding
        p.abis.insert(abi);
        p.loops.push_back(
            {ws::abi::shortened(ws::abi::one_line(file.text_at(WS_SITE_SECTION, at)), WS_NAME_MAX, true),
             path});
    }
}

// gfortran's, as MPICH has it.
std::string fortran_name(std::string name)
{
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name + "_";
}

void read_symbols(const ElfFile& file, bool main_program, Program& p)
{
    bool loops = false, api = false;
    for (const ElfFile::Symbol& symbol : file.symbols(true)) {
        if (symbol.defined)
            continue;
        const std::string& name = symbol.name;
        loops |= starts(name, "ws_parallel") || starts(name, "ws_openmp");
        api |= name == "ws_for" || name == "ws_for_at" || name == "ws_find_call";
        p.critical |= name == "ws_critical_start";
        if (!main_program)
            continue;
        for (const char* call : {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Request_get_status",
                                 "MPI_Iprobe", "MPI_Improbe", "MPI_Parrived", "MPI_Win_test"})
            if (name == call || name == fortran_name(call))
                p.polls.insert(call);
        p.init |= name == "MPI_Init" || name == "mpi_init_" || name == "PMPI_Init";
        p.init_thread |= name == "MPI_Init_thread" || name == "mpi_init_thread_";
        p.openmp |= starts(name, "GOMP_parallel") || starts(name, "__kmpc_fork_call");
        p.threads |= p.openmp || name == "pthread_create" || starts(name, "_ZNSt6thread15_M_start_thread") ||
                     name == "thrd_create";
    }
    p.calls_api |= api;
    p.calls_unseen |= loops && !api && !file.has_section(WS_SITE_SECTION);
}

int libws_abi(const ElfFile& file)
{
    for (const std::string& version : file.defined_versions())
        if (starts(version, "WS_"))
            return std::atoi(version.c_str() + 3);
    return 0;
}

bool is_ours(const ElfFile& file) { return file.holds("libws.so.1"); }

// Which MPI it is, by the names that libraries of MPI have.
void find_mpi(Program& p)
{
    size_t gomp = SIZE_MAX, ws = SIZE_MAX;
    for (size_t i = 0; i < p.libraries.size(); i++) {
        const Library& library = p.libraries[i];
        if (starts(library.name, "libgomp.so") || starts(library.name, "libomp.so"))
            gomp = std::min(gomp, i);
        if (starts(library.name, "libws.so")) {
            ws = std::min(ws, i);
            p.libws_path = library.path;
        }
        const bool mpich = starts(library.name, "libmpich.so") || library.name == "libmpi.so.12",
                   open = starts(library.name, "libmpi.so") && !mpich;
        const bool abi = !has_own_mpi && starts(library.name, "libmpi_abi.so");
        if (!(mpich || open || abi) || p.mpi != "none")
            continue;
        p.mpi_path = library.path;
        p.mpi = abi ? "abi" : open ? "openmpi" : "mpich";
        if (mpich && !library.path.empty() && is_ours(ElfFile(library.path))) {
            p.mpi = "ours";
            const std::string real = real_path(library.path), beside = real.substr(0, real.rfind('/')) + "/libws.so.1";
            p.mpi_libws_path = is_file(beside) ? beside : "";
        }
    }
    p.openmp_first = gomp < ws && ws != SIZE_MAX;
}

void find_static_mpi(const ElfFile& file, Program& p)
{
    for (bool dynamic : {true, false})
        for (const ElfFile::Symbol& symbol : file.symbols(dynamic))
            if (symbol.defined && (symbol.name == "PMPI_Init" || symbol.name == "MPI_Init"))
                p.mpi = is_ours(file) ? "static-ours" : "static";
}

} // namespace

Program look_at_program(const std::string& given)
{
    Program p;
    p.given = given;
    p.path = find(given);
    if (p.path.empty()) {
        p.error = given.find('/') != std::string::npos ? "there is no such file" : "it is in no folder of PATH";
        p.error_fix = given.find('/') == std::string::npos && is_file(given) ? "./" + given : "";
        return p;
    }
    const ElfFile file(p.path);
    p.error = file.error();
    const size_t dot = p.path.rfind('.');
    if (p.error == not_a_program && dot != std::string::npos && dot > p.path.rfind('/') + 1)
        for (const auto& [endings, compiler] : {std::pair(" c ", "mpicc"), std::pair(" cc cpp cxx C ", "mpicxx"),
                                                std::pair(" f f90 F90 f08 ", "mpifort")})
            if (std::string(endings).find(" " + p.path.substr(dot + 1) + " ") != std::string::npos) {
                p.error = "is source text";
                p.error_fix = compiler + std::string(" -fws -O3 ") + given + " -o " + given.substr(0, given.rfind('.'));
            }
    if (!file.script().empty()) {
        p.error += " (" + ws::abi::one_line(file.script()) + ")";
        p.error_fix = "script";
    }
    if ((p.error.empty() || !file.script().empty()) && access(p.path.c_str(), X_OK) != 0) {
        p.error = "is not executable";
        p.error_fix = "chmod +x " + p.path;
    }
    if (!p.error.empty())
        return p;
    ask_loader(file, p);
    find_mpi(p);
    if (p.mpi == "mpich" && !p.mpi_path.empty())
        p.fixed_path = file.has_fixed_path();
    if (p.mpi == "none")
        find_static_mpi(file, p);
    if (p.mpi == "none" && !p.loader_asked && !file.interpreter().empty())
        p.mpi = "unknown";
    read_loops(file, p.path, p);
    read_symbols(file, true, p);
    for (const Library& library : p.libraries) {
        const std::string real = real_path(library.path);
        if (library.path.empty() || starts(library.name, "libws.so"))
            continue;
        const ElfFile other(library.path);
        read_loops(other, library.path, p);
        if (!starts(library.name, "libmpi") && !starts(library.name, "libc.so"))
            read_symbols(other, false, p);
    }
    const std::string libws = p.mpi_libws_path.empty() ? p.libws_path : p.mpi_libws_path;
    if (!libws.empty())
        p.libws_abi = libws_abi(ElfFile(libws));
    return p;
}

} // namespace doctor
