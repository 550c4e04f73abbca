// SPDX-License-Identifier: MIT
//
// Calls of MPI in a shared loop, also in the functions of this file that the loop calls: what MPI does not let several
// threads do is refused.
#include "front.h"
#include "visitor.h"

#include "../clauses/mpi_calls.h"

#include <set>

namespace ws_clang {

namespace {

using namespace clang;

class Calls : public Visitor {
public:
    Calls(ASTContext& context, CallReports& reports) : context_(context), reports_(reports) {}

    bool shouldVisitImplicitCode() const override { return true; }

    void loop(const OMPExecutableDirective* directive)
    {
        loop_ = directive->getBeginLoc();
        sections_ = isa<OMPParallelSectionsDirective>(directive);
        in_loop_ = true;
        TraverseStmt(const_cast<Stmt*>(directive->getInnermostCapturedStmt()->getCapturedStmt()));
        in_loop_ = false;
        while (!todo_.empty()) {
            const FunctionDecl* function = todo_.back();
            todo_.pop_back();
            if (const Stmt* body = function->getBody())
                TraverseStmt(const_cast<Stmt*>(body));
        }
    }

    bool VisitCallExpr(CallExpr* call) override
    {
        if (const FunctionDecl* function = call->getDirectCallee()) {
            look(function, call);
            follow(function);
        }
        return true;
    }
    bool VisitCXXConstructExpr(CXXConstructExpr* construction) override
    {
        follow(construction->getConstructor());
        return true;
    }
    // A function that is named is taken for one that is called.
    bool VisitDeclRefExpr(DeclRefExpr* reference) override
    {
        if (const auto* function = dyn_cast<FunctionDecl>(reference->getDecl()))
            follow(function);
        return true;
    }

private:
    void follow(const FunctionDecl* function)
    {
        const FunctionDecl* definition = nullptr;
        if (function->isDefined(definition) && !definition->isDependentContext() &&
            reports_.seen.insert(definition->getCanonicalDecl()).second)
            todo_.push_back(definition);
    }

    // Whether a file is opened for all ranks, as far as can be seen.
    bool opens_for_all(const CallExpr* call) const
    {
        constexpr unsigned mpi_comm_world = 0x44000000; // MPICH's
        Expr::EvalResult value;
        return call->getNumArgs() > 0 && !call->getArg(0)->isValueDependent() &&
               call->getArg(0)->getType()->isIntegralOrEnumerationType() &&
               call->getArg(0)->EvaluateAsInt(value, context_) &&
               value.Val.getInt().extOrTrunc(32).getZExtValue() == mpi_comm_world;
    }

    void look(const FunctionDecl* function, const CallExpr* call)
    {
        if (!function->getIdentifier() || !(function->isExternC() || !context_.getLangOpts().CPlusPlus))
            return;
        const std::string symbol = function->getName().str();
        const ws::MpiCall kind = ws::mpi_call(symbol);
        // A function that ends the program may finalize MPI before.
        if (kind == ws::MpiCall::whole_program && !in_loop_)
            return;
        if (ws::is_refused(kind) || (kind == ws::MpiCall::opens_file && opens_for_all(call)))
            reports_.report(call->getBeginLoc(),
                            "'" + ws::mpi_name(symbol) + "' in a " +
                                (sections_ ? "section of '#pragma ws sections': " : "loop of '#pragma ws for': ") +
                                ws::why_refused(kind),
                            in_loop_ ? SourceLocation() : loop_);
    }

    ASTContext& context_;
    CallReports& reports_;
    std::vector<const FunctionDecl*> todo_;
    SourceLocation loop_;
    bool in_loop_ = false, sections_ = false;
};

} // namespace

void check_calls(ASTContext& context, const OMPExecutableDirective* loop, CallReports& reports)
{
    Calls(context, reports).loop(loop);
}

} // namespace ws_clang
