// SPDX-License-Identifier: MIT
//
// A loop that asks for ws_alone is made into two, one plain, one with atomics, and the question is asked before, as
// gcc/alone.cc does it. LLVM itself does this only at -O3. At -O2 scattered additions took up to 1.2 times as long,
// depending on where they lie (benchmarks: placement).
#include "back.h"

namespace ws_clang {

namespace {

bool loads_alone(const llvm::Value* value)
{
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    return load && load->getPointerOperand()->stripPointerCasts()->getName() == "ws_alone";
}

// Whether a condition is made of ws_alone, which was loaded before the loop: compared or converted, perhaps merged.
bool is_of_alone(const llvm::Value* value, unsigned steps = 0)
{
    constexpr unsigned most_steps = 4;
    const auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    if (!made || loads_alone(made))
        return made;
    if (llvm::isa<llvm::PHINode>(made))
        return llvm::any_of(made->operands(), [](const llvm::Use& use) { return loads_alone(use); });
    return steps < most_steps && (made->isCast() || llvm::isa<llvm::CmpInst, llvm::FreezeInst>(made)) &&
           llvm::any_of(made->operands(), [&](const llvm::Use& use) { return is_of_alone(use, steps + 1); });
}

bool asks(const llvm::Loop& loop)
{
    if (!loop.getHeader()->getModule()->getGlobalVariable("ws_alone"))
        return false;
    return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
        const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
        return branch && branch->isConditional() && is_of_alone(branch->getCondition());
    });
}

class AlonePass : public llvm::PassInfoMixin<AlonePass> {
public:
    llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager& manager,
                                llvm::LoopStandardAnalysisResults& results, llvm::LPMUpdater& updater)
    {
        if (!asks(loop))
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
