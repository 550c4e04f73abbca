// SPDX-License-Identifier: MIT
//
// Where a short loop lies makes it faster or slower: one that lies in two cache lines instead of one takes up to 1.6
// times as long. By itself GCC puts loops at multiples of 16, if that takes few bytes, else of 8, so that is a matter
// of luck. A directive moves the code of its function, and must not make that luck worse. So in functions that run a
// shared loop's iterations, a short innermost loop is moved into one line. No more bytes are skipped than that takes,
// because they run whenever the loop is entered from above.
#include "ws_gcc.h"

#include "cfgloop.h"
#include "context.h"
#include "flags.h"
#include "predict.h"
#include "rtl.h"
#include "memmodel.h"
#include "emit-rtl.h"
#include "insn-attr.h"
#include "target.h"
#include "tree-pass.h"

#include <map>

namespace ws_gcc {

namespace {

constexpr int log_line = 6, log_alignment = 4;
// In longer loops, a second line costs little, and skipping nearly a line costs as much (benchmarks: placement, dense).
constexpr int most_bytes = 48;

// The bytes of an innermost loop, from the label at its top to its last jump back; 0 if it is not in one piece.
int bytes_of(class loop* loop)
{
    int bytes = 0;
    for (basic_block block = loop->header; block != EXIT_BLOCK_PTR_FOR_FN(cfun); block = block->next_bb) {
        if (!flow_bb_inside_loop_p(loop, block))
            return 0;
        rtx_insn* instruction;
        FOR_BB_INSNS(block, instruction)
            if (NONDEBUG_INSN_P(instruction))
                bytes += get_attr_length(instruction);
        if (block == loop->latch)
            return bytes;
    }
    return 0;
}

align_flags before; // what GCC goes on with
std::map<rtx_insn*, int> most_skipped; // by a loop's label

const pass_data align_data = {RTL_PASS, "wsalign", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

class AlignPass : public rtl_opt_pass {
public:
    explicit AlignPass(gcc::context* context) : rtl_opt_pass(align_data, context) {}

    unsigned execute(function* fn) final override
    {
        before = align_loops;
        most_skipped.clear();
        // -fno-align-loops, and -Os, ask for small code.
        if (!flag_align_loops || !optimize_function_for_speed_p(fn) || !runs_iterations(fn))
            return 0;
        if (align_loops.levels[0].log < log_alignment || align_loops.levels[0].maxskip < (1 << log_alignment) - 1) {
            align_loops.levels[0] = {log_alignment, (1 << log_alignment) - 1};
            align_loops.levels[1] = {0, 0};
        }
        const int multiple = 1 << align_loops.levels[0].log; // -falign-loops=N asks for N at least
        loop_optimizer_init(AVOID_CFG_MODIFICATIONS);
        for (unsigned i = 1; i < number_of_loops(cfun); i++) { // 0 is the function
            class loop* loop = get_loop(cfun, i);
            const int bytes = loop && !loop->inner ? bytes_of(loop) : 0;
            if (bytes > 0 && bytes <= most_bytes && LABEL_P(BB_HEAD(loop->header)))
                most_skipped[BB_HEAD(loop->header)] = (bytes + multiple - 1) / multiple * multiple - 1;
        }
        loop_optimizer_finalize();
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

const pass_data line_data = {RTL_PASS, "wsline", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

// Once no pass moves code any more. GCC's own alignment follows: what is skipped here leads to where the loop, at the
// next multiple of that, ends in the line that it begins in.
class LinePass : public rtl_opt_pass {
public:
    explicit LinePass(gcc::context* context) : rtl_opt_pass(line_data, context) {}

    unsigned execute(function* fn) final override
    {
        for (rtx_insn* instruction = get_insns(); instruction; instruction = NEXT_INSN(instruction)) {
            const auto loop = most_skipped.find(instruction);
            if (loop == most_skipped.end())
                continue;
            const std::string text = ".p2align " + std::to_string(log_line) + ",," + std::to_string(loop->second);
            emit_insn_before(gen_rtx_ASM_INPUT_loc(VOIDmode, ggc_strdup(text.c_str()), DECL_SOURCE_LOCATION(fn->decl)),
                             instruction);
        }
        most_skipped.clear();
        return 0;
    }
};

} // namespace

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

void register_align_passes(const char* plugin_name)
{
    // GCC's own, which notes at each label what it is to be aligned to, stands between the first two.
    register_pass_info first = {new AlignPass(g), "alignments", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &first);
    register_pass_info last = {new AlignedPass(g), "alignments", 1, PASS_POS_INSERT_AFTER};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &last);
    register_pass_info in_line = {new LinePass(g), "shorten", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &in_line);
}

} // namespace ws_gcc
