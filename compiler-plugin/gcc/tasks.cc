// SPDX-License-Identifier: MIT
//
// `ws taskgroup` and `ws taskwait` have no clause that could hold a mark. In a file that has OpenMP's too, ours are
// known by their places, as atomics are. A taskwait keeps its place. A taskgroup loses it, so it is marked before GCC
// lowers OpenMP; its end is then libws's already:
//
//     __ws_mark (...);
//     omp taskgroup { try { ... } finally { ws_taskgroup_end (); } }
#include "ws_gcc.h"

namespace ws_gcc {

static bool is_our(ws::DirectiveKind kind, location_t at)
{
    return !users_openmp() || last_pragma(at) == ws::full_name(kind) || is_written(kind, at);
}

bool is_our_taskwait(location_t at) { return is_our(ws::DirectiveKind::taskwait, at); }

void mark_taskgroup(gimple_stmt_iterator at)
{
    gimple* taskgroup = gsi_stmt(at);
    if (!is_our(ws::DirectiveKind::taskgroup, gimple_location(taskgroup)))
        return;
    bool reduces = false;
    for (tree c = gimple_omp_taskgroup_clauses(taskgroup); c; c = OMP_CLAUSE_CHAIN(c))
        reduces |= OMP_CLAUSE_CODE(c) == OMP_CLAUSE_TASK_REDUCTION;
    gcall* mark = build_mark(reduces ? reducing_taskgroup_mark : taskgroup_mark, build_zero_cst(long_integer_type_node),
                             build_zero_cst(long_integer_type_node), "");
    gimple_set_location(mark, gimple_location(taskgroup));
    gsi_insert_before(&at, mark, GSI_SAME_STMT);
    for (auto in = gsi_start(*gimple_omp_body_ptr(taskgroup)); !gsi_end_p(in); gsi_next(&in)) {
        gimple* cleanup =
            gimple_code(gsi_stmt(in)) == GIMPLE_TRY ? gimple_seq_last_stmt(gimple_try_cleanup(gsi_stmt(in))) : nullptr;
        if (cleanup && gimple_call_builtin_p(cleanup, BUILT_IN_GOMP_TASKGROUP_END))
            gimple_call_set_fndecl(cleanup, build_fn_decl("ws_taskgroup_end", TREE_TYPE(gimple_call_fndecl(cleanup))));
    }
}

} // namespace ws_gcc
