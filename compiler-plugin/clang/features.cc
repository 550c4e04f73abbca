// SPDX-License-Identifier: MIT
//
// What a file tells libws that it uses (runtime/abi/abi.h, ws_uses), by a constructor.
#include "back.h"

#include "../clauses/mpi_calls.h"
#include "../../runtime/abi/abi.h"

namespace ws_clang {

using namespace llvm;

namespace {

bool communicates(const Function& function)
{
    const ws::MpiCall kind = ws::mpi_call(function.getName().str());
    return function.isDeclaration() && (kind == ws::MpiCall::communicates || kind == ws::MpiCall::opens_file);
}

// The functions that a function calls or names, and those that they do.
class Reach {
public:
    bool mpi = false;
    bool unknown = false; // calls through a pointer

    void add(const Function* function)
    {
        if (!seen_.insert(function).second)
            return;
        mpi |= communicates(*function);
        for (const Instruction& instruction : instructions(function)) {
            if (const auto* call = dyn_cast<CallBase>(&instruction))
                unknown |= call->isIndirectCall();
            for (const Value* operand : instruction.operands())
                mention(operand);
        }
    }

private:
    void mention(const Value* value)
    {
        if (const auto* function = dyn_cast<Function>(value))
            add(function);
        else if (const auto* expression = dyn_cast<ConstantExpr>(value))
            for (const Value* operand : expression->operands())
                mention(operand);
    }

    SmallPtrSet<const Function*, 16> seen_;
};

} // namespace

unsigned features_of_loops(Module& module, ArrayRef<Function*> loops)
{
    Reach reach;
    for (const Function* loop : loops)
        reach.add(loop);
    // Through a pointer any function of this file may be called whose address is taken.
    if (reach.unknown)
        for (const Function& function : module)
            if (!reach.mpi && !function.isDeclaration() && function.hasAddressTaken())
                reach.add(&function);
    return reach.mpi ? WS_USES_MPI_IN_LOOPS : 0;
}

void announce(Module& module, unsigned features)
{
    if (!features)
        return;
    LLVMContext& context = module.getContext();
    auto* nothing = Type::getVoidTy(context);
    auto* number = Type::getInt32Ty(context);
    Function* constructor =
        Function::Create(FunctionType::get(nothing, false), GlobalValue::InternalLinkage, "ws_announce", module);
    constructor->addFnAttr(Attribute::NoUnwind);
    IRBuilder<> builder(BasicBlock::Create(context, "", constructor));
    builder.CreateCall(module.getOrInsertFunction("ws_uses", FunctionType::get(nothing, {number}, false)),
                       {ConstantInt::get(number, features)});
    builder.CreateRetVoid();
    appendToGlobalCtors(module, constructor, 65535);
}

void name_fws(Module& module)
{
    // One of these stands in all that was lowered.
    const char* ours[] = {"ws_parallel", "ws_parallel_if",  "ws_openmp",   "ws_critical_start",
                          "ws_alone",    "ws_atomic_start", "ws_new_task", "ws_taskwait",
                          "ws_taskgroup_start"};
    if (none_of(ours, [&](const char* name) { return module.getNamedValue(name); }))
        return;
    auto* byte = Type::getInt8Ty(module.getContext());
    Constant* name = module.getOrInsertGlobal(WS_LINK_SYMBOL, byte);
    auto* pointer = new GlobalVariable(module, name->getType(), true, GlobalValue::PrivateLinkage, name, "ws_link");
    appendToCompilerUsed(module, {pointer});
}

} // namespace ws_clang
