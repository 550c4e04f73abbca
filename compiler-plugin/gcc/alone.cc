// SPDX-License-Identifier: MIT
//
// ws_alone does not change while a chunk runs, nor while any other function does that asks for no chunks. So a loop
// whose atomics ask for it is made into two loops, one plain, one with atomics, and the question is asked before:
//
//     for (...) { if (ws_alone) plain;         if (ws_alone) for (...) plain;
//                 else atomic; }               else          for (...) atomic;
//
// The plain one is then optimized like any other. A pass over each function, after inlining, so that the atomics of
// functions that the loop calls are in it; with LTO in lto1.
#include "ws_gcc.h"

#include "cfghooks.h"
#include "cfgloop.h"
#include "cfgloopmanip.h"
#include "context.h"
#include "predict.h"
#include "ssa.h"
#include "tree-into-ssa.h"
#include "tree-cfg.h"
#include "tree-pass.h"
#include "tree-ssa-loop-manip.h"

namespace ws_gcc {

namespace {

constexpr int most_statements = 3000; // in a loop that is doubled

bool asks(gimple* statement)
{
    if (!gimple_assign_load_p(statement) || !VAR_P(gimple_assign_rhs1(statement)))
        return false;
    tree variable = gimple_assign_rhs1(statement);
    return DECL_EXTERNAL(variable) && DECL_NAME(variable) &&
           strcmp(IDENTIFIER_POINTER(DECL_NAME(variable)), "ws_alone") == 0;
}

// Whether a call of libws may change ws_alone: those that open a region or hand out a chunk.
bool may_change(gimple* statement)
{
    if (!is_gimple_call(statement))
        return false;
    tree function = gimple_call_fndecl(statement);
    const char* name = function && DECL_NAME(function) ? IDENTIFIER_POINTER(DECL_NAME(function)) : "";
    return startswith(name, "ws_loop_") || startswith(name, "ws_parallel") || startswith(name, "ws_openmp") ||
           startswith(name, "ws_plain_");
}

struct Contents {
    bool asks = false, may_change = false;
    int statements = 0;
};

Contents contents_of(class loop* loop)
{
    Contents out;
    basic_block* blocks = get_loop_body(loop);
    for (unsigned i = 0; i < loop->num_nodes; i++)
        for (auto at = gsi_start_bb(blocks[i]); !gsi_end_p(at); gsi_next(&at)) {
            gimple* statement = gsi_stmt(at);
            out.asks |= asks(statement);
            out.may_change |= may_change(statement);
            out.statements += !is_gimple_debug(statement);
        }
    free(blocks);
    return out;
}

// Adds the outermost loops, from `loop` inwards, that can be doubled.
void find_loops(class loop* loop, vec<class loop*>& found)
{
    for (; loop; loop = loop->next) {
        const Contents contents = contents_of(loop);
        if (!contents.asks)
            continue;
        if (!contents.may_change && contents.statements <= most_statements && can_duplicate_loop_p(loop))
            found.safe_push(loop);
        else
            find_loops(loop->inner, found);
    }
}

void answer(class loop* loop, int value)
{
    basic_block* blocks = get_loop_body(loop);
    for (unsigned i = 0; i < loop->num_nodes; i++)
        for (auto at = gsi_start_bb(blocks[i]); !gsi_end_p(at); gsi_next(&at)) {
            gimple* statement = gsi_stmt(at);
            if (!asks(statement))
                continue;
            tree result = gimple_assign_lhs(statement);
            gimple_assign_set_rhs_from_tree(&at, build_int_cst(TREE_TYPE(result), value));
            update_stmt(gsi_stmt(at));
        }
    free(blocks);
}

tree find_flag(class loop* loop)
{
    tree flag = NULL_TREE;
    basic_block* blocks = get_loop_body(loop);
    for (unsigned i = 0; i < loop->num_nodes && !flag; i++)
        for (auto at = gsi_start_bb(blocks[i]); !gsi_end_p(at) && !flag; gsi_next(&at))
            if (asks(gsi_stmt(at)))
                flag = gimple_assign_rhs1(gsi_stmt(at));
    free(blocks);
    return flag;
}

bool double_loop(class loop* loop)
{
    tree flag = find_flag(loop);
    tree value = make_ssa_name(TREE_TYPE(flag));
    gsi_insert_on_edge_immediate(loop_preheader_edge(loop), gimple_build_assign(value, flag));
    tree alone = build2(NE_EXPR, boolean_type_node, value, build_zero_cst(TREE_TYPE(flag)));
    const auto likely = profile_probability::likely();
    basic_block condition;
    class loop* other = loop_version(loop, alone, &condition, likely, likely.invert(), likely, likely.invert(), true);
    if (!other)
        return false;
    answer(loop, 1);
    answer(other, 0);
    return true;
}

const pass_data alone_data = {GIMPLE_PASS, "wsalone", OPTGROUP_LOOP,   TV_NONE, PROP_cfg | PROP_ssa, 0,
                              0,           0,         TODO_cleanup_cfg};

class AlonePass : public gimple_opt_pass {
public:
    explicit AlonePass(gcc::context* context) : gimple_opt_pass(alone_data, context) {}

    bool gate(function* fn) final override { return optimize >= 2 && optimize_function_for_speed_p(fn); }

    unsigned execute(function* fn) final override
    {
        bool any = false;
        basic_block block;
        FOR_EACH_BB_FN(block, fn)
            for (auto at = gsi_start_bb(block); !any && !gsi_end_p(at); gsi_next(&at))
                any = asks(gsi_stmt(at));
        if (!any)
            return 0;
        loop_optimizer_init(LOOPS_NORMAL | LOOPS_HAVE_RECORDED_EXITS);
        auto_vec<class loop*> loops;
        find_loops(loops_for_fn(fn)->tree_root->inner, loops);
        if (!loops.is_empty()) {
            rewrite_into_loop_closed_ssa(nullptr, TODO_update_ssa);
            initialize_original_copy_tables();
            for (class loop* loop : loops)
                if (double_loop(loop))
                    update_ssa(TODO_update_ssa);
            free_original_copy_tables();
        }
        loop_optimizer_finalize();
        return 0;
    }
};

} // namespace

void register_alone_pass(const char* plugin_name)
{
    register_pass_info info = {new AlonePass(g), "cunrolli", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

} // namespace ws_gcc
