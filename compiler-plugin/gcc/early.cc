// SPDX-License-Identifier: MIT
//
// The pass before GCC lowers OpenMP, where its constructs still stand in the code as written, alike in all languages.
#include "ws_gcc.h"

#include "../clauses/messages.h"
#include "../../runtime/abi/abi.h"

#include "context.h"
#include "gimple-expr.h"
#include "gimple-walk.h"
#include "tree-pass.h"

namespace ws_gcc {

namespace {

// Where a sequence stands.
struct Surroundings {
    // the innermost block that a new variable can be declared in; null at the start of a region
    gbind* scope = nullptr;
    bool in_threads = false; // in a construct that has threads
    bool in_combined = false; // in a combined one: its loop was dealt with
    bool in_simd = false; // in a `ws for simd`
    Quotients* quotients; // those before

    Surroundings in(gbind* inner) const { return {inner, in_threads, in_combined, in_simd, quotients}; }
    Surroundings in_region(bool combined, bool simd = false) const
    {
        return {nullptr, true, combined, simd, quotients};
    }
};

// What -Wall says of C's loops where checks.cc sees them, of a statement of Fortran's.
tree warn_of(gimple_stmt_iterator* at, bool*, walk_stmt_info* info)
{
    const auto kind = *static_cast<const ws::DirectiveKind*>(info->info);
    gimple* statement = gsi_stmt(*at);
    const location_t where = gimple_location(statement);
    if (gimple_code(statement) == GIMPLE_GOTO && TREE_CODE(gimple_goto_dest(statement)) != LABEL_DECL)
        warn(where, ws::computed_goto(kind, language()));
    tree function = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;
    if (function && startswith(IDENTIFIER_POINTER(DECL_NAME(function)), "omp_get_thread_num"))
        warn(where, ws::thread_number(kind, language()));
    // A variable of a common block is a member of it.
    tree to = gimple_has_lhs(statement) ? gimple_get_lhs(statement) : NULL_TREE, name = to;
    while (to && TREE_CODE(to) == COMPONENT_REF) {
        name = VAR_P(TREE_OPERAND(to, 0)) && DECL_IGNORED_P(TREE_OPERAND(to, 0)) ? TREE_OPERAND(to, 1)
                                                                                 : TREE_OPERAND(to, 0);
        to = TREE_OPERAND(to, 0);
    }
    if (to && VAR_P(to) && DECL_THREAD_LOCAL_P(to) && DECL_NAME(name))
        warn(where, ws::thread_variable_written(IDENTIFIER_POINTER(DECL_NAME(name)), kind, language()));
    return NULL_TREE;
}

// Finds code between the loops of a nest, not in constructs inside.
tree between_loops(gimple_stmt_iterator* at, bool* handled, walk_stmt_info*)
{
    *handled = is_gimple_omp(gsi_stmt(*at));
    return is_between_loops(gsi_stmt(*at)) ? integer_one_node : NULL_TREE;
}

// gfortran, since 14, takes nests that are none, and loops of which one's bounds depend on another.
void check_nest(gimple* parallel)
{
    gimple_stmt_iterator at;
    gomp_for* loop = first_loop(gimple_omp_body_ptr(parallel), &at);
    if (!loop)
        return;
    const std::string name = ws::full_name(ws::DirectiveKind::loop, language());
    walk_stmt_info info;
    memset(&info, 0, sizeof info);
    if (walk_gimple_seq(gimple_omp_body(loop), between_loops, nullptr, &info))
        error_about(gimple_location(loop), ws::about(ws::message::not_nested, name));
    for (unsigned i = 0; i < gimple_omp_for_collapse(loop); i++)
        if (TREE_CODE(gimple_omp_for_initial(loop, i)) == TREE_VEC ||
            TREE_CODE(gimple_omp_for_final(loop, i)) == TREE_VEC) {
            error_about(gimple_location(loop), ws::about(ws::message::not_rectangular, name));
            break;
        }
}

void walk(gimple_seq* sequence, const Surroundings& place);

// Goes through a parallel region: makes it ours if it is to be, and looks at what is.
void walk_region(gimple_stmt_iterator at, const Surroundings& place)
{
    gimple* statement = gsi_stmt(at);
    loop_over_sections(at);
    share_openmp_loop(&at, place.scope, place.in_threads);
    look_at_steps(at, *place.quotients);
    note_order(at);
    note_results(at);
    gcall* mark = region_mark(at);
    const auto kinds = mark ? tree_to_shwi(gimple_call_arg(mark, 1)) : 0;
    if (mark && !(kinds & WS_SITE_OPENMP) && &language() == &ws::fortran_language) {
        check_nest(statement);
        auto kind = kinds & ws::sections_mark ? ws::DirectiveKind::sections : ws::DirectiveKind::loop;
        walk_stmt_info info;
        memset(&info, 0, sizeof info);
        info.info = &kind;
        walk_gimple_seq(gimple_omp_body(statement), warn_of, nullptr, &info);
    }
    walk(gimple_omp_body_ptr(statement),
         place.in_region(gimple_omp_parallel_combined_p(statement), kinds & ws::simd_mark));
}

// Goes through a sequence and all in it.
void walk(gimple_seq* sequence, const Surroundings& place)
{
    for (auto at = gsi_start(*sequence); !gsi_end_p(at); gsi_next(&at)) {
        gimple* statement = gsi_stmt(at);
        switch (gimple_code(statement)) {
        case GIMPLE_ASSIGN:
            if (place.scope && gimple_assign_rhs_code(statement) == TRUNC_DIV_EXPR &&
                &language() == &ws::fortran_language)
                (*place.quotients)[gimple_assign_lhs(statement)] = {at, place.scope};
            break;
        case GIMPLE_OMP_ATOMIC_LOAD:
            if (place.in_simd && is_our_atomic(gimple_location(statement)))
                error_about(gimple_location(statement),
                            ws::cannot_stand_in_simd(ws::DirectiveKind::atomic, language()));
            else if (place.scope)
                lower_atomic(at, place.scope);
            break;
        case GIMPLE_BIND: walk(gimple_bind_body_ptr(as_a<gbind*>(statement)), place.in(as_a<gbind*>(statement))); break;
        case GIMPLE_TRY:
            walk(gimple_try_eval_ptr(statement), place);
            walk(gimple_try_cleanup_ptr(statement), place);
            break;
        case GIMPLE_CATCH: walk(gimple_catch_handler_ptr(as_a<gcatch*>(statement)), place); break;
        case GIMPLE_EH_FILTER: walk(gimple_eh_filter_failure_ptr(statement), place); break;
        case GIMPLE_EH_ELSE: {
            auto* either = as_a<geh_else*>(statement);
            walk(gimple_eh_else_n_body_ptr(either), place);
            walk(gimple_eh_else_e_body_ptr(either), place);
            break;
        }
        case GIMPLE_TRANSACTION: walk(gimple_transaction_body_ptr(as_a<gtransaction*>(statement)), place); break;
        case GIMPLE_OMP_PARALLEL: walk_region(at, place); break;
        case GIMPLE_OMP_TASKGROUP:
            mark_taskgroup(at);
            walk(gimple_omp_body_ptr(statement), place);
            break;
        case GIMPLE_OMP_TASK:
        case GIMPLE_OMP_TARGET:
        case GIMPLE_OMP_TEAMS: walk(gimple_omp_body_ptr(statement), place.in_region(false)); break;
        case GIMPLE_OMP_FOR:
            if (!place.in_combined)
                report_openmp_loop(as_a<gomp_for*>(statement));
            walk(gimple_omp_for_pre_body_ptr(statement), place);
            walk(gimple_omp_body_ptr(statement), place);
            break;
        case GIMPLE_OMP_CRITICAL:
        case GIMPLE_OMP_MASTER:
        case GIMPLE_OMP_MASKED:
        case GIMPLE_OMP_ORDERED:
        case GIMPLE_OMP_SCAN:
        case GIMPLE_OMP_SECTION:
        case GIMPLE_OMP_SECTIONS:
        case GIMPLE_OMP_SINGLE:
        case GIMPLE_OMP_SCOPE: walk(gimple_omp_body_ptr(statement), place); break;
        default: break;
        }
    }
}

const pass_data early_data = {GIMPLE_PASS, "wsearly", OPTGROUP_NONE, TV_NONE, PROP_gimple_any, 0, 0, 0, 0};

class EarlyPass : public gimple_opt_pass {
public:
    explicit EarlyPass(gcc::context* context) : gimple_opt_pass(early_data, context) {}

    unsigned execute(function* fn) final override
    {
        if (ws_used() || reports_loops()) {
            gimple_seq body = gimple_body(fn->decl);
            Quotients quotients;
            walk(&body, {nullptr, false, false, false, &quotients});
            gimple_set_body(fn->decl, body);
        }
        return 0;
    }
};

} // namespace

tree declare_temporary(gbind* scope, tree type)
{
    tree variable = create_tmp_var_raw(type);
    DECL_CONTEXT(variable) = current_function_decl;
    DECL_SEEN_IN_BIND_EXPR_P(variable) = 1;
    gimple_bind_append_vars(scope, variable);
    return variable;
}

void register_early_pass(const char* plugin_name)
{
    register_pass_info info = {new EarlyPass(g), "omplower", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

} // namespace ws_gcc
