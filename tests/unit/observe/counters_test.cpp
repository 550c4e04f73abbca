// SPDX-License-Identifier: MIT
//
// The documentation has every counter of observe/counters.h, and no other. WS_WRITE_GOLDEN=1 writes the schema again.
#include "observe/report.h"

#include <catch2/catch.hpp>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

using namespace ws;
using Json = nlohmann::ordered_json;

namespace {

struct Counter {
    std::string name, mpi_t, help, where;
};

#define LIST(kind, name, where, mpi_t, help) {WS_NAME_##kind(name), #mpi_t, help, #where},
const std::vector<Counter> of_rank = {WS_RANK_COUNTERS(LIST, LIST, LIST, LIST, LIST, LIST)},
                           of_loop = {WS_LOOP_COUNTERS(LIST, LIST)}, of_call = {WS_CALL_COUNTERS(LIST)},
                           of_phase = {WS_PHASE_COUNTERS(LIST, LIST)},
                           // what ws-top shows of a rank
                           on_board = {WS_RANK_COUNTERS(LIST, LIST, LIST, LIST, WS_NO, WS_NO)};

std::string text_of(const std::string& path)
{
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// The schema's object with `counters` in place of its own; what it has from `behind` on follows them.
Json with_counters(const Json& object, const std::vector<Counter>& counters, const std::string& before,
                   const std::string& behind)
{
    Json changed = object;
    Json properties = Json::object(), required = Json::array();
    const auto was_required = object["required"].get<std::vector<std::string>>();
    const auto keep = [&](const std::string& from, const std::string& to) {
        bool inside = from.empty();
        for (const auto& [name, described] : object["properties"].items()) {
            inside = inside || name == from;
            if (inside) {
                properties[name] = described;
                if (std::find(was_required.begin(), was_required.end(), name) != was_required.end())
                    required.push_back(name);
            }
            if (name == to)
                break;
        }
    };
    if (!before.empty())
        keep("", before);
    for (const Counter& c : counters)
        if (c.where != "BOARD") {
            const bool time = c.name.size() > 2 && c.name.compare(c.name.size() - 2, 2, "_s") == 0;
            Json described = {{"type", time ? "number" : "integer"}, {"minimum", 0}, {"description", c.help}};
            if (c.name == "lag_s")
                described.erase("minimum"); // may be below 0
            properties[c.name] = described;
            if (c.where == "REPORT")
                required.push_back(c.name);
        }
    if (!behind.empty())
        keep(behind, "");
    changed["properties"] = properties;
    changed["required"] = required;
    return changed;
}

} // namespace

TEST_CASE("the schema of reports has every counter, as its list describes it")
{
    const std::string path = WS_DOCS "/reference/report.schema.json", text = text_of(path);
    Json schema = Json::parse(text);
    Json& defs = schema["$defs"];
    Json& phase = schema["properties"]["by_phase"]["items"];
    Json& call = schema["properties"]["by_call"]["items"];
    defs["counts"] = with_counters(defs["counts"], of_rank, "", "refused");
    defs["loop"] = with_counters(defs["loop"], of_loop, "loop", "cause");
    call = with_counters(call, of_call, "call", "");
    phase = with_counters(phase, of_phase, "level", "refused");
    Json& whole = phase["properties"]["whole"];
    whole = with_counters(whole, of_phase, "", "refused");
    Json& of_rank_in_phase = schema["properties"]["by_rank"]["items"]["properties"]["phases"]["items"];
    const Json always = of_rank_in_phase["required"]; // counters that are 0 are left out
    of_rank_in_phase = with_counters(of_rank_in_phase, of_phase, "phase", "refused");
    of_rank_in_phase["required"] = always;
    for (const Counter& c : of_phase)
        if (c.where != "BOARD")
            of_rank_in_phase["properties"][c.name]["description"] = "this rank's; see by_phase";
    const std::string wanted = schema.dump(1) + "\n";
    if (std::getenv("WS_WRITE_GOLDEN"))
        std::ofstream(path) << wanted;
    CHECK(text_of(path) == wanted);
}

TEST_CASE("the schema of ws-top has every counter of the board, as its list describes it")
{
    const std::string path = WS_DOCS "/reference/top.schema.json", text = text_of(path);
    Json schema = Json::parse(text);
    Json properties = Json::object(), required = Json::array();
    for (const Counter& c : on_board) {
        const bool time = c.name.size() > 2 && c.name.compare(c.name.size() - 2, 2, "_s") == 0;
        properties[c.name] = {{"type", time ? "number" : "integer"}, {"minimum", 0}, {"description", c.help}};
        required.push_back(c.name);
    }
    Json& counters = schema["$defs"]["rank"]["properties"]["counters"];
    counters["properties"] = properties;
    counters["required"] = required;
    const std::string wanted = schema.dump(1) + "\n";
    if (std::getenv("WS_WRITE_GOLDEN"))
        std::ofstream(path) << wanted;
    CHECK(text_of(path) == wanted);
}

TEST_CASE("docs/reference/mpi_t.md has every counter that MPI_T shows, and no other")
{
    // the three are no counters
    std::set<std::string> shown = {"WS_STATE", "WS_RANKS_BLOCKED", "WS_GUESTS"}, documented;
    for (const auto* list : {&of_rank, &of_loop})
        for (const Counter& c : *list)
            if (c.mpi_t != "NONE")
                CHECK(shown.insert(c.mpi_t).second);
    std::string text = text_of(WS_DOCS "/reference/mpi_t.md");
    text.erase(0, text.find("## Performance variables"));
    const std::regex row("\n\\| (`WS_[^|]*) \\|"), name("WS_[A-Z_]+");
    for (std::sregex_iterator r(text.begin(), text.end(), row), end; r != end; ++r) {
        const std::string names = (*r)[1];
        for (std::sregex_iterator n(names.begin(), names.end(), name); n != end; ++n)
            documented.insert(n->str());
    }
    CHECK(documented == shown);
}

TEST_CASE("a figure has one name, and one name has one list's place")
{
    for (const auto* list : {&of_rank, &of_loop, &of_call, &of_phase}) {
        std::set<std::string> names;
        for (const Counter& c : *list) {
            CHECK(names.insert(c.name).second);
            CHECK_FALSE(c.help.empty());
        }
    }
}
