// SPDX-License-Identifier: MIT
//
// What knows how many threads OpenMP has: the variables and members that a file sets from omp_get_max_threads() or
// omp_get_num_threads(). Code that asks takes short cuts where there is one thread (LULESH adds without atomics), and
// guests would come on top of OpenMP's threads: a loop that uses the number must stay OpenMP's.
#include "ws_gcc.h"

#include "cgraph.h"
#include "gimple-walk.h"
#include "gimple.h"

namespace ws_gcc {

namespace {

bool scanned;
std::set<unsigned> holders; // DECL_UIDs

// What is assigned from what, of the whole file: until nothing new holds the number.
struct Scan {
    std::set<tree> known; // declarations and GIMPLE's temporaries
    std::vector<std::pair<tree, tree>> copies; // to, from
};

bool asks(tree function)
{
    if (!function || !DECL_NAME(function))
        return false;
    std::string name = IDENTIFIER_POINTER(DECL_NAME(function));
    while (!name.empty() && name.back() == '_')
        name.pop_back();
    return name == "omp_get_max_threads" || name == "omp_get_num_threads";
}

// The variable, parameter, member or temporary that an operand is; null if it is none.
tree holder_of(tree operand)
{
    while (operand && (handled_component_p(operand) || TREE_CODE(operand) == WITH_SIZE_EXPR)) {
        if (TREE_CODE(operand) == COMPONENT_REF)
            return TREE_OPERAND(operand, 1);
        operand = TREE_OPERAND(operand, 0);
    }
    return operand && (VAR_P(operand) || TREE_CODE(operand) == PARM_DECL || TREE_CODE(operand) == SSA_NAME) ? operand
                                                                                                            : NULL_TREE;
}

// A temporary may be any expression of what it comes from; a variable of the user's hands on the number itself, or what
// it was compared with, but not each value computed with it.
bool is_temporary(tree node) { return TREE_CODE(node) == SSA_NAME || DECL_ARTIFICIAL(node); }

// ---- functions in GIMPLE

tree scan_statement(gimple_stmt_iterator* at, bool*, walk_stmt_info* info)
{
    auto& scan = *static_cast<Scan*>(info->info);
    gimple* statement = gsi_stmt(*at);
    tree to = gimple_has_lhs(statement) ? gimple_get_lhs(statement) : NULL_TREE;
    to = to ? holder_of(to) : NULL_TREE;
    if (!to)
        return NULL_TREE;
    if (is_gimple_call(statement)) {
        if (asks(gimple_call_fndecl(statement)))
            scan.known.insert(to);
    } else if (is_gimple_assign(statement)) {
        const tree_code code = gimple_assign_rhs_code(statement);
        const bool hands_on = CONVERT_EXPR_CODE_P(code) || TREE_CODE_CLASS(code) == tcc_comparison ||
                              get_gimple_rhs_class(code) == GIMPLE_SINGLE_RHS;
        for (unsigned i = 1; i < gimple_num_ops(statement); i++)
            if (tree from = gimple_op(statement, i) ? holder_of(gimple_op(statement, i)) : NULL_TREE)
                if (hands_on || is_temporary(from))
                    scan.copies.push_back({to, from});
    }
    return NULL_TREE;
}

// ---- functions that are not in GIMPLE yet

tree find_question(tree* node, int* walk_subtrees, void*)
{
    if (TYPE_P(*node))
        *walk_subtrees = 0;
    return TREE_CODE(*node) == CALL_EXPR && asks(get_callee_fndecl(*node)) ? *node : NULL_TREE;
}

void scan_assignment(Scan& scan, tree to, tree from)
{
    to = holder_of(to);
    if (!to || !from || from == error_mark_node)
        return;
    if (walk_tree_without_duplicates(&from, find_question, nullptr)) {
        scan.known.insert(to);
        return;
    }
    while (CONVERT_EXPR_P(from) || TREE_CODE(from) == NON_LVALUE_EXPR || TREE_CODE(from) == SAVE_EXPR ||
           TREE_CODE(from) == CLEANUP_POINT_EXPR)
        from = TREE_OPERAND(from, 0);
    if (COMPARISON_CLASS_P(from)) {
        for (int i = 0; i < 2; i++)
            scan_assignment(scan, to, TREE_OPERAND(from, i));
    } else if (tree variable = holder_of(from)) {
        scan.copies.push_back({to, variable});
    }
}

tree scan_node(tree* node, int* walk_subtrees, void* data)
{
    auto& scan = *static_cast<Scan*>(data);
    switch (TREE_CODE(*node)) {
    case MODIFY_EXPR:
    case INIT_EXPR: scan_assignment(scan, TREE_OPERAND(*node, 0), TREE_OPERAND(*node, 1)); break;
    case DECL_EXPR:
        if (VAR_P(DECL_EXPR_DECL(*node)))
            scan_assignment(scan, DECL_EXPR_DECL(*node), DECL_INITIAL(DECL_EXPR_DECL(*node)));
        break;
    case CALL_EXPR: {
        // An argument: the parameter of a function of this file.
        tree callee = get_callee_fndecl(*node);
        tree parameter = callee ? DECL_ARGUMENTS(callee) : NULL_TREE;
        for (int i = 0; parameter && i < call_expr_nargs(*node); i++, parameter = DECL_CHAIN(parameter))
            scan_assignment(scan, parameter, CALL_EXPR_ARG(*node, i));
        break;
    }
    default:
        if (TYPE_P(*node))
            *walk_subtrees = 0;
    }
    return NULL_TREE;
}

// Once, when the first loop is looked at: all functions are known then, in whatever form.
void scan_file()
{
    scanned = true;
    Scan scan;
    walk_stmt_info info;
    memset(&info, 0, sizeof info);
    info.info = &scan;
    cgraph_node* node;
    FOR_EACH_DEFINED_FUNCTION(node) {
        function* fn = DECL_STRUCT_FUNCTION(node->decl);
        basic_block block;
        if (fn && fn->cfg)
            FOR_EACH_BB_FN(block, fn)
                for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
                    walk_gimple_stmt(&at, scan_statement, nullptr, &info);
        else if (gimple_seq body = gimple_body(node->decl))
            walk_gimple_seq(body, scan_statement, nullptr, &info);
        else if (DECL_SAVED_TREE(node->decl) && DECL_SAVED_TREE(node->decl) != error_mark_node)
            walk_tree_without_duplicates(&DECL_SAVED_TREE(node->decl), scan_node, &scan);
    }
    for (bool grown = !scan.known.empty(); grown;) {
        grown = false;
        for (const auto& [to, from] : scan.copies)
            grown |= scan.known.count(from) && scan.known.insert(to).second;
    }
    for (tree known : scan.known)
        if (DECL_P(known))
            holders.insert(DECL_UID(known));
}

} // namespace

bool holds_thread_count(tree decl)
{
    if (!scanned)
        scan_file();
    return holders.count(DECL_UID(decl));
}

} // namespace ws_gcc
