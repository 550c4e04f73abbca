// SPDX-License-Identifier: MIT
#include "messages.h"

namespace ws {

std::string about(const char* message, const std::string& directive)
{
    std::string text = message;
    replace_all(text, "%s", directive);
    if (directive == full_name(DirectiveKind::critical) || directive == full_name(DirectiveKind::taskgroup))
        replace_all(text, "the loop", "the block");
    else if (directive == full_name(DirectiveKind::task))
        replace_all(text, "the loop", "the task");
    else if (directive.rfind(full_name(DirectiveKind::section), 0) == 0)
        replace_all(text, "the loop", "the section");
    return text;
}

std::string about_chunk(const std::string& clause, const char* what, const Language& language)
{
    return "the chunk size in the '" + clause + "' clause of '" + full_name(DirectiveKind::loop, language) + "' " +
           what;
}

std::string two_chunks(const std::string& clause)
{
    return "the '" + clause + "' clause of '" + full_name(DirectiveKind::loop) + "' takes one chunk size";
}

std::string reason::thread_variable(const std::string& name)
{
    return "uses '" + name + "', which is local to each thread";
}

std::string reason::construct(const std::string& name) { return "holds a construct '" + name + "'"; }

std::string reason::openmp_function(const std::string& name) { return "needs OpenMP's '" + name + "'"; }

std::string stays_openmp(const std::string& why) { return "loop stays OpenMP: " + why; }

std::string is_shared(const std::string& name) { return "loop shared: " + name; }

std::string calls_unseen(const std::set<std::string>& functions)
{
    constexpr size_t shown = 3;
    std::string names;
    size_t i = 0;
    for (const std::string& name : functions)
        if (i++ < shown)
            names += (names.empty() ? "'" : ", '") + name + "'";
    if (i > shown)
        names += " and " + std::to_string(i - shown) + " more";
    return names.empty() ? "" : ", but the compiler cannot see all that it calls: " + names;
}

bool tells_threads_apart(const std::string& function)
{
    static const std::set<std::string> functions = {
        "pthread_self", "pthread_getspecific",  "pthread_setspecific", "gettid", "sched_getcpu",
        "thrd_current", "pthread_barrier_wait", "tss_get",             "tss_set"};
    return functions.count(function) != 0;
}

bool may_call(const std::string& openmp_function)
{
    return openmp_function == "omp_get_wtime" || openmp_function == "omp_get_wtick" ||
           openmp_function.find("_lock") != std::string::npos;
}

bool replace_all(std::string& text, const std::string& from, const std::string& to)
{
    bool found = false;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
        found = true;
    }
    return found;
}

bool rename_constructs(std::string& text)
{
    // In this order: the first ones contain later ones. Translations keep these names.
    static constexpr const char* words[][2] = {
        {"#pragma omp parallel for", "#pragma ws for"},
        {"#pragma omp parallel sections", "#pragma ws sections"},
        {"pragma omp declare reduction", "pragma ws declare reduction"},
        {"#pragma omp parallel", "#pragma ws for"},
        {"#pragma omp for", "#pragma ws for"},
        {"#pragma acc loop", "#pragma ws for"},
        {"#pragma omp", "#pragma ws"},
        {"omp task", "ws task"}, // of a message that has the word before it in another part
        {"OpenMP", "ws"},
    };
    bool changed = false;
    for (const auto& word : words)
        changed |= replace_all(text, word[0], word[1]);
    return changed;
}

} // namespace ws
