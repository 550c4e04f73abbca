// SPDX-License-Identifier: MIT
#include "options/display.h"

#include "options/options.h"
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace ws::option {

namespace {

// `text` is what the option's value was called before settle_names() has replaced former words.
bool means(const Spelling& s, const std::string& text, const std::string& value)
{
    const FormerWord* const word = former_word(s.former_words, text);
    return (word ? word->now : text) == value;
}

// WS_GIVEN has this variable, followed by `mark`.
bool is_given(const std::string& variable, char mark)
{
    const char* const names = std::getenv("WS_GIVEN");
    return names && ("," + std::string(names)).find("," + variable + mark) != std::string::npos;
}

// The item of WORKSHARE that stands for this option with this value, or nothing.
std::string item_of(const std::vector<Spelling>& all, const Spelling& s, const std::string& value)
{
    const char* const list = std::getenv("WORKSHARE");
    bool is_first = true;
    for (const Item& item : items_of(all, list ? list : "")) {
        const auto set = setting_of(all, item, is_first);
        if (set && set->variable == s.variable && means(s, set->value, value))
            return item.name;
        is_first = false;
    }
    return "";
}

// Where the value of a variable that is set comes from. settle_names() has translated other spellings, which still
// stand in the environment.
std::string origin(const std::vector<Spelling>& all, const Spelling& s, const std::string& value)
{
    if (is_given(s.variable, ','))
        return "option " + s.option;
    if (is_given(s.variable, ':'))
        return "mpirun: the program is linked with OpenMP";
    if (const std::string item = item_of(all, s, value); !item.empty())
        return "WORKSHARE=" + item;
    const std::string spelt_out = "WORKSHARE" + s.variable.substr(2);
    for (const std::string& other : {spelt_out, s.former_variable})
        if (const char* const text = other.empty() ? nullptr : std::getenv(other.c_str());
            text && means(s, text, value))
            return "variable " + other;
    return "variable " + s.variable;
}

} // namespace

std::string settings_text(const char* version)
{
    const std::vector<Spelling> all = spellings();
    std::string text = std::string("WORKSHARE DISPLAY ENVIRONMENT BEGIN\n   VERSION = '") + version + "'\n";
    size_t i = 0;
    for (const OptionRow& row : option_rows) {
        const char* const value = std::getenv(row.variable);
        const Spelling& spelling = all[i++];
        if ((value || !row.tests) && std::strcmp(row.variable, "WS_GIVEN") != 0)
            text += std::string("   ") + row.variable + " = '" + (value ? value : row.standard) + "' (" +
                    (value ? origin(all, spelling, value) : "default") + ")\n";
    }
    return text + "WORKSHARE DISPLAY ENVIRONMENT END\n";
}

} // namespace ws::option
