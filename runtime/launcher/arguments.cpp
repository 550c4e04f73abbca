// SPDX-License-Identifier: MIT
#include "launcher/arguments.h"
#include "launcher/table.h"
#include "base/open_file.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstring>
#include <map>
#include <sstream>

namespace ws::launcher {

namespace {

constexpr int a_variable = -1; // a name and a value, or both in one word with '='
constexpr uint64_t most_processes = 10'000'000, most_int = INT_MAX;
#define MOST_PROCESSES "10000000"

bool is_anything(const std::string&)
{
    return true;
}

bool is_text(const std::string& value)
{
    return !value.empty();
}

bool is_count(const std::string& value)
{
    return is_number(value, 1, most_processes);
}

bool is_rank(const std::string& value)
{
    return is_number(value, 0, most_processes - 1);
}

bool is_universe(const std::string& value)
{
    return value == "SYSTEM" || value == "INFINITE" || is_number(value, 1, most_int);
}

bool is_gpus(const std::string& value)
{
    return value == "AUTO" || is_number(value, 0, most_int);
}

bool is_order(const std::string& value)
{
    const char* const words[] = {"ASCENDING", "ascending", "UP", "up", "DESCENDING", "descending", "DOWN", "down"};
    return std::find(std::begin(words), std::end(words), value) != std::end(words);
}

// As in a,b:2; hydra passes over empty names.
bool is_hosts(const std::string& value)
{
    std::istringstream hosts(value);
    bool some = false;
    for (std::string host; std::getline(hosts, host, ','); some |= !host.empty()) {
        const size_t colon = host.find(':');
        if (colon == 0 || (colon != host.npos && !is_count(host.substr(colon + 1))))
            return false;
    }
    return some;
}

// As in core or core:2; hydra divides by the number.
bool is_binding(const std::string& value)
{
    const size_t colon = value.find(':');
    const std::string unit = value.substr(0, colon);
    return is_text(unit) &&
           (colon == value.npos || unit == "user" || unit == "pci" || is_count(value.substr(colon + 1)));
}

struct HydraOption {
    int values;       // how many follow
    const char* name; // or several
    bool (*is_valid)(const std::string& value);
    const char* wanted; // for messages: what the value should be
};

// hydra's options of MPICH 4.0 to 5.0
constexpr HydraOption rows[] = {
    {0,
     "help h genvnone genvall envnone envall profile prepend-rank l enable-x disable-x verbose v debug info version "
     "print-all-exitcodes disable-auto-cleanup dac enable-auto-cleanup disable-hostname-propagation "
     "enable-hostname-propagation pmi-port skip-launch-node hybrid-hosts",
     is_anything, ""},
    {a_variable, "genv env", is_text, "the name of a variable and its value"},
    {1, "n np ppn", is_count, "a number from 1 to " MOST_PROCESSES},
    {1, "output-from", is_rank, "a rank"},
    {1, "usize", is_universe, "SYSTEM, INFINITE or a number from 1"},
    {1, "gpus-per-proc g", is_gpus, "AUTO or a number from 0"},
    {1, "order-nodes", is_order, "ASCENDING or DESCENDING"},
    {1, "machine machines machinelist host hosts hostlist", is_hosts,
     "a list of hosts as in a,b:2, whose numbers are from 1 to " MOST_PROCESSES},
    {1, "binding bind-to map-by", is_binding, "a binding as in core or core:2"},
    {1, "f hostfile machinefile configfile", is_text, "the name of a file"},
    {1, "outfile-pattern errfile-pattern outfile errfile", is_text, "a pattern of files' names"},
    {1, "prepend-pattern", is_anything, "a pattern"},
    {1, "wdir", is_text, "the name of a folder"},
    {1, "genvlist envlist", is_text, "a list of variables"},
    {1, "launcher bootstrap rmk topolib demux membind nameserver iface localhost rankmap memory-alloc-kinds", is_text,
     "a name"},
    {1, "launcher-exec bootstrap-exec", is_text, "the name of a program"},
};

const std::map<std::string, const HydraOption*>& options()
{
    static const std::map<std::string, const HydraOption*> all = [] {
        std::map<std::string, const HydraOption*> map;
        for (const HydraOption& row : rows) {
            std::istringstream names(row.name);
            for (std::string name; names >> name;)
                map[name] = &row;
        }
        return map;
    }();
    return all;
}

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

// An option's name, in lower case and without dashes; empty if `word` is none.
std::string name_in(const std::string& word)
{
    const size_t begin = word.find_first_not_of('-');
    return begin == 0 || begin == word.npos ? "" : lower(word.substr(begin, word.find('=', begin) - begin));
}

// hydra prints what it has to say on the option before.
bool is_help(const std::string& word)
{
    return word == "-h" || word == "-help" || word == "--help";
}

// Returns "" or what is wrong with the values that `option`, which is `known`, was given. `apart`: in words of their
// own.
std::string wrong_values(const std::string& option, const HydraOption& known, const std::vector<std::string>& values,
                         bool apart)
{
    const bool takes_any = known.is_valid == is_anything;
    const bool is_missing = values.empty() || (values[0].empty() && !takes_any) ||
                            (apart && !takes_any && (values[0] == ":" || is_option(values[0])));
    if (is_missing || (known.values == a_variable &&
                       (values[0][0] == '=' || (values.size() < 2 && values[0].find('=') == values[0].npos))))
        return option + ": no value given; expected " + known.wanted;
    return known.is_valid(values[0]) ? "" : option + ": '" + values[0] + "' is not " + known.wanted;
}

// Walks over the words of a command line, and makes pieces of them.
class Sorter {
public:
    Sorter(const std::vector<std::string>& words, const Unknown& unknown, Asked& asked)
        : words_(words), unknown_(unknown), asked_(asked)
    {
    }

    std::vector<Piece> run()
    {
        while (at_ < words_.size()) {
            if (words_[at_].empty() || words_[at_][0] != '-')
                take_program();
            else
                take_option();
        }
        asked_.needs_program &= !asks_;
        return std::move(pieces_);
    }

private:
    void complain(const std::string& what)
    {
        if (!asks_ && asked_.wrong.empty())
            asked_.wrong = what;
    }

    // Takes the words before `end` as they stand.
    void take_words(size_t end)
    {
        if (at_ < end)
            pieces_.push_back({{words_.begin() + static_cast<long>(at_), words_.begin() + static_cast<long>(end)},
                               "",
                               "",
                               false,
                               false,
                               ""});
        at_ = end;
    }

    // A program, up to the next section.
    void take_program()
    {
        if (words_[at_] == ":")
            complain("no program before a ':'");
        const auto end = std::find(words_.begin() + static_cast<long>(at_), words_.end(), ":");
        asked_.has_program = true;
        asked_.needs_program = end != words_.end();
        take_words(static_cast<size_t>(end - words_.begin()) + asked_.needs_program);
    }

    void take_option()
    {
        const std::string& word = words_[at_];
        const std::string name = name_in(word);
        const auto found = options().find(name);
        if (found == options().end()) {
            if (unknown_(words_, at_))
                return;
            take_words(words_.size());
            asked_.needs_program = false; // hydra will say what is wrong
            return;
        }
        const size_t equals = word.find('=');
        // hydra would take what follows for the program
        if (found->second->values == 0 && equals != std::string::npos) {
            complain("option -" + name + " takes no value, but '" + word.substr(equals + 1) + "' was given");
            take_words(words_.size());
            return;
        }
        take_known(name, *found->second, equals);
    }

    // An option of hydra's. `equals`: where its word has a '='.
    void take_known(const std::string& name, const HydraOption& known, size_t equals)
    {
        Piece piece;
        piece.name = name;
        piece.words.push_back(words_[at_++]);
        const std::vector<std::string> values = take_values(piece, known, equals);
        asked_.help |= name == "help" || name == "h";
        asked_.version |= name == "info" || name == "version";
        asked_.no_cleanup |= name == "disable-auto-cleanup" || name == "dac";
        asks_ |= asked_.help || asked_.version || (!values.empty() && is_help(values[0]));
        if (known.values)
            complain(wrong_values('-' + name, known, values, equals == std::string::npos));
        piece.is_config_file = name == "configfile";
        if (piece.is_config_file && !values.empty())
            asked_.config_file = values[0];
        pieces_.push_back(piece);
    }

    // The values that the option in `piece` was given; adds the words that they stand in to the piece.
    std::vector<std::string> take_values(Piece& piece, const HydraOption& known, size_t equals)
    {
        std::vector<std::string> values;
        const auto next = [&] {
            if (equals != std::string::npos && values.empty()) {
                values.push_back(piece.words[0].substr(equals + 1));
            } else if (at_ < words_.size()) {
                values.push_back(words_[at_]);
                piece.words.push_back(words_[at_++]);
            }
        };
        if (known.values)
            next();
        if (known.values == a_variable && !values.empty()) {
            const size_t divides = values[0].find('=');
            piece.variable = values[0].substr(0, divides);
            if (divides != std::string::npos)
                piece.value = values[0].substr(divides + 1);
            else
                next();
            if (values.size() > 1)
                piece.value = values[1];
            piece.is_global = piece.name == "genv";
        }
        return values;
    }

    const std::vector<std::string>& words_;
    const Unknown& unknown_;
    Asked& asked_;
    std::vector<Piece> pieces_;
    size_t at_ = 0;
    bool asks_ = false; // for help or a version: nothing will run
};

} // namespace

bool is_option(const std::string& word)
{
    const std::string name = name_in(word);
    return options().count(name) || name.compare(0, strlen("workshare"), "workshare") == 0;
}

std::vector<std::string> known_options()
{
    std::vector<std::string> lines;
    for (const auto& [name, known] : options())
        lines.push_back(name + ' ' + (known->values == a_variable ? "NAME=VALUE" : std::to_string(known->values)));
    return lines;
}

std::vector<Piece> sort_out(const std::vector<std::string>& words, const Unknown& unknown, Asked& asked)
{
    return Sorter(words, unknown, asked).run();
}

std::string wrong_hosts(const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line, host; std::getline(lines, line);)
        if (std::istringstream(line.substr(0, line.find('#'))) >> host && !is_hosts(host))
            return "'" + host + "' is not a host, or one with a number from 1 to " MOST_PROCESSES " as in b:2";
    return "";
}

std::string read_words(const std::string& path, std::vector<std::string>& words)
{
    std::string text;
    if (std::string wrong = base::read_whole(path.c_str(), text); !wrong.empty())
        return wrong;
    std::istringstream file(text);
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line.substr(0, line.find('#')));
        bool begins = !words.empty() && words.back() != ":";
        for (std::string word; in >> word; begins = false) {
            if (begins)
                words.emplace_back(":");
            words.push_back(word);
        }
    }
    return "";
}

} // namespace ws::launcher
