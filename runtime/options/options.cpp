// SPDX-License-Identifier: MIT
#include "options/options.h"

#include "options/letters.h"
#include "options/size.h"
#include "base/open_file.h"
#include "base/text.h"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <strings.h>
#include <unistd.h>

extern char** environ;

namespace ws::option {

namespace {

int word_of(const OptionRow& row, const char* text)
{
    for (int i = 0; row.words[i]; i++)
        if (std::strcmp(row.words[i], text) == 0)
            return i;
    return -1;
}

// ---- one parser for each kind: what is wrong with the text, to follow after it; nothing if `value` is set

std::string parse_number(const OptionRow& row, const char* text, uint64_t& value)
{
    if (const auto v = base::whole_number(text); v && *v >= row.least && *v <= row.most) {
        value = *v;
        return "";
    }
    std::string wrong = " is not a number from " + std::to_string(row.least) + " to " + std::to_string(row.most);
    for (const char* const* word = row.words; *word; word++)
        wrong += std::string(", nor ") + *word;
    return wrong;
}

std::string parse_word(const OptionRow& row, const char* text, unsigned& value)
{
    int word = word_of(row, text);
    if (const char* const colon = row.numbered.word ? std::strchr(text, ':') : nullptr) {
        const auto number = base::whole_number(colon + 1);
        if (std::string_view(text, size_t(colon - text)) == row.numbered.word && number &&
            *number >= row.numbered.least && *number <= row.numbered.most)
            word = word_of(row, row.numbered.word);
    }
    if (word >= 0) {
        value = unsigned(word);
        return "";
    }
    if (row.words[1] && !row.words[2])
        return std::string(" is neither ") + row.words[0] + " nor " + row.words[1];
    std::string wrong = " is none of ";
    for (const char* const* w = row.words; *w; w++)
        wrong += (w == row.words ? "" : ", ") + std::string(*w);
    if (row.numbered.word)
        wrong += std::string(", ") + row.numbered.word + ":V with V from " + std::to_string(row.numbered.least) +
                 " to " + std::to_string(row.numbered.most);
    return wrong;
}

std::string parse_size(const char* text, uint64_t& value)
{
    const std::optional<uint64_t> bytes = stack_bytes(text);
    if (!bytes)
        return " is not a size from 64K to 1T such as 512M, 4G or 65536 (KiB)";
    value = *bytes;
    return "";
}

bool same_word(std::string_view a, const char* b)
{
    return a.size() == std::strlen(b) && strncasecmp(a.data(), b, a.size()) == 0;
}

// OMP_SCHEDULE's syntax: [modifier:]kind[,chunk], in any case, with blanks.
bool is_schedule(std::string_view rest, OptionSchedule& value)
{
    static constexpr const char* kinds[] = {"auto", "static", "dynamic", "guided"};
    const size_t colon = rest.find(':');
    if (colon != rest.npos) { // chunks may be handed out in any order here: both modifiers are kept by that
        const std::string_view modifier = base::trim(rest.substr(0, colon));
        if (!same_word(modifier, "monotonic") && !same_word(modifier, "nonmonotonic"))
            return false;
        rest = rest.substr(colon + 1);
    }
    const size_t comma = rest.find(',');
    const std::string_view kind = base::trim(rest.substr(0, comma));
    for (value.kind = 0; value.kind < 4 && !same_word(kind, kinds[value.kind]); value.kind++)
        ;
    if (comma == rest.npos)
        return value.kind < 4;
    const std::optional<uint64_t> chunk = base::whole_number(base::trim(rest.substr(comma + 1)));
    if (value.kind < 1 || value.kind > 3 || !chunk || *chunk < 1 || *chunk > uint64_t(INT64_MAX))
        return false;
    value.chunk = long(*chunk);
    return true;
}

std::string parse_file(const OptionRow& row, std::string_view text, std::string& value)
{
    bool ends_well = text.empty() || row.any_ending;
    std::string wrong = " ends in neither ";
    for (const char* const* ending = row.endings; *ending; ending++) {
        const size_t length = std::strlen(*ending);
        ends_well = ends_well || (text.size() > length && text.substr(text.size() - length) == *ending);
        wrong += (ending == row.endings ? "" : " nor ") + std::string(*ending);
    }
    if (!ends_well)
        return wrong;
    value = text;
    return "";
}

// ---- which of them a field of Options wants

template <class Number> std::string parse(const OptionRow& row, const char* text, Number& value)
{
    uint64_t v = 0;
    if constexpr (std::is_enum_v<Number>) {
        unsigned word = 0;
        std::string wrong = parse_word(row, text, word);
        if (wrong.empty())
            value = Number(word);
        return wrong;
    }
    const int word = std::is_signed_v<Number> ? word_of(row, text) : -1;
    std::string wrong = word >= 0                      ? ""
                        : row.kind == OptionKind::size ? parse_size(text, v)
                                                       : parse_number(row, text, v);
    if (wrong.empty())
        value = word >= 0 ? Number(-1 - word) : Number(v);
    return wrong;
}

std::string parse(const OptionRow&, const char* text, OptionSchedule& value)
{
    return is_schedule(base::trim(text), value)
               ? ""
               : " is not a schedule such as dynamic, guided,4 or static,16 (auto takes no chunk)";
}

std::string parse(const OptionRow& row, const char* text, std::string& value)
{
    if (row.kind == OptionKind::file)
        return parse_file(row, text, value);
    value = text;
    return "";
}

constexpr char list[] = "WORKSHARE=";

} // namespace

std::vector<Spelling> spellings()
{
    std::vector<Spelling> all;
    for (const OptionRow& row : option_rows) {
        all.push_back(
            {row.variable, row.option, row.takes_value, row.alone, row.former_option, row.former_variable, {}, {}});
        for (const auto* word = row.former_words; word->word; word++)
            all.back().former_words.push_back({word->word, word->now, word->with});
        for (const char* const* word = row.words; *word; word++)
            all.back().words.push_back(*word);
    }
    return all;
}

std::string meant_option(const std::string& misspelt)
{
    // What the table's names become in each of the three spellings.
    const auto spelt = [&](const Spelling& s) {
        if (misspelt.compare(0, sizeof list - 1, list) == 0)
            return list + item_name(s);
        return misspelt.compare(0, 3, "WS_") == 0 ? s.variable : "WORKSHARE" + s.variable.substr(2);
    };
    std::string nearest;
    int least = 4;
    const std::vector<Spelling> all = spellings();
    for (size_t i = 0; i < all.size(); i++) {
        const std::string name = spelt(all[i]);
        const int apart = option_rows[i].tests ? least : letters_apart(misspelt, name);
        if (apart < least) {
            least = apart;
            nearest = name;
        }
    }
    return nearest;
}

std::string with_meant_options(const std::vector<std::string>& misspelt)
{
    std::string all;
    for (const std::string& name : misspelt) {
        const std::string meant = meant_option(name);
        all += (all.empty() ? "" : ", ") + name + (meant.empty() ? "" : " (did you mean " + meant + "?)");
    }
    return all;
}

bool can_write_files(const Options& o, std::string& error)
{
    const struct {
        const char* what;
        const std::string& path;
    } files[] = {{"report", o.report_file}, {"trace", o.trace}};
    for (const auto& f : files) {
        const int trouble = f.path.empty() ? 0 : base::why_not_writable(f.path.c_str());
        if (trouble) {
            error = std::string("cannot write the ") + f.what + " to " + f.path + ": " + std::strerror(trouble);
            return false;
        }
    }
    return true;
}

std::string without_unknown_mode()
{
    constexpr const OptionRow& row = option_row("WS_OPENMP");
    const char* text = std::getenv(row.variable);
    unsigned mode;
    const std::string wrong = text ? parse_word(row, text, mode) : "";
    if (wrong.empty())
        return "";
    const std::string said = std::string(row.variable) + "=" + text + wrong + "; ignoring it";
    setenv(row.variable, "off", 1);
    return said;
}

bool read_options(Options& o, std::string& error, std::vector<std::string>& unknown)
{
    error.clear();
    each_option(o, [&](const OptionRow& row, auto& value) {
        const char* text = error.empty() ? std::getenv(row.variable) : nullptr;
        const std::string wrong = text ? parse(row, text, value) : "";
        if (!wrong.empty())
            error = std::string(row.variable) + "=" + text + wrong;
    });
    if (!error.empty())
        return false;
    for (char** e = environ; *e; e++) {
        const std::string_view name(*e, std::strcspn(*e, "="));
        bool known = name.substr(0, 3) != "WS_" && name.substr(0, 10) != "WORKSHARE_";
        for (const OptionRow& row : option_rows)
            known = known || name == row.variable || name == row.former_variable ||
                    (name[1] == 'O' && name.substr(9) == row.variable + 2);
        if (!known)
            unknown.emplace_back(name);
    }
    if (const char* const items = std::getenv("WORKSHARE")) {
        const std::vector<Spelling> all = spellings();
        bool is_first = true;
        for (const Item& item : items_of(all, items)) {
            if (!setting_of(all, item, is_first))
                unknown.push_back(list + item.name);
            is_first = false;
        }
    }
    return true;
}

} // namespace ws::option
