// SPDX-License-Identifier: MIT
//
// Loops whose step may carry the variable past its type's last value, before GCC lowers OpenMP. The loop over a chunk that GCC
// makes adds the step before it compares: `for (int i = 0; i < INT_MAX; i += 2000000000)` would go on for ever. Such a loop
// counts in a long, which has room for all that a narrower type can come to:
//
//     for (long wide = 0; wide < INT_MAX; wide += 2000000000) { i = (int) wide; ... }
//
// Only where start, bound and step are constants: others keep their variable, and what the compiler knows of it.
#include "ws_gcc.h"

#include "fold-const.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "gimplify.h"

namespace ws_gcc {

namespace {

// A constant step, as the loop goes: less than 0 if down.
HOST_WIDE_INT step_of(gomp_for *loop, bool down) {
    tree increment = gimple_omp_for_incr(loop, 0), value = TREE_OPERAND(increment, 1);
    const bool added = TREE_CODE(increment) != MINUS_EXPR;
    // Of an unsigned variable that counts down -3 is 2^32 - 3.
    const signop sign = added && down ? SIGNED : TYPE_SIGN(TREE_TYPE(value));
    const offset_int step = offset_int::from(wi::to_wide(value), sign);
    return added ? step.to_shwi() : -step.to_shwi();
}

}  // namespace

gomp_for *first_loop(gimple_seq *body, gimple_stmt_iterator *at) {
    for (*at = gsi_start(*body); !gsi_end_p(*at); gsi_next(at)) {
        gimple *statement = gsi_stmt(*at);
        if (gomp_for *loop = dyn_cast<gomp_for *>(statement))
            return loop;
        gimple_stmt_iterator inner;
        // A try: with temporaries that the bounds need.
        gimple_seq *block = gimple_code(statement) == GIMPLE_BIND  ? gimple_bind_body_ptr(as_a<gbind *>(statement))
                            : gimple_code(statement) == GIMPLE_TRY ? gimple_try_eval_ptr(statement)
                                                                   : nullptr;
        if (gomp_for *loop = block ? first_loop(block, &inner) : nullptr) {
            *at = inner;
            return loop;
        }
    }
    return nullptr;
}

void widen_variable(gimple_stmt_iterator parallel) {
    gcall *mark = region_mark(parallel);
    gimple_stmt_iterator at;
    gomp_for *loop = mark ? first_loop(gimple_omp_body_ptr(gsi_stmt(parallel)), &at) : nullptr;
    if (!loop || gimple_omp_for_collapse(loop) != 1 || gimple_omp_for_combined_p(loop))
        return;
    tree variable = gimple_omp_for_index(loop, 0), type = TREE_TYPE(variable);
    const tree_code comparison = gimple_omp_for_cond(loop, 0);
    if (!INTEGRAL_TYPE_P(type) || TYPE_PRECISION(type) >= TYPE_PRECISION(long_integer_type_node) || comparison == NE_EXPR)
        return;
    for (tree clauses : {gimple_omp_for_clauses(loop), gimple_omp_parallel_clauses(gsi_stmt(parallel))})
        for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c))
            if (OMP_CLAUSE_CODE(c) == OMP_CLAUSE_LASTPRIVATE && OMP_CLAUSE_DECL(c) == variable)
                return;     // after the loop it has the value that it came to, past the last iteration's
    tree initial = gimple_omp_for_initial(loop, 0), final = gimple_omp_for_final(loop, 0);
    if (TREE_CODE(initial) != INTEGER_CST || TREE_CODE(final) != INTEGER_CST
        || TREE_CODE(TREE_OPERAND(gimple_omp_for_incr(loop, 0), 1)) != INTEGER_CST)
        return;
    const HOST_WIDE_INT step = step_of(loop, comparison == GT_EXPR || comparison == GE_EXPR);
    const offset_int beyond = wi::to_offset(final) + step;
    if (step == 1 || step == -1 || (beyond >= wi::to_offset(TYPE_MIN_VALUE(type)) && beyond <= wi::to_offset(TYPE_MAX_VALUE(type))))
        return;

    const location_t where = gimple_location(loop);
    tree wide = create_tmp_var_raw(long_integer_type_node, "ws_wide");
    DECL_CONTEXT(wide) = current_function_decl;
    DECL_SEEN_IN_BIND_EXPR_P(wide) = 1;
    gimple_omp_for_set_initial(loop, 0, fold_convert(long_integer_type_node, initial));
    gimple_omp_for_set_final(loop, 0, fold_convert(long_integer_type_node, final));
    gimple_omp_for_set_incr(loop, 0, build2(PLUS_EXPR, long_integer_type_node, wide, build_int_cst(long_integer_type_node, step)));
    gimple_omp_for_set_index(loop, 0, wide);
    tree own = build_omp_clause(where, OMP_CLAUSE_PRIVATE);
    OMP_CLAUSE_DECL(own) = wide;
    OMP_CLAUSE_CHAIN(own) = gimple_omp_for_clauses(loop);
    gimple_omp_for_set_clauses(loop, own);
    gimple_seq first = nullptr, only = nullptr;
    gimple_seq_add_stmt(&first, gimple_build_assign(variable, NOP_EXPR, wide));
    gimple_seq_add_seq(&first, gimple_omp_body(loop));
    gimple_omp_set_body(loop, first);
    gimple_seq_add_stmt(&only, loop);
    gsi_replace(&at, gimple_build_bind(wide, only, NULL_TREE), false);
    // The new one needs no correction of how it counts down.
    tree kinds = gimple_call_arg(mark, 1);
    gimple_call_set_arg(mark, 1, build_int_cst(TREE_TYPE(kinds), tree_to_shwi(kinds) & ~(HOST_WIDE_INT(63) << ws::countdown_shift)));
}

}  // namespace ws_gcc
