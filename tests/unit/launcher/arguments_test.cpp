// SPDX-License-Identifier: MIT
//
// mpiexec's command line in pieces: what is ours is taken out where an option may stand, and nowhere else; all other
// words go on to hydra as they stand.
#include "launcher/arguments.h"
#include "launcher/table.h"
#include "options/letters.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <unistd.h>

using namespace ws::launcher;
using Words = std::vector<std::string>;

namespace {

struct Sorted {
    Words ours, rest;
    Asked asked;
    std::vector<Piece> pieces;
};

// "-ours" with the word behind it is ours; what else is unknown is hydra's to refuse.
Sorted sorted(const Words& words)
{
    Sorted s;
    const auto take = [&s](const Words& all, size_t& at) {
        if (all[at] != "-ours")
            return false;
        s.ours.push_back(all.at(at + 1));
        at += 2;
        return true;
    };
    s.pieces = sort_out(words, take, s.asked);
    for (const Piece& piece : s.pieces)
        s.rest.insert(s.rest.end(), piece.words.begin(), piece.words.end());
    return s;
}

} // namespace

TEST_CASE("options may stand in each section, before its program")
{
    const Sorted s = sorted(
        {"-ours", "1", "-n", "2", "-ours", "2", "./app", "-ours", "a", ":", "-ours", "3", "-n", "1", "./b", ":"});
    CHECK(s.ours == Words{"1", "2", "3"});
    CHECK(s.rest == Words{"-n", "2", "./app", "-ours", "a", ":", "-n", "1", "./b", ":"});
}

TEST_CASE("values of hydra's options are no options")
{
    const Sorted s = sorted(
        {"-host", "-ours", "-genv", "A", "-ours", "-genv", "B=1", "--BIND-TO=none", "-l", "-ours", "1", "./app"});
    CHECK(s.ours == Words{"1"});
    CHECK(s.rest == Words{"-host", "-ours", "-genv", "A", "-ours", "-genv", "B=1", "--BIND-TO=none", "-l", "./app"});
    CHECK(sorted({"-n"}).rest == Words{"-n"});
    CHECK(sorted({"-genv", "A"}).rest == Words{"-genv", "A"});
}

TEST_CASE("all behind an option that nobody knows goes on as it stands")
{
    CHECK(sorted({"-bindto", "none", "-ours", "1"}).rest == Words{"-bindto", "none", "-ours", "1"});
    CHECK(sorted({"-l=1", "-ours", "1"}).rest == Words{"-l=1", "-ours", "1"}); // hydra runs a program "1"
}

TEST_CASE("what sets a variable is known")
{
    const Sorted s =
        sorted({"-genv", "A", "1", "-env", "B=x=y", "-genv=C=2", "-genv=D", "3", "./app", "-genv", "E", "4"});
    std::vector<std::pair<std::string, std::string>> set;
    for (const Piece& piece : s.pieces)
        if (!piece.variable.empty())
            set.emplace_back((piece.is_global ? "global " : "") + piece.variable, piece.value);
    CHECK(set == decltype(set){{"global A", "1"}, {"B", "x=y"}, {"global C", "2"}, {"global D", "3"}});
}

TEST_CASE("questions and the configuration file are known")
{
    CHECK(sorted({"-n", "1", "-help"}).asked.help);
    CHECK(sorted({"--version"}).asked.version);
    CHECK_FALSE(sorted({"./app", "-help"}).asked.help);
    CHECK(sorted({"-configfile", "f"}).asked.config_file == "f");
    CHECK(sorted({"-configfile=g"}).asked.config_file == "g");
}

TEST_CASE("values of hydra's options are checked")
{
    const auto wrong = [](Words words) { return sorted(words).asked.wrong; };
    const std::string count = "a number from 1 to 10000000";
    for (const std::string name : {"-n", "-np", "-ppn"})
        for (const char* value :
             {"0", "-1", "1x", " 1", "+1", "0x1", "abc", "10000001", "99999999999", "99999999999999999999"}) {
            CHECK(wrong({name, value, "a"}) == name + ": '" + value + "' is not " + count);
            CHECK(wrong({"-n", "1", "a", ":", name + "=" + value, "a"}) == name + ": '" + value + "' is not " + count);
        }
    CHECK(wrong({"--NP", "x", "a"}) == "-np: 'x' is not " + count);
    CHECK(wrong({"-n"}) == "-n: no value given; expected " + count);
    CHECK(wrong({"-n=", "a"}) == "-n: no value given; expected " + count);
    CHECK(wrong({"-n", ":", "a"}) == "-n: no value given; expected " + count);
    CHECK(wrong({"-f", "--n", "1", "a"}) == "-f: no value given; expected the name of a file");
    CHECK(wrong({"-wdir", "-workshare", "a"}) == "-wdir: no value given; expected the name of a folder");
    CHECK(wrong({"-l=1", "a"}) == "option -l takes no value, but '1' was given");

    const Words good[] = {{"-n", "10000000"},         {"-np=007"},
                          {"-usize", "SYSTEM"},       {"-usize", "2147483647"},
                          {"-gpus-per-proc", "0"},    {"-g", "AUTO"},
                          {"-hosts", "a,,b:2,"},      {"-order-nodes", "up"},
                          {"-bind-to", "user:0+2,1"}, {"-bind-to", "core:2"},
                          {"-map-by", "pci:0"},       {"-genv", "A", ""},
                          {"-genv", "A", "-n"},       {"-genv", "A="},
                          {"-prepend-pattern", ""},   {"-wdir", "-x"},
                          {"-output-from", "0"}},
                bad[] = {{"-usize", "0"},        {"-usize", "system"},   {"-usize", "2147483648"},
                         {"-g", "-1"},           {"-hosts", ","},        {"-hosts", ":2"},
                         {"-hosts", "a:"},       {"-host", "a:0"},       {"-machines", "a,b:x"},
                         {"-order-nodes", "no"}, {"-bind-to", "core:0"}, {"-map-by", "core:x"},
                         {"-binding", ":1"},     {"-genv", "A"},         {"-env", "=x"},
                         {"-genv", "-n", "1"},   {"-output-from", "x"}};
    for (const Words& words : good) {
        INFO(words.back());
        CHECK(wrong(words) == "");
    }
    for (const Words& words : bad) {
        INFO(words.back());
        CHECK(wrong(words).compare(0, words[0].size() + 2, words[0] + ": ") == 0);
    }
    for (const std::string& line : known_options())
        if (const std::string name = line.substr(0, line.find(' ')); line != name + " 0") {
            INFO(name);
            CHECK(wrong({'-' + name}).find('-' + name + ": no value given; expected ") == 0);
            CHECK(wrong({'-' + name, "-help"}) == ""); // hydra's help on the option
        }
    CHECK(wrong({"-help", "-n", "x"}) == "");
}

TEST_CASE("numbers in host files are checked")
{
    for (const char* text : {"", "a\n", "# a:0\n a:2 binding=core # x\n\nb", "a:1"})
        CHECK(wrong_hosts(text) == "");
    for (const char* text : {"a:0", "a\nb:x\n", "a:", ":2", "a:-1 user=x", "a:1x"})
        CHECK(wrong_hosts(text) != "");
}

TEST_CASE("each section has a program")
{
    const auto needs = [](const Words& words) { return sorted(words).asked.needs_program; };
    CHECK(needs({}));
    CHECK(needs({"-n", "1"}));
    CHECK(needs({"a", ":"}));
    CHECK(needs({"a", ":", "-n", "1"}));
    CHECK_FALSE(needs({"-n", "1", "a", ":", "b"}));
    CHECK_FALSE(needs({"-no-such-option"}));
    CHECK_FALSE(needs({"-usize", "-help"}));
    CHECK_FALSE(needs({"-version"}));
    CHECK(sorted({"-n", "1", ":", "a"}).asked.wrong == "no program before a ':'");
}

TEST_CASE("a configuration file's lines are sections")
{
    const std::string path = "arguments_test." + std::to_string(getpid());
    std::ofstream(path) << "# all\n-n 1 ./a\t-x # first\n\n-n 2 ./b :\n  -n 3 ./c\n";
    Words words;
    CHECK(read_words(path, words) == "");
    unlink(path.c_str());
    CHECK(words == Words{"-n", "1", "./a", "-x", ":", "-n", "2", "./b", ":", "-n", "3", "./c"});
    CHECK(read_words("/no/such/file", words) == "No such file or directory");
    CHECK(read_words("/", words) == "Is a directory");
}

TEST_CASE("letters apart")
{
    using ws::option::letters_apart;
    CHECK(letters_apart("workshare", "WorkShare") == 0);
    CHECK(letters_apart("worksahre", "workshare") == 1); // two that changed places
    CHECK(letters_apart("workshre", "workshare") == 1);
    CHECK(letters_apart("", "abc") == 3);
    CHECK(letters_apart(std::string(41, 'a'), "a") == 40);
}
