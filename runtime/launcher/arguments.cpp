// SPDX-License-Identifier: MIT
#include "launcher/arguments.h"
#include "window/open_file.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

namespace ws::launcher {

namespace {

constexpr int a_variable = -1; // a name and a value, or both in one word with '='

// By how many values follow: hydra's options of MPICH 4.0 to 5.0.
const std::map<std::string, int>& options()
{
    static const std::map<std::string, int> all = [] {
        std::map<std::string, int> map;
        const struct {
            int values;
            const char* names;
        } rows[] = {
            {a_variable, "genv env"},
            {0, "help h genvnone genvall envnone envall profile prepend-rank l enable-x disable-x verbose v debug info "
                "version print-all-exitcodes disable-auto-cleanup dac enable-auto-cleanup disable-hostname-propagation "
                "enable-hostname-propagation pmi-port skip-launch-node hybrid-hosts"},
            {1, "genvlist f hostfile machinefile machine machines machinelist host hosts hostlist ppn output-from "
                "prepend-pattern outfile-pattern errfile-pattern outfile errfile wdir configfile envlist n np launcher "
                "launcher-exec bootstrap bootstrap-exec rmk topolib binding bind-to map-by membind demux iface "
                "nameserver order-nodes localhost usize gpus-per-proc g rankmap memory-alloc-kinds"},
        };
        for (const auto& row : rows) {
            std::istringstream names(row.names);
            for (std::string name; names >> name;)
                map[name] = row.values;
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

} // namespace

std::vector<std::string> known_options()
{
    std::vector<std::string> lines;
    for (const auto& [name, values] : options())
        lines.push_back(name + ' ' + (values == a_variable ? "NAME=VALUE" : std::to_string(values)));
    return lines;
}

std::vector<Piece> sort_out(const std::vector<std::string>& words, const Unknown& unknown, Asked& asked)
{
    std::vector<Piece> pieces;
    size_t at = 0;
    const auto rest = [&](size_t end) {
        if (at < end)
            pieces.push_back({{words.begin() + static_cast<long>(at), words.begin() + static_cast<long>(end)},
                              "",
                              "",
                              false,
                              false});
        at = end;
    };

    while (at < words.size()) {
        if (words[at].empty() || words[at][0] != '-') { // a program, up to the next section
            const auto end = std::find(words.begin() + static_cast<long>(at), words.end(), ":");
            rest(static_cast<size_t>(end - words.begin()) + (end != words.end()));
            continue;
        }
        const size_t begin = std::min(words[at].find_first_not_of('-'), words[at].size());
        const size_t equals = words[at].find('=', begin);
        const std::string name = lower(words[at].substr(begin, equals - begin));
        const auto known = options().find(name);
        if (known == options().end()) {
            if (unknown(words, at))
                continue;
            rest(words.size());
            break;
        }
        if (known->second == 0 && equals != std::string::npos) { // hydra takes what follows for the program
            rest(words.size());
            break;
        }
        Piece piece;
        piece.words.push_back(words[at++]);
        std::vector<std::string> values;
        const auto next = [&] {
            if (equals != std::string::npos && values.empty()) {
                values.push_back(piece.words[0].substr(equals + 1));
            } else if (at < words.size()) {
                values.push_back(words[at]);
                piece.words.push_back(words[at++]);
            }
        };
        if (known->second)
            next();
        if (known->second == a_variable && !values.empty()) {
            const size_t divides = values[0].find('=');
            piece.variable = values[0].substr(0, divides);
            if (divides != std::string::npos)
                piece.value = values[0].substr(divides + 1);
            else
                next();
            if (values.size() > 1)
                piece.value = values[1];
            piece.is_global = name == "genv";
        }
        asked.help |= name == "help" || name == "h";
        asked.version |= name == "info" || name == "version";
        piece.is_config_file = name == "configfile";
        if (piece.is_config_file && !values.empty())
            asked.config_file = values[0];
        pieces.push_back(piece);
    }
    return pieces;
}

std::string read_words(const std::string& path, std::vector<std::string>& words)
{
    std::string text;
    if (std::string wrong = window::read_whole(path.c_str(), text); !wrong.empty())
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
