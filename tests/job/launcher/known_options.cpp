// SPDX-License-Identifier: MIT
//
// Prints the options of hydra that our mpiexec knows, with how many values follow.
#include "launcher/arguments.h"

#include <cstdio>

int main()
{
    for (const std::string& line : ws::launcher::known_options())
        std::puts(line.c_str());
}
