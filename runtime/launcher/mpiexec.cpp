// SPDX-License-Identifier: MIT
//
// mpiexec, mpirun and mpiexec.hydra: MPICH's launcher, which lies in lib/workshare/mpich/bin, with Workshare's options.
// They are taken out of the command line and of the configuration file, wherever a global option may stand; the
// variables that they set go to hydra as -genv, which reaches all processes whatever is said of the environment.
// mpiexec's own environment is checked as well. Then this program becomes hydra's: its process, signals and exit status
// stay.
#include "launcher/arguments.h"
#include "launcher/forget_preloads.h"
#include "launcher/settle.h"
#include "launcher/table.h"
#include "options/nearest.h"
#include "base/mapping.h"
#include "base/open_file.h"
#include "base/openmp_waits.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ws::launcher;

namespace {

// One message and out: the user mistyped something.
[[noreturn]] void fail(const std::string& message)
{
    std::fprintf(stderr, "mpiexec: error: %s\n", message.c_str());
    std::exit(EXIT_FAILURE);
}

// The installation that this program lies in.
const std::string& prefix()
{
    static const std::string path = [] {
        const std::string folder = installation();
        if (folder.empty())
            fail(std::string("cannot find the folder of this program: ") + std::strerror(errno));
        return folder;
    }();
    return path;
}

std::string share()
{
    return prefix() + "/share/workshare";
}

// The program of that name in PATH; empty: there is none.
std::string program_in_path(const std::string& name)
{
    const char* path = std::getenv("PATH");
    std::string folders = path ? path : "";
    for (size_t begin = 0; begin < folders.size();) {
        const size_t end = std::min(folders.find(':', begin), folders.size());
        const std::string path = folders.substr(begin, end - begin) + '/' + name;
        struct stat s;
        if (stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode))
            return path;
        begin = end + 1;
    }
    return "";
}

// What a program's file shows of the libraries that it is linked with.
struct Linked {
    bool openmp = false, sanitizer = false;
};
Linked linked_with(const std::string& path)
{
    Linked linked;
    size_t size = 0;
    const int fd = ws::base::open_regular(path.c_str(), O_RDONLY, [&](const struct stat& s) {
        size = static_cast<size_t>(s.st_size);
        return size > 4;
    });
    if (fd < 0)
        return linked;
    const ws::base::Mapping mapping = ws::base::map(fd, ws::base::read_private, size);
    close(fd);
    const void* const file = mapping.get_address();
    if (!file)
        return linked;
    const auto names = [&](const char* name) { return memmem(file, size, name, strlen(name)) != nullptr; };
    constexpr char magic[] = {0x7f, 'E', 'L', 'F', sizeof(void*) == 8 ? 2 : 1}; // of this width
    if (size > sizeof magic && std::memcmp(file, magic, sizeof magic) == 0) {
        linked.openmp = names("libgomp.so.") || names("libomp.so") || names("libiomp5.so");
        linked.sanitizer = names("__asan_init") || names("__tsan_init");
    }
    return linked;
}

bool is_pipe(const std::string& path)
{
    struct stat s;
    return stat(path.c_str(), &s) == 0 && S_ISFIFO(s.st_mode);
}

// A file in memory with this text, which hydra inherits: its path.
std::string in_memory(const char* name, const std::string& text)
{
    if (access("/proc/self/fd", X_OK) != 0)
        fail(std::string("cannot pass a copy of the ") + name + " to hydra: /proc is not mounted");
    const int fd = memfd_create(name, 0);
    if (fd < 0 || write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        fail(std::string("cannot copy the ") + name + ": " + std::strerror(errno));
    return "/proc/self/fd/" + std::to_string(fd);
}

// The host file for hydra, which would wait without end for a pipe's writer: a copy of what comes out of the pipe.
std::string host_file(const std::string& path)
{
    constexpr char name[] = "host file";
    if (path == "HYDRA_USE_LOCALHOST") // what hydra takes for this host
        return path;
    std::string text;
    if (const std::string wrong = ws::base::read_whole(path.c_str(), text); !wrong.empty())
        fail(std::string("cannot read the ") + name + ' ' + path + ": " + wrong);
    if (const std::string wrong = wrong_hosts(text); !wrong.empty())
        fail(std::string(name) + ' ' + path + ": " + wrong);
    return is_pipe(path) ? in_memory(name, text) : path;
}

class Launcher {
public:
    // Reads the command line, and the configuration file if there is one; `fail`s where something makes no sense.
    explicit Launcher(const std::vector<std::string>& words);

    // Sets in this process's environment what the processes inherit, and in `given_` what they are given.
    void settle();

    [[noreturn]] void run(char* name);

private:
    // The options, for somebody who uses one: `what`.
    std::vector<Option>& options(const char* what);
    bool take(const std::vector<std::string>& words, size_t& at, bool in_config_file);
    void take_ours(const std::string& word, const std::vector<std::string>& words, size_t& at, bool in_config_file);
    std::optional<std::string> next_file(const Option& o, const std::vector<std::string>& words, size_t& at) const;
    void read_config_file();
    bool read_config_words(const std::string& path, std::vector<std::string>& words);
    void replace_host_files();

    // What the processes will get: an option's value goes before that of -genv, that before what they inherit.
    std::optional<std::string> value(const Option& o) const;
    std::optional<std::string> genv(const std::string& name) const;
    bool is_set_by_env(const std::string& name) const;
    void check_variable(const Option& o);
    void check_together(const Option& o) const;
    void forget_outer_job();
    void note(const std::string& line);
    std::string current_word(const Option& o, const std::string& value);
    void must_preload(const Option& o);
    void preload(const std::string& library);
    void prepend(const char* variable, const std::string& entry);
    std::vector<std::string> programs() const;
    void set_if_linked(const Option& o);

    std::vector<std::string> for_hydra(const std::vector<Piece>& pieces) const;
    void print_help() const;
    void replace_config_file();
    // Hydra's help or version runs in a child, for which this returns; then ours is printed, and that is all.
    void add_to_output() const;

    Table table_;
    bool is_read_ = false;
    Asked asked_;
    std::vector<Piece> line_, config_;
    bool has_ours_in_file_ = false, config_is_pipe_ = false;
    std::map<std::string, std::string> given_;
    std::vector<std::string> notes_; // a line for each former name that was used
};

Launcher::Launcher(const std::vector<std::string>& words)
{
    line_ = sort_out(
        words, [this](const auto& all, size_t& at) { return take(all, at, false); }, asked_);
    if (!asked_.wrong.empty())
        fail(asked_.wrong);
    if (asked_.help || asked_.version)
        return;
    read_config_file();
    if (asked_.needs_program)
        fail(asked_.has_program ? "no program after the last ':'"
                                : "no program given; mpiexec -help lists the options");
    replace_host_files();
}

std::vector<Option>& Launcher::options(const char* what)
{
    if (!is_read_)
        table_ = read_table(share());
    is_read_ = true;
    if (table_.options.empty() && what)
        fail(std::string(what) + ": cannot read the table of options, " + table_.path + ": " +
             std::strerror(table_.error) + "; is the installation complete?");
    return table_.options;
}

// The file that hydra would read: of -configfile, of HYDRA_CONFIG_FILE, or in the home folder.
void Launcher::read_config_file()
{
    std::vector<std::string> words, paths = {asked_.config_file};
    if (asked_.config_file.empty()) {
        const char *named = std::getenv("HYDRA_CONFIG_FILE"), *home = std::getenv("HOME");
        paths = {named ? named : "", home ? home + std::string("/.mpiexec.hydra.conf") : ""};
    }
    const auto path = std::find_if(paths.begin(), paths.end(),
                                   [&](const auto& one) { return !one.empty() && read_config_words(one, words); });
    if (path == paths.end())
        return;
    Asked in_file;
    config_ = sort_out(
        words, [this](const auto& all, size_t& at) { return take(all, at, true); }, in_file);
    if (!in_file.wrong.empty())
        fail("configuration file " + *path + ": " + in_file.wrong);
    asked_.no_cleanup |= in_file.no_cleanup;
    if (in_file.has_program) // which the line's options are for, then
        asked_.needs_program = in_file.needs_program;
}

// A file that is not named on the command line may be missing. Hydra would wait for the writer of a pipe, and a pipe
// can be read only once.
bool Launcher::read_config_words(const std::string& path, std::vector<std::string>& words)
{
    config_is_pipe_ = is_pipe(path);
    const std::string wrong = read_words(path, words);
    if (!wrong.empty() && (config_is_pipe_ || !asked_.config_file.empty()))
        fail("cannot read the configuration file " + path + ": " + wrong);
    return wrong.empty();
}

void Launcher::replace_host_files()
{
    bool is_given = false;
    for (auto* pieces : {&line_, &config_})
        for (Piece& piece : *pieces) {
            is_given |=
                piece.name.compare(0, 4, "host") == 0 || piece.name.compare(0, 7, "machine") == 0 || piece.name == "f";
            if (piece.name != "f" && piece.name != "hostfile" && piece.name != "machinefile")
                continue;
            const std::string word = piece.words[0];
            const size_t equals = word.find('=');
            const std::string path = equals != word.npos ? word.substr(equals + 1) : piece.words.back();
            const std::string file = host_file(path);
            if (file == path)
                continue;
            piece.words = {word.substr(0, equals), file};
            has_ours_in_file_ |= pieces == &config_;
        }
    constexpr char variable[] = "HYDRA_HOST_FILE";
    if (const char* const named = std::getenv(variable); named && !is_given)
        setenv(variable, host_file(named).c_str(), 1);
}

bool Launcher::take(const std::vector<std::string>& words, size_t& at, bool in_config_file)
{
    const std::string word = words[at].substr(std::min(words[at].find_first_not_of('-'), words[at].size()));
    if (strncasecmp(word.c_str(), "workshare", strlen("workshare")) == 0) {
        has_ours_in_file_ |= in_config_file;
        take_ours(word, words, ++at, in_config_file);
        return true;
    }
    const std::string name = word.substr(0, word.find('='));
    if (const auto meant = nearest(options(nullptr), name); !meant.empty())
        fail("unknown option -" + name + ws::option::did_you_mean(meant));
    return false;
}

// All options that begin with -workshare, so that a misspelt one gets a message that helps
void Launcher::take_ours(const std::string& word, const std::vector<std::string>& words, size_t& at,
                         bool in_config_file)
{
    std::vector<Option>& all = options("-workshare");
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != std::string::npos)
        value = word.substr(equals + 1);

    auto o = all.begin();
    const auto is_called = [&](const std::string& one) {
        return !one.empty() && strcasecmp(name.c_str(), one.c_str() + 1) == 0;
    };
    while (o != all.end() && !is_called(o->name) && !is_called(o->former_name))
        ++o;
    if (o == all.end())
        fail("unknown option -" + name + ws::option::did_you_mean(nearest(all, name, any_distance)));
    if (is_called(o->former_name))
        note(ws::option::renamed(o->former_name, o->name));
    // Two that follow each other may have one name: the second is meant if a value is given.
    auto with_file = o + 1 != all.end() && o->name == (o + 1)->name ? o + 1 : o;
    if (with_file->is_file() && !value)
        value = next_file(*with_file, words, at);
    if (value)
        o = with_file;
    if (o->placeholder.empty()) {
        if (value)
            fail(o->name + " takes no value, but '" + *value + "' was given");
        o->value = "1";
        return;
    }
    if (!value && !o->alone.empty())
        value = o->alone;
    if (!value && (at == words.size() || is_option(words[at])))
        fail(o->name + ": no value given; expected " + o->wanted);
    if (!value)
        value = words[at++];
    value = current_word(*o, *value);
    if (!is_valid(*o, *value))
        fail(o->name + ": '" + *value + "' is not " + o->wanted);
    if (o->is_file())
        value = whole_path(*value);
    if (o->value && in_config_file && !o->in_config_file)
        return; // the command line goes first
    if (o->value && *o->value != *value)
        fail(o->name + " is given twice: " + *o->value + " and " + *value);
    o->value = value;
    o->in_config_file = in_config_file;
}

void Launcher::note(const std::string& line)
{
    if (std::find(notes_.begin(), notes_.end(), line) == notes_.end())
        notes_.push_back(line);
}

// Returns what the option's value is called now. Gives the option that a former word set besides its value, too.
std::string Launcher::current_word(const Option& o, const std::string& value)
{
    const ws::option::FormerWord* const word = ws::option::former_word(o.former_words, value);
    if (!word)
        return value;
    std::string now = o.name + "=" + word->now;
    for (Option& other : table_.options)
        if (!word->with.empty() && other.variable == word->with) {
            other.value = "1";
            now += " " + other.name;
        }
    note(ws::option::renamed(o.name + "=" + word->word, now));
    return word->now;
}

// A file may be the next word if its ending says that it is none of another option or the program.
std::optional<std::string> Launcher::next_file(const Option& o, const std::vector<std::string>& words, size_t& at) const
{
    if (at == words.size() || words[at].empty() || words[at][0] == '-' || words[at] == ":")
        return std::nullopt;
    const std::string& word = words[at];
    if (ends_well(o, word)) {
        at++;
        return word;
    }
    if (word.find('.') != std::string::npos && word.find('/') == std::string::npos && access(word.c_str(), X_OK) != 0 &&
        program_in_path(word).empty())
        fail(o.name + " " + word + ": no such program; the name of a file follows '=', as in " + o.name + "=out" +
             o.endings[0]);
    return std::nullopt;
}

std::optional<std::string> Launcher::genv(const std::string& name) const
{
    std::optional<std::string> found;
    const std::string spelt_out = name.compare(0, 3, "WS_") == 0 ? "WORKSHARE" + name.substr(2) : name;
    for (const std::string& one : {spelt_out, name})
        for (const auto* pieces : {&line_, &config_})
            for (const Piece& piece : *pieces)
                if (piece.is_global && piece.variable == one)
                    found = piece.value;
    return found;
}

// For some processes, those of a section.
bool Launcher::is_set_by_env(const std::string& name) const
{
    for (const auto* pieces : {&line_, &config_})
        for (const Piece& piece : *pieces)
            if (!piece.is_global && piece.variable == name)
                return true;
    return false;
}

std::optional<std::string> Launcher::value(const Option& o) const
{
    if (o.value)
        return o.value;
    std::optional<std::string> found = genv(o.variable);
    if (const char* const inherited = found ? nullptr : std::getenv(o.variable.c_str()))
        found = inherited;
    const ws::option::FormerWord* const word = found ? ws::option::former_word(o.former_words, *found) : nullptr;
    return word ? word->now : found;
}

// A variable of mpiexec's own environment: the processes inherit it, if it makes sense.
void Launcher::check_variable(const Option& o)
{
    const char* inherited = std::getenv(o.variable.c_str());
    if (o.value || genv(o.variable) || !inherited || (o.is_file() && !*inherited))
        return;
    if (!is_valid(o, inherited))
        fail(o.variable + "=" + inherited + " is not " + o.wanted);
    if (o.is_file())
        setenv(o.variable.c_str(), whole_path(inherited).c_str(), 1);
}

void Launcher::check_together(const Option& o) const
{
    const std::string missing = missing_for(
        o, table_.options, [](const Option& other) { return other.name; },
        [this](const Option& other) { return value(other); });
    if (!missing.empty())
        fail(o.name + " requires " + missing);
    for (const Option& other : table_.options) {
        if (&other == &o || !o.is_file())
            break;
        const auto one = value(other), two = value(o);
        if (other.is_file() && one && two && !one->empty() && *one == *two)
            fail(other.name + " and " + o.name + " have the same file, " + *one);
    }
}

// Takes out of this process's environment what the job that it is a process of has put there, as far as a script has
// handed it on: a rank hands nothing on (mpi/children.cpp).
void Launcher::forget_outer_job()
{
    if (std::getenv("WS_CALMED"))
        for (const ws::base::OpenMPWait& wait : ws::base::openmp_waits)
            unsetenv(wait.variable);
    // libws-early.so, loaded into this program as well, may have said how many virtual threads there are.
    const char *own = std::getenv("WS_OPENMP_OWN"), *why = std::getenv("WS_OPENMP_WHY"),
               *threads = std::getenv("OMP_NUM_THREADS");
    if (own && *own && std::strcmp(own, "-") != 0 && std::strcmp(own, "?") != 0 && !(why && *why))
        setenv("OMP_NUM_THREADS", own, 1);
    else if (own && threads && (!*threads || (std::strcmp(own, "-") == 0 && !(why && *why))))
        unsetenv("OMP_NUM_THREADS");
    forget_preloads();
    unsetenv("WORKSHARE");
    for (const Option& o : table_.options) {
        unsetenv(o.variable.c_str());
        unsetenv(("WORKSHARE" + o.variable.substr(2)).c_str());
        if (!o.former_variable.empty())
            unsetenv(o.former_variable.c_str());
    }
}

// OpenMP's runtimes are linked with the program: only a library that is loaded before them sees what it asks of them.
// Libraries that the user names stay in the variable, behind it. The loader takes a blank for the end of a path there:
// in a folder with a blank it finds a library by its name (mpi/children.cpp takes the folder out again).
void Launcher::preload(const std::string& library)
{
    constexpr char folders[] = "LD_LIBRARY_PATH";
    if (library.find(' ') == library.npos)
        return prepend("LD_PRELOAD", library);
    const size_t slash = library.rfind('/');
    const std::string folder = library.substr(0, slash);
    if (const auto now = given_.find(folders); now == given_.end() || now->second.rfind(folder, 0) != 0)
        prepend(folders, folder);
    prepend("LD_PRELOAD", library.substr(slash + 1));
}

void Launcher::prepend(const char* variable, const std::string& entry)
{
    const char* inherited = std::getenv(variable);
    const auto before = given_.find(variable);
    const std::string others =
        before != given_.end() ? before->second : genv(variable).value_or(inherited ? inherited : "");
    given_[variable] = entry + (others.empty() ? "" : ":" + others);
}

// What ends a path in the loader's variables.
static bool can_be_loaded_first(const char* library) { return !library[std::strcspn(library, ":;")]; }

void Launcher::must_preload(const Option& o)
{
    std::istringstream names(o.preloads);
    for (std::string name; names >> name;) {
        const std::string path = prefix() + "/lib/" + name;
        char library[PATH_MAX];
        if (access(path.c_str(), R_OK) != 0 || !realpath(path.c_str(), library))
            fail(o.name + ": cannot read " + path + ": " + std::strerror(errno) + "; is the installation complete?");
        if (!can_be_loaded_first(library))
            fail(o.name + ": cannot preload a library from a folder with a colon or a semicolon in its name: " +
                 library);
        preload(library);
    }
}

// The files of the job's programs.
std::vector<std::string> Launcher::programs() const
{
    std::vector<std::string> all;
    for (const auto* pieces : {&line_, &config_}) {
        std::string folder; // of the section
        for (const Piece& piece : *pieces) {
            const std::string& word = piece.words[0];
            if (!word.empty() && word[0] == '-') {
                const size_t name = word.find_first_not_of('-'), equals = word.find('=');
                if (name != word.npos && word.substr(name, equals - name) == "wdir")
                    folder = equals != word.npos ? word.substr(equals + 1) : piece.words.back();
                continue;
            }
            if (word.find('/') == word.npos)
                all.push_back(program_in_path(word));
            else
                all.push_back(word[0] == '/' || folder.empty() ? word : folder.append("/").append(word));
            folder.clear();
        }
    }
    return all;
}

// An option that is not given may be meant for programs that are linked with an OpenMP library, as far as their files
// show it: not those of a script, or of a program whose libraries alone use OpenMP. AddressSanitizer refuses to run
// behind another library. Where the library cannot be loaded first the job runs without; so does one that sets either
// variable for some of its processes, as -genv would take the place of that.
void Launcher::set_if_linked(const Option& o)
{
    if (is_set_by_env(o.variable) || is_set_by_env("LD_PRELOAD"))
        return;
    const std::string path = prefix() + "/lib/" + o.linked_preloads;
    char library[PATH_MAX];
    if (access(path.c_str(), R_OK) != 0 || !realpath(path.c_str(), library) || !can_be_loaded_first(library) ||
        (std::strchr(library, ' ') && is_set_by_env("LD_LIBRARY_PATH")))
        return;
    Linked linked;
    for (const std::string& program : programs()) {
        const Linked one = linked_with(program);
        linked.openmp |= one.openmp;
        linked.sanitizer |= one.sanitizer;
    }
    if (!linked.openmp || linked.sanitizer)
        return;
    given_[o.variable] = o.linked;
    preload(library);
}

void Launcher::settle()
{
    if (asked_.help || asked_.version)
        return;
    // a rank that dies in MPI_Init ends the job all the same: libmpich tells hydra that it is there
    if (asked_.no_cleanup)
        given_["MPIR_WORKSHARE_TELL"] = "1";
    for (const char* variable : {"WS_ENABLE", "WORKSHARE_ENABLE", "WORKSHARE"})
        if (std::getenv(variable) || genv(variable))
            options(variable);
    std::vector<Option>& all = table_.options;

    // In a process of a job (hydra tells it so) these variables are that job's: another one that it
    // starts would write over its files.
    if (std::getenv("MPI_LOCALNRANKS"))
        forget_outer_job();
    else
        for (const std::string& line : ws::option::settle_names(ws::launcher::spellings(all)))
            note(line);

    bool is_on = false;
    for (Option& o : all)
        if (o.variable == "WS_ENABLE") {
            check_variable(o);
            for (const Option& other : all)
                if (!value(o) && other.enables && other.value && *other.value != "off")
                    o.value = "1";
            is_on = value(o) == std::optional<std::string>("1");
        }
    for (const std::string& line : is_on ? notes_ : std::vector<std::string>())
        std::fprintf(stderr, "mpiexec: note: %s\n", line.c_str());

    std::string origins; // for WS_DISPLAY_ENV
    for (const Option& o : all) {
        if (o.value && !is_on && !(o.enables && *o.value == "off"))
            fail(o.name + " requires -workshare");
        if (!is_on)
            continue;
        check_variable(o);
        check_together(o);
        if (o.value) {
            given_[o.variable] = *o.value;
            origins += o.variable + ",";
        }
        const auto now = value(o);
        if (!o.linked.empty() && (!now || *now == o.linked)) {
            set_if_linked(o);
            if (!now && given_.count(o.variable))
                origins += o.variable + ":,";
            continue;
        }
        if (!now || *now == "0" || *now == "off")
            continue;
        if (o.calms)
            calm_openmp([this](const char* variable) { return std::getenv(variable) || genv(variable); },
                        [](const char* variable, const char* word) { setenv(variable, word, 1); });
        if (!o.preloads.empty())
            must_preload(o);
        make_room(
            o, *now,
            [this](const char* variable) {
                return std::getenv(variable) || genv(variable) || is_set_by_env(variable);
            },
            [this](const char* variable, const char* word) { given_[variable] = word; });
    }
    for (const Option& o : all)
        if (o.variable == "WS_DISPLAY_ENV" && is_on && value(o) == std::optional<std::string>("1"))
            given_["WS_GIVEN"] = origins;
}

// Without those settings of variables that an option has set: it goes before them.
std::vector<std::string> Launcher::for_hydra(const std::vector<Piece>& pieces) const
{
    std::vector<std::string> words;
    for (const Piece& piece : pieces)
        if (piece.variable.empty() || !given_.count(piece.variable))
            words.insert(words.end(), piece.words.begin(), piece.words.end());
    return words;
}

// Where the file is a pipe, or has options of ours, or settings that one replaces, hydra gets a copy in memory without
// them, which it inherits. A line is a section; hydra of MPICH 4.2 takes all lines for one where no colon is between
// them.
void Launcher::replace_config_file()
{
    std::vector<std::string> all;
    for (const Piece& piece : config_)
        all.insert(all.end(), piece.words.begin(), piece.words.end());
    const std::vector<std::string> words = for_hydra(config_);
    if (!has_ours_in_file_ && !config_is_pipe_ && words == all &&
        std::find(words.begin(), words.end(), ":") == words.end())
        return;

    std::string text;
    for (const std::string& word : words)
        text += word == ":" ? ":\n" : word + " ";
    if (text.empty()) // what is so in any case: hydra reads memory that nobody has written where a file has no word
        text = "-enable-auto-cleanup";
    const std::string copy = in_memory("configuration file", text);
    line_.erase(std::remove_if(line_.begin(), line_.end(), [](const Piece& piece) { return piece.is_config_file; }),
                line_.end());
    line_.insert(line_.begin(), {{"-configfile", copy}, "", "", false, true, "configfile"});
}

void Launcher::print_help() const
{
    const Table table = read_table(share());
    std::printf("  Workshare options (ranks that wait in MPI help ranks that compute):\n");
    if (table.options.empty())
        std::printf("    cannot be listed: %s: %s\n", table.path.c_str(), std::strerror(table.error));
    for (const Option& o : table.options)
        for (size_t i = 0; !o.name.empty() && i < o.help.size(); i++)
            std::printf("    %-32s %s\n", i ? "" : (o.name + o.placeholder).c_str(), o.help[i].c_str());
    std::printf("   A value may also follow as in -workshare-quantum=250. The variables that they set, WS_QUANTUM and\n"
                "   so on, count in mpiexec's own environment as well. See workshare(1).\n\n");
}

void Launcher::add_to_output() const
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0)
        return;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        fail(std::string("cannot run hydra: ") + std::strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        std::exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
    std::ifstream file(share() + "/version");
    std::string version;
    if (asked_.help)
        print_help();
    else if (std::getline(file, version))
        std::printf("    Workshare Version:                       %s\n", version.c_str());
    std::exit(EXIT_SUCCESS);
}

void Launcher::run(char* name)
{
    std::vector<std::string> words;
    for (const auto& [variable, value] : given_)
        words.insert(words.end(), {"-genv", variable, value});
    replace_config_file();
    const std::vector<std::string> own = for_hydra(line_);
    words.insert(words.end(), own.begin(), own.end());

    // Hydra finds its proxy beside the name that it is called by.
    std::vector<char*> argv = {name};
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    if (asked_.help || asked_.version)
        add_to_output();
    if (access("/proc/self", F_OK) != 0)
        std::fprintf(stderr,
                     "mpiexec: warning: /proc is not mounted, and MPI programs cannot start without it; mount it with "
                     "'mount -t proc proc /proc'\n");
    const std::string hydra = prefix() + "/lib/workshare/mpich/bin/mpiexec.hydra";
    execv(hydra.c_str(), argv.data());
    fail("cannot run " + hydra + ": " + std::strerror(errno) + "; is the installation complete?");
}

} // namespace

int main(int argc, char** argv)
{
    Launcher launcher({argv + 1, argv + argc});
    launcher.settle();
    launcher.run(argv[0]);
}
