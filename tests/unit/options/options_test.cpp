// SPDX-License-Identifier: MIT
//
// The table of options as libws reads its environment by it: what each kind takes and refuses, and the words of the
// refusal.
#include "options/display.h"
#include "options/options.h"

#include <catch2/catch.hpp>
#include <cstdlib>

using namespace ws::option;

namespace {

// The environment has this variable alone of those of the table.
void only(const char* variable, const std::string& value)
{
    for (const OptionRow& row : option_rows)
        unsetenv(row.variable);
    setenv(variable, value.c_str(), 1);
}

// What read_options() says of it: nothing if it takes the value.
std::string refusal(const char* variable, const std::string& value, Options& options)
{
    std::string error;
    std::vector<std::string> unknown;
    only(variable, value);
    options = Options();
    const bool fine = read_options(options, error, unknown);
    CHECK(fine == error.empty());
    unsetenv(variable);
    return error;
}

std::string refusal(const char* variable, const std::string& value)
{
    Options options;
    return refusal(variable, value, options);
}

} // namespace

TEST_CASE("each default is a right value, and that of the field")
{
    const Options defaults;
    for (const OptionRow& row : option_rows) {
        if (!*row.standard)
            continue;
        INFO(row.variable);
        Options read;
        CHECK(refusal(row.variable, row.standard, read) == "");
        each_option(read, [&](const OptionRow& r, auto& field) {
            if (&r != &row)
                return;
            each_option(defaults, [&](const OptionRow& d, const auto& other) {
                if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::decay_t<decltype(other)>> &&
                              std::is_integral_v<std::decay_t<decltype(field)>>)
                    CHECK((&d != &row || field == other));
            });
        });
    }
}

TEST_CASE("numbers: both ends of the range, and what is beside them")
{
    for (const OptionRow& row : option_rows) {
        if (row.kind != OptionKind::number && row.kind != OptionKind::flag)
            continue;
        INFO(row.variable);
        const std::string range =
            " is not a number from " + std::to_string(row.least) + " to " + std::to_string(row.most);
        CHECK(refusal(row.variable, std::to_string(row.least)) == "");
        CHECK(refusal(row.variable, std::to_string(row.most)) == "");
        for (const std::string& wrong :
             {std::string("-1"), std::string(""), std::string("1x"), std::string(" 1"), std::string("+1"),
              std::string("99999999999999999999"), row.most + 1 ? std::to_string(row.most + 1) : "x",
              row.least ? std::to_string(row.least - 1) : "1e3"})
            CHECK(refusal(row.variable, wrong)
                      .substr(0, std::string(row.variable).size() + 1 + wrong.size() + range.size()) ==
                  std::string(row.variable) + "=" + wrong + range);
    }
    Options o;
    CHECK(refusal("WS_QUANTUM", "250", o) == "");
    CHECK(o.quantum == 250);
    CHECK(refusal("WS_CHAOS", "18446744073709551615", o) == "");
    CHECK(o.chaos == ~uint64_t(0));
    CHECK(refusal("WS_WORKERS", "auto", o) == "");
    CHECK(o.workers == Options::workers_auto);
    CHECK(refusal("WS_WORKERS", "all") == "WS_WORKERS=all is not a number from 0 to 1023, nor auto");
}

TEST_CASE("words")
{
    for (const OptionRow& row : option_rows)
        for (const char* const* word = row.words; *word; word++)
            CHECK(refusal(row.variable, *word) == "");
    Options o;
    CHECK(refusal("WS_VICTIM", "nearest", o) == "");
    CHECK(o.victim == Options::victim_nearest);
    CHECK(refusal("WS_VICTIM", "best") == "WS_VICTIM=best is none of auto, most, fewest, nearest, random, none");
    CHECK(refusal("WS_VICTIM", "") == "WS_VICTIM= is none of auto, most, fewest, nearest, random, none");
    CHECK(refusal("WS_TRACE_KEEP", "Newest") == "WS_TRACE_KEEP=Newest is neither oldest nor newest");
}

TEST_CASE("sizes as in OMP_STACKSIZE")
{
    Options o;
    for (const auto& [text, bytes] : {std::pair("64", 64ull << 10),
                                      {"65536 B", 64ull << 10},
                                      {"512k", 512ull << 10},
                                      {" 10 M ", 10ull << 20},
                                      {"2g", 2ull << 30},
                                      {"1T", 1ull << 40}}) {
        CHECK(refusal("WS_STACKSIZE", text, o) == "");
        CHECK(o.stacksize == bytes);
    }
    for (const char* wrong :
         {"", "0", "-1", "M", "63", "2T", "65535B", "1MB", "5 M B", "99999999999999999999", "auto", "4P", "+64"})
        CHECK(refusal("WS_STACKSIZE", wrong) ==
              std::string("WS_STACKSIZE=") + wrong + " is not a size from 64K to 1T such as 512M, 4G or 65536 (KiB)");
}

TEST_CASE("schedules as in OMP_SCHEDULE")
{
    Options o;
    for (const auto& [text, kind, chunk] : {std::tuple("auto", 0u, 0l),
                                            {"static,16", 1u, 16l},
                                            {" Dynamic , 3 ", 2u, 3l},
                                            {"nonmonotonic:guided", 3u, 0l}}) {
        CHECK(refusal("WS_SCHEDULE", text, o) == "");
        CHECK(o.schedule.kind == kind);
        CHECK(o.schedule.chunk == chunk);
    }
    for (const char* wrong : {"", "dynamic,0", "auto,4", "runtime", "nonmonotonic:fast", "guided,", "guided,-1",
                              "guided,4x", "fast:guided", ",4"})
        CHECK(refusal("WS_STEAL_SCHEDULE", wrong) ==
              std::string("WS_STEAL_SCHEDULE=") + wrong +
                  " is not a schedule such as dynamic, guided,4 or static,16 (auto takes no chunk)");
}

TEST_CASE("files")
{
    Options o;
    CHECK(refusal("WS_TRACE", "a b.otf2", o) == "");
    CHECK(o.trace == "a b.otf2");
    CHECK(refusal("WS_TRACE", "", o) == "");
    CHECK(o.trace.empty());
    for (const char* wrong : {"t.xml", ".json", "t.JSON", "t"})
        CHECK(refusal("WS_TRACE", wrong) == std::string("WS_TRACE=") + wrong + " ends in neither .json nor .otf2");
    CHECK(refusal("WS_REPORT_FILE", "r", o) == "");
    CHECK(o.report_file == "r");
}

namespace {

// The environment has these variables alone of those that settle_names() looks at.
std::vector<std::string> settled(const std::vector<std::pair<const char*, const char*>>& environment)
{
    unsetenv("WORKSHARE");
    for (const OptionRow& row : option_rows) {
        unsetenv(row.variable);
        unsetenv(row.former_variable);
        unsetenv(("WORKSHARE" + std::string(row.variable + 2)).c_str());
    }
    for (const auto& [name, value] : environment)
        setenv(name, value, 1);
    return settle_names(spellings());
}

std::string now(const char* variable)
{
    const char* const value = std::getenv(variable);
    return value ? value : "(not set)";
}

std::vector<std::string> unknown_in_environment()
{
    Options o;
    std::string error;
    std::vector<std::string> unknown;
    CHECK(read_options(o, error, unknown));
    return unknown;
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("each variable may be spelt WORKSHARE_X; WS_X counts for more")
{
    for (const OptionRow& row : option_rows) {
        INFO(row.variable);
        const std::string longer = "WORKSHARE" + std::string(row.variable + 2);
        CHECK(settled({{longer.c_str(), "7"}}).empty());
        CHECK(now(row.variable) == "7");
        CHECK(settled({{longer.c_str(), "7"}, {row.variable, "5"}}).empty());
        CHECK(now(row.variable) == "5");
    }
}

TEST_CASE("former names and words are translated, with a line each")
{
    for (const OptionRow& row : option_rows) {
        INFO(row.variable);
        if (*row.former_variable) {
            CHECK(settled({{row.former_variable, "7"}}) ==
                  Lines{std::string(row.former_variable) + " is now called " + row.variable +
                        "; the next release drops the former name"});
            CHECK(now(row.variable) == "7");
            CHECK(unknown_in_environment().empty());
            CHECK(settled({{row.former_variable, "7"}, {row.variable, "5"}}).empty());
            CHECK(now(row.variable) == "5");
        }
        for (const auto* word = row.former_words; word->word; word++) {
            CHECK(settled({{row.variable, word->word}}).size() == 1);
            CHECK(now(row.variable) == word->now);
            if (*word->with)
                CHECK(now(word->with) == "1");
        }
    }
    CHECK(
        settled({{"WS_OPENMP", "auto,share"}}) ==
        Lines{"WS_OPENMP=auto,share is now called WS_OPENMP=auto WS_ACROSS_JOBS=1; the next release drops the former "
              "name"});
    CHECK(settled({{"WORKSHARE_OPENMP", "help"}}) ==
          Lines{"WS_OPENMP=help is now called WS_OPENMP=share; the next release drops the former name"});
}

TEST_CASE("WORKSHARE is a list of options")
{
    CHECK(settled({{"WORKSHARE", "on, quantum=250 ,report=run.json,poll,,trace,chunk-time=50"}}).empty());
    CHECK(now("WS_ENABLE") == "1");
    CHECK(now("WS_QUANTUM") == "250");
    CHECK(now("WS_REPORT_FILE") == "run.json");
    CHECK(now("WS_REPORT") == "(not set)");
    CHECK(now("WS_POLL") == "1");
    CHECK(now("WS_TRACE") == "workshare-trace.json");
    CHECK(now("WS_CHUNK_TIME") == "50");
    CHECK(unknown_in_environment().empty());
    settled({{"WORKSHARE", "off,report,workers=2"}, {"WS_WORKERS", "1"}});
    CHECK(now("WS_ENABLE") == "0");
    CHECK(now("WS_REPORT") == "1");
    CHECK(now("WS_WORKERS") == "1");
    settled({{"WORKSHARE", "quantum=3,on"}, {"WORKSHARE_QUANTUM", "4"}});
    CHECK(now("WS_ENABLE") == "(not set)");
    CHECK(now("WS_QUANTUM") == "4");
    CHECK(unknown_in_environment() == Lines{"WORKSHARE=on"});
    settled({{"WORKSHARE", "waits=gpu, io,poll"}}); // a word with a comma
    CHECK(now("WS_WAITS") == "gpu,io");
    CHECK(now("WS_POLL") == "1");
    CHECK(settled({{"WORKSHARE", "openmp=auto,share,poll"}}).size() == 1); // a former one
    CHECK(now("WS_OPENMP") == "auto");
    CHECK(now("WS_ACROSS_JOBS") == "1");
    CHECK(now("WS_POLL") == "1");
    settled({{"WORKSHARE", "waits=io,io"}});
    CHECK(unknown_in_environment() == Lines{"WORKSHARE=io"});
    settled({{"WORKSHARE", "on,quantum"}});
    Options o;
    std::string error;
    Lines unknown;
    CHECK(!read_options(o, error, unknown));
    CHECK(error == "WS_QUANTUM= is not a number from 1 to 1000000");
    settled({});
}

TEST_CASE("misspelt names of both are unknown, and the nearest of the same spelling is meant")
{
    settled({{"WORKSHARE", "on,quantm=5"}, {"WORKSHARE_LIGNER", "3"}});
    const Lines unknown = unknown_in_environment();
    unsetenv("WORKSHARE_LIGNER");
    settled({});
    CHECK(unknown == Lines{"WORKSHARE_LIGNER", "WORKSHARE=quantm"});
    CHECK(with_meant_options(unknown) ==
          "WORKSHARE_LIGNER (did you mean WORKSHARE_LINGER?), WORKSHARE=quantm (did you mean WORKSHARE=quantum?)");
}

TEST_CASE("what is not in the table is unknown, and the nearest variable for users is meant")
{
    Options o;
    std::string error;
    std::vector<std::string> unknown;
    only("WS_QUANTM", "5");
    REQUIRE(read_options(o, error, unknown));
    unsetenv("WS_QUANTM");
    CHECK(unknown == std::vector<std::string>{"WS_QUANTM"});
    CHECK(with_meant_options({"WS_QUANTM", "WS_LIGNER", "WS_quiet", "WS_SOMETHING"}) ==
          "WS_QUANTM (did you mean WS_QUANTUM?), WS_LIGNER (did you mean WS_LINGER?), WS_quiet (did you mean "
          "WS_QUIET?), WS_SOMETHING");
    for (const OptionRow& row : option_rows)
        CHECK((meant_option(std::string(row.variable) + "S") == row.variable) == !row.tests);
}

TEST_CASE("WS_DISPLAY_ENV: every setting has its value and its origin")
{
    settled({{"WS_GIVEN", "WS_ENABLE,WS_VICTIM,WS_OPENMP:,"},
             {"WS_ENABLE", "1"},
             {"WS_VICTIM", "none"},
             {"WS_OPENMP", "hint"},
             {"WS_WORKERS", "2"},
             {"WORKSHARE_LINGER", "3"},
             {"WORKSHARE", "on,quantum=250,spin=7,poll,workers=1"},
             {"WS_SPIN", "9"},
             {"WS_CORES", "4"}});
    const std::string text = settings_text("1.2");
    settled({});
    for (const char* line : {"ENABLE = '1' (option -workshare)", "VICTIM = 'none' (option -workshare-victim)",
                             "OPENMP = 'hint' (mpirun: the program is linked with OpenMP)",
                             "WORKERS = '2' (variable WS_WORKERS)", "LINGER = '3' (variable WORKSHARE_LINGER)",
                             "QUANTUM = '250' (WORKSHARE=quantum)", "POLL = '1' (WORKSHARE=poll)",
                             "SPIN = '9' (variable WS_SPIN)", "CORES = '4' (variable WS_CORES)",
                             "CHUNK_TIME = '30' (default)", "TRACE = '' (default)"}) {
        INFO(text);
        CHECK(text.find("\n   WS_" + std::string(line) + "\n") != std::string::npos);
    }
    CHECK(text.find("WORKSHARE DISPLAY ENVIRONMENT BEGIN\n   VERSION = '1.2'\n") == 0);
    for (const OptionRow& row : option_rows) {
        INFO(row.variable);
        const bool shown = text.find("   " + std::string(row.variable) + " = '") != std::string::npos;
        CHECK(shown ==
              (!row.tests || row.variable == std::string("WS_CORES")));
    }
    settled({{"WORKSHARE", "off"}});
    CHECK(settings_text("1.2").find("   WS_ENABLE = '0' (WORKSHARE=off)\n") != std::string::npos);
    settled({{"WORKSHARE_OPENMP", "help"}}); // a former word
    CHECK(settings_text("1.2").find("   WS_OPENMP = 'share' (variable WORKSHARE_OPENMP)\n") != std::string::npos);
    settled({});
}
