// SPDX-License-Identifier: MIT
//
// Other spellings of variables and options, translated once, before anything reads them: former names and words,
// WORKSHARE_X for WS_X, and the list WORKSHARE="on,quantum=250,report=run.json". For mpiexec, which has its options
// from a file, and for libws and ws-doctor, which are compiled with the table.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace ws::option {

// A word that has another name now. `with`: a variable that is set to 1 as well, or empty.
struct FormerWord {
    std::string word, now, with;
};

// What an option of the table is called.
struct Spelling {
    std::string variable;      // WS_QUANTUM
    std::string option;        // -workshare-quantum; empty: mpiexec has no such option
    bool takes_value = false;  // the option does
    std::string alone;         // its value if none is given; empty: there must be one
    std::string former_option, former_variable; // till the next release; empty: none
    std::vector<FormerWord> former_words;
    std::vector<std::string> words; // that it may be; empty: it is no word
};

inline std::string renamed(const std::string& former, const std::string& now)
{
    return former + " is now called " + now + "; the next release drops the former name";
}

// Returns the word that `value` is called now, or null if it is no former one.
inline const FormerWord* former_word(const std::vector<FormerWord>& words, const std::string& value)
{
    const auto found = std::find_if(words.begin(), words.end(), [&](const FormerWord& w) { return w.word == value; });
    return found == words.end() ? nullptr : &*found;
}

// An item of WORKSHARE: "quantum=250" or "report".
struct Item {
    std::string name, value;
    bool has_value = false;
};

// Returns what an item of WORKSHARE may be called for this option: its name without -workshare-, else its variable's
// without WS_, in lower case with dashes.
inline std::string item_name(const Spelling& s)
{
    constexpr size_t front = sizeof "-workshare-" - 1;
    if (s.option.size() > front)
        return s.option.substr(front);
    std::string name = s.variable.substr(3);
    for (char& c : name)
        c = c == '_' ? '-' : char(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

// Returns the option that an item of WORKSHARE means, or null. If two have one name, it is the second if there is a
// value.
inline const Spelling* meant_by(const std::vector<Spelling>& all, const Item& item)
{
    const Spelling* found = nullptr;
    for (const Spelling& s : all)
        if (item_name(s) == item.name && (!found || (item.has_value && s.takes_value)))
            found = &s;
    return found;
}

// Returns the items of WORKSHARE, without blanks around them. A comma separates items, except in a word:
// "waits=gpu,io".
inline std::vector<Item> items_of(const std::vector<Spelling>& all, const std::string& list)
{
    const auto trimmed = [](const std::string& text) {
        const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
        return begin == text.npos ? std::string() : text.substr(begin, end - begin + 1);
    };
    const auto goes_on = [&](const Item& before, const std::string& item) {
        const Spelling* const s = meant_by(all, before);
        const std::string word = before.value + ',' + item;
        return s && (former_word(s->former_words, word) ||
                     std::find(s->words.begin(), s->words.end(), word) != s->words.end());
    };
    std::vector<Item> items;
    for (size_t begin = 0; begin <= list.size();) {
        const size_t end = std::min(list.find(',', begin), list.size());
        const std::string item = trimmed(list.substr(begin, end - begin));
        const size_t equals = item.find('=');
        if (!items.empty() && goes_on(items.back(), item))
            items.back().value += ',' + item;
        else if (!item.empty())
            items.push_back({trimmed(item.substr(0, equals)),
                             equals == item.npos ? "" : trimmed(item.substr(equals + 1)), equals != item.npos});
        begin = end + 1;
    }
    return items;
}

struct Setting {
    std::string variable, value;
};

// Returns what an item of WORKSHARE sets, or nothing if it means no option. "on" and "off" stand first in the list.
inline std::optional<Setting> setting_of(const std::vector<Spelling>& all, const Item& item, bool is_first)
{
    if (is_first && !item.has_value && (item.name == "on" || item.name == "off"))
        return Setting{"WS_ENABLE", item.name == "on" ? "1" : "0"};
    const Spelling* const s = meant_by(all, item);
    if (!s)
        return std::nullopt;
    return Setting{s->variable, item.has_value ? item.value : s->takes_value ? s->alone : "1"};
}

// Sets the WS_ variables of this process's environment that stand there in another spelling, unless they are set: first
// from WORKSHARE_X, then from a former name, then from WORKSHARE. Replaces former words. Changes nothing if all names
// are the current ones. Returns a line for each former name or word. Before other threads read the environment.
inline std::vector<std::string> settle_names(const std::vector<Spelling>& all)
{
    std::vector<std::string> notes;
    for (const Spelling& s : all) {
        if (const char* const other = std::getenv(("WORKSHARE" + s.variable.substr(2)).c_str()))
            setenv(s.variable.c_str(), other, 0);
        const char* const former = s.former_variable.empty() ? nullptr : std::getenv(s.former_variable.c_str());
        if (!former || std::getenv(s.variable.c_str()))
            continue;
        setenv(s.variable.c_str(), former, 0);
        notes.push_back(renamed(s.former_variable, s.variable));
    }
    if (const char* const list = std::getenv("WORKSHARE")) {
        bool is_first = true;
        for (const Item& item : items_of(all, list)) {
            if (const auto set = setting_of(all, item, is_first))
                setenv(set->variable.c_str(), set->value.c_str(), 0);
            is_first = false;
        }
    }
    for (const Spelling& s : all) {
        const char* const value = s.former_words.empty() ? nullptr : std::getenv(s.variable.c_str());
        const FormerWord* const word = value ? former_word(s.former_words, value) : nullptr;
        if (!word)
            continue;
        notes.push_back(renamed(s.variable + "=" + word->word,
                                s.variable + "=" + word->now + (word->with.empty() ? "" : " " + word->with + "=1")));
        setenv(s.variable.c_str(), word->now.c_str(), 1);
        if (!word->with.empty())
            setenv(word->with.c_str(), "1", 0);
    }
    return notes;
}

} // namespace ws::option
