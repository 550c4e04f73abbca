// SPDX-License-Identifier: MIT
//
// mpicc -fws=openmp: loops that use the number of threads, as omp_get_max_threads() and omp_get_num_threads() tell it,
// directly or from a variable or member that holds it. Such code is often right for one thread in one way and for
// several in another; guests are none of the threads that it knows. Found in the tree, where variables have names; as
// are collapsed loops whose bounds depend on each other.
#include "front.h"
#include "visitor.h"

#include "../clauses/messages.h"

#include <map>

namespace ws_clang {

namespace {

using namespace clang;

std::map<std::string, std::string> reasons; // by the place in the mark

constexpr const char* questions[] = {"omp_get_max_threads", "omp_get_num_threads"};

bool is_question(const ValueDecl* declaration)
{
    const auto* function = dyn_cast<FunctionDecl>(declaration);
    return function && function->getIdentifier() &&
           std::any_of(std::begin(questions), std::end(questions),
                       [&](const char* name) { return function->getName() == name; });
}

const ValueDecl* canonical(const ValueDecl* declaration) { return cast<ValueDecl>(declaration->getCanonicalDecl()); }

// Where values come from: variables, parameters, members and the results of functions, or what is asked. What they are
// compared with is passed on, too, but not each value computed with them.
class Copies : public Visitor {
public:
    bool shouldVisitImplicitCode() const override { return true; }

    bool TraverseDecl(Decl* declaration) override
    {
        const FunctionDecl* outer = function_;
        if (auto* function = dyn_cast_or_null<FunctionDecl>(declaration))
            function_ = function;
        const bool go_on = Visitor::TraverseDecl(declaration);
        function_ = outer;
        return go_on;
    }
    bool TraverseLambdaExpr(LambdaExpr* lambda) override
    {
        const FunctionDecl* outer = function_;
        function_ = lambda->getCallOperator();
        const bool go_on = Visitor::TraverseLambdaExpr(lambda);
        function_ = outer;
        return go_on;
    }
    bool VisitReturnStmt(ReturnStmt* statement) override
    {
        copy(statement->getRetValue(), function_);
        return true;
    }
    bool VisitCallExpr(CallExpr* call) override
    {
        const FunctionDecl* function = call->getDirectCallee();
        const unsigned object = isa<CXXOperatorCallExpr>(call) && isa_and_nonnull<CXXMethodDecl>(function);
        if (function)
            copy_arguments(llvm::ArrayRef<Expr*>(call->getArgs(), call->getNumArgs()).drop_front(object), function);
        return true;
    }
    bool VisitCXXConstructExpr(CXXConstructExpr* construction) override
    {
        copy_arguments(llvm::ArrayRef<Expr*>(construction->getArgs(), construction->getNumArgs()),
                       construction->getConstructor());
        return true;
    }
    bool VisitVarDecl(VarDecl* variable) override
    {
        if (!isa<ParmVarDecl>(variable))
            copy(variable->getInit(), variable);
        return true;
    }
    bool VisitFieldDecl(FieldDecl* field) override
    {
        copy(field->getInClassInitializer(), field);
        return true;
    }
    bool VisitBinaryOperator(BinaryOperator* assignment) override
    {
        if (assignment->getOpcode() == BO_Assign)
            copy(assignment->getRHS(), variable_of(assignment->getLHS()));
        return true;
    }
    bool VisitInitListExpr(InitListExpr* list) override
    {
        const InitListExpr* complete = list->isSemanticForm() ? list : list->getSemanticForm();
        const RecordType* type =
            complete && !complete->getType().isNull() ? complete->getType()->getAs<RecordType>() : nullptr;
        if (!type)
            return true;
        if (type->isUnionType()) {
            if (complete->getNumInits() == 1)
                copy(complete->getInit(0), complete->getInitializedFieldInUnion());
            return true;
        }
        const auto* derived = dyn_cast<CXXRecordDecl>(type->getDecl());
        unsigned i = derived ? derived->getNumBases() : 0;
        for (const FieldDecl* field : type->getDecl()->fields())
            if (!is_unnamed_bit_field(field) && i < complete->getNumInits())
                copy(complete->getInit(i++), field);
        return true;
    }
    bool TraverseConstructorInitializer(CXXCtorInitializer* initializer) override
    {
        copy(initializer->getInit(), initializer->getAnyMember());
        return Visitor::TraverseConstructorInitializer(initializer);
    }

    // All that hold the number in the end.
    std::set<const ValueDecl*> holders() const
    {
        std::set<const ValueDecl*> found;
        std::vector<const ValueDecl*> todo;
        for (const auto& entry : copies_)
            if (is_question(entry.first))
                todo.push_back(entry.first);
        while (!todo.empty()) {
            const auto to = copies_.find(todo.back());
            todo.pop_back();
            if (to == copies_.end())
                continue;
            for (const ValueDecl* holder : to->second)
                if (found.insert(holder).second)
                    todo.push_back(holder);
        }
        return found;
    }

private:
    static const ValueDecl* variable_of(const Expr* expression)
    {
        expression = expression->IgnoreParenCasts();
        while (const auto* element = dyn_cast<ArraySubscriptExpr>(expression)) {
            expression = element->getBase()->IgnoreParenCasts();
            if (!expression->getType()->isArrayType())
                return nullptr;
        }
        if (const auto* reference = dyn_cast<DeclRefExpr>(expression))
            return reference->getDecl();
        const auto* member = dyn_cast<MemberExpr>(expression);
        return member ? member->getMemberDecl() : nullptr;
    }

    // Not into the library: a vector of that size would give the number to all vectors.
    void copy_arguments(llvm::ArrayRef<Expr*> arguments, const FunctionDecl* function)
    {
        const FunctionDecl* definition = nullptr;
        if (function->isDefined(definition) &&
            !function->getASTContext().getSourceManager().isInSystemHeader(definition->getLocation()))
            for (unsigned i = 0; i < arguments.size() && i < definition->getNumParams(); i++)
                copy(arguments[i], definition->getParamDecl(i));
    }

    // `computed`: `to` gets a value computed with it, which counts only for what is asked right there.
    void copy(const Expr* from, const ValueDecl* to, bool computed = false)
    {
        if (!from || !to)
            return;
        from = from->IgnoreParenCasts();
        if (const auto* whole = dyn_cast<FullExpr>(from)) {
            copy(whole->getSubExpr(), to, computed);
        } else if (const auto* temporary = dyn_cast<MaterializeTemporaryExpr>(from)) {
            copy(temporary->getSubExpr(), to, computed);
        } else if (const auto* member = dyn_cast<CXXDefaultInitExpr>(from)) {
            copy(member->getExpr(), to, computed);
        } else if (const auto* list = dyn_cast<InitListExpr>(from)) {
            if (list->getNumInits() == 1 && to->getType()->isScalarType())
                copy(list->getInit(0), to, computed);
        } else if (const auto* choice = dyn_cast<ConditionalOperator>(from)) {
            copy(choice->getTrueExpr(), to, computed);
            copy(choice->getFalseExpr(), to, computed);
        } else if (const auto* operation = dyn_cast<BinaryOperator>(from)) {
            const bool hands_on = operation->isAssignmentOp() || operation->isComparisonOp() ||
                                  operation->isLogicalOp() || operation->isCommaOp();
            if (!operation->isAssignmentOp() && !operation->isCommaOp())
                copy(operation->getLHS(), to, computed || !hands_on);
            copy(operation->getRHS(), to, computed || !hands_on);
        } else if (const auto* operation = dyn_cast<UnaryOperator>(from)) {
            copy(operation->getSubExpr(), to, computed || operation->getOpcode() != UO_LNot);
        } else if (const auto* call = dyn_cast<CallExpr>(from)) {
            if (const FunctionDecl* function = call->getDirectCallee();
                function && (!computed || is_question(function)))
                add(function, to);
            if (to->getType()->isArithmeticType()) // std::max and the like
                for (const Expr* argument : call->arguments())
                    copy(argument, to, true);
        } else if (const ValueDecl* variable = computed ? nullptr : variable_of(from)) {
            add(variable, to);
        }
    }

    void add(const ValueDecl* from, const ValueDecl* to) { copies_[canonical(from)].insert(canonical(to)); }

    std::map<const ValueDecl*, std::set<const ValueDecl*>> copies_;
    const FunctionDecl* function_ = nullptr; // the one whose body it is in
};

// What a loop uses, also in functions of this file.
class Uses : public Visitor {
public:
    explicit Uses(const std::set<const ValueDecl*>& holders) : holders_(holders) {}

    std::string why; // empty: it does not use the number

    bool shouldVisitImplicitCode() const override { return true; }

    void loop(const OMPLoopDirective* directive)
    {
        TraverseStmt(const_cast<Stmt*>(directive->getInnermostCapturedStmt()->getCapturedStmt()));
        while (why.empty() && !todo_.empty()) {
            inside_ = todo_.back();
            todo_.pop_back();
            TraverseDecl(const_cast<FunctionDecl*>(inside_));
        }
    }

    bool VisitDeclRefExpr(DeclRefExpr* reference) override { return look(reference->getDecl()); }
    bool VisitMemberExpr(MemberExpr* member) override { return look(member->getMemberDecl()); }
    bool VisitCXXConstructExpr(CXXConstructExpr* construction) override
    {
        follow(construction->getConstructor());
        return true;
    }

private:
    // False ends the search.
    bool look(const ValueDecl* used)
    {
        if (holders_.count(canonical(used)) || is_question(used)) {
            why = "depends on the number of threads ('" + used->getNameAsString() + "')";
            if (inside_)
                why += " (in '" + inside_->getQualifiedNameAsString() + "')";
            return false;
        }
        // A function that is named is taken for one that is called.
        if (const auto* function = dyn_cast<FunctionDecl>(used))
            follow(function);
        return true;
    }

    void follow(const FunctionDecl* function)
    {
        const FunctionDecl* definition = nullptr;
        if (function->isDefined(definition) && !definition->isDependentContext() &&
            seen_.insert(definition->getCanonicalDecl()).second)
            todo_.push_back(definition);
    }

    const std::set<const ValueDecl*>& holders_;
    const FunctionDecl* inside_ = nullptr;
    std::vector<const FunctionDecl*> todo_;
    std::set<const FunctionDecl*> seen_;
};

// Whether the bounds of one of the collapsed loops depend on another's variable.
bool is_rectangular(const OMPLoopDirective* loop)
{
    const auto counters = loop->dependent_counters();
    return std::all_of(counters.begin(), counters.end(), [](const Expr* counter) { return !counter; });
}

class Loops : public Visitor {
public:
    Loops(ASTContext& context, bool asks, const std::set<const ValueDecl*>& holders)
        : context_(context), asks_(asks), holders_(holders)
    {}

    bool VisitOMPLoopDirective(OMPLoopDirective* loop) override
    {
        const CallExpr* mark = mark_of(loop);
        Expr::EvalResult kinds;
        if (!mark || !mark->getArg(1)->EvaluateAsInt(kinds, context_) ||
            !(kinds.Val.getInt().getZExtValue() & openmp_loop))
            return true;
        note_results(context_, loop);
        Uses uses(holders_);
        if (!is_rectangular(loop))
            uses.why = ws::reason::not_rectangular;
        else if (asks_)
            uses.loop(loop);
        const auto* place = dyn_cast<StringLiteral>(mark->getArg(0)->IgnoreParenImpCasts());
        if (place && !uses.why.empty())
            reasons.insert({place->getString().str(), uses.why});
        return true;
    }

private:
    ASTContext& context_;
    const bool asks_; // somebody may
    const std::set<const ValueDecl*>& holders_;
};

} // namespace

void look_at_openmp_loops(ASTContext& context)
{
    TranslationUnitDecl* file = context.getTranslationUnitDecl();
    std::set<const ValueDecl*> holders;
    const bool asks = std::any_of(std::begin(questions), std::end(questions),
                                  [&](const char* name) { return !file->lookup(&context.Idents.get(name)).empty(); });
    if (asks) {
        Copies copies;
        copies.TraverseDecl(file);
        holders = copies.holders();
    }
    Loops(context, asks, holders).TraverseDecl(file);
}

std::string why_not_by_tree(const std::string& place)
{
    const auto found = reasons.find(place);
    return found == reasons.end() ? "" : found->second;
}

} // namespace ws_clang
