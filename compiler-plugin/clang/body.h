// SPDX-License-Identifier: MIT
//
// The functions that clang has outlined of our loops: what they ask of libomp is asked of libws.
#ifndef WS_CLANG_BODY_H
#define WS_CLANG_BODY_H

#include "back.h"

namespace ws_clang {

// Each function once.
class LoopBodies {
public:
    explicit LoopBodies(llvm::Module& module) : module_(module), context_(module.getContext()) {}
    void lower(llvm::Function* function);

private:
    llvm::Value* start(llvm::IRBuilder<>& builder, llvm::Value* iterations, llvm::Value* lo, llvm::Value* hi);
    llvm::Value* next_chunk(llvm::IRBuilder<>& builder, llvm::Value* lo, llvm::Value* hi);
    void lower_dispatch(llvm::CallBase* init);
    void lower_sections(llvm::CallBase* init);
    void lower_reduction(llvm::CallBase* call);

    llvm::Module& module_;
    llvm::LLVMContext& context_;
    llvm::Type* const nothing_ = llvm::Type::getVoidTy(context_);
    llvm::IntegerType *const i1_ = llvm::Type::getInt1Ty(context_), *const i32_ = llvm::Type::getInt32Ty(context_),
                             *const i64_ = llvm::Type::getInt64Ty(context_);
    llvm::SmallPtrSet<llvm::Function*, 8> lowered_;
};

} // namespace ws_clang

#endif
