// SPDX-License-Identifier: MIT
//
// The pass for `ws atomic`: clang has compiled an `omp atomic` between two calls that mark it as ours.
//
//     __kmpc_critical(loc, thread, &.gomp_critical_user___ws_atomic.var)
//     A
//     __kmpc_end_critical(...)
//
// becomes, A' being A without anything atomic in it,
//
//     if (ws_alone) A' else A
//
// or, where the type is not one that instructions handle, so that files of all compilers use one lock,
//
//     if (ws_alone) A' else { ws_atomic_start(); A'; ws_atomic_end(); }
#include "back.h"

namespace ws_clang {

using namespace llvm;

namespace {

using Blocks = SmallVector<BasicBlock*, 8>;

constexpr uint64_t largest_instruction = 8;

class Atomics {
public:
    explicit Atomics(Module& module) : module_(module), context_(module.getContext()) {}

    void run()
    {
        GlobalVariable* lock =
            module_.getGlobalVariable(".gomp_critical_user_" + std::string(atomic_mark) + ".var", true);
        if (!lock)
            return;
        SmallVector<CallBase*, 8> starts;
        for (Function& function : module_)
            for (BasicBlock& block : function)
                for (Instruction& instruction : block)
                    if (is_mark(instruction, "__kmpc_critical", lock))
                        starts.push_back(cast<CallBase>(&instruction));
        for (CallBase* start : starts)
            lower(start, lock);
        SmallVector<CallBase*, 8> rest; // ends in code that no start reaches
        for (Function& function : module_)
            for (BasicBlock& block : function)
                for (Instruction& instruction : block)
                    if (is_mark(instruction, "__kmpc_end_critical", lock))
                        rest.push_back(cast<CallBase>(&instruction));
        for (CallBase* end : rest)
            remove_call(end);
        lock->removeDeadConstantUsers();
        if (lock->use_empty())
            lock->eraseFromParent();
    }

private:
    static bool is_mark(const Instruction& instruction, StringRef name, const GlobalVariable* lock)
    {
        return calls(instruction, name) && cast<CallBase>(instruction).getArgOperand(2)->stripPointerCasts() == lock;
    }

    static bool is_flush(const Instruction& instruction) { return calls(instruction, "__kmpc_flush"); }

    static bool is_library_call(const Instruction& instruction)
    {
        const Function* called = callee(instruction);
        return called && called->isDeclaration() && begins(called->getName(), "__atomic_");
    }

    static bool is_atomic(const Instruction& instruction)
    {
        return instruction.isAtomic() || is_flush(instruction) || is_library_call(instruction);
    }

    // Whether all files must agree on a lock for this operation.
    bool needs_lock(const Instruction& instruction) const
    {
        if (is_library_call(instruction))
            return true;
        const Type* type = nullptr;
        if (const auto* load = dyn_cast<LoadInst>(&instruction))
            type = load->getType();
        else if (const auto* store = dyn_cast<StoreInst>(&instruction))
            type = store->getValueOperand()->getType();
        else if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
            type = exchange->getNewValOperand()->getType();
        else if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction))
            type = update->getValOperand()->getType();
        return type && instruction.isAtomic() &&
               module_.getDataLayout().getTypeStoreSize(const_cast<Type*>(type)) > largest_instruction;
    }

    // The blocks from `first` on, up to `end`. False if there is something in them that cannot be copied.
    static bool collect(BasicBlock* first, BasicBlock* end, Blocks& blocks)
    {
        SmallPtrSet<BasicBlock*, 8> seen{first, end};
        blocks.push_back(first);
        for (unsigned i = 0; i < blocks.size(); i++) {
            if (blocks[i]->hasAddressTaken() ||
                !isa<BranchInst, SwitchInst, UnreachableInst>(blocks[i]->getTerminator()))
                return false;
            for (BasicBlock* next : successors(blocks[i]))
                if (seen.insert(next).second)
                    blocks.push_back(next);
        }
        for (BasicBlock* block : blocks)
            for (Instruction& instruction : *block)
                for (User* user : instruction.users())
                    if (!is_contained(blocks, cast<Instruction>(user)->getParent()))
                        return false;
        return true;
    }

    // Goes on from the start of the construct, past what only computes its operands, and cuts before the rest.
    static BasicBlock* cut_before_atomics(BasicBlock* block, BasicBlock* end)
    {
        for (;;) {
            auto first = find_if(*block, is_atomic);
            BasicBlock* next = block->getSingleSuccessor();
            if (first != block->end() || !next || next == end || !next->getSinglePredecessor())
                return SplitBlock(block, first != block->end() ? &*first : block->getTerminator());
            block = next;
        }
    }

    // In `sum[i] += value`, clang computes the address first if it is atomic, and last if it is not. Which load comes
    // first counts: additions to random places take a tenth longer in the other order. So it comes last here too.
    static void compute_address_last(BasicBlock* before, const Blocks& blocks)
    {
        const Value* address = nullptr;
        for (BasicBlock* block : blocks)
            for (Instruction& instruction : *block)
                if (is_atomic(instruction)) {
                    const Value* pointer = getLoadStorePointerOperand(&instruction);
                    if (const auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
                        pointer = exchange->getPointerOperand();
                    else if (const auto* update = dyn_cast<AtomicRMWInst>(&instruction))
                        pointer = update->getPointerOperand();
                    pointer = pointer ? pointer->stripPointerCasts() : nullptr;
                    if (!pointer || (address && address != pointer))
                        return; // a call, or a flush
                    address = pointer;
                }
        // What computes nothing but the address, and in this block what makes another type of it.
        SmallPtrSet<const Instruction*, 16> moved;
        for (auto at = before->rbegin(); at != before->rend(); ++at)
            if (!at->isTerminator() && !isa<PHINode>(*at) && !isa<AllocaInst>(*at) &&
                (&*at == address || (!at->user_empty() && all_of(at->users(), [&](const User* user) {
                    return moved.count(cast<Instruction>(user));
                }))))
                moved.insert(&*at);
        for (Instruction& instruction : *before)
            if (isa<CastInst>(instruction) && instruction.getOperand(0) == address)
                moved.insert(&instruction);
        SmallVector<Instruction*, 16> in_order;
        for (Instruction& instruction : *before) {
            const bool moves = moved.count(&instruction);
            if (moves)
                in_order.push_back(&instruction);
            if ((moves && instruction.mayHaveSideEffects()) ||
                (!in_order.empty() && !isa<DbgInfoIntrinsic>(instruction) && instruction.mayWriteToMemory()) ||
                (!moves && any_of(instruction.operands(), [&](const Use& use) {
                    const auto* operand = dyn_cast<Instruction>(use.get());
                    return operand && moved.count(operand);
                })))
                return;
        }
        for (Instruction* instruction : in_order)
            instruction->moveBefore(*before, before->getTerminator()->getIterator());
    }

    void lower(CallBase* start, GlobalVariable* lock)
    {
        BasicBlock* before = start->getParent();
        BasicBlock* body = SplitBlock(before, start->getNextNode() ? start->getNextNode() : start);
        remove_call(start);
        // The end: clang makes a region that is left at one place only.
        CallBase* stop = nullptr;
        SmallPtrSet<BasicBlock*, 8> seen{body};
        Blocks todo{body};
        while (!todo.empty() && !stop) {
            BasicBlock* block = todo.pop_back_val();
            auto found = find_if(*block, [&](const Instruction& i) { return is_mark(i, "__kmpc_end_critical", lock); });
            if (found != block->end())
                stop = cast<CallBase>(&*found);
            else
                for (BasicBlock* next : successors(block))
                    if (!next->isEHPad() && seen.insert(next).second)
                        todo.push_back(next);
        }
        if (!stop)
            return; // the operands never come to an end
        BasicBlock* end = SplitBlock(stop->getParent(), stop);
        remove_call(stop);

        BasicBlock* first = cut_before_atomics(body, end);
        Blocks shared, alone;
        if (!collect(first, end, shared)) {
            make_flushes_fences(shared); // stays atomic at all times
            return;
        }
        bool locked = false;
        for (BasicBlock* block : shared)
            locked |= any_of(*block, [&](const Instruction& i) { return needs_lock(i); });
        copy(shared, alone);
        compute_address_last(first->getSinglePredecessor(), shared);
        Instruction* jump = first->getSinglePredecessor()->getTerminator();
        IRBuilder<> builder(jump);
        builder.CreateCondBr(builder.CreateICmpNE(load_alone(builder), builder.getInt8(0)), alone.front(), first,
                             MDBuilder(context_).createBranchWeights(64, 1));
        jump->eraseFromParent();
        make_plain(alone);
        if (!locked) {
            make_flushes_fences(shared);
            return;
        }
        make_plain(shared);
        auto function = [&](const char* name) {
            FunctionCallee called =
                module_.getOrInsertFunction(name, FunctionType::get(Type::getVoidTy(context_), false));
            cast<Function>(called.getCallee())->addFnAttr(Attribute::NoUnwind);
            return called;
        };
        IRBuilder<>(first, first->getFirstInsertionPt()).CreateCall(function("ws_atomic_start"));
        // After the split the end has one block before it on this side: where `stop` stood.
        for (BasicBlock* block : shared)
            if (is_contained(successors(block), end))
                IRBuilder<>(block->getTerminator()).CreateCall(function("ws_atomic_end"));
    }

    void copy(const Blocks& from, Blocks& to)
    {
        ValueToValueMapTy map;
        for (BasicBlock* block : from) {
            BasicBlock* clone = CloneBasicBlock(block, map, ".alone", block->getParent());
            map[block] = clone;
            to.push_back(clone);
        }
        for (BasicBlock* block : to)
            for (Instruction& instruction : *block)
                RemapInstruction(&instruction, map, RF_NoModuleLevelChanges | RF_IgnoreMissingLocals);
    }

    Value* load_alone(IRBuilder<>& builder)
    {
        Constant* object = module_.getOrInsertGlobal("ws_alone", builder.getInt8Ty());
        // As GCC does: an executable has its own copy (R_X86_64_COPY), which libws then uses too.
        if (auto* variable = dyn_cast<GlobalVariable>(object);
            variable && (module_.getPICLevel() == PICLevel::NotPIC || module_.getPIELevel() != PIELevel::Default))
            variable->setDSOLocal(true);
        LoadInst* load = builder.CreateLoad(builder.getInt8Ty(), object, "ws.alone");
        // What the user's code stores is never this variable: a loop of nothing but atomics looks once.
        if (MDNode* parent = character_type()) {
            MDBuilder metadata(context_);
            MDNode* type = metadata.createTBAAScalarTypeNode("ws_alone", parent);
            load->setMetadata(LLVMContext::MD_tbaa, metadata.createTBAAStructTagNode(type, type, 0));
        }
        return load;
    }

    // What clang's type-based alias information begins with; null if the module has none.
    MDNode* character_type()
    {
        if (looked_for_character_)
            return character_;
        looked_for_character_ = true;
        for (Function& function : module_)
            for (BasicBlock& block : function)
                for (Instruction& instruction : block)
                    if (const MDNode* tag = instruction.getMetadata(LLVMContext::MD_tbaa);
                        tag && tag->getNumOperands() >= 3) {
                        // access tag -> type -> ... -> char -> root (an operand of a type is its parent, or a member)
                        auto* type = dyn_cast<MDNode>(tag->getOperand(1));
                        while (type && type->getNumOperands() >= 2) {
                            auto* name = dyn_cast<MDString>(type->getOperand(0));
                            if (name && name->getString() == "omnipotent char")
                                return character_ = type;
                            type = dyn_cast<MDNode>(type->getOperand(1));
                        }
                    }
        return nullptr;
    }

    void make_flushes_fences(const Blocks& blocks)
    {
        SmallVector<CallBase*, 4> flushes;
        for (BasicBlock* block : blocks)
            for (Instruction& instruction : *block)
                if (is_flush(instruction))
                    flushes.push_back(cast<CallBase>(&instruction));
        for (CallBase* flush : flushes) {
            IRBuilder<>(flush).CreateFence(AtomicOrdering::SequentiallyConsistent);
            remove_call(flush);
        }
    }

    // ---- the same without anything atomic

    void make_plain(const Blocks& blocks)
    {
        // What type the object has is known of the load, not of the exchange. A store of an unknown type could change
        // whatever the loop has loaded.
        MDNode* type = nullptr;
        for (BasicBlock* block : blocks)
            for (Instruction& instruction : *block)
                if (isa<LoadInst>(instruction) && instruction.isAtomic())
                    type = instruction.getMetadata(LLVMContext::MD_tbaa);
        for (BasicBlock* block : blocks)
            for (auto at = block->begin(); at != block->end();) {
                Instruction& instruction = *at++;
                // Clang says of each access in the loop that no other iteration uses the same place. That holds of
                // atomic ones only as long as they are.
                instruction.setMetadata(LLVMContext::MD_access_group, nullptr);
                make_plain(instruction, type);
            }
        for (BasicBlock* block : blocks)
            ConstantFoldTerminator(block); // no second try
    }

    void make_plain(Instruction& instruction, MDNode* type)
    {
        if (auto* load = dyn_cast<LoadInst>(&instruction)) {
            load->setAtomic(AtomicOrdering::NotAtomic);
        } else if (auto* store = dyn_cast<StoreInst>(&instruction)) {
            store->setAtomic(AtomicOrdering::NotAtomic);
        } else if (auto* update = dyn_cast<AtomicRMWInst>(&instruction)) {
            if (!make_plain_sum(update))
                lowerAtomicRMWInst(update);
        } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&instruction)) {
            make_plain_exchange(exchange, type);
        } else if (isa<FenceInst>(instruction)) {
            instruction.eraseFromParent();
        } else if (is_flush(instruction)) {
            remove_call(cast<CallBase>(&instruction));
        } else if (is_library_call(instruction)) {
            make_plain_library_call(cast<CallBase>(&instruction));
        }
    }

    // A sum of floating-point numbers, for which clang makes an instruction of its own from 17 or so on. Clang says
    // nothing of the object's type there, but it has the type of the number.
    bool make_plain_sum(AtomicRMWInst* update)
    {
        const bool adds = update->getOperation() == AtomicRMWInst::FAdd;
        Type* number = update->getValOperand()->getType();
        const char* name = number->isDoubleTy() ? "double" : number->isFloatTy() ? "float" : nullptr;
        MDNode* parent = typed_atomics ? character_type() : nullptr;
        if ((!adds && update->getOperation() != AtomicRMWInst::FSub) || !name || !parent)
            return false;
        MDBuilder metadata(context_);
        MDNode* type = metadata.createTBAAScalarTypeNode(name, parent);
        type = metadata.createTBAAStructTagNode(type, type, 0);
        IRBuilder<> builder(update);
        Value *object = update->getPointerOperand(), *value = update->getValOperand();
        LoadInst* before = builder.CreateAlignedLoad(number, object, update->getAlign(), update->isVolatile());
        before->setMetadata(LLVMContext::MD_tbaa, type);
        Value* sum = adds ? builder.CreateFAdd(before, value) : builder.CreateFSub(before, value);
        builder.CreateAlignedStore(sum, object, update->getAlign(), update->isVolatile())
            ->setMetadata(LLVMContext::MD_tbaa, type);
        update->replaceAllUsesWith(before);
        update->eraseFromParent();
        return true;
    }

    // What was loaded is still there: it succeeds.
    void make_plain_exchange(AtomicCmpXchgInst* exchange, MDNode* type)
    {
        IRBuilder<> builder(exchange);
        builder
            .CreateAlignedStore(exchange->getNewValOperand(), exchange->getPointerOperand(), exchange->getAlign(),
                                exchange->isVolatile())
            ->setMetadata(LLVMContext::MD_tbaa, type);
        // Clang uses the two parts and never the pair. They stay where they are, without a use.
        for (User* user : exchange->users())
            if (auto* part = dyn_cast<ExtractValueInst>(user))
                part->replaceAllUsesWith(part->getIndices()[0] == 0 ? exchange->getCompareOperand()
                                                                    : builder.getTrue());
        exchange->replaceAllUsesWith(UndefValue::get(exchange->getType()));
        exchange->eraseFromParent();
    }

    // libatomic's functions for objects of any size: __atomic_load(size, from, to, order) ...
    void make_plain_library_call(CallBase* call)
    {
        const StringRef name = callee(*call)->getName();
        IRBuilder<> builder(call);
        const auto argument = [&](unsigned i) { return call->getArgOperand(i); };
        const auto copy = [&](Value* to, Value* from) {
            builder.CreateMemCpy(to, MaybeAlign(1), from, MaybeAlign(1), argument(0));
        };
        if (name == "__atomic_load") {
            copy(argument(2), argument(1));
        } else if (name == "__atomic_store") {
            copy(argument(1), argument(2));
        } else if (name == "__atomic_exchange") {
            copy(argument(3), argument(1));
            copy(argument(1), argument(2));
        } else if (name == "__atomic_compare_exchange") {
            copy(argument(1), argument(3));
            call->replaceAllUsesWith(ConstantInt::get(call->getType(), 1));
        } else {
            return; // not from `omp atomic`
        }
        remove_call(call);
    }

    Module& module_;
    LLVMContext& context_;
    MDNode* character_ = nullptr;
    bool looked_for_character_ = false;
};

} // namespace

void lower_atomics(Module& module) { Atomics(module).run(); }

} // namespace ws_clang
