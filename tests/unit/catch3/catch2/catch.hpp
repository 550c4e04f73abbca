// SPDX-License-Identifier: MIT
//
// What the tests include, where Catch2 is version 3: its headers have other names, and its words are in its namespace.
#pragma once

#include <catch2/catch_all.hpp>

using Catch::Approx;
namespace Catch {
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }
} // namespace Catch
