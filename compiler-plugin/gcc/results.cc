// SPDX-License-Identifier: MIT
//
// Where the results of a loop's reductions lie, for `mpirun -workshare-check` (WS_SITE_RESULTS in
// runtime/abi/abi.h): only data. Before OpenMP is lowered the clauses name the variables; after it what fork gets
// has a field for each that is not static. A number behind the name in the loop's mark leads from the one to the other.
#include "ws_gcc.h"

#include "../../runtime/abi/abi.h"

#include "fold-const.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "omp-general.h"
#include "tree-dfa.h"

namespace ws_gcc {

namespace {

// A result as its clause has it.
struct Result {
    std::string name, type; // no type: it cannot be compared
    tree variable = NULL_TREE; // that has it, or its address
    bool is_static = false;
    unsigned pointers = 0; // to go through from the variable
    HOST_WIDE_INT offset = 0; // behind them
};

std::vector<std::vector<Result>> loops;

char operation(tree_code code)
{
    switch (code) {
    case PLUS_EXPR:
    case MINUS_EXPR: return '+';
    case MULT_EXPR: return '*';
    default: return '=';
    }
}

// As abi.h writes it; empty if it is none of those.
std::string element_type(tree type)
{
    const char letter = TREE_CODE(type) == COMPLEX_TYPE ? 'c' : 'f';
    tree part = letter == 'c' ? TREE_TYPE(type) : type;
    if (!TYPE_SIZE_UNIT(part) || !tree_fits_uhwi_p(TYPE_SIZE_UNIT(part)))
        return "";
    const std::string size = std::to_string(tree_to_uhwi(TYPE_SIZE_UNIT(part)));
    if (TREE_CODE(part) == REAL_TYPE) {
        tree main = TYPE_MAIN_VARIANT(part);
        return main == float_type_node || main == double_type_node || main == long_double_type_node ||
                       TYPE_MODE(main) == TYPE_MODE(float_type_node) ||
                       TYPE_MODE(main) == TYPE_MODE(double_type_node) ||
                       TYPE_MODE(main) == TYPE_MODE(long_double_type_node)
                   ? letter + size
                   : "";
    }
    return letter != 'c' && INTEGRAL_TYPE_P(part) ? (TYPE_UNSIGNED(part) ? "u" : "i") + size : "";
}

std::string type_text(tree type, tree_code code)
{
    unsigned HOST_WIDE_INT count = 1;
    if (TREE_CODE(type) == ARRAY_TYPE) {
        tree bytes = TYPE_SIZE_UNIT(type);
        while (TREE_CODE(type) == ARRAY_TYPE)
            type = TREE_TYPE(type);
        tree each = TYPE_SIZE_UNIT(type);
        if (!bytes || !tree_fits_uhwi_p(bytes) || !each || !tree_fits_uhwi_p(each) || integer_zerop(each))
            return "";
        count = tree_to_uhwi(bytes) / tree_to_uhwi(each);
    }
    const std::string element = element_type(type);
    return element.empty() || !count ? "" : element + (count > 1 ? "x" + std::to_string(count) : "") + operation(code);
}

std::string result_name(tree variable)
{
    const char* name =
        variable && DECL_P(variable) && DECL_NAME(variable) ? IDENTIFIER_POINTER(DECL_NAME(variable)) : "?";
    std::string text;
    for (const char* c = name; *c; c++)
        text += *c == ' ' || *c == '=' ? '_' : *c;
    return text;
}

Result result_of(tree clause)
{
    Result r;
    tree where = OMP_CLAUSE_DECL(clause), type = TREE_TYPE(where);
    if (TREE_CODE(where) == MEM_REF && tree_fits_shwi_p(TREE_OPERAND(where, 1))) { // a section of an array
        r.offset = tree_to_shwi(TREE_OPERAND(where, 1));
        where = TREE_OPERAND(where, 0);
        if (TREE_CODE(where) == POINTER_PLUS_EXPR && tree_fits_shwi_p(TREE_OPERAND(where, 1))) {
            r.offset += tree_to_shwi(TREE_OPERAND(where, 1));
            where = TREE_OPERAND(where, 0);
        }
        if (TREE_CODE(where) == ADDR_EXPR)
            where = TREE_OPERAND(where, 0);
        else
            r.pointers = 1;
        if (r.pointers && DECL_P(where) && TREE_CODE(TREE_TYPE(where)) == REFERENCE_TYPE &&
            POINTER_TYPE_P(TREE_TYPE(TREE_TYPE(where))))
            r.pointers = 2;
    } else if (TREE_CODE(type) == REFERENCE_TYPE || (POINTER_TYPE_P(type) && omp_privatize_by_reference(where))) {
        type = TREE_TYPE(type);
        r.pointers = 1;
    }
    r.name = result_name(where);
    // Results with a user's own operation cannot be compared. Arrays of Fortran have a merge of their own, too, but an
    // operation.
    if (!DECL_P(where) || OMP_CLAUSE_REDUCTION_CODE(clause) == ERROR_MARK)
        return r;
    r.variable = where;
    if (DECL_HAS_VALUE_EXPR_P(where)) { // in a COMMON block
        HOST_WIDE_INT at = 0;
        poly_int64 bytes = 0;
        tree base = get_addr_base_and_unit_offset(DECL_VALUE_EXPR(where), &bytes);
        if (base && VAR_P(base) && is_global_var(base) && bytes.is_constant(&at)) {
            r.variable = base;
            r.offset += at;
        }
    }
    r.is_static = VAR_P(r.variable) && is_global_var(r.variable);
    if (!(r.is_static && (DECL_THREAD_LOCAL_P(r.variable) || r.pointers)))
        r.type = type_text(type, OMP_CLAUSE_REDUCTION_CODE(clause));
    return r;
}

void add_results(tree clauses, std::vector<Result>& results)
{
    for (tree c = clauses; c; c = OMP_CLAUSE_CHAIN(c)) {
        if (OMP_CLAUSE_CODE(c) != OMP_CLAUSE_REDUCTION)
            continue;
        Result r = result_of(c);
        bool known = false; // the clause may stand on each part of a combined construct
        for (const Result& other : results)
            known |= other.variable == r.variable && other.name == r.name && other.offset == r.offset;
        if (!known)
            results.push_back(r);
    }
}

// The literal of an argument, with what follows its first NUL.
std::string whole_text(tree argument)
{
    unsigned HOST_WIDE_INT bytes = 0;
    const char* text = getbyterep(argument, &bytes);
    return text && bytes ? std::string(text, bytes - 1) : "";
}

// Where a result lies from what the region gets; empty if that does not tell.
std::string place_in(const Result& r, tree data)
{
    tree type = TREE_CODE(data) == ADDR_EXPR ? TREE_TYPE(TREE_OPERAND(data, 0)) : NULL_TREE;
    if (!type || TREE_CODE(type) != RECORD_TYPE)
        return "";
    tree wanted = TYPE_MAIN_VARIANT(TREE_TYPE(r.variable));
    for (tree field = TYPE_FIELDS(type); field; field = DECL_CHAIN(field)) {
        if (TREE_CODE(field) != FIELD_DECL || DECL_NAME(field) != DECL_NAME(r.variable) ||
            DECL_SOURCE_LOCATION(field) != DECL_SOURCE_LOCATION(r.variable))
            continue;
        tree has = TREE_TYPE(field);
        unsigned pointers = r.pointers;
        if (TYPE_MAIN_VARIANT(has) != wanted) {
            if (!POINTER_TYPE_P(has) || TYPE_MAIN_VARIANT(TREE_TYPE(has)) != wanted)
                return "";
            pointers++;
        }
        return std::to_string(int_byte_position(field)) + std::string(pointers, '*') +
               (r.offset ? "+" + std::to_string(r.offset) : "");
    }
    return "";
}

} // namespace

void note_results(gimple_stmt_iterator parallel)
{
    gcall* mark = region_mark(parallel);
    if (!mark)
        return;
    std::vector<Result> results;
    add_results(gimple_omp_parallel_clauses(gsi_stmt(parallel)), results);
    gimple_stmt_iterator at;
    if (gomp_for* loop = first_loop(gimple_omp_body_ptr(gsi_stmt(parallel)), &at)) {
        add_results(gimple_omp_for_clauses(loop), results);
        gimple_stmt_iterator inner; // the one with simd
        if (gomp_for* within =
                gimple_omp_for_combined_p(loop) ? first_loop(gimple_omp_body_ptr(loop), &inner) : nullptr)
            add_results(gimple_omp_for_clauses(within), results);
    }
    if (results.empty())
        return;
    const char* given = c_getstr(gimple_call_arg(mark, 4));
    std::string text = given ? given : "";
    text += '\0' + std::to_string(loops.size());
    loops.push_back(results);
    gimple_call_set_arg(mark, 4, build_string_literal(text.size() + 1, text.c_str()));
}

std::string results_text(gcall* mark, tree data, std::vector<tree>& addresses)
{
    const std::string noted = whole_text(gimple_call_arg(mark, 4));
    const size_t end = noted.find('\0');
    if (end == std::string::npos)
        return "";
    std::string text;
    for (const Result& r : loops[std::stoul(noted.substr(end + 1))]) {
        std::string place;
        if (!r.type.empty() && r.is_static && addresses.size() < WS_SITE_ADDRESSES) {
            place = "&" + std::to_string(addresses.size());
            addresses.push_back(fold_build2(POINTER_PLUS_EXPR, ptr_type_node,
                                            fold_convert(ptr_type_node, build_fold_addr_expr(r.variable)),
                                            size_int(r.offset)));
        } else if (!r.type.empty() && !r.is_static)
            place = place_in(r, data);
        text += (text.empty() ? "" : " ") + r.name + "=" + (place.empty() ? "?" : r.type + "@" + place);
    }
    return text;
}

} // namespace ws_gcc
