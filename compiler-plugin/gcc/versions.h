// SPDX-License-Identifier: MIT
//
// All that differs between the versions of GCC that the plugin is written for, 11 to 16. Included by gcc-headers.h.
#ifndef WS_GCC_VERSIONS_H
#define WS_GCC_VERSIONS_H

namespace ws_gcc {

// ---- what GCC 11 has under another name, or not

#if GCCPLUGIN_VERSION_MAJOR < 12
inline bool startswith(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }
inline bool omp_privatize_by_reference(tree variable) { return lang_hooks.decls.omp_privatize_by_reference(variable); }
inline void suppress_warning(tree variable, int) { TREE_NO_WARNING(variable) = 1; }
// Constructs that it does not know: what no statement is.
constexpr enum gimple_code GIMPLE_OMP_MASKED = GIMPLE_ERROR_MARK, GIMPLE_OMP_SCOPE = LAST_AND_UNUSED_GIMPLE_CODE;
#endif

// ---- what newer ones add

// Code between the loops of a nest: GCC takes it since 14, and runs it once for each iteration.
#if GCCPLUGIN_VERSION_MAJOR >= 14
inline bool is_between_loops(tree node) { return TREE_CODE(node) == OMP_STRUCTURED_BLOCK; }
inline bool is_between_loops(gimple* statement) { return gimple_code(statement) == GIMPLE_OMP_STRUCTURED_BLOCK; }
#else
inline bool is_between_loops(tree) { return false; }
inline bool is_between_loops(gimple*) { return false; }
#endif

// What GCC says of old ways to write OpenMP's clauses, from 16 on, is not about ours.
inline void keep_old_clauses()
{
#if GCCPLUGIN_VERSION_MAJOR >= 16
    global_options.x_warn_deprecated_openmp = 0;
#endif
}

// ---- diagnostics: what GCC calls before it prints one, and the one that it calls after

#if GCCPLUGIN_VERSION_MAJOR >= 16
using Output = diagnostics::text_sink&;
using Diagnostic = const diagnostics::diagnostic_info;
using DiagnosticKind = enum diagnostics::kind;
inline auto& starter_of_diagnostics() { return diagnostics::text_starter(global_dc); }
inline auto& finalizer_of_diagnostics() { return diagnostics::text_finalizer(global_dc); }
inline void finish(Output output, Diagnostic* diagnostic, DiagnosticKind kind)
{
    diagnostics::default_text_finalizer(output, diagnostic, kind);
}
inline const char* message_id(Diagnostic& diagnostic) { return diagnostic.m_message.m_format_spec; }
inline bool is_note(Diagnostic& diagnostic) { return diagnostic.m_kind == diagnostics::kind::note; }
inline bool is_error(Diagnostic& diagnostic)
{
    return diagnostic.m_kind == diagnostics::kind::error || diagnostic.m_kind == diagnostics::kind::permerror ||
           diagnostic.m_kind == diagnostics::kind::sorry;
}
#else
#if GCCPLUGIN_VERSION_MAJOR == 15
using Output = diagnostic_text_output_format&;
using Diagnostic = const diagnostic_info;
inline auto& starter_of_diagnostics() { return diagnostic_text_starter(global_dc); }
inline auto& finalizer_of_diagnostics() { return diagnostic_text_finalizer(global_dc); }
inline void finish(Output output, Diagnostic* diagnostic, diagnostic_t kind)
{
    default_diagnostic_text_finalizer(output, diagnostic, kind);
}
#else
using Output = diagnostic_context*;
#if GCCPLUGIN_VERSION_MAJOR == 14
using Diagnostic = const diagnostic_info;
#else
using Diagnostic = diagnostic_info;
#endif
inline auto& starter_of_diagnostics() { return diagnostic_starter(global_dc); }
inline auto& finalizer_of_diagnostics() { return diagnostic_finalizer(global_dc); }
inline void finish(Output output, Diagnostic* diagnostic, diagnostic_t kind)
{
    default_diagnostic_finalizer(output, diagnostic, kind);
}
#endif
using DiagnosticKind = diagnostic_t;
inline const char* message_id(const diagnostic_info& diagnostic)
{
#if GCCPLUGIN_VERSION_MAJOR >= 14
    return diagnostic.message.m_format_spec;
#else
    return diagnostic.message.format_spec;
#endif
}
inline bool is_note(const diagnostic_info& diagnostic) { return diagnostic.kind == DK_NOTE; }
inline bool is_error(const diagnostic_info& diagnostic)
{
    return diagnostic.kind == DK_ERROR || diagnostic.kind == DK_PERMERROR || diagnostic.kind == DK_SORRY;
}
#endif
using Starter = void (*)(Output, Diagnostic*);

inline pretty_printer* printer_of(Output output)
{
#if GCCPLUGIN_VERSION_MAJOR >= 15
    return output.get_printer();
#else
    return output->printer;
#endif
}

// A diagnostic's text, formatted and not yet printed, in parts: what stands in GCC's message, and what was put in.
class MessageText {
public:
#if GCCPLUGIN_VERSION_MAJOR >= 15
    explicit MessageText(pretty_printer* printer)
    {
        pp_formatted_chunks* formatted = pp_buffer(printer)->m_cur_formatted_chunks;
        lists_ = formatted ? formatted->get_token_lists() : nullptr;
        for (auto list = lists_; list && *list; list++)
            for (pp_token* token = (*list)->m_first; token; token = token->m_next)
                if (token->m_kind == pp_token::kind::text)
                    parts_.push_back(static_cast<pp_token_text*>(token));
    }
    std::string part(size_t i) const { return parts_[i]->m_value.get(); }
    void set(size_t i, const std::string& text) { parts_[i]->m_value = label_text::take(xstrdup(text.c_str())); }
    // Before all: the first part may stand in quotes, which are none.
    void prepend(const std::string& text)
    {
        pp_token_list* first = *lists_;
        pp_token* token = first->make_token<pp_token_text>(label_text::take(xstrdup(text.c_str()))).release();
        token->m_next = first->m_first;
        (first->m_first ? first->m_first->m_prev : first->m_end) = token;
        first->m_first = token;
        parts_.insert(parts_.begin(), static_cast<pp_token_text*>(token));
    }
    // Instead of all.
    void replace(const std::string& text)
    {
        for (auto list = lists_; *list; list++)
            while ((*list)->m_first)
                (*list)->pop_front();
        (*lists_)->push_back_text(label_text::take(xstrdup(text.c_str())));
        parts_ = {static_cast<pp_token_text*>((*lists_)->m_first)};
    }

private:
    pp_token_list* const* lists_;
    std::vector<pp_token_text*> parts_;
#else
    explicit MessageText(pretty_printer* printer)
    {
        chunk_info* formatted = pp_buffer(printer)->cur_chunk_array;
        for (const char** part = formatted ? formatted->args : nullptr; part && *part; part++)
            parts_.push_back(part);
    }
    std::string part(size_t i) const { return *parts_[i]; }
    void set(size_t i, const std::string& text) { *parts_[i] = ggc_strdup(text.c_str()); }
    void prepend(const std::string& text) { set(0, text + part(0)); }
    // Instead of all.
    void replace(const std::string& text)
    {
        set(0, text);
        if (parts_.size() > 1)
            *parts_[1] = nullptr;
        parts_.resize(1);
    }

private:
    std::vector<const char**> parts_;
#endif

public:
    size_t size() const { return parts_.size(); }
};

} // namespace ws_gcc

#endif
