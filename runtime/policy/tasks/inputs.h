// SPDX-License-Identifier: MIT
//
// The data of a task that was put with futures: what its program gave, and behind it the results of those futures. One
// piece, so that it moves like any other. No MPI here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace ws::policy::tasks {

// From the beginning: the program's own bytes and each result, padded; the size of each result; the Tail.
class Inputs {
public:
    using Value = std::shared_ptr<const std::string>;
    // An input that arrives separately. A task with such inputs has an extra last input: an array of these. Their own
    // places are empty.
    struct Away {
        uint64_t place;  // among the inputs
        uint64_t future; // of the task's origin
    };

    static size_t bytes_for(size_t own, const std::vector<Value>& values)
    {
        size_t all = padded(own) + values.size() * sizeof(uint64_t) + sizeof(Tail);
        for (const Value& v : values)
            all += padded(v->size());
        return all;
    }
    // `to` has bytes_for() of them.
    static void write(char* to, const void* own, size_t own_bytes, const std::vector<Value>& values)
    {
        const auto add = [&to](const void* from, size_t bytes, size_t room) {
            if (bytes)
                std::memcpy(to, from, bytes);
            std::memset(to + bytes, 0, room - bytes);
            to += room;
        };
        add(own, own_bytes, padded(own_bytes));
        for (const Value& v : values)
            add(v->data(), v->size(), padded(v->size()));
        for (const Value& v : values) {
            const uint64_t size = v->size();
            add(&size, sizeof size, sizeof size);
        }
        const Tail tail = {own_bytes, values.size()};
        add(&tail, sizeof tail, sizeof tail);
    }

    // Whether all that is followed in `data` is within it: it may have come through memory that others can write.
    static bool make_sense(const char* data, size_t bytes)
    {
        if (bytes < sizeof(Tail))
            return false;
        const Inputs in(data, bytes);
        size_t left = bytes - sizeof(Tail);
        if (in.tail_.count > left / sizeof(uint64_t))
            return false;
        left -= in.tail_.count * sizeof(uint64_t);
        const auto fits = [&left](uint64_t size) {
            if (size > left || padded(size) > left)
                return false;
            left -= padded(size);
            return true;
        };
        bool right = fits(in.tail_.own);
        for (size_t i = 0; right && i < in.count(); i++)
            right = fits(in.size_of(i));
        return right && left == 0;
    }

    // Whether each Away names an input of the task. The data makes sense.
    static bool lacks_make_sense(const char* data, size_t bytes)
    {
        const Inputs in(data, bytes);
        if (!in.count() || in.size_of(in.count() - 1) % sizeof(Away))
            return false;
        for (const Away& a : in.lacks())
            if (a.place >= in.count() - 1 || a.future > UINT32_MAX)
                return false;
        return true;
    }

    // The data makes sense.
    Inputs(const char* data, size_t bytes) : data_(data), bytes_(bytes)
    {
        std::memcpy(&tail_, data + bytes - sizeof tail_, sizeof tail_);
    }
    size_t own_bytes() const { return tail_.own; }
    size_t count() const { return tail_.count; }
    uint64_t size_of(size_t i) const
    {
        uint64_t size;
        std::memcpy(&size, data_ + bytes_ - sizeof(Tail) - (count() - i) * sizeof size, sizeof size);
        return size;
    }
    const char* value(size_t i) const
    {
        size_t at = padded(tail_.own);
        for (size_t k = 0; k < i; k++)
            at += padded(size_of(k));
        return data_ + at;
    }

    std::vector<Away> lacks() const
    {
        std::vector<Away> all(size_of(count() - 1) / sizeof(Away));
        if (!all.empty())
            std::memcpy(all.data(), value(count() - 1), all.size() * sizeof(Away));
        return all;
    }

private:
    struct Tail {
        uint64_t own, count;
    };
    // Results are aligned like a task's data.
    static size_t padded(size_t bytes) { return (bytes + 15) / 16 * 16; }

    const char* data_;
    size_t bytes_;
    Tail tail_;
};

} // namespace ws::policy::tasks
