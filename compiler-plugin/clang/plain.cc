// SPDX-License-Identifier: MIT
//
// An outlined loop does not know what its function knows: constants, and what is an argument there is loaded here. So
// from -O2 on a loop has two versions, as with GCC at -O3 (gcc/plain.cc says why it looks as it does). In its function
// stands the plain one, inlined:
//
//     __kmpc_fork_call(loc, count, fn, captures...)          plain(thread, thread, captures...)
//
//     plain(thread, thread, captures...) {
//       bounds of the loop;
//       if (!ws_plain_begin(&site, chunk, steal_chunk, iterations)) {
//         ws_parallel(thunk, &captures, &site, chunk, steal_chunk);
//         return;
//       }
//       the loop, all iterations at once;
//       ws_plain_end(&site);
//       merge of reductions, lastprivate
//     }
//
// The bounds are computed once more in the outlined loop: a loop where that can be noticed has no plain version.
#include "back.h"

namespace ws_clang {

using namespace llvm;

namespace {

constexpr unsigned most_instructions_twice = 5000; // not optimized yet
constexpr unsigned most_calls_deep = 4;

bool may_repeat(const Function* function, unsigned depth);

// Whether it may run twice: it changes nothing but variables of its function.
bool may_repeat(const Instruction& instruction, unsigned depth)
{
    if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&instruction); intrinsic && intrinsic->isAssumeLikeIntrinsic())
        return true; // tells the optimizer of scopes and lifetimes
    if (const auto* store = dyn_cast<StoreInst>(&instruction))
        return store->isSimple() && isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
    if (const auto* memory = dyn_cast<MemIntrinsic>(&instruction))
        return !memory->isVolatile() && isa<AllocaInst>(getUnderlyingObject(memory->getDest()));
    if (const auto* call = dyn_cast<CallBase>(&instruction)) {
        const Function* called = callee(*call);
        return !call->mayHaveSideEffects() || (called && !called->isInterposable() && !called->isDeclaration() &&
                                               depth < most_calls_deep && may_repeat(called, depth + 1));
    }
    return !instruction.mayHaveSideEffects();
}

bool may_repeat(const Function* function, unsigned depth)
{
    return all_of(instructions(*function), [&](const Instruction& i) { return may_repeat(i, depth); });
}

using BlockSet = SmallPtrSet<BasicBlock*, 16>;

// Whether all that comes before an instruction, which is in no loop, may run twice. `seen`: the blocks that lead to it.
bool may_repeat_before(Instruction* instruction, BlockSet& seen)
{
    BasicBlock* of = instruction->getParent();
    for (const Instruction& before : *of) {
        if (&before == instruction)
            break;
        if (!may_repeat(before, 0))
            return false;
    }
    SmallVector<BasicBlock*, 16> todo(pred_begin(of), pred_end(of));
    while (!todo.empty()) {
        BasicBlock* block = todo.pop_back_val();
        if (block == of)
            return false;
        if (!seen.insert(block).second)
            continue;
        if (!all_of(*block, [](const Instruction& i) { return may_repeat(i, 0); }))
            return false;
        todo.append(pred_begin(block), pred_end(block));
    }
    return true;
}

// What an outlined loop asks of libomp: its bounds, and all of its iterations by `next`, then what there is more.
struct Requests {
    CallBase *init = nullptr, *next = nullptr;
    BasicBlock *head = nullptr, *back = nullptr; // `next` is in `head`, where `back` returns to
    BlockSet above; // blocks that lead to `init`

    // Where `next` writes to: whether it was the last chunk, its first and its last number.
    AllocaInst* place(unsigned i) const { return dyn_cast<AllocaInst>(next->getArgOperand(2 + i)); }
};

// Takes a loop with all of its parts in one function. False if it has no plain version.
bool find_requests(Function* function, Requests& out)
{
    if (function->callsFunctionThatReturnsTwice())
        return false;
    unsigned count = 0;
    for (BasicBlock& block : *function) {
        if (block.hasAddressTaken())
            return false;
        for (Instruction& instruction : block) {
            if (const auto* variable = dyn_cast<AllocaInst>(&instruction); variable && !variable->isStaticAlloca())
                return false;
            count += !isa<DbgInfoIntrinsic>(instruction);
            const Function* called = callee(instruction);
            const StringRef name = called ? called->getName() : "";
            if (begins(name, "__kmpc_dispatch_init_") || begins(name, "__kmpc_dispatch_next_")) {
                CallBase*& found = name.contains("_init_") ? out.init : out.next;
                if (found)
                    return false;
                found = cast<CallBase>(&instruction);
            } else if (name == "__kmpc_fork_call" || begins(name, "__kmpc_for_static_init_") ||
                       begins(name, "ws_parallel") || begins(name, "ws_openmp") || begins(name, "ws_plain_") ||
                       name == ws::mark_function) {
                return false; // sections are few; and a loop in the loop has two versions itself
            }
        }
    }
    if (count > most_instructions_twice || !out.init || !out.next)
        return false;
    BasicBlock* before = out.init->getParent();
    out.head = out.next->getParent();
    if (before->getSingleSuccessor() != out.head || !isa<BranchInst>(before->getTerminator()))
        return false;
    for (BasicBlock* block : predecessors(out.head))
        if (block != before) {
            if (out.back)
                return false;
            out.back = block;
        }
    for (unsigned i = 0; i < 3; i++)
        if (!out.place(i))
            return false;
    return out.back && out.back->getSingleSuccessor() && may_repeat_before(out.init, out.above);
}

// Whether a loop may have a plain version, as far as is known before it is copied.
bool may_have_plain(const CallBase* fork, const Function* body, const Sharing& sharing)
{
    const Function* host = fork->getFunction();
    for (const Function* function : {host, body})
        if (function->hasOptNone() || function->hasOptSize() || function->hasMinSize() ||
            function->callsFunctionThatReturnsTwice())
            return false; // a jump out of a loop is told by the frame that the next loop begins in
    return isa<ConstantInt>(sharing.chunk) && isa<ConstantInt>(sharing.steal_chunk) &&
           (!host->getSubprogram() || fork->getDebugLoc());
}

// The types of what libws is called with.
struct Types {
    explicit Types(LLVMContext& context)
        : nothing(Type::getVoidTy(context)), word(Type::getInt64Ty(context)), boolean(Type::getInt1Ty(context)),
          pointer(pointer_to(Type::getInt8Ty(context)))
    {}
    Type *nothing, *word, *boolean, *pointer;
};

FunctionCallee libws_function(Module& module, const char* name, Type* result, ArrayRef<Type*> parameters)
{
    FunctionCallee function = module.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
    auto* declaration = cast<Function>(function.getCallee());
    declaration->addFnAttr(Attribute::NoUnwind);
    if (result->isIntegerTy(1))
        declaration->addRetAttr(Attribute::ZExt);
    return function;
}

// Fills the block `shared` of the plain version: calls libws with the outlined loop, and returns. What leads past the
// loop because there is nothing to run leads there too, as libws counts that.
void share_instead(Function* plain, const Requests& requests, BasicBlock* before, BasicBlock* shared,
                   const Captures& captures, const Sharing& sharing)
{
    for (BasicBlock* block : requests.above)
        if (auto* branch = dyn_cast<BranchInst>(block->getTerminator()))
            for (unsigned i = 0; i < branch->getNumSuccessors(); i++)
                if (BasicBlock* leads = branch->getSuccessor(i); leads != before && !requests.above.count(leads)) {
                    leads->removePredecessor(block);
                    branch->setSuccessor(i, shared);
                }
    const Types types(plain->getContext());
    IRBuilder<> builder(shared);
    builder.SetCurrentDebugLocation(requests.init->getDebugLoc());
    Value* data = ConstantPointerNull::get(cast<PointerType>(types.pointer));
    if (captures.type->getNumElements()) {
        IRBuilder<> at_entry(&*plain->getEntryBlock().getFirstInsertionPt());
        Value* copy = at_entry.CreateAlloca(captures.type, nullptr, "ws.captures");
        for (unsigned i = 0; i < captures.type->getNumElements(); i++) {
            Value* value = plain->getArg(i + 2);
            if (captures.by_value[i])
                value = builder.CreateLoad(captures.type->getElementType(i), value);
            builder.CreateStore(value, builder.CreateStructGEP(captures.type, copy, i));
        }
        data = builder.CreateBitCast(copy, types.pointer);
    }
    builder.CreateCall(libws_function(*plain->getParent(), "ws_parallel", types.nothing,
                                      {sharing.thunk->getType(), types.pointer, types.pointer, types.word, types.word}),
                       {sharing.thunk, data, sharing.site, sharing.chunk, sharing.steal_chunk});
    builder.CreateRetVoid();
}

// In the plain version all iterations are the first chunk, and there is no other. `alone`: the block that runs them.
void run_whole(Function* plain, const Requests& requests, BasicBlock* alone, const Sharing& sharing)
{
    const Types types(plain->getContext());
    CallBase *init = requests.init, *next = requests.next;
    IRBuilder<> builder(init);
    builder.CreateStore(ConstantInt::get(requests.place(0)->getAllocatedType(), 1), requests.place(0));
    for (unsigned i : {1, 2}) {
        Type* type = requests.place(i)->getAllocatedType();
        builder.CreateStore(i == 1 ? ConstantInt::get(type, 0)
                                   : builder.CreateZExtOrTrunc(init->getArgOperand(4), type),
                            requests.place(i));
    }
    look_once_at_alone(plain, init);
    builder.SetInsertPoint(requests.head, requests.head->begin());
    PHINode* more = builder.CreatePHI(next->getType(), 2, "ws.more");
    more->addIncoming(ConstantInt::get(next->getType(), 1), alone);
    more->addIncoming(ConstantInt::get(next->getType(), 0), requests.back);
    builder.SetInsertPoint(requests.back->getTerminator());
    builder.SetCurrentDebugLocation(init->getDebugLoc());
    builder.CreateCall(libws_function(*plain->getParent(), "ws_plain_end", types.nothing, {types.pointer}),
                       {sharing.site});
    next->replaceAllUsesWith(more);
    remove_call(next);
    remove_call(init);
}

} // namespace

void look_once_at_alone(Function* function, Instruction* before)
{
    GlobalVariable* alone = function->getParent()->getGlobalVariable("ws_alone");
    if (!alone)
        return;
    SmallVector<LoadInst*, 8> looks;
    for (User* user : alone->users())
        if (auto* load = dyn_cast<LoadInst>(user); load && load->getFunction() == function)
            looks.push_back(load);
    if (looks.empty())
        return;
    IRBuilder<> at_entry(&*function->getEntryBlock().getFirstInsertionPt()), builder(before);
    Value* known = at_entry.CreateAlloca(builder.getInt8Ty(), nullptr, "ws.alone.chunk");
    builder.CreateStore(builder.CreateLoad(builder.getInt8Ty(), alone), known);
    for (LoadInst* look : looks) {
        look->setOperand(0, known);
        look->setMetadata(LLVMContext::MD_tbaa, nullptr);
    }
}

// LLVM inlines a function that nobody else sees and that is called once, if it is not very large and not cold. A loop
// that calls such functions has them in both versions, as far as `instructions_left` goes.
static void keep_inlined(Function* caller, unsigned& instructions_left, SmallVectorImpl<CallBase*>& marked)
{
    const auto same = [&](const Function& called, StringRef attribute) {
        return called.getFnAttribute(attribute) == caller->getFnAttribute(attribute);
    };
    for (BasicBlock& block : *caller) {
        if (isa<UnreachableInst>(block.getTerminator()))
            continue;
        for (Instruction& instruction : block) {
            auto* call = dyn_cast<CallBase>(&instruction);
            Function* called = call ? callee(*call) : nullptr;
            if (!called || called == caller || called->isDeclaration() || !called->hasLocalLinkage() ||
                !called->hasOneUse() || call->isNoInline() ||
                call->hasFnAttr(Attribute::Cold) || called->hasOptNone() || called->hasOptSize() ||
                called->getInstructionCount() > instructions_left)
                continue;
            // What is marked is inlined whether it fits or not.
            if (!same(*called, "target-cpu") || !same(*called, "target-features") ||
                !AttributeFuncs::areInlineCompatible(*caller, *called))
                continue;
            instructions_left -= called->getInstructionCount();
            if (!call->hasFnAttr(Attribute::AlwaysInline)) { // the region is, with -g
                call->addFnAttr(Attribute::AlwaysInline);
                marked.push_back(call);
            }
            keep_inlined(called, instructions_left, marked);
        }
    }
}

Function* make_plain_version(const CallBase* fork, Function* body, const Captures& captures, const Sharing& sharing)
{
    if (!ws::has(ws::Optimization::plain) || !may_have_plain(fork, body, sharing))
        return nullptr;
    SmallVector<CallBase*, 8> marked;
    unsigned instructions_left = most_instructions_twice;
    keep_inlined(body, instructions_left, marked);
    ValueToValueMapTy map;
    Function* plain = CloneFunction(body, map);
    plain->setName(body->getName() + ".plain");
    inline_outlined(plain); // with -g the region is in a function of its own
    Requests requests;
    if (!find_requests(plain, requests)) {
        for (CallBase* call : marked)
            call->removeFnAttr(Attribute::AlwaysInline);
        plain->eraseFromParent();
        return nullptr;
    }
    LLVMContext& context = plain->getContext();
    const Types types(context);
    CallBase* init = requests.init;
    IRBuilder<> builder(init);
    // As a count of 64 bits; the argument is the number of the last one.
    Value* iterations = builder.CreateAdd(builder.CreateZExt(init->getArgOperand(4), types.word), builder.getInt64(1));
    Value* goes_on = builder.CreateCall(libws_function(*plain->getParent(), "ws_plain_begin", types.boolean,
                                                       {types.pointer, types.word, types.word, types.word}),
                                        {sharing.site, sharing.chunk, sharing.steal_chunk, iterations});
    BasicBlock *before = init->getParent(), *alone = SplitBlock(before, init);
    BasicBlock* shared = BasicBlock::Create(context, "ws.shared", plain);
    builder.SetInsertPoint(before->getTerminator());
    builder.SetCurrentDebugLocation(init->getDebugLoc());
    builder.CreateCondBr(goes_on, alone, shared, MDBuilder(context).createBranchWeights(64, 1));
    before->getTerminator()->eraseFromParent();
    share_instead(plain, requests, before, shared, captures, sharing);
    run_whole(plain, requests, alone, sharing);
    return plain;
}

} // namespace ws_clang
