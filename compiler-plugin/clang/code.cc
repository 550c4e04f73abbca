// SPDX-License-Identifier: MIT
//
// What the files of the back half have in common (back.h).
#include "back.h"

namespace ws_clang {

using namespace llvm;

std::string readable_name(const std::string& symbol)
{
    ItaniumPartialDemangler demangler;
    // Else a name of C may be taken for a type: `f` is float.
    if (!begins(symbol, "_Z") || demangler.partialDemangle(symbol.c_str()))
        return symbol;
    char* readable = demangler.isFunction() ? demangler.getFunctionName(nullptr, nullptr)
                                            : demangler.finishDemangle(nullptr, nullptr);
    const std::string name = readable ? readable : symbol;
    free(readable);
    return name;
}

Function* callee(const Instruction& instruction)
{
    const auto* call = dyn_cast<CallBase>(&instruction);
    return call ? dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts()) : nullptr;
}

bool calls(const Instruction& instruction, StringRef name)
{
    const Function* called = callee(instruction);
    return called && called->getName() == name;
}

void remove_call(CallBase* call)
{
    if (auto* invoke = dyn_cast<InvokeInst>(call)) {
        invoke->getUnwindDest()->removePredecessor(invoke->getParent());
        IRBuilder<>(invoke).CreateBr(invoke->getNormalDest());
    }
    call->eraseFromParent();
}

void inline_outlined(Function* function)
{
    for (bool found = true; found;) {
        found = false;
        for (BasicBlock& block : *function) {
            for (Instruction& instruction : block) {
                Function* called = callee(instruction);
                if (!called || !called->hasInternalLinkage() || !is_outlined(called->getName()))
                    continue;
                InlineFunctionInfo info;
                found = InlineFunction(*cast<CallBase>(&instruction), info).isSuccess();
                break;
            }
            if (found)
                break;
        }
    }
}

FunctionCallee runtime_function(Module& module, StringRef name, Type* result, ArrayRef<Type*> parameters)
{
    FunctionCallee function = module.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
    auto* declaration = cast<Function>(function.getCallee());
    declaration->addFnAttr(Attribute::NoUnwind); // what leaves an iteration ends the program, as in OpenMP
    if (result->isIntegerTy(1))
        declaration->addRetAttr(Attribute::ZExt);
    return function;
}

} // namespace ws_clang
