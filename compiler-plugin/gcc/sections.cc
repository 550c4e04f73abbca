// SPDX-License-Identifier: MIT
//
// `ws sections` before GCC lowers OpenMP: it becomes the loop over the sections' numbers that all that follows knows,
//
//     #pragma omp parallel                   #pragma omp parallel
//       #pragma omp sections                   #pragma omp for schedule(dynamic,1) private(number)
//         #pragma omp section  A                 for (number = 0; number < 2; number = number + 1)
//         #pragma omp section  B                   switch (number) { case 0: A goto done; default: B goto done; } done:
//
// and not GCC's own lowering, which writes lastprivate variables in the last section: a guest that begins then may
// still be copying them in. After a loop it may not (runtime/loop, "no_more").
#include "ws_gcc.h"

#include "fold-const.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "gimplify.h"

namespace ws_gcc {

namespace {

// The sections in a region, through blocks; where they stand.
gomp_sections* find_sections(gimple_seq* body, gimple_stmt_iterator* at)
{
    for (*at = gsi_start(*body); !gsi_end_p(*at); gsi_next(at)) {
        gimple* statement = gsi_stmt(*at);
        if (gomp_sections* sections = dyn_cast<gomp_sections*>(statement))
            return sections;
        gimple_stmt_iterator inner;
        gimple_seq* block = gimple_code(statement) == GIMPLE_BIND  ? gimple_bind_body_ptr(as_a<gbind*>(statement))
                            : gimple_code(statement) == GIMPLE_TRY ? gimple_try_eval_ptr(statement)
                                                                   : nullptr;
        if (gomp_sections* sections = block ? find_sections(block, &inner) : nullptr) {
            *at = inner;
            return sections;
        }
    }
    return nullptr;
}

// The body of the loop; counts the sections.
gimple_seq choice(gomp_sections* sections, tree number, HOST_WIDE_INT& count)
{
    const location_t where = gimple_location(sections);
    tree done = create_artificial_label(where), last = NULL_TREE;
    auto_vec<tree> cases;
    gimple_seq bodies = nullptr;
    for (auto at = gsi_start(*gimple_omp_body_ptr(sections)); !gsi_end_p(at); gsi_next(&at)) {
        gimple* section = gsi_stmt(at);
        if (gimple_code(section) != GIMPLE_OMP_SECTION)
            continue;
        tree label = create_artificial_label(gimple_location(section));
        if (last)
            cases.safe_push(last);
        last = build_case_label(build_int_cst(integer_type_node, count++), NULL_TREE, label);
        gimple_seq_add_stmt(&bodies, gimple_build_label(label));
        gimple_seq_add_seq(&bodies, gimple_omp_body(section));
        gimple_seq_add_stmt(&bodies, gimple_build_goto(done));
    }
    gimple_seq_add_stmt(&bodies, gimple_build_label(done));
    if (count < 2)
        return bodies;
    gimple* chooses = gimple_build_switch(number, build_case_label(NULL_TREE, NULL_TREE, CASE_LABEL(last)), cases);
    gimple_set_location(chooses, where);
    gimple_seq all = nullptr;
    gimple_seq_add_stmt(&all, chooses);
    gimple_seq_add_seq(&all, bodies);
    return all;
}

std::set<std::string> lastprivate_names; // in the sections of the file

// Without what gfortran puts behind it for its copies: "y.116".
std::string plain_name(tree variable)
{
    const std::string name = DECL_NAME(variable) ? IDENTIFIER_POINTER(DECL_NAME(variable)) : "";
    return name.substr(0, name.find('.'));
}

} // namespace

void loop_over_sections(gimple_stmt_iterator parallel)
{
    gimple_stmt_iterator at;
    gomp_sections* sections = find_sections(gimple_omp_body_ptr(gsi_stmt(parallel)), &at);
    gcall* mark = sections ? region_mark(parallel) : nullptr;
    if (!mark || !(tree_to_shwi(gimple_call_arg(mark, 1)) & ws::sections_mark))
        return;
    const location_t where = gimple_location(sections);
    tree number = create_tmp_var_raw(integer_type_node, "ws_section");
    DECL_CONTEXT(number) = current_function_decl;
    DECL_SEEN_IN_BIND_EXPR_P(number) = 1;

    tree schedule = build_omp_clause(where, OMP_CLAUSE_SCHEDULE);
    OMP_CLAUSE_SCHEDULE_KIND(schedule) = OMP_CLAUSE_SCHEDULE_DYNAMIC;
    OMP_CLAUSE_SCHEDULE_CHUNK_EXPR(schedule) = integer_one_node;
    OMP_CLAUSE_CHAIN(schedule) = gimple_omp_sections_clauses(sections);
    tree own = build_omp_clause(where, OMP_CLAUSE_PRIVATE);
    OMP_CLAUSE_DECL(own) = number;
    OMP_CLAUSE_CHAIN(own) = schedule;

    for (tree clauses : {gimple_omp_sections_clauses(sections), gimple_omp_parallel_clauses(gsi_stmt(parallel))})
        for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c))
            if (OMP_CLAUSE_CODE(c) == OMP_CLAUSE_LASTPRIVATE)
                lastprivate_names.insert(plain_name(OMP_CLAUSE_DECL(c)));
    HOST_WIDE_INT count = 0;
    gimple_seq body = choice(sections, number, count);
    gomp_for* loop = gimple_build_omp_for(body, GF_OMP_FOR_KIND_FOR, own, 1, nullptr);
    gimple_omp_for_set_index(loop, 0, number);
    gimple_omp_for_set_initial(loop, 0, integer_zero_node);
    gimple_omp_for_set_final(loop, 0, build_int_cst(integer_type_node, count));
    gimple_omp_for_set_cond(loop, 0, LT_EXPR);
    gimple_omp_for_set_incr(loop, 0, build2(PLUS_EXPR, integer_type_node, number, integer_one_node));
    gimple_set_location(loop, where);
    gimple_seq only = nullptr;
    gimple_seq_add_stmt(&only, loop);
    gsi_replace(&at, gimple_build_bind(number, only, NULL_TREE), false);
}

// GCC does not see that who has run the last section has set them.
void note_sections_child(function* child)
{
    tree variable;
    unsigned i;
    FOR_EACH_LOCAL_DECL(child, i, variable)
        if (VAR_P(variable) && lastprivate_names.count(plain_name(variable)))
            suppress_warning(variable, OPT_Wmaybe_uninitialized);
}

} // namespace ws_gcc
