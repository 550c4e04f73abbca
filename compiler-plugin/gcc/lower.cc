// SPDX-License-Identifier: MIT
//
// The pass: GCC has outlined the loops as libgomp wants them; each region that carries our mark is retargeted to
// libws (runtime/abi/abi.h). It runs on GIMPLE with a control flow graph, before SSA form, inlining and the
// writing of LTO streams: everything after sees ordinary calls.
//
//     t = __ws_mark (NUMBER, KINDS, chunk, steal_chunk, name, condition);    removed
//     __builtin_GOMP_parallel (fn, &data, t, 0);        ws_parallel (fn, &data, &site, chunk, steal_chunk);
//                                                       ws_openmp, if the loop is OpenMP's
//
// (with an if clause ws_parallel_if; tasks are likewise) and in fn the calls that ask for chunks, the barrier GCC adds
// for firstprivate + lastprivate, and the lock around the merge of reductions.
#include "ws_gcc.h"

#include "../clauses/mpi_calls.h"
#include "../../runtime/abi/abi.h"

#include "cfgloop.h"
#include "cgraph.h"
#include "context.h"
#include "fold-const.h"
#include "langhooks.h"
#include "tree-iterator.h"
#include "tree-cfg.h"
#include "tree-pass.h"

namespace ws_gcc {

namespace {

// What a call of libgomp is to us.
enum class GompCall {
    none,
    mark,
    chunk,
    fork,
    fork_loop,
    loop_start,
    loop_next,
    loop_ull_start,
    loop_ull_next,
    loop_end,
    barrier,
    atomic_start,
    atomic_end,
    critical_start,
    critical_end,
    task,
    taskloop,
    taskloop_ull,
    taskwait,
    taskgroup_start,
    taskgroup_end,
    reductions_start,
    reductions_end,
    reductions_remap,
    thread_number,
    thread_count,
};

GompCall call_kind(gimple* statement)
{
    if (!is_gimple_call(statement))
        return GompCall::none;
    tree function = gimple_call_fndecl(statement);
    if (!function)
        return GompCall::none;
    if (is_marker(function, ws::mark_function))
        return GompCall::mark;
    if (is_marker(function, ws::chunk_function))
        return GompCall::chunk;
    if (!fndecl_built_in_p(function, BUILT_IN_NORMAL))
        return GompCall::none;
    switch (DECL_FUNCTION_CODE(function)) {
    case BUILT_IN_GOMP_PARALLEL: return GompCall::fork;
    case BUILT_IN_GOMP_PARALLEL_LOOP_DYNAMIC:
    case BUILT_IN_GOMP_PARALLEL_LOOP_NONMONOTONIC_DYNAMIC: return GompCall::fork_loop;
    case BUILT_IN_GOMP_LOOP_DYNAMIC_START:
    case BUILT_IN_GOMP_LOOP_NONMONOTONIC_DYNAMIC_START: return GompCall::loop_start;
    case BUILT_IN_GOMP_LOOP_DYNAMIC_NEXT:
    case BUILT_IN_GOMP_LOOP_NONMONOTONIC_DYNAMIC_NEXT: return GompCall::loop_next;
    case BUILT_IN_GOMP_LOOP_ULL_DYNAMIC_START:
    case BUILT_IN_GOMP_LOOP_ULL_NONMONOTONIC_DYNAMIC_START: return GompCall::loop_ull_start;
    case BUILT_IN_GOMP_LOOP_ULL_DYNAMIC_NEXT:
    case BUILT_IN_GOMP_LOOP_ULL_NONMONOTONIC_DYNAMIC_NEXT: return GompCall::loop_ull_next;
    case BUILT_IN_GOMP_LOOP_END:
    case BUILT_IN_GOMP_LOOP_END_NOWAIT: return GompCall::loop_end;
    case BUILT_IN_GOMP_BARRIER: return GompCall::barrier;
    case BUILT_IN_GOMP_ATOMIC_START: return GompCall::atomic_start;
    case BUILT_IN_GOMP_ATOMIC_END: return GompCall::atomic_end;
    case BUILT_IN_GOMP_CRITICAL_NAME_START: return GompCall::critical_start;
    case BUILT_IN_GOMP_CRITICAL_NAME_END: return GompCall::critical_end;
    case BUILT_IN_GOMP_TASK: return GompCall::task;
    case BUILT_IN_GOMP_TASKLOOP: return GompCall::taskloop;
    case BUILT_IN_GOMP_TASKLOOP_ULL: return GompCall::taskloop_ull;
    case BUILT_IN_GOMP_TASKWAIT: return GompCall::taskwait;
    case BUILT_IN_GOMP_TASKGROUP_START: return GompCall::taskgroup_start;
    case BUILT_IN_GOMP_TASKGROUP_END: return GompCall::taskgroup_end;
    case BUILT_IN_GOMP_TASKGROUP_REDUCTION_REGISTER: return GompCall::reductions_start;
    case BUILT_IN_GOMP_TASKGROUP_REDUCTION_UNREGISTER: return GompCall::reductions_end;
    case BUILT_IN_GOMP_TASK_REDUCTION_REMAP: return GompCall::reductions_remap;
    // The compiler's own calls, of tasks with reductions; a program's are of a function that it declares.
    case BUILT_IN_OMP_GET_THREAD_NUM: return GompCall::thread_number;
    case BUILT_IN_OMP_GET_NUM_THREADS: return GompCall::thread_count;
    default: return GompCall::none;
    }
}

bool is_fork(GompCall kind) { return kind == GompCall::fork || kind == GompCall::fork_loop; }
bool is_task(GompCall kind)
{
    return kind == GompCall::task || kind == GompCall::taskloop || kind == GompCall::taskloop_ull;
}

// Makes a static object of `words` words: a text, a number, zeroes, and behind ten of these the addresses.
tree build_words(location_t at, const char* name, int words, const std::string& text, HOST_WIDE_INT number,
                 const std::vector<tree>& addresses = {})
{
    static_assert(sizeof(void*) == 8, "words are pointers");
    tree type = build_array_type_nelts(ptr_type_node, words);
    tree object = build_decl(at, VAR_DECL, create_tmp_var_name(name), type);

    vec<constructor_elt, va_gc>* values = nullptr;
    CONSTRUCTOR_APPEND_ELT(values, size_int(0),
                           fold_convert(ptr_type_node, build_string_literal(text.size() + 1, text.c_str())));
    CONSTRUCTOR_APPEND_ELT(values, size_int(1), build_int_cst(ptr_type_node, number));
    for (size_t i = 0; i < addresses.size(); i++)
        CONSTRUCTOR_APPEND_ELT(values, size_int(10 + i), addresses[i]);
    DECL_INITIAL(object) = build_constructor(type, values);
    TREE_STATIC(DECL_INITIAL(object)) = TREE_CONSTANT(DECL_INITIAL(object)) = 1;
    TREE_STATIC(object) = TREE_ADDRESSABLE(object) = TREE_USED(object) = 1;
    DECL_ARTIFICIAL(object) = DECL_IGNORED_P(object) = 1;
    return object;
}

void add_to_unit(tree object)
{
    varpool_node::add(object);
    varpool_node::get(object)->analyze(); // at this time nobody else will
}

tree build_site(location_t at, std::string name, HOST_WIDE_INT kinds, const std::string& results,
                const std::vector<tree>& addresses)
{
    static_assert(sizeof(ws_site) == 64 && WS_SITE_ADDRESSES == 6,
                  "the site is eight words, with two before the addresses there are eight more");
    if (!results.empty()) {
        name += '\0' + results;
        kinds |= HOST_WIDE_INT(WS_SITE_RESULTS);
    }
    tree site = build_words(at, "ws_site", addresses.empty() ? 8 : 16, name, kinds | HOST_WIDE_INT(WS_SITE_KINDS(0, 0)),
                            addresses);
    SET_DECL_ALIGN(site, sizeof(ws_site) * BITS_PER_UNIT);
    DECL_USER_ALIGN(site) = 1;
    set_decl_section_name(site, WS_SITE_SECTION);
    add_to_unit(site);
    return site;
}

// The name of a `ws critical` by the variable that GCC has made its lock, or null if it is not one.
const char* critical_name(tree argument)
{
    static const std::string prefix = std::string(".gomp_critical_user_") + ws::critical_prefix;
    if (TREE_CODE(argument) != ADDR_EXPR || !VAR_P(TREE_OPERAND(argument, 0)))
        return nullptr;
    const char* name = IDENTIFIER_POINTER(DECL_NAME(TREE_OPERAND(argument, 0)));
    if (startswith(name, prefix.c_str()))
        return name + prefix.size();
    return prefix.compare(0, prefix.size() - 1, name) == 0 ? "" : nullptr;
}

class Lowering {
public:
    void run();

private:
    using Forks = std::map<gimple*, gimple*>; // fork -> its mark

    void lower_function(function* fn);
    void lower_fork(gimple_stmt_iterator* at, gimple* mark, tree parent);
    void lower_task(gimple_stmt_iterator* at, gimple* mark, tree parent);
    bool lower_task_child(function* child);
    void lower_taskgroup(gimple_stmt_iterator* at, gimple* mark);
    void lower_end_of_reductions(gimple* end);
    // How a loop's variable is counted.
    struct Counting {
        int countdown_bits;
        tree least, most; // values of its type, if its last step may leave that; else null
    };
    void lower_child(function* child, const LoopHints& hints, const Counting& counting);
    void lower_child_call(gimple_stmt_iterator* at, bool after_loop, const Counting& counting);
    void drop_mark(gimple_stmt_iterator* at);
    void resolve_chunk(gimple_stmt_iterator* at);
    gimple* replace(gimple_stmt_iterator* at, const char* name, const std::vector<tree>& arguments);
    void lower_critical(gimple_stmt_iterator* at, const char* name);
    struct Child {
        tree function;
        location_t directive;
        ws::DirectiveKind kind;
    };
    void check_mpi_calls(const Child& child);
    void look_behind_pointers();
    void announce();
    void name_fws();
    tree declaration(const char* name, tree type);

    std::map<std::string, tree> declared_, criticals_;
    std::vector<Child> children_; // outlined loops, where their directives stand
    std::set<location_t> refused_; // calls that were complained of
    std::set<unsigned> looked_at_; // functions, in search of calls of MPI: once is enough
    bool calls_unknown_ = false;
    unsigned features_ = 0;
};

// Adds the blocks that can run after `block`; itself too if it is in a loop.
void add_reachable(basic_block block, hash_set<basic_block>& reachable)
{
    auto_vec<basic_block> todo;
    todo.safe_push(block);
    while (!todo.is_empty()) {
        edge out;
        edge_iterator iterator;
        FOR_EACH_EDGE(out, iterator, todo.pop()->succs)
            if (!reachable.add(out->dest))
                todo.safe_push(out->dest);
    }
}

HOST_WIDE_INT marked(gimple* mark) { return tree_to_shwi(gimple_call_arg(mark, 1)); }
bool marks_task(gimple* mark) { return marked(mark) & ws::task_mark; }
bool marks_taskgroup(gimple* mark) { return (marked(mark) & taskgroup_mark) == taskgroup_mark; }

// Whether such a call may be what a mark belongs to.
bool fits(GompCall kind, gimple* mark)
{
    return marks_taskgroup(mark) ? kind == GompCall::taskgroup_start : marks_task(mark) ? is_task(kind) : is_fork(kind);
}

// The first call in the blocks from `at` on, in order of distance and not behind exceptions, that is `wanted`.
template <class Wanted> gimple* find_after(gimple_stmt_iterator at, Wanted&& wanted)
{
    const auto first = [&](gimple_stmt_iterator in) -> gimple* {
        for (; !gsi_end_p(in); gsi_next(&in))
            if (wanted(gsi_stmt(in)))
                return gsi_stmt(in);
        return nullptr;
    };
    if (gimple* found = first(at))
        return found;
    hash_set<basic_block> seen;
    auto_vec<basic_block> blocks;
    blocks.safe_push(gsi_bb(at));
    for (unsigned i = 0; i < blocks.length(); i++) {
        edge out;
        edge_iterator iterator;
        FOR_EACH_EDGE(out, iterator, blocks[i]->succs) {
            if (out->flags & EDGE_EH || seen.add(out->dest))
                continue;
            if (gimple* found = first(gsi_start_bb(out->dest)))
                return found;
            blocks.safe_push(out->dest);
        }
    }
    return nullptr;
}

// The fork of the region that a mark belongs to: the nearest after it, as GCC emits nothing of a region between its
// num_threads and its fork but the copying of what the region gets. None if that can be seen not to return. The call
// that puts a task is likewise the nearest after its if clause.
gimple* find_fork(gimple_stmt_iterator mark)
{
    return find_after(mark, [of = gsi_stmt(mark)](gimple* statement) { return fits(call_kind(statement), of); });
}

tree Lowering::declaration(const char* name, tree type)
{
    tree& function = declared_[name];
    if (!function)
        function = build_fn_decl(name, type); // nothrow: what leaves an iteration ends the program, as in OpenMP
    return function;
}

gimple* Lowering::replace(gimple_stmt_iterator* at, const char* name, const std::vector<tree>& arguments)
{
    gimple* old = gsi_stmt(*at);
    std::vector<tree> types;
    auto_vec<tree> values;
    for (tree argument : arguments) {
        types.push_back(TREE_TYPE(argument));
        values.safe_push(argument);
    }
    tree type = build_function_type_array(gimple_call_return_type(as_a<gcall*>(old)), types.size(), types.data());
    gcall* call = gimple_build_call_vec(declaration(name, type), values);
    gimple_call_set_lhs(call, gimple_call_lhs(old));
    gimple_set_location(call, gimple_location(old));
    gsi_replace(at, call, true);
    return call;
}

// `t = __ws_chunk (which, chunk)` is `t = (long) chunk`.
void Lowering::resolve_chunk(gimple_stmt_iterator* at)
{
    gimple* call = gsi_stmt(*at);
    tree result = gimple_call_lhs(call);
    tree chunk = gimple_call_arg(call, 1);
    check_chunk_argument(gimple_location(call), gimple_call_arg(call, 0), chunk);
    gimple* instead = gimple_build_nop();
    if (result && is_gimple_min_invariant(chunk))
        instead = gimple_build_assign(result, fold_convert(TREE_TYPE(result), chunk));
    else if (result && INTEGRAL_TYPE_P(TREE_TYPE(chunk)))
        instead = gimple_build_assign(result, NOP_EXPR, chunk);
    gsi_replace(at, instead, true);
}

void Lowering::drop_mark(gimple_stmt_iterator* at)
{
    gimple* mark = gsi_stmt(*at);
    tree result = gimple_call_lhs(mark);
    gimple* instead = gimple_build_nop();
    // A task gets the value of its if clause.
    if (result)
        instead = gimple_build_assign(result, marks_task(mark) ? gimple_call_arg(mark, 5)
                                                                 : build_zero_cst(TREE_TYPE(result)));
    gsi_replace(at, instead, true);
}

// The increment of an unsigned variable with this many bits that counts down (0: there is none), as checks.cc explains.
tree countdown(gimple_stmt_iterator* at, tree increment, int bits)
{
    if (!bits)
        return increment;
    tree type = TREE_TYPE(increment);
    tree range = build_int_cst(type, HOST_WIDE_INT(1) << bits);
    if (TREE_CODE(increment) == INTEGER_CST)
        return fold_build2(MINUS_EXPR, type, increment, range);
    tree corrected = create_tmp_reg(type);
    gsi_insert_before(at, gimple_build_assign(corrected, MINUS_EXPR, increment, range), GSI_SAME_STMT);
    return corrected;
}

void Lowering::lower_fork(gimple_stmt_iterator* at, gimple* mark, tree parent)
{
    gimple* fork = gsi_stmt(*at);
    const bool combined = call_kind(fork) == GompCall::fork_loop;
    const auto argument = [&](unsigned i) { return gimple_call_arg(fork, i); };
    tree child = TREE_OPERAND(argument(0), 0);
    const HOST_WIDE_INT marked = tree_to_shwi(gimple_call_arg(mark, 1));
    const bool sections = marked & ws::sections_mark;
    const HOST_WIDE_INT kinds = marked & ~HOST_WIDE_INT(ws::sections_mark | ws::simd_mark);
    const int countdown_bits = int(kinds >> ws::countdown_shift & 63), step_bits = int8_t(marked >> ws::step_shift);
    Counting counting = {countdown_bits, NULL_TREE, NULL_TREE};
    if (step_bits) {
        const HOST_WIDE_INT most = step_bits > 0 || step_bits == -64 ? HOST_WIDE_INT_MAX >> (64 - abs(step_bits))
                                                                     : (HOST_WIDE_INT(1) << -step_bits) - 1;
        counting.least = build_int_cst(long_integer_type_node, step_bits < 0 ? 0 : -most - 1);
        counting.most = build_int_cst(long_integer_type_node, most);
    }
    // GCC's own OpenMP loops crash it there: what they share was moved to the coroutine's frame.
    if (strstr(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(parent)), ".actor"))
        error_about(gimple_location(mark),
                    "'" + ws::full_name(sections ? ws::DirectiveKind::sections : ws::DirectiveKind::loop) +
                        "' cannot be used in a coroutine");
    const HOST_WIDE_INT site_kinds = kinds & ((HOST_WIDE_INT(1) << ws::countdown_shift) - 1);
    std::vector<tree> addresses;
    const std::string results = results_text(as_a<gcall*>(mark), argument(1), addresses);
    tree site = build_fold_addr_expr(
        build_site(gimple_location(mark), loop_name(as_a<gcall*>(mark), parent), site_kinds, results, addresses));
    tree chunk = gimple_call_arg(mark, 2), steal_chunk = gimple_call_arg(mark, 3);
    // GOMP_parallel (fn, data, threads, flags); GOMP_parallel_loop_* (fn, data, threads, start, end, incr, ...)
    std::vector<tree> arguments{argument(0), argument(1)};
    if (combined)
        arguments.insert(arguments.end(), {argument(3), argument(4), countdown(at, argument(5), countdown_bits)});
    arguments.insert(arguments.end(), {site, chunk, steal_chunk});
    tree condition = gimple_call_arg(mark, 5);
    const bool openmp = site_kinds & HOST_WIDE_INT(WS_SITE_OPENMP);
    if (integer_onep(condition)) {
        replace(at,
                combined ? openmp ? "ws_openmp_loop" : "ws_parallel_loop"
                : openmp ? "ws_openmp"
                         : "ws_parallel",
                arguments);
    } else {
        arguments.insert(arguments.begin(), condition);
        replace(at, combined ? "ws_parallel_loop_if" : "ws_parallel_if", arguments);
    }
    children_.push_back(
        {child, gimple_location(mark), sections ? ws::DirectiveKind::sections : ws::DirectiveKind::loop});
    if (sections)
        note_sections_child(DECL_STRUCT_FUNCTION(child));
    lower_child(DECL_STRUCT_FUNCTION(child), loop_hints(tree_to_uhwi(gimple_call_arg(mark, 0))), counting);
}

// GOMP_task (fn, data, copy, size, align, if, flags, depend, priority, detach)
// GOMP_taskloop (fn, data, copy, size, align, flags, tasks, priority, start, end, step)
void Lowering::lower_task(gimple_stmt_iterator* at, gimple* mark, tree parent)
{
    gimple* call = gsi_stmt(*at);
    const GompCall kind = call_kind(call);
    const bool loop = kind != GompCall::task;
    const HOST_WIDE_INT kinds = tree_to_shwi(gimple_call_arg(mark, 1)) & ~HOST_WIDE_INT(ws::task_mark);
    tree site = build_fold_addr_expr(
        build_site(gimple_location(mark), loop_name(as_a<gcall*>(mark), parent), kinds, "", {}));
    const unsigned priority = loop ? 7 : 8; // a hint, of which libws makes nothing
    std::vector<tree> arguments;
    for (unsigned i = 0; i < (loop ? 11u : priority); i++)
        if (i != priority)
            arguments.push_back(gimple_call_arg(call, i));
    arguments.push_back(site);
    tree child = TREE_OPERAND(gimple_call_arg(call, 0), 0);
    replace(at, !loop ? "ws_put_task" : kind == GompCall::taskloop ? "ws_taskloop" : "ws_taskloop_ull", arguments);
    children_.push_back(
        {child, gimple_location(mark), loop ? ws::DirectiveKind::taskloop : ws::DirectiveKind::task});
    if (lower_task_child(DECL_STRUCT_FUNCTION(child)))
        if (gimple* end =
                find_after(*at, [](gimple* statement) { return call_kind(statement) == GompCall::reductions_end; }))
            lower_end_of_reductions(end);
}

// At the end of a taskgroup or a taskloop: GOMP_taskgroup_reduction_unregister (data), behind a loop over what the
// threads have.
void Lowering::lower_end_of_reductions(gimple* end)
{
    auto_vec<basic_block> blocks; // in order of distance
    hash_set<basic_block> seen;
    blocks.safe_push(gimple_bb(end));
    gimple* count = nullptr;
    for (unsigned i = 0; i < blocks.length() && !count; i++) {
        auto at = i ? gsi_last_bb(blocks[i]) : gsi_for_stmt(end);
        for (; !gsi_end_p(at) && !count; gsi_prev(&at))
            if (call_kind(gsi_stmt(at)) == GompCall::thread_count)
                count = gsi_stmt(at);
        edge in;
        edge_iterator iterator;
        FOR_EACH_EDGE(in, iterator, blocks[i]->preds)
            if (!seen.add(in->src))
                blocks.safe_push(in->src);
    }
    gcc_assert(count);
    auto at = gsi_for_stmt(count);
    replace(&at, "ws_task_slots", {});
    at = gsi_for_stmt(end);
    replace(&at, "ws_task_reduction_end", {gimple_call_arg(end, 0)});
}

void Lowering::lower_taskgroup(gimple_stmt_iterator* at, gimple* mark)
{
    replace(at, "ws_taskgroup_start", {});
    if ((marked(mark) & reducing_taskgroup_mark) != reducing_taskgroup_mark)
        return;
    const auto is = [](GompCall kind) { return [kind](gimple* statement) { return call_kind(statement) == kind; }; };
    gimple* start = find_after(*at, is(GompCall::reductions_start));
    gcc_assert(start);
    tree data = gimple_call_arg(start, 0);
    auto there = gsi_for_stmt(start);
    replace(&there, "ws_task_reduction_start", {data});
    gimple* end = find_after(*at, [&](gimple* statement) { // none if the group never ends
        return call_kind(statement) == GompCall::reductions_end && operand_equal_p(gimple_call_arg(statement, 0), data);
    });
    if (end)
        lower_end_of_reductions(end);
}

// Returns whether it is a taskloop's with a reduction.
bool Lowering::lower_task_child(function* child)
{
    bool reduces = false;
    push_cfun(child);
    basic_block block;
    FOR_EACH_BB_FN(block, child)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            switch (call_kind(gsi_stmt(at))) {
            case GompCall::reductions_remap: {
                gimple* call = gsi_stmt(at);
                replace(&at, "ws_task_reduction_remap",
                        {gimple_call_arg(call, 0), gimple_call_arg(call, 1), gimple_call_arg(call, 2)});
                break;
            }
            case GompCall::thread_number:
                reduces = true;
                replace(&at, "ws_task_slot", {});
                break;
            default: break;
            }
    cgraph_edge::rebuild_edges();
    pop_cfun();
    return reduces;
}

void Lowering::lower_child_call(gimple_stmt_iterator* at, bool after_loop, const Counting& counting)
{
    gimple* call = gsi_stmt(*at);
    const auto argument = [&](unsigned i) { return gimple_call_arg(call, i); };
    switch (call_kind(call)) {
    case GompCall::loop_start: { // start, end, incr, chunk, &lo, &hi
        std::vector<tree> arguments{argument(0), argument(1), countdown(at, argument(2), counting.countdown_bits),
                                    argument(4), argument(5)};
        if (counting.most)
            arguments.insert(arguments.end(), {counting.least, counting.most});
        replace(at, counting.most ? "ws_loop_start_step" : "ws_loop_start", arguments);
        break;
    }
    case GompCall::loop_next: replace(at, "ws_loop_next", {argument(0), argument(1)}); break;
    case GompCall::loop_ull_start: // up, start, end, incr, chunk, &lo, &hi
        replace(at, counting.most ? "ws_loop_ull_start_step" : "ws_loop_ull_start",
                {argument(0), argument(1), argument(2), argument(3), argument(5), argument(6)});
        break;
    case GompCall::loop_ull_next: replace(at, "ws_loop_ull_next", {argument(0), argument(1)}); break;
    case GompCall::loop_end: replace(at, "ws_loop_end", {}); break;
    case GompCall::barrier:
        // Keeps a firstprivate variable from being copied after lastprivate has written it: libws hands out the
        // last chunk so that this cannot happen. A barrier of the user's cannot stand in this function.
        gsi_replace(at, gimple_build_nop(), true);
        break;
    case GompCall::atomic_start:
        // In the loop it is an `omp atomic` of the user's, which shares libgomp's lock with others of its kind.
        if (after_loop)
            replace(at, "ws_reduction_start", {});
        break;
    case GompCall::atomic_end:
        if (after_loop)
            replace(at, "ws_reduction_end", {});
        break;
    default: break;
    }
}

// Puts the hints on the loop over a chunk: the one inside the loop that asks for chunks.
void apply_hints(function* child, const LoopHints& hints)
{
    if (!hints.independent && !hints.unroll)
        return;
    basic_block block;
    FOR_EACH_BB_FN(block, child)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            const GompCall kind = call_kind(gsi_stmt(at));
            if (kind != GompCall::loop_next && kind != GompCall::loop_ull_next)
                continue;
            for (class loop* chunk = block->loop_father ? block->loop_father->inner : nullptr; chunk;
                 chunk = chunk->next) {
                if (hints.independent)
                    chunk->safelen = INT_MAX;
                if (hints.unroll) {
                    chunk->unroll = hints.unroll;
                    child->has_unroll = true;
                }
            }
        }
}

void Lowering::lower_child(function* child, const LoopHints& hints, const Counting& counting)
{
    push_cfun(child);
    apply_hints(child, hints);
    hash_set<basic_block> after_loop;
    basic_block block;
    FOR_EACH_BB_FN(block, child)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            if (call_kind(gsi_stmt(at)) == GompCall::loop_end)
                add_reachable(block, after_loop);
    FOR_EACH_BB_FN(block, child) {
        bool after = after_loop.contains(block);
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            after |= call_kind(gsi_stmt(at)) == GompCall::loop_end;
            lower_child_call(&at, after, counting);
        }
    }
    cgraph_edge::rebuild_edges();
    pop_cfun();
}

void Lowering::lower_critical(gimple_stmt_iterator* at, const char* name)
{
    gimple* call = gsi_stmt(*at);
    tree& object = criticals_[name];
    if (!object) {
        static_assert(sizeof(ws_critical) == 16, "two words");
        object = build_words(gimple_location(call), "ws_critical", 2, name, 0);
        add_to_unit(object);
        // GCC's own variable would be seen by other files.
        tree theirs = TREE_OPERAND(gimple_call_arg(call, 0), 0);
        TREE_PUBLIC(theirs) = DECL_COMMON(theirs) = 0;
    }
    replace(at, call_kind(call) == GompCall::critical_start ? "ws_critical_start" : "ws_critical_end",
            {build_fold_addr_expr(object)});
    features_ |= WS_USES_CRITICAL;
}

// Whether a file is opened for all ranks, as far as can be seen.
bool opens_for_all(gimple* call)
{
    constexpr unsigned mpi_comm_world = 0x44000000; // MPICH's
    return gimple_call_num_args(call) > 0 && TREE_CODE(gimple_call_arg(call, 0)) == INTEGER_CST &&
           tree_to_uhwi(wide_int_to_tree(unsigned_type_node, wi::to_wide(gimple_call_arg(call, 0)))) == mpi_comm_world;
}

std::string symbol_of(const Found& found) { return IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(found.decl)); }

ws::MpiCall mpi_call_of(const Found& found) { return ws::mpi_call(symbol_of(found)); }

bool needs_threads(ws::MpiCall kind) { return kind == ws::MpiCall::communicates || kind == ws::MpiCall::opens_file; }

// Refuses what MPI does not let several threads do, and notes that the rest is used.
void Lowering::check_mpi_calls(const Child& of)
{
    const tree child = of.function;
    bool calls_unknown = false;
    const auto refuse = [&](const Found& found, ws::MpiCall kind) {
        if (!refused_.insert(found.at).second)
            return;
        const std::string of_directive = std::string(of.kind == ws::DirectiveKind::sections ? "section"
                                                     : of.kind == ws::DirectiveKind::task   ? "task"
                                                                                            : "loop") +
                                         " of '" + ws::full_name(of.kind, language()) + "'";
        error_about(found.at,
                    "'" + ws::mpi_name(symbol_of(found)) + "' in a " + of_directive + ": " + ws::why_refused(kind));
        if (found.inside != child)
            inform(of.directive, "%s", localized_quotes("the " + of_directive + " that calls this").c_str());
    };
    const auto look = [&](const Found& found) {
        calls_unknown |= found.kind == Found::indirect_call;
        if (found.kind != Found::call)
            return;
        const ws::MpiCall kind = mpi_call_of(found);
        // A function that ends the program may finalize MPI before.
        if (kind == ws::MpiCall::whole_program && found.inside != child)
            return;
        if (ws::is_refused(kind) || (kind == ws::MpiCall::opens_file && opens_for_all(found.statement)))
            refuse(found, kind);
        else if (needs_threads(kind))
            features_ |= WS_USES_MPI_IN_LOOPS;
    };
    look_through_function(child, look, &looked_at_);
    calls_unknown_ |= calls_unknown;
}

// Through a pointer any function of this file may be called whose address is taken.
void Lowering::look_behind_pointers()
{
    if (!calls_unknown_ || features_ & WS_USES_MPI_IN_LOOPS)
        return;
    cgraph_node* node;
    FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
        if (node->address_taken || DECL_VIRTUAL_P(node->decl))
            look_through_function(
                node->decl,
                [&](const Found& found) {
                    if (found.kind == Found::call && needs_threads(mpi_call_of(found)))
                        features_ |= WS_USES_MPI_IN_LOOPS;
                },
                &looked_at_);
}

// A constructor that tells libws what this file uses.
void Lowering::announce()
{
    if (!features_)
        return;
    tree type = build_function_type_list(void_type_node, unsigned_type_node, NULL_TREE);
    tree body = NULL_TREE;
    append_to_statement_list(
        build_call_expr(declaration("ws_uses", type), 1, build_int_cst(unsigned_type_node, features_)), &body);
    cgraph_build_static_cdtor('I', body, DEFAULT_INIT_PRIORITY);
}

// A linker that does not find libws names -fws: assembler, as the name has a hyphen, in a section like that of constant
// pointers.
void Lowering::name_fws()
{
    static const char text[] =
        ".pushsection .data.rel.ro.ws_link,\"aw\"\n\t.balign 8\n\t.dc.a \"" WS_LINK_SYMBOL "\"\n\t.popsection";
    if (!declared_.empty() || atomics_lowered())
        symtab->finalize_toplevel_asm(build_string(sizeof text - 1, text));
}

void Lowering::lower_function(function* fn)
{
    push_cfun(fn);
    // First the marks with their forks: replacing a fork takes away what the next mark is searched by.
    Forks forks;
    bool changed = false;
    basic_block block;
    FOR_EACH_BB_FN(block, fn)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
            switch (call_kind(gsi_stmt(at))) {
            case GompCall::mark:
                changed = true;
                if (gimple* fork = find_fork(at))
                    forks[fork] = gsi_stmt(at);
                break;
            case GompCall::taskwait:
                if (is_our_taskwait(gimple_location(gsi_stmt(at)))) {
                    changed = true;
                    replace(&at, "ws_taskwait", {});
                }
                break;
            case GompCall::critical_start:
            case GompCall::critical_end:
                if (const char* name = critical_name(gimple_call_arg(gsi_stmt(at), 0))) {
                    changed = true;
                    lower_critical(&at, name);
                }
                break;
            default: break;
            }
    if (!changed) {
        pop_cfun();
        return;
    }
    FOR_EACH_BB_FN(block, fn)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            auto fork = forks.find(gsi_stmt(at));
            if (fork == forks.end())
                continue;
            if (marks_taskgroup(fork->second))
                lower_taskgroup(&at, fork->second);
            else if (marks_task(fork->second))
                lower_task(&at, fork->second, fn->decl);
            else
                lower_fork(&at, fork->second, fn->decl);
        }
    FOR_EACH_BB_FN(block, fn)
        for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at)) {
            const GompCall kind = call_kind(gsi_stmt(at));
            if (kind == GompCall::mark)
                drop_mark(&at);
            else if (kind == GompCall::chunk)
                resolve_chunk(&at);
        }
    cgraph_edge::rebuild_edges();
    pop_cfun();
}

void Lowering::run()
{
    cgraph_node* node;
    FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
        if (gimple_has_body_p(node->decl))
            lower_function(DECL_STRUCT_FUNCTION(node->decl));
    for (const Child& child : children_)
        check_mpi_calls(child);
    look_behind_pointers();
    announce();
    name_fws();
}

const pass_data lowering_data = {SIMPLE_IPA_PASS, "ws", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0};

class LoweringPass : public simple_ipa_opt_pass {
public:
    explicit LoweringPass(gcc::context* context) : simple_ipa_opt_pass(lowering_data, context) {}

    unsigned execute(function*) final override
    {
        if (ws_used())
            Lowering().run();
        return 0;
    }
};

} // namespace

bool is_marker(tree function, const char* name)
{
    // By name: the declaration may come from a precompiled header. In C it is known as __builtin_... too.
    return function && TREE_CODE(function) == FUNCTION_DECL && DECL_NAME(function) &&
           strcmp(IDENTIFIER_POINTER(DECL_NAME(function)), name) == 0;
}

void declare_markers()
{
    tree mark =
        build_function_type_list(integer_type_node, integer_type_node, integer_type_node, long_integer_type_node,
                                 long_integer_type_node, const_ptr_type_node, integer_type_node, NULL_TREE);
    // Variadic, so that the chunk arrives with the type it has and a double is not quietly made an integer.
    tree chunk = build_varargs_function_type_list(long_integer_type_node, integer_type_node, NULL_TREE);
    for (auto [name, type] : {std::pair(ws::mark_function, mark), std::pair(ws::chunk_function, chunk)}) {
        tree function = add_builtin_function(name, type, 0, NOT_BUILT_IN, nullptr, NULL_TREE);
        TREE_NOTHROW(function) = 1;
    }
}

void register_lowering_pass(const char* plugin_name)
{
    register_pass_info info = {new LoweringPass(g), "visibility", 1, PASS_POS_INSERT_AFTER};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

} // namespace ws_gcc
