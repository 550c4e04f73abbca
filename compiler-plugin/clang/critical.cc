// SPDX-License-Identifier: MIT
//
// The pass for `ws critical`: clang has made it an `omp critical` whose lock's name tells.
//
//     __kmpc_critical(loc, thread, &.gomp_critical_user___ws_critical_NAME.var)       ws_critical_start(&critical)
#include "back.h"

#include "../../runtime/abi/abi.h"

#include <map>

namespace ws_clang {

using namespace llvm;

namespace {

class Criticals {
public:
    explicit Criticals(Module& module) : module_(module), context_(module.getContext()) {}

    unsigned run()
    {
        std::vector<std::pair<CallBase*, std::string>> found;
        for (Function& function : module_)
            for (BasicBlock& block : function)
                for (Instruction& instruction : block)
                    if (calls(instruction, "__kmpc_critical") || calls(instruction, "__kmpc_end_critical")) {
                        auto* call = cast<CallBase>(&instruction);
                        std::string name;
                        if (is_ours(call->getArgOperand(2)->stripPointerCasts()->getName(), name))
                            found.emplace_back(call, name);
                    }
        for (auto& [call, name] : found) {
            const bool enter = calls(*call, "__kmpc_critical");
            auto* lock = dyn_cast<GlobalVariable>(call->getArgOperand(2)->stripPointerCasts());
            FunctionCallee function =
                module_.getOrInsertFunction(enter ? "ws_critical_start" : "ws_critical_end",
                                            FunctionType::get(Type::getVoidTy(context_), {pointer_}, false));
            cast<Function>(function.getCallee())->addFnAttr(Attribute::NoUnwind);
            IRBuilder<>(call).CreateCall(function, {object(name)});
            remove_call(call);
            lock->removeDeadConstantUsers();
            if (lock->use_empty())
                lock->eraseFromParent();
        }
        return objects_.empty() ? 0 : WS_USES_CRITICAL;
    }

private:
    static bool is_ours(StringRef lock, std::string& name)
    {
        std::string prefix = ws::critical_prefix;
        prefix.pop_back();
        if (!lock.consume_front(".gomp_critical_user_" + prefix) || !lock.consume_back(".var"))
            return false;
        lock.consume_front("_");
        name = lock.str();
        return true;
    }

    // struct ws_critical.
    Constant* object(const std::string& name)
    {
        GlobalVariable*& object = objects_[name];
        if (!object) {
            Constant* text = ConstantDataArray::getString(context_, name);
            auto* literal = new GlobalVariable(module_, text->getType(), true, GlobalValue::PrivateLinkage, text,
                                               ".str.ws_critical");
            literal->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
            literal->setAlignment(Align(1));
            auto* type = StructType::get(context_, {pointer_, pointer_});
            Constant* values[] = {ConstantExpr::getBitCast(literal, pointer_), ConstantPointerNull::get(pointer_)};
            object = new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                        ConstantStruct::get(type, values), "ws_critical");
            object->setAlignment(Align(sizeof(void*)));
        }
        return ConstantExpr::getBitCast(object, pointer_);
    }

    Module& module_;
    LLVMContext& context_;
    PointerType* const pointer_ = pointer_to(Type::getInt8Ty(context_));
    std::map<std::string, GlobalVariable*> objects_;
};

} // namespace

unsigned lower_criticals(Module& module) { return Criticals(module).run(); }

} // namespace ws_clang
