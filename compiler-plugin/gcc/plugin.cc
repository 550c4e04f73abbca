// SPDX-License-Identifier: MIT
//
// Start of the GCC plugin. `mpicc -fws` loads it into whatever compiler runs: cc1, cc1plus and, for sources that were
// rewritten, f951 do the work; in lto1 the passes after inlining are left to do.
#include "ws_gcc.h"

#include "langhooks.h"
#include "options.h"

int plugin_is_GPL_compatible;

// Weak: f951 and lto1 have no such symbol.
extern cpp_reader* parse_in __attribute__((weak));

namespace ws_gcc {

namespace {

bool openmp_asked_for;
int users_parallel_loops;
bool builtins_forced;

// GCC declares libgomp's functions only for -fopenmp, -fopenacc or automatic parallelization. Without -fopenmp the
// last is asked for while the builtins are declared, and only then: -fopenmp would also enable `#pragma omp`.
void force_builtins()
{
    if (flag_openmp || flag_tree_parallelize_loops > 1)
        return;
    users_parallel_loops = flag_tree_parallelize_loops;
    builtins_forced = true;
    flag_tree_parallelize_loops = 2;
}

void restore_options()
{
    if (!builtins_forced)
        return;
    builtins_forced = false;
    flag_tree_parallelize_loops = users_parallel_loops;
    // The options were already recorded as the default of every function, and would be written to LTO streams.
    optimization_default_node = build_optimization_node(&global_options, &global_options_set);
    optimization_current_node = optimization_default_node;
}

void on_start_unit(void*, void*)
{
    take_over_diagnostics();
    declare_markers();
    if (shares_openmp_loops())
        note_ws_used();
}

void on_pragmas(void*, void*)
{
    restore_options();
    register_pragma();
}

// f951 has read the lines of the source by now, but no statement of it.
void on_start_fortran(void*, void*)
{
    restore_options();
    take_over_fortran_diagnostics();
    note_ws_used();
    keep_old_clauses();
}

void on_pre_genericize(void* function, void*) { check_function(static_cast<tree>(function)); }

} // namespace

const ws::Language& language()
{
    return startswith(lang_hooks.name, "GNU Fortran") ? ws::fortran_language : ws::c_language;
}

bool users_openmp() { return openmp_asked_for; }

} // namespace ws_gcc

namespace {

// -fplugin-arg-ws_gcc-NAME; false if there is no such NAME.
bool read_arguments(const plugin_name_args& info)
{
    bool openmp_loops = false, report = false;
    for (int i = 0; i < info.argc; i++) {
        const std::string name = info.argv[i].key;
        if (name == "openmp-loops")
            openmp_loops = true;
        else if (name == "report")
            report = true;
        else if (!ws::set_warning(name) && !ws::leave_out(name)) {
            error("the plugin for %<#pragma ws%> has no option %qs", info.argv[i].key);
            return false;
        }
    }
    ws_gcc::set_openmp_loops(openmp_loops && flag_openmp, report);
    return true;
}

} // namespace

int plugin_init(plugin_name_args* info, plugin_gcc_version* version)
{
    using namespace ws_gcc;
    const bool in_fortran = &language() == &ws::fortran_language;
    if (strcmp(lang_hooks.name, "GNU GIMPLE") == 0) { // lto1, perhaps of another version: all else was done before
        if (plugin_default_version_check(version, &gcc_version))
            register_alone_pass(info->base_name), register_register_passes(info->base_name),
                register_align_passes(info->base_name);
        return 0;
    }
    if (!read_arguments(*info))
        return 1;
    if (&parse_in == nullptr && !(in_fortran && (read_rewritten_fortran() || shares_openmp_loops())))
        return 0;
    if (!plugin_default_version_check(version, &gcc_version)) {
        error("the plugin for %<#pragma ws%> was built for GCC %s and does not fit this GCC %s", gcc_version.basever,
              version->basever);
        return 1;
    }
    if (flag_openacc)
        fatal_error(UNKNOWN_LOCATION, "%<#pragma ws%> cannot be used with %<-fopenacc%>");
    openmp_asked_for = flag_openmp;
    force_builtins();
    if (in_fortran) {
        register_callback(info->base_name, PLUGIN_START_UNIT, on_start_fortran, nullptr);
        register_fortran_pass(info->base_name);
    } else {
        register_callback(info->base_name, PLUGIN_START_UNIT, on_start_unit, nullptr);
        register_callback(info->base_name, PLUGIN_PRAGMAS, on_pragmas, nullptr);
        register_callback(info->base_name, PLUGIN_PRE_GENERICIZE, on_pre_genericize, nullptr);
    }
    register_atomics(info->base_name);
    register_early_pass(info->base_name);
    if (ws::has(ws::Optimization::alone))
        register_alone_pass(info->base_name);
    register_lowering_pass(info->base_name);
    if (ws::has(ws::Optimization::plain))
        register_plain_pass(info->base_name);
    if (ws::has(ws::Optimization::registers))
        register_register_passes(info->base_name);
    if (ws::has(ws::Optimization::align))
        register_align_passes(info->base_name);
    return 0;
}
