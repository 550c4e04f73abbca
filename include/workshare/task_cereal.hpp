// SPDX-License-Identifier: MIT
//
/// @file
/// For ws::task_pool: arguments and results that are not trivially copyable, with cereal
/// (https://uscilab.github.io/cereal, Debian: libcereal-dev). For std::vector include <cereal/types/vector.hpp>, and
/// so on. Your own types need serialize().
#ifndef WORKSHARE_TASK_CEREAL_HPP
#define WORKSHARE_TASK_CEREAL_HPP

#include "task.hpp"

#include <cereal/archives/binary.hpp>

#include <istream>
#include <sstream>
#include <streambuf>

namespace ws {

template <class T> struct task_serializer<T, std::enable_if_t<!std::is_trivially_copyable_v<T>>> {
    static void write(std::string& to, const T& value)
    {
        std::ostringstream out;
        cereal::BinaryOutputArchive archive(out);
        archive(value);
        const std::string bytes = std::move(out).str();
        const uint64_t size = bytes.size();
        to.append(reinterpret_cast<const char*>(&size), sizeof size);
        to += bytes;
    }
    static T read(const char*& from, const char* end)
    {
        const uint64_t size = task_serializer<uint64_t>::read(from, end);
        if (size_t(end - from) < size)
            throw std::length_error("data of a task is too short");
        struct Bytes : std::streambuf {
            Bytes(char* b, char* e) { setg(b, b, e); }
        } bytes(const_cast<char*>(from), const_cast<char*>(from) + size);
        std::istream in(&bytes);
        from += size;
        T value;
        cereal::BinaryInputArchive archive(in);
        archive(value);
        return value;
    }
};

} // namespace ws

#endif
