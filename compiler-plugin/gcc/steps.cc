// SPDX-License-Identifier: MIT
//
// Loops whose last step may carry the variable past its type's last value, before GCC lowers OpenMP. The loop over a
// chunk that GCC makes adds the step before it compares: `for (int i = 0; i < n; i += 2000000000)` would go on for
// ever. Most keep their variable, and what the compiler knows of it: the mark gets its type, and libws looks whether
// the step fits (runtime/abi/steps.h).
//
// Some loops count from 0 by 1 and compute their variable: loops whose bounds are all constant and known not to fit,
// and collapsed loops, whose iterations GCC counts in the variable's type:
//
//     for (unsigned long k = 0; k < COUNT; k++) { i = (int) (FIRST + k * STEP); ... }
//
// gfortran does that for loops whose step is not 1 or -1 (from 14 on: not constant), but computes COUNT in their type:
// done here once more. From 14 on the others get here as they are.
#include "ws_gcc.h"

#include "fold-const.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "gimplify.h"

namespace ws_gcc {

namespace {

// One loop of those that are collapsed.
struct CollapsedLoop {
    tree variable, type, initial, final, step; // the step is added, or subtracted
    tree_code comparison;
    bool added;

    CollapsedLoop(gomp_for* loop, unsigned i)
        : variable(gimple_omp_for_index(loop, i)), type(TREE_TYPE(variable)), initial(gimple_omp_for_initial(loop, i)),
          final(gimple_omp_for_final(loop, i)), step(TREE_OPERAND(gimple_omp_for_incr(loop, i), 1)),
          comparison(gimple_omp_for_cond(loop, i)), added(TREE_CODE(gimple_omp_for_incr(loop, i)) != MINUS_EXPR)
    {}

    bool down() const { return comparison == GT_EXPR || comparison == GE_EXPR; }
    bool with_final() const { return comparison == LE_EXPR || comparison == GE_EXPR; }

    // A constant step, as the loop goes: less than 0 if down.
    offset_int constant_step() const
    {
        // For an unsigned variable that counts down, -3 is 2^32 - 3.
        const offset_int value =
            offset_int::from(wi::to_wide(step), added && down() ? SIGNED : TYPE_SIGN(TREE_TYPE(step)));
        return added ? value : -value;
    }

    // Whether a step from the bound fits the type, and so each of the loop's: false if that cannot be seen.
    bool fits() const
    {
        if (comparison == NE_EXPR || !INTEGRAL_TYPE_P(type) || TYPE_PRECISION(type) > 64)
            return true; // a step of 1; a pointer; nothing that GCC takes
        if (TREE_CODE(step) != INTEGER_CST)
            return false;
        const offset_int by = constant_step();
        if (by == 1 || by == -1)
            return true;
        if (TREE_CODE(final) != INTEGER_CST)
            return false;
        offset_int last = wi::to_offset(final); // not past this
        if (TREE_CODE(initial) == INTEGER_CST) {
            // The way to the last value that the variable may have.
            const offset_int first = wi::to_offset(initial), way = last - first + (with_final() ? 0 : down() ? 1 : -1);
            if (down() ? way > 0 : way < 0)
                return true;
            last = first + wi::sdiv_trunc(way, by) * by;
        }
        const offset_int beyond = last + by;
        return beyond >= wi::to_offset(TYPE_MIN_VALUE(type)) && beyond <= wi::to_offset(TYPE_MAX_VALUE(type));
    }

    bool is_constant() const
    {
        return TREE_CODE(initial) == INTEGER_CST && TREE_CODE(final) == INTEGER_CST && TREE_CODE(step) == INTEGER_CST;
    }
    // Its bounds may be those of a loop that depends on another.
    bool is_plain() const { return TREE_CODE(initial) != TREE_VEC && TREE_CODE(final) != TREE_VEC; }
};

// Statements with variables of their own, which must be declared around them.
class Code {
public:
    tree operator()(tree_code code, tree type, tree a, tree b = NULL_TREE, tree c = NULL_TREE)
    {
        tree folded = c   ? fold_build3(code, type, a, b, c)
                      : b ? fold_build2(code, type, a, b)
                          : fold_build1(code, type, a);
        if (is_gimple_val(folded))
            return folded;
        tree result = variable(type);
        gimple_seq_add_stmt(statements, gimple_build_assign(result, code, a, b, c));
        return result;
    }

    tree variable(tree type)
    {
        tree made = create_tmp_var_raw(type, "ws_step");
        DECL_CONTEXT(made) = current_function_decl;
        DECL_SEEN_IN_BIND_EXPR_P(made) = 1;
        DECL_CHAIN(made) = variables;
        return variables = made;
    }

    gimple_seq* statements;
    tree variables = NULL_TREE;
};

void count_from_0(gomp_for* loop, unsigned i, Code& code, gimple_seq* body, gimple_seq* after)
{
    const CollapsedLoop head(loop, i);
    tree wide = long_unsigned_type_node;
    code.statements = gimple_omp_for_pre_body_ptr(loop);
    tree first = code(NOP_EXPR, wide, head.initial), end = code(NOP_EXPR, wide, head.final);
    // An unsigned step that is added to count down is a negative number of its type.
    tree signed_step =
        head.down() && head.added ? code(NOP_EXPR, signed_type_for(TREE_TYPE(head.step)), head.step) : head.step;
    tree step = code(NOP_EXPR, wide, signed_step);
    tree stride = head.down() == head.added ? code(NEGATE_EXPR, wide, step) : step;
    tree by = head.added ? step : code(NEGATE_EXPR, wide, step);
    tree way = head.down() ? code(MINUS_EXPR, wide, first, end) : code(MINUS_EXPR, wide, end, first);
    tree one = build_one_cst(wide), zero = build_zero_cst(wide);
    if (!head.with_final())
        way = code(MINUS_EXPR, wide, way, one);
    tree count = code(PLUS_EXPR, wide, code(TRUNC_DIV_EXPR, wide, way, stride), one);
    tree some = code(head.comparison, boolean_type_node, head.initial, head.final);
    count = code(COND_EXPR, wide, some, count, zero);

    tree counter = code.variable(wide);
    gimple_omp_for_set_initial(loop, i, zero);
    gimple_omp_for_set_final(loop, i, count);
    gimple_omp_for_set_cond(loop, i, LT_EXPR);
    gimple_omp_for_set_incr(loop, i, build2(PLUS_EXPR, wide, counter, one));
    gimple_omp_for_set_index(loop, i, counter);
    tree own = build_omp_clause(gimple_location(loop), OMP_CLAUSE_PRIVATE);
    OMP_CLAUSE_DECL(own) = counter;
    OMP_CLAUSE_CHAIN(own) = gimple_omp_for_clauses(loop);
    gimple_omp_for_set_clauses(loop, own);

    code.statements = body;
    gimple_seq_add_stmt(body, gimple_build_assign(head.variable, NOP_EXPR,
                                                  code(PLUS_EXPR, wide, first, code(MULT_EXPR, wide, counter, by))));
    // After the loop it has the value that it comes to.
    code.statements = after;
    tree past = code(PLUS_EXPR, wide, code(NOP_EXPR, wide, head.variable), by);
    gimple_seq_add_stmt(after, gimple_build_assign(head.variable, NOP_EXPR, past));
}

// ((step - from) + to) / step, as gfortran has folded it.
class FortranCount {
public:
    FortranCount(gimple* division) : type_(TREE_TYPE(gimple_assign_lhs(division))), step_(gimple_assign_rhs2(division))
    {
        // Operands may be sums themselves: the first way to read it that makes sense.
        const Sum sum = parts(gimple_assign_rhs1(division));
        for (int open = 3; open >= 0 && !found(); open--) {
            Sum whole;
            for (unsigned i = 0; i < sum.size(); i++) {
                const Sum inner = open >> i & 1 ? parts(sum[i].value) : Sum{{sum[i].value, false}};
                for (const Term& part : inner)
                    whole.push_back({part.value, part.negative != sum[i].negative});
            }
            look(whole);
        }
    }

    bool found() const { return from_ != NULL_TREE; }

    // The number of iterations.
    tree compute(Code& code) const
    {
        tree wide = long_unsigned_type_node, narrow = long_integer_type_node;
        const auto as_long = [&](tree value) { return code(NOP_EXPR, narrow, value); };
        tree from = as_long(from_), to = as_long(to_), step = as_long(step_);
        tree up = code(GT_EXPR, boolean_type_node, step, build_zero_cst(narrow));
        tree low = code(COND_EXPR, narrow, up, from, to), high = code(COND_EXPR, narrow, up, to, from);
        tree added = code(NOP_EXPR, wide, step),
             stride = code(COND_EXPR, wide, up, added, code(NEGATE_EXPR, wide, added));
        tree way = code(MINUS_EXPR, wide, code(NOP_EXPR, wide, high), code(NOP_EXPR, wide, low));
        tree count = code(PLUS_EXPR, wide, code(TRUNC_DIV_EXPR, wide, way, stride), build_one_cst(wide));
        return code(COND_EXPR, wide, code(LE_EXPR, boolean_type_node, low, high), count, build_zero_cst(wide));
    }

private:
    struct Term {
        tree value;
        bool negative;
    };
    using Sum = std::vector<Term>;

    static Sum parts(tree value)
    {
        gimple* definition = TREE_CODE(value) == SSA_NAME ? SSA_NAME_DEF_STMT(value) : nullptr;
        if (!definition || !is_gimple_assign(definition))
            return {{value, false}};
        switch (gimple_assign_rhs_code(definition)) {
        case PLUS_EXPR:
        case MINUS_EXPR:
            return {{gimple_assign_rhs1(definition), false},
                    {gimple_assign_rhs2(definition), gimple_assign_rhs_code(definition) == MINUS_EXPR}};
        case NEGATE_EXPR: return {{gimple_assign_rhs1(definition), true}};
        default: return {{value, false}};
        }
    }

    void look(const Sum& sum)
    {
        tree from = NULL_TREE, to = NULL_TREE;
        offset_int constant = 0;
        bool step_seen = TREE_CODE(step_) == INTEGER_CST;
        if (step_seen)
            constant -= wi::to_offset(step_);
        for (const Term& part : sum)
            if (TREE_CODE(part.value) == INTEGER_CST)
                constant +=
                    part.negative ? -offset_int(wi::to_offset(part.value)) : offset_int(wi::to_offset(part.value));
            else if (!step_seen && !part.negative && part.value == step_)
                step_seen = true;
            else if (tree& end = part.negative ? from : to)
                return;
            else
                end = part.value;
        if (!step_seen || (from && to && constant != 0))
            return;
        // Constants were added up in the type.
        const auto in_type = [&](const offset_int& value) { return wide_int_to_tree(type_, value); };
        from_ = from ? from : in_type(-constant);
        to_ = to ? to : from ? in_type(constant) : build_zero_cst(type_);
    }

    tree type_, step_, from_ = NULL_TREE, to_ = NULL_TREE;
};

// The statement that computes how often a loop of gfortran's with a step is run; null if it has none.
const Quotient* find_count(gomp_for* loop, unsigned i, const Quotients& quotients)
{
    tree counter = gimple_omp_for_index(loop, i);
    if (!DECL_NAME(counter) || !startswith(IDENTIFIER_POINTER(DECL_NAME(counter)), "count."))
        return nullptr;
    const auto found = quotients.find(gimple_omp_for_final(loop, i));
    return found == quotients.end() ? nullptr : &found->second;
}

// A count that its type does not hold ends the job.
void check_count(tree count, tree type, const std::string& name, gimple_seq* statements)
{
    tree too_many = create_artificial_label(UNKNOWN_LOCATION), fine = create_artificial_label(UNKNOWN_LOCATION);
    tree function = build_fn_decl("ws_too_many_iterations",
                                  build_function_type_list(void_type_node, const_ptr_type_node, NULL_TREE));
    TREE_THIS_VOLATILE(function) = 1;
    tree most = fold_convert(TREE_TYPE(count), TYPE_MAX_VALUE(type));
    gimple_seq_add_stmt(statements, gimple_build_cond(GT_EXPR, count, most, too_many, fine));
    gimple_seq_add_stmt(statements, gimple_build_label(too_many));
    gimple_seq_add_stmt(statements,
                        gimple_build_call(function, 1, build_string_literal(name.size() + 1, name.c_str())));
    gimple_seq_add_stmt(statements, gimple_build_label(fine));
}

void count_again(const Quotient& quotient, gcall* mark)
{
    gimple_stmt_iterator at = quotient.at;
    tree result = gimple_assign_lhs(gsi_stmt(at));
    const FortranCount expression(gsi_stmt(at));
    if (!expression.found())
        return;
    gimple_seq statements = nullptr;
    Code code;
    code.statements = &statements;
    tree count = expression.compute(code);
    check_count(count, TREE_TYPE(result), loop_name(mark, current_function_decl), &statements);
    gimple_bind_append_vars(quotient.scope, code.variables);
    gsi_insert_seq_before(&at, statements, GSI_SAME_STMT);
    gsi_replace(&at, gimple_build_assign(result, NOP_EXPR, count), false);
}

tree lastprivate_of(tree clauses, tree variable)
{
    for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c))
        if (OMP_CLAUSE_CODE(c) == OMP_CLAUSE_LASTPRIVATE && OMP_CLAUSE_DECL(c) == variable)
            return c;
    return NULL_TREE;
}

} // namespace

gomp_for* first_loop(gimple_seq* body, gimple_stmt_iterator* at)
{
    for (*at = gsi_start(*body); !gsi_end_p(*at); gsi_next(at)) {
        gimple* statement = gsi_stmt(*at);
        if (gomp_for* loop = dyn_cast<gomp_for*>(statement))
            return loop;
        gimple_stmt_iterator inner;
        // A try: with temporaries that the bounds need.
        gimple_seq* block = gimple_code(statement) == GIMPLE_BIND  ? gimple_bind_body_ptr(as_a<gbind*>(statement))
                            : gimple_code(statement) == GIMPLE_TRY ? gimple_try_eval_ptr(statement)
                                                                   : nullptr;
        if (gomp_for* loop = block ? first_loop(block, &inner) : nullptr) {
            *at = inner;
            return loop;
        }
    }
    return nullptr;
}

void look_at_steps(gimple_stmt_iterator parallel, const Quotients& quotients)
{
    gcall* mark = region_mark(parallel);
    gimple_stmt_iterator at;
    gomp_for* loop = mark ? first_loop(gimple_omp_body_ptr(gsi_stmt(parallel)), &at) : nullptr;
    if (!loop)
        return;
    const unsigned loops = gimple_omp_for_collapse(loop);
    for (unsigned i = 0; i < loops; i++)
        if (const Quotient* quotient = find_count(loop, i, quotients))
            count_again(*quotient, mark);
    HOST_WIDE_INT kinds = tree_to_shwi(gimple_call_arg(mark, 1));
    const CollapsedLoop head(loop, 0);
    if (loops == 1 && !head.fits() && gimple_omp_for_combined_p(loop) && head.is_constant() && kinds & ws::simd_mark)
        error_about(gimple_location(loop),
                    "in '#pragma ws for simd': the last step must not leave the type of the variable");
    // GCC puts the end of `i <= last` one further, in its type; in Fortran that may be the type's last value.
    const bool may_leave_at_end =
        &language() == &ws::fortran_language && head.with_final() && !gimple_omp_for_combined_p(loop);
    if (loops == 1 && !head.fits() && !head.is_constant() && !may_leave_at_end) {
        const int bits = int(TYPE_PRECISION(head.type));
        kinds |= HOST_WIDE_INT(TYPE_UNSIGNED(head.type) ? -bits & 255 : bits) << ws::step_shift;
        gimple_call_set_arg(mark, 1, build_int_cst(long_integer_type_node, kinds));
        return;
    }
    if (gimple_omp_for_combined_p(loop))
        return;
    Code code;
    gimple_seq body = nullptr;
    for (unsigned i = 0; i < loops; i++) {
        const CollapsedLoop head(loop, i);
        if (head.fits() || !head.is_plain())
            continue;
        gimple_seq after = nullptr;
        count_from_0(loop, i, code, &body, &after);
        for (tree clauses : {gimple_omp_for_clauses(loop), gimple_omp_parallel_clauses(gsi_stmt(parallel))})
            if (tree last = lastprivate_of(clauses, head.variable))
                OMP_CLAUSE_LASTPRIVATE_GIMPLE_SEQ(last) = after;
    }
    if (!body)
        return;
    gimple_seq_add_seq(&body, gimple_omp_body(loop));
    gimple_omp_set_body(loop, body);
    gimple_seq only = nullptr;
    gimple_seq_add_stmt(&only, loop);
    gsi_replace(&at, gimple_build_bind(code.variables, only, NULL_TREE), false);
    // The new one needs no correction of how it counts down.
    gimple_call_set_arg(
        mark, 1,
        build_int_cst(TREE_TYPE(gimple_call_arg(mark, 1)), kinds & ~(HOST_WIDE_INT(63) << ws::countdown_shift)));
}

} // namespace ws_gcc
