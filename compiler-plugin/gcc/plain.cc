// SPDX-License-Identifier: MIT
//
// An outlined loop does not know what its function knows: constants above all. So at -O3 a loop has two versions. In
// its function stands the plain one, which runs where libws says that nobody is to share this execution; else it calls
// libws with the outlined one:
//
//     ws_parallel (fn, &data, &site, chunk, steal_chunk);             plain (&data);    inlined later
//
//     plain (data) {
//       bounds of the loop;
//       if (!ws_plain_begin (&site, chunk, steal_chunk, iterations)) {
//         copy = *data; ws_parallel (fn, &copy, &site, chunk, steal_chunk); *data = copy;
//         return;
//       }
//       the loop, as it was written;
//       ws_plain_end (&site);
//       merge of reductions, lastprivate
//     }
//
// It is the copy that others see: the address of `data` itself goes nowhere, and inlined it becomes registers.
// A pass over the file, after each function was optimized early: by then bounds that an accessor returns are
// expressions without a call, and can be computed twice.
#include "ws_gcc.h"

#include "attribs.h"
#include "cfghooks.h"
#include "cfgloop.h"
#include "cgraph.h"
#include "context.h"
#include "fold-const.h"
#include "gimple-fold.h"
#include "gimplify.h"
#include "predict.h"
#include "ssa.h"
#include "tree-cfg.h"
#include "tree-cfgcleanup.h"
#include "tree-dfa.h"
#include "tree-inline.h"
#include "tree-into-ssa.h"
#include "tree-pass.h"

namespace ws_gcc {

namespace {

constexpr int most_statements_twice = 1000; // in a loop that has two versions

// The function of libws that a statement calls; "" if it calls none.
const char* libws_function(gimple* statement)
{
    tree function = is_gimple_call(statement) ? gimple_call_fndecl(statement) : NULL_TREE;
    const char* name =
        function && DECL_EXTERNAL(function) && DECL_NAME(function) ? IDENTIFIER_POINTER(DECL_NAME(function)) : "";
    return startswith(name, "ws_") ? name : "";
}

// What an outlined loop asks of libws: its bounds and all of its iterations by `first`, then what there is more.
struct Requests {
    gimple *first = nullptr, *more = nullptr;
    auto_vec<gimple*> ends;
    bool has_bounds = false; // `first` is ws_loop_start: the loop's bounds are its arguments
};

// Whether it may run twice: it changes nothing but variables of the function.
bool may_repeat(gimple* statement, tree function)
{
    if (gimple_has_volatile_ops(statement))
        return false;
    switch (gimple_code(statement)) {
    case GIMPLE_CALL:
        return (gimple_call_flags(statement) & (ECF_CONST | ECF_PURE)) &&
               !(gimple_call_flags(statement) & ECF_LOOPING_CONST_OR_PURE);
    case GIMPLE_ASSIGN: {
        if (!gimple_store_p(statement))
            return true;
        tree base = get_base_address(gimple_assign_lhs(statement));
        return base && DECL_P(base) && auto_var_in_fn_p(base, function);
    }
    case GIMPLE_COND:
    case GIMPLE_SWITCH:
    case GIMPLE_LABEL:
    case GIMPLE_NOP:
    case GIMPLE_PREDICT:
    case GIMPLE_DEBUG: return true;
    default: return false;
    }
}

// Whether all that comes before a statement, which is in no loop, may run twice.
bool may_repeat_before(gimple* statement, tree function)
{
    auto_vec<basic_block> todo;
    hash_set<basic_block> seen;
    for (auto at = gsi_start_bb(gimple_bb(statement)); gsi_stmt(at) != statement; gsi_next(&at))
        if (!may_repeat(gsi_stmt(at), function))
            return false;
    todo.safe_push(gimple_bb(statement));
    while (!todo.is_empty()) {
        edge in;
        edge_iterator iterator;
        FOR_EACH_EDGE(in, iterator, todo.pop()->preds) {
            if (in->src == gimple_bb(statement))
                return false;
            if (seen.add(in->src))
                continue;
            todo.safe_push(in->src);
            for (auto at = gsi_start_bb(in->src); !gsi_end_p(at); gsi_next(&at))
                if (!may_repeat(gsi_stmt(at), function))
                    return false;
        }
    }
    return true;
}

// Takes `cfun`, an outlined loop. False if it has no plain version.
bool find_requests(Requests& out)
{
    if (cfun->calls_setjmp || cfun->calls_alloca || cfun->has_nonlocal_label)
        return false;
    int statements = 0;
    auto_vec<gimple*> nexts;
    basic_block block;
    FOR_EACH_BB_FN(block, cfun)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            gimple* statement = gsi_stmt(at);
            const std::string name = libws_function(statement);
            statements += !is_gimple_debug(statement);
            if (name == "ws_loop_start") {
                if (out.has_bounds)
                    return false;
                out.first = statement;
                out.has_bounds = true;
            } else if (name == "ws_loop_next")
                nexts.safe_push(statement);
            else if (name == "ws_loop_end")
                out.ends.safe_push(statement);
            else if (startswith(name.c_str(), "ws_loop_") || startswith(name.c_str(), "ws_parallel"))
                return false; // others are rare; and a loop in the loop has two versions itself
        }
    if (statements > most_statements_twice || out.ends.is_empty() || nexts.length() != (out.has_bounds ? 1 : 2))
        return false;
    out.more = nexts[0];
    if (!out.has_bounds) {
        calculate_dominance_info(CDI_DOMINATORS);
        out.first = nexts[0];
        out.more = nexts[1];
        if (!dominated_by_p(CDI_DOMINATORS, gimple_bb(out.more), gimple_bb(out.first)))
            std::swap(out.first, out.more);
        if (!dominated_by_p(CDI_DOMINATORS, gimple_bb(out.more), gimple_bb(out.first)))
            return false;
    }
    return may_repeat_before(out.first, cfun->decl);
}

struct LoopRange {
    tree from, to, step;
};

// How many iterations there are, by statements added to `sequence`.
tree count(gimple_seq* sequence, const LoopRange& b)
{
    const bool up = tree_int_cst_sgn(b.step) > 0;
    tree type = long_unsigned_type_node, one = build_one_cst(type);
    tree from = up ? b.from : b.to, to = up ? b.to : b.from;
    tree n = gimple_build(sequence, MINUS_EXPR, type, gimple_convert(sequence, type, to),
                          gimple_convert(sequence, type, from));
    if (!integer_onep(b.step) && !integer_minus_onep(b.step)) {
        tree width = fold_convert(type, b.step);
        width = up ? width : fold_build1(NEGATE_EXPR, type, width);
        n = gimple_build(sequence, TRUNC_DIV_EXPR, type, gimple_build(sequence, MINUS_EXPR, type, n, one), width);
        n = gimple_build(sequence, PLUS_EXPR, type, n, one);
    }
    tree some = gimple_build(sequence, LT_EXPR, boolean_type_node, from, to);
    return gimple_build(sequence, COND_EXPR, type, some, n, build_zero_cst(type));
}

tree plain_function(const char* name, tree result, std::initializer_list<tree> types)
{
    auto_vec<tree> all;
    for (tree type : types)
        all.safe_push(type);
    return build_fn_decl(name, build_function_type_array(result, all.length(), all.address()));
}

void remove(gimple* statement)
{
    auto at = gsi_for_stmt(statement);
    unlink_stmt_vdef(statement);
    gsi_remove(&at, true);
    release_defs(statement);
}

class PlainVersions {
public:
    void run();

private:
    // A loop's call of libws, and what it is given.
    struct Fork {
        gimple* call;
        tree fn, data, site, chunk, steal_chunk;
        LoopRange bounds; // null where they are computed in `fn`
    };
    static bool read(gimple* call, Fork& fork);
    static void share_instead(basic_block block, const Fork& fork);
    static void make_plain(Requests& requests, const Fork& fork);
    cgraph_node* version_of(const Fork& fork);
    void look_at(function* fn);

    std::map<tree, cgraph_node*> versions_; // by outlined loop; null if it has none
};

bool PlainVersions::read(gimple* call, Fork& fork)
{
    const std::string name = libws_function(call);
    const bool combined = name == "ws_parallel_loop";
    if (!combined && name != "ws_parallel")
        return false;
    const auto argument = [&](unsigned i) { return gimple_call_arg(call, i); };
    const unsigned site = combined ? 5 : 2;
    fork = {call, argument(0), argument(1), argument(site), argument(site + 1), argument(site + 2), {}};
    if (combined)
        fork.bounds = {argument(2), argument(3), argument(4)};
    for (tree constant : {fork.chunk, fork.steal_chunk, fork.bounds.from, fork.bounds.to, fork.bounds.step})
        if (constant && TREE_CODE(constant) != INTEGER_CST)
            return false;
    if (TREE_CODE(fork.fn) != ADDR_EXPR || TREE_CODE(fork.site) != ADDR_EXPR)
        return false;
    fork.fn = TREE_OPERAND(fork.fn, 0);
    return integer_zerop(fork.data) || (TREE_CODE(fork.data) == ADDR_EXPR && VAR_P(TREE_OPERAND(fork.data, 0)) &&
                                        TREE_CODE(TREE_TYPE(TREE_OPERAND(fork.data, 0))) == RECORD_TYPE &&
                                        TREE_CODE(TYPE_SIZE(TREE_TYPE(TREE_OPERAND(fork.data, 0)))) == INTEGER_CST);
}

// Fills a block of the plain version: calls libws with the outlined one, and returns.
void PlainVersions::share_instead(basic_block block, const Fork& fork)
{
    auto at = gsi_last_bb(block);
    const auto add = [&](gimple* statement) {
        gimple_set_location(statement, LOCATION_LOCUS(gimple_location(fork.call))); // its block is another function's
        gsi_insert_after(&at, statement, GSI_NEW_STMT);
    };
    gcall* call = as_a<gcall*>(gimple_copy(fork.call));
    gimple_set_vdef(call, NULL_TREE);
    gimple_set_vuse(call, NULL_TREE);
    if (integer_zerop(fork.data))
        add(call);
    else {
        tree type = TYPE_MAIN_VARIANT(TREE_TYPE(TREE_OPERAND(fork.data, 0)));
        tree copy = create_tmp_var(type, ".ws_data");
        TREE_ADDRESSABLE(copy) = 1;
        tree data = get_or_create_ssa_default_def(cfun, DECL_ARGUMENTS(cfun->decl));
        const auto whole = [&] { return build2(MEM_REF, type, data, build_int_cst(build_pointer_type(type), 0)); };
        add(gimple_build_assign(copy, whole()));
        gimple_call_set_arg(call, 1, build_fold_addr_expr(copy));
        add(call);
        add(gimple_build_assign(whole(), copy)); // what is shared by value, and was written
    }
    add(gimple_build_return(NULL_TREE));
    make_single_succ_edge(block, EXIT_BLOCK_PTR_FOR_FN(cfun), 0);
}

// Makes the plain version of `cfun`, a copy of the outlined loop.
void PlainVersions::make_plain(Requests& requests, const Fork& fork)
{
    gimple *first = requests.first, *more = requests.more;
    const auto argument = [&](unsigned i) { return gimple_call_arg(first, i); };
    const LoopRange bounds = requests.has_bounds ? LoopRange{argument(0), argument(1), argument(2)} : fork.bounds;
    tree* range = gimple_call_arg_ptr(first, requests.has_bounds ? 3 : 0); // where *lo and *hi are to go
    auto at = gsi_for_stmt(first);
    gimple_seq sequence = nullptr;
    tree iterations = count(&sequence, bounds);
    tree begin =
        plain_function("ws_plain_begin", boolean_type_node,
                       {ptr_type_node, long_integer_type_node, long_integer_type_node, long_unsigned_type_node});
    tree end = plain_function("ws_plain_end", void_type_node, {ptr_type_node});
    gcall* ask = gimple_build_call(begin, 4, fork.site, fork.chunk, fork.steal_chunk, iterations);
    tree plain = make_ssa_name(boolean_type_node);
    gimple_call_set_lhs(ask, plain);
    gimple_set_location(ask, gimple_location(first));
    gimple_seq_add_stmt(&sequence, ask);
    gsi_insert_seq_before(&at, sequence, GSI_SAME_STMT);

    const auto set = [&](tree address, tree value) {
        tree to =
            TREE_CODE(address) == ADDR_EXPR ? unshare_expr(TREE_OPERAND(address, 0)) : build_simple_mem_ref(address);
        gsi_insert_before(&at, gimple_build_assign(to, value), GSI_SAME_STMT);
    };
    set(range[0], bounds.from);
    set(range[1], bounds.to);
    if (tree some = gimple_call_lhs(first)) {
        gimple_call_set_lhs(first, NULL_TREE);
        gsi_insert_before(&at, gimple_build_assign(some, NE_EXPR, iterations, build_zero_cst(TREE_TYPE(iterations))),
                          GSI_SAME_STMT);
    }
    remove(first);
    if (tree some = gimple_call_lhs(more)) {
        gimple_call_set_lhs(more, NULL_TREE);
        replace_uses_by(some, build_zero_cst(TREE_TYPE(some)));
        release_ssa_name(some);
    }
    remove(more);
    for (gimple* old : requests.ends) {
        auto there = gsi_for_stmt(old);
        gcall* call = gimple_build_call(end, 1, fork.site);
        gimple_set_location(call, gimple_location(old));
        gimple_move_vops(call, old);
        gsi_replace(&there, call, false);
    }

    basic_block asks = gimple_bb(ask);
    edge goes_on = split_block(asks, ask);
    auto last = gsi_last_bb(asks);
    gsi_insert_after(&last, gimple_build_cond(NE_EXPR, plain, boolean_false_node, NULL_TREE, NULL_TREE), GSI_NEW_STMT);
    basic_block shared = create_empty_bb(asks);
    if (current_loops)
        add_bb_to_loop(shared, current_loops->tree_root);
    goes_on->flags = (goes_on->flags & ~EDGE_FALLTHRU) | EDGE_TRUE_VALUE;
    goes_on->probability = profile_probability::likely();
    edge other = make_edge(asks, shared, EDGE_FALSE_VALUE);
    other->probability = goes_on->probability.invert();
    shared->count = other->count();
    share_instead(shared, fork);
    free_dominance_info(CDI_DOMINATORS);
    mark_virtual_operands_for_renaming(cfun);
    update_ssa(TODO_update_ssa);
    // There is no loop over chunks any more. With its counts the loop would seem to run more often than anything that
    // GCC compares with, and what belongs into registers would be chosen as if all of it ran equally often.
    cleanup_tree_cfg();
    rebuild_frequencies();
    cgraph_edge::rebuild_edges();
}

// GCC inlines a function that nobody else sees and that is called once, if it is not very large. A loop that calls such
// functions has them in both versions, as far as `statements_left` goes.
void keep_inlined(cgraph_node* caller, int& statements_left)
{
    for (cgraph_edge* edge = caller->callees; edge; edge = edge->next_callee) {
        cgraph_node* callee = edge->callee; // an alias has no body
        if (TREE_PUBLIC(callee->decl) || callee->address_taken || !callee->has_gimple_body_p() || !callee->callers ||
            callee->callers->next_caller || DECL_UNINLINABLE(callee->decl) || callee == caller ||
            !opt_for_fn(callee->decl, flag_inline_functions_called_once) ||
            lookup_attribute("cold", DECL_ATTRIBUTES(callee->decl)))
            continue;
        const int statements = estimate_num_insns_fn(callee->decl, &eni_size_weights);
        if (statements > statements_left)
            continue;
        statements_left -= statements;
        DECL_DISREGARD_INLINE_LIMITS(callee->decl) = 1;
        keep_inlined(callee, statements_left);
    }
}

// The plain version of an outlined loop, made when it is first asked for.
cgraph_node* PlainVersions::version_of(const Fork& fork)
{
    auto known = versions_.find(fork.fn);
    if (known != versions_.end())
        return known->second;
    cgraph_node *&version = versions_[fork.fn], *outlined = cgraph_node::get(fork.fn);
    version = nullptr;
    if (!outlined || !outlined->has_gimple_body_p())
        return nullptr;
    const auto has_requests = [&](tree function, Requests& requests) {
        push_cfun(DECL_STRUCT_FUNCTION(function));
        const bool fits = find_requests(requests) &&
                          (requests.has_bounds ? TREE_CODE(gimple_call_arg(requests.first, 2)) == INTEGER_CST
                                               : fork.bounds.step != NULL_TREE);
        pop_cfun();
        return fits;
    };
    Requests of_outlined, of_copy;
    if (!has_requests(fork.fn, of_outlined))
        return nullptr;
    int statements_left = most_statements_twice;
    keep_inlined(outlined, statements_left);
    version = outlined->create_version_clone_with_body(vNULL, nullptr, nullptr, nullptr, nullptr, "plain");
    if (!version || !has_requests(version->decl, of_copy))
        return version = nullptr;
    DECL_UNINLINABLE(version->decl) = 0;
    DECL_DECLARED_INLINE_P(version->decl) = 1;
    DECL_DISREGARD_INLINE_LIMITS(version->decl) = 1;
    TREE_NOTHROW(version->decl) = 1;
    push_cfun(DECL_STRUCT_FUNCTION(version->decl));
    make_plain(of_copy, fork);
    pop_cfun();
    return version;
}

void PlainVersions::look_at(function* fn)
{
    // A jump out of a loop is told by the frame that the next loop begins in: the plain one has none of its own.
    if (opt_for_fn(fn->decl, optimize) < 3 || opt_for_fn(fn->decl, optimize_size) || fn->calls_setjmp)
        return;
    push_cfun(fn);
    bool changed = false;
    basic_block block;
    FOR_EACH_BB_FN(block, fn)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            Fork fork;
            cgraph_node* version = read(gsi_stmt(at), fork) ? version_of(fork) : nullptr;
            if (!version)
                continue;
            gcall* call = gimple_build_call(version->decl, 1, fork.data);
            gimple_set_location(call, gimple_location(fork.call));
            gimple_set_block(call, gimple_block(fork.call));
            gimple_move_vops(call, fork.call);
            gsi_replace(&at, call, true);
            changed = true;
        }
    if (changed)
        cgraph_edge::rebuild_edges();
    pop_cfun();
}

void PlainVersions::run()
{
    std::vector<function*> all; // before there are versions, which have calls of their own
    cgraph_node* node;
    FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
        if (node->has_gimple_body_p())
            all.push_back(DECL_STRUCT_FUNCTION(node->decl));
    for (function* fn : all)
        look_at(fn);
}

const pass_data plain_data = {SIMPLE_IPA_PASS, "wsplain", OPTGROUP_LOOP, TV_NONE, 0, 0, 0, 0, 0};

class PlainPass : public simple_ipa_opt_pass {
public:
    explicit PlainPass(gcc::context* context) : simple_ipa_opt_pass(plain_data, context) {}

    unsigned execute(function*) final override
    {
        if (ws_used() && optimize && !seen_error())
            PlainVersions().run();
        return 0;
    }
};

} // namespace

void register_plain_pass(const char* plugin_name)
{
    register_pass_info info = {new PlainPass(g), "targetclone", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

} // namespace ws_gcc
