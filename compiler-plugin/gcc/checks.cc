// SPDX-License-Identifier: MIT
//
// What the grammar cannot see and GCC's OpenMP front end does not check (or gets wrong), looked up in the typed tree of
// each function just before it is lowered to GENERIC: so templates are checked as instantiated, and functions that are
// never called are checked too.
#include "ws_gcc.h"

#include "../clauses/messages.h"

#include "cgraph.h"
#include "fold-const.h"
#include "opts.h"
#include "toplev.h"
#include "tree-nested.h"

namespace ws_gcc {

namespace {

// The loop of a ws construct: `omp for` inside `omp parallel num_threads(__ws_mark(...))`.
tree mark_of(tree parallel)
{
    for (tree clause = OMP_PARALLEL_CLAUSES(parallel); clause; clause = OMP_CLAUSE_CHAIN(clause)) {
        if (OMP_CLAUSE_CODE(clause) != OMP_CLAUSE_NUM_THREADS)
            continue;
        tree value = OMP_CLAUSE_NUM_THREADS_EXPR(clause);
        // Front ends wrap the call: conversions, save_expr, clean-ups.
        while (value && (CONVERT_EXPR_P(value) || TREE_CODE(value) == SAVE_EXPR ||
                         TREE_CODE(value) == NON_LVALUE_EXPR || TREE_CODE(value) == CLEANUP_POINT_EXPR))
            value = TREE_OPERAND(value, 0);
        if (value && TREE_CODE(value) == CALL_EXPR && is_marker(get_callee_fndecl(value), ws::mark_function))
            return value;
    }
    return NULL_TREE;
}

struct Written {
    ws::DirectiveKind kind = ws::DirectiveKind::loop;
    hash_set<tree> loop_variables, bounds;
    hash_set<tree> own; // variables of the iteration: in a clause, or declared in the body
};

void add_variables(tree expression, hash_set<tree>& out)
{
    walk_tree_without_duplicates(
        &expression,
        [](tree* node, int* walk_subtrees, void* data) -> tree {
            if (VAR_P(*node) || TREE_CODE(*node) == PARM_DECL)
                static_cast<hash_set<tree>*>(data)->add(*node);
            if (TYPE_P(*node))
                *walk_subtrees = 0;
            return NULL_TREE;
        },
        &out);
}

tree written_variable(tree expression)
{
    switch (TREE_CODE(expression)) {
    case MODIFY_EXPR:
    case PREINCREMENT_EXPR:
    case PREDECREMENT_EXPR:
    case POSTINCREMENT_EXPR:
    case POSTDECREMENT_EXPR: return tree_strip_any_location_wrapper(TREE_OPERAND(expression, 0));
    default: return NULL_TREE;
    }
}

// The assignments, ++ and -- of classes: C++'s front end has made calls of them.
bool is_writing_operator(tree function)
{
    const std::string name = function && DECL_NAME(function) ? IDENTIFIER_POINTER(DECL_NAME(function)) : "";
    if (!startswith(name.c_str(), "operator") || name.size() < strlen("operator="))
        return false;
    const std::string of = name.substr(strlen("operator"));
    return of == "++" || of == "--" || (of.back() == '=' && of != "==" && of != "!=" && of != "<=" && of != ">=");
}

// What a node writes to, without what it does on the way: members, references, casts. No elements of arrays: those are
// scratch space.
tree written_whole(tree node)
{
    tree to = written_variable(node);
    if (TREE_CODE(node) == CALL_EXPR && call_expr_nargs(node) > 0 && is_writing_operator(get_callee_fndecl(node)))
        to = CALL_EXPR_ARG(node, 0);
    else if (TREE_CODE(node) == OMP_ATOMIC || TREE_CODE(node) == OMP_ATOMIC_CAPTURE_OLD ||
             TREE_CODE(node) == OMP_ATOMIC_CAPTURE_NEW)
        to = TREE_OPERAND(node, 0);
    while (to && (CONVERT_EXPR_P(to) || TREE_CODE(to) == NON_LVALUE_EXPR || TREE_CODE(to) == VIEW_CONVERT_EXPR ||
                  TREE_CODE(to) == SAVE_EXPR || TREE_CODE(to) == COMPONENT_REF || TREE_CODE(to) == ADDR_EXPR ||
                  (TREE_CODE(to) == INDIRECT_REF && TREE_CODE(TREE_TYPE(TREE_OPERAND(to, 0))) == REFERENCE_TYPE)))
        to = TREE_OPERAND(to, 0);
    return to;
}

// The name of a thread's variable. One that C++ initializes when a thread first uses it is behind a call, of a function
// named after it.
std::string thread_variable(tree to, const Written& written)
{
    if (to && VAR_P(to) && DECL_THREAD_LOCAL_P(to) && DECL_NAME(to) && !const_cast<Written&>(written).own.contains(to))
        return IDENTIFIER_POINTER(DECL_NAME(to));
    tree function = to && TREE_CODE(to) == CALL_EXPR ? get_callee_fndecl(to) : NULL_TREE;
    if (!function || !DECL_NAME(function) || !startswith(IDENTIFIER_POINTER(DECL_NAME(function)), "_ZTW"))
        return "";
    const std::string name =
        readable_name(std::string("_Z") + (IDENTIFIER_POINTER(DECL_NAME(function)) + strlen("_ZTW")));
    return name.substr(name.rfind(':') + 1);
}

bool given_wall()
{
    bool given = false;
    for (unsigned i = 0; i < save_decoded_options_count; i++)
        if (save_decoded_options[i].opt_index == OPT_Wall)
            given = save_decoded_options[i].value;
    return given;
}

void warn_of(tree node, Written& written)
{
    switch (TREE_CODE(node)) {
    case BIND_EXPR:
        for (tree variable = BIND_EXPR_VARS(node); variable; variable = DECL_CHAIN(variable))
            written.own.add(variable);
        break;
    case DECL_EXPR: written.own.add(DECL_EXPR_DECL(node)); break;
    case GOTO_EXPR:
        if (TREE_CODE(GOTO_DESTINATION(node)) != LABEL_DECL)
            warn(EXPR_LOC_OR_LOC(node, input_location), ws::computed_goto(written.kind));
        break;
    case CALL_EXPR:
        if (tree function = get_callee_fndecl(node);
            function && DECL_NAME(function) &&
            strcmp(IDENTIFIER_POINTER(DECL_NAME(function)), "omp_get_thread_num") == 0)
            warn(EXPR_LOC_OR_LOC(node, input_location), ws::thread_number(written.kind));
        break;
    default: break;
    }
    if (const std::string name = thread_variable(written_whole(node), written); !name.empty())
        warn(EXPR_LOC_OR_LOC(node, input_location), ws::thread_variable_written(name, written.kind));
}

tree complain_if_written(tree* node, int* walk_subtrees, void* data)
{
    auto* written = static_cast<Written*>(data);
    if (TYPE_P(*node)) {
        *walk_subtrees = 0;
        return NULL_TREE;
    }
    warn_of(*node, *written);
    tree variable = written_variable(*node);
    if (!variable || !DECL_P(variable) || !DECL_NAME(variable))
        return NULL_TREE;
    const location_t at = EXPR_LOC_OR_LOC(*node, input_location);
    if (written->loop_variables.contains(variable))
        error_at(at, "the loop changes its variable %qD, in %<#pragma ws for%>", variable);
    else if (written->bounds.contains(variable))
        error_at(at, "the loop changes %qD, on which its number of iterations depends, in %<#pragma ws for%>",
                 variable);
    return NULL_TREE;
}

void add_items(tree clauses, hash_set<tree>& out)
{
    for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c)) {
        const omp_clause_code code = OMP_CLAUSE_CODE(c);
        if (code == OMP_CLAUSE_PRIVATE || code == OMP_CLAUSE_FIRSTPRIVATE || code == OMP_CLAUSE_LASTPRIVATE ||
            code == OMP_CLAUSE_REDUCTION)
            out.add(OMP_CLAUSE_DECL(c));
    }
}

void check_sections(tree parallel)
{
    Written written;
    written.kind = ws::DirectiveKind::sections;
    add_items(OMP_PARALLEL_CLAUSES(parallel), written.own);
    walk_tree_without_duplicates(&OMP_PARALLEL_BODY(parallel), complain_if_written, &written);
}

// The loop variables and the plain variables in the bounds and steps of `omp for`, which the body must leave alone.
void check_loop(tree parallel, tree loop)
{
    Written written;
    add_items(OMP_PARALLEL_CLAUSES(parallel), written.own);
    add_items(OMP_FOR_CLAUSES(loop), written.own);
    for (int i = 0; i < TREE_VEC_LENGTH(OMP_FOR_INIT(loop)); i++) {
        tree init = TREE_VEC_ELT(OMP_FOR_INIT(loop), i);
        tree condition = TREE_VEC_ELT(OMP_FOR_COND(loop), i);
        if (!init || !condition || !COMPARISON_CLASS_P(condition))
            continue;
        tree variable = tree_strip_any_location_wrapper(TREE_OPERAND(init, 0));
        if (DECL_P(variable))
            written.loop_variables.add(variable);
        add_variables(TREE_OPERAND(init, 1), written.bounds);
        add_variables(TREE_OPERAND(condition, 1), written.bounds);
        // the step; the variable itself comes first
        add_variables(TREE_VEC_ELT(OMP_FOR_INCR(loop), i), written.bounds);
    }
    walk_tree_without_duplicates(&OMP_FOR_BODY(loop), complain_if_written, &written);
}

// Whether `variable COMPARISON end; increment` goes down. With != the step is 1 or -1.
bool counts_down(tree_code comparison, tree increment)
{
    if (comparison != NE_EXPR)
        return comparison == GT_EXPR || comparison == GE_EXPR;
    if (TREE_CODE(increment) == MODIFY_EXPR) {
        tree sum = TREE_OPERAND(increment, 1);
        while (CONVERT_EXPR_P(sum))
            sum = TREE_OPERAND(sum, 0);
        return TREE_CODE(sum) == MINUS_EXPR ? integer_onep(TREE_OPERAND(sum, 1))
                                            : TREE_CODE(sum) == PLUS_EXPR && !integer_onep(TREE_OPERAND(sum, 1));
    }
    return TREE_CODE(increment) == PREDECREMENT_EXPR || TREE_CODE(increment) == POSTDECREMENT_EXPR;
}

// GCC 12 gives libgomp's `long` loops a wrong increment when an unsigned variable narrower than long counts down
// (2^32 - 1 instead of -1; `omp for schedule(dynamic)` then runs no iteration at all). The mark carries such a
// variable's width to the pass, which corrects the increment.
void note_unsigned_countdown(tree mark, tree loop)
{
    tree condition = TREE_VEC_ELT(OMP_FOR_COND(loop), 0);
    if (TREE_VEC_LENGTH(OMP_FOR_COND(loop)) != 1 || !condition || !COMPARISON_CLASS_P(condition))
        return; // collapsed loops are counted from 0
    tree type = TREE_TYPE(TREE_OPERAND(condition, 0));
    const bool narrow =
        INTEGRAL_TYPE_P(type) && TYPE_UNSIGNED(type) && TYPE_PRECISION(type) < TYPE_PRECISION(long_integer_type_node);
    if (narrow && counts_down(TREE_CODE(condition), TREE_VEC_ELT(OMP_FOR_INCR(loop), 0))) {
        tree& kinds = CALL_EXPR_ARG(mark, 1);
        kinds = build_int_cst(TREE_TYPE(kinds), tree_to_shwi(kinds) | TYPE_PRECISION(type) << ws::countdown_shift);
    }
}

tree find_first_loop(tree* node, int* walk_subtrees, void*)
{
    if (TYPE_P(*node))
        *walk_subtrees = 0;
    // With simd the head is that of the inner one of two.
    return (TREE_CODE(*node) == OMP_FOR || TREE_CODE(*node) == OMP_SIMD) && OMP_FOR_INIT(*node) ? *node : NULL_TREE;
}

// Only for the nest itself, not for loops inside.
tree find_between_loops(tree* node, int* walk_subtrees, void*)
{
    if (TYPE_P(*node) || TREE_CODE(*node) == OMP_PARALLEL || TREE_CODE(*node) == OMP_FOR ||
        TREE_CODE(*node) == OMP_SIMD)
        *walk_subtrees = 0;
    return is_between_loops(*node) ? *node : NULL_TREE;
}

tree check_node(tree* node, int* walk_subtrees, void*)
{
    if (TYPE_P(*node)) {
        *walk_subtrees = 0;
    } else if (TREE_CODE(*node) == OMP_PARALLEL) {
        tree mark = mark_of(*node);
        const bool has_sections = mark && tree_to_shwi(CALL_EXPR_ARG(mark, 1)) & ws::sections_mark;
        if (has_sections)
            check_sections(*node);
        const bool has_loop = mark && !has_sections;
        tree loop =
            has_loop ? walk_tree_without_duplicates(&OMP_PARALLEL_BODY(*node), find_first_loop, nullptr) : NULL_TREE;
        if (loop) {
            check_loop(*node, loop);
            if (tree between = walk_tree_without_duplicates(&OMP_FOR_BODY(loop), find_between_loops, nullptr))
                error_about(EXPR_LOC_OR_LOC(between, EXPR_LOCATION(loop)),
                            ws::about(ws::message::not_nested, ws::full_name(ws::DirectiveKind::loop)));
            note_unsigned_countdown(mark, loop);
        }
    } else if (TREE_CODE(*node) == CALL_EXPR && is_marker(get_callee_fndecl(*node), ws::chunk_function)) {
        const location_t at = EXPR_LOC_OR_LOC(*node, input_location);
        if (call_expr_nargs(*node) != 2)
            error_about(at, ws::two_chunks(ws::chunk_clauses[tree_to_shwi(CALL_EXPR_ARG(*node, 0))]));
        else
            check_chunk_argument(at, CALL_EXPR_ARG(*node, 0), CALL_EXPR_ARG(*node, 1));
    }
    return NULL_TREE;
}

} // namespace

void warn(location_t at, const ws::Warning& warning)
{
    static std::set<std::pair<location_t, std::string>> said; // each instance of a template comes here
    static const bool wanted = given_wall();
    const ws::Warned how = ws::how_to_warn(warning);
    if (how == ws::Warned::never || (how == ws::Warned::with_wall && !wanted) ||
        !said.insert({get_pure_location(at), warning.text}).second)
        return;
    if (how == ws::Warned::as_error)
        error_about(at, ws::shown(warning));
    else
        warning_at(at, 0, "%s", localized_quotes(ws::shown(warning)).c_str());
}

void check_chunk_argument(location_t at, tree which, tree chunk)
{
    const char* clause = ws::chunk_clauses[tree_to_shwi(which)];
    if (!INTEGRAL_TYPE_P(TREE_TYPE(chunk))) {
        if (!error_operand_p(chunk))
            error_about(at, ws::about_chunk(clause, "must be an integer"));
        return;
    }
    tree value = fold(chunk);
    if (TREE_CODE(value) == INTEGER_CST && tree_int_cst_sgn(value) <= 0)
        error_about(at, ws::about_chunk(clause, "must be positive"));
}

void check_function(tree function)
{
    if (!ws_used() || !DECL_SAVED_TREE(function))
        return;
    walk_tree_without_duplicates(&DECL_SAVED_TREE(function), check_node, nullptr);
    // Nested functions of GNU C have no event of their own.
    if (cgraph_node* node = cgraph_node::get(function))
        for (cgraph_node* nested = first_nested_function(node); nested; nested = next_nested_function(nested))
            check_function(nested->decl);
}

} // namespace ws_gcc
