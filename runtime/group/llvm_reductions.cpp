// SPDX-License-Identifier: MIT
//
// What tasks reduce in code of clang's: the compiled code says how a copy is made and added, and libws does it. A
// thread gets its copies of a taskgroup's variables when one of its tasks first asks for one.
#include "group/part.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace ws::group {

namespace {

[[noreturn]] void no_memory()
{
    std::fputs("workshare: error: no memory for the reductions of a ws taskgroup\n", stderr);
    std::exit(1);
}

} // namespace

// Those of one taskgroup.
struct LlvmReductions {
    // libomp's kmp_taskred_input_t.
    struct Input {
        char* variable;
        void* original; // what a copy is made of
        size_t bytes;
        void (*make)(void* copy, void* original); // null: all 0
        void (*destroy)(void* copy);              // null: nothing
        void (*add)(void* to, void* copy);
        unsigned flags;
    };

    LlvmReductions* outer;
    const Task* task; // in which the taskgroup is
    unsigned group;   // how many are open in that task, with this one
    std::vector<Input> inputs;
    std::vector<size_t> offsets; // where in a thread's copies each is
    size_t bytes;                // of a thread's copies
    unsigned slots;
    char* volatile copies[Crew::most_members]; // writers: the thread with the slot; null: none yet

    char* mine()
    {
        char* volatile& place = copies[part.member ? part.member->number : 0];
        if (char* const known = base::load_relaxed(place)) // its own
            return known;
        void* memory = nullptr;
        if (posix_memalign(&memory, 64, bytes))
            no_memory();
        char* const made = static_cast<char*>(memory);
        for (size_t i = 0; i < inputs.size(); i++)
            if (inputs[i].make)
                inputs[i].make(made + offsets[i], inputs[i].original);
            else
                std::memset(made + offsets[i], 0, inputs[i].bytes);
        base::store_release(place, made);
        return made;
    }

    // The number of a variable, or of the one that it is any thread's copy of; inputs.size() if it is none.
    size_t find(const char* of) const
    {
        for (size_t i = 0; i < inputs.size(); i++)
            if (inputs[i].variable == of)
                return i;
        for (unsigned slot = 0; slot < slots; slot++)
            // Relaxed: a task with a copy, put before this one, has made it known.
            if (const char* const known = base::load_relaxed(copies[slot]))
                for (size_t i = 0; i < inputs.size(); i++)
                    if (known + offsets[i] == of)
                        return i;
        return inputs.size();
    }
};

WS_EXPORT void ws_task_reductions(int count, const void* inputs)
{
    auto* const made = new (std::nothrow) LlvmReductions{};
    if (!made)
        no_memory();
    const auto* const given = static_cast<const LlvmReductions::Input*>(inputs);
    made->outer = part.context.llvm_reductions;
    made->task = part.context.task;
    made->group = part.context.groups;
    made->slots = may_have_others() ? Crew::most_members : 1;
    for (int i = 0; i < count; i++) {
        made->inputs.push_back(given[i]);
        made->offsets.push_back(made->bytes);
        made->bytes += (given[i].bytes + 63) / 64 * 64; // neither two threads nor two alignments meet
    }
    part.context.llvm_reductions = made;
}

WS_EXPORT void* ws_task_copy(void* of)
{
    for (LlvmReductions* group = part.context.llvm_reductions; group; group = group->outer)
        if (const size_t i = group->find(static_cast<char*>(of)); i < group->inputs.size())
            return group->mine() + group->offsets[i];
    std::fputs(
        "workshare: error: no taskgroup around a ws task reduces a variable of its 'in_reduction' clause; name it "
        "in the 'task_reduction' clause of a taskgroup\n",
        stderr);
    std::exit(1);
}

void end_llvm_reductions()
{
    LlvmReductions* const group = part.context.llvm_reductions;
    if (group->task != part.context.task || group->group != part.context.groups)
        return; // of a taskgroup around this one
    for (unsigned slot = 0; slot < group->slots; slot++) {
        char* const copies = base::load_acquire(group->copies[slot]); // pairs with mine()
        for (size_t i = 0; copies && i < group->inputs.size(); i++) {
            const LlvmReductions::Input& input = group->inputs[i];
            input.add(input.variable, copies + group->offsets[i]);
            if (input.destroy)
                input.destroy(copies + group->offsets[i]);
        }
        std::free(copies);
    }
    part.context.llvm_reductions = group->outer;
    delete group;
}

} // namespace ws::group
