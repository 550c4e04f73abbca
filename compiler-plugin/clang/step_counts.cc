// SPDX-License-Identifier: MIT
//
// Loops whose last step passes the last value of their variable's type. Clang counts the iterations from START to
// before END as
//
//     (END - (START - STEP + 1)) / STEP    or    (END - START - 1 + STEP) / STEP
//
// in that type, which END + STEP need not fit: `for (int i = 0; i < INT_MAX; i += 2000000000)` has two, and would run
// none. Here it becomes (END - START - 1) / STEP + 1, without a sign: the same number, in the type for any START before
// END. Without the 1 if END belongs to the loop. It must be done before clang generates code, which it does for each
// function as soon as it is read.
#include "front.h"
#include "visitor.h"

namespace ws_clang {

namespace {

using namespace clang;

const BinaryOperator* operation(const Expr* expression, BinaryOperatorKind kind)
{
    const auto* found = dyn_cast<BinaryOperator>(expression->IgnoreParenImpCasts());
    return found && found->getOpcode() == kind ? found : nullptr;
}

bool is_one(const Expr* expression)
{
    const auto* literal = dyn_cast<IntegerLiteral>(expression->IgnoreParenImpCasts());
    return literal && literal->getValue() == 1;
}

// From START to END, which belongs to the loop or does not.
struct Range {
    Expr *end = nullptr, *start = nullptr;
    bool before_end = false;
};

// Clang uses one node for all that is the step, perhaps converted.
Range range_of(const BinaryOperator* count)
{
    const auto is_step = [count](const Expr* expression) {
        return expression->IgnoreParenImpCasts() == count->getRHS()->IgnoreParenImpCasts();
    };
    Range range;
    if (const BinaryOperator* shifted = operation(count->getLHS(), BO_Sub)) { // END - (START - STEP [+ 1])
        const Expr* from = shifted->getRHS();
        if (const BinaryOperator* plus = operation(from, BO_Add); plus && is_one(plus->getRHS())) {
            range.before_end = true;
            from = plus->getLHS();
        }
        if (const BinaryOperator* back = operation(from, BO_Sub); back && is_step(back->getRHS()))
            range.end = shifted->getLHS(), range.start = back->getLHS();
    } else if (const BinaryOperator* rounded = operation(count->getLHS(), BO_Add);
               rounded && is_step(rounded->getRHS())) {
        const Expr* difference = rounded->getLHS(); // END - START [- 1] + STEP
        if (const BinaryOperator* minus = operation(difference, BO_Sub);
            minus && is_one(minus->getRHS()) && operation(minus->getLHS(), BO_Sub)) {
            range.before_end = true;
            difference = minus->getLHS();
        }
        if (const BinaryOperator* all = operation(difference, BO_Sub))
            range.end = all->getLHS(), range.start = all->getRHS();
    }
    return range;
}

class StepCounts : public Visitor {
public:
    explicit StepCounts(ASTContext& context) : context_(context) {}

    bool TraverseDecl(Decl* declaration) override
    {
        const auto* scope = dyn_cast_or_null<DeclContext>(declaration); // templates have counts as instantiated
        if (declaration && declaration->getBeginLoc().isValid() &&
            !has_pragma_between(context_.getSourceManager(), declaration->getBeginLoc(), declaration->getEndLoc()))
            return true;
        return (scope && scope->isDependentContext()) || Visitor::TraverseDecl(declaration);
    }
    bool TraverseLambdaExpr(LambdaExpr* lambda) override
    {
        return lambda->getCallOperator()->isDependentContext() || Visitor::TraverseLambdaExpr(lambda);
    }
    bool VisitOMPParallelForDirective(OMPParallelForDirective* loop) override { return look(loop); }
    bool VisitOMPParallelForSimdDirective(OMPParallelForSimdDirective* loop) override { return look(loop); }

private:
    bool look(OMPLoopDirective* loop)
    {
        const CallExpr* mark = mark_of(loop);
        Expr::EvalResult kinds;
        if (!mark || !mark->getArg(1)->EvaluateAsInt(kinds, context_) ||
            kinds.Val.getInt().getZExtValue() & openmp_loop)
            return true;
        // Computed before the loop, or put in where it is used if it is constant.
        if (auto* computed = dyn_cast_or_null<DeclStmt>(const_cast<Stmt*>(loop->getPreInits())))
            for (Decl* value : computed->decls())
                if (auto* variable = dyn_cast<VarDecl>(value); variable && variable->getInit())
                    count_without_overflow(variable->getInit());
        count_without_overflow(loop->getLastIteration());
        count_without_overflow(loop->getNumIterations());
        return true;
    }

    // In a tree of which some nodes are counts: of collapsed loops there is one each.
    void count_without_overflow(Stmt* tree)
    {
        for (Stmt* child : tree->children())
            if (child)
                count_without_overflow(child);
        auto* count = dyn_cast<BinaryOperator>(tree);
        if (!count || count->getOpcode() != BO_Div || is_one(count->getRHS()) || !count->getType()->isIntegerType())
            return;
        const Range range = range_of(count);
        if (!range.end || !range.end->getType()->isIntegerType() || !range.start->getType()->isIntegerType())
            return;
        const QualType type = count->getType(),
                       whole = context_.getIntTypeForBitwidth(unsigned(context_.getTypeSize(type)), 0);
        Expr* length = binary(BO_Sub, cast(range.end, whole), cast(range.start, whole), whole);
        if (range.before_end)
            length = binary(BO_Sub, length, one(whole), whole);
        Expr* steps = binary(BO_Div, length, cast(count->getRHS(), whole), whole);
        count->setOpcode(BO_Add);
        count->setLHS(cast(steps, type));
        count->setRHS(one(type));
    }

    Expr* cast(Expr* value, QualType to)
    {
        return ImplicitCastExpr::Create(context_, to, CK_IntegralCast, value, nullptr, VK_PRValue, FPOptionsOverride());
    }
    Expr* one(QualType type)
    {
        return IntegerLiteral::Create(context_, llvm::APInt(unsigned(context_.getTypeSize(type)), 1), type,
                                      SourceLocation());
    }
    Expr* binary(BinaryOperatorKind kind, Expr* left, Expr* right, QualType type)
    {
        return BinaryOperator::Create(context_, left, right, kind, type, VK_PRValue, OK_Ordinary, SourceLocation(),
                                      FPOptionsOverride());
    }

    ASTContext& context_;
};

} // namespace

void count_steps(clang::ASTContext& context, clang::DeclGroupRef declarations)
{
    StepCounts counts(context);
    for (clang::Decl* declaration : declarations)
        counts.TraverseDecl(declaration);
}

} // namespace ws_clang
