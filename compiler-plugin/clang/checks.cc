// SPDX-License-Identifier: MIT
//
// What the grammar cannot see and clang's OpenMP front end does not check, looked up in the tree of the whole file
// just before clang finishes its code: so templates are checked as instantiated.
#include "ws_clang.h"

#include <set>

namespace ws_clang {

namespace {

using namespace clang;

class Checks : public RecursiveASTVisitor<Checks> {
public:
    explicit Checks(CompilerInstance &compiler)
        : context_(compiler.getASTContext()), sources_(compiler.getSourceManager()),
          diagnostics_(compiler.getDiagnostics()) {}

    bool shouldVisitTemplateInstantiations() const { return true; }
    bool shouldVisitImplicitCode() const { return false; }

    // Most of a file has none of our pragmas and is not looked at.
    bool TraverseDecl(Decl *declaration) {
        if (declaration && declaration->getBeginLoc().isValid() && !isa<TranslationUnitDecl>(declaration)
            && !has_pragma_between(sources_, declaration->getBeginLoc(), declaration->getEndLoc()))
            return true;
        return RecursiveASTVisitor::TraverseDecl(declaration);
    }

    bool VisitFunctionDecl(FunctionDecl *function) {
        in_coroutine_ = function->doesThisDeclarationHaveABody() && isa_and_nonnull<CoroutineBodyStmt>(function->getBody());
        return true;
    }

    bool VisitOMPParallelForDirective(OMPParallelForDirective *loop) {
        const CallExpr *mark = mark_of(loop);
        if (!mark)
            return true;
        if (in_coroutine_)
            report(loop->getBeginLoc(), "'#pragma ws for' cannot be used in a coroutine");
        check_chunk(mark->getArg(2), 0);
        check_chunk(mark->getArg(3), 1);
        check_loop(loop);
        return true;
    }

private:
    static const CallExpr *mark_of(const OMPParallelForDirective *loop) {
        const auto *threads = loop->getSingleClause<OMPNumThreadsClause>();
        if (!threads || !threads->getNumThreads())
            return nullptr;
        const auto *call = dyn_cast<CallExpr>(threads->getNumThreads()->IgnoreParenImpCasts());
        const FunctionDecl *function = call ? call->getDirectCallee() : nullptr;
        return function && function->getIdentifier() && function->getName() == ws::mark_function && call->getNumArgs() == 4
                   ? call : nullptr;
    }

    void report(SourceLocation at, const std::string &text) {
        // Each instantiation of a template comes here, and each function that inherits it.
        if (reported_.insert({sources_.getFileLoc(at).getRawEncoding(), text}).second)
            error_about(diagnostics_, at, text);
    }

    // An argument of the mark: a plain number if the clause gave no chunk, else what it gave in parentheses.
    void check_chunk(const Expr *argument, int which) {
        const auto *written = dyn_cast<ParenExpr>(argument->IgnoreImpCasts());
        if (!written)
            return;
        const std::string in_clause = std::string("in the '") + ws::chunk_clauses[which] + "' clause of '#pragma ws for'";
        const Expr *chunk = written->getSubExpr();
        const SourceLocation at = chunk->getExprLoc();
        const auto *comma = dyn_cast<BinaryOperator>(chunk);
        if (comma && comma->getOpcode() == BO_Comma) {
            report(comma->getOperatorLoc(), std::string("the '") + ws::chunk_clauses[which]
                       + "' clause of '#pragma ws for' takes one chunk size");
            return;
        }
        if (chunk->isTypeDependent() || chunk->isValueDependent())
            return;
        if (!chunk->getType()->isIntegralOrUnscopedEnumerationType()) {
            report(at, "the chunk size " + in_clause + " must be an integer");
            return;
        }
        Expr::EvalResult value;
        if (chunk->EvaluateAsInt(value, context_) && value.Val.getInt() <= 0)
            report(at, "the chunk size " + in_clause + " must be positive");
    }

    // ---- the loop must leave its variables, and those its bounds are made of, alone

    struct Written {
        std::set<const ValueDecl *> loop_variables, bounds;
    };

    static const ValueDecl *variable(const Expr *expression) {
        const auto *reference = expression ? dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts()) : nullptr;
        return reference ? reference->getDecl() : nullptr;
    }

    // The plain variables of an expression.
    static void add_variables(const Stmt *expression, std::set<const ValueDecl *> &out) {
        if (!expression)
            return;
        if (const auto *reference = dyn_cast<DeclRefExpr>(expression))
            if (isa<VarDecl>(reference->getDecl()))
                out.insert(reference->getDecl());
        for (const Stmt *child : expression->children())
            add_variables(child, out);
    }

    void check_loop(OMPParallelForDirective *directive) {
        Written written;
        const Stmt *body = directive->getInnermostCapturedStmt()->getCapturedStmt();
        for (unsigned depth = 0; depth < directive->getLoopsNumber(); depth++) {
            body = innermost_for(body);
            const auto *loop = dyn_cast_or_null<ForStmt>(body);
            if (!loop) {
                if (const auto *range = dyn_cast_or_null<CXXForRangeStmt>(body))
                    body = range->getBody();
                continue;
            }
            add_head(loop, written);
            body = loop->getBody();
        }
        for (const ValueDecl *variable : written.loop_variables)
            written.bounds.erase(variable);
        complain_if_written(body, written);
    }

    static const Stmt *innermost_for(const Stmt *statement) {
        while (statement) {
            if (const auto *captured = dyn_cast<CapturedStmt>(statement))
                statement = captured->getCapturedStmt();
            else if (const auto *attributed = dyn_cast<AttributedStmt>(statement))
                statement = attributed->getSubStmt();
            else if (const auto *block = dyn_cast<CompoundStmt>(statement); block && block->size() == 1)
                statement = block->body_front();
            else
                break;
        }
        return statement;
    }

    static void add_head(const ForStmt *loop, Written &written) {
        const ValueDecl *counter = nullptr;
        if (const auto *declaration = dyn_cast_or_null<DeclStmt>(loop->getInit())) {
            const auto *first = declaration->isSingleDecl() ? dyn_cast<VarDecl>(declaration->getSingleDecl()) : nullptr;
            counter = first;
            if (first)
                add_variables(first->getInit(), written.bounds);
        } else if (const auto *assignment = dyn_cast_or_null<BinaryOperator>(loop->getInit())) {
            counter = variable(assignment->getLHS());
            add_variables(assignment->getRHS(), written.bounds);
        }
        if (counter)
            written.loop_variables.insert(counter);
        add_variables(loop->getCond(), written.bounds);
    }

    void complain_if_written(const Stmt *statement, const Written &written) {
        if (!statement)
            return;
        const ValueDecl *changed = nullptr;
        if (const auto *assignment = dyn_cast<BinaryOperator>(statement); assignment && assignment->isAssignmentOp())
            changed = variable(assignment->getLHS());
        else if (const auto *step = dyn_cast<UnaryOperator>(statement); step && step->isIncrementDecrementOp())
            changed = variable(step->getSubExpr());
        else if (const auto *call = dyn_cast<CXXOperatorCallExpr>(statement);
                 call && (call->isAssignmentOp() || call->getOperator() == OO_PlusPlus || call->getOperator() == OO_MinusMinus))
            changed = variable(call->getArg(0));
        if (changed) {
            const auto *expression = cast<Expr>(statement);
            const std::string name = "'" + changed->getNameAsString() + "'";
            if (written.loop_variables.count(changed))
                report(expression->getExprLoc(), "the loop changes its variable " + name + ", in '#pragma ws for'");
            else if (written.bounds.count(changed))
                report(expression->getExprLoc(), "the loop changes " + name
                           + ", on which its number of iterations depends, in '#pragma ws for'");
        }
        for (const Stmt *child : statement->children())
            complain_if_written(child, written);
        if (const auto *lambda = dyn_cast<LambdaExpr>(statement))
            complain_if_written(lambda->getBody(), written);
    }

    ASTContext &context_;
    SourceManager &sources_;
    DiagnosticsEngine &diagnostics_;
    std::set<std::pair<unsigned, std::string>> reported_;
    bool in_coroutine_ = false;
};

}  // namespace

void check_file(CompilerInstance &compiler) { Checks(compiler).TraverseDecl(compiler.getASTContext().getTranslationUnitDecl()); }

}  // namespace ws_clang
