// SPDX-License-Identifier: MIT
//
// A walk through the tree, with what our walks want to see as virtual functions: clang's template of it takes five
// seconds to compile for each class that it is made for.
#ifndef WS_CLANG_VISITOR_H
#define WS_CLANG_VISITOR_H

#include "clang-headers.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include "clang/AST/RecursiveASTVisitor.h"
#pragma GCC diagnostic pop

namespace ws_clang {

// Templates are seen as instantiated. Each function returns false to end the walk.
class Visitor : public clang::RecursiveASTVisitor<Visitor> {
    using Base = clang::RecursiveASTVisitor<Visitor>;

public:
    virtual ~Visitor() = default;

    bool shouldVisitTemplateInstantiations() const { return true; }
    virtual bool shouldVisitImplicitCode() const { return false; }

    virtual bool TraverseDecl(clang::Decl* declaration) { return Base::TraverseDecl(declaration); }
    virtual bool TraverseLambdaExpr(clang::LambdaExpr* lambda) { return Base::TraverseLambdaExpr(lambda); }
    virtual bool TraverseConstructorInitializer(clang::CXXCtorInitializer* initializer)
    {
        return Base::TraverseConstructorInitializer(initializer);
    }

    virtual bool VisitBinaryOperator(clang::BinaryOperator*) { return true; }
    virtual bool VisitCallExpr(clang::CallExpr*) { return true; }
    virtual bool VisitCXXConstructExpr(clang::CXXConstructExpr*) { return true; }
    virtual bool VisitDeclRefExpr(clang::DeclRefExpr*) { return true; }
    virtual bool VisitFieldDecl(clang::FieldDecl*) { return true; }
    virtual bool VisitFunctionDecl(clang::FunctionDecl*) { return true; }
    virtual bool VisitInitListExpr(clang::InitListExpr*) { return true; }
    virtual bool VisitMemberExpr(clang::MemberExpr*) { return true; }
    virtual bool VisitOMPAtomicDirective(clang::OMPAtomicDirective*) { return true; }
    virtual bool VisitOMPCriticalDirective(clang::OMPCriticalDirective*) { return true; }
    virtual bool VisitOMPDeclareReductionDecl(clang::OMPDeclareReductionDecl*) { return true; }
    virtual bool VisitOMPLoopDirective(clang::OMPLoopDirective*) { return true; }
    virtual bool VisitOMPParallelForDirective(clang::OMPParallelForDirective*) { return true; }
    virtual bool VisitOMPParallelForSimdDirective(clang::OMPParallelForSimdDirective*) { return true; }
    virtual bool VisitOMPParallelSectionsDirective(clang::OMPParallelSectionsDirective*) { return true; }
    virtual bool VisitOMPTaskDirective(clang::OMPTaskDirective*) { return true; }
    virtual bool VisitOMPTaskgroupDirective(clang::OMPTaskgroupDirective*) { return true; }
    virtual bool VisitOMPTaskLoopDirective(clang::OMPTaskLoopDirective*) { return true; }
    virtual bool VisitReturnStmt(clang::ReturnStmt*) { return true; }
    virtual bool VisitVarDecl(clang::VarDecl*) { return true; }
};

} // namespace ws_clang

#endif
