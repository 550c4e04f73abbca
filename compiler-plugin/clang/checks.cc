// SPDX-License-Identifier: MIT
//
// What the grammar cannot see and clang's OpenMP front end does not check, looked up in the tree of the whole file
// just before clang finishes its code: so templates are checked as instantiated.
#include "front.h"
#include "visitor.h"

#include "../clauses/messages.h"

#include <set>

namespace ws_clang {

namespace {

using namespace clang;

// The variable named by an item of a clause, also by one of its elements or sections.
const ValueDecl* named(const Expr* item)
{
    for (item = item->IgnoreParenImpCasts();;) {
        if (const auto* section = dyn_cast<ArraySection>(item))
            item = section->getBase()->IgnoreParenImpCasts();
        else if (const auto* element = dyn_cast<ArraySubscriptExpr>(item))
            item = element->getBase()->IgnoreParenImpCasts();
        else
            break;
    }
    if (const auto* reference = dyn_cast<DeclRefExpr>(item))
        return reference->getDecl();
    const auto* member = dyn_cast<MemberExpr>(item);
    return member ? member->getMemberDecl() : nullptr;
}

// The type of what such an item has.
QualType element_type(ASTContext& context, const Expr* item)
{
    QualType type = item->getType().getNonReferenceType();
    if (const auto* section = dyn_cast<ArraySection>(item->IgnoreParenImpCasts())) {
        type = ArraySection::getBaseOriginalType(section->getBase());
        type = type->isPointerType() ? type->getPointeeType() : type;
    }
    return context.getBaseElementType(type);
}

// Whether an lvalue may be accessed under other types than its own: as clang decides for the accesses that it makes.
bool may_be_of_another_type(const Expr* object)
{
    if (object->getType()->isDependentType())
        return false; // its instantiations are seen, too
    for (QualType type = object->getType(); const auto* name = type->getAs<TypedefType>(); type = name->desugar())
        if (name->getDecl()->hasAttr<MayAliasAttr>())
            return true;
    for (;;) {
        object = object->IgnoreParenImpCasts();
        if (const auto* element = dyn_cast<ArraySubscriptExpr>(object)) {
            object = element->getBase();
        } else if (const auto* member = dyn_cast<MemberExpr>(object)) {
            const auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
            if (!field || field->getParent()->isUnion() || field->getParent()->hasAttr<MayAliasAttr>())
                return true;
            if (member->isArrow())
                return false;
            object = member->getBase();
        } else {
            return false;
        }
    }
}

class Checks : public Visitor {
public:
    explicit Checks(CompilerInstance& compiler)
        : context_(compiler.getASTContext()), sources_(compiler.getSourceManager()),
          diagnostics_(compiler.getDiagnostics())
    {
        for (const std::string& option : compiler.getDiagnosticOpts().Warnings)
            warnings_ = option == "all" || option == "everything" ||
                        (warnings_ && option != "no-all" && option != "no-everything");
        calls_.report = [this](SourceLocation at, const std::string& text, SourceLocation loop) {
            if (report(at, text) && loop.isValid())
                diagnostics_.Report(loop, diagnostics_.getCustomDiagID(DiagnosticsEngine::Note, "%0"))
                    << "the " + text.substr(text.find("' in a ") + 7, text.find(": ") - text.find("' in a ") - 7) +
                           " that calls this";
        };
    }

    // Most of a file has none of our pragmas and is not looked at.
    bool TraverseDecl(Decl* declaration) override
    {
        if (declaration && declaration->getBeginLoc().isValid() && !isa<TranslationUnitDecl>(declaration) &&
            !has_pragma_between(sources_, declaration->getBeginLoc(), declaration->getEndLoc()))
            return true;
        return Visitor::TraverseDecl(declaration);
    }

    bool VisitFunctionDecl(FunctionDecl* function) override
    {
        in_coroutine_ =
            function->doesThisDeclarationHaveABody() && isa_and_nonnull<CoroutineBodyStmt>(function->getBody());
        return true;
    }

    bool VisitOMPParallelForDirective(OMPParallelForDirective* loop) override { return look(loop); }
    bool VisitOMPParallelForSimdDirective(OMPParallelForSimdDirective* loop) override { return look(loop); }
    bool VisitOMPParallelSectionsDirective(OMPParallelSectionsDirective* sections) override { return look(sections); }

    bool VisitOMPTaskDirective(OMPTaskDirective* task) override
    {
        return look_at_task(task, ws::DirectiveKind::task);
    }
    bool VisitOMPTaskLoopDirective(OMPTaskLoopDirective* loop) override
    {
        return look_at_task(loop, ws::DirectiveKind::taskloop);
    }
    bool VisitOMPTaskgroupDirective(OMPTaskgroupDirective* group) override
    {
        return look_at_task(group, ws::DirectiveKind::taskgroup);
    }

    // Clang accepts this jump out of the block.
    bool VisitOMPCriticalDirective(OMPCriticalDirective* critical) override
    {
        const auto name = critical->getDirectiveName();
        if (name.getName() && begins(name.getAsString(), "__ws_critical"))
            complain_of_return(critical->getAssociatedStmt());
        return true;
    }

    bool VisitOMPAtomicDirective(OMPAtomicDirective* atomic) override
    {
        if (const Expr* object = atomic->getX(); object && may_be_of_another_type(object))
            typed_atomics = false;
        return true;
    }

    // Clang lets a program declare again what exists for its own types.
    bool VisitOMPDeclareReductionDecl(OMPDeclareReductionDecl* reduction) override
    {
        if (reduction->isImplicit() || !is_ours(sources_, reduction->getLocation()) ||
            reduction->getType()->isDependentType() || !reduction->getType()->isArithmeticType())
            return true;
        const DeclarationName name = reduction->getDeclName();
        bool known = name.getNameKind() == DeclarationName::CXXOperatorName;
        if (const IdentifierInfo* word = name.getAsIdentifierInfo())
            known = (word->isStr("min") || word->isStr("max")) && !reduction->getType()->isAnyComplexType();
        if (known)
            report(reduction->getBeginLoc(), "predeclared arithmetic type '" + reduction->getType().getAsString() +
                                                 "' in '#pragma ws declare reduction'");
        return true;
    }

private:
    bool look(OMPExecutableDirective* directive)
    {
        const CallExpr* mark = mark_of(directive);
        Expr::EvalResult kinds;
        if (!mark || !mark->getArg(1)->EvaluateAsInt(kinds, context_) ||
            kinds.Val.getInt().getZExtValue() & openmp_loop)
            return true;
        note_results(context_, directive);
        auto* loop = dyn_cast<OMPLoopDirective>(directive);
        name_ = loop ? "'#pragma ws for'" : "'#pragma ws sections'";
        if (in_coroutine_)
            report(directive->getBeginLoc(), name_ + " cannot be used in a coroutine");
        check_chunk(mark->getArg(2), 0);
        check_chunk(mark->getArg(3), 1);
        check_clauses(directive);
        if (loop)
            check_loop(loop);
        else
            check_sections(directive);
        check_calls(context_, directive, calls_);
        return true;
    }

    bool look_at_task(OMPExecutableDirective* directive, ws::DirectiveKind kind)
    {
        if (!is_ours(sources_, directive->getBeginLoc()))
            return true;
        name_ = "'" + ws::full_name(kind) + "'";
        if (in_coroutine_)
            report(directive->getBeginLoc(), name_ + " cannot be used in a coroutine");
        check_length<OMPReductionClause>(directive);
        check_length<OMPInReductionClause>(directive);
        check_length<OMPTaskReductionClause>(directive);
        return true;
    }

    // Clang keeps the length of such a copy in a variable of the thread that runs the task. The thread that adds the
    // copies up has another.
    template <class Clause> void check_length(const OMPExecutableDirective* directive)
    {
        for (const Clause* clause : directive->getClausesOfKind<Clause>()) {
            auto item = items(clause).begin();
            for (const Expr* copy : clause->privates())
                if (const Expr* of = *item++; copy->getType()->isVariablyModifiedType())
                    report(of->getExprLoc(),
                           "in " + name_ + ": clang reduces only what has a constant length in tasks");
        }
    }

    // With -Wall: what is correct C, and OpenMP's, and hardly meant.
    void warn(SourceLocation at, const ws::Warning& warning)
    {
        const ws::Warned how = ws::how_to_warn(warning);
        const auto level = how == ws::Warned::as_error ? DiagnosticsEngine::Error : DiagnosticsEngine::Warning;
        if (how != ws::Warned::never && (how == ws::Warned::as_error || warnings_) &&
            reported_.insert({sources_.getFileLoc(at).getRawEncoding(), warning.text}).second)
            diagnostics_.Report(at, diagnostics_.getCustomDiagID(level, "%0")) << ws::shown(warning);
    }

    bool report(SourceLocation at, const std::string& text)
    {
        // Each instantiation of a template comes here.
        if (!reported_.insert({sources_.getFileLoc(at).getRawEncoding(), text}).second)
            return false;
        error_about(diagnostics_, at, text);
        return true;
    }

    static std::string about_loop(const char* message)
    {
        return ws::about(message, ws::full_name(ws::DirectiveKind::loop));
    }

    // An argument of the mark: a plain number if the clause gave no chunk, else what it gave in parentheses.
    void check_chunk(const Expr* argument, int which)
    {
        const auto* written = dyn_cast<ParenExpr>(argument->IgnoreImpCasts());
        if (!written)
            return;
        const Expr* chunk = written->getSubExpr();
        const SourceLocation at = chunk->getExprLoc();
        const auto* comma = dyn_cast<BinaryOperator>(chunk);
        if (comma && comma->getOpcode() == BO_Comma) {
            report(comma->getOperatorLoc(), ws::two_chunks(ws::chunk_clauses[which]));
            return;
        }
        if (chunk->isTypeDependent() || chunk->isValueDependent())
            return;
        if (!chunk->getType()->isIntegralOrUnscopedEnumerationType()) {
            report(at, ws::about_chunk(ws::chunk_clauses[which], "must be an integer"));
            return;
        }
        Expr::EvalResult value;
        if (chunk->EvaluateAsInt(value, context_) && value.Val.getInt() <= 0)
            report(at, ws::about_chunk(ws::chunk_clauses[which], "must be positive"));
    }

    // ---- data clauses

    static std::string quoted(const ValueDecl* variable) { return "'" + variable->getNameAsString() + "'"; }

    void check_clauses(const OMPExecutableDirective* loop)
    {
        std::set<std::pair<OpenMPClauseKind, const ValueDecl*>> seen;
        for (const OMPClause* clause : loop->clauses()) {
            if (const auto* list = dyn_cast<OMPSharedClause>(clause))
                check_twice(list, seen);
            else if (const auto* list = dyn_cast<OMPPrivateClause>(clause))
                check_twice(list, seen);
            else if (const auto* list = dyn_cast<OMPFirstprivateClause>(clause))
                check_twice(list, seen);
            else if (const auto* list = dyn_cast<OMPLastprivateClause>(clause))
                check_twice(list, seen);
            else if (const auto* list = dyn_cast<OMPReductionClause>(clause)) {
                check_twice(list, seen);
                check_reduction(list);
            }
        }
    }

    template <class Clause>
    void check_twice(const Clause* clause, std::set<std::pair<OpenMPClauseKind, const ValueDecl*>>& seen)
    {
        for (const Expr* item : items(clause))
            if (const ValueDecl* variable = named(item);
                variable && !variable->isImplicit() &&
                !seen.insert({clause->getClauseKind(), cast<ValueDecl>(variable->getCanonicalDecl())}).second)
                report(item->getExprLoc(), quoted(variable) + " appears more than once in data clauses of " + name_);
    }

    // Clang takes any class with such an operator.
    void check_reduction(const OMPReductionClause* clause)
    {
        auto operation = clause->reduction_ops().begin();
        for (const Expr* item : items(clause)) {
            if (operation == clause->reduction_ops().end() || !*operation)
                return;
            const Expr* merge = *operation++;
            if (const auto* cleanups = dyn_cast<ExprWithCleanups>(merge))
                merge = cleanups->getSubExpr();
            // A declared one is a call through a placeholder, or not settled yet.
            const bool declared = !isa<CXXOperatorCallExpr, BinaryOperator>(merge);
            const QualType type = element_type(context_, item);
            const ValueDecl* variable = named(item);
            if (variable && !declared && !type->isDependentType() && type->isRecordType())
                report(item->getExprLoc(),
                       "in " + name_ + ": user defined reduction not found for " + quoted(variable));
        }
    }

    // ---- the loop

    struct Written {
        ws::DirectiveKind kind;
        std::set<const ValueDecl*> loop_variables, bounds;
        std::set<const ValueDecl*> own; // variables of the iteration: in a clause, or declared in the body
    };

    // What is written to with one of its members; through no pointer, and no element of an array: those are scratch
    // space.
    static const VarDecl* whole_variable(const Expr* expression)
    {
        for (expression = expression->IgnoreParenImpCasts(); const auto* member = dyn_cast<MemberExpr>(expression);) {
            if (member->isArrow() || isa<VarDecl>(member->getMemberDecl()))
                break;
            expression = member->getBase()->IgnoreParenImpCasts();
        }
        if (const auto* member = dyn_cast<MemberExpr>(expression)) // static
            return dyn_cast<VarDecl>(member->getMemberDecl());
        return dyn_cast_or_null<VarDecl>(variable(expression));
    }

    static const ValueDecl* variable(const Expr* expression)
    {
        const auto* reference = expression ? dyn_cast<DeclRefExpr>(expression->IgnoreParenImpCasts()) : nullptr;
        return reference ? reference->getDecl() : nullptr;
    }

    // The plain variables of an expression.
    static void add_variables(const Stmt* expression, std::set<const ValueDecl*>& out)
    {
        if (!expression)
            return;
        if (const auto* reference = dyn_cast<DeclRefExpr>(expression))
            if (isa<VarDecl>(reference->getDecl()))
                out.insert(reference->getDecl());
        for (const Stmt* child : expression->children())
            add_variables(child, out);
    }

    // Through what may stand around a collapsed loop.
    static const Stmt* unwrapped(const Stmt* statement)
    {
        while (statement) {
            if (const auto* captured = dyn_cast<CapturedStmt>(statement))
                statement = captured->getCapturedStmt();
            else if (const auto* attributed = dyn_cast<AttributedStmt>(statement))
                statement = attributed->getSubStmt();
            else if (const auto* block = dyn_cast<CompoundStmt>(statement); block && block->size() == 1)
                statement = block->body_front();
            else
                break;
        }
        return statement;
    }

    void add_own(const OMPExecutableDirective* directive, Written& written)
    {
        add_items<OMPPrivateClause>(directive, written.own);
        add_items<OMPFirstprivateClause>(directive, written.own);
        add_items<OMPLastprivateClause>(directive, written.own);
        add_items<OMPReductionClause>(directive, written.own);
    }

    void check_sections(OMPExecutableDirective* directive)
    {
        Written written{ws::DirectiveKind::sections, {}, {}, {}};
        add_own(directive, written);
        complain_if_written(directive->getInnermostCapturedStmt()->getCapturedStmt(), written);
    }

    void check_loop(OMPLoopDirective* directive)
    {
        Written written{ws::DirectiveKind::loop, {}, {}, {}};
        add_own(directive, written);
        const Stmt* body = directive->getInnermostCapturedStmt()->getCapturedStmt();
        for (unsigned depth = 0; depth < directive->getLoopsNumber(); depth++) {
            body = unwrapped(body);
            if (const auto* loop = dyn_cast_or_null<ForStmt>(body)) {
                check_head(loop, written);
                body = loop->getBody();
            } else if (const auto* range = dyn_cast_or_null<CXXForRangeStmt>(body)) {
                body = range->getBody();
            } else {
                if (const auto* block = dyn_cast_or_null<CompoundStmt>(body); block && !block->body_empty())
                    body = block->body_front();
                report(body ? body->getBeginLoc() : directive->getBeginLoc(),
                       about_loop(ws::message::not_nested));
                return;
            }
            complain_of_break(body);
        }
        for (const ValueDecl* variable : written.loop_variables)
            written.bounds.erase(variable);
        complain_if_written(body, written);
    }

    void check_head(const ForStmt* loop, Written& written)
    {
        std::set<const ValueDecl*> outer = written.loop_variables, bounds;
        const ValueDecl* counter = nullptr;
        if (const auto* declaration = dyn_cast_or_null<DeclStmt>(loop->getInit())) {
            const auto* first = declaration->isSingleDecl() ? dyn_cast<VarDecl>(declaration->getSingleDecl()) : nullptr;
            counter = first;
            if (first)
                add_variables(first->getInit(), bounds);
        } else if (const auto* assignment = dyn_cast_or_null<BinaryOperator>(loop->getInit())) {
            counter = variable(assignment->getLHS());
            add_variables(assignment->getRHS(), bounds);
        } else if (const auto* assignment = dyn_cast_or_null<CXXOperatorCallExpr>(loop->getInit());
                   assignment && assignment->getNumArgs() == 2) {
            counter = variable(assignment->getArg(0));
            add_variables(assignment->getArg(1), bounds);
        }
        add_variables(loop->getCond(), bounds);
        for (const ValueDecl* variable : outer)
            if (bounds.count(variable) && variable != counter)
                report(loop->getForLoc(), about_loop(ws::message::not_rectangular));
        if (counter) {
            written.loop_variables.insert(counter);
            check_step(loop, counter);
        }
        add_variables(loop->getInc(), bounds); // the step
        written.bounds.insert(bounds.begin(), bounds.end());
    }

    static bool compares_for_inequality(const Expr* condition)
    {
        condition = condition ? condition->IgnoreParenImpCasts() : nullptr;
        if (const auto* cleanups = dyn_cast_or_null<ExprWithCleanups>(condition))
            condition = cleanups->getSubExpr()->IgnoreParenImpCasts();
        if (const auto* rewritten = dyn_cast_or_null<CXXRewrittenBinaryOperator>(condition))
            return rewritten->getOperator() == BO_NE;
        if (const auto* comparison = dyn_cast_or_null<BinaryOperator>(condition))
            return comparison->getOpcode() == BO_NE;
        const auto* call = dyn_cast_or_null<CXXOperatorCallExpr>(condition);
        return call && call->getOperator() == OO_ExclaimEqual;
    }

    // Clang has seen to it that the increment is one of OpenMP's forms.
    void check_step(const ForStmt* loop, const ValueDecl* counter)
    {
        const Expr* increment = loop->getInc() ? loop->getInc()->IgnoreParenImpCasts() : nullptr;
        if (const auto* cleanups = dyn_cast_or_null<ExprWithCleanups>(increment))
            increment = cleanups->getSubExpr()->IgnoreParenImpCasts();
        const Expr* step = nullptr;
        const auto operand = [&](const Expr* left, const Expr* right) {
            return variable(left) == counter ? right : left;
        };
        if (const auto* update = dyn_cast_or_null<BinaryOperator>(increment)) {
            step = update->getRHS();
            if (update->getOpcode() == BO_Assign) {
                const Expr* sum = step->IgnoreParenImpCasts();
                if (const auto* binary = dyn_cast<BinaryOperator>(sum))
                    step = operand(binary->getLHS(), binary->getRHS());
                else if (const auto* call = dyn_cast<CXXOperatorCallExpr>(sum); call && call->getNumArgs() == 2)
                    step = operand(call->getArg(0), call->getArg(1));
            }
        } else if (const auto* call = dyn_cast_or_null<CXXOperatorCallExpr>(increment);
                   call && call->getNumArgs() == 2 &&
                   (call->getOperator() == OO_PlusEqual || call->getOperator() == OO_MinusEqual)) {
            step = call->getArg(1);
        }
        if (!step)
            return;
        std::set<const ValueDecl*> used;
        add_variables(step, used);
        if (used.count(counter)) {
            report(increment->getExprLoc(),
                   "in '#pragma ws for': increment expression refers to iteration variable " + quoted(counter));
            return;
        }
        Expr::EvalResult value;
        if (compares_for_inequality(loop->getCond()) && !step->isValueDependent() &&
            !(step->EvaluateAsInt(value, context_) && (value.Val.getInt() == 1 || value.Val.getInt() == -1)))
            report(increment->getExprLoc(),
                   "in '#pragma ws for': increment is not constant 1 or -1 for '!=' condition");
    }

    void complain_of_return(const Stmt* statement)
    {
        if (!statement || isa<LambdaExpr>(statement))
            return;
        if (isa<ReturnStmt>(statement))
            report(statement->getBeginLoc(),
                   ws::about(ws::message::left, ws::full_name(ws::DirectiveKind::critical)));
        for (const Stmt* child : statement->children())
            complain_of_return(child);
    }

    // Checks the loops of the directive, because clang looks at the outermost only.
    void complain_of_break(const Stmt* statement)
    {
        if (!statement || isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt, SwitchStmt, LambdaExpr>(statement))
            return;
        if (isa<BreakStmt>(statement))
            report(statement->getBeginLoc(), about_loop(ws::message::break_of_loop));
        for (const Stmt* child : statement->children())
            complain_of_break(child);
    }

    template <class Clause> static void add_items(const OMPExecutableDirective* loop, std::set<const ValueDecl*>& out)
    {
        for (const Clause* clause : loop->getClausesOfKind<Clause>())
            for (const Expr* item : items(clause))
                out.insert(named(item));
    }

    void warn_of(const Stmt* statement, Written& written)
    {
        if (const auto* declarations = dyn_cast<DeclStmt>(statement)) {
            for (const Decl* declaration : declarations->decls())
                written.own.insert(dyn_cast<ValueDecl>(declaration));
        } else if (isa<IndirectGotoStmt>(statement)) {
            warn(statement->getBeginLoc(), ws::computed_goto(written.kind));
        } else if (const auto* call = dyn_cast<CallExpr>(statement)) {
            const FunctionDecl* function = call->getDirectCallee();
            if (function && function->getIdentifier() && function->getName() == "omp_get_thread_num")
                warn(call->getExprLoc(), ws::thread_number(written.kind));
        }
    }

    void complain_if_written(const Stmt* statement, Written& written)
    {
        if (!statement)
            return;
        warn_of(statement, written);
        const Expr* to = nullptr;
        if (const auto* assignment = dyn_cast<BinaryOperator>(statement); assignment && assignment->isAssignmentOp())
            to = assignment->getLHS();
        else if (const auto* step = dyn_cast<UnaryOperator>(statement); step && step->isIncrementDecrementOp())
            to = step->getSubExpr();
        else if (const auto* call = dyn_cast<CXXOperatorCallExpr>(statement);
                 call &&
                 (call->isAssignmentOp() || call->getOperator() == OO_PlusPlus || call->getOperator() == OO_MinusMinus))
            to = call->getArg(0);
        if (to) {
            const SourceLocation at = cast<Expr>(statement)->getExprLoc();
            const ValueDecl* changed = variable(to);
            const VarDecl* own = whole_variable(to);
            if (changed && written.loop_variables.count(changed))
                report(at, "the loop changes its variable " + quoted(changed) + ", in '#pragma ws for'");
            else if (changed && written.bounds.count(changed))
                report(at, "the loop changes " + quoted(changed) +
                               ", on which its number of iterations depends, in '#pragma ws for'");
            else if (own && !written.own.count(own) &&
                     (own->getTLSKind() != VarDecl::TLS_None || own->hasAttr<OMPThreadPrivateDeclAttr>()))
                warn(at, ws::thread_variable_written(own->getNameAsString(), written.kind));
        }
        for (const Stmt* child : statement->children())
            complain_if_written(child, written);
        if (const auto* lambda = dyn_cast<LambdaExpr>(statement))
            complain_if_written(lambda->getBody(), written);
    }

    ASTContext& context_;
    SourceManager& sources_;
    DiagnosticsEngine& diagnostics_;
    std::set<std::pair<unsigned, std::string>> reported_;
    CallReports calls_;
    std::string name_; // of the directive looked at
    bool in_coroutine_ = false;
    bool warnings_ = false; // -Wall
};

} // namespace

const CallExpr* mark_of(const OMPExecutableDirective* loop)
{
    const auto* threads = loop->getSingleClause<OMPNumThreadsClause>();
    if (!threads || !threads->getNumThreads())
        return nullptr;
    const auto* call = dyn_cast<CallExpr>(threads->getNumThreads()->IgnoreParenImpCasts());
    const FunctionDecl* function = call ? call->getDirectCallee() : nullptr;
    return function && function->getIdentifier() && function->getName() == ws::mark_function && call->getNumArgs() >= 6
               ? call
               : nullptr;
}

void note_results(ASTContext& context, const OMPExecutableDirective* directive)
{
    std::vector<Reduction> reductions;
    for (const auto* clause : directive->getClausesOfKind<OMPReductionClause>()) {
        const DeclarationName by = clause->getNameInfo().getName();
        char operation = 0;
        if (by.getNameKind() == DeclarationName::CXXOperatorName) {
            const OverloadedOperatorKind kind = by.getCXXOverloadedOperator();
            operation = kind == OO_Plus || kind == OO_Minus ? '+' : kind == OO_Star ? '*' : '=';
        } else if (const IdentifierInfo* word = by.getAsIdentifierInfo();
                   word && (word->isStr("min") || word->isStr("max"))) {
            operation = '=';
        }
        for (const Expr* item : items(clause)) {
            const QualType type = element_type(context, item);
            if (type->isDependentType())
                return;
            const ValueDecl* variable = named(item);
            reductions.push_back({variable ? variable->getNameAsString() : "?",
                                  type->isArithmeticType() ? operation : '\0', type->isSignedIntegerType(),
                                  type->isAnyComplexType()});
        }
    }
    const CallExpr* mark = mark_of(directive);
    Expr::EvalResult number;
    if (mark && !reductions.empty() && mark->getArg(5)->EvaluateAsInt(number, context))
        note_reductions(unsigned(number.Val.getInt().getZExtValue()), std::move(reductions));
}

void check_file(CompilerInstance& compiler)
{
    Checks(compiler).TraverseDecl(compiler.getASTContext().getTranslationUnitDecl());
}

} // namespace ws_clang
