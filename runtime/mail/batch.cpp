// SPDX-License-Identifier: MIT
#include "mail/batch.h"

#include <algorithm>
#include <cstring>

namespace ws::mail {

namespace {

constexpr size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

} // namespace

void append_header(std::string& batch, Kind kind, size_t bytes)
{
    const Header header = {kind, uint32_t(bytes)};
    batch.append(reinterpret_cast<const char*>(&header), sizeof header);
}

void append(std::string& batch, Kind kind, std::string_view letter)
{
    append_header(batch, kind, letter.size());
    batch.append(letter);
    batch.resize(padded(batch.size()));
}

bool Opened::next(Header& header, std::string_view& letter)
{
    if (rest_.size() < sizeof header)
        return false;
    std::memcpy(&header, rest_.data(), sizeof header);
    const size_t here = is_large(header) ? 0 : padded(header.bytes);
    // A large one is the last.
    if (rest_.size() - sizeof header < here || (is_large(header) && rest_.size() != sizeof header))
        return false;
    letter = rest_.substr(sizeof header, here ? header.bytes : 0);
    rest_.remove_prefix(sizeof header + here);
    return true;
}

} // namespace ws::mail
