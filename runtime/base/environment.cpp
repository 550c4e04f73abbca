// SPDX-License-Identifier: MIT
#include "base/environment.h"

#include "base/atomics.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace ws::base {

namespace {

struct Variable {
    std::string name, value;
};
std::vector<Variable>* taken; // never destroyed: exit handlers ask, too

const Variable* find(const char* name)
{
    if (const auto* const all = load_acquire(taken)) // pairs with take_out()
        for (const Variable& one : *all)
            if (one.name == name)
                return &one;
    return nullptr;
}

} // namespace

const char* own_variable(const char* name)
{
    const Variable* const found = find(name);
    return found ? found->value.c_str() : std::getenv(name);
}

bool is_turned_on()
{
    const char* const enabled = own_variable("WS_ENABLE");
    return enabled && std::strcmp(enabled, "1") == 0;
}

bool is_taken_out(const char* name) { return find(name) != nullptr; }

void take_out(const std::vector<const char*>& names)
{
    auto* const all = new std::vector<Variable>;
    for (const char* name : names)
        if (const char* const value = std::getenv(name))
            all->push_back({name, value});
    store_release(taken, all); // pairs with find()
    for (const Variable& one : *all)
        unsetenv(one.name.c_str());
}

} // namespace ws::base
