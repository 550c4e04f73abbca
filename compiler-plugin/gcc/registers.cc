// SPDX-License-Identifier: MIT
//
// What a loop needs lives over the calls that ask libws for iterations, so it lies in registers that calls preserve.
// %rbp is the second of these in GCC's allocation order. But an address that begins with it takes a displacement: a
// product of a sparse matrix then took 1.06 of the time that it takes with %rdi (benchmarks: placement, csr and
// gradients). In functions that run a shared loop's iterations, %rbp is the last. %r13, which takes a displacement as
// well, stays where it is: it made no loop slower.
#include "ws_gcc.h"

#include "backend.h"
#include "context.h"
#include "predict.h"
#include "rtl.h"
#include "df.h"
#include "memmodel.h"
#include "insn-config.h"
#include "regs.h"
#include "ira.h"
#include "ira-int.h"
#include "target.h"
#include "tree-pass.h"

namespace ws_gcc {

namespace {

#ifdef BP_REG

// Moves `last` to the end of the allocation order of each register class.
void put_last(int last)
{
    for (int c = 0; c < N_REG_CLASSES; c++) {
        short *registers = ira_class_hard_regs[c], *end = registers + ira_class_hard_regs_num[c];
        short* at = std::find(registers, end, short(last));
        if (at == end)
            continue;
        std::rotate(at, at + 1, end);
        for (short* r = at; r != end; r++)
            ira_class_hard_reg_index[c][*r] = short(r - registers);
    }
}

const pass_data last_data = {RTL_PASS, "wsregisters", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};
const pass_data restore_data = {RTL_PASS, "wsrestored", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

// The order in which GCC takes registers is one for all functions.
struct Order {
    bool is_changed = false;
    decltype(target_ira::x_ira_class_hard_regs) registers;
    decltype(target_ira_int::x_ira_class_hard_reg_index) indices;
} usual;

class LastPass : public rtl_opt_pass {
public:
    explicit LastPass(gcc::context* context) : rtl_opt_pass(last_data, context) {}

    unsigned execute(function* fn) final override
    {
        if (!optimize || !optimize_function_for_speed_p(fn) || !runs_iterations(fn))
            return 0;
        memcpy(usual.registers, ira_class_hard_regs, sizeof usual.registers);
        memcpy(usual.indices, ira_class_hard_reg_index, sizeof usual.indices);
        usual.is_changed = true;
        put_last(BP_REG);
        return 0;
    }
};

class RestorePass : public rtl_opt_pass {
public:
    explicit RestorePass(gcc::context* context) : rtl_opt_pass(restore_data, context) {}

    unsigned execute(function*) final override
    {
        if (!usual.is_changed)
            return 0;
        memcpy(ira_class_hard_regs, usual.registers, sizeof usual.registers);
        memcpy(ira_class_hard_reg_index, usual.indices, sizeof usual.indices);
        usual.is_changed = false;
        return 0;
    }
};

} // namespace

void register_register_passes(const char* plugin_name)
{
    register_pass_info first = {new LastPass(g), "ira", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &first);
    register_pass_info last = {new RestorePass(g), "reload", 1, PASS_POS_INSERT_AFTER};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &last);
}

#else // another processor

} // namespace

void register_register_passes(const char*) {}

#endif

} // namespace ws_gcc
