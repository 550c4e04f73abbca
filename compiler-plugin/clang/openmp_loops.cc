// SPDX-License-Identifier: MIT
//
// mpicc -fws=openmp, in the finished code: whether an `omp parallel for` may become a `ws for`. It stays OpenMP if the
// loop can tell threads apart, waits for other threads or uses more of libomp than loops need. Functions of other files
// are not seen: they are taken to do none of this, but libws is told, and shares the loop only in programs in which
// nobody asks OpenMP for its threads. Also -fws-report, which prints a remark for each loop.
#include "back.h"

#include "../clauses/messages.h"
#include "../clauses/mpi_calls.h"
#include "../../runtime/abi/abi.h"

#include <set>

namespace ws_clang {

using namespace llvm;

namespace {

std::set<std::string> remarks; // printed: a template's loop comes once for each instance

class Judge {
public:
    explicit Judge(const Module& module) : library_(Triple(module.getTargetTriple())) {}

    std::string why_not; // the first reason; empty: none
    std::set<std::string> unseen; // functions of other files that it calls

    void region(const Function* body)
    {
        add(body, "");
        while (!todo_.empty()) {
            const auto [function, name] = todo_.back();
            todo_.pop_back();
            look(function, name);
        }
    }

private:
    // `inside`: the function's name for the message, empty in the region itself.
    void add(const Function* function, const std::string& inside)
    {
        if (!function->isDeclaration() && seen_.insert(function).second)
            todo_.emplace_back(function, inside);
    }

    void refuse(const std::string& why, const std::string& inside)
    {
        if (why_not.empty())
            why_not = inside.empty() ? why : why + " (in '" + inside + "')";
    }

    void look(const Function* function, const std::string& inside)
    {
        for (const Instruction& instruction : instructions(function)) {
            if (isa<DbgInfoIntrinsic>(instruction))
                continue;
            if (const auto* call = dyn_cast<CallBase>(&instruction))
                look_call(*call, inside);
            for (const Value* operand : instruction.operands())
                look_operand(operand, inside);
        }
    }

    void look_operand(const Value* value, const std::string& inside)
    {
        if (const auto* variable = dyn_cast<GlobalVariable>(value)) {
            if (variable->isThreadLocal())
                refuse(ws::reason::thread_variable(readable_name(variable->getName().str())), inside);
        } else if (const auto* function = dyn_cast<Function>(value)) {
            add(function, own_name(function, inside));
        } else if (const auto* expression = dyn_cast<ConstantExpr>(value)) {
            for (const Value* operand : expression->operands())
                look_operand(operand, inside);
        }
    }

    // Functions that clang made of the region belong to it.
    static std::string own_name(const Function* function, const std::string& inside)
    {
        return is_of_openmp(function->getName()) ? inside : readable_name(function->getName().str());
    }

    void look_call(const CallBase& call, const std::string& inside)
    {
        const Function* called = callee(call);
        if (!called) {
            if (!call.isInlineAsm())
                unseen.insert("function pointer");
            return;
        }
        const std::string name = called->getName().str();
        LibFunc known;
        if (called->isIntrinsic())
            return;
        const ws::MpiCall mpi = ws::mpi_call(name);
        if (begins(called->getName(), "__kmpc_") || begins(called->getName(), "__tgt_"))
            look_libomp_call(name, inside);
        else if (begins(called->getName(), "omp_")) {
            if (!ws::may_call(name))
                refuse("calls '" + name + "'", inside);
        } else if (ws::is_refused(mpi))
            refuse("calls '" + ws::mpi_name(name) + "'", inside);
        else if (ws::tells_threads_apart(name))
            refuse("calls '" + name + "'", inside);
        else if (begins(called->getName(), "_ZTW"))
            refuse(ws::reason::thread_variable(readable_name("_Z" + name.substr(4))), inside);
        else if (called->isDeclaration() && mpi == ws::MpiCall::none && !library_.getLibFunc(*called, known) &&
                 !is_support(called->getName()))
            unseen.insert(readable_name(name));
    }

    // What compiled code calls without the user's doing.
    static bool is_support(StringRef name)
    {
        for (const char* begin : {"__cxa_", "__clang_", "__gxx_", "__atomic_", "__ws_", "ws_", "_ZSt9terminatev"})
            if (begins(name, begin))
                return true;
        return false;
    }

    void look_libomp_call(const std::string& name, const std::string& inside)
    {
        const StringRef what = StringRef(name).drop_front(name[2] == 't' ? strlen("__tgt_") : strlen("__kmpc_"));
        for (const char* harmless : {"global_thread_num", "critical", "end_critical", "flush"})
            if (what == harmless)
                return;
        if (inside.empty()) // of the loop itself
            for (const char* own : {"dispatch_", "reduce", "end_reduce", "barrier"})
                if (begins(what, own))
                    return;
        static const std::pair<const char*, const char*> constructs[] = {{"barrier", "barrier"},
                                                                         {"cancel", "cancel"},
                                                                         {"omp_task", "task"},
                                                                         {"taskgroup", "taskgroup"},
                                                                         {"fork_teams", "teams"},
                                                                         {"fork_call", "parallel"},
                                                                         {"push_num_threads", "parallel"},
                                                                         {"serialized_parallel", "parallel"},
                                                                         {"single", "single"},
                                                                         {"for_static", "for"},
                                                                         {"dispatch", "for"},
                                                                         {"ordered", "ordered"},
                                                                         {"master", "master"},
                                                                         {"masked", "masked"},
                                                                         {"target", "target"}};
        for (const auto& [begin, construct] : constructs)
            if (begins(what, begin)) {
                refuse(ws::reason::construct(construct), inside);
                return;
            }
        refuse(ws::reason::openmp_function(what.str()), inside);
    }

    TargetLibraryInfoImpl library_;
    SmallPtrSet<const Function*, 16> seen_;
    std::vector<std::pair<const Function*, std::string>> todo_;
};

// The schedule that was written, as clang passes it to libomp.
int libomp_schedule(unsigned kinds)
{
    constexpr int static_chunked = 33, static_whole = 34, dynamic = 35, guided = 36, automatic = 38;
    switch (kinds & 255) {
    case WS_STATIC: return kinds & WS_SITE_CHUNK ? static_chunked : static_whole;
    case WS_DYNAMIC: return dynamic;
    case WS_GUIDED: return guided;
    default: return kinds & openmp_schedule ? automatic : static_whole;
    }
}

} // namespace

void remark(const std::string& place, const std::string& text)
{
    if (options.report && remarks.insert(place + ": remark: " + text + "\n").second)
        errs() << place << ": remark: " << text << "\n";
}

bool judge_openmp_loop(const Function* body, const Function* host, const std::string& place, const std::string& name)
{
    if (is_outlined(host->getName())) {
        remark(place, ws::stays_openmp(ws::reason::inside_another));
        return false;
    }
    // With -save-temps, bitcode: the tree was seen by another process, and what it said of the number of threads is
    // lost.
    if (!options.compiling)
        return false;
    Judge judge(*body->getParent());
    judge.region(body);
    if (judge.why_not.empty())
        judge.why_not = why_not_by_tree(place);
    const bool shared = judge.why_not.empty();
    remark(place, shared ? ws::is_shared(name) + ws::calls_unseen(judge.unseen) : ws::stays_openmp(judge.why_not));
    return shared;
}

void restore_openmp_schedule(Function* body, unsigned kinds)
{
    for (Instruction& instruction : instructions(body)) {
        Function* called = callee(instruction);
        if (called && is_outlined_debug(called->getName())) {
            restore_openmp_schedule(called, kinds);
        } else if (called && begins(called->getName(), "__kmpc_dispatch_init_")) {
            auto* call = cast<CallBase>(&instruction);
            constexpr uint64_t modifiers = 3u << 29;
            const int schedule = libomp_schedule(kinds);
            uint64_t value = cast<ConstantInt>(call->getArgOperand(2))->getZExtValue() & modifiers;
            value = schedule == 35 || schedule == 36 ? value | unsigned(schedule) : unsigned(schedule);
            call->setArgOperand(2, ConstantInt::get(call->getArgOperand(2)->getType(), value));
        }
        // What clang says of the accesses in a dynamic loop does not hold in a static one.
        if ((kinds & 255) != WS_DYNAMIC && (kinds & 255) != WS_GUIDED)
            instruction.setMetadata(LLVMContext::MD_access_group, nullptr);
    }
}

} // namespace ws_clang
