// SPDX-License-Identifier: MIT
//
// What the ranks of a pool write to each other: a byte that says what it is, one that counts the pool's runs, one that
// says whether the sender was woken (ending.h), and from the eighth byte on a head.
#pragma once

#include "policy/tasks/balancer.h"
#include "policy/tasks/ending.h"

#include <cstring>
#include <string>

namespace ws::policy::tasks {

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
    cancel, // Cancel: to the next ranks of a tree whose root is who cancelled
    // delivering.cpp:
    deliver,  // Deliver: to the keeper of a result
    value,    // ValueHead
    given_up, // GaveUp
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
    uint64_t are_placed; // put for this rank: no balancer has ordered them
};
enum class Way : uint32_t { here, apart, kept }; // a result's bytes: in the letter, separately, or where it was made
struct ResultHead {
    uint32_t future;
    int32_t failure;
    Way way;
    uint32_t tag; // if they come separately
    uint64_t bytes;
};
struct User {
    int32_t rank;
    uint32_t tasks; // that need the result there
};
struct Deliver {
    uint32_t future, users; // how many follow
    static constexpr size_t most_users = 1024; // and one: its home
};
struct ValueHead {
    int32_t home;
    uint32_t future, tasks, tag;
    uint64_t bytes;
};
struct GaveUp {
    uint32_t future;
};
struct Cancel {
    int32_t root;
    uint32_t group;
};

constexpr size_t apart_from = 16384; // bytes of a task or a result that travel as a message of their own
constexpr uint64_t most_bytes = uint64_t(1) << 47; // of one: as many as a process can address

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
// What a run does not end without: tasks and results, and what these need.
inline bool is_counted(Letter what)
{
    return what == Letter::tasks || what == Letter::result || what == Letter::deliver || what == Letter::value ||
           what == Letter::given_up;
}
inline uint8_t run_of(const char* letter) { return uint8_t(letter[1]); }
inline bool is_of_woken(const char* letter) { return letter[2] != 0; }

// The head of a task in a letter. The task's bytes follow, padded to a multiple of 8, unless they come separately.
struct Packed {
    uint16_t kind;
    int8_t priority;
    uint8_t flags, moves;
    uint8_t apart;
    uint16_t tag;
    uint32_t origin, future;
    uint64_t bytes;
    uint16_t group, unused[3];
};

// What numbers in letters may be: those of a pool.
struct LetterLimits {
    int ranks, nodes;
    size_t kinds, groups;
    int tags, least_priority, most_priority;
};

template <class T> T head_in(const char* letter, size_t bytes)
{
    T head{};
    if (bytes >= 8 + sizeof head)
        std::memcpy(static_cast<void*>(&head), letter + 8, sizeof head);
    return head;
}

// Whether everything in the letter that is followed, an index or a length, is within bounds. UCX carries letters
// through memory that other processes can write.
inline bool makes_sense(const char* text, size_t bytes, const LetterLimits& b)
{
    const auto node = [&](int n) { return n >= 0 && n < b.nodes; };
    const auto gift = [&](const Gift& g) {
        return node(g.node) && g.address >= 0 && g.address < b.ranks && g.tasks >= 0;
    };
    const auto has = [&](size_t head) { return bytes >= 8 + head; };
    if (!has(0))
        return false;
    switch (Letter(text[0])) {
    case Letter::note: {
        const Note n = head_in<Note>(text, bytes);
        return has(sizeof n) && node(n.node) && n.address >= 0 && n.address < b.ranks;
    }
    case Letter::give:
        return has(sizeof(Gift)) && gift(head_in<Gift>(text, bytes));
    case Letter::gave:
        return has(sizeof(Gave)) && gift(head_in<Gave>(text, bytes).gift);
    case Letter::changed:
        return has(sizeof(Came)) && node(head_in<Came>(text, bytes).node);
    case Letter::result: {
        const ResultHead r = head_in<ResultHead>(text, bytes);
        return has(sizeof r) && r.way <= Way::kept &&
               (r.way != Way::apart || (r.tag < uint32_t(b.tags) && r.bytes <= most_bytes));
    }
    case Letter::deliver: {
        const Deliver d = head_in<Deliver>(text, bytes);
        if (!has(sizeof d) || d.users > (bytes - 8 - sizeof d) / sizeof(User))
            return false;
        for (uint32_t i = 0; i < d.users; i++) {
            User u;
            std::memcpy(&u, text + 8 + sizeof d + i * sizeof u, sizeof u);
            if (u.rank < 0 || u.rank >= b.ranks)
                return false;
        }
        return true;
    }
    case Letter::value: {
        const ValueHead v = head_in<ValueHead>(text, bytes);
        return has(sizeof v) && v.home >= 0 && v.home < b.ranks && v.tag < uint32_t(b.tags) && v.bytes <= most_bytes;
    }
    case Letter::given_up:
        return has(sizeof(GaveUp));
    case Letter::cancel: {
        const Cancel c = head_in<Cancel>(text, bytes);
        return has(sizeof c) && c.root >= 0 && c.root < b.ranks && c.group >= 1 && c.group <= b.groups;
    }
    case Letter::answer:
        return has(sizeof(Counts));
    case Letter::end:
        return has(sizeof(End));
    case Letter::ask:
    case Letter::begin:
        return true;
    case Letter::tasks:
        break;
    default:
        return false;
    }
    const TasksHead head = head_in<TasksHead>(text, bytes);
    size_t at = 8 + sizeof head;
    if (!has(sizeof head) || !node(head.node))
        return false;
    for (uint32_t i = 0; i < head.tasks; i++) {
        Packed p;
        if (bytes - at < sizeof p)
            return false;
        std::memcpy(&p, text + at, sizeof p);
        at += sizeof p;
        const uint64_t here = p.apart ? 0 : p.bytes;
        if (p.kind >= b.kinds || p.priority < b.least_priority || p.priority > b.most_priority ||
            p.origin >= uint32_t(b.ranks) || p.group > b.groups ||
            (p.apart && (p.tag >= b.tags || p.bytes > most_bytes)) || here > bytes - at)
            return false;
        at += (here + 7) / 8 * 8; // the last one's padding is there, too
        if (at > bytes)
            return false;
    }
    return true;
}

} // namespace ws::policy::tasks
