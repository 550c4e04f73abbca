// SPDX-License-Identifier: MIT
//
// The plugin in gfortran's f951. `mpifort -fws` has rewritten the source (../fortran): our directives arrive as
// OpenMP's, and comments at its head (../fortran/marks.h) tell which they are. A pass before GCC lowers OpenMP brings
// them into the form that C's have, so
//
//     #pragma omp parallel num_threads(steal) proc_bind(close)
//       #pragma omp for schedule(dynamic,chunk)
//
// becomes
//
//     t = __ws_mark (-, KINDS, (long) chunk, (long) steal, name);
//     #pragma omp parallel num_threads(t)
//       #pragma omp for schedule(dynamic,1)
//
// Everything after that is one for all languages.
#include "ws_gcc.h"

#include "../clauses/messages.h"
#include "../fortran/marks.h"
#include "../../runtime/abi/abi.h"

#include "context.h"
#include "fold-const.h"
#include "gimple.h"
#include "gimple-iterator.h"
#include "gimple-walk.h"
#include "langhooks.h"
#include "opts.h"
#include "options.h"
#include "tree-pass.h"

#include <cstdio>

namespace ws_gcc {

namespace {

// A directive in the source: where it ends, what it is.
struct WrittenDirective {
    int last_line;
    std::string name; // "!$ws do"; empty: not ours
    HOST_WIDE_INT kinds;
    ws::DirectiveKind kind;
    std::string loop_name; // of a name clause
};

std::map<std::string, std::map<int, WrittenDirective>> directives; // file, first line
std::vector<WrittenDirective> in_order; // of the marks

const WrittenDirective* directive_above(const char* file, int line)
{
    auto in_file = directives.find(file ? file : "");
    if (in_file == directives.end())
        return nullptr;
    auto next = in_file->second.upper_bound(line);
    return next == in_file->second.begin() ? nullptr : &std::prev(next)->second;
}

// The directive of this kind that stands at the place of a construct.
const WrittenDirective* directive_at(location_t at, ws::DirectiveKind kind)
{
    const expanded_location place = expand_location(LOCATION_LOCUS(at));
    const WrittenDirective* found = directive_above(place.file, place.line);
    return found && found->kind == kind && place.line <= found->last_line ? found : nullptr;
}

// Decodes pairs of hexadecimal digits, up to the first character that is none.
std::string from_hexadecimal(const char* digits)
{
    std::string text;
    // sscanf alone skips blanks
    for (unsigned byte; ISXDIGIT(digits[0]) && sscanf(digits, "%2x", &byte) == 1; digits += 2)
        text += char(byte);
    return text;
}

// Whether the source was rewritten.
bool read_marks(const char* path)
{
    using ws::DirectiveKind;
    static const std::map<std::string, DirectiveKind> kinds = {{"loop", DirectiveKind::loop},
                                                               {"sections", DirectiveKind::sections},
                                                               {"section", DirectiveKind::section},
                                                               {"atomic", DirectiveKind::atomic},
                                                               {"critical", DirectiveKind::critical},
                                                               {"task", DirectiveKind::task},
                                                               {"taskloop", DirectiveKind::taskloop},
                                                               {"taskgroup", DirectiveKind::taskgroup},
                                                               {"taskwait", DirectiveKind::taskwait}};
    FILE* source = fopen(path, "r");
    if (!source)
        return false;
    char* line = nullptr;
    size_t size = 0;
    bool found = false;
    for (int number = 0; getline(&line, &size, source) > 0; number++) {
        char word[16];
        int first, last, site_kinds, coded = 0, name = 0;
        if (number < 2)
            continue;
        if (!startswith(line, ws::fortran_mark) ||
            sscanf(line + strlen(ws::fortran_mark), "%15s %d %d %d %n%*s %n", word, &first, &last, &site_kinds, &coded,
                   &name) < 4 ||
            !name)
            break;
        std::string file = line + strlen(ws::fortran_mark) + name;
        if (!file.empty() && file.back() == '\n')
            file.pop_back();
        found = true;
        auto known = kinds.find(word);
        const DirectiveKind kind = known == kinds.end() ? DirectiveKind::none : known->second;
        const bool ours = strcmp(word, "omp") != 0;
        in_order.push_back({last, ours ? ws::full_name(kind, ws::fortran_language) : "", site_kinds, kind,
                            from_hexadecimal(line + strlen(ws::fortran_mark) + coded)});
        directives[file][first] = in_order.back();
        if (kind == DirectiveKind::atomic)
            note_atomic(file, last);
    }
    free(line);
    fclose(source);
    return found;
}

// gfortran speaks of what the directives have become.
constexpr const char* words[][2] = {
    {"NUM_THREADS", "'steal_schedule'"},
    {"SCHEDULE clause's chunk_size", "the chunk size in the 'schedule' clause"},
    {"!$OMP END PARALLEL DO SIMD", "!$ws end do simd"},
    {"!$OMP PARALLEL DO SIMD", "!$ws do simd"},
    {"!$OMP END PARALLEL DO", "!$ws end do"},
    {"!$OMP PARALLEL DO", "!$ws do"},
    {"!$OMP DO", "!$ws do"},
    {"!$OMP END PARALLEL SECTIONS", "!$ws end sections"},
    {"!$OMP PARALLEL SECTIONS", "!$ws sections"},
    {"!$OMP SECTIONS", "!$ws sections"},
    {"!$OMP SECTION", "!$ws section"},
    {"!$OMP END ATOMIC", "!$ws end atomic"},
    {"!$OMP ATOMIC", "!$ws atomic"},
    {"!$OMP END CRITICAL", "!$ws end critical"},
    {"!$OMP CRITICAL", "!$ws critical"},
    {"!$OMP DECLARE REDUCTION", "!$ws declare reduction"},
    {"OpenMP directives other than SIMD or DECLARE TARGET", "ws directives"},
    {"!$OMP END TASKLOOP", "!$ws end taskloop"},
    {"!$OMP TASKLOOP", "!$ws taskloop"},
    {"!$OMP END TASKGROUP", "!$ws end taskgroup"},
    {"!$OMP TASKGROUP", "!$ws taskgroup"},
    {"!$OMP TASKWAIT", "!$ws taskwait"},
    {"!$OMP END TASK", "!$ws end task"},
    {"!$OMP TASK", "!$ws task"},
    {"!$OMP", "!$ws"},
    {"!$omp", "!$ws"},
    {"OpenMP", "ws"},
};

// What GCC says of all languages' constructs (msgids).
constexpr const char* about_jumps[][2] = {
    {"OpenMP constructs other than %<ordered simd%>, %<simd%>, %<loop%> or %<atomic%> may not be nested inside "
     "%<simd%> region",
     "it is not allowed in a simd loop"},
    {"invalid branch to/from %s structured block", "the construct must not be left or entered by a jump"},
    {"invalid exit from %s structured block", "the construct must not be left by a jump"},
    {"invalid entry to %s structured block", "the construct must not be entered by a jump"},
};

Starter starter_before_fortran;
void (*next_parse_file)();

void in_our_words(Output output, Diagnostic* diagnostic)
{
    const expanded_location place = diagnostic_expand_location(diagnostic);
    const WrittenDirective* written = directive_above(place.file, place.line);
    MessageText message(printer_of(output));
    const bool ours = written ? !written->name.empty() : !users_openmp();
    if (ours && message.size() > 0) {
        bool names_ws = false;
        for (size_t part = 0; part < message.size(); part++) {
            std::string text = message.part(part);
            bool changed = false;
            for (const auto& word : words)
                for (size_t at = 0; (at = text.find(word[0], at)) != std::string::npos; at += strlen(word[1])) {
                    text.replace(at, strlen(word[0]), localized_quotes(word[1]));
                    changed = true;
                }
            // "not specified in enclosing 'parallel'"
            if (part > 0 && message.part(part - 1).find("enclosing ") != std::string::npos &&
                text.find("parallel") != std::string::npos) {
                text.replace(text.find("parallel"), strlen("parallel"), "!$ws do");
                changed = true;
            }
            if (changed)
                message.set(part, text);
            names_ws |= text.find("ws") != std::string::npos;
        }
        const bool at_directive = written && place.line <= written->last_line;
        // What stands in the place of a loop.
        const bool not_a_loop = written && written->kind == ws::DirectiveKind::loop &&
                                place.line == written->last_line + 1 &&
                                startswith(message.part(0).c_str(), "Unexpected ");
        bool jump = false;
        for (const auto& known : about_jumps)
            if (strcmp(message_id(*diagnostic), _(known[0])) == 0) {
                message.replace(known[1]);
                jump = true;
                names_ws = false;
            }
        const bool about_it = at_directive || not_a_loop || jump;
        if (written && about_it && !names_ws && !is_note(*diagnostic))
            message.prepend(localized_quotes("in '" + written->name + "': "));
    }
    starter_before_fortran(output, diagnostic);
}

// The clause of that kind in the chain that starts at *from, and the link that points to it.
tree* find_clause(tree* from, omp_clause_code code)
{
    while (*from && OMP_CLAUSE_CODE(*from) != code)
        from = &OMP_CLAUSE_CHAIN(*from);
    return from;
}

// Statements before a construct, with their variables: around a region that is nested in another these must be declared
// inside that one, in a bind.
class Preparation {
public:
    explicit Preparation(location_t at) : at_(at) {}

    tree variable(tree type)
    {
        tree made = create_tmp_var_raw(type);
        DECL_CONTEXT(made) = current_function_decl;
        DECL_SEEN_IN_BIND_EXPR_P(made) = 1;
        DECL_CHAIN(made) = variables_;
        variables_ = made;
        return made;
    }
    void add(gimple* statement)
    {
        gimple_set_location(statement, at_);
        gimple_seq_add_stmt(&statements_, statement);
    }
    // A chunk as the runtime wants it; 0: none.
    tree chunk(tree value, const char* clause)
    {
        if (!value)
            return build_zero_cst(long_integer_type_node);
        if (TREE_CODE(value) == INTEGER_CST) {
            if (tree_int_cst_sgn(value) <= 0)
                error_about(at_, ws::about_chunk(clause, "must be positive", ws::fortran_language));
            return fold_convert(long_integer_type_node, value);
        }
        tree result = variable(long_integer_type_node);
        add(gimple_build_assign(result, NOP_EXPR, value));
        return result;
    }
    // The expression of an if clause, null if there is none.
    tree condition(tree value)
    {
        if (!value)
            return integer_one_node;
        if (TREE_CODE(value) == INTEGER_CST)
            return integer_zerop(value) ? integer_zero_node : integer_one_node;
        tree result = variable(integer_type_node);
        add(gimple_build_assign(result, NOP_EXPR, value));
        return result;
    }
    // Puts them and the construct in the construct's place.
    void wrap(gimple_stmt_iterator* place)
    {
        gimple* construct = gsi_stmt(*place);
        gbind* bind = gimple_build_bind(variables_, statements_, NULL_TREE);
        gsi_replace(place, bind, false);
        gimple_bind_add_stmt(bind, construct);
    }

private:
    location_t at_;
    tree variables_ = NULL_TREE;
    gimple_seq statements_ = nullptr;
};

// The value of the chunk outside the parallel region: gimplification has made a copy inside.
tree chunk_outside(gomp_parallel* parallel, gimple_stmt_iterator loop, tree chunk)
{
    for (gsi_prev(&loop); !gsi_end_p(loop); gsi_prev(&loop)) {
        gimple* statement = gsi_stmt(loop);
        if (!gimple_assign_single_p(statement) || gimple_assign_lhs(statement) != chunk)
            continue;
        tree outer = gimple_assign_rhs1(statement);
        gsi_remove(&loop, true); // nothing may stand between the two in a combined construct
        // Its sharing goes with its last use.
        tree clauses = gimple_omp_parallel_clauses(parallel);
        for (tree* link = &clauses; *link;)
            if ((OMP_CLAUSE_CODE(*link) == OMP_CLAUSE_SHARED || OMP_CLAUSE_CODE(*link) == OMP_CLAUSE_FIRSTPRIVATE) &&
                OMP_CLAUSE_DECL(*link) == outer)
                *link = OMP_CLAUSE_CHAIN(*link);
            else
                link = &OMP_CLAUSE_CHAIN(*link);
        gimple_omp_parallel_set_clauses(parallel, clauses);
        return outer;
    }
    return chunk;
}

// The owner's chunk as the loop has it, which then has 1.
tree take_chunk(gomp_parallel* parallel, gomp_for* loop, gimple_stmt_iterator loop_at)
{
    tree loop_clauses = gimple_omp_for_clauses(loop);
    tree schedule = *find_clause(&loop_clauses, OMP_CLAUSE_SCHEDULE);
    tree chunk = schedule ? OMP_CLAUSE_SCHEDULE_CHUNK_EXPR(schedule) : NULL_TREE;
    if (schedule && chunk && !is_gimple_min_invariant(chunk))
        chunk = chunk_outside(parallel, loop_at, chunk);
    if (schedule)
        OMP_CLAUSE_SCHEDULE_CHUNK_EXPR(schedule) = integer_one_node;
    return chunk;
}

void mark_construct(gimple_stmt_iterator* at, gomp_parallel* parallel, const WrittenDirective& directive)
{
    gimple_stmt_iterator loop_at;
    tree chunk = integer_one_node; // of sections
    if (directive.kind == ws::DirectiveKind::loop) {
        gomp_for* loop = first_loop(gimple_omp_body_ptr(parallel), &loop_at);
        if (!loop)
            return;
        chunk = take_chunk(parallel, loop, loop_at);
    }
    const location_t where = gimple_location(parallel);
    tree clauses = gimple_omp_parallel_clauses(parallel);
    tree* bind = find_clause(&clauses, OMP_CLAUSE_PROC_BIND);
    *bind = OMP_CLAUSE_CHAIN(*bind);
    tree* link = find_clause(&clauses, OMP_CLAUSE_IF);
    tree condition = *link ? OMP_CLAUSE_IF_EXPR(*link) : NULL_TREE;
    if (*link)
        *link = OMP_CLAUSE_CHAIN(*link);
    tree threads = *find_clause(&clauses, OMP_CLAUSE_NUM_THREADS);
    tree steal = threads ? OMP_CLAUSE_NUM_THREADS_EXPR(threads) : NULL_TREE;
    if (!threads) {
        threads = build_omp_clause(where, OMP_CLAUSE_NUM_THREADS);
        OMP_CLAUSE_CHAIN(threads) = clauses;
        clauses = threads;
    }

    if (!(directive.kinds & WS_SITE_CHUNK))
        chunk = NULL_TREE;
    Preparation before(where);
    tree owner_chunk = before.chunk(chunk, ws::chunk_clauses[0]);
    tree steal_chunk = before.chunk(steal, ws::chunk_clauses[1]);
    gcall* mark =
        build_mark(directive.kinds, owner_chunk, steal_chunk, directive.loop_name, before.condition(condition));
    tree marked = before.variable(integer_type_node);
    gimple_call_set_lhs(mark, marked);
    before.add(mark);
    OMP_CLAUSE_NUM_THREADS_EXPR(threads) = marked;
    gimple_omp_parallel_set_clauses(parallel, clauses);
    before.wrap(at);
}

// A task or a taskloop whose priority says that it is ours: as in C, its if clause is the mark.
// It stands at `at`, a taskloop's in the loop that stands there.
void mark_task(gimple_stmt_iterator* at, gomp_task* task)
{
    tree clauses = gimple_omp_task_clauses(task);
    tree* priority = find_clause(&clauses, OMP_CLAUSE_PRIORITY);
    tree value = *priority ? OMP_CLAUSE_PRIORITY_EXPR(*priority) : NULL_TREE;
    if (!value || TREE_CODE(value) != INTEGER_CST)
        return;
    const HOST_WIDE_INT number = tree_to_shwi(value) - ws::fortran_task_priority;
    if (number < 0 || size_t(number) >= in_order.size() || !ws::is_of_tasks(in_order[size_t(number)].kind))
        return;
    *priority = OMP_CLAUSE_CHAIN(*priority);
    const location_t where = gimple_location(task);
    tree* link = find_clause(&clauses, OMP_CLAUSE_IF);
    tree condition = *link ? OMP_CLAUSE_IF_EXPR(*link) : NULL_TREE;
    if (!*link) {
        *link = build_omp_clause(where, OMP_CLAUSE_IF);
        OMP_CLAUSE_IF_MODIFIER(*link) = ERROR_MARK;
    }
    const WrittenDirective& directive = in_order[size_t(number)];
    Preparation before(where);
    gcall* mark = build_mark(directive.kinds, build_zero_cst(long_integer_type_node),
                             build_zero_cst(long_integer_type_node), directive.loop_name, before.condition(condition));
    tree marked = before.variable(integer_type_node), may_wait = before.variable(boolean_type_node);
    gimple_call_set_lhs(mark, marked);
    before.add(mark);
    before.add(gimple_build_assign(may_wait, NE_EXPR, marked, integer_zero_node));
    OMP_CLAUSE_IF_EXPR(*link) = may_wait;
    gimple_omp_task_set_clauses(task, clauses);
    before.wrap(at);
}

// The task of a taskloop, by the outer one of its two loops; null if it is another loop.
gomp_task* task_of(gomp_for* loop)
{
    if (gimple_omp_for_kind(loop) != GF_OMP_FOR_KIND_TASKLOOP)
        return nullptr;
    for (auto at = gsi_start(*gimple_omp_body_ptr(loop)); !gsi_end_p(at); gsi_next(&at)) {
        gimple* statement = gsi_stmt(at);
        if (gbind* bind = dyn_cast<gbind*>(statement))
            statement = gimple_seq_first_stmt(gimple_bind_body(bind));
        if (gomp_task* task = statement ? dyn_cast<gomp_task*>(statement) : nullptr)
            return task;
    }
    return nullptr;
}

void name_critical(gomp_critical* critical)
{
    tree name = gimple_omp_critical_name(critical);
    if (name && startswith(IDENTIFIER_POINTER(name), ws::fortran_critical))
        gimple_omp_critical_set_name(critical, get_identifier((std::string("__") + IDENTIFIER_POINTER(name)).c_str()));
}

using Places = std::vector<gimple_stmt_iterator>;

tree collect(gimple_stmt_iterator* at, bool*, walk_stmt_info* info)
{
    gimple* statement = gsi_stmt(*at);
    gomp_task* task = dyn_cast<gomp_task*>(statement);
    gomp_for* loop = dyn_cast<gomp_for*>(statement);
    if (gimple_code(statement) == GIMPLE_OMP_PARALLEL || gimple_code(statement) == GIMPLE_OMP_CRITICAL ||
        (task && !gimple_omp_task_taskloop_p(task)) || (loop && task_of(loop)))
        static_cast<Places*>(info->info)->push_back(*at);
    return NULL_TREE;
}

void take_over(gimple_stmt_iterator* at)
{
    gimple* statement = gsi_stmt(*at);
    if (gomp_critical* critical = dyn_cast<gomp_critical*>(statement)) {
        name_critical(critical);
        return;
    }
    gomp_for* loop = dyn_cast<gomp_for*>(statement);
    if (gomp_task* task = loop ? task_of(loop) : dyn_cast<gomp_task*>(statement)) {
        mark_task(at, task);
        return;
    }
    gomp_parallel* parallel = as_a<gomp_parallel*>(statement);
    // By the clause, as the construct's place may be changed: to that of an `if` around it whose outcome is known.
    tree clauses = gimple_omp_parallel_clauses(parallel);
    tree bind = *find_clause(&clauses, OMP_CLAUSE_PROC_BIND);
    if (!bind)
        return;
    for (ws::DirectiveKind kind : {ws::DirectiveKind::loop, ws::DirectiveKind::sections})
        if (const WrittenDirective* directive = directive_at(OMP_CLAUSE_LOCATION(bind), kind)) {
            gimple_set_location(parallel, OMP_CLAUSE_LOCATION(bind));
            mark_construct(at, parallel, *directive);
            return;
        }
}

const pass_data fortran_data = {GIMPLE_PASS, "ws_fortran", OPTGROUP_NONE, TV_NONE, PROP_gimple_any, 0, 0, 0, 0};

class FortranPass : public gimple_opt_pass {
public:
    explicit FortranPass(gcc::context* context) : gimple_opt_pass(fortran_data, context) {}

    unsigned execute(function* fn) final override
    {
        gimple_seq body = gimple_body(fn->decl);
        walk_stmt_info info;
        memset(&info, 0, sizeof info);
        Places places;
        info.info = &places;
        walk_gimple_seq_mod(&body, collect, nullptr, &info);
        for (size_t i = places.size(); i-- > 0;) // inner ones first
            take_over(&places[i]);
        gimple_set_body(fn->decl, body);
        return 0;
    }
};

} // namespace

void take_over_fortran_diagnostics()
{
    starter_before_fortran = starter_of_diagnostics();
    starter_of_diagnostics() = in_our_words;
    // gfortran sets its own again at the end of parsing; what later passes say needs ours, too.
    next_parse_file = lang_hooks.parse_file;
    lang_hooks.parse_file = [] {
        next_parse_file();
        starter_before_fortran = starter_of_diagnostics();
        starter_of_diagnostics() = in_our_words;
    };
}

bool is_written(ws::DirectiveKind kind, location_t at) { return directive_at(at, kind); }

bool read_rewritten_fortran() { return num_in_fnames > 0 && read_marks(in_fnames[0]); }

void register_fortran_pass(const char* plugin_name)
{
    register_pass_info info = {new FortranPass(g), "omplower", 1, PASS_POS_INSERT_BEFORE};
    register_callback(plugin_name, PLUGIN_PASS_MANAGER_SETUP, nullptr, &info);
}

} // namespace ws_gcc
