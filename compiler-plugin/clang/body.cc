// SPDX-License-Identifier: MIT
//
// The functions that clang has outlined of our loops: what they ask of libomp is asked of libws.
//
//     __kmpc_dispatch_init(loc, thread, kind, 0, last, 1, 1)        ws_loop_ull_start(true, 0, last + 1, 1, &lo, &hi)
//     __kmpc_dispatch_next(loc, thread, &is_last, &lo, &hi, &step)  ws_loop_ull_next(&lo, &hi)
//     __kmpc_reduce_nowait(...), __kmpc_end_reduce_nowait           1 (merge here) within ws_reduction_start, _end
//     __kmpc_barrier                                                removed: see runtime/loop, "no_more"
//
// Clang counts iterations from 0. Sections it makes a loop over their numbers that libomp distributes once,
//
//     __kmpc_for_static_init(loc, thread, kind, &is_last, &lower, &upper, ...); i = lower; while (i <= upper) { ...;
//     i++; }
//
// of which one that asks for chunks is made: `i = lower` and `i++` come to be the start and the next.
#include "body.h"

namespace ws_clang {

using namespace llvm;

// Iterations are counted from 0. Whether there is a chunk: [*lo, *hi).
Value* LoopBodies::start(IRBuilder<>& builder, Value* iterations, Value* lo, Value* hi)
{
    Type* place = pointer_to(i64_);
    CallInst* started =
        builder.CreateCall(runtime_function(module_, "ws_loop_ull_start", i1_, {i1_, i64_, i64_, i64_, place, place}),
                           {builder.getTrue(), builder.getInt64(0), iterations, builder.getInt64(1), lo, hi});
    started->addParamAttr(0, Attribute::ZExt);
    return started;
}

Value* LoopBodies::next_chunk(IRBuilder<>& builder, Value* lo, Value* hi)
{
    Type* place = pointer_to(i64_);
    return builder.CreateCall(runtime_function(module_, "ws_loop_ull_next", i1_, {place, place}), {lo, hi});
}

// The loop that asks for chunks. Its first block asks libomp for the next one each time; libws gives the first chunk
// with the start: so the question moves to where the loop comes back from.
void LoopBodies::lower_dispatch(CallBase* init)
{
    CallBase* next = nullptr;
    BasicBlock *before = init->getParent(), *head = before->getSingleSuccessor(), *back = nullptr;
    for (Instruction& instruction : head ? *head : *before)
        if (Function* called = callee(instruction); called && begins(called->getName(), "__kmpc_dispatch_next_"))
            next = cast<CallBase>(&instruction);
    for (BasicBlock* block : head ? predecessors(head) : predecessors(before))
        if (block != before)
            back = back ? before : block;
    if (!next || back == before || (back && !back->getSingleSuccessor())) {
        context_.emitError(init, "'#pragma ws for': this clang lays out loops in a way that the plugin does not know");
        return;
    }

    IRBuilder<> builder(&*init->getFunction()->getEntryBlock().getFirstInsertionPt());
    Value *lo = builder.CreateAlloca(i64_, nullptr, "ws.lo"), *hi = builder.CreateAlloca(i64_, nullptr, "ws.hi");

    // As a count of 64 bits; the argument is the number of the last one.
    builder.SetInsertPoint(init);
    Value* iterations = builder.CreateAdd(builder.CreateZExt(init->getArgOperand(4), i64_), builder.getInt64(1));
    Value* started = start(builder, iterations, lo, hi);

    builder.SetInsertPoint(head, head->begin());
    PHINode* more = builder.CreatePHI(i1_, 2, "ws.more");
    more->addIncoming(started, before);
    if (back) {
        IRBuilder<> at_back(back->getTerminator());
        at_back.SetCurrentDebugLocation(init->getDebugLoc());
        more->addIncoming(next_chunk(at_back, lo, hi), back);
    }

    builder.SetInsertPoint(next);
    Value *is_last = next->getArgOperand(2), *first = next->getArgOperand(3), *last = next->getArgOperand(4);
    Type* counter = callee(*next)->getName().contains("_next_8") ? i64_ : i32_;
    Value* end = builder.CreateLoad(i64_, hi);
    builder.CreateStore(builder.CreateTrunc(builder.CreateLoad(i64_, lo), counter), first);
    builder.CreateStore(builder.CreateTrunc(builder.CreateSub(end, builder.getInt64(1)), counter), last);
    // Set with the last iteration, never cleared.
    Value* holds_last = builder.CreateZExt(builder.CreateAnd(more, builder.CreateICmpEQ(end, iterations)), i32_);
    builder.CreateStore(builder.CreateOr(builder.CreateLoad(i32_, is_last), holds_last), is_last);
    look_once_at_alone(next->getFunction(), next);
    next->replaceAllUsesWith(builder.CreateZExt(more, i32_));
    remove_call(next);
    remove_call(init);
}

void LoopBodies::lower_sections(CallBase* init)
{
    Value *is_last = init->getArgOperand(3), *lower = init->getArgOperand(4), *upper = init->getArgOperand(5);
    ConstantInt* last = nullptr;
    Value* number = nullptr;
    for (User* user : upper->users())
        if (auto* store = dyn_cast<StoreInst>(user); store && isa<ConstantInt>(store->getValueOperand()))
            last = cast<ConstantInt>(store->getValueOperand());
    for (User* user : lower->users())
        if (auto* load = dyn_cast<LoadInst>(user); load && load->hasOneUse() && isa<StoreInst>(*load->user_begin()))
            number = cast<StoreInst>(*load->user_begin())->getPointerOperand();
    SmallVector<StoreInst*, 1> steps;
    for (User* user : number ? number->users() : upper->users())
        if (auto* store = dyn_cast<StoreInst>(user);
            store && store->getPointerOperand() == number && isa<BinaryOperator>(store->getValueOperand()))
            steps.push_back(store);
    if (!last || steps.size() != 1) {
        context_.emitError(init,
                           "'#pragma ws sections': this clang lays them out in a way that the plugin does not know");
        return;
    }
    Function* function = init->getFunction();
    Constant* sections = ConstantInt::get(last->getType(), last->getZExtValue() + 1);
    IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
    Value *lo = builder.CreateAlloca(i64_, nullptr, "ws.lo"), *hi = builder.CreateAlloca(i64_, nullptr, "ws.hi");
    // The first section of a chunk that libws gave, or one behind the last. Remembers that the last is in it.
    const auto first_of = [&](Value* more) {
        Value* holds_last = builder.CreateAnd(
            more, builder.CreateICmpEQ(builder.CreateLoad(i64_, hi), builder.getInt64(last->getZExtValue() + 1)));
        builder.CreateStore(builder.CreateOr(builder.CreateLoad(i32_, is_last), builder.CreateZExt(holds_last, i32_)),
                            is_last);
        return builder.CreateSelect(more, builder.CreateTrunc(builder.CreateLoad(i64_, lo), last->getType()), sections);
    };
    builder.SetInsertPoint(init);
    builder.CreateStore(first_of(start(builder, builder.getInt64(last->getZExtValue() + 1), lo, hi)), lower);

    StoreInst* step = steps[0];
    Value* following = step->getValueOperand();
    builder.SetInsertPoint(step);
    Value* end = builder.CreateTrunc(builder.CreateLoad(i64_, hi), last->getType());
    BasicBlock* inside = step->getParent();
    Instruction* asks = SplitBlockAndInsertIfThen(builder.CreateICmpEQ(following, end), step, false);
    builder.SetInsertPoint(asks);
    builder.SetCurrentDebugLocation(init->getDebugLoc());
    Value* first = first_of(next_chunk(builder, lo, hi));
    builder.SetInsertPoint(step);
    PHINode* next = builder.CreatePHI(last->getType(), 2);
    next->addIncoming(following, inside);
    next->addIncoming(first, asks->getParent());
    step->setOperand(0, next);
    remove_call(init);
}

// Clang prepares three ways to merge. The first is always taken: all at once, by the thread that holds the lock.
void LoopBodies::lower_reduction(CallBase* call)
{
    IRBuilder<> builder(call);
    if (!begins(callee(*call)->getName(), "__kmpc_reduce")) {
        builder.CreateCall(runtime_function(module_, "ws_reduction_end", nothing_, {}));
        remove_call(call);
        return;
    }
    builder.CreateCall(runtime_function(module_, "ws_reduction_start", nothing_, {}));
    BasicBlock* block = call->getParent();
    call->replaceAllUsesWith(builder.getInt32(1));
    remove_call(call);
    ConstantFoldTerminator(block);
}

// Clang tells the debugger of two places for one loop variable. It looks at the first, in which only the bounds of the
// loop are computed; the last is the loop's.
static void keep_last_places(Function* function)
{
    DenseMap<DILocalVariable*, Declaration*> last;
    SmallVector<Declaration*, 2> others;
    for (BasicBlock& block : *function)
        for (Instruction& instruction : block)
            each_declaration(instruction, [&](Declaration* declare) {
                Declaration*& known = last[declare->getVariable()];
                if (known)
                    others.push_back(known);
                known = declare;
            });
    for (Declaration* declare : others)
        declare->eraseFromParent();
}

void LoopBodies::lower(Function* function)
{
    if (!lowered_.insert(function).second)
        return;
    keep_last_places(function);
    SmallVector<CallBase*, 2> inits, sections, reductions, barriers;
    SmallVector<Function*, 1> wrapped;
    for (BasicBlock& block : *function)
        for (Instruction& instruction : block) {
            Function* called = callee(instruction);
            if (!called)
                continue;
            auto* call = cast<CallBase>(&instruction);
            const StringRef name = called->getName();
            if (begins(name, "__kmpc_dispatch_init_"))
                inits.push_back(call);
            else if (begins(name, "__kmpc_reduce") || begins(name, "__kmpc_end_reduce"))
                reductions.push_back(call);
            else if (begins(name, "__kmpc_for_static_init_"))
                sections.push_back(call);
            else if (name == "__kmpc_barrier" || name == "__kmpc_for_static_fini" || name == "__kmpc_dispatch_deinit")
                barriers.push_back(call);
            else if (is_outlined_debug(name))
                wrapped.push_back(called); // with -g the region is in a function of its own
        }
    for (CallBase* init : inits)
        lower_dispatch(init);
    for (CallBase* init : sections)
        lower_sections(init);
    for (CallBase* call : reductions)
        lower_reduction(call);
    for (CallBase* call : barriers)
        remove_call(call);
    removeUnreachableBlocks(*function);
    for (Function* inner : wrapped)
        lower(inner);
}

} // namespace ws_clang
