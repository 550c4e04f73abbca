// SPDX-License-Identifier: MIT
//
// workshare [OPTION]... PROGRAM [ARGUMENT]...: starts a rank, or a launcher of ranks, with Workshare, whichever MPI the
// program uses. The launcher of that MPI starts this program once a rank; it looks up which MPI the program is linked
// with, has the libws of that MPI loaded first, sets the variables that its options stand for, and becomes the program.
//
// Where it cannot help the program runs as without it, and rank 0 says why in one line.
#include "base/mpi_family.h"
#include "launcher/forget_preloads.h"
#include "launcher/linked.h"
#include "launcher/settle.h"
#include "launcher/table.h"
#include "options/nearest.h"
#include "options/spelling.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <unistd.h>

using namespace ws::launcher;

namespace {

[[noreturn]] void fail(const std::string& message)
{
    if (ws::base::is_first_rank())
        std::fprintf(stderr, "workshare: error: %s\n", message.c_str());
    std::exit(EXIT_FAILURE);
}

void note(const std::string& message)
{
    if (ws::base::is_first_rank())
        std::fprintf(stderr, "workshare: note: %s\n", message.c_str());
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

// -workshare-quantum is --quantum here.
std::string own_name(const Option& o)
{
    constexpr char front[] = "-workshare-";
    const size_t length = sizeof front - 1;
    return o.name.compare(0, length, front) == 0 ? "--" + o.name.substr(length) : "";
}

class Command {
public:
    explicit Command(std::vector<std::string> words) : table_(read_table(prefix() + "/share/workshare"))
    {
        if (table_.options.empty())
            fail("cannot read the table of options, " + table_.path + ": " + std::strerror(table_.error) +
                 "; is the installation complete?");
        take_options(words);
        rest_ = std::move(words);
    }
    [[noreturn]] void run();

private:
    void take_options(std::vector<std::string>& words);
    void take(const std::string& word, std::vector<std::string>& words);
    void help() const;
    void print_flags(const std::string& what) const;
    void settle();
    std::optional<std::string> value(const Option& o) const;
    void load_first();
    bool choose(const std::string& program);
    void choose_later();
    void let_asan_start();
    void load_first_of_all(const std::string& library);
    bool insert_into(const std::string& launcher);
    [[noreturn]] void become();

    Table table_;
    std::vector<std::string> rest_; // the program and its arguments
    std::string mpi_;               // of --mpi
    std::map<std::string, std::string> given_;
    std::vector<std::string> first_; // libraries that are loaded first, the last one first of all
    std::string folder_;             // that ours among them lie in
};

void Command::help() const
{
    std::printf(
        "usage: workshare [OPTION]... PROGRAM [ARGUMENT]...\n"
        "  mpirun -n 4 workshare ./app   starts ranks that share their cores, with any MPI: nothing is compiled again\n"
        "  workshare mpirun -n 4 ./app   the same, on one node\n"
        "  mpicc $(workshare --cflags) app.c $(workshare --libs)\n"
        "                                compiles `#pragma ws`, with the mpicc of any MPI\n\n"
        "Options:\n"
        "    --mpi NAME                       the MPI of the program, if it cannot be seen: %s\n",
        known_families(prefix()).c_str());
    for (const Option& o : table_.options)
        for (size_t i = 0; !own_name(o).empty() && i < o.help.size(); i++)
            std::printf("    %-32s %s\n", i ? "" : (own_name(o) + o.placeholder).c_str(), o.help[i].c_str());
    for (const auto& [name, text] : {std::pair("--cflags", "print what a compiler needs for `#pragma ws`"),
                                     std::pair("--libs", "print what the linker needs for it"),
                                     std::pair("--help", "this"), std::pair("--version", "the version of Workshare")})
        std::printf("    %-32s %s\n", name, text);
}

// Quotes blanks as pkg-config does: they survive a shell that reads the words again (eval).
std::string quoted(const std::string& path)
{
    std::string all;
    for (const char c : path)
        all += std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80 ||
                       std::strchr("/._-+=:,@%", c)
                   ? std::string(1, c)
                   : std::string("\\") + c;
    return all;
}

void Command::print_flags(const std::string& what) const
{
    const std::string library = quoted(prefix() + "/lib/workshare");
    std::string family = mpi_;
    if (what == "--cflags") {
        const std::string plugin = "/gcc-" + gcc_version() + "/ws_gcc.so", path = prefix() + "/lib/workshare" + plugin;
        if (access(path.c_str(), R_OK) != 0)
            fail("--cflags: there is no plugin for this gcc: " + path);
        std::printf("-fplugin=%s%s -isystem %s/include\n", library.c_str(), plugin.c_str(), library.c_str());
        return;
    }
    if (family.empty())
        family = family_of_mpicc();
    if (family.empty())
        fail("--libs: cannot see which MPI mpicc compiles with; name it with --mpi: " + known_families(prefix()));
    std::printf("-L%s/%s -Wl,-rpath,%s/%s -lws\n", library.c_str(), family.c_str(), library.c_str(), family.c_str());
}

void Command::take_options(std::vector<std::string>& words)
{
    std::string flags;
    while (!words.empty() && words[0][0] == '-') {
        const std::string word = words[0];
        words.erase(words.begin());
        if (word == "--")
            break;
        if (word == "--help" || word == "-h" || word == "-help") {
            help();
            std::exit(EXIT_SUCCESS);
        }
        if (word == "--version") {
            std::ifstream file(prefix() + "/share/workshare/version");
            std::string version;
            std::getline(file, version);
            std::printf("workshare %s\n", version.c_str());
            std::exit(EXIT_SUCCESS);
        }
        if (word == "--cflags" || word == "--libs") {
            flags = word;
            continue;
        }
        if (word == "--mpi" || word.compare(0, 6, "--mpi=") == 0) {
            if (word == "--mpi" && words.empty())
                fail("--mpi: no value given; expected one of " + known_families(prefix()));
            mpi_ = word == "--mpi" ? words[0] : word.substr(6);
            if (word == "--mpi")
                words.erase(words.begin());
            if (libws_of(prefix(), mpi_).empty())
                fail("--mpi: '" + mpi_ + "' is none of " + known_families(prefix()));
            continue;
        }
        take(word, words);
    }
    if (!flags.empty()) {
        print_flags(flags);
        std::exit(EXIT_SUCCESS);
    }
    if (words.empty())
        fail("no program given; workshare --help lists the options");
}

void Command::take(const std::string& word, std::vector<std::string>& words)
{
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::optional<std::string> value;
    if (equals != word.npos)
        value = word.substr(equals + 1);
    auto& all = table_.options;
    auto o = std::find_if(all.begin(), all.end(), [&](const Option& one) { return own_name(one) == name; });
    if (o == all.end()) {
        std::vector<Option> own;
        std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                     [](const Option& one) { return !own_name(one).empty(); });
        std::vector<std::string> meant =
            nearest(own, "workshare-" + name.substr(name.find_first_not_of('-')), any_distance);
        for (std::string& one : meant) // -workshare-quantum is --quantum here
            one.replace(0, sizeof "-workshare" - 1, "-");
        fail("unknown option " + name + ws::option::did_you_mean(meant));
    }
    // Two that follow each other may have one name: the second, a file, is meant if a value is given.
    if (o + 1 != all.end() && (o + 1)->name == o->name && value)
        ++o;
    if (o->placeholder.empty()) {
        if (value)
            fail(name + " takes no value, but '" + *value + "' was given");
        value = "1";
    } else if (!value && !o->alone.empty()) {
        value = o->alone;
    } else if (!value) {
        if (words.empty())
            fail(name + ": no value given; expected " + o->wanted);
        value = words[0];
        words.erase(words.begin());
    }
    if (!o->placeholder.empty() && !is_valid(*o, *value))
        fail(name + ": '" + *value + "' is not " + o->wanted);
    if (o->value && *o->value != *value)
        fail(name + " is given twice: " + *o->value + " and " + *value);
    o->value = o->is_file() ? whole_path(*value) : *value;
}

std::optional<std::string> Command::value(const Option& o) const
{
    if (o.value)
        return o.value;
    const char* const inherited = std::getenv(o.variable.c_str());
    return inherited ? std::optional<std::string>(inherited) : std::nullopt;
}

// The loader takes a blank in LD_PRELOAD for the end of a path: in a folder with a blank it finds a library by its name
// (mpi/children.cpp takes the folder out again). Libraries and folders that the user names stay behind ours.
void Command::load_first()
{
    if (first_.empty())
        return;
    if (folder_.find_first_of(":;") != folder_.npos)
        fail("cannot preload a library from a folder with a colon or a semicolon in its name: " + folder_);
    const auto prepend = [&](const char* variable, const std::string& entries) {
        const char* const others = std::getenv(variable);
        given_[variable] = entries + (others && *others ? std::string(":") + others : "");
    };
    const bool by_name = folder_.find(' ') != folder_.npos;
    std::string libraries;
    for (auto one = first_.rbegin(); one != first_.rend(); ++one) {
        const bool is_ours = one->compare(0, 5, "libws") == 0;
        libraries += (libraries.empty() ? "" : ":") + (is_ours && !by_name ? folder_ + "/" + *one : *one);
    }
    prepend("LD_PRELOAD", libraries);
    if (by_name)
        prepend("LD_LIBRARY_PATH", folder_);
    first_.clear();
}

// The variables that the options stand for, and what they need besides libws.
void Command::settle()
{
    for (const std::string& line : ws::option::settle_names(spellings(table_.options)))
        note(line);
    given_["WS_ENABLE"] = "1";
    for (const Option& o : table_.options) {
        const std::optional<std::string> now = value(o);
        if (!now || o.variable == "WS_ENABLE")
            continue;
        if (!o.value && !(o.is_file() && now->empty()) && !o.placeholder.empty() && !is_valid(o, *now))
            fail(o.variable + "=" + *now + " is not " + o.wanted);
        const std::string missing = missing_for(o, table_.options, own_name, [this](const Option& other) {
            return other.variable == "WS_ENABLE" ? std::optional<std::string>("1") : value(other);
        });
        if (!missing.empty())
            fail(own_name(o) + " requires " + missing);
        given_[o.variable] = *now;
        if (o.value)
            given_["WS_GIVEN"] += o.variable + ",";
        if (*now == "0" || *now == "off")
            continue;
        const auto is_set = [](const char* variable) { return std::getenv(variable) != nullptr; };
        const auto set = [this](const char* variable, const char* word) { given_[variable] = word; };
        if (o.calms)
            calm_openmp(is_set, set);
        std::istringstream names(o.preloads);
        for (std::string name; names >> name;)
            if (name != "libws-calls.so") // libws has what that does
                first_.push_back(name);
        make_room(o, *now, is_set, set);
    }
    if (const char* const ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE")) // libws-early.so knows hydra's name
        given_["MPI_LOCALNRANKS"] = ranks;
}

// Has libws loaded first for `program`, an ELF file or a script. False: it runs as without us, and it has been said
// why.
bool Command::choose(const std::string& program)
{
    const Linked linked = linked_with(program);
    const std::string what = program + " ";
    if (linked.changes_user) {
        note(what + "changes the user or group: nothing can be loaded into it; it runs without Workshare");
        return false;
    }
    if (!linked.second.empty()) {
        note(what + "is linked with two MPI libraries, " + linked.soname + " and " + linked.second +
             "; it runs without Workshare");
        return false;
    }
    if (linked.is_static || linked.has_static_mpi) {
        note(what + (linked.has_static_mpi ? "has its MPI linked into it" : "is linked statically") +
             "; it runs without Workshare, which comes with shared libraries");
        return false;
    }
    if (linked.has_asan)
        let_asan_start();
    std::string family = mpi_;
    folder_ = prefix() + "/lib";
    if (family.empty() && !linked.mpi.empty() && is_workshares(linked.mpi))
        return true; // its own MPICH finds libws by itself
    if (family.empty())
        family = family_of(linked.soname);
    if (family.empty() && !linked.soname.empty()) {
        note(what + "uses " + linked.soname + ", an MPI that Workshare does not know; it runs without Workshare");
        return false;
    }
    if (family.empty() && !ws::base::rank_by_launcher()) {
        note(what +
             "is linked with no MPI, and no launcher has started it; it runs without Workshare (--mpi names one)");
        return false;
    }
    if (family.empty()) {
        choose_later();
        return true;
    }
    const std::string libws = libws_of(prefix(), family);
    if (libws.empty()) {
        note(what + "uses " + family + ", which this Workshare was not built for (built for: " +
             known_families(prefix()) + "); it runs without Workshare");
        return false;
    }
    if (linked.soname.empty()) // it loads the MPI that --mpi names after it has started
        if (const std::string mpi = library_of(prefix(), family); !mpi.empty())
            first_.push_back(mpi);
    load_first_of_all(libws);
    return true;
}

// libws-early.so stays in front of this library, and stands in its folder, too.
void Command::load_first_of_all(const std::string& library)
{
    folder_ = library.substr(0, library.rfind('/'));
    first_.push_back(library.substr(folder_.size() + 1));
    std::stable_partition(first_.begin(), first_.end(), [](const std::string& one) { return one != "libws-early.so"; });
}

// An interpreter loads its MPI library after it has started, and a script starts another program: the library that
// waits for them finds out which MPI they use.
void Command::choose_later()
{
    let_asan_start();
    load_first_of_all(prefix() + "/lib/workshare/libws-late.so");
}

// A program with AddressSanitizer ends at once if another library is loaded before the sanitizer's, unless this says
// that it may be.
void Command::let_asan_start()
{
    const char* const given = std::getenv("ASAN_OPTIONS");
    given_["ASAN_OPTIONS"] =
        std::string("verify_asan_link_order=0") + (given && *given ? ":" : "") + (given ? given : "");
}

// `workshare mpirun ...`: the launcher hands the variables on. Open MPI's and hydra get them as options, because a
// library that is loaded first into them, too, would only take time.
bool Command::insert_into(const std::string& launcher)
{
    const Launcher kind = launcher_of(launcher);
    if (kind == Launcher::none)
        return false;
    std::string program;
    for (size_t i = 1; i < rest_.size() && program.empty(); i++)
        if (const std::string path = find_program(rest_[i]); !path.empty() && !linked_with(path).soname.empty())
            program = path;
    if (program.empty()) {
        choose_later();
    } else if (!choose(program)) {
        first_.clear();
        given_.clear();
        return true;
    }
    load_first();
    std::vector<std::string> words;
    std::string list = "--export=ALL";
    for (const auto& [name, value] : given_) {
        std::string setting = name;
        setting.append("=").append(value);
        if (kind == Launcher::open_mpi)
            words.insert(words.end(), {"-x", setting});
        else if (kind == Launcher::hydra)
            words.insert(words.end(), {"-genv", name, value});
        else
            list.append(",").append(setting);
    }
    if (kind == Launcher::slurm)
        words = {list};
    for (size_t i = 0; i < rest_.size(); i++)
        if (i == 0 || (kind == Launcher::open_mpi && rest_[i] == ":")) // -x is for the programs up to the next colon
            rest_.insert(rest_.begin() + ptrdiff_t(i) + 1, words.begin(), words.end());
    given_.clear();
    return true;
}

void Command::become()
{
    load_first();
    for (const auto& [name, value] : given_)
        setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (std::string& word : rest_)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    const int error = errno;
    std::fprintf(stderr, "workshare: error: cannot run %s: %s\n", argv[0], std::strerror(error));
    std::exit(error == ENOENT ? 127 : 126);
}

void Command::run()
{
    forget_preloads(); // those of an outer `workshare`, for another MPI perhaps
    const std::string program = find_program(rest_[0]);
    if (program.empty())
        become(); // says what is wrong
    settle();
    if (!insert_into(program) && !choose(program)) {
        given_.clear();
        first_.clear();
        for (const Option& o : table_.options)
            unsetenv(o.variable.c_str());
    }
    become();
}

} // namespace

int main(int argc, char** argv)
{
    Command command({argv + 1, argv + argc});
    command.run();
}
