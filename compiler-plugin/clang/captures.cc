// SPDX-License-Identifier: MIT
//
// Clang hands each variable that a loop shares to the outlined function by its address: then every iteration may have
// to read it again, because whatever the loop stores might change it. A scalar that nothing can change while the loop
// runs is passed by value instead.
#include "back.h"

namespace ws_clang {

using namespace llvm;

namespace {

enum class Access { reads, writes };

bool keeps_to(const Value* address, Access allowed, unsigned depth);

bool is_of_lifetime(const User* user)
{
    const auto* intrinsic = dyn_cast<IntrinsicInst>(user);
    return intrinsic && intrinsic->isLifetimeStartOrEnd();
}

// What an outlined function does with its parameter.
bool parameter_keeps_to(const Function* function, unsigned number, Access allowed, unsigned depth)
{
    return depth < 4 && !function->isDeclaration() && is_outlined(function->getName()) &&
           number < function->arg_size() && keeps_to(function->getArg(number), allowed, depth + 1);
}

// A place of its own in which unoptimized code keeps a parameter: all that is done with what is loaded from there.
bool slot_keeps_to(const Value* slot, Access allowed, unsigned depth)
{
    if (!isa<AllocaInst>(slot))
        return false;
    for (const User* user : slot->users()) {
        if (const auto* load = dyn_cast<LoadInst>(user)) {
            if (!keeps_to(load, allowed, depth))
                return false;
        } else if (const auto* store = dyn_cast<StoreInst>(user)) {
            if (store->getValueOperand() == slot)
                return false;
        } else if (!isa<DbgInfoIntrinsic>(user)) {
            return false;
        }
    }
    return true;
}

// Whether all that is done with an address is to read what is there (or also to write it): it gets nowhere else.
bool keeps_to(const Value* address, Access allowed, unsigned depth)
{
    for (const Use& use : address->uses()) {
        const User* user = use.getUser();
        if (const auto* load = dyn_cast<LoadInst>(user)) {
            if (!load->isSimple())
                return false;
        } else if (const auto* store = dyn_cast<StoreInst>(user)) {
            if (store->getValueOperand() == address ? !slot_keeps_to(store->getPointerOperand(), allowed, depth)
                                                    : allowed == Access::reads || !store->isSimple())
                return false;
        } else if (isa<DbgInfoIntrinsic>(user) || is_of_lifetime(user)) {
            continue;
        } else if (const auto* cast = dyn_cast<BitCastInst>(user)) {
            for (const User* cast_user : cast->users())
                if (!is_of_lifetime(cast_user))
                    return false;
        } else if (const auto* call = dyn_cast<CallBase>(user)) {
            const Function* called = callee(*call);
            if (!called || !call->isArgOperand(&use))
                return false;
            const unsigned number = call->getArgOperandNo(&use);
            if (called->getName() == "__kmpc_fork_call") {
                const auto* body = dyn_cast<Function>(call->getArgOperand(2)->stripPointerCasts());
                if (!body || number < 3 || !parameter_keeps_to(body, number - 1, allowed, depth))
                    return false;
            } else if (!parameter_keeps_to(called, number, allowed, depth)) {
                return false;
            }
        } else {
            return false;
        }
    }
    return true;
}

} // namespace

Type* captured_value(const CallBase* fork, unsigned operand)
{
    const auto* variable = dyn_cast<AllocaInst>(fork->getArgOperand(operand));
    if (!ws::has(ws::Optimization::captures) || !variable || variable->isArrayAllocation() ||
        fork->getFunction()->hasOptNone())
        return nullptr;
    Type* type = variable->getAllocatedType();
    if (!type->isIntegerTy() && !type->isFloatingPointTy() && !type->isPointerTy())
        return nullptr;
    const auto* body = cast<Function>(fork->getArgOperand(2)->stripPointerCasts());
    // Nobody else has its address, and this loop only reads it.
    return parameter_keeps_to(body, operand - 1, Access::reads, 0) && keeps_to(variable, Access::writes, 0) ? type
                                                                                                            : nullptr;
}

} // namespace ws_clang
