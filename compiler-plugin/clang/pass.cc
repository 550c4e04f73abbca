// SPDX-License-Identifier: MIT
//
// Start of the back half: clang calls llvmGetPassPluginInfo for it.
#include "back.h"

namespace ws_clang {

namespace {

class LoweringPass : public llvm::PassInfoMixin<LoweringPass> {
public:
    explicit LoweringPass(unsigned level) : level_(level) {}

    static bool isRequired() { return true; } // at -O0 too

    llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&)
    {
        lower_atomics(module);
        announce(module, lower_criticals(module) | lower_loops(module, level_));
        name_fws(module);
        return llvm::PreservedAnalyses::none();
    }

private:
    const unsigned level_;
};

} // namespace

} // namespace ws_clang

// The start of the pipeline: every level of optimization passes there, before inlining and before LTO's bitcode is
// written.
extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo()
{
    return {LLVM_PLUGIN_API_VERSION, "ws", "1", [](llvm::PassBuilder& builder) {
                builder.registerPipelineStartEPCallback(
                    [](llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
                        passes.addPass(ws_clang::LoweringPass(level.getSpeedupLevel()));
                    });
                ws_clang::register_alone_pass(builder);
            }};
}
