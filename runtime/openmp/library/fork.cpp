// SPDX-License-Identifier: MIT
//
// Where libomp's regions begin: __kmpc_fork_call(), which clang's code calls with the region's function and the
// addresses of what it shares. libws stands before libomp, as openmp.cpp describes for libgomp. While no policy chooses
// threads the call goes on as it came, by a jump.
//
// A region that is chosen is begun with a function of ours, which calls the program's with the same addresses. Tools
// (OMPT) see a call that comes from libws.
#include "openmp/library/llvm_number.h"
#include "openmp/library/next.h"
#include "openmp/library/regions.h"
#include "openmp/library/threads.h"
#include "openmp/shared/target.h"
#include "openmp/tool/tool.h"
#include "base/atomics.h"

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>
#include <optional>
#include <utility>

namespace ws::openmp {

namespace {

using Fork = void(void* location, int32_t count, void (*function)(), ...);

// libomp's, and how many threads it wants for this thread's next region, by a num_threads clause.
Next<Fork> next_fork("__kmpc_fork_call");
Next<Fork> next_teams("__kmpc_fork_teams");
Next<void(void* location, int32_t thread)> next_serialized("__kmpc_serialized_parallel");
Next<void(void* location, int32_t thread, int32_t threads)> next_push_num_threads("__kmpc_push_num_threads");
WS_THREAD_LOCAL int32_t pushed;

// libomp prepares itself for regions at its first one, and before it omp_in_final() returns no. It knows nothing of
// shared regions, and a tool nothing of this one.
bool begin_library(void* location, void* caller)
{
    Next<void(void*, int32_t)> end("__kmpc_end_serialized_parallel");
    const int32_t thread = llvm_number(location, caller);
    tool::look_for_others();
    if (tool::watches)
        tool::hide_next_region();
    next_serialized(caller)(location, thread);
    if (tool::watches)
        tool::learn_kinds(thread);
    end(caller)(location, thread);
    return true;
}

using Call = void (*)(void (*function)(), int32_t* thread, int32_t* bound, void** shared);

template <size_t... i>
void call_with(void (*function)(), int32_t* thread, int32_t* bound, void** shared, std::index_sequence<i...>)
{
    reinterpret_cast<void (*)(int32_t*, int32_t*, decltype(static_cast<void*>(shared[i]))...)>(function)(thread, bound,
                                                                                                         shared[i]...);
}
template <size_t count> void call(void (*function)(), int32_t* thread, int32_t* bound, void** shared)
{
    call_with(function, thread, bound, shared, std::make_index_sequence<count>());
}
// The caller of a C function may pass more than it takes.
constexpr struct {
    size_t count;
    Call call;
} calls[] = {{4, call<4>}, {12, call<12>}, {28, call<28>}, {60, call<60>}, {124, call<124>}, {508, call<508>}};
constexpr size_t most_shared = calls[std::size(calls) - 1].count;

// The addresses that a region's function is called with.
struct Shared {
    // Takes `count` of them.
    Shared(size_t count, va_list& addresses)
    {
        const auto* how = std::begin(calls);
        while (how != std::end(calls) && how->count < count)
            how++;
        if (how == std::end(calls)) {
            std::fprintf(stderr,
                         "workshare: error: a parallel region shares %zu variables, more than %zu; run without "
                         "-workshare-openmp\n",
                         count, most_shared);
            std::abort();
        }
        call = how->call;
        for (size_t i = 0; i < how->count; i++)
            these[i] = i < count ? va_arg(addresses, void*) : nullptr;
    }
    Call call;
    void* these[most_shared];
};

struct ForkedRegion {
    void (*function)();
    Call call;
    void** shared;
    const RegionOnCores* on_cores;
    void* location;
    const RegionTime* time;
};
void run_as_it_is(int32_t* thread, int32_t* bound, ForkedRegion* region)
{
    region->call(region->function, thread, bound, region->shared);
}
void run_forked(int32_t* thread, int32_t* bound, ForkedRegion* region)
{
    region->on_cores->run_member([&] { region->call(region->function, thread, bound, region->shared); });
}
void run_timed(int32_t* thread, int32_t* bound, ForkedRegion* region)
{
    region->time->run_thread([&] { region->call(region->function, thread, bound, region->shared); });
}

// For a region that somebody else may run: its function as libgomp's have it. Any thread may call it.
void call_forked(void* argument)
{
    const ForkedRegion& region = *static_cast<ForkedRegion*>(argument);
    int32_t thread = llvm_number(region.location), bound = 0;
    region.call(region.function, &thread, &bound, region.shared);
}
struct PlainBody {
    RegionCall::Body fn;
    void* data;
};
void run_plain_body(int32_t*, int32_t*, PlainBody* plain) { plain->fn(plain->data); }

class LlvmRegion final : public RegionCall {
public:
    LlvmRegion(ForkedRegion& region, unsigned threads, Fork* fork, void* caller)
        : RegionCall(call_forked, &region, threads, reinterpret_cast<void*>(region.function)),
          location_(region.location), fork_(fork), caller_(caller)
    {
    }
    const void* caller() const override { return caller_; }
    void open(Body fn, void* data, unsigned threads) override
    {
        if (WS_UNLIKELY(tool::watches))
            tool::next_region_is_called_from(caller_);
        if (threads)
            next_push_num_threads(caller_)(location_, llvm_number(location_, caller_), int32_t(threads));
        if (WS_LIKELY(fn == this->fn && data == this->data)) { // libomp says each thread's number
            fork_(location_, 1, reinterpret_cast<void (*)()>(run_as_it_is), static_cast<ForkedRegion*>(data));
            return;
        }
        PlainBody plain = {fn, data};
        fork_(location_, 1, reinterpret_cast<void (*)()>(run_plain_body), &plain);
    }

private:
    void* const location_;
    Fork* const fork_;
    void* const caller_;
};

} // namespace

extern "C" {
// Where the jump below goes; null: to ws_fork(), as a policy may choose, or nobody has asked yet.
__attribute__((visibility("hidden"))) Fork* ws_libomp_fork;
__attribute__((visibility("hidden"))) void ws_fork(void* location, int32_t count, void (*function)(), ...)
{
    void* const caller = __builtin_return_address(0);
    Fork* const fork = next_fork(caller);
    va_list arguments;
    va_start(arguments, function);
    Shared shared(size_t(count), arguments);
    va_end(arguments);
    const unsigned asked = unsigned(pushed);
    pushed = 0;
    ForkedRegion region = {function, shared.call, shared.these, nullptr, location, nullptr};
    if (WS_UNLIKELY(sharer != nullptr)) {
        [[maybe_unused]] static const bool begun = begin_library(location, caller);
        LlvmRegion call(region, asked, fork, caller);
        sharer(call);
        return;
    }
    const RegionTime time;
    const RegionOnCores on_cores(asked, reinterpret_cast<void*>(function));
    region.on_cores = &on_cores;
    if (!region_cores && !counts_regions)
        base::store_relaxed(ws_libomp_fork, next_fork.of_all()); // one word, and the library behind it never changes
    if (!on_cores.is_chosen()) {
        region.time = &time;
        fork(location, 1, reinterpret_cast<void (*)()>(time.times_its_threads() ? run_timed : run_as_it_is), &region);
        return;
    }
    if (on_cores.threads != asked)
        next_push_num_threads(caller)(location, llvm_number(location, caller), int32_t(on_cores.threads));
    fork(location, 1, reinterpret_cast<void (*)()>(run_forked), &region);
}
__attribute__((visibility("default"))) void openmp_fork_call();

// A virtual thread becomes an initial thread when it enters a teams construct, which is inside a target construct then.
__attribute__((visibility("default"))) void openmp_fork_teams(void* location, int32_t count, void (*function)(), ...)
{
    Fork* const fork = next_teams(__builtin_return_address(0));
    va_list arguments;
    va_start(arguments, function);
    Shared shared(size_t(count), arguments);
    va_end(arguments);
    ForkedRegion region = {function, shared.call, shared.these, nullptr, location, nullptr};
    std::optional<TargetOrTeams> within;
    if (current)
        within.emplace();
    fork(location, 1, reinterpret_cast<void (*)()>(run_as_it_is), &region);
}
}
asm(".symver openmp_fork_teams,__kmpc_fork_teams@VERSION");

// Most calls only pass: no policy chooses, and libomp's is known.
#if defined(__x86_64__)
asm(R"(
    .text
    .globl openmp_fork_call
    .type openmp_fork_call, @function
openmp_fork_call:
    .cfi_startproc
    movq ws_libomp_fork(%rip), %r11
    testq %r11, %r11
    je ws_fork
    jmp *%r11
    .cfi_endproc
    .size openmp_fork_call, . - openmp_fork_call
)");
#elif defined(__aarch64__)
asm(R"(
    .text
    .globl openmp_fork_call
    .type openmp_fork_call, %function
openmp_fork_call:
    .cfi_startproc
    adrp x16, ws_libomp_fork
    ldr x16, [x16, :lo12:ws_libomp_fork]
    cbz x16, 1f
    br x16
1:  b ws_fork
    .cfi_endproc
    .size openmp_fork_call, . - openmp_fork_call
)");
#else
#error "a jump that leaves all arguments as they are"
#endif
asm(".symver openmp_fork_call,__kmpc_fork_call@VERSION");

extern "C" __attribute__((visibility("default"))) void openmp_push_num_threads(void* location, int32_t thread,
                                                                               int32_t threads)
{
    pushed = threads;
    if (sharer) // libomp would keep it for its next region, and this one may be none of its own: open() says it
        return;
    void* const caller = __builtin_return_address(0);
    next_push_num_threads(caller)(location, thread, threads);
}
asm(".symver openmp_push_num_threads,__kmpc_push_num_threads@VERSION");

// A region of one thread, by its if clause: its num_threads clause is over.
extern "C" __attribute__((visibility("default"))) void openmp_serialized_parallel(void* location, int32_t thread)
{
    pushed = 0;
    void* const caller = __builtin_return_address(0);
    if (serializes && serializes() && sharer)
        thread = llvm_number(location, caller);
    next_serialized(caller)(location, thread);
}
asm(".symver openmp_serialized_parallel,__kmpc_serialized_parallel@VERSION");

void see_all_forks() { base::store_relaxed(ws_libomp_fork, nullptr); }

bool sees_forks()
{
    void* const found = dlvsym(RTLD_DEFAULT, "__kmpc_fork_call", "VERSION");
    return !found || found == reinterpret_cast<void*>(openmp_fork_call);
}

} // namespace ws::openmp
