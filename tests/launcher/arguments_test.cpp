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
