// SPDX-License-Identifier: MIT
//
// The pass for loops: clang has outlined them as libomp wants them; each region that carries our mark is retargeted
// to libws (runtime/directive/abi.h). Everything after sees ordinary calls.
//
//     n = __ws_mark("file.c:12:9", KINDS, chunk, steal_chunk, name, NUMBER, condition)    removed
//     __kmpc_push_num_threads(loc, thread, n)                       removed __kmpc_fork_call(loc, count, fn,
//     captures...)                 ws_parallel(thunk, &captures, &site, chunk, steal_chunk)
//                                                                   (with an if clause ws_parallel_if)
// where thunk(captures) calls worker(captures...), which calls fn(&thread, &thread, captures...), and in fn
//
//     __kmpc_dispatch_init(loc, thread, kind, 0, last, 1, 1)        ws_loop_ull_start(true, 0, last + 1, 1, &lo, &hi)
//     __kmpc_dispatch_next(loc, thread, &is_last, &lo, &hi, &step)  ws_loop_ull_next(&lo, &hi)
//     __kmpc_reduce_nowait(...), __kmpc_end_reduce_nowait           1 (merge here) within ws_reduction_start, _end
//     __kmpc_barrier                                                removed: see runtime/loop, "no_more"
//
// Clang counts iterations from 0. Sections it makes a loop over their numbers that libomp deals out once,
//
//     __kmpc_for_static_init(loc, thread, kind, &is_last, &lower, &upper, ...); i = lower; while (i <= upper) { ...;
//     i++; }
//
// of which one that asks for chunks is made: `i = lower` and `i++` come to be the start and the next.
#include "back.h"

#include "../clauses/name.h"
#include "../../runtime/directive/abi.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/Local.h"
#pragma GCC diagnostic pop

namespace ws_clang {

using namespace llvm;

namespace {

class Lowering {
public:
    Lowering(Module &module, unsigned level) : module_(module), context_(module.getContext()), level_(level) {}
    unsigned run();

private:
    struct Region {
        CallBase *mark, *push, *fork;
        Function *body;
        std::string where;      // for the site
        bool openmp, unknown_calls;
    };

    bool find_region(CallBase *mark, Region &region);
    std::string function_symbol(const Function *function);
    std::string loop_name(const CallBase *mark);
    bool stays_openmp(Region &region);
    Constant *make_site(std::string where, uint64_t kinds, const std::string &results,
                        const std::vector<Constant *> &addresses);
    Value *thread_number(IRBuilder<> &builder, const Region &region);
    Function *make_function(const Region &region, const char *ending, ArrayRef<Type *> parameters,
                            IRBuilder<> &builder);
    Function *make_worker(const Region &region, const Captures &captures);
    Function *make_thunk(const Region &region, const Captures &captures, Function *worker);
    void call_plainly(const Region &region, Function *plain);
    Function *lower_fork(const Region &region);
    void lower_body(Function *function);
    void lower_dispatch(CallBase *init);
    void lower_sections(CallBase *init);
    void lower_reduction(CallBase *call);
    void drop_unused_thread_numbers();

    FunctionCallee runtime(StringRef name, Type *result, ArrayRef<Type *> parameters);

    Module &module_;
    LLVMContext &context_;
    const unsigned level_;      // of optimization
    Type *const nothing_ = Type::getVoidTy(context_);
    IntegerType *const i1_ = Type::getInt1Ty(context_), *const i32_ = Type::getInt32Ty(context_),
                *const i64_ = Type::getInt64Ty(context_);
    PointerType *const pointer_ = pointer_to(Type::getInt8Ty(context_));
    SmallPtrSet<Function *, 8> lowered_;
    SmallVector<Function *, 8> plain_;      // versions, each called at one place
    ws::LoopNames names_;
};

FunctionCallee Lowering::runtime(StringRef name, Type *result, ArrayRef<Type *> parameters) {
    FunctionCallee function = module_.getOrInsertFunction(name, FunctionType::get(result, parameters, false));
    auto *declaration = cast<Function>(function.getCallee());
    declaration->addFnAttr(Attribute::NoUnwind);    // what leaves an iteration ends the program, as in OpenMP
    if (result == i1_)
        declaration->addRetAttr(Attribute::ZExt);
    return function;
}

// A mark, the num_threads it is for, and the fork after it. Clang emits nothing of a region between its num_threads
// and its fork but the copying of what the region gets.
bool Lowering::find_region(CallBase *mark, Region &region) {
    region = {mark, nullptr, nullptr, nullptr, "", false, false};
    for (User *user : mark->users())
        if (auto *call = dyn_cast<CallBase>(user); call && calls(*call, "__kmpc_push_num_threads"))
            region.push = call;
    if (!region.push)
        return false;   // in code that cannot be reached
    SmallPtrSet<BasicBlock *, 8> seen;
    SmallVector<BasicBlock *, 8> blocks;
    Instruction *at = region.push->getNextNode();
    for (unsigned i = 0;; i++) {
        for (; at; at = at->getNextNode())
            if (calls(*at, "__kmpc_fork_call")) {
                region.fork = cast<CallBase>(at);
                region.body = dyn_cast<Function>(region.fork->getArgOperand(2)->stripPointerCasts());
                return region.body;
            }
        BasicBlock *block = i ? blocks[i - 1] : region.push->getParent();
        for (BasicBlock *next : successors(block))
            if (!next->isEHPad() && seen.insert(next).second)
                blocks.push_back(next);
        if (i == blocks.size())
            return false;
        at = &blocks[i]->front();
    }
}

// The user's function: also from one that was outlined of it.
std::string Lowering::function_symbol(const Function *function) {
    SmallPtrSet<const Function *, 8> seen;
    while (is_of_openmp(function->getName()) && seen.insert(function).second) {
        const Function *parent = nullptr;
        SmallVector<const User *, 8> users(function->users());
        while (!users.empty() && !parent) {
            const User *user = users.pop_back_val();
            if (const auto *instruction = dyn_cast<Instruction>(user))
                parent = instruction->getFunction();
            else
                users.append(user->user_begin(), user->user_end());
        }
        if (!parent || parent == function)
            break;
        function = parent;
    }
    return function->getName().str();
}

static std::string text(const Value *pointer) {
    const auto *literal = dyn_cast<GlobalVariable>(pointer->stripInBoundsOffsets());
    const auto *array =
        literal && literal->hasInitializer() ? dyn_cast<ConstantDataArray>(literal->getInitializer()) : nullptr;
    return array && array->isCString() ? array->getAsCString().str() : "";
}

// The directive's "path/file.c:12:9".
static std::string place(const CallBase *mark) {
    const std::string place = text(mark->getArgOperand(0));
    return place.empty() ? "?:0:0" : place;
}

static uint64_t directive_number(const CallBase *mark) {
    return cast<ConstantInt>(mark->getArgOperand(5))->getZExtValue();
}

// What its mark says, or where it stands. The first call for each loop must come in the order of the source.
std::string Lowering::loop_name(const CallBase *mark) {
    const std::string given = text(mark->getArgOperand(4));
    if (!given.empty())
        return given;
    const std::string whole = place(mark);
    const auto [file, line] = StringRef(whole).rsplit(':').first.rsplit(':');
    int number = 0;
    line.getAsInteger(10, number);
    return names_(file.str(), number, readable_name(function_symbol(mark->getFunction())), directive_number(mark));
}

// Whether anything in a region asks if it has run the last iteration: for lastprivate. Before the region is lowered.
static bool asks_for_last(Function *body) {
    bool found = false;
    for (BasicBlock &block : *body)
        for (Instruction &instruction : block) {
            Function *called = callee(instruction);
            if (called && is_outlined_debug(called->getName()))
                return asks_for_last(called);   // with -g the region is in a function of its own
            const bool sections = called && begins(called->getName(), "__kmpc_for_static_init_");
            if (!called || !(sections || begins(called->getName(), "__kmpc_dispatch_next_")))
                continue;
            found = true;
            for (User *user : cast<CallBase>(instruction).getArgOperand(sections ? 3 : 2)->stripPointerCasts()->users())
                if (isa<LoadInst>(user))
                    return true;
        }
    return !found;
}

// struct ws_site.
Constant *Lowering::make_site(std::string where, uint64_t kinds, const std::string &results,
                              const std::vector<Constant *> &addresses) {
    static_assert(sizeof(ws_site) == 64 && sizeof(void *) == 8 && WS_SITE_ADDRESSES == 6,
                  "the site is eight words, with two before the addresses there are eight more");
    if (!results.empty()) {
        where += '\0' + results;
        kinds |= WS_SITE_RESULTS;
    }
    Constant *text = ConstantDataArray::getString(context_, where);
    auto *name = new GlobalVariable(module_, text->getType(), true, GlobalValue::PrivateLinkage, text, ".str.ws_site");
    name->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    name->setAlignment(Align(1));
    auto *learned = ArrayType::get(i64_, 6);
    SmallVector<Constant *, 12> values{ConstantExpr::getBitCast(name, pointer_),
                                       ConstantInt::get(i64_, kinds | uint64_t(WS_SITE_KINDS(0, 0))),
                                       ConstantAggregateZero::get(learned)};
    SmallVector<Type *, 12> types{pointer_, i64_, learned};
    if (!addresses.empty()) {
        values.append(2, ConstantInt::get(i64_, 0));
        types.append(2, i64_);
        for (unsigned i = 0; i < WS_SITE_ADDRESSES; i++) {
            values.push_back(i < addresses.size() ? addresses[i] : ConstantPointerNull::get(pointer_));
            types.push_back(pointer_);
        }
    }
    auto *type = StructType::get(context_, types);
    auto *site = new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                    ConstantStruct::get(type, values), "ws_site");
    site->setAlignment(Align(64));
    site->setSection(WS_SITE_SECTION);
    return ConstantExpr::getBitCast(site, pointer_);
}

// What is known of a pointer: what a reference leads to may then be read before the loop, also where not every
// iteration reads it.
static void keep_what_is_known(Argument *parameter, const Argument *of) {
    for (Attribute::AttrKind kind :
         {Attribute::NonNull, Attribute::Dereferenceable, Attribute::Alignment, Attribute::NoUndef})
        if (of->hasAttribute(kind))
            parameter->addAttr(of->getAttribute(kind));
}

// A variable with libomp's number of this thread: for `omp` constructs of the user's in the loop.
Value *Lowering::thread_number(IRBuilder<> &builder, const Region &region) {
    Function *function = builder.GetInsertBlock()->getParent();
    IRBuilder<> at_entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    Value *thread = at_entry.CreateAlloca(i32_, nullptr, "thread");
    Value *number = builder.getInt32(0);
    if (options.openmp) {
        FunctionCallee ask = module_.getOrInsertFunction(
            "__kmpc_global_thread_num", FunctionType::get(i32_, {region.fork->getArgOperand(0)->getType()}, false));
        CallInst *asked = builder.CreateCall(ask, {region.fork->getArgOperand(0)});
        // Goes away where no construct in the loop wants it.
        asked->setOnlyReadsMemory();
        asked->setOnlyAccessesInaccessibleMemory();
        asked->addFnAttr(Attribute::NoUnwind);
        asked->addFnAttr(Attribute::WillReturn);
        number = asked;
    }
    builder.CreateStore(number, thread);
    return thread;
}

// A function of ours that runs what was outlined. Sets the builder to its begin.
Function *Lowering::make_function(const Region &region, const char *ending, ArrayRef<Type *> parameters,
                                  IRBuilder<> &builder) {
    Function *body = region.body;
    Function *made =
        Function::Create(FunctionType::get(nothing_, parameters, false), GlobalValue::InternalLinkage,
                         readable_name(function_symbol(region.fork->getFunction())) + ending, module_);
    for (const char *kept :
         {"target-cpu", "target-features", "tune-cpu", "frame-pointer", "stack-protector-buffer-size"})
        if (body->hasFnAttribute(kept))
            made->addFnAttr(body->getFnAttribute(kept));
    for (Attribute::AttrKind kept : {Attribute::NoUnwind, Attribute::UWTable, Attribute::OptimizeNone,
                                     Attribute::NoInline, Attribute::OptimizeForSize, Attribute::MinSize})
        if (body->hasFnAttribute(kept))
            made->addFnAttr(body->getFnAttribute(kept));
    builder.SetInsertPoint(BasicBlock::Create(context_, "", made));
    if (DISubprogram *of = body->getSubprogram()) {
        // What is inlined in a function without debug information loses its own.
        DIBuilder debug(module_, false, of->getUnit());
        auto flags = DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit;
        if (of->isOptimized())
            flags |= DISubprogram::SPFlagOptimized;
        DISubprogram *own = debug.createFunction(of->getFile(), made->getName(), "", of->getFile(), of->getLine(),
                                                 debug.createSubroutineType(debug.getOrCreateTypeArray({})),
                                                 of->getLine(), DINode::FlagArtificial, flags);
        debug.finalizeSubprogram(own);
        made->setSubprogram(own);
        builder.SetCurrentDebugLocation(DILocation::get(context_, of->getLine(), 0, own));
    }
    return made;
}

// worker(captured values and addresses...): the loop. To LLVM an argument is something else than what is loaded:
// `a * x` it computes as `x * a` if `a` is an argument, as in the user's function, and that takes fewer registers.
Function *Lowering::make_worker(const Region &region, const Captures &captures) {
    Function *body = region.body;
    IRBuilder<> builder(context_);
    Function *worker = make_function(region, ".ws", captures.type->elements(), builder);
    Value *thread = thread_number(builder, region);
    SmallVector<Value *, 8> arguments{thread, thread};
    for (unsigned i = 0; i + 2 < body->arg_size(); i++) {
        Argument *given = worker->getArg(i);
        if (captures.by_value[i]) {
            // The function finds it in a variable of the worker's.
            arguments.push_back(builder.CreateAlloca(given->getType()));
            builder.CreateStore(given, arguments.back());
        } else {
            keep_what_is_known(given, body->getArg(i + 2));
            arguments.push_back(given);
        }
    }
    CallInst *call = builder.CreateCall(body->getFunctionType(), body, arguments);
    call->setCallingConv(body->getCallingConv());
    builder.CreateRetVoid();
    return worker;
}

// thunk(captures): what the runtime calls, the owner and each guest.
Function *Lowering::make_thunk(const Region &region, const Captures &captures, Function *worker) {
    IRBuilder<> builder(context_);
    Function *thunk = make_function(region, ".ws.start", {pointer_}, builder);
    SmallVector<Value *, 8> arguments;
    Value *data = builder.CreateBitCast(thunk->getArg(0), pointer_to(captures.type));
    for (unsigned i = 0; i < captures.type->getNumElements(); i++)
        arguments.push_back(
            builder.CreateLoad(captures.type->getElementType(i), builder.CreateStructGEP(captures.type, data, i)));
    builder.CreateCall(worker->getFunctionType(), worker, arguments);
    builder.CreateRetVoid();
    return thunk;
}

// Calls the plain version with what the fork was given.
void Lowering::call_plainly(const Region &region, Function *plain) {
    IRBuilder<> builder(region.fork);
    Value *thread = thread_number(builder, region);
    SmallVector<Value *, 8> arguments{thread, thread};
    for (unsigned i = 2; i < plain->arg_size(); i++)
        arguments.push_back(
            builder.CreateBitOrPointerCast(region.fork->getArgOperand(i + 1), plain->getArg(i)->getType()));
    CallInst *call = builder.CreateCall(plain->getFunctionType(), plain, arguments);
    call->setCallingConv(plain->getCallingConv());
}

// Returns the worker.
Function *Lowering::lower_fork(const Region &region) {
    SmallVector<Type *, 8> types;
    Captures captures;
    for (unsigned i = 2; i < region.body->arg_size(); i++) {
        Type *value = captured_value(region.fork, i + 1);
        types.push_back(value ? value : region.body->getArg(i)->getType());
        captures.by_value.push_back(value);
    }
    captures.type = StructType::get(context_, types);
    std::vector<Constant *> addresses;
    const std::string results =
        results_text(region.fork, region.body, unsigned(directive_number(region.mark)), captures, addresses);
    Function *worker = make_worker(region, captures), *thunk = make_thunk(region, captures, worker);

    IRBuilder<> builder(region.fork);
    uint64_t kinds = cast<ConstantInt>(region.mark->getArgOperand(1))->getZExtValue() & (openmp_loop - 1);
    kinds |= WS_SITE_OUTLINED;
    if (!asks_for_last(region.body))
        kinds |= WS_SITE_ANY_ORDER;
    if (region.unknown_calls)
        kinds |= WS_SITE_UNSEEN;
    const Sharing sharing{thunk, make_site(region.where, kinds, results, addresses), region.mark->getArgOperand(2),
                          region.mark->getArgOperand(3)};
    Value *condition = region.mark->arg_size() > 6 ? region.mark->getArgOperand(6) : builder.getInt32(1);
    auto *constant = dyn_cast<ConstantInt>(condition);
    const bool always = constant && constant->isOne();
    if (Function *plain = level_ >= 3 && always && !region.openmp
            ? make_plain_version(region.fork, region.body, captures, sharing) : nullptr) {
        call_plainly(region, plain);
        lower_body(plain);
        plain_.push_back(plain);
        remove_call(region.fork);
        remove_call(region.push);
        return worker;
    }

    Function *host = region.fork->getFunction();
    IRBuilder<> at_entry(&*host->getEntryBlock().getFirstInsertionPt());
    Value *data = types.empty() ? nullptr : at_entry.CreateAlloca(captures.type, nullptr, "ws.captures");
    for (unsigned i = 0; i < types.size(); i++) {
        Value *value = region.fork->getArgOperand(3 + i);
        if (captures.by_value[i])
            value = builder.CreateLoad(types[i], value);
        else if (value->getType() != types[i])
            value = builder.CreateBitOrPointerCast(value, types[i]);
        builder.CreateStore(value, builder.CreateStructGEP(captures.type, data, i));
    }
    SmallVector<Value *, 6> arguments{thunk,
                                      data ? builder.CreateBitCast(data, pointer_) : ConstantPointerNull::get(pointer_),
                                      sharing.site, sharing.chunk, sharing.steal_chunk};
    if (always) {
        builder.CreateCall(runtime(region.openmp ? "ws_openmp" : "ws_parallel", nothing_,
                                   {thunk->getType(), pointer_, pointer_, i64_, i64_}),
                           arguments);
    } else {
        arguments.insert(arguments.begin(), condition);
        builder.CreateCall(
            runtime("ws_parallel_if", nothing_, {i32_, thunk->getType(), pointer_, pointer_, i64_, i64_}), arguments);
    }
    remove_call(region.fork);
    remove_call(region.push);
    return worker;
}

// As the plain version becomes code of the function that the loop stands in.
static void inline_where_called(Function *function) {
    SmallVector<CallBase *, 2> calls;
    for (User *user : function->users())
        if (auto *call = dyn_cast<CallBase>(user); call && callee(*call) == function)
            calls.push_back(call);
    for (CallBase *call : calls) {
        InlineFunctionInfo info;
        InlineFunction(*call, info);
    }
    if (function->use_empty())
        function->eraseFromParent();
}

// The body becomes the worker's own code before anything is optimized: as a function it would be optimized by itself,
// and once more in the worker. Inner loops are unrolled in the first round, arrays that only they use are gone after
// the second, and with them the stores that the vectorizer of straight code starts from.
static void inline_body(Function *worker, unsigned level) {
    if (worker->hasFnAttribute(Attribute::OptimizeNone) || worker->hasFnAttribute(Attribute::NoInline))
        return;
    inline_outlined(worker);
    if (level >= 2)
        worker->addFnAttr(Attribute::NoInline);
    else
        inline_where_called(worker);    // a debugger finds less of arguments
}

// The loop that asks for chunks. Its first block asks libomp for the next one each time; libws gives the first chunk
// with the start: so the question moves to where the loop comes back from.
void Lowering::lower_dispatch(CallBase *init) {
    CallBase *next = nullptr;
    BasicBlock *before = init->getParent(), *head = before->getSingleSuccessor(), *back = nullptr;
    for (Instruction &instruction : head ? *head : *before)
        if (Function *called = callee(instruction); called && begins(called->getName(), "__kmpc_dispatch_next_"))
            next = cast<CallBase>(&instruction);
    for (BasicBlock *block : head ? predecessors(head) : predecessors(before))
        if (block != before)
            back = back ? before : block;
    if (!next || back == before || (back && !back->getSingleSuccessor())) {
        context_.emitError(init, "'#pragma ws for': this clang lays out loops in a way that the plugin does not know");
        return;
    }

    IRBuilder<> builder(&*init->getFunction()->getEntryBlock().getFirstInsertionPt());
    Value *lo = builder.CreateAlloca(i64_, nullptr, "ws.lo"), *hi = builder.CreateAlloca(i64_, nullptr, "ws.hi");
    Type *place = pointer_to(i64_);

    // As a count of 64 bits; the argument is the number of the last one.
    builder.SetInsertPoint(init);
    Value *iterations = builder.CreateAdd(builder.CreateZExt(init->getArgOperand(4), i64_), builder.getInt64(1));
    CallInst *started =
        builder.CreateCall(runtime("ws_loop_ull_start", i1_, {i1_, i64_, i64_, i64_, place, place}),
                           {builder.getTrue(), builder.getInt64(0), iterations, builder.getInt64(1), lo, hi});
    started->addParamAttr(0, Attribute::ZExt);

    builder.SetInsertPoint(head, head->begin());
    PHINode *more = builder.CreatePHI(i1_, 2, "ws.more");
    more->addIncoming(started, before);
    if (back) {
        IRBuilder<> at_back(back->getTerminator());
        at_back.SetCurrentDebugLocation(init->getDebugLoc());
        more->addIncoming(at_back.CreateCall(runtime("ws_loop_ull_next", i1_, {place, place}), {lo, hi}), back);
    }

    builder.SetInsertPoint(next);
    Value *is_last = next->getArgOperand(2), *first = next->getArgOperand(3), *last = next->getArgOperand(4);
    Type *counter = callee(*next)->getName().contains("_next_8") ? i64_ : i32_;
    Value *end = builder.CreateLoad(i64_, hi);
    builder.CreateStore(builder.CreateTrunc(builder.CreateLoad(i64_, lo), counter), first);
    builder.CreateStore(builder.CreateTrunc(builder.CreateSub(end, builder.getInt64(1)), counter), last);
    // Set with the last iteration, never cleared.
    Value *holds_last = builder.CreateZExt(builder.CreateAnd(more, builder.CreateICmpEQ(end, iterations)), i32_);
    builder.CreateStore(builder.CreateOr(builder.CreateLoad(i32_, is_last), holds_last), is_last);
    look_once_at_alone(next->getFunction(), next);
    next->replaceAllUsesWith(builder.CreateZExt(more, i32_));
    remove_call(next);
    remove_call(init);
}

void Lowering::lower_sections(CallBase *init) {
    Value *is_last = init->getArgOperand(3), *lower = init->getArgOperand(4), *upper = init->getArgOperand(5);
    ConstantInt *last = nullptr;
    Value *number = nullptr;
    for (User *user : upper->users())
        if (auto *store = dyn_cast<StoreInst>(user); store && isa<ConstantInt>(store->getValueOperand()))
            last = cast<ConstantInt>(store->getValueOperand());
    for (User *user : lower->users())
        if (auto *load = dyn_cast<LoadInst>(user); load && load->hasOneUse() && isa<StoreInst>(*load->user_begin()))
            number = cast<StoreInst>(*load->user_begin())->getPointerOperand();
    SmallVector<StoreInst *, 1> steps;
    for (User *user : number ? number->users() : upper->users())
        if (auto *store = dyn_cast<StoreInst>(user);
            store && store->getPointerOperand() == number && isa<BinaryOperator>(store->getValueOperand()))
            steps.push_back(store);
    if (!last || steps.size() != 1) {
        context_.emitError(init,
                           "'#pragma ws sections': this clang lays them out in a way that the plugin does not know");
        return;
    }
    Function *function = init->getFunction();
    Constant *sections = ConstantInt::get(last->getType(), last->getZExtValue() + 1);
    IRBuilder<> builder(&*function->getEntryBlock().getFirstInsertionPt());
    Value *lo = builder.CreateAlloca(i64_, nullptr, "ws.lo"), *hi = builder.CreateAlloca(i64_, nullptr, "ws.hi");
    Type *place = pointer_to(i64_);
    // The first section of a chunk that libws gave, or one behind the last. Remembers that the last is in it.
    const auto first_of = [&](Value *more) {
        Value *holds_last = builder.CreateAnd(more, builder.CreateICmpEQ(builder.CreateLoad(i64_, hi),
                                                                        builder.getInt64(last->getZExtValue() + 1)));
        builder.CreateStore(builder.CreateOr(builder.CreateLoad(i32_, is_last), builder.CreateZExt(holds_last, i32_)),
                            is_last);
        return builder.CreateSelect(more, builder.CreateTrunc(builder.CreateLoad(i64_, lo), last->getType()), sections);
    };
    builder.SetInsertPoint(init);
    CallInst *started = builder.CreateCall(runtime("ws_loop_ull_start", i1_, {i1_, i64_, i64_, i64_, place, place}),
                                           {builder.getTrue(), builder.getInt64(0),
                                            builder.getInt64(last->getZExtValue() + 1), builder.getInt64(1), lo, hi});
    started->addParamAttr(0, Attribute::ZExt);
    builder.CreateStore(first_of(started), lower);

    StoreInst *step = steps[0];
    Value *following = step->getValueOperand();
    builder.SetInsertPoint(step);
    Value *end = builder.CreateTrunc(builder.CreateLoad(i64_, hi), last->getType());
    BasicBlock *inside = step->getParent();
    Instruction *asks = SplitBlockAndInsertIfThen(builder.CreateICmpEQ(following, end), step, false);
    builder.SetInsertPoint(asks);
    builder.SetCurrentDebugLocation(init->getDebugLoc());
    Value *first = first_of(builder.CreateCall(runtime("ws_loop_ull_next", i1_, {place, place}), {lo, hi}));
    builder.SetInsertPoint(step);
    PHINode *next = builder.CreatePHI(last->getType(), 2);
    next->addIncoming(following, inside);
    next->addIncoming(first, asks->getParent());
    step->setOperand(0, next);
    remove_call(init);
}

// Of the three ways that clang prepares for a merge, always the first: all at once, by whoever holds the lock.
void Lowering::lower_reduction(CallBase *call) {
    IRBuilder<> builder(call);
    if (!begins(callee(*call)->getName(), "__kmpc_reduce")) {
        builder.CreateCall(runtime("ws_reduction_end", nothing_, {}));
        remove_call(call);
        return;
    }
    builder.CreateCall(runtime("ws_reduction_start", nothing_, {}));
    BasicBlock *block = call->getParent();
    call->replaceAllUsesWith(builder.getInt32(1));
    remove_call(call);
    ConstantFoldTerminator(block);
}

// Clang tells the debugger of two places for one loop variable. It looks at the first, in which only the bounds of the
// loop are computed; the last is the loop's.
static void keep_last_places(Function *function) {
    DenseMap<DILocalVariable *, Declaration *> last;
    SmallVector<Declaration *, 2> others;
    for (BasicBlock &block : *function)
        for (Instruction &instruction : block)
            each_declaration(instruction, [&](Declaration *declare) {
                Declaration *&known = last[declare->getVariable()];
                if (known)
                    others.push_back(known);
                known = declare;
            });
    for (Declaration *declare : others)
        declare->eraseFromParent();
}

void Lowering::lower_body(Function *function) {
    if (!lowered_.insert(function).second)
        return;
    keep_last_places(function);
    SmallVector<CallBase *, 2> inits, sections, reductions, barriers;
    SmallVector<Function *, 1> wrapped;
    for (BasicBlock &block : *function)
        for (Instruction &instruction : block) {
            Function *called = callee(instruction);
            if (!called)
                continue;
            auto *call = cast<CallBase>(&instruction);
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
                wrapped.push_back(called);      // with -g the region is in a function of its own
        }
    for (CallBase *init : inits)
        lower_dispatch(init);
    for (CallBase *init : sections)
        lower_sections(init);
    for (CallBase *call : reductions)
        lower_reduction(call);
    for (CallBase *call : barriers)
        remove_call(call);
    removeUnreachableBlocks(*function);
    for (Function *inner : wrapped)
        lower_body(inner);
}

// Clang asks once a function, whatever of libomp is called in it.
void Lowering::drop_unused_thread_numbers() {
    Function *ask = module_.getFunction("__kmpc_global_thread_num");
    if (!ask)
        return;
    SmallVector<CallBase *, 8> unused;
    for (User *user : ask->users())
        if (auto *call = dyn_cast<CallBase>(user); call && call->use_empty())
            unused.push_back(call);
    for (CallBase *call : unused)
        remove_call(call);
}

// With -fws=openmp the mark may stand on a loop that cannot be shared.
bool Lowering::stays_openmp(Region &region) {
    const unsigned kinds = unsigned(cast<ConstantInt>(region.mark->getArgOperand(1))->getZExtValue());
    region.where = loop_name(region.mark);
    if (!(kinds & openmp_loop)) {
        remark(place(region.mark), "loop shared: " + region.where);
        return false;
    }
    region.openmp = true;
    if (judge_openmp_loop(region.body, region.fork->getFunction(), place(region.mark), region.where,
                          region.unknown_calls))
        return false;
    restore_openmp_schedule(region.body, kinds);
    remove_call(region.push);
    return true;
}

unsigned Lowering::run() {
    SmallVector<Function *, 8> bodies, workers;
    if (Function *mark = module_.getFunction(ws::mark_function)) {
        SmallVector<CallBase *, 8> marks;
        for (User *user : mark->users())
            if (auto *call = dyn_cast<CallBase>(user))
                marks.push_back(call);
        llvm::sort(marks, [](const CallBase *one, const CallBase *other) {
            return directive_number(one) < directive_number(other);
        });
        SmallVector<Region, 8> regions;
        for (CallBase *call : marks) {
            Region region;
            if (!find_region(call, region) || stays_openmp(region))
                continue;
            regions.push_back(region);
        }
        for (const Region &region : regions) {
            workers.push_back(lower_fork(region));
            lower_body(region.body);
            bodies.push_back(region.body);
        }
        SmallPtrSet<GlobalVariable *, 8> literals;
        for (CallBase *call : marks) {
            for (unsigned argument : {0, 4})
                if (auto *literal = dyn_cast<GlobalVariable>(call->getArgOperand(argument)->stripInBoundsOffsets()))
                    literals.insert(literal);
            call->replaceAllUsesWith(ConstantInt::get(i32_, 0));
            remove_call(call);
        }
        for (GlobalVariable *literal : literals) {
            literal->removeDeadConstantUsers();
            if (literal->use_empty() && literal->hasLocalLinkage())
                literal->eraseFromParent();
        }
        if (mark->use_empty())
            mark->eraseFromParent();
    }
    drop_unused_thread_numbers();
    // The locks for merges that nobody takes any more.
    for (GlobalVariable &variable : make_early_inc_range(module_.globals()))
        if (begins(variable.getName(), ".gomp_critical_user_.") && variable.use_empty())
            variable.eraseFromParent();
    const unsigned features = features_of_loops(module_, bodies);
    for (Function *worker : workers)
        inline_body(worker, level_);
    for (Function *plain : plain_)
        inline_where_called(plain);
    return features;
}

}  // namespace

std::string readable_name(const std::string &symbol) {
    ItaniumPartialDemangler demangler;
    // Else a name of C may be taken for a type: `f` is float.
    if (!begins(symbol, "_Z") || demangler.partialDemangle(symbol.c_str()))
        return symbol;
    char *readable = demangler.isFunction() ? demangler.getFunctionName(nullptr, nullptr)
                                            : demangler.finishDemangle(nullptr, nullptr);
    const std::string name = readable ? readable : symbol;
    free(readable);
    return name;
}

Function *callee(const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    return call ? dyn_cast<Function>(call->getCalledOperand()->stripPointerCasts()) : nullptr;
}

bool calls(const Instruction &instruction, StringRef name) {
    const Function *called = callee(instruction);
    return called && called->getName() == name;
}

void remove_call(CallBase *call) {
    if (auto *invoke = dyn_cast<InvokeInst>(call)) {
        invoke->getUnwindDest()->removePredecessor(invoke->getParent());
        IRBuilder<>(invoke).CreateBr(invoke->getNormalDest());
    }
    call->eraseFromParent();
}

void inline_outlined(Function *function) {
    for (bool found = true; found;) {
        found = false;
        for (BasicBlock &block : *function) {
            for (Instruction &instruction : block) {
                Function *called = callee(instruction);
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

unsigned lower_loops(Module &module, unsigned level) { return Lowering(module, level).run(); }

}  // namespace ws_clang
