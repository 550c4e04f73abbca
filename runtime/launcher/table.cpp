// SPDX-License-Identifier: MIT
#include "launcher/table.h"

#include "base/text.h"
#include "options/nearest.h"
#include "options/size.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace ws::launcher {

namespace {

bool ends_with(const std::string& text, const std::string& ending)
{
    return text.size() > ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

std::vector<std::string> split(const std::string& text)
{
    std::istringstream in(text);
    std::vector<std::string> words;
    for (std::string word; in >> word;)
        words.push_back(word);
    return words;
}

// A line of the file.
void take(Option& o, const std::string& key, const std::string& value)
{
    if (key == "option") {
        const size_t end = std::min(value.find_first_of(" =["), value.size());
        o.name = value.substr(0, end);
        o.placeholder = value.substr(end);
    } else if (key == "kind") {
        unsigned long long least, most;
        o.kind = value;
        if (std::sscanf(value.c_str(), "number %llu %llu", &least, &most) == 2) {
            o.kind = "number";
            o.least = least;
            o.most = most;
        }
    } else if (key == "words") {
        o.words = split(value);
    } else if (key == "endings") {
        o.endings = split(value);
    } else if (key == "help") {
        o.help.push_back(value);
    } else if (key == "any_ending") {
        o.any_ending = true;
    } else if (key == "enables") {
        o.enables = true;
    } else if (key == "calms") {
        o.calms = true;
    } else if (key == "numbered") {
        std::istringstream(value) >> o.numbered >> o.least >> o.most;
    } else if (key == "former") {
        for (const std::string& name : split(value))
            (name[0] == '-' ? o.former_name : o.former_variable) = name;
    } else if (key == "former_word") {
        std::vector<std::string> words = split(value);
        words.resize(3);
        o.former_words.push_back({words[0], words[1], words[2]});
    } else if (key == "needs") {
        o.needs_words = split(value);
        o.needs = o.needs_words.empty() ? "" : o.needs_words[0];
        o.needs_words.erase(o.needs_words.begin(), o.needs_words.begin() + !o.needs_words.empty());
    } else if (key == "linked") {
        std::istringstream(value) >> o.linked >> o.linked_preloads;
    } else {
        std::string* place = key == "alone"      ? &o.alone
                             : key == "preloads" ? &o.preloads
                             : key == "wanted"   ? &o.wanted
                                                 : nullptr;
        if (place)
            *place = value;
    }
}

} // namespace

bool is_number(const std::string& text, uint64_t least, uint64_t most)
{
    const std::optional<uint64_t> number = base::whole_number(text);
    return number && *number >= least && *number <= most;
}

Table read_table(const std::string& share)
{
    Table table;
    table.path = share + "/options";
    std::ifstream file(table.path);
    table.error = file ? 0 : errno;
    for (std::string line; std::getline(file, line);) {
        std::istringstream in(line);
        std::string key, value;
        if (!(in >> key) || key[0] == '#')
            continue;
        std::getline(in >> std::ws, value);
        if (key == "variable") {
            table.options.emplace_back();
            table.options.back().variable = value;
        } else if (!table.options.empty()) {
            take(table.options.back(), key, value);
        }
    }
    if (table.options.empty() && !table.error)
        table.error = ENODATA;
    return table;
}

std::vector<option::Spelling> spellings(const std::vector<Option>& options)
{
    std::vector<option::Spelling> all;
    for (const Option& o : options)
        all.push_back({o.variable, o.name, !o.placeholder.empty(), o.alone, o.former_name, o.former_variable,
                       o.former_words, o.words});
    return all;
}

bool ends_well(const Option& file, const std::string& value)
{
    return std::any_of(file.endings.begin(), file.endings.end(),
                       [&](const std::string& e) { return ends_with(value, e); });
}

bool is_valid(const Option& o, const std::string& value)
{
    if (std::find(o.words.begin(), o.words.end(), value) != o.words.end())
        return true;
    if (!o.numbered.empty() && value.compare(0, o.numbered.size() + 1, o.numbered + ":") == 0)
        return is_number(value.substr(o.numbered.size() + 1), o.least, o.most);
    if (o.kind == "flag")
        return value == "0" || value == "1";
    if (o.kind == "number")
        return is_number(value, o.least, o.most);
    if (o.is_file())
        return !value.empty() && (o.any_ending || ends_well(o, value));
    if (o.kind == "size")
        return option::stack_bytes(value.c_str()).has_value();
    return o.kind != "words"; // what else there is libws looks at
}

std::vector<std::string> nearest(const std::vector<Option>& options, const std::string& misspelt, int most)
{
    std::vector<std::string> names;
    for (const Option& o : options)
        if (!o.name.empty() && (names.empty() || names.back() != o.name)) // two that follow each other may have one
            names.push_back(o.name);
    return option::nearest(names, misspelt, most);
}

} // namespace ws::launcher
