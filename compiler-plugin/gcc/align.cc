// SPDX-License-Identifier: MIT
//
// Where a short loop begins makes it now faster, now slower: one of 28 bytes that lies in two cache lines takes a tenth
// more. By itself GCC puts loops at multiples of 16, where that takes few bytes, else of 8. A directive moves the code
// of its function, so what was well placed may not be any more. So loops of functions that run a shared loop's
// iterations begin at multiples of 32.
#include "ws_gcc.h"

#include "context.h"
#include "flags.h"
#include "predict.h"
#include "rtl.h"
#include "target.h"
#include "tree-pass.h"

namespace ws_gcc {

namespace {

constexpr int log_alignment = 5;

// Whether the function is a loop's outlined code, or has its plain version in it.
bool runs_iterations(function* fn)
{
    basic_block block;
    FOR_EACH_BB_FN(block, fn) {
        rtx_insn* instruction;
        FOR_BB_INSNS(block, instruction) {
            tree called = CALL_P(instruction) ? get_call_fndecl(instruction) : NULL_TREE;
            const char* name = called && DECL_NAME(called) ? IDENTIFIER_POINTER(DECL_NAME(called)) : "";
            if (startswith(name, "ws_loop_") || startswith(name, "ws_plain_"))
                return true;
        }
    }
    return false;
}

align_flags before; // what GCC goes on with

const pass_data align_data = {RTL_PASS, "wsalign", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

class AlignPass : public rtl_opt_pass {
public:
    explicit AlignPass(gcc::context* context) : rtl_opt_pass(align_data, context) {}

    unsigned execute(function* fn) final override
    {
        before = align_loops;
        // -fno-align-loops, and -Os, ask for small code; -falign-loops=N for N at least.
        if (flag_align_loops && optimize_function_for_speed_p(fn) && align_loops.levels[0].log < log_alignment &&
            runs_iterations(fn)) {
            align_loops.levels[0] = {log_alignment, (1 << log_alignment) - 1};
            align_loops.levels[1] = {0, 0};
        }
        return 0;
    }
};

const pass_data aligned_data = {RTL_PASS, "wsaligned", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

class AlignedPass : public rtl_opt_pass {
public:
    explicit AlignedPass(gcc::context* context) : rtl_opt_pass(aligned_data, context) {}

    unsigned execute(function*) final override
    {
        align_loops = before;
        return 0;
    }
};

} // namespace

void register_align_passes(const char* plugin_name)
{
    // GCC's own, which notes at each label what it is to be aligned to, stands between them.
    register_pass_info first = {new AlignPass(g), "alignments", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &first);
    register_pass_info last = {new AlignedPass(g), "alignments", 1, PASS_POS_INSERT_AFTER};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &last);
}

} // namespace ws_gcc
