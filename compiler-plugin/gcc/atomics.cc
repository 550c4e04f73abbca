// SPDX-License-Identifier: MIT
//
// `ws atomic`: a pass before GCC lowers OpenMP. There an atomic is, in every front end's output, a pair with straight
// code between, and each of ours becomes a choice:
//
//     omp_atomic_load (t = *p)                      alone = ws_alone;
//     v = t + x;                                    if (alone) { t = *p; v = t + x; *p = v; }
//     omp_atomic_store (v)                          else       the atomic as it was
//
// ws_alone changes only in calls of libws, so that the optimizers may ask once per chunk. What no instruction can do
// (more than 8 bytes, an alignment below the size) is done under libws's lock, whatever the processor's options:
// objects compiled with others then agree.
#include "ws_gcc.h"

#include "alias.h"
#include "cgraph.h"
#include "context.h"
#include "gimple-predict.h"
#include "gimple-walk.h"
#include "gimplify.h"
#include "ssa.h"
#include "tree-pass.h"

namespace ws_gcc {

namespace {

std::set<std::pair<std::string, int>> noted;

tree alone_flag;
tree lock_function[2]; // ws_atomic_start, ws_atomic_end

// `extern char ws_alone`, in a type of its own: it is no part of anything that the program stores to, and what a loop
// stores must not make it load the flag again.
tree flag_variable()
{
    if (!alone_flag) {
        tree type = build_distinct_type_copy(char_type_node);
        TYPE_ALIAS_SET(type) = new_alias_set();
        alone_flag = build_decl(BUILTINS_LOCATION, VAR_DECL, get_identifier("ws_alone"), type);
        TREE_PUBLIC(alone_flag) = DECL_EXTERNAL(alone_flag) = TREE_USED(alone_flag) = 1;
        DECL_ARTIFICIAL(alone_flag) = 1;
        varpool_node::get_create(alone_flag);
    }
    return alone_flag;
}

gcall* lock_call(bool end)
{
    tree& function = lock_function[end];
    if (!function)
        function = build_fn_decl(end ? "ws_atomic_end" : "ws_atomic_start",
                                 build_function_type(void_type_node, void_list_node));
    return gimple_build_call(function, 0);
}

// In optimized code a temporary of the gimplifier has a single definition; in code that will stand there twice it must
// become a variable.
class Renamer {
public:
    explicit Renamer(gbind* scope) : scope_(scope) {}
    tree operator()(tree name)
    {
        tree& variable = variables_[name];
        if (!variable)
            variable = declare_temporary(scope_, TREE_TYPE(name));
        return variable;
    }
    bool has(tree name) const { return variables_.count(name); }
    const std::map<tree, tree>& all() const { return variables_; }

private:
    gbind* scope_;
    std::map<tree, tree> variables_;
};

tree rename_use(tree* node, int* walk_subtrees, void* data)
{
    auto& renamer = *static_cast<Renamer*>(static_cast<walk_stmt_info*>(data)->info);
    if (TREE_CODE(*node) == SSA_NAME && renamer.has(*node))
        *node = renamer(*node);
    if (TYPE_P(*node))
        *walk_subtrees = 0;
    return NULL_TREE;
}

void rename_uses(gimple* statement, Renamer& renamer)
{
    walk_stmt_info info;
    memset(&info, 0, sizeof info);
    info.info = &renamer;
    walk_gimple_op(statement, rename_use, &info);
}

tree finds_use(tree* node, int*, void* data) { return *node == data ? *node : NULL_TREE; }

bool uses(gimple* statement, tree variable)
{
    for (unsigned i = gimple_has_lhs(statement); i < gimple_num_ops(statement); i++)
        if (walk_tree(gimple_op_ptr(statement, i), finds_use, variable, nullptr))
            return true;
    return false;
}

// A member of a union may be read as another: its plain access must then not be told from those by its type.
bool in_union(tree reference)
{
    for (; handled_component_p(reference); reference = TREE_OPERAND(reference, 0))
        if (TREE_CODE(reference) == COMPONENT_REF && TREE_CODE(TREE_TYPE(TREE_OPERAND(reference, 0))) == UNION_TYPE)
            return true;
    return false;
}

bool may_be_in_union(tree address, gimple_stmt_iterator before)
{
    if (TREE_CODE(address) == ADDR_EXPR)
        return in_union(TREE_OPERAND(address, 0));
    for (gsi_prev(&before); !gsi_end_p(before); gsi_prev(&before)) {
        gimple* statement = gsi_stmt(before);
        if (gimple_code(statement) == GIMPLE_LABEL)
            return false;
        if (is_gimple_assign(statement) && gimple_assign_lhs(statement) == address)
            return gimple_assign_rhs_code(statement) == ADDR_EXPR &&
                   in_union(TREE_OPERAND(gimple_assign_rhs1(statement), 0));
    }
    return false;
}

// One pair: the load, what is between and the store, in one sequence.
class Atomic {
public:
    Atomic(gimple_stmt_iterator at, gbind* scope);
    bool found() const { return store_; }
    void lower();

private:
    gimple* plain_load() const { return gimple_build_assign(loaded_, unshare_expr(memory_)); }
    gimple* plain_store() const { return gimple_build_assign(unshare_expr(memory_), value()); }
    tree value() const { return gimple_omp_atomic_store_val(store_); }
    bool only_reads() const { return value() == loaded_; }
    bool load_is_needed() const;
    void insert_flag();
    void insert_condition(bool then_if, tree yes, tree no);
    void add(gimple* statement);
    void lower_with_lock();
    void lower_with_choice();

    gimple_stmt_iterator at_; // of the load
    gbind* scope_;
    gomp_atomic_load* load_;
    gomp_atomic_store* store_ = nullptr;
    std::vector<gimple*> between_;
    tree loaded_, memory_, flag_ = NULL_TREE;
    bool straight_ = true, fits_;
};

Atomic::Atomic(gimple_stmt_iterator at, gbind* scope)
    : at_(at), scope_(scope), load_(as_a<gomp_atomic_load*>(gsi_stmt(at)))
{
    loaded_ = gimple_omp_atomic_load_lhs(load_);
    for (gsi_next(&at); !gsi_end_p(at); gsi_next(&at)) {
        gimple* statement = gsi_stmt(at);
        if (gimple_code(statement) == GIMPLE_OMP_ATOMIC_STORE) {
            store_ = as_a<gomp_atomic_store*>(statement);
            break;
        }
        straight_ &= is_gimple_assign(statement);
        between_.push_back(statement);
    }
    tree address = gimple_omp_atomic_load_rhs(load_);
    tree type = TREE_TYPE(TREE_TYPE(address));
    const bool has_size = tree_fits_uhwi_p(TYPE_SIZE_UNIT(type));
    const unsigned HOST_WIDE_INT size = has_size ? tree_to_uhwi(TYPE_SIZE_UNIT(type)) : 0;
    fits_ = size > 0 && size <= 8 && pow2p_hwi(size) && TYPE_ALIGN_UNIT(type) >= size;
    tree as = may_be_in_union(address, at_) ? build_pointer_type_for_mode(type, ptr_mode, true) : TREE_TYPE(address);
    memory_ = build2(MEM_REF, type, address, build_int_cst(as, 0));
    TREE_THIS_VOLATILE(memory_) = TREE_SIDE_EFFECTS(memory_) = TYPE_VOLATILE(type);
}

bool Atomic::load_is_needed() const
{
    if (gimple_omp_atomic_need_value_p(load_) || only_reads())
        return true;
    return std::any_of(between_.begin(), between_.end(), [&](gimple* statement) { return uses(statement, loaded_); });
}

void Atomic::add(gimple* statement)
{
    gimple_set_location(statement, gimple_location(load_));
    gsi_insert_before(&at_, statement, GSI_SAME_STMT);
}

void Atomic::insert_flag()
{
    flag_ = declare_temporary(scope_, TREE_TYPE(flag_variable()));
    add(gimple_build_assign(flag_, flag_variable()));
}

void Atomic::insert_condition(bool then_if, tree yes, tree no)
{
    add(gimple_build_cond(then_if ? NE_EXPR : EQ_EXPR, flag_, build_zero_cst(TREE_TYPE(flag_)), yes, no));
}

void Atomic::lower_with_lock()
{
    insert_flag();
    const auto unless_alone = [&](bool end) {
        tree call = create_artificial_label(gimple_location(load_)),
             past = create_artificial_label(gimple_location(load_));
        insert_condition(false, call, past);
        add(gimple_build_label(call));
        add(lock_call(end));
        add(gimple_build_label(past));
    };
    unless_alone(false);
    if (load_is_needed())
        add(plain_load());
    gsi_remove(&at_, true);
    while (gsi_stmt(at_) != store_)
        gsi_next(&at_);
    if (!only_reads())
        add(plain_store());
    unless_alone(true);
    gsi_replace(&at_, gimple_build_nop(), true);
}

void Atomic::lower_with_choice()
{
    Renamer renamer(scope_);
    for (gimple* statement : between_)
        if (TREE_CODE(gimple_assign_lhs(statement)) == SSA_NAME) {
            tree name = gimple_assign_lhs(statement);
            gimple_assign_set_lhs(statement, renamer(name));
        }
    for (gimple* statement : between_)
        rename_uses(statement, renamer);
    if (TREE_CODE(value()) == SSA_NAME && renamer.has(value()))
        gimple_omp_atomic_store_set_val(store_, renamer(value()));

    const location_t where = gimple_location(load_);
    tree plain = create_artificial_label(where), shared = create_artificial_label(where),
         end = create_artificial_label(where);
    insert_flag();
    insert_condition(true, plain, shared);
    add(gimple_build_label(plain));
    if (load_is_needed())
        add(plain_load());
    for (gimple* statement : between_)
        add(gimple_copy(statement));
    if (!only_reads())
        add(plain_store());
    add(gimple_build_goto(end));
    add(gimple_build_label(shared));
    add(gimple_build_predict(PRED_COLD_LABEL, NOT_TAKEN));
    while (gsi_stmt(at_) != store_)
        gsi_next(&at_);
    const auto add_after = [&](gimple* statement) {
        gimple_set_location(statement, where);
        gsi_insert_after(&at_, statement, GSI_NEW_STMT);
    };
    add_after(gimple_build_label(end));
    for (const auto& [name, variable] : renamer.all())
        add_after(gimple_build_assign(name, variable));
}

void Atomic::lower()
{
    if (!fits_)
        lower_with_lock();
    else if (straight_)
        lower_with_choice();
    // Else (Fortran's .and. and .or.) the atomic stays as it is.
}

} // namespace

void register_atomics(const char* plugin_name)
{
    static const ggc_root_tab roots[] = {
        {&alone_flag, 1, sizeof alone_flag, &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
        {&lock_function, 2, sizeof lock_function[0], &gt_ggc_mx_tree_node, &gt_pch_nx_tree_node},
        LAST_GGC_ROOT_TAB};
    register_callback(plugin_name, PLUGIN_REGISTER_GGC_ROOTS, nullptr, const_cast<ggc_root_tab*>(roots));
}

void note_atomic(const std::string& file, int line) { noted.insert({file, line}); }

// An atomic has no mark. In C and C++ it is that of the last directive above it: its place may be its statement's.
bool atomics_lowered() { return alone_flag || lock_function[0]; }

bool is_our_atomic(location_t at)
{
    if (!users_openmp() || shares_openmp_loops())
        return true;
    const expanded_location place = expand_location(LOCATION_LOCUS(at));
    return last_pragma(at) == ws::full_name(ws::DirectiveKind::atomic) ||
           noted.count({place.file ? place.file : "", place.line});
}

void lower_atomic(gimple_stmt_iterator at, gbind* scope)
{
    if (!is_our_atomic(gimple_location(gsi_stmt(at))))
        return;
    Atomic atomic(at, scope);
    if (atomic.found())
        atomic.lower();
}

} // namespace ws_gcc
