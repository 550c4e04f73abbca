// SPDX-License-Identifier: MIT
//
// Where the results of a loop's reductions lie, for `mpirun -workshare-check` (WS_SITE_RESULTS in
// runtime/abi/abi.h): only data. The tree names the variables (checks.cc); the code that merges a participant's
// values stores to them, in the same order.
#include "back.h"

#include "../../runtime/abi/abi.h"

#include <map>

namespace ws_clang {

using namespace llvm;

namespace {

std::map<unsigned, std::vector<Reduction>>& noted()
{
    static std::map<unsigned, std::vector<Reduction>> loops;
    return loops;
}

// A place that a merge stores to, as the outlined function comes to it.
struct StorePlace {
    const Value* root = nullptr; // a parameter of the outlined function, a static variable, or null: not known
    unsigned pointers = 0; // loaded on the way from there
    int64_t behind = 0; // bytes after the last of them
    bool is_temporary = false; // a variable of the function's own
};

// The only value that a variable of its own is ever given.
const Value* only_value(const AllocaInst* variable)
{
    const Value* value = nullptr;
    for (const User* user : variable->users())
        if (const auto* store = dyn_cast<StoreInst>(user); store && store->getPointerOperand() == variable) {
            if (value)
                return nullptr;
            value = store->getValueOperand();
        }
    return value;
}

// `outer`: the call of this function, if it is one within the outlined one.
StorePlace place_of(const Value* address, const CallBase* outer, const DataLayout& layout)
{
    StorePlace p;
    bool in_pointer = false;
    for (unsigned step = 0; step < 32; step++) {
        if (const auto* merged = dyn_cast<PHINode>(address)) { // of a loop over elements: the first
            address = merged->getIncomingValue(0);
        } else if (const auto* at = dyn_cast<GEPOperator>(address)) {
            APInt bytes(layout.getIndexTypeSizeInBits(at->getType()), 0);
            if (!at->accumulateConstantOffset(layout, bytes) || (in_pointer && bytes != 0))
                return {};
            p.behind += bytes.getSExtValue();
            address = at->getPointerOperand();
        } else if (Operator::getOpcode(address) == Instruction::BitCast) {
            address = cast<Operator>(address)->getOperand(0);
        } else if (const auto* load = dyn_cast<LoadInst>(address)) {
            const auto* variable = dyn_cast<AllocaInst>(load->getPointerOperand());
            if (variable) {
                address = only_value(variable);
                if (!address)
                    return {};
            } else { // a pointer that lies in a captured variable
                if (p.pointers++)
                    return {};
                address = load->getPointerOperand();
                in_pointer = true;
            }
        } else if (const auto* argument = dyn_cast<Argument>(address)) {
            if (!outer || argument->getParent() != callee(*outer)) {
                p.root = argument;
                return p;
            }
            address = outer->getArgOperand(argument->getArgNo());
            outer = nullptr;
        } else {
            p.is_temporary = isa<AllocaInst>(address) && !p.pointers;
            const auto* variable = dyn_cast<GlobalVariable>(address);
            if (variable && !variable->isThreadLocal() && !p.pointers)
                p.root = variable;
            return p;
        }
    }
    return {};
}

// The call that begins the merge, in the outlined function or, with -g, in the one that it calls by `outer`.
const CallBase* find_merge(const Function* body, const CallBase*& outer)
{
    for (const BasicBlock& block : *body)
        for (const Instruction& instruction : block) {
            const Function* called = callee(instruction);
            if (!called)
                continue;
            if (begins(called->getName(), "__kmpc_reduce"))
                return cast<CallBase>(&instruction);
            if (is_outlined_debug(called->getName())) {
                outer = cast<CallBase>(&instruction);
                return find_merge(called, outer);
            }
        }
    return nullptr;
}

// The variables with the participant's own values: what the list holds that the merge is given.
std::vector<const AllocaInst*> own_values(const CallBase* merge)
{
    std::vector<const AllocaInst*> values;
    const auto* list = dyn_cast<AllocaInst>(merge->getArgOperand(4)->stripPointerCasts());
    const auto* type = list ? dyn_cast<ArrayType>(list->getAllocatedType()) : nullptr;
    if (!type)
        return values;
    values.resize(type->getNumElements());
    for (const User* user : list->users()) {
        const auto* slot = dyn_cast<GetElementPtrInst>(user);
        const auto* number = slot ? dyn_cast<ConstantInt>(slot->getOperand(slot->getNumOperands() - 1)) : nullptr;
        if (!number || number->getZExtValue() >= values.size())
            continue;
        for (const User* of_slot : slot->users()) {
            const Value* stored = nullptr;
            if (const auto* store = dyn_cast<StoreInst>(of_slot))
                stored = store->getValueOperand();
            else if (const auto* cast = dyn_cast<BitCastInst>(of_slot))
                for (const User* of_cast : cast->users())
                    if (const auto* store = dyn_cast<StoreInst>(of_cast))
                        stored = store->getValueOperand();
            if (stored)
                values[number->getZExtValue()] = dyn_cast<AllocaInst>(stored->stripPointerCasts());
        }
    }
    return values;
}

bool long_double_is_quad(const Instruction* in) { return Triple(in->getModule()->getTargetTriple()).isAArch64(); }

// As abi.h writes it; empty if it is none of those.
std::string type_text(const AllocaInst* own, const Reduction& reduction, const DataLayout& layout)
{
    if (!own || own->isArrayAllocation() || !reduction.operation)
        return "";
    Type* type = own->getAllocatedType();
    uint64_t count = 1;
    for (; auto* array = dyn_cast<ArrayType>(type); type = array->getElementType())
        count *= array->getNumElements();
    std::string letter = reduction.is_signed ? "i" : "u";
    if (auto* parts = dyn_cast<StructType>(type)) {
        if (!reduction.is_complex || parts->getNumElements() != 2)
            return "";
        type = parts->getElementType(0);
        letter = "c";
    } else if (reduction.is_complex) {
        return "";
    }
    if (type->isFloatTy() || type->isDoubleTy() || type->isX86_FP80Ty() ||
        (type->isFP128Ty() && long_double_is_quad(own)))
        letter = letter == "c" ? "c" : "f";
    else if (!type->isIntegerTy() || letter == "c")
        return "";
    return letter + std::to_string(uint64_t(layout.getTypeAllocSize(type))) +
           (count > 1 ? "x" + std::to_string(count) : "") + reduction.operation;
}

} // namespace

void note_reductions(unsigned directive, std::vector<Reduction> reductions)
{
    auto [known, is_new] = noted().emplace(directive, reductions);
    if (is_new)
        return;
    // Another instantiation of the template.
    std::vector<Reduction>& before = known->second;
    if (before.size() != reductions.size()) {
        before.clear();
        return;
    }
    for (size_t i = 0; i < before.size(); i++) {
        if (before[i].operation != reductions[i].operation || before[i].is_complex != reductions[i].is_complex)
            before[i].operation = 0;
        before[i].is_signed |= reductions[i].is_signed;
    }
}

std::string results_text(const CallBase* fork, const Function* body, unsigned directive, const Captures& captures,
                         std::vector<Constant*>& addresses)
{
    const auto found = noted().find(directive);
    if (found == noted().end() || found->second.empty())
        return "";
    const std::vector<Reduction>& reductions = found->second;
    const DataLayout& layout = fork->getModule()->getDataLayout();
    const CallBase *outer = nullptr, *merge = find_merge(body, outer);
    std::vector<const AllocaInst*> own;
    std::vector<StorePlace> places;
    if (merge) {
        for (const AllocaInst* value : own_values(merge))
            own.push_back(value);
        // The first of the ways that it may go on: the blocks up to the end of the merge, in the order in which they
        // were made.
        const BasicBlock* first = nullptr;
        for (const User* user : merge->users())
            if (const auto* choice = dyn_cast<SwitchInst>(user))
                first = const_cast<SwitchInst*>(choice)
                            ->findCaseValue(ConstantInt::get(Type::getInt32Ty(fork->getContext()), 1))
                            ->getCaseSuccessor();
        const Value* last = nullptr;
        bool ended = !first;
        for (auto block = first ? first->getIterator() : merge->getFunction()->end();
             !ended && block != merge->getFunction()->end(); ++block)
            for (const Instruction& instruction : *block) {
                if (const Function* called = callee(instruction);
                    called && begins(called->getName(), "__kmpc_end_reduce")) {
                    ended = true;
                    break;
                }
                const Value* into = nullptr;
                if (const auto* store = dyn_cast<StoreInst>(&instruction))
                    into = store->getPointerOperand();
                else if (const Function* called = callee(instruction);
                         called && begins(called->getName(), ".omp_combiner."))
                    into = cast<CallBase>(instruction).getArgOperand(0); // the user's own operation
                const StorePlace p = into ? place_of(into, outer, layout) : StorePlace();
                if (!into || p.is_temporary)
                    continue;
                const bool same = !places.empty() && places.back().root == p.root &&
                                  places.back().pointers == p.pointers && p.root == last;
                // The two halves of a complex number.
                if (same && places.size() <= reductions.size() && reductions[places.size() - 1].is_complex)
                    continue;
                places.push_back(p);
                last = p.root;
            }
    }
    const bool fits = places.size() == reductions.size() && own.size() == reductions.size();
    std::string text;
    for (size_t i = 0; i < reductions.size(); i++) {
        const StorePlace p = fits ? places[i] : StorePlace();
        const std::string type = fits ? type_text(own[i], reductions[i], layout) : "";
        std::string place;
        if (type.empty() || !p.root) {
        } else if (const auto* variable = dyn_cast<GlobalVariable>(p.root)) {
            if (addresses.size() < WS_SITE_ADDRESSES) {
                place = "&" + std::to_string(addresses.size());
                Type* byte = Type::getInt8Ty(fork->getContext());
                Constant* start = ConstantExpr::getBitCast(const_cast<GlobalVariable*>(variable), pointer_to(byte));
                addresses.push_back(ConstantExpr::getGetElementPtr(
                    byte, start, ConstantInt::getSigned(Type::getInt64Ty(fork->getContext()), p.behind)));
            }
        } else if (const auto* argument = cast<Argument>(p.root);
                   argument->getParent() == body && argument->getArgNo() >= 2) {
            const unsigned field = argument->getArgNo() - 2;
            if (!captures.by_value[field] && p.behind >= 0)
                place = std::to_string(uint64_t(layout.getStructLayout(captures.type)->getElementOffset(field))) +
                        std::string(1 + p.pointers, '*') + (p.behind ? "+" + std::to_string(p.behind) : "");
        }
        text += (text.empty() ? "" : " ") + reductions[i].name + "=" + (place.empty() ? "?" : type + "@" + place);
    }
    return text;
}

} // namespace ws_clang
