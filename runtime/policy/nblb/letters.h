// SPDX-License-Identifier: MIT
//
// What the ranks of a pool write to each other: a byte that says what it is, one that counts the pool's runs, and from
// the eighth byte on a head.
#pragma once

#include "policy/nblb/balancer.h"
#include "policy/nblb/ending.h"

#include <cstring>
#include <string>

namespace ws::policy::nblb {

// The first byte of a letter.
enum class Letter : uint8_t {
    note,    // of a balancer to another: Note
    give,    // agent to a rank of its node: Gift
    gave,    // its answer: Gift, how many
    tasks,   // node, how many, the tasks
    result,  // of a task with a future, to the rank that put it
    changed, // to the agent: the node's state has changed, or (node, how many) tasks have come
    ask,
    answer, // Counts
    begin,  // all ranks have the same kinds
    end,    // End
};

struct End {
    uint64_t failed; // ranks on which a task has
    bool kinds_differ;
};

struct Gave {
    Gift gift;
    double tasks;
};
struct Came {
    int32_t node;
    uint32_t tasks; // 0: none, but the state is another one
};
struct TasksHead {
    int32_t node;
    uint32_t tasks;
    uint64_t number; // of the sender's letters with tasks
};
struct ResultHead {
    uint32_t future;
    int32_t failure;
};

template <class T> std::string letter(Letter what, const T& head, size_t more = 0)
{
    std::string text;
    text.reserve(8 + sizeof head + more);
    text.assign(8, '\0');
    text[0] = char(what);
    text.append(reinterpret_cast<const char*>(&head), sizeof head);
    return text;
}
inline std::string letter(Letter what) { return letter(what, '\0'); }
inline uint8_t run_of(const char* letter) { return uint8_t(letter[1]); }

template <class T> T head_in(const char* letter, size_t bytes)
{
    T head{};
    if (bytes >= 8 + sizeof head)
        std::memcpy(static_cast<void*>(&head), letter + 8, sizeof head);
    return head;
}

} // namespace ws::policy::nblb
