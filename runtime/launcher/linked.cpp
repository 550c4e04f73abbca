// SPDX-License-Identifier: MIT
#include "launcher/linked.h"

#include "base/mapping.h"
#include "base/mpi_family.h"
#include "base/open_file.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <link.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace ws::launcher {

namespace {

namespace fs = std::filesystem;

bool is_program(const std::string& path)
{
    struct stat s;
    return stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && access(path.c_str(), X_OK) == 0;
}

// What a command prints; its errors go nowhere. Empty if it fails.
std::string output_of(const std::vector<std::string>& command, const char* variable = nullptr)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return "";
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, STDERR_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        if (variable)
            setenv(variable, "1", 1);
        unsetenv("LD_PRELOAD");
        std::vector<char*> argv;
        for (const std::string& word : command)
            argv.push_back(const_cast<char*>(word.c_str()));
        argv.push_back(nullptr);
        execvp(argv[0], argv.data());
        _exit(127);
    }
    close(ends[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t n; child > 0 && (n = read(ends[0], buffer, sizeof buffer)) > 0;)
        text.append(buffer, size_t(n));
    close(ends[0]);
    int status = 1;
    if (child > 0)
        waitpid(child, &status, 0);
    return status == 0 ? text : "";
}

// The beginning of a file.
std::string head_of(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string head(PATH_MAX, '\0');
    file.read(&head[0], std::streamsize(head.size()));
    head.resize(size_t(file.gcount()));
    return head;
}

// The program of a script's first line.
std::string interpreter_of(const std::string& head)
{
    std::istringstream line(head.substr(2, head.find('\n') - 2));
    std::string program, next;
    line >> program >> next;
    return program.size() > 4 && program.compare(program.size() - 4, 4, "/env") == 0 ? find_program(next) : program;
}

struct Parts {
    bool is_elf = false, has_loader = false, names_mpi = false, defines_mpi = false;
};

// Whether MPI_Init is a function of this ELF file, by its tables of symbols.
bool defines_mpi(const char* file, size_t size, const ElfW(Ehdr) & header)
{
    const auto read = [&](auto& part, size_t at) {
        const bool fits = at < size && sizeof part <= size - at;
        if (fits)
            std::memcpy(&part, file + at, sizeof part);
        return fits;
    };
    for (unsigned i = 0; i < header.e_shnum; i++) {
        ElfW(Shdr) table, names;
        if (!read(table, header.e_shoff + size_t(i) * header.e_shentsize) ||
            (table.sh_type != SHT_SYMTAB && table.sh_type != SHT_DYNSYM) ||
            !read(names, header.e_shoff + size_t(table.sh_link) * header.e_shentsize))
            continue;
        ElfW(Sym) symbol;
        for (size_t at = 0; at + sizeof symbol <= table.sh_size && read(symbol, table.sh_offset + at);
             at += sizeof symbol) {
            char name[sizeof "MPI_Init"];
            if (symbol.st_shndx != SHN_UNDEF && read(name, names.sh_offset + symbol.st_name) &&
                std::memcmp(name, "MPI_Init", sizeof name) == 0)
                return true;
        }
    }
    return false;
}

Parts parts_of(const std::string& path)
{
    Parts parts;
    size_t size = 0;
    const int fd = base::open_regular(path.c_str(), O_RDONLY, [&](const struct stat& s) {
        size = size_t(s.st_size);
        return size > sizeof(ElfW(Ehdr));
    });
    if (fd < 0)
        return parts;
    const base::Mapping mapping = base::map(fd, base::read_private, size);
    close(fd);
    const char* const file = static_cast<const char*>(mapping.get_address());
    constexpr char magic[] = {0x7f, 'E', 'L', 'F', sizeof(void*) == 8 ? 2 : 1}; // of this width
    if (!file || std::memcmp(file, magic, sizeof magic) != 0)
        return parts;
    parts.is_elf = true;
    ElfW(Ehdr) header;
    std::memcpy(&header, file, sizeof header);
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const size_t at = header.e_phoff + size_t(i) * header.e_phentsize;
        ElfW(Phdr) part;
        if (at + sizeof part > size || at < header.e_phoff)
            break;
        std::memcpy(&part, file + at, sizeof part);
        parts.has_loader |= part.p_type == PT_INTERP;
    }
    constexpr char name[] = "MPI_Init";
    parts.names_mpi = memmem(file, size, name, sizeof name - 1) != nullptr;
    parts.defines_mpi = parts.names_mpi && defines_mpi(file, size, header);
    return parts;
}

Linked linked_with(const std::string& program, int depth)
{
    Linked linked;
    struct stat s;
    if (depth > 4 || stat(program.c_str(), &s) != 0)
        return linked;
    linked.changes_user =
        (s.st_mode & (S_ISUID | S_ISGID)) || getxattr(program.c_str(), "security.capability", nullptr, 0) > 0;
    const std::string head = head_of(program);
    if (head.compare(0, 2, "#!") == 0) {
        const bool changes_user = linked.changes_user;
        linked = linked_with(interpreter_of(head), depth + 1);
        linked.changes_user |= changes_user;
        return linked;
    }
    const Parts parts = parts_of(program);
    linked.is_static = parts.is_elf && !parts.has_loader;
    linked.has_static_mpi = parts.defines_mpi || (linked.is_static && parts.names_mpi);
    if (!parts.has_loader || linked.changes_user || linked.has_static_mpi)
        return linked;
    std::istringstream lines(output_of({program}, "LD_TRACE_LOADED_OBJECTS"));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, arrow, path;
        words >> name >> arrow >> path;
        const std::string file = name.substr(name.rfind('/') + 1);
        linked.has_asan |= file.compare(0, 10, "libasan.so") == 0 || file.compare(0, 16, "libclang_rt.asan") == 0;
        const bool is_mpi =
            !family_of(file).empty() || file.compare(0, 8, "libmpi.s") == 0;
        if (is_mpi && !linked.soname.empty() && family_of(file) != family_of(linked.soname))
            linked.second = file;
        if (!is_mpi || !linked.soname.empty())
            continue;
        linked.soname = file;
        linked.mpi = arrow == "=>" ? path : name;
    }
    return linked;
}

} // namespace

std::string find_program(const std::string& name)
{
    if (name.empty())
        return "";
    if (name.find('/') != name.npos)
        return is_program(name) ? name : "";
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/bin:/usr/bin");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string file = (folder.empty() ? "." : folder) + "/" + name; is_program(file))
            return file;
    return "";
}

Linked linked_with(const std::string& program) { return linked_with(program, 0); }

std::string family_of(const std::string& soname)
{
    const char* const family = base::family_of(soname.c_str());
    return family ? family : "";
}

std::string family_of_mpicc()
{
    if (!output_of({"mpicc", "--showme"}).empty())
        return "openmpi";
    const std::string flags = output_of({"mpicc", "-show"});
    return flags.find("-lmpi_abi") != flags.npos ? "abi" : flags.find("-lmpi") != flags.npos ? "mpich" : "";
}

std::string gcc_version()
{
    const std::string version = output_of({"gcc", "-dumpversion"});
    return version.substr(0, version.find_first_of(".\n"));
}

std::string libws_of(const std::string& prefix, const std::string& family)
{
    const std::string path = prefix + "/lib/workshare/" + family + "/libws.so.1";
    return !family.empty() && access(path.c_str(), R_OK) == 0 ? path : "";
}

std::string library_of(const std::string& prefix, const std::string& family)
{
    std::ifstream file(prefix + "/lib/workshare/" + family + "/mpi");
    std::string name;
    std::getline(file, name);
    return name;
}

std::string known_families(const std::string& prefix)
{
    std::string all;
    std::error_code error;
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(prefix + "/lib/workshare", error))
        if (const std::string name = entry.path().filename(); !libws_of(prefix, name).empty())
            names.push_back(name);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
        all += (all.empty() ? "" : ", ") + name;
    return all.empty() ? "none" : all;
}

bool is_workshares(const std::string& mpi)
{
    char path[PATH_MAX];
    if (!realpath(mpi.c_str(), path))
        return false;
    const std::string folder = std::string(path).substr(0, std::string(path).rfind('/'));
    return access((folder + "/libws.so.1").c_str(), F_OK) == 0;
}

Launcher launcher_of(const std::string& program)
{
    char path[PATH_MAX];
    const std::string file = realpath(program.c_str(), path) ? path : program;
    const std::string name = file.substr(file.rfind('/') + 1), called = program.substr(program.rfind('/') + 1);
    // Debian's prterun is a link to prte.
    if (name == "orterun" || name == "prterun" || called == "prterun" || name == "mpirun.openmpi" ||
        name == "mpiexec.openmpi" || name == "ompi-mpirun")
        return Launcher::open_mpi;
    if (name.compare(0, 13, "mpiexec.hydra") == 0 || name.compare(0, 12, "mpirun.mpich") == 0 ||
        name.compare(0, 13, "mpiexec.mpich") == 0)
        return Launcher::hydra;
    if (name == "srun")
        return Launcher::slurm;
    if (called == "mpirun" || called == "mpiexec") {
        const std::string version = output_of({program, "--version"});
        if (version.find("Open MPI") != version.npos || version.find("OpenRTE") != version.npos)
            return Launcher::open_mpi;
        if (version.find("HYDRA") != version.npos || version.find("Intel(R) MPI") != version.npos)
            return Launcher::hydra;
    }
    return Launcher::none;
}

} // namespace ws::launcher
