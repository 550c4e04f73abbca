// SPDX-License-Identifier: MIT
//
// mpicc -fws=openmp: each `omp parallel for` that means the same as a `ws for` becomes one, in the form that ours have
// when they reach GCC's lowering: schedule(dynamic, 1) and a mark as its num_threads. The others stay OpenMP. Works on
// GIMPLE before OpenMP is lowered, so for all languages. -fws-report prints a remark for each loop.
//
// A loop stays OpenMP if it can tell threads apart, waits for other threads or asks for a way to run that libws does
// not know. Functions of other files are not seen: they are taken to do none of this, but libws is told, and shares the
// loop only in programs in which nobody asks OpenMP for its threads.
#include "ws_gcc.h"

#include "../clauses/messages.h"
#include "../clauses/mpi_calls.h"
#include "../../runtime/abi/abi.h"

#include "fold-const.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "langhooks.h"

namespace ws_gcc {

namespace {

bool convert, report;
std::set<unsigned> harmless; // functions, by DECL_UID
std::set<std::pair<location_t, std::string>> remarks; // printed: a template's loop comes once for each instance

// ---- remarks

void start_remark(Output output, Diagnostic* diagnostic)
{
    const expanded_location place = diagnostic_expand_location(diagnostic);
    pp_set_prefix(printer_of(output),
                  xasprintf("%s:%d:%d: remark: ", place.file ? place.file : progname, place.line, place.column));
}

void end_remark(Output output, Diagnostic* diagnostic, DiagnosticKind kind) { finish(output, diagnostic, kind); }

void remark(location_t at, const std::string& text)
{
    if (!report || !remarks.insert({at, text}).second)
        return;
    const auto starter = starter_of_diagnostics();
    const auto finalizer = finalizer_of_diagnostics();
    starter_of_diagnostics() = start_remark;
    finalizer_of_diagnostics() = end_remark;
    inform(at, "%s", text.c_str());
    starter_of_diagnostics() = starter;
    finalizer_of_diagnostics() = finalizer;
}

// ---- what a loop does

// Base of the OpenMP library's symbols: "omp_get_thread_num" for Fortran's omp_get_thread_num_ too.
std::string openmp_function(std::string symbol)
{
    if (symbol.compare(0, 4, "omp_") != 0)
        return "";
    while (symbol.back() == '_')
        symbol.pop_back();
    return symbol;
}

// GCC's own temporaries have no name, and some of its front ends crash when they are asked for it.
std::string name_of(tree decl) { return DECL_NAME(decl) ? lang_hooks.decl_printable_name(decl, 1) : ""; }

std::string in_brackets(tree decl)
{
    return DECL_NAME(decl) && !(VAR_P(decl) && DECL_ARTIFICIAL(decl)) ? " ('" + name_of(decl) + "')" : "";
}

// Looks through a loop for what keeps it from being shared.
class Judge {
public:
    std::string why_not; // the first reason; empty: none
    std::set<std::string> unseen; // functions of other files that it calls

    void look(const Found& found)
    {
        std::string why;
        switch (found.kind) {
        case Found::construct: why = of_construct(found.name, found.inside); break;
        case Found::call:
        case Found::function: why = of_call(found.decl); break;
        case Found::indirect_call: unseen.insert("function pointer"); break;
        case Found::variable:
            if (VAR_P(found.decl) && DECL_THREAD_LOCAL_P(found.decl))
                why = ws::reason::thread_variable(name_of(found.decl));
            else if (holds_thread_count(found.decl))
                why = "depends on the number of threads" + in_brackets(found.decl);
            break;
        }
        if (!why.empty() && why_not.empty())
            why_not = found.inside ? why + " (in '" + name_of(found.inside) + "')" : why;
    }

    // What is called for the variables of a clause: constructors, destructors, assignments, reductions and what they
    // begin with.
    void look_at_clauses(tree clauses, std::set<unsigned>* seen)
    {
        const auto report = [this](const Found& found) { look(found); };
        for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c)) {
            // The front end of C++ leaves them with the clause until it is lowered.
            tree functions = omp_clause_num_ops[OMP_CLAUSE_CODE(c)] ? TREE_TYPE(c) : NULL_TREE;
            for (int i = 0; functions && TREE_CODE(functions) == TREE_VEC && i < TREE_VEC_LENGTH(functions); i++)
                if (tree function = TREE_VEC_ELT(functions, i); function && TREE_CODE(function) == FUNCTION_DECL) {
                    look({Found::call, function, UNKNOWN_LOCATION, NULL_TREE, nullptr, nullptr});
                    look_through_function(function, report, seen);
                }
            if (OMP_CLAUSE_CODE(c) == OMP_CLAUSE_REDUCTION) {
                look_through(OMP_CLAUSE_REDUCTION_GIMPLE_INIT(c), report, seen);
                look_through(OMP_CLAUSE_REDUCTION_GIMPLE_MERGE(c), report, seen);
            } else if (OMP_CLAUSE_CODE(c) == OMP_CLAUSE_LASTPRIVATE) {
                look_through(OMP_CLAUSE_LASTPRIVATE_GIMPLE_SEQ(c), report, seen);
            }
        }
    }

private:
    std::string of_construct(const char* name, tree inside)
    {
        if (strcmp(name, "for") == 0 && !inside)
            return loops_++ ? "holds another 'for' construct" : "";
        if (strcmp(name, "simd") == 0 || strcmp(name, "atomic") == 0 || strcmp(name, "critical") == 0)
            return "";
        return ws::reason::construct(name);
    }

    std::string of_call(tree function)
    {
        const std::string symbol = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
        const std::string openmp = openmp_function(symbol);
        if (!openmp.empty())
            return ws::may_call(openmp) ? "" : "calls '" + openmp + "'";
        if (ws::is_refused(ws::mpi_call(symbol)))
            return "calls '" + ws::mpi_name(symbol) + "'";
        if (ws::tells_threads_apart(symbol))
            return "calls '" + symbol + "'";
        if (fndecl_built_in_p(function))
            return of_builtin(function);
        if (DECL_EXTERNAL(function) && !DECL_SAVED_TREE(function) && !gimple_has_body_p(function) &&
            !startswith(symbol.c_str(), "MPI_") && !startswith(symbol.c_str(), "PMPI_"))
            unseen.insert(name_of(function));
        return "";
    }

    static std::string of_builtin(tree function)
    {
        const char* name = IDENTIFIER_POINTER(DECL_NAME(function));
        const char* gomp = startswith(name, "__builtin_GOMP_") ? name + strlen("__builtin_GOMP_") : nullptr;
        if (!gomp || startswith(gomp, "critical") || startswith(gomp, "atomic"))
            return "";
        for (const char* known :
             {"barrier", "cancel", "task", "parallel", "single", "sections", "ordered", "target", "teams", "loop"})
            if (startswith(gomp, known))
                return ws::reason::construct(strcmp(known, "loop") == 0 ? "for" : known);
        return ws::reason::openmp_function(gomp);
    }

    int loops_ = 0;
};

tree find(tree clauses, omp_clause_code code)
{
    while (clauses && OMP_CLAUSE_CODE(clauses) != code)
        clauses = OMP_CLAUSE_CHAIN(clauses);
    return clauses;
}

std::string why_not_clauses(tree clauses)
{
    for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c))
        switch (OMP_CLAUSE_CODE(c)) {
        case OMP_CLAUSE_NUM_THREADS: return ws::reason::num_threads;
        case OMP_CLAUSE_IF:
            if (!integer_nonzerop(OMP_CLAUSE_IF_EXPR(c)))
                return ws::reason::condition;
            break;
        case OMP_CLAUSE_COPYIN: return ws::reason::copyin;
        case OMP_CLAUSE_ORDERED: return ws::reason::ordered;
        case OMP_CLAUSE_LINEAR: return ws::reason::linear;
        case OMP_CLAUSE_ALLOCATE: return ws::reason::allocate;
        case OMP_CLAUSE_LASTPRIVATE:
            if (OMP_CLAUSE_LASTPRIVATE_CONDITIONAL(c))
                return ws::reason::conditional;
            break;
        case OMP_CLAUSE_REDUCTION:
            if (OMP_CLAUSE_REDUCTION_TASK(c) || OMP_CLAUSE_REDUCTION_INSCAN(c))
                return ws::reason::reduction_modifier;
            break;
        case OMP_CLAUSE_SCHEDULE:
            if (OMP_CLAUSE_SCHEDULE_KIND(c) & OMP_CLAUSE_SCHEDULE_MONOTONIC)
                return ws::reason::monotonic;
            if ((OMP_CLAUSE_SCHEDULE_KIND(c) & OMP_CLAUSE_SCHEDULE_MASK) == OMP_CLAUSE_SCHEDULE_RUNTIME)
                return ws::reason::runtime_schedule;
            break;
        default: break;
        }
    return "";
}

// The first worksharing loop in a sequence, through blocks; the sequence it stands in.
gomp_for* find_loop(gimple_seq body, gimple_stmt_iterator* at)
{
    for (*at = gsi_start(body); !gsi_end_p(*at); gsi_next(at)) {
        gimple* statement = gsi_stmt(*at);
        if (gomp_for* loop = dyn_cast<gomp_for*>(statement))
            if (gimple_omp_for_kind(loop) == GF_OMP_FOR_KIND_FOR)
                return loop;
        gimple_stmt_iterator inner;
        gimple_seq block = gimple_code(statement) == GIMPLE_BIND  ? gimple_bind_body(as_a<gbind*>(statement))
                           : gimple_code(statement) == GIMPLE_TRY ? gimple_try_eval(statement)
                                                                  : nullptr;
        if (gomp_for* loop = block ? find_loop(block, &inner) : nullptr) {
            *at = inner;
            return loop;
        }
    }
    return nullptr;
}

bool is_rectangular(gomp_for* loop)
{
    for (unsigned i = 0; i < gimple_omp_for_collapse(loop); i++)
        if (TREE_CODE(gimple_omp_for_initial(loop, i)) == TREE_VEC ||
            TREE_CODE(gimple_omp_for_final(loop, i)) == TREE_VEC)
            return false;
    return true;
}

// As in checks.cc: the width of an unsigned variable that counts down, where GCC miscounts dynamic schedules.
int countdown_bits(gomp_for* loop)
{
    tree type = TREE_TYPE(gimple_omp_for_index(loop, 0));
    if (gimple_omp_for_collapse(loop) != 1 || !INTEGRAL_TYPE_P(type) || !TYPE_UNSIGNED(type) ||
        TYPE_PRECISION(type) >= TYPE_PRECISION(long_integer_type_node))
        return 0;
    const tree_code comparison = gimple_omp_for_cond(loop, 0);
    tree increment = gimple_omp_for_incr(loop, 0);
    bool down = comparison == GT_EXPR || comparison == GE_EXPR;
    if (comparison == NE_EXPR)
        down = TREE_CODE(increment) == MINUS_EXPR ? integer_onep(TREE_OPERAND(increment, 1))
                                                  : !integer_onep(TREE_OPERAND(increment, 1));
    return down ? TYPE_PRECISION(type) : 0;
}

// ---- the change

// Computes a value that a region computes before its loop, outside of the region.
class OutsideRegion {
public:
    OutsideRegion(gomp_parallel* parallel, gomp_for* loop, gimple_stmt_iterator loop_at, gimple_stmt_iterator* before,
            gbind* scope)
        : clauses_(gimple_omp_parallel_clauses(parallel)), before_(before), scope_(scope)
    {
        for (gsi_prev(&loop_at); !gsi_end_p(loop_at); gsi_prev(&loop_at))
            add(gsi_stmt(loop_at));
        for (auto at = gsi_start(*gimple_omp_for_pre_body_ptr(loop)); !gsi_end_p(at); gsi_next(&at))
            add(gsi_stmt(at));
    }

    // The value outside, null if it cannot be had there.
    tree operator()(tree value)
    {
        fails_ = false;
        value = unshare_expr(value);
        walk_tree(&value, replace, this, nullptr);
        return fails_ ? NULL_TREE : value;
    }

private:
    void add(gimple* statement)
    {
        if (is_gimple_assign(statement))
            definitions_[gimple_assign_lhs(statement)] = statement;
    }

    static tree replace(tree* node, int* walk_subtrees, void* data)
    {
        auto* self = static_cast<OutsideRegion*>(data);
        if (TYPE_P(*node))
            *walk_subtrees = 0;
        auto definition = self->definitions_.find(*node);
        if (definition != self->definitions_.end())
            *node = self->copy(definition->second);
        else if (TREE_CODE(*node) == SSA_NAME || (VAR_P(*node) && self->is_own(*node)))
            self->fails_ = true;
        return NULL_TREE;
    }

    // Whether a variable is not the one outside.
    bool is_own(tree variable) const
    {
        if (is_global_var(variable))
            return false;
        for (tree c = clauses_; c; c = OMP_CLAUSE_CHAIN(c))
            if ((OMP_CLAUSE_CODE(c) == OMP_CLAUSE_SHARED || OMP_CLAUSE_CODE(c) == OMP_CLAUSE_FIRSTPRIVATE) &&
                OMP_CLAUSE_DECL(c) == variable)
                return false;
        return true;
    }

    tree copy(gimple* definition)
    {
        tree& value = copies_[definition];
        if (value || fails_)
            return value ? value : integer_zero_node;
        gimple* again = gimple_copy(definition);
        for (unsigned i = 1; i < gimple_num_ops(again); i++) {
            tree operand = unshare_expr(gimple_op(again, i));
            walk_tree(&operand, replace, this, nullptr);
            gimple_set_op(again, i, operand);
        }
        if (fails_)
            return integer_zero_node;
        value = declare_temporary(scope_, TREE_TYPE(gimple_assign_lhs(definition)));
        gimple_assign_set_lhs(again, value);
        gsi_insert_before(before_, again, GSI_SAME_STMT);
        return value;
    }

    tree clauses_;
    gimple_stmt_iterator* before_;
    gbind* scope_;
    std::map<tree, gimple*> definitions_;
    std::map<gimple*, tree> copies_;
    bool fails_ = false;
};

ws_schedule schedule_of(tree clause)
{
    if (!clause)
        return WS_AUTO;
    switch (OMP_CLAUSE_SCHEDULE_KIND(clause) & OMP_CLAUSE_SCHEDULE_MASK) {
    case OMP_CLAUSE_SCHEDULE_STATIC: return WS_STATIC;
    case OMP_CLAUSE_SCHEDULE_DYNAMIC: return WS_DYNAMIC;
    case OMP_CLAUSE_SCHEDULE_GUIDED: return WS_GUIDED;
    default: return WS_AUTO;
    }
}

tree as_long(gimple_stmt_iterator* before, gbind* scope, tree value)
{
    if (is_gimple_min_invariant(value))
        return fold_convert(long_integer_type_node, value);
    tree result = declare_temporary(scope, long_integer_type_node);
    gsi_insert_before(before, gimple_build_assign(result, NOP_EXPR, value), GSI_SAME_STMT);
    return result;
}

// False if the chunk size cannot be had outside of the region.
bool share(gimple_stmt_iterator* at, gomp_parallel* parallel, gomp_for* loop, gimple_stmt_iterator loop_at,
           gbind* scope)
{
    tree clauses = gimple_omp_for_clauses(loop);
    tree schedule = find(clauses, OMP_CLAUSE_SCHEDULE);
    const ws_schedule kind = schedule_of(schedule);
    tree chunk = schedule ? OMP_CLAUSE_SCHEDULE_CHUNK_EXPR(schedule) : NULL_TREE;
    HOST_WIDE_INT kinds = kind | HOST_WIDE_INT(WS_SITE_STEAL) | HOST_WIDE_INT(WS_SITE_OPENMP) |
                          HOST_WIDE_INT(countdown_bits(loop)) << ws::countdown_shift;
    if (chunk) {
        chunk = OutsideRegion(parallel, loop, loop_at, at, scope)(chunk);
        if (!chunk)
            return false;
        chunk = as_long(at, scope, chunk);
        kinds |= WS_SITE_CHUNK;
    }

    if (!schedule) {
        schedule = build_omp_clause(gimple_location(loop), OMP_CLAUSE_SCHEDULE);
        OMP_CLAUSE_CHAIN(schedule) = clauses;
        gimple_omp_for_set_clauses(loop, schedule);
    }
    OMP_CLAUSE_SCHEDULE_KIND(schedule) = OMP_CLAUSE_SCHEDULE_DYNAMIC;
    OMP_CLAUSE_SCHEDULE_CHUNK_EXPR(schedule) = integer_one_node;
    OMP_CLAUSE_SCHEDULE_SIMD(schedule) = 0;

    tree zero = build_zero_cst(long_integer_type_node);
    gcall* mark = build_mark(kinds, chunk ? chunk : zero, zero, "");
    tree marked = declare_temporary(scope, integer_type_node);
    gimple_call_set_lhs(mark, marked);
    gimple_set_location(mark, gimple_location(parallel));
    gsi_insert_before(at, mark, GSI_SAME_STMT);
    tree threads = build_omp_clause(gimple_location(parallel), OMP_CLAUSE_NUM_THREADS);
    OMP_CLAUSE_NUM_THREADS_EXPR(threads) = marked;
    OMP_CLAUSE_CHAIN(threads) = gimple_omp_parallel_clauses(parallel);
    gimple_omp_parallel_set_clauses(parallel, threads);
    return true;
}

// The last mark or parallel region before a place, also in what stands there; null if there is none.
gimple* last_before(gimple_stmt_iterator at)
{
    for (; !gsi_end_p(at); gsi_prev(&at)) {
        gimple* statement = gsi_stmt(at);
        gimple* found = nullptr;
        if (gimple_code(statement) == GIMPLE_OMP_PARALLEL ||
            (is_gimple_call(statement) && is_marker(gimple_call_fndecl(statement), ws::mark_function)))
            found = statement;
        else if (gimple_code(statement) == GIMPLE_BIND)
            found = last_before(gsi_last(*gimple_bind_body_ptr(as_a<gbind*>(statement))));
        else if (gimple_code(statement) == GIMPLE_TRY)
            found = last_before(gsi_last(*gimple_try_eval_ptr(statement)));
        if (found)
            return found;
    }
    return nullptr;
}

// The mark of a parallel region, null if it has none.
gcall* mark_of(gimple_stmt_iterator at)
{
    if (!find(gimple_omp_parallel_clauses(gsi_stmt(at)), OMP_CLAUSE_NUM_THREADS))
        return nullptr;
    gsi_prev(&at);
    gimple* last = last_before(at);
    return last ? dyn_cast<gcall*>(last) : nullptr;
}

std::string why_not_shared(gomp_parallel* parallel, gomp_for* loop, bool nested, Judge& judge)
{
    if (!convert)
        return ws::reason::not_asked;
    if (nested)
        return ws::reason::inside_another;
    if (gimple_omp_for_combined_into_p(loop))
        return "is part of a larger construct";
    if (!is_rectangular(loop))
        return ws::reason::not_rectangular;
    for (tree clauses : {gimple_omp_parallel_clauses(parallel), gimple_omp_for_clauses(loop)}) {
        const std::string why = why_not_clauses(clauses);
        if (!why.empty())
            return why;
    }
    // Functions in which nothing was found once need not be looked at again, but for the remarks.
    std::set<unsigned> seen = report ? std::set<unsigned>() : harmless;
    look_through(
        gimple_omp_body(parallel), [&](const Found& found) { judge.look(found); }, &seen);
    for (tree clauses : {gimple_omp_parallel_clauses(parallel), gimple_omp_for_clauses(loop)})
        judge.look_at_clauses(clauses, &seen);
    if (judge.why_not.empty() && judge.unseen.empty() && !report)
        harmless.swap(seen);
    return judge.why_not;
}

} // namespace

void set_openmp_loops(bool conversion, bool remarks_wanted)
{
    convert = conversion;
    report = remarks_wanted;
}

bool shares_openmp_loops() { return convert; }
bool reports_loops() { return report; }

void share_openmp_loop(gimple_stmt_iterator* at, gbind* scope, bool nested)
{
    if (!convert && !report) {
        if (gcall* mark = mark_of(*at))
            loop_name(mark, current_function_decl); // in the order of the source
        return;
    }
    auto* parallel = as_a<gomp_parallel*>(gsi_stmt(*at));
    const location_t where = gimple_location(parallel);
    gimple_stmt_iterator loop_at;
    gomp_for* loop = find_loop(gimple_omp_body(parallel), &loop_at);
    if (!loop)
        return;
    if (gcall* mark = mark_of(*at)) {
        remark(where, ws::is_shared(loop_name(mark, current_function_decl)));
        return;
    }
    if (!gimple_omp_parallel_combined_p(parallel))
        return; // its loops are reported one by one
    Judge judge;
    std::string why = why_not_shared(parallel, loop, nested || !scope, judge);
    if (why.empty() && !share(at, parallel, loop, loop_at, scope))
        why = ws::reason::chunk_unseen;
    if (!why.empty())
        remark(where, localized_quotes(ws::stays_openmp(why)));
    else
        remark(where, ws::is_shared(loop_name(mark_of(*at), current_function_decl)) +
                          localized_quotes(ws::calls_unseen(judge.unseen)));
}

gcall* region_mark(gimple_stmt_iterator parallel) { return mark_of(parallel); }

void note_order(gimple_stmt_iterator at)
{
    gimple_stmt_iterator loop_at;
    gcall* mark = mark_of(at);
    gomp_for* loop = mark ? find_loop(gimple_omp_body(gsi_stmt(at)), &loop_at) : nullptr;
    // lastprivate stands on the loop or on the region. A loop that is combined with simd may have more such clauses.
    if (!loop || gimple_omp_for_combined_p(loop) || find(gimple_omp_for_clauses(loop), OMP_CLAUSE_LASTPRIVATE) ||
        find(gimple_omp_parallel_clauses(gsi_stmt(at)), OMP_CLAUSE_LASTPRIVATE))
        return;
    tree kinds = gimple_call_arg(mark, 1);
    gimple_call_set_arg(mark, 1,
                        build_int_cst(TREE_TYPE(kinds), tree_to_shwi(kinds) | HOST_WIDE_INT(WS_SITE_ANY_ORDER)));
}

void report_openmp_loop(gomp_for* loop)
{
    if (gimple_omp_for_kind(loop) == GF_OMP_FOR_KIND_FOR)
        remark(gimple_location(loop), localized_quotes(ws::stays_openmp(ws::reason::not_combined)));
}

} // namespace ws_gcc
