// SPDX-License-Identifier: MIT
//
// The half of the plugin that sees what clang made of it, by LLVM's headers.
#ifndef WS_CLANG_BACK_H
#define WS_CLANG_BACK_H

#include "llvm-headers.h"
#include "ws_clang.h"

#include <string>
#include <vector>

namespace ws_clang {

void lower_atomics(llvm::Module& module);
// These two return what of libws is used: WS_USES_... of abi.h.
unsigned lower_criticals(llvm::Module& module);
// `level`: of optimization.
unsigned lower_loops(llvm::Module& module, unsigned level);
unsigned features_of_loops(llvm::Module& module, llvm::ArrayRef<llvm::Function*> loops);
void announce(llvm::Module& module, unsigned features);
void register_alone_pass(llvm::PassBuilder& builder);
// Has a linker that does not find libws name -fws.
void name_fws(llvm::Module& module);

// A task or a taskloop, by its mark, which gets the value of its condition. Returns the task's function; null if
// nothing reaches it.
llvm::Function* lower_task(llvm::Module& module, llvm::CallBase* mark, llvm::Constant* site);
// A taskwait, by the mark behind it.
void lower_taskwait(llvm::Module& module, llvm::CallBase* mark);
// After all tasks.
void lower_taskgroups(llvm::Module& module);

// Whether an `omp parallel for` may become ours; says so, or why not.
bool judge_openmp_loop(const llvm::Function* body, const llvm::Function* host, const std::string& place,
                       const std::string& name);
// Has libomp schedule a loop that was marked as was written.
void restore_openmp_schedule(llvm::Function* body, unsigned kinds);
// What a thunk finds of a region: a field for each variable of the fork, which holds its address, or its value.
struct Captures {
    llvm::StructType* type;
    std::vector<bool> by_value;
};
// Where the results of a loop's reductions lie, as abi.h writes it, before its body is lowered; empty if it has none.
// `addresses`: of static ones.
std::string results_text(const llvm::CallBase* fork, const llvm::Function* body, unsigned directive,
                         const Captures& captures, std::vector<llvm::Constant*>& addresses);
// What a call of ws_parallel is given, except the captures.
struct Sharing {
    llvm::Function* thunk;
    llvm::Constant* site;
    llvm::Value *chunk, *steal_chunk;
};
// The plain version of `body`, an outlined loop that is not lowered yet: a function with the same parameters, for which
// libws is asked, and which still has merges and barriers of libomp's in it. Null if the loop has none.
llvm::Function* make_plain_version(const llvm::CallBase* fork, llvm::Function* body, const Captures& captures,
                                   const Sharing& sharing);
// ws_alone changes between chunks only: a loop over a chunk has it in a variable, loaded here, and so can become two.
void look_once_at_alone(llvm::Function* function, llvm::Instruction* before);
// Inlines the outlined functions that a function calls itself.
void inline_outlined(llvm::Function* function);
// A symbol as the user knows it, without parameters.
std::string readable_name(const std::string& symbol);

// The type of a variable that a fork gets by its address and that can be given by its value; null if it cannot.
llvm::Type* captured_value(const llvm::CallBase* fork, unsigned operand);

// The function called, through casts; null if it is not known.
llvm::Function* callee(const llvm::Instruction& instruction);
bool calls(const llvm::Instruction& instruction, llvm::StringRef name);
// Declares a function of libws.
llvm::FunctionCallee runtime_function(llvm::Module& module, llvm::StringRef name, llvm::Type* result,
                                      llvm::ArrayRef<llvm::Type*> parameters);
// Takes a call away; an invoke leaves a jump to where it went on.
void remove_call(llvm::CallBase* call);

} // namespace ws_clang

#endif
