// SPDX-License-Identifier: MIT
//
// What a piece of code does, itself and through the functions of this file that it calls: which functions, variables
// and OpenMP constructs. A function's body is read in whatever form it has by then.
#include "ws_gcc.h"

#include "cgraph.h"
#include "gimple-walk.h"
#include "tree-cfg.h"

namespace ws_gcc {

namespace {

class Walk {
public:
    Walk(const std::function<void(const Found&)>& report, std::set<unsigned>* seen)
        : report_(report), seen_(seen ? *seen : own_seen_)
    {}

    void sequence(gimple_seq body)
    {
        walk_stmt_info info;
        memset(&info, 0, sizeof info);
        info.info = this;
        walk_gimple_seq(body, on_statement, on_operand, &info);
    }

    void function(tree decl)
    {
        if (cgraph_node* node = cgraph_node::get(decl)) {
            if (node->alias)
                node = node->ultimate_alias_target();
            if (node->thunk)
                for (cgraph_edge* edge = node->callees; edge; edge = edge->next_callee)
                    follow(edge->callee->decl);
            decl = node->decl;
        }
        current_ = decl;
        struct function* fn = DECL_STRUCT_FUNCTION(decl);
        if (fn && fn->cfg) {
            basic_block block;
            walk_stmt_info info;
            memset(&info, 0, sizeof info);
            info.info = this;
            FOR_EACH_BB_FN(block, fn)
                for (auto at = gsi_start_bb(block); !gsi_end_p(at); gsi_next(&at))
                    walk_gimple_stmt(&at, on_statement, on_operand, &info);
        } else if (gimple_seq body = gimple_body(decl)) {
            sequence(body);
        } else if (DECL_SAVED_TREE(decl) && DECL_SAVED_TREE(decl) != error_mark_node) {
            walk_tree_without_duplicates(&DECL_SAVED_TREE(decl), on_tree, this);
        }
    }

    // The functions that were called or named, each once.
    void rest()
    {
        for (size_t i = 0; i < todo_.size(); i++)
            function(todo_[i]);
    }

private:
    void found(Found::FoundKind kind, tree decl, location_t at, const char* construct = nullptr,
               gimple* statement = nullptr)
    {
        report_({kind, decl, at, current_, construct, statement});
    }

    void follow(tree decl)
    {
        if (seen_.insert(DECL_UID(decl)).second)
            todo_.push_back(decl);
    }

    void call(tree callee, location_t at, gimple* statement = nullptr)
    {
        found(callee ? Found::call : Found::indirect_call, callee, at, nullptr, statement);
        if (callee)
            follow(callee);
    }

    // Operands that are not called here. A function that is only named counts as called.
    void mention(tree node, location_t at)
    {
        if ((VAR_P(node) && is_global_var(node)) ||
            ((VAR_P(node) || TREE_CODE(node) == PARM_DECL || TREE_CODE(node) == FIELD_DECL) && shares_openmp_loops() &&
             holds_thread_count(node)))
            found(Found::variable, node, at);
        else if (TREE_CODE(node) == FUNCTION_DECL) {
            found(Found::function, node, at);
            follow(node);
        }
    }

    static tree on_statement(gimple_stmt_iterator* at, bool*, walk_stmt_info* info)
    {
        auto* self = static_cast<Walk*>(info->info);
        gimple* statement = gsi_stmt(*at);
        if (gcall* call = dyn_cast<gcall*>(statement)) {
            if (!gimple_call_internal_p(call))
                self->call(gimple_call_fndecl(call), gimple_location(call), call);
        } else if (const char* name = construct_name(statement)) {
            self->found(Found::construct, NULL_TREE, gimple_location(statement), name);
        }
        return NULL_TREE;
    }

    static const char* construct_name(gimple* statement)
    {
        switch (gimple_code(statement)) {
        case GIMPLE_OMP_PARALLEL: return "parallel";
        case GIMPLE_OMP_TASK: return "task";
        case GIMPLE_OMP_TARGET: return "target";
        case GIMPLE_OMP_TEAMS: return "teams";
        case GIMPLE_OMP_FOR: return gimple_omp_for_kind(statement) == GF_OMP_FOR_KIND_SIMD ? "simd" : "for";
        case GIMPLE_OMP_MASTER: return "master";
        case GIMPLE_OMP_MASKED: return "masked";
        case GIMPLE_OMP_TASKGROUP: return "taskgroup";
        case GIMPLE_OMP_ORDERED: return "ordered";
        case GIMPLE_OMP_SCAN: return "scan";
        case GIMPLE_OMP_SCOPE: return "scope";
        case GIMPLE_OMP_SECTIONS: return "sections";
        case GIMPLE_OMP_SINGLE: return "single";
        case GIMPLE_OMP_CRITICAL: return "critical";
        case GIMPLE_OMP_ATOMIC_LOAD: return "atomic";
        default: return nullptr;
        }
    }

    static tree on_operand(tree* node, int* walk_subtrees, void* data)
    {
        auto* info = static_cast<walk_stmt_info*>(data);
        if (TYPE_P(*node))
            *walk_subtrees = 0;
        else if (TREE_CODE(*node) == FUNCTION_DECL && info->stmt && is_gimple_call(info->stmt) &&
                 *node == gimple_call_fndecl(info->stmt))
            return NULL_TREE;
        else
            static_cast<Walk*>(info->info)->mention(*node, info->stmt ? gimple_location(info->stmt) : UNKNOWN_LOCATION);
        return NULL_TREE;
    }

    static tree on_tree(tree* node, int* walk_subtrees, void* data)
    {
        auto* self = static_cast<Walk*>(data);
        const char* name = nullptr;
        switch (TREE_CODE(*node)) {
        case CALL_EXPR:
            if (CALL_EXPR_FN(*node))
                self->call(get_callee_fndecl(*node), EXPR_LOCATION(*node));
            break;
        case OMP_PARALLEL: name = "parallel"; break;
        case OMP_TASK: name = "task"; break;
        case OMP_FOR: name = "for"; break;
        case OMP_MASTER: name = "master"; break;
        case OMP_SINGLE: name = "single"; break;
        case OMP_SECTIONS: name = "sections"; break;
        case OMP_ORDERED: name = "ordered"; break;
        default:
            if (TYPE_P(*node))
                *walk_subtrees = 0;
            else
                self->mention(*node, self->place_);
        }
        if (EXPR_P(*node) && EXPR_HAS_LOCATION(*node))
            self->place_ = EXPR_LOCATION(*node);
        if (name)
            self->found(Found::construct, NULL_TREE, EXPR_LOCATION(*node), name);
        return NULL_TREE;
    }

    const std::function<void(const Found&)>& report_;
    std::set<unsigned> own_seen_, &seen_;
    std::vector<tree> todo_;
    tree current_ = NULL_TREE;
    location_t place_ = UNKNOWN_LOCATION;
};

} // namespace

void look_through(gimple_seq body, const std::function<void(const Found&)>& report, std::set<unsigned>* seen)
{
    Walk walk(report, seen);
    walk.sequence(body);
    walk.rest();
}

void look_through_function(tree function, const std::function<void(const Found&)>& report, std::set<unsigned>* seen)
{
    Walk walk(report, seen);
    walk.function(function);
    walk.rest();
}

} // namespace ws_gcc
