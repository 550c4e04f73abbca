// SPDX-License-Identifier: MIT
//
// Behind include/workshare: ws_for, and what ws.hpp needs at a call site's first call. Everything runs through
// ws_parallel_loop, as compiled code does.
#include "abi/call_body.h"
#include "abi/forked.h"
#include "abi/last_error.h"
#include "abi/name_text.h"
#include "base/atomics.h"
#include "base/os.h"
#include "workshare/ws.hpp"

#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <string>

namespace {

constexpr size_t last_error_bytes = 512;
// A thread's text, made at its first error: thread-local memory of a library that is loaded later is scarce. Freed with
// the thread.
WS_THREAD_LOCAL char* last_error;

// Null: no memory.
__attribute__((cold)) char* own_last_error()
{
    static pthread_key_t key;
    static pthread_once_t made = PTHREAD_ONCE_INIT;
    if (last_error)
        return last_error;
    pthread_once(&made, [] {
        pthread_key_create(&key, [](void* text) {
            last_error = nullptr;
            std::free(text);
        });
    });
    last_error = static_cast<char*>(std::calloc(1, last_error_bytes));
    pthread_setspecific(key, last_error);
    return last_error;
}

__attribute__((cold, format(printf, 2, 3))) void say(const std::string& where, const char* format, ...)
{
    char* const text = own_last_error();
    if (!text)
        return;
    va_list list;
    va_start(list, format);
    int n = std::snprintf(text, last_error_bytes, "workshare: %s: ", where.c_str());
    if (n >= 0 && size_t(n) < last_error_bytes)
        std::vsnprintf(text + n, last_error_bytes - size_t(n), format, list);
    va_end(list);
}

bool known(ws_schedule kind) { return unsigned(kind) <= WS_RUNTIME; }
bool takes_chunk(ws_schedule kind) { return kind != WS_AUTO && kind != WS_RUNTIME; }

// Reports the first mistake in the options; false if there is one.
__attribute__((cold)) bool valid(const std::string& where, uintptr_t kinds, const ws_options& o)
{
    auto schedule = [&](const char* what, ws_schedule kind) {
        if (!known(kind))
            say(where, "%s %u is none of WS_AUTO, WS_STATIC, WS_DYNAMIC, WS_GUIDED, WS_RUNTIME", what, unsigned(kind));
        return known(kind);
    };
    auto chunk = [&](const char* what, ws_schedule kind, int64_t size, bool given) {
        if (size < given)
            say(where, "chunk size %" PRId64 " in %s is not positive", size, what);
        else if (given && !takes_chunk(kind))
            say(where, "chunk size %" PRId64 " in %s: %s takes none", size, what,
                kind == WS_AUTO ? "WS_AUTO" : "WS_RUNTIME");
        else
            return true;
        return false;
    };
    if (!schedule("schedule", o.schedule) || !schedule("steal schedule", o.steal_schedule) ||
        !chunk("schedule", o.schedule, o.chunk, kinds & WS_SITE_CHUNK) ||
        !chunk("steal schedule", o.steal_schedule, o.steal_chunk, kinds & WS_SITE_STEAL_CHUNK))
        return false;
    for (uint64_t r : o.reserved)
        if (r) {
            say(where, "reserved fields of the options are not 0: not initialised?");
            return false;
        }
    return true;
}

// A loop's name, in the form that the plugin gives it. The user's texts may contain anything.
std::string place_of(const char* file, int line, const char* function)
{
    std::string end = ":" + std::to_string(line) + ":" +
                      ws::abi::shortened(ws::abi::one_line(function), WS_NAME_MAX / 2, true);
    return ws::abi::shortened(ws::abi::one_line(ws::abi::plain_path(file)), WS_NAME_MAX - end.size(), false) + end;
}
std::string name_or(const char* name, const std::string& place)
{
    return name && *name ? ws::abi::shortened(ws::abi::one_line(name), WS_NAME_MAX, true) : place;
}

// For messages.
std::string both(const char* name, const std::string& place)
{
    return name && *name ? name_or(name, place) + " (" + place + ")" : place;
}

std::mutex adding; // to any list

// What is used when there is no memory for an entry: the loop runs all the same, without its schedule.
ws_call spare = {
    {"a loop", WS_SITE_KINDS(WS_AUTO, WS_AUTO) | WS_SITE_ANY_ORDER, {}}, nullptr, nullptr, nullptr, 0, 0, nullptr};

// Finds an entry by the contents of its strings (their addresses differ between translation units), or adds one.
// Entries are never freed: the runtime keeps links to their sites, and the library whose code they name may be closed.
ws_call* add_call(ws_call** list, const ws_call& wanted, const std::string& where, const std::string& results = "")
{
    std::lock_guard<std::mutex> lock(adding);
    for (ws_call* c = *list; c; c = c->next)
        if (c->body == wanted.body && c->kinds == wanted.kinds && c->line == wanted.line && where == c->site.where &&
            (c->file == wanted.file || (c->file && wanted.file && std::strcmp(c->file, wanted.file) == 0)))
            return c;
    ws_call* c = new (std::nothrow) ws_call(wanted);
    char* copy = c ? static_cast<char*>(std::malloc(where.size() + results.size() + 2)) : nullptr;
    if (!copy) {
        delete c;
        return &spare;
    }
    std::memcpy(copy, where.c_str(), where.size() + 1);
    std::memcpy(copy + where.size() + 1, results.c_str(), results.size() + 1);
    c->site.where = copy;
    c->site.kinds = c->kinds | (results.empty() ? 0 : WS_SITE_RESULTS);
    c->next = *list;
    ws::base::store_release(*list, c); // pairs with the loads in ws.hpp and ws_for
    return c;
}

// ---- ws_for

// The entries of ws_for, by the body's address.
constexpr unsigned list_bits = 8;
ws_call* bodies[1u << list_bits];

ws_call** list_of(ws_body* body) { return &bodies[uintptr_t(body) * 0x9E3779B97F4A7C15ull >> (64 - list_bits)]; }

std::string place_of(ws_body* body)
{
    Dl_info in = {};
    if (!dladdr(reinterpret_cast<void*>(body), &in) || !in.dli_fname)
        return "a loop";
    if (in.dli_sname && in.dli_saddr == reinterpret_cast<void*>(body))
        return ws::abi::shortened(ws::abi::one_line(in.dli_sname), WS_NAME_MAX, true);
    const char* slash = std::strrchr(in.dli_fname, '/');
    char offset[32];
    std::snprintf(offset, sizeof offset, "+0x%zx", size_t(uintptr_t(body) - uintptr_t(in.dli_fbase)));
    // As addr2line takes it.
    return ws::abi::shortened(ws::abi::one_line(slash ? slash + 1 : in.dli_fname),
                                    WS_NAME_MAX - sizeof offset, false) +
           offset;
}

constexpr ws_options defaults = {};

} // namespace

void ws::abi::free_call_lock() { new (&adding) std::mutex; }

void ws::abi::say_last_error(const std::string& text)
{
    if (char* const own = own_last_error())
        std::snprintf(own, last_error_bytes, "workshare: %s", text.c_str());
}

#undef ws_for
WS_EXPORT int ws_for_at(const char* file, int line, const char* function, int64_t begin, int64_t end, ws_body* body,
                        void* context, const ws_options* options)
{
    const ws_options& o = options ? *options : defaults;
    uintptr_t kinds = WS_SITE_KINDS(o.schedule, o.steal_schedule) | (o.chunk ? WS_SITE_CHUNK : 0) |
                      (o.steal_chunk ? WS_SITE_STEAL_CHUNK : 0) | WS_SITE_ANY_ORDER;
    auto place = [&] {
        return file ? place_of(file, line, function ? function : "?") : body ? place_of(body) : "ws_for";
    };
    if (WS_UNLIKELY(!body)) {
        say(both(o.name, place()), "the body is NULL");
        return EINVAL;
    }
    if (WS_UNLIKELY(!known(o.schedule) || !known(o.steal_schedule) || o.chunk < 0 || o.steal_chunk < 0 ||
                    (o.chunk && !takes_chunk(o.schedule)) || (o.steal_chunk && !takes_chunk(o.steal_schedule)) ||
                    (o.reserved[0] | o.reserved[1] | o.reserved[2] | o.reserved[3]) != 0)) {
        valid(both(o.name, place()), kinds, o);
        return EINVAL;
    }
    ws_call** list = list_of(body);
    ws_call* call = ws::base::load_acquire(*list); // pairs with add_call
    while (call && !(call->body == body && call->line == unsigned(line) && call->file == file && call->name == o.name &&
                     call->kinds == kinds))
        call = call->next;
    if (WS_UNLIKELY(!call))
        call = add_call(list, {{}, body, file, o.name, kinds, unsigned(line), nullptr}, name_or(o.name, place()));
    body_call c = {body, context};
    ws_parallel_loop(call_body, &c, begin, end, 1, &call->site, o.chunk, o.steal_chunk);
    return 0;
}

WS_EXPORT int ws_for(int64_t begin, int64_t end, ws_body* body, void* context, const ws_options* options)
{
    return ws_for_at(nullptr, 0, nullptr, begin, end, body, context, options);
}

WS_EXPORT const char* ws_last_error(void) { return last_error ? last_error : ""; }

WS_EXPORT ws_call* ws_find_call(ws_call** list, const char* file, unsigned line, const char* function, uintptr_t kinds,
                                const ws_options* options) noexcept
{
    const std::string place = place_of(file, int(line), function);
    if (!valid(both(options->name, place), kinds, *options))
        return nullptr;
    const char type = char(kinds >> 32 & 255);
    std::string results;
    if (type == '?')
        results = "result=?";
    else if (type) // ws.hpp cannot tell what the operation is: it may round
        results = std::string("result=") + type + std::to_string(kinds >> 40 & 255) + (type == 'f' ? "+@0**" : "=@0**");
    return add_call(list, {{}, nullptr, file, options->name, kinds & 0xffffffff, line, nullptr},
                    name_or(options->name, place), results);
}

WS_EXPORT void ws_bad_argument(const char* file, unsigned line, const char* function, const ws_options* options,
                               const char* what) noexcept
{
    say(both(options->name, place_of(file, int(line), function)), "%s", what);
}
