// SPDX-License-Identifier: MIT
//
// Values of an MPI_Info object that a program passes.
#pragma once

#include "base/text.h"

#include <mpi.h>
#include <optional>
#include <string>

namespace ws::policy {

// None: the object has no such key.
inline std::optional<std::string> info_value(MPI_Info info, const char* key)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int found = 0;
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, text, &found);
    return found ? std::optional<std::string>(text) : std::nullopt;
}

// Takes the number of a key over, if the object has that key. False: its value is no whole number from least to most.
template <class Number> bool take_number(MPI_Info info, const char* key, uint64_t least, uint64_t most, Number& number)
{
    const std::optional<std::string> text = info_value(info, key);
    if (!text)
        return true;
    const std::optional<uint64_t> given = base::whole_number(*text);
    if (!given || *given < least || *given > most)
        return false;
    number = Number(*given);
    return true;
}

} // namespace ws::policy
