// SPDX-License-Identifier: MIT
#include "mpi_calls.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace ws {

namespace {

const std::set<std::string> collectives = {
    "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall", "alltoallv",
    "alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan",
    "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw",
    // Communicators, topologies and processes.
    "comm_dup", "comm_dup_with_info", "comm_idup", "comm_idup_with_info", "comm_create", "comm_create_group",
    "comm_create_from_group", "comm_split", "comm_split_type", "comm_free", "comm_disconnect", "comm_accept",
    "comm_connect", "comm_join", "comm_spawn", "comm_spawn_multiple", "comm_set_info", "intercomm_create",
    "intercomm_create_from_groups", "intercomm_merge", "cart_create", "cart_sub", "graph_create", "dist_graph_create",
    "dist_graph_create_adjacent", "comm_shrink", "comm_agree"};

const std::set<std::string> one_sided = {
    "put",  "get",  "accumulate",  "get_accumulate", "fetch_and_op", "compare_and_swap",
    "rput", "rget", "raccumulate", "rget_accumulate"};

// Functions that begin with win_ and only look.
const std::set<std::string> window_questions = {"win_shared_query", "win_get_attr", "win_get_group",
                                                "win_get_info",     "win_get_name", "win_get_errhandler",
                                                "win_f2c",          "win_c2f"};

const std::set<std::string> whole_program = {"init", "init_thread", "finalize", "session_init", "session_finalize"};

const std::set<std::string> harmless = {"wtime",
                                        "wtick",
                                        "initialized",
                                        "finalized",
                                        "abort",
                                        "query_thread",
                                        "is_thread_main",
                                        "get_version",
                                        "get_library_version",
                                        "get_processor_name",
                                        "error_class",
                                        "error_string",
                                        "comm_rank",
                                        "comm_size",
                                        "comm_remote_size",
                                        "comm_test_inter",
                                        "comm_compare",
                                        "comm_group",
                                        "cart_rank",
                                        "cart_coords",
                                        "cart_shift",
                                        "cart_get",
                                        "cartdim_get",
                                        "get_address",
                                        "address",
                                        "aint_add",
                                        "aint_diff",
                                        "get_count",
                                        "get_elements",
                                        "get_elements_x",
                                        "type_size",
                                        "type_size_x",
                                        "type_get_extent",
                                        "type_extent",
                                        "sizeof",
                                        "status_set_elements",
                                        "status_set_cancelled",
                                        "test_cancelled",
                                        "group_rank",
                                        "group_size",
                                        "pcontrol"};

bool ends_with(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void drop_end(std::string& text, const std::string& end)
{
    if (ends_with(text, end))
        text.erase(text.size() - end.size());
}

// "send" for MPI_Send, PMPI_Send, MPI_Send_c, mpi_send_, mpi_send_f08_; empty if it is none of them.
std::string base_name(const std::string& symbol)
{
    std::string name;
    for (char c : symbol)
        name += char(std::tolower(static_cast<unsigned char>(c)));
    if (name.compare(0, 5, "pmpi_") == 0)
        name.erase(0, 1);
    if (name.compare(0, 4, "mpi_") != 0)
        return "";
    // Fortran's symbols begin in lower case; C's and MPI_T's names do not.
    if (symbol[0] == 'm' || symbol[0] == 'p')
        while (name.back() == '_')
            name.pop_back();
    name.erase(0, std::min<size_t>(4, name.size()));
    for (const char* end : {"_f08ts", "_f08", "_cdesc", "_fts", "_c"})
        drop_end(name, end);
    return name;
}

bool is_collective(std::string name)
{
    if (collectives.count(name))
        return true;
    drop_end(name, "_init"); // persistent ones
    if (collectives.count(name))
        return true;
    return name[0] == 'i' && collectives.count(name.substr(1));
}

} // namespace

MpiCall mpi_call(const std::string& symbol)
{
    const std::string name = base_name(symbol);
    if (name.empty() || name.compare(0, 2, "t_") == 0) // tool information
        return MpiCall::none;
    if (is_collective(name))
        return MpiCall::collective;
    if (one_sided.count(name))
        return MpiCall::one_sided;
    if (name.compare(0, 4, "win_") == 0)
        return window_questions.count(name) ? MpiCall::harmless : MpiCall::one_sided;
    if (whole_program.count(name))
        return MpiCall::whole_program;
    if (harmless.count(name) || name.compare(0, 5, "type_") == 0 || ends_with(name, "_c2f") || ends_with(name, "_f2c"))
        return MpiCall::harmless;
    if (name == "file_open")
        return MpiCall::opens_file;
    return MpiCall::communicates;
}

std::string mpi_name(const std::string& symbol)
{
    std::string name = base_name(symbol);
    if (!name.empty())
        name[0] = char(std::toupper(static_cast<unsigned char>(name[0])));
    return "MPI_" + name;
}

const char* why_refused(MpiCall call)
{
    switch (call) {
    case MpiCall::collective:
    case MpiCall::opens_file:
        return "all ranks must call it in the same order, but the iterations of a shared loop run in any order and on "
               "several cores";
    case MpiCall::one_sided:
        return "one-sided communication belongs to an epoch of its rank, but the iterations of a shared loop run at "
               "the "
               "same time on several cores";
    case MpiCall::whole_program: return "it is called once, by the first thread of the program";
    default: return "";
    }
}

} // namespace ws
