// SPDX-License-Identifier: MIT
//
// The pass for `ws task` and its kin. A task and a taskloop carry our mark in their if clause:
//
//     task = __kmpc_omp_task_alloc(loc, thread, flags, size, shared, entry)
//                                          task = ws_new_task(flags, size, shared, entry, &site, &space)
//     if (__ws_mark(...))                  if (condition)
//         __kmpc_omp_task(loc, thread, task)              ws_start_task(task, true, 0, null)
//     else {                               else
//         __kmpc_omp_task_begin_if0(loc, thread, task)    ws_start_task(task, false, 0, null)
//         entry(thread, task)
//         __kmpc_omp_task_complete_if0(loc, thread, task)
//     }
//
// and with depend clauses __kmpc_omp_task_with_deps and __kmpc_omp_wait_deps. A taskwait has a mark behind it. A
// taskgroup, also that of a taskloop, stands alone in a critical whose name tells.
#include "back.h"

#include "../../runtime/abi/abi.h"

namespace ws_clang {

using namespace llvm;

namespace {

class Tasks {
public:
    explicit Tasks(Module& module) : module_(module), context_(module.getContext()) {}

    Function* lower(CallBase* mark, Constant* site);
    void lower_taskwait(CallBase* mark);
    void lower_taskgroups();

private:
    CallBase* allocation_of(CallBase* mark);
    SmallVector<CallBase*, 4> starts_of(CallBase* task);
    void start(CallBase* call, Value* task, bool may_wait, Value* count, Value* depend);
    void lower_start(CallBase* call, Value* task, Function* entry);
    void lower_taskloop(CallBase* call, Value* task);
    void lower_entry(Function* entry);
    void lower_taskgroup(CallBase* group, ArrayRef<CallBase*> ends);

    Value* as_pointer(IRBuilder<>& builder, Value* value) { return builder.CreatePointerCast(value, pointer_); }

    Module& module_;
    LLVMContext& context_;
    Type* const nothing_ = Type::getVoidTy(context_);
    IntegerType *const i1_ = Type::getInt1Ty(context_), *const i32_ = Type::getInt32Ty(context_),
                             *const i64_ = Type::getInt64Ty(context_);
    PointerType* const pointer_ = pointer_to(Type::getInt8Ty(context_));
};

bool is_of_libomp(const Instruction& instruction)
{
    const Function* called = callee(instruction);
    return called && begins(called->getName(), "__kmpc_") && called->getName() != "__kmpc_global_thread_num";
}

// The nearest calls of libomp's: on each way from an instruction on, or back from it.
SmallVector<CallBase*, 2> nearest_calls(BasicBlock* block, Instruction* from, bool back)
{
    SmallVector<CallBase*, 2> found;
    SmallPtrSet<BasicBlock*, 8> seen;
    SmallVector<std::pair<BasicBlock*, Instruction*>, 8> todo{{block, from}};
    const auto go_on = [&](BasicBlock* next) {
        if (seen.insert(next).second)
            todo.emplace_back(next, back ? next->getTerminator() : &next->front());
    };
    while (!todo.empty()) {
        auto [in, at] = todo.pop_back_val();
        while (at && !is_of_libomp(*at))
            at = back ? at->getPrevNode() : at->getNextNode();
        if (at)
            found.push_back(cast<CallBase>(at));
        else if (back)
            for (BasicBlock* previous : predecessors(in))
                go_on(previous);
        else
            for (BasicBlock* next : successors(in))
                if (!next->isEHPad())
                    go_on(next);
    }
    return found;
}

SmallVector<CallBase*, 2> next_calls(Instruction* from) { return nearest_calls(from->getParent(), from, false); }

SmallVector<CallBase*, 2> previous_calls(Instruction* before)
{
    return nearest_calls(before->getParent(), before->getPrevNode(), true);
}

bool waits_for_others(const CallBase& call)
{
    return calls(call, "__kmpc_omp_wait_deps") || calls(call, "__kmpc_omp_taskwait_deps_51");
}

bool is_taskloop(const CallBase* call) { return calls(*call, "__kmpc_taskloop") || calls(*call, "__kmpc_taskloop_5"); }

// The task that a mark is for; null in code that cannot be reached.
CallBase* Tasks::allocation_of(CallBase* mark)
{
    for (CallBase* call : next_calls(mark)) {
        if (waits_for_others(*call))
            continue; // the other way tells
        auto* task = call->arg_size() > 2 ? dyn_cast<CallBase>(call->getArgOperand(2)->stripPointerCasts()) : nullptr;
        if (task && calls(*task, "__kmpc_omp_task_alloc"))
            return task;
    }
    return nullptr;
}

// The calls that hand a task to libomp.
SmallVector<CallBase*, 4> Tasks::starts_of(CallBase* task)
{
    SmallVector<CallBase*, 4> found;
    SmallVector<Value*, 4> todo{task};
    while (!todo.empty())
        for (User* user : todo.pop_back_val()->users())
            if (isa<BitCastInst>(user))
                todo.push_back(user);
            else if (auto* call = dyn_cast<CallBase>(user); call && is_of_libomp(*call))
                found.push_back(call);
    return found;
}

void Tasks::start(CallBase* call, Value* task, bool may_wait, Value* count, Value* depend)
{
    IRBuilder<> builder(call);
    CallInst* started = builder.CreateCall(
        runtime_function(module_, "ws_start_task", nothing_, {pointer_, i1_, i32_, pointer_}),
        {task, builder.getInt1(may_wait), count ? count : builder.getInt32(0),
         depend ? as_pointer(builder, depend) : ConstantPointerNull::get(pointer_)});
    started->addParamAttr(1, Attribute::ZExt);
}

void Tasks::lower_start(CallBase* call, Value* task, Function* entry)
{
    if (calls(*call, "__kmpc_omp_task")) {
        start(call, task, true, nullptr, nullptr);
    } else if (calls(*call, "__kmpc_omp_task_with_deps")) {
        start(call, task, true, call->getArgOperand(3), call->getArgOperand(4));
    } else if (calls(*call, "__kmpc_omp_task_begin_if0")) {
        CallBase* wait = nullptr;
        for (CallBase* before : previous_calls(call))
            wait = waits_for_others(*before) ? before : nullptr;
        start(call, task, false, wait ? wait->getArgOperand(2) : nullptr, wait ? wait->getArgOperand(3) : nullptr);
        if (wait)
            remove_call(wait);
        SmallVector<CallBase*, 1> runs;
        for (User* user : entry->users())
            if (auto* run = dyn_cast<CallBase>(user);
                run && callee(*run) == entry && run->getArgOperand(1)->stripPointerCasts() == task)
                runs.push_back(run);
        for (CallBase* run : runs)
            remove_call(run);
    }
    if (!call->use_empty())
        call->replaceAllUsesWith(ConstantInt::get(i32_, 0));
    remove_call(call);
}

// __kmpc_taskloop(loc, thread, task, if, &lower, &upper, step, 1, which, tasks, copy)
// __kmpc_taskloop_5(loc, thread, task, if, &lower, &upper, step, 1, which, tasks, strict, copy)
void Tasks::lower_taskloop(CallBase* call, Value* task)
{
    IRBuilder<> builder(call);
    const bool has_strict = calls(*call, "__kmpc_taskloop_5");
    enum { none, by_grainsize, by_number };
    unsigned flags = cast<ConstantInt>(call->getArgOperand(8))->getZExtValue() == by_grainsize ? WS_TASK_GRAINSIZE : 0;
    if (has_strict && !cast<ConstantInt>(call->getArgOperand(10))->isZero())
        flags |= WS_TASK_STRICT;
    Value* may_wait = builder.CreateICmpNE(call->getArgOperand(3), builder.getInt32(0));
    Value* all =
        builder.CreateSelect(may_wait, builder.getInt32(flags | WS_TASK_IF), builder.getInt32(flags));
    builder.CreateCall(
        runtime_function(module_, "ws_start_taskloop", nothing_, {pointer_, i32_, i64_, pointer_}),
        {task, all, call->getArgOperand(9), as_pointer(builder, call->getArgOperand(has_strict ? 11 : 10))});
    remove_call(call);
}

// What the task's function has of libomp.
void Tasks::lower_entry(Function* entry)
{
    SmallVector<Function*, 4> functions{entry};
    for (BasicBlock& block : *entry)
        for (Instruction& instruction : block)
            if (Function* called = callee(instruction); called && is_outlined(called->getName()))
                functions.push_back(called);
    SmallVector<CallBase*, 4> copies;
    for (Function* function : functions)
        for (BasicBlock& block : *function)
            for (Instruction& instruction : block)
                if (calls(instruction, "__kmpc_task_reduction_get_th_data"))
                    copies.push_back(cast<CallBase>(&instruction));
    for (CallBase* call : copies) {
        IRBuilder<> builder(call);
        Value* copy = builder.CreateCall(runtime_function(module_, "ws_task_copy", pointer_, {pointer_}),
                                         {as_pointer(builder, call->getArgOperand(2))});
        call->replaceAllUsesWith(builder.CreatePointerCast(copy, call->getType()));
        remove_call(call);
    }
    // For `omp` constructs of the user's in the task.
    if (!options.openmp || entry->getArg(0)->use_empty())
        return;
    IRBuilder<> builder(&*entry->getEntryBlock().getFirstInsertionPt());
    Function* known = module_.getFunction("__kmpc_global_thread_num");
    if (!known)
        return;
    CallInst* asked =
        builder.CreateCall(known, {Constant::getNullValue(known->getFunctionType()->getParamType(0))});
    asked->setOnlyReadsMemory();
    asked->setOnlyAccessesInaccessibleMemory();
    asked->addFnAttr(Attribute::NoUnwind);
    asked->addFnAttr(Attribute::WillReturn);
    entry->getArg(0)->replaceAllUsesWith(asked);
}

// Returns the task's function; null in code that cannot be reached.
Function* Tasks::lower(CallBase* mark, Constant* site)
{
    CallBase* task = allocation_of(mark);
    Value* condition = mark->getArgOperand(6);
    const auto* constant = dyn_cast<ConstantInt>(condition);
    if (!task)
        return nullptr;
    auto* entry = cast<Function>(task->getArgOperand(5)->stripPointerCasts());
    auto *size = dyn_cast<ConstantInt>(task->getArgOperand(3)), *shared = dyn_cast<ConstantInt>(task->getArgOperand(4));
    const SmallVector<CallBase*, 4> starts = starts_of(task);
    const bool loop = any_of(starts, is_taskloop);
    if (!size || !shared || starts.empty()) {
        context_.emitError(mark, "'#pragma ws task': this clang lays out tasks in a way that the plugin does not know");
        return nullptr;
    }
    IRBuilder<> builder(&*task->getFunction()->getEntryBlock().getFirstInsertionPt());
    auto* bytes = ArrayType::get(builder.getInt8Ty(), WS_TASK_SPACE(size->getZExtValue(), shared->getZExtValue()));
    AllocaInst* space = builder.CreateAlloca(bytes, nullptr, "ws.task");
    space->setAlignment(Align(64));
    builder.SetInsertPoint(task);
    Value* flags = builder.CreateOr(task->getArgOperand(2), builder.getInt32(loop ? WS_TASK_LOOP : 0));
    CallInst* made = builder.CreateCall(
        runtime_function(module_, "ws_new_task", pointer_, {i32_, i64_, i64_, pointer_, pointer_, pointer_}),
        {flags, size, shared, as_pointer(builder, task->getArgOperand(5)), site, as_pointer(builder, space)});
    Value* cast_made = builder.CreatePointerCast(made, task->getType());
    task->replaceAllUsesWith(cast_made);
    for (CallBase* call : starts)
        if (is_taskloop(call))
            lower_taskloop(call, made);
        else
            lower_start(call, made, entry);
    remove_call(task);
    lower_entry(entry);
    // Only one of the two ways is left if the condition is known.
    SmallVector<ICmpInst*, 1> compared;
    for (User* user : mark->users())
        if (auto* compare = dyn_cast<ICmpInst>(user); constant && compare)
            compared.push_back(compare);
    mark->replaceAllUsesWith(condition);
    for (ICmpInst* compare : compared) {
        compare->replaceAllUsesWith(
            ConstantInt::get(i1_, constant->isZero() == (compare->getPredicate() == CmpInst::ICMP_EQ)));
        BasicBlock* block = compare->getParent();
        compare->eraseFromParent();
        ConstantFoldTerminator(block);
    }
    return entry;
}

void Tasks::lower_taskwait(CallBase* mark)
{
    for (CallBase* wait : previous_calls(mark))
        if (calls(*wait, "__kmpc_omp_taskwait")) {
            IRBuilder<>(wait).CreateCall(runtime_function(module_, "ws_taskwait", nothing_, {}));
            if (!wait->use_empty())
                wait->replaceAllUsesWith(ConstantInt::get(i32_, 0));
            remove_call(wait);
        }
}

// Where the taskgroup that a call begins ends: also where an exception leaves it, which ends the program.
SmallVector<CallBase*, 2> ends_of(CallBase* group)
{
    SmallVector<CallBase*, 2> found;
    SmallPtrSet<BasicBlock*, 16> seen;
    SmallVector<std::pair<Instruction*, unsigned>, 8> todo{{group->getNextNode(), 0}}; // with the groups in this one
    while (!todo.empty()) {
        auto [at, inner] = todo.pop_back_val();
        BasicBlock* block = at->getParent();
        bool ended = false;
        for (; at && !ended; at = at->getNextNode())
            if (calls(*at, "__kmpc_taskgroup"))
                inner++;
            else if (calls(*at, "__kmpc_end_taskgroup") && inner-- == 0) {
                found.push_back(cast<CallBase>(at));
                ended = true;
            }
        for (BasicBlock* next : successors(block))
            if (!ended && seen.insert(next).second)
                todo.emplace_back(&next->front(), inner);
    }
    return found;
}

void Tasks::lower_taskgroup(CallBase* group, ArrayRef<CallBase*> ends)
{
    for (CallBase* reduction : next_calls(group->getNextNode())) {
        if (!calls(*reduction, "__kmpc_taskred_init"))
            continue;
        IRBuilder<> builder(reduction);
        builder.CreateCall(runtime_function(module_, "ws_task_reductions", nothing_, {i32_, pointer_}),
                           {reduction->getArgOperand(1), as_pointer(builder, reduction->getArgOperand(2))});
        reduction->replaceAllUsesWith(Constant::getNullValue(reduction->getType()));
        remove_call(reduction);
    }
    IRBuilder<>(group).CreateCall(runtime_function(module_, "ws_taskgroup_start", nothing_, {}));
    remove_call(group);
    for (CallBase* end : ends) {
        IRBuilder<>(end).CreateCall(runtime_function(module_, "ws_taskgroup_end", nothing_, {}));
        remove_call(end);
    }
}

void Tasks::lower_taskgroups()
{
    SmallVector<CallBase*, 8> marks;
    for (Function& function : module_)
        for (BasicBlock& block : function)
            for (Instruction& instruction : block)
                if (calls(instruction, "__kmpc_critical") || calls(instruction, "__kmpc_end_critical")) {
                    auto* call = cast<CallBase>(&instruction);
                    if (begins(call->getArgOperand(2)->stripPointerCasts()->getName(),
                               std::string(".gomp_critical_user_") + taskgroup_mark))
                        marks.push_back(call);
                }
    // All are found before the first is lowered: they may be nested.
    SmallVector<std::pair<CallBase*, SmallVector<CallBase*, 2>>, 8> groups;
    for (CallBase* mark : marks)
        if (calls(*mark, "__kmpc_critical"))
            for (CallBase* group : next_calls(mark->getNextNode()))
                if (calls(*group, "__kmpc_taskgroup"))
                    groups.emplace_back(group, ends_of(group));
    for (auto& [group, ends] : groups)
        lower_taskgroup(group, ends);
    for (CallBase* mark : marks) {
        auto* lock = dyn_cast<GlobalVariable>(mark->getArgOperand(2)->stripPointerCasts());
        remove_call(mark);
        if (!lock)
            continue;
        lock->removeDeadConstantUsers();
        if (lock->use_empty())
            lock->eraseFromParent();
    }
}

} // namespace

Function* lower_task(Module& module, CallBase* mark, Constant* site) { return Tasks(module).lower(mark, site); }

void lower_taskwait(Module& module, CallBase* mark) { Tasks(module).lower_taskwait(mark); }

void lower_taskgroups(Module& module) { Tasks(module).lower_taskgroups(); }

} // namespace ws_clang
