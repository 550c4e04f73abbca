// SPDX-License-Identifier: MIT
//
// All that differs between the versions of clang that the plugin is written for, 14 to 21. Both halves include this
// after the headers of their own that it is about: the front half has clang's (WS_CLANG_HEADERS_H), the back half
// LLVM's (WS_CLANG_BACK_H).
#ifndef WS_CLANG_VERSIONS_H
#define WS_CLANG_VERSIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"

// Headers that have moved.
#if LLVM_VERSION_MAJOR >= 15
#define WS_LOWER_ATOMIC_HEADER "llvm/Transforms/Utils/LowerAtomic.h"
#else
#define WS_LOWER_ATOMIC_HEADER "llvm/Transforms/Scalar/LowerAtomic.h"
#endif
#if LLVM_VERSION_MAJOR >= 17
#define WS_TRIPLE_HEADER "llvm/TargetParser/Triple.h"
#else
#define WS_TRIPLE_HEADER "llvm/ADT/Triple.h"
#endif

namespace ws_clang {

// StringRef's own: startswith() or starts_with().
inline bool begins(llvm::StringRef text, llvm::StringRef with) { return text.take_front(with.size()) == with; }
inline bool ends(llvm::StringRef text, llvm::StringRef with) { return text.take_back(with.size()) == with; }

// Functions that clang outlines: ".omp_outlined", ".omp_outlined.3", since 17 "main.omp_outlined"; with -g the region
// is in one of its own, ".omp_outlined._debug__" or "main.omp_outlined_debug__".
inline bool is_outlined(llvm::StringRef name) { return name.contains(".omp_outlined"); }
inline bool is_outlined_debug(llvm::StringRef name)
{
    return name.contains(".omp_outlined._debug__") || name.contains(".omp_outlined_debug__");
}
// Those and others that it makes for OpenMP's constructs.
inline bool is_of_openmp(llvm::StringRef name)
{
    return LLVM_VERSION_MAJOR >= 17 ? name.contains(".omp") : begins(name, ".omp");
}

#ifdef WS_CLANG_BACK_H

// Before 17 pointers may know what they point to.
inline llvm::PointerType* pointer_to(llvm::Type* type)
{
#if LLVM_VERSION_MAJOR >= 17
    return llvm::PointerType::get(type->getContext(), 0);
#else
    return llvm::PointerType::get(type, 0);
#endif
}

// What tells a debugger where a variable is: a call, since 19 a record that stands before an instruction.
#if LLVM_VERSION_MAJOR >= 19
using Declaration = llvm::DbgVariableRecord;
#else
using Declaration = llvm::DbgDeclareInst;
#endif
template <class F> void each_declaration(llvm::Instruction& instruction, F f)
{
#if LLVM_VERSION_MAJOR >= 19
    for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange()))
        if (record.isDbgDeclare())
            f(&record);
#else
    if (auto* declare = llvm::dyn_cast<llvm::DbgDeclareInst>(&instruction))
        f(declare);
#endif
}

#endif // WS_CLANG_BACK_H
#ifdef WS_CLANG_HEADERS_H

#if LLVM_VERSION_MAJOR >= 19
using ArraySection = clang::ArraySectionExpr;
inline bool is_unnamed_bit_field(const clang::FieldDecl* field) { return field->isUnnamedBitField(); }
#else
using ArraySection = clang::OMPArraySectionExpr;
inline bool is_unnamed_bit_field(const clang::FieldDecl* field) { return field->isUnnamedBitfield(); }
#endif

// What stands in a data clause.
template <class Clause> auto items(const Clause* clause)
{
#if LLVM_VERSION_MAJOR >= 20
    return clause->varlist();
#else
    return clause->varlists();
#endif
}

// The same diagnostic with another text.
template <class F> void with_text(const clang::Diagnostic& diagnostic, llvm::StringRef text, F f)
{
#if LLVM_VERSION_MAJOR >= 20
    clang::DiagnosticStorage storage;
    storage.DiagRanges.append(diagnostic.getRanges().begin(), diagnostic.getRanges().end());
    storage.FixItHints.append(diagnostic.getFixItHints().begin(), diagnostic.getFixItHints().end());
    f(clang::Diagnostic(diagnostic.getDiags(), diagnostic.getLocation(), diagnostic.getID(), storage, text));
#else
    f(clang::Diagnostic(diagnostic.getDiags(), text));
#endif
}

// The listener for the options that a precompiled header was made with.
struct LanguageListener : clang::ASTReaderListener {
    virtual void language(const clang::LangOptions& options) = 0;

#if LLVM_VERSION_MAJOR >= 20
    bool ReadLanguageOptions(const clang::LangOptions& options, llvm::StringRef, bool, bool) override{
#else
    bool ReadLanguageOptions(const clang::LangOptions& options, bool, bool) override
    {
#endif
        language(options);
    return false;
}
};
// False if it cannot be read.
inline bool read_header(clang::CompilerInstance& compiler, const std::string& header, LanguageListener& listener)
{
    return !clang::ASTReader::readASTFileControlBlock(header, compiler.getFileManager(),
#if LLVM_VERSION_MAJOR >= 16
                                                      compiler.getModuleCache(),
#endif
                                                      compiler.getPCHContainerReader(), false, listener, false);
}

#endif // WS_CLANG_HEADERS_H

} // namespace ws_clang

#endif
