// SPDX-License-Identifier: MIT
//
// A loop that asks for ws_alone is made into two, one plain, one with atomics, and the question is asked before, as
// gcc/alone.cc does it. LLVM does so by itself, but from -O3 on. At -O2 scattered additions took up to 1.2 times as
// long, depending on where they lie (benchmarks: placement).
#include "back.h"

namespace ws_clang {

namespace {

bool asks(const llvm::Function& function)
{
    const llvm::GlobalVariable* alone = function.getParent()->getGlobalVariable("ws_alone");
    return alone && llvm::any_of(alone->users(), [&](const llvm::User* user) {
               const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
               return load && load->getFunction() == &function;
           });
}

class AlonePass : public llvm::PassInfoMixin<AlonePass> {
public:
    llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& manager,
                                llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& updater)
    {
        if (!asks(*loop.getHeader()->getParent()))
            return llvm::PreservedAnalyses::all();
        return llvm::SimpleLoopUnswitchPass(true).run(loop, manager, results, updater);
    }
};

} // namespace

void register_alone_pass(llvm::PassBuilder& builder)
{
    builder.registerLateLoopOptimizationsEPCallback(
        [](llvm::LoopPassManager& passes, llvm::OptimizationLevel level) {
            if (level == llvm::OptimizationLevel::O2 && ws::has(ws::Optimization::alone))
                passes.addPass(AlonePass());
        });
}

} // namespace ws_clang
