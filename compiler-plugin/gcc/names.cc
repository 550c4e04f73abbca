// SPDX-License-Identifier: MIT
//
// What a loop is called: what its mark says, or where it stands (../clauses/name.h).
#include "ws_gcc.h"

#include "../clauses/name.h"

#include "fold-const.h"
#include "langhooks.h"

// libiberty's, exported by every GCC front end.
extern "C" char* cplus_demangle_v3(const char* mangled, int options);

namespace ws_gcc {

namespace {

constexpr int no_directive = INT_MAX;

// The user's function: also of one that was outlined of it.
std::string function_name(tree function)
{
    std::string symbol = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
    symbol = symbol.substr(0, symbol.find("._omp_fn"));
    if (const std::string name = readable_name(symbol); !name.empty())
        return name;
    // Not the symbol: Fortran's has the module and more, and C's may be any that the user asked for.
    const std::string name = DECL_NAME(function) ? IDENTIFIER_POINTER(DECL_NAME(function)) : symbol;
    return name.substr(0, name.find('.'));
}

} // namespace

std::string readable_name(const std::string& symbol)
{
    char* readable = cplus_demangle_v3(symbol.c_str(), 0);
    const std::string name = readable ? readable : "";
    free(readable);
    return name;
}

std::string loop_name(gcall* mark, tree function)
{
    static ws::LoopNames names;
    if (const char* given = c_getstr(gimple_call_arg(mark, 4)))
        if (*given)
            return given;
    const location_t at = get_pure_location(gimple_location(mark)); // its range is lost on the way
    const expanded_location place = expand_location(at);
    const HOST_WIDE_INT number = tree_to_shwi(gimple_call_arg(mark, 0));
    return names(place.file ? place.file : "", place.line, function_name(function),
                 number == no_directive ? uint64_t(at) << 32 : uint64_t(number));
}

gcall* build_mark(HOST_WIDE_INT kinds, tree chunk, tree steal_chunk, const std::string& name, tree condition)
{
    tree type =
        build_function_type_list(integer_type_node, integer_type_node, integer_type_node, long_integer_type_node,
                                 long_integer_type_node, const_ptr_type_node, integer_type_node, NULL_TREE);
    return gimple_build_call(build_fn_decl(ws::mark_function, type), 6, build_int_cst(integer_type_node, no_directive),
                             build_int_cst(integer_type_node, kinds), chunk, steal_chunk,
                             build_string_literal(name.size() + 1, name.c_str()), condition);
}

} // namespace ws_gcc
