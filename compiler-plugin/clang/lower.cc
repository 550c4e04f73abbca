// SPDX-License-Identifier: MIT
//
// The pass for loops: clang has outlined them as libomp wants them; each region that carries our mark is retargeted
// to libws (runtime/abi/abi.h). Everything after sees ordinary calls.
//
//     n = __ws_mark("file.c:12:9", KINDS, chunk, steal_chunk, name, NUMBER, condition)
//                                                          removed
//     __kmpc_push_num_threads(loc, thread, n)              removed
//     __kmpc_fork_call(loc, count, fn, captures...)        ws_parallel(thunk, &captures, &site, chunk, steal_chunk)
//                                                          (with an if clause ws_parallel_if)
//
// where thunk(captures) calls worker(captures...), which calls fn(&thread, &thread, captures...); body.cc retargets fn.
#include "body.h"

#include "../clauses/messages.h"
#include "../clauses/name.h"
#include "../../runtime/abi/abi.h"

namespace ws_clang {

using namespace llvm;

namespace {

class Lowering {
public:
    Lowering(Module& module, unsigned level)
        : module_(module), context_(module.getContext()), level_(level), bodies_(module)
    {}
    unsigned run();

private:
    struct Region {
        CallBase *mark, *push, *fork;
        Function* body;
        std::string where; // for the site
        bool openmp;
    };

    Function* lower_task(CallBase* mark);
    bool find_region(CallBase* mark, Region& region);
    std::string function_symbol(const Function* function);
    std::string loop_name(const CallBase* mark);
    bool stays_openmp(Region& region);
    Constant* make_site(std::string where, uint64_t kinds, const std::string& results,
                        const std::vector<Constant*>& addresses);
    Value* thread_number(IRBuilder<>& builder, const Region& region);
    Function* make_function(const Region& region, const char* ending, ArrayRef<Type*> parameters, IRBuilder<>& builder);
    Function* make_worker(const Region& region, const Captures& captures);
    Function* make_thunk(const Region& region, const Captures& captures, Function* worker);
    void call_plainly(const Region& region, Function* plain);
    Function* lower_fork(const Region& region);
    void drop_unused_thread_numbers();

    Module& module_;
    LLVMContext& context_;
    const unsigned level_; // of optimization
    Type* const nothing_ = Type::getVoidTy(context_);
    IntegerType *const i32_ = Type::getInt32Ty(context_), *const i64_ = Type::getInt64Ty(context_);
    PointerType* const pointer_ = pointer_to(Type::getInt8Ty(context_));
    LoopBodies bodies_;
    SmallVector<Function*, 8> plain_; // versions, each called at one place
    ws::LoopNames names_;
};

// A mark, the num_threads it is for, and the fork after it. Clang emits nothing of a region between its num_threads
// and its fork but the copying of what the region gets.
bool Lowering::find_region(CallBase* mark, Region& region)
{
    region = {mark, nullptr, nullptr, nullptr, "", false};
    for (User* user : mark->users())
        if (auto* call = dyn_cast<CallBase>(user); call && calls(*call, "__kmpc_push_num_threads"))
            region.push = call;
    if (!region.push)
        return false; // in code that cannot be reached
    SmallPtrSet<BasicBlock*, 8> seen;
    SmallVector<BasicBlock*, 8> blocks;
    Instruction* at = region.push->getNextNode();
    for (unsigned i = 0;; i++) {
        for (; at; at = at->getNextNode())
            if (calls(*at, "__kmpc_fork_call")) {
                region.fork = cast<CallBase>(at);
                region.body = dyn_cast<Function>(region.fork->getArgOperand(2)->stripPointerCasts());
                return region.body;
            }
        BasicBlock* block = i ? blocks[i - 1] : region.push->getParent();
        for (BasicBlock* next : successors(block))
            if (!next->isEHPad() && seen.insert(next).second)
                blocks.push_back(next);
        if (i == blocks.size())
            return false;
        at = &blocks[i]->front();
    }
}

// The user's function: also from one that was outlined of it.
std::string Lowering::function_symbol(const Function* function)
{
    SmallPtrSet<const Function*, 8> seen;
    while (is_of_openmp(function->getName()) && seen.insert(function).second) {
        const Function* parent = nullptr;
        SmallVector<const User*, 8> users(function->users());
        while (!users.empty() && !parent) {
            const User* user = users.pop_back_val();
            if (const auto* instruction = dyn_cast<Instruction>(user))
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

static std::string text(const Value* pointer)
{
    const auto* literal = dyn_cast<GlobalVariable>(pointer->stripInBoundsOffsets());
    const auto* array =
        literal && literal->hasInitializer() ? dyn_cast<ConstantDataArray>(literal->getInitializer()) : nullptr;
    return array && array->isCString() ? array->getAsCString().str() : "";
}

// The directive's "path/file.c:12:9".
static std::string place(const CallBase* mark)
{
    const std::string place = text(mark->getArgOperand(0));
    return place.empty() ? "?:0:0" : place;
}

static uint64_t directive_number(const CallBase* mark)
{
    return cast<ConstantInt>(mark->getArgOperand(5))->getZExtValue();
}

// What its mark says, or where it stands. The first call for each loop must come in the order of the source.
std::string Lowering::loop_name(const CallBase* mark)
{
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
static bool asks_for_last(Function* body)
{
    bool found = false;
    for (BasicBlock& block : *body)
        for (Instruction& instruction : block) {
            Function* called = callee(instruction);
            if (called && is_outlined_debug(called->getName()))
                return asks_for_last(called); // with -g the region is in a function of its own
            const bool sections = called && begins(called->getName(), "__kmpc_for_static_init_");
            if (!called || !(sections || begins(called->getName(), "__kmpc_dispatch_next_")))
                continue;
            found = true;
            for (User* user : cast<CallBase>(instruction).getArgOperand(sections ? 3 : 2)->stripPointerCasts()->users())
                if (isa<LoadInst>(user))
                    return true;
        }
    return !found;
}

// struct ws_site.
Constant* Lowering::make_site(std::string where, uint64_t kinds, const std::string& results,
                              const std::vector<Constant*>& addresses)
{
    static_assert(sizeof(ws_site) == 64 && sizeof(void*) == 8 && WS_SITE_ADDRESSES == 6,
                  "the site is eight words, with two before the addresses there are eight more");
    if (!results.empty()) {
        where += '\0' + results;
        kinds |= WS_SITE_RESULTS;
    }
    Constant* text = ConstantDataArray::getString(context_, where);
    auto* name = new GlobalVariable(module_, text->getType(), true, GlobalValue::PrivateLinkage, text, ".str.ws_site");
    name->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    name->setAlignment(Align(1));
    auto* learned = ArrayType::get(i64_, 6);
    SmallVector<Constant*, 12> values{ConstantExpr::getBitCast(name, pointer_),
                                      ConstantInt::get(i64_, kinds | uint64_t(WS_SITE_KINDS(0, 0))),
                                      ConstantAggregateZero::get(learned)};
    SmallVector<Type*, 12> types{pointer_, i64_, learned};
    if (!addresses.empty()) {
        values.append(2, ConstantInt::get(i64_, 0));
        types.append(2, i64_);
        for (unsigned i = 0; i < WS_SITE_ADDRESSES; i++) {
            values.push_back(i < addresses.size() ? addresses[i] : ConstantPointerNull::get(pointer_));
            types.push_back(pointer_);
        }
    }
    auto* type = StructType::get(context_, types);
    auto* site = new GlobalVariable(module_, type, false, GlobalValue::InternalLinkage,
                                    ConstantStruct::get(type, values), "ws_site");
    site->setAlignment(Align(64));
    site->setSection(WS_SITE_SECTION);
    return ConstantExpr::getBitCast(site, pointer_);
}

// What is known of a pointer: what a reference leads to may then be read before the loop, also where not every
// iteration reads it.
static void keep_what_is_known(Argument* parameter, const Argument* of)
{
    for (Attribute::AttrKind kind :
         {Attribute::NonNull, Attribute::Dereferenceable, Attribute::Alignment, Attribute::NoUndef})
        if (of->hasAttribute(kind))
            parameter->addAttr(of->getAttribute(kind));
}

// A variable with libomp's number of this thread: for `omp` constructs of the user's in the loop.
Value* Lowering::thread_number(IRBuilder<>& builder, const Region& region)
{
    Function* function = builder.GetInsertBlock()->getParent();
    IRBuilder<> at_entry(&function->getEntryBlock(), function->getEntryBlock().begin());
    Value* thread = at_entry.CreateAlloca(i32_, nullptr, "thread");
    Value* number = builder.getInt32(0);
    if (options.openmp) {
        FunctionCallee ask = module_.getOrInsertFunction(
            "__kmpc_global_thread_num", FunctionType::get(i32_, {region.fork->getArgOperand(0)->getType()}, false));
        CallInst* asked = builder.CreateCall(ask, {region.fork->getArgOperand(0)});
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
Function* Lowering::make_function(const Region& region, const char* ending, ArrayRef<Type*> parameters,
                                  IRBuilder<>& builder)
{
    Function* body = region.body;
    Function* made = Function::Create(FunctionType::get(nothing_, parameters, false), GlobalValue::InternalLinkage,
                                      readable_name(function_symbol(region.fork->getFunction())) + ending, module_);
    for (const char* kept :
         {"target-cpu", "target-features", "tune-cpu", "frame-pointer", "stack-protector-buffer-size"})
        if (body->hasFnAttribute(kept))
            made->addFnAttr(body->getFnAttribute(kept));
    for (Attribute::AttrKind kept : {Attribute::NoUnwind, Attribute::UWTable, Attribute::OptimizeNone,
                                     Attribute::NoInline, Attribute::OptimizeForSize, Attribute::MinSize})
        if (body->hasFnAttribute(kept))
            made->addFnAttr(body->getFnAttribute(kept));
    builder.SetInsertPoint(BasicBlock::Create(context_, "", made));
    if (DISubprogram* of = body->getSubprogram()) {
        // What is inlined in a function without debug information loses its own.
        DIBuilder debug(module_, false, of->getUnit());
        auto flags = DISubprogram::SPFlagDefinition | DISubprogram::SPFlagLocalToUnit;
        if (of->isOptimized())
            flags |= DISubprogram::SPFlagOptimized;
        DISubprogram* own = debug.createFunction(of->getFile(), made->getName(), "", of->getFile(), of->getLine(),
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
Function* Lowering::make_worker(const Region& region, const Captures& captures)
{
    Function* body = region.body;
    IRBuilder<> builder(context_);
    Function* worker = make_function(region, ".ws", captures.type->elements(), builder);
    Value* thread = thread_number(builder, region);
    SmallVector<Value*, 8> arguments{thread, thread};
    for (unsigned i = 0; i + 2 < body->arg_size(); i++) {
        Argument* given = worker->getArg(i);
        if (captures.by_value[i]) {
            // The function finds it in a variable of the worker's.
            arguments.push_back(builder.CreateAlloca(given->getType()));
            builder.CreateStore(given, arguments.back());
        } else {
            keep_what_is_known(given, body->getArg(i + 2));
            arguments.push_back(given);
        }
    }
    CallInst* call = builder.CreateCall(body->getFunctionType(), body, arguments);
    call->setCallingConv(body->getCallingConv());
    builder.CreateRetVoid();
    return worker;
}

// thunk(captures): what the runtime calls, the owner and each guest.
Function* Lowering::make_thunk(const Region& region, const Captures& captures, Function* worker)
{
    IRBuilder<> builder(context_);
    Function* thunk = make_function(region, ".ws.start", {pointer_}, builder);
    SmallVector<Value*, 8> arguments;
    Value* data = builder.CreateBitCast(thunk->getArg(0), pointer_to(captures.type));
    for (unsigned i = 0; i < captures.type->getNumElements(); i++)
        arguments.push_back(
            builder.CreateLoad(captures.type->getElementType(i), builder.CreateStructGEP(captures.type, data, i)));
    builder.CreateCall(worker->getFunctionType(), worker, arguments);
    builder.CreateRetVoid();
    return thunk;
}

// Calls the plain version with what the fork was given.
void Lowering::call_plainly(const Region& region, Function* plain)
{
    IRBuilder<> builder(region.fork);
    Value* thread = thread_number(builder, region);
    SmallVector<Value*, 8> arguments{thread, thread};
    for (unsigned i = 2; i < plain->arg_size(); i++)
        arguments.push_back(
            builder.CreateBitOrPointerCast(region.fork->getArgOperand(i + 1), plain->getArg(i)->getType()));
    CallInst* call = builder.CreateCall(plain->getFunctionType(), plain, arguments);
    call->setCallingConv(plain->getCallingConv());
}

// Returns the worker.
Function* Lowering::lower_fork(const Region& region)
{
    SmallVector<Type*, 8> types;
    Captures captures;
    for (unsigned i = 2; i < region.body->arg_size(); i++) {
        Type* value = captured_value(region.fork, i + 1);
        types.push_back(value ? value : region.body->getArg(i)->getType());
        captures.by_value.push_back(value);
    }
    captures.type = StructType::get(context_, types);
    std::vector<Constant*> addresses;
    const std::string results =
        results_text(region.fork, region.body, unsigned(directive_number(region.mark)), captures, addresses);
    Function *worker = make_worker(region, captures), *thunk = make_thunk(region, captures, worker);

    IRBuilder<> builder(region.fork);
    uint64_t kinds = cast<ConstantInt>(region.mark->getArgOperand(1))->getZExtValue() & (openmp_loop - 1);
    kinds |= WS_SITE_OUTLINED;
    if (!asks_for_last(region.body))
        kinds |= WS_SITE_ANY_ORDER;
    const Sharing sharing{thunk, make_site(region.where, kinds, results, addresses), region.mark->getArgOperand(2),
                          region.mark->getArgOperand(3)};
    Value* condition = region.mark->arg_size() > 6 ? region.mark->getArgOperand(6) : builder.getInt32(1);
    auto* constant = dyn_cast<ConstantInt>(condition);
    const bool always = constant && constant->isOne();
    if (Function* plain = level_ >= 2 && always && !region.openmp
                              ? make_plain_version(region.fork, region.body, captures, sharing)
                              : nullptr) {
        call_plainly(region, plain);
        bodies_.lower(plain);
        plain_.push_back(plain);
        remove_call(region.fork);
        remove_call(region.push);
        return worker;
    }

    Function* host = region.fork->getFunction();
    IRBuilder<> at_entry(&*host->getEntryBlock().getFirstInsertionPt());
    Value* data = types.empty() ? nullptr : at_entry.CreateAlloca(captures.type, nullptr, "ws.captures");
    for (unsigned i = 0; i < types.size(); i++) {
        Value* value = region.fork->getArgOperand(3 + i);
        if (captures.by_value[i])
            value = builder.CreateLoad(types[i], value);
        else if (value->getType() != types[i])
            value = builder.CreateBitOrPointerCast(value, types[i]);
        builder.CreateStore(value, builder.CreateStructGEP(captures.type, data, i));
    }
    SmallVector<Value*, 6> arguments{thunk,
                                     data ? builder.CreateBitCast(data, pointer_) : ConstantPointerNull::get(pointer_),
                                     sharing.site, sharing.chunk, sharing.steal_chunk};
    if (always) {
        builder.CreateCall(runtime_function(module_, region.openmp ? "ws_openmp" : "ws_parallel", nothing_,
                                            {thunk->getType(), pointer_, pointer_, i64_, i64_}),
                           arguments);
    } else {
        arguments.insert(arguments.begin(), condition);
        builder.CreateCall(runtime_function(module_, "ws_parallel_if", nothing_,
                                            {i32_, thunk->getType(), pointer_, pointer_, i64_, i64_}),
                           arguments);
    }
    remove_call(region.fork);
    remove_call(region.push);
    return worker;
}

// As the plain version becomes code of the function that the loop stands in.
static void inline_where_called(Function* function)
{
    SmallVector<CallBase*, 2> calls;
    for (User* user : function->users())
        if (auto* call = dyn_cast<CallBase>(user); call && callee(*call) == function)
            calls.push_back(call);
    for (CallBase* call : calls) {
        InlineFunctionInfo info;
        InlineFunction(*call, info);
    }
    if (function->use_empty())
        function->eraseFromParent();
}

// The body becomes the worker's own code before anything is optimized: as a function it would be optimized by itself,
// and once more in the worker. Inner loops are unrolled in the first round, arrays that only they use are gone after
// the second, and with them the stores that the vectorizer of straight code starts from.
static void inline_body(Function* worker, unsigned level)
{
    if (worker->hasFnAttribute(Attribute::OptimizeNone) || worker->hasFnAttribute(Attribute::NoInline))
        return;
    inline_outlined(worker);
    if (level >= 2)
        worker->addFnAttr(Attribute::NoInline);
    else
        inline_where_called(worker); // a debugger finds less of arguments
}

// Clang asks once a function, whatever of libomp is called in it.
void Lowering::drop_unused_thread_numbers()
{
    Function* ask = module_.getFunction("__kmpc_global_thread_num");
    if (!ask)
        return;
    SmallVector<CallBase*, 8> unused;
    for (User* user : ask->users())
        if (auto* call = dyn_cast<CallBase>(user); call && call->use_empty())
            unused.push_back(call);
    for (CallBase* call : unused)
        remove_call(call);
}

static uint64_t marked_kinds(const CallBase* mark)
{
    return cast<ConstantInt>(mark->getArgOperand(1))->getZExtValue();
}

// Returns its function, if the mark is of a task.
Function* Lowering::lower_task(CallBase* mark)
{
    if (marked_kinds(mark) & ws::sections_mark) {
        lower_taskwait(module_, mark);
        return nullptr;
    }
    const uint64_t kinds = marked_kinds(mark) & ~uint64_t(ws::task_mark);
    return ws_clang::lower_task(module_, mark, make_site(loop_name(mark), kinds | WS_SITE_OUTLINED, "", {}));
}

// With -fws=openmp the mark may stand on a loop that cannot be shared.
bool Lowering::stays_openmp(Region& region)
{
    const unsigned kinds = unsigned(cast<ConstantInt>(region.mark->getArgOperand(1))->getZExtValue());
    region.where = loop_name(region.mark);
    if (!(kinds & openmp_loop)) {
        remark(place(region.mark), ws::is_shared(region.where));
        return false;
    }
    region.openmp = true;
    if (judge_openmp_loop(region.body, region.fork->getFunction(), place(region.mark), region.where))
        return false;
    restore_openmp_schedule(region.body, kinds);
    remove_call(region.push);
    return true;
}

unsigned Lowering::run()
{
    SmallVector<Function*, 8> bodies, workers;
    if (Function* mark = module_.getFunction(ws::mark_function)) {
        SmallVector<CallBase*, 8> marks;
        for (User* user : mark->users())
            if (auto* call = dyn_cast<CallBase>(user))
                marks.push_back(call);
        llvm::sort(marks, [](const CallBase* one, const CallBase* other) {
            return directive_number(one) < directive_number(other);
        });
        SmallVector<Region, 8> regions;
        for (CallBase* call : marks) {
            Region region;
            if (marked_kinds(call) & ws::task_mark) {
                if (Function* task = lower_task(call))
                    bodies.push_back(task);
                continue;
            }
            if (!find_region(call, region) || stays_openmp(region))
                continue;
            regions.push_back(region);
        }
        for (const Region& region : regions) {
            workers.push_back(lower_fork(region));
            bodies_.lower(region.body);
            bodies.push_back(region.body);
        }
        SmallPtrSet<GlobalVariable*, 8> literals;
        for (CallBase* call : marks) {
            for (unsigned argument : {0, 4})
                if (auto* literal = dyn_cast<GlobalVariable>(call->getArgOperand(argument)->stripInBoundsOffsets()))
                    literals.insert(literal);
            call->replaceAllUsesWith(ConstantInt::get(i32_, 0));
            remove_call(call);
        }
        for (GlobalVariable* literal : literals) {
            literal->removeDeadConstantUsers();
            if (literal->use_empty() && literal->hasLocalLinkage())
                literal->eraseFromParent();
        }
        if (mark->use_empty())
            mark->eraseFromParent();
    }
    lower_taskgroups(module_);
    drop_unused_thread_numbers();
    // The locks for merges that nobody takes any more.
    for (GlobalVariable& variable : make_early_inc_range(module_.globals()))
        if (begins(variable.getName(), ".gomp_critical_user_.") && variable.use_empty())
            variable.eraseFromParent();
    const unsigned features = features_of_loops(module_, bodies);
    for (Function* worker : workers)
        inline_body(worker, level_);
    for (Function* plain : plain_)
        inline_where_called(plain);
    return features;
}

} // namespace

unsigned lower_loops(Module& module, unsigned level) { return Lowering(module, level).run(); }

} // namespace ws_clang
