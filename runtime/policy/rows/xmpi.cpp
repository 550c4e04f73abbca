// SPDX-License-Identifier: MIT
//
// The functions of workshare/xmpi.h: their arguments, and errors as MPI's own.
#include "policy/rows/decomposition.h"
#include "policy/rows/exports.h"
#include "policy/rows/flex.h"
#include "policy/rows/wishes.h"
#include "policy/mpi_error.h"
#include "policy/mpi_processes.h"
#include "policy/together.h"
#include "base/os.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace ws::policy::rows {

using window::Together;

namespace {

Decomposition* find(XMPI_Partition handle) { return policy().partitions.find(handle); }

__attribute__((format(printf, 4, 5))) int raise(MPI_Comm comm, const char* function, int error_class,
                                                const char* format, ...)
{
    char text[320];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    const int code = error_code(function, error_class, text);
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

int no_partition(const char* function, XMPI_Partition handle)
{
    if (handle == XMPI_PARTITION_NULL)
        return raise(MPI_COMM_SELF, function, MPI_ERR_ARG, "partition is XMPI_PARTITION_NULL");
    return raise(MPI_COMM_SELF, function, MPI_ERR_ARG, "partition (%d) does not exist, or was freed", handle);
}

constexpr const char* rows_may_be_moving = "rows may be moving; call XMPI_Monitor_end_finish first";

// The partition of a call that registers, or null: the error has been raised. Between the two parts of an iteration's
// end rows may be moving, and what moves stays as it was when that began.
Decomposition* at_rest(const char* function, XMPI_Partition handle, int& error)
{
    Decomposition* const d = find(handle);
    error = !d ? no_partition(function, handle)
            : d->is_ending()
                ? raise(d->comm(), function, MPI_ERR_ARG, "%s", rows_may_be_moving)
                : MPI_SUCCESS;
    return error ? nullptr : d;
}

// What one process says to all. Texts go from the lowest rank that has one; with `is_own`, that rank is named.
std::string agreed_trouble(MPI_Comm comm, const std::string& mine, bool is_own = true)
{
    int rank, size, first;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    const int own = mine.empty() ? size : rank;
    PMPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == size)
        return "";
    char words[200] = "";
    std::snprintf(words, sizeof words, "%s", mine.c_str());
    PMPI_Bcast(words, sizeof words, MPI_CHAR, first, comm);
    return is_own ? std::string(words) + " (rank " + std::to_string(first) + ")" : words;
}

int get_wsize(MPI_Comm comm, MPI_Count rows, MPI_Info info, XMPI_Partition* partition, MPI_Count* count,
              MPI_Count* displ)
{
    static const char* name = "XMPI_Get_wsize";
    if (partition)
        *partition = XMPI_PARTITION_NULL;
    int inter = 0, error;
    if (comm == MPI_COMM_NULL)
        return raise(MPI_COMM_SELF, name, MPI_ERR_COMM, "comm is MPI_COMM_NULL");
    if ((error = PMPI_Comm_test_inter(comm, &inter)))
        return error;
    if (inter)
        return raise(comm, name, MPI_ERR_COMM, "comm is an intercommunicator");
    Flex& flex = policy();
    const InTogether in_call(flex.job(), Together::get_wsize, name, comm);
    // Rank 0's info counts; what is wrong with it, or with anybody's arguments, all are told.
    Wishes wishes;
    int rank;
    PMPI_Comm_rank(comm, &rank);
    const std::string wrong = rank == 0 ? read_wishes(info, flex.job().options, wishes) : "";
    PMPI_Bcast(&wishes, sizeof wishes, MPI_BYTE, 0, comm);
    MPI_Count of_rank_0 = rows;
    PMPI_Bcast(&of_rank_0, 1, MPI_COUNT, 0, comm);
    if (std::string text = agreed_trouble(comm, wrong); !text.empty())
        return raise(comm, name, MPI_ERR_INFO_VALUE, "%s", text.c_str());
    int size;
    PMPI_Comm_size(comm, &size);
    if (wishes.spare >= size)
        return raise(comm, name, MPI_ERR_ARG, "-workshare-spare %d leaves no row to any of %d process%s", wishes.spare,
                     size, size == 1 ? "" : "es");
    const std::string mine = rows < 0             ? "rows is negative (" + std::to_string(rows) + ")"
                             : rows != of_rank_0 ? "rows is not the same as on rank 0 (" + std::to_string(rows) + ")"
                                                 : "";
    if (std::string text = agreed_trouble(comm, mine); !text.empty())
        return raise(comm, name, MPI_ERR_COUNT, "%s", text.c_str());
    if (std::string text = agreed_trouble(comm, !partition ? "partition is NULL"
                                                : !count   ? "count is NULL"
                                                : !displ   ? "displ is NULL"
                                                           : "");
        !text.empty())
        return raise(comm, name, MPI_ERR_ARG, "%s", text.c_str());

    auto made = std::make_unique<Decomposition>(flex, processes_of(comm, "XMPI: a move of rows"), rows, wishes);
    *count = made->count();
    *displ = made->displ();
    *partition = flex.partitions.add(std::move(made));
    return MPI_SUCCESS;
}

// What is registered with this address, or is this very array; the partition's handle in `where`.
const Array* registered(void* address, const void* data, XMPI_Partition* where)
{
    const Array* found = nullptr;
    policy().partitions.each([&](XMPI_Partition handle, Decomposition& d) {
        for (const Structure& s : d.structures())
            for (const Array& a : s.arrays)
                if (!found && (a.address() == address || (data && a.data() == data))) {
                    *where = handle;
                    found = &a;
                }
        return found != nullptr;
    });
    return found;
}

struct Given {
    void* address;
    MPI_Datatype type;
    const char *name, *type_name;
};

// Whether the array can be registered; else the error, which has been raised.
int refuse(const Decomposition& d, const char* function, XMPI_Partition handle, const Given& g)
{
    if (!g.address)
        return raise(d.comm(), function, MPI_ERR_ARG, "%s is NULL; pass the address of a pointer", g.name);
    void* const data = *static_cast<void**>(g.address);
    if (!data)
        return raise(d.comm(), function, MPI_ERR_ARG, "*%s is NULL; processes without rows need arrays, too", g.name);
    XMPI_Partition where = 0;
    if (registered(g.address, data, &where))
        return raise(d.comm(), function, MPI_ERR_ARG, "*%s is registered already%s", g.name,
                     where == handle ? "" : ", in another partition");
    if (g.type == MPI_DATATYPE_NULL)
        return raise(d.comm(), function, MPI_ERR_TYPE, "%s is MPI_DATATYPE_NULL", g.type_name);
    // Whether a type is committed MPI does not say, but it refuses to send what is not.
    if (const int error = PMPI_Send(data, 1, g.type, MPI_PROC_NULL, 0, d.comm()))
        return error;
    return MPI_SUCCESS;
}

// Returns whether the array's bytes are too many for MPI_Aint.
bool is_too_much(Rows rows, int64_t width, int64_t extent)
{
    int64_t elements, bytes;
    return __builtin_mul_overflow(rows, width, &elements) || __builtin_mul_overflow(elements, extent, &bytes);
}

int register_dense(XMPI_Partition handle, void* address, MPI_Count width, MPI_Datatype type, int layout)
{
    static const char* name = "XMPI_Register";
    int wrong;
    Decomposition* const d = at_rest(name, handle, wrong);
    if (!d)
        return wrong;
    if (layout != XMPI_ROWS && layout != XMPI_COLUMNS)
        return raise(d->comm(), name, MPI_ERR_ARG, "layout (%d) is neither XMPI_ROWS nor XMPI_COLUMNS", layout);
    if (width < 1)
        return raise(d->comm(), name, MPI_ERR_COUNT, "width (%lld) is less than 1", static_cast<long long>(width));
    if (const int error = refuse(*d, name, handle, {address, type, "address", "type"}))
        return error;
    Structure s;
    s.layout = layout == XMPI_ROWS ? Layout::rows : Layout::columns;
    s.width = width;
    s.arrays.emplace_back(address, type, "address");
    // Parts of columns are described by types whose numbers are of type int.
    const bool beyond_int = layout == XMPI_COLUMNS && (width > INT32_MAX || d->rows() > INT32_MAX);
    if (beyond_int || s.arrays[0].extent() < 0 || is_too_much(d->rows(), width, s.arrays[0].extent()))
        return raise(d->comm(), name, MPI_ERR_COUNT, "%lld rows of width %lld are too much",
                     static_cast<long long>(d->rows()), static_cast<long long>(width));
    d->structures().push_back(std::move(s));
    d->structures_changed();
    return MPI_SUCCESS;
}

int register_csr(XMPI_Partition handle, const Given (&given)[3])
{
    static const char* name = "XMPI_Register_csr";
    int wrong;
    Decomposition* const d = at_rest(name, handle, wrong);
    if (!d)
        return wrong;
    for (const Given& g : given)
        if (const int error = refuse(*d, name, handle, g))
            return error;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < i; j++)
            if (given[i].address == given[j].address ||
                *static_cast<void**>(given[i].address) == *static_cast<void**>(given[j].address))
                return raise(d->comm(), name, MPI_ERR_ARG, "%s and %s are the same array", given[j].name,
                             given[i].name);
    int integers, addresses, types, combiner, size;
    PMPI_Type_get_envelope(given[0].type, &integers, &addresses, &types, &combiner);
    PMPI_Type_size(given[0].type, &size);
    if (combiner != MPI_COMBINER_NAMED || (size != 4 && size != 8) || given[0].type == MPI_FLOAT ||
        given[0].type == MPI_DOUBLE || given[0].type == MPI_REAL || given[0].type == MPI_DOUBLE_PRECISION)
        return raise(d->comm(), name, MPI_ERR_TYPE, "start_type is not an integer of 4 or 8 bytes");
    Structure s;
    s.layout = Layout::csr;
    s.wide_starts = size == 8;
    for (const Given& g : given)
        s.arrays.emplace_back(g.address, g.type, g.name);
    if (std::string text = s.trouble(d->count(), true); !text.empty())
        return raise(d->comm(), name, MPI_ERR_ARG, "%s", text.c_str());
    d->structures().push_back(std::move(s));
    d->structures_changed();
    return MPI_SUCCESS;
}

int not_here(const Decomposition& d, const char* function, void* address)
{
    XMPI_Partition where = 0;
    const bool elsewhere = address && registered(address, nullptr, &where);
    return raise(d.comm(), function, MPI_ERR_ARG, "address is %s",
                 !address    ? "NULL"
                 : elsewhere ? "that of a structure of another partition"
                             : "not that of a registered structure");
}

int set_resize(XMPI_Partition handle, void* address, XMPI_Resize_function* resize)
{
    static const char* name = "XMPI_Set_resize";
    int wrong;
    Decomposition* const d = at_rest(name, handle, wrong);
    if (!d)
        return wrong;
    if (!resize)
        return raise(d->comm(), name, MPI_ERR_ARG, "resize is NULL");
    for (Structure& s : d->structures())
        for (Array& a : s.arrays)
            if (a.address() == address) {
                a.set_resize(resize);
                return MPI_SUCCESS;
            }
    return not_here(*d, name, address);
}

int deregister(XMPI_Partition handle, void* address)
{
    static const char* name = "XMPI_Deregister";
    int wrong;
    Decomposition* const d = at_rest(name, handle, wrong);
    if (!d)
        return wrong;
    for (size_t s = 0; s < d->structures().size(); s++)
        if (d->structures()[s].arrays[0].address() == address) {
            d->structures().erase(d->structures().begin() + std::ptrdiff_t(s));
            d->structures_changed();
            return MPI_SUCCESS;
        }
    return not_here(*d, name, address);
}

int resize(XMPI_Partition handle, int processes)
{
    static const char* name = "XMPI_Resize";
    int wrong;
    Decomposition* const d = at_rest(name, handle, wrong);
    if (!d)
        return wrong;
    const InTogether in_resize(policy().job(), Together::resize, name, d->comm());
    int of_rank_0 = processes;
    PMPI_Bcast(&of_rank_0, 1, MPI_INT, 0, d->comm());
    const std::string number = "processes (" + std::to_string(processes) + ")";
    const std::string mine =
        processes < 1                ? number + " is less than 1"
        : processes > d->processes() ? number + " is more than the communicator has: " + std::to_string(d->processes())
        : processes != of_rank_0     ? number + " is not the same as on rank 0 (" + std::to_string(of_rank_0) + ")"
                                     : "";
    if (std::string text = agreed_trouble(d->comm(), mine); !text.empty())
        return raise(d->comm(), name, MPI_ERR_ARG, "%s", text.c_str());
    d->resize(processes);
    return MPI_SUCCESS;
}

// Makes the partition of the new processes. `former`: what this process has until now; null if it joins. Returns "" or
// what is wrong, the same in all processes of `comm`.
std::string rebuild(MPI_Comm comm, Decomposition* former, std::unique_ptr<Decomposition>& made)
{
    std::unique_ptr<Processes> processes = processes_of(comm, "XMPI: a move of rows");
    std::vector<Part> parts(size_t(processes->size));
    const Part mine = former ? former->part() : Part();
    const std::unique_ptr<Flight> flight = processes->flight();
    flight->gather(&mine, parts.data(), sizeof mine);
    flight->complete(true);
    const auto has_one = [](const Part& p) { return p.rows >= 0; };
    const auto first = std::find_if(parts.begin(), parts.end(), has_one);
    if (first == parts.end())
        return "no process of comm has a partition";
    Starts starts = joined(parts);
    if (starts.empty())
        return "the processes with rows are not all of one partition, in the order that they had";
    Known known = former ? former->known() : Known();
    processes->broadcast(&known, sizeof known, int(first - parts.begin()));
    known.is_measured = processes->all(policy().job().is_there());
    known.active = 1; // the first processes, up to the last one that has rows
    for (int p = 0; p < processes->size; p++)
        if (parts[size_t(p)].count > 0)
            known.active = p + 1;
    known.wanted = known.is_asked ? std::min(known.wanted, processes->size) : known.active;
    if (!known.is_measured && policy().job().is_there() && processes->rank == int(first - parts.begin()))
        std::fprintf(stderr,
                     "workshare: note: XMPI: a process that joined runs without Workshare, so rows move only for "
                     "XMPI_Resize; start it by `workshare`\n");
    made = std::make_unique<Decomposition>(policy(), std::move(processes), known, std::move(starts), former);
    return "";
}

// All processes agree before anything changes: first those that have the partition, since some of them may leave; then
// the new ones, which find out whether the new partition is possible; then the former ones again, so that those that
// leave know the result; and finally those that join.
int set_comm(MPI_Comm comm, XMPI_Partition* partition)
{
    static const char* name = "XMPI_Set_comm";
    if (!partition)
        return raise(MPI_COMM_SELF, name, MPI_ERR_ARG, "partition is NULL");
    Decomposition* const former = find(*partition);
    if (!former && *partition != XMPI_PARTITION_NULL)
        return no_partition(name, *partition);
    if (!former && comm == MPI_COMM_NULL)
        return raise(MPI_COMM_SELF, name, MPI_ERR_COMM, "comm is MPI_COMM_NULL, and partition XMPI_PARTITION_NULL");
    int inter = 0;
    if (comm != MPI_COMM_NULL)
        if (const int error = PMPI_Comm_test_inter(comm, &inter))
            return error;
    const bool stays = comm != MPI_COMM_NULL && !inter;
    const policy::Job& job = policy().job();
    std::string wrong = inter ? "comm is an intercommunicator" : "";
    std::unique_ptr<Decomposition> made;
    if (former) {
        const InTogether in_call(job, Together::set_comm, name, former->comm());
        if (former->is_ending())
            wrong = rows_may_be_moving;
        else if (comm == MPI_COMM_NULL && former->count() > 0)
            wrong = "comm is MPI_COMM_NULL, and the process has " + std::to_string(former->count()) +
                    " rows; first XMPI_Resize gives them to others";
        wrong = agreed_trouble(former->comm(), wrong);
        former->receive_numbers(); // those that leave take part as well
    }
    if (stays) {
        const InTogether in_call(job, Together::set_comm, name, comm);
        if ((wrong = agreed_trouble(comm, wrong, false)).empty())
            wrong = rebuild(comm, former, made);
    }
    if (former) {
        const InTogether in_call(job, Together::set_comm, name, former->comm());
        wrong = agreed_trouble(former->comm(), wrong, false);
    }
    if (stays) {
        const InTogether in_call(job, Together::set_comm, name, comm);
        wrong = agreed_trouble(comm, wrong, false);
    }
    if (!wrong.empty())
        return raise(stays || !former ? comm : former->comm(), name, MPI_ERR_ARG, "%s", wrong.c_str());
    if (!stays) {
        policy().partitions.take(*partition);
        *partition = XMPI_PARTITION_NULL;
    } else if (former) {
        made->take_over(*former);
        policy().partitions.replace(*partition, std::move(made));
    } else
        *partition = policy().partitions.add(std::move(made));
    return MPI_SUCCESS;
}

int set_goal(XMPI_Partition handle, int goal, double value)
{
    static const char* name = "XMPI_Set_goal";
    int wrong;
    Decomposition* const d = at_rest(name, handle, wrong);
    if (!d)
        return wrong;
    const InTogether in_call(policy().job(), Together::resize, name, d->comm());
    struct {
        double value;
        int goal;
    } of_rank_0 = {value, goal};
    PMPI_Bcast(&of_rank_0.value, 1, MPI_DOUBLE, 0, d->comm());
    PMPI_Bcast(&of_rank_0.goal, 1, MPI_INT, 0, d->comm());
    char number[40];
    std::snprintf(number, sizeof number, "value (%g)", value);
    const std::string text = number;
    const std::string mine =
        goal != XMPI_GOAL_NONE && goal != XMPI_GOAL_TIME && goal != XMPI_GOAL_EFFICIENCY
            ? "goal (" + std::to_string(goal) + ") is unknown"
        : goal == XMPI_GOAL_TIME && !(value > 0 && std::isfinite(value)) ? text + " is not a time longer than 0"
        : goal == XMPI_GOAL_EFFICIENCY && !(value > 0 && value <= 1)     ? text + " is not more than 0 and at most 1"
        : goal != of_rank_0.goal                                         ? "goal is not the same as on rank 0"
        : goal != XMPI_GOAL_NONE && value != of_rank_0.value             ? text + " is not the same as on rank 0"
                                                                         : "";
    if (std::string all = agreed_trouble(d->comm(), mine); !all.empty())
        return raise(d->comm(), name, MPI_ERR_ARG, "%s", all.c_str());
    d->set_goal(goal == XMPI_GOAL_TIME         ? Goal::Aim::time
                : goal == XMPI_GOAL_EFFICIENCY ? Goal::Aim::efficiency
                                               : Goal::Aim::none,
                value);
    return MPI_SUCCESS;
}

int end_begin(const char* name, XMPI_Partition handle)
{
    Decomposition* const d = find(handle);
    if (!d)
        return no_partition(name, handle);
    if (d->is_ending())
        return raise(d->comm(), name, MPI_ERR_ARG, "XMPI_Monitor_end_begin was called already");
    // A process without rows waits here while the others compute.
    const InTogether in_end(policy().job(), Together::monitor_end, name, d->comm(), d->count() == 0);
    const std::string wrong = d->end_begin();
    if (wrong.empty())
        return MPI_SUCCESS;
    d->end_finish();
    return raise(d->comm(), name, MPI_ERR_ARG, "%s", wrong.c_str());
}

// What is wrong in this process alone is raised when all have done their part: they need this one.
int end_finish(const char* name, XMPI_Partition handle, MPI_Count* count, MPI_Count* displ, int* moved)
{
    Decomposition* const d = find(handle);
    if (!d)
        return no_partition(name, handle);
    if (!d->is_ending())
        return raise(d->comm(), name, MPI_ERR_ARG, "XMPI_Monitor_end_begin was not called");
    const InTogether in_end(policy().job(), Together::monitor_end, name, d->comm(), d->count() == 0);
    const bool has = d->end_finish();
    if (!count || !displ || !moved)
        return raise(d->comm(), name, MPI_ERR_ARG, "%s is NULL", !count ? "count" : !displ ? "displ" : "moved");
    *count = d->count();
    *displ = d->displ();
    *moved = has;
    return MPI_SUCCESS;
}

} // namespace

} // namespace ws::policy::rows

using namespace ws::policy::rows;
using ws::policy::InTogether;

WS_EXPORT int ws_XMPI_Get_wsize(MPI_Comm comm, MPI_Count rows, MPI_Info info, XMPI_Partition* partition,
                                MPI_Count* count, MPI_Count* displ)
{
    return get_wsize(comm, rows, info, partition, count, displ);
}

WS_EXPORT int ws_XMPI_Get_counts(XMPI_Partition partition, MPI_Count counts[], MPI_Count displs[])
{
    const Decomposition* const d = find(partition);
    if (!d)
        return no_partition("XMPI_Get_counts", partition);
    const Starts& starts = d->starts();
    for (size_t p = 0; p + 1 < starts.size(); p++) {
        if (counts)
            counts[p] = starts[p + 1] - starts[p];
        if (displs)
            displs[p] = starts[p];
    }
    return MPI_SUCCESS;
}

WS_EXPORT int ws_XMPI_Register(XMPI_Partition partition, void* address, MPI_Count width, MPI_Datatype type, int layout)
{
    return register_dense(partition, address, width, type, layout);
}

WS_EXPORT int ws_XMPI_Register_csr(XMPI_Partition partition, void* starts, MPI_Datatype start_type, void* columns,
                                   MPI_Datatype column_type, void* values, MPI_Datatype value_type)
{
    return register_csr(partition, {{starts, start_type, "starts", "start_type"},
                                    {columns, column_type, "columns", "column_type"},
                                    {values, value_type, "values", "value_type"}});
}

WS_EXPORT int ws_XMPI_Set_resize(XMPI_Partition partition, void* address, XMPI_Resize_function* resize)
{
    return set_resize(partition, address, resize);
}

WS_EXPORT int ws_XMPI_Deregister(XMPI_Partition partition, void* address) { return deregister(partition, address); }

WS_EXPORT int ws_XMPI_Set_work(XMPI_Partition partition, double work)
{
    static const char* name = "XMPI_Set_work";
    Decomposition* const d = find(partition);
    if (!d)
        return no_partition(name, partition);
    if (!(work >= 0) || std::isinf(work))
        return raise(d->comm(), name, MPI_ERR_ARG, "work (%g) is negative, infinite or not a number", work);
    d->add_work(work);
    return MPI_SUCCESS;
}

WS_EXPORT int ws_XMPI_Resize(XMPI_Partition partition, int processes) { return resize(partition, processes); }

WS_EXPORT int ws_XMPI_Set_comm(MPI_Comm comm, XMPI_Partition* partition) { return set_comm(comm, partition); }

WS_EXPORT int ws_XMPI_Set_goal(XMPI_Partition partition, int goal, double value)
{
    return set_goal(partition, goal, value);
}

WS_EXPORT int ws_XMPI_Monitor_begin(XMPI_Partition partition)
{
    Decomposition* const d = find(partition);
    if (!d)
        return no_partition("XMPI_Monitor_begin", partition);
    d->begin_iteration();
    return MPI_SUCCESS;
}

WS_EXPORT int ws_XMPI_Monitor_end(XMPI_Partition partition, MPI_Count* count, MPI_Count* displ, int* moved)
{
    static const char* name = "XMPI_Monitor_end";
    const int error = end_begin(name, partition);
    return error ? error : end_finish(name, partition, count, displ, moved);
}

WS_EXPORT int ws_XMPI_Monitor_end_begin(XMPI_Partition partition)
{
    return end_begin("XMPI_Monitor_end_begin", partition);
}

WS_EXPORT int ws_XMPI_Monitor_end_finish(XMPI_Partition partition, MPI_Count* count, MPI_Count* displ, int* moved)
{
    return end_finish("XMPI_Monitor_end_finish", partition, count, displ, moved);
}

WS_EXPORT int ws_XMPI_Partition_free(XMPI_Partition* partition)
{
    static const char* name = "XMPI_Partition_free";
    if (!partition)
        return raise(MPI_COMM_SELF, name, MPI_ERR_ARG, "partition is NULL");
    if (!find(*partition))
        return no_partition(name, *partition);
    std::unique_ptr<Decomposition> gone = policy().partitions.take(*partition);
    const InTogether in_free(policy().job(), Together::partition_free, name, gone->comm());
    if (gone->is_ending())
        gone->end_finish();
    gone.reset();
    *partition = XMPI_PARTITION_NULL;
    return MPI_SUCCESS;
}

WS_EXPORT int ws_XMPI_Alloc(MPI_Count bytes, void* address)
{
    static const char* name = "XMPI_Alloc";
    if (!address)
        return raise(MPI_COMM_SELF, name, MPI_ERR_ARG, "address is NULL");
    *static_cast<void**>(address) = nullptr;
    if (bytes < 0)
        return raise(MPI_COMM_SELF, name, MPI_ERR_COUNT, "bytes (%lld) is negative", static_cast<long long>(bytes));
    void* const memory = std::malloc(size_t(bytes ? bytes : 1));
    if (!memory)
        return raise(MPI_COMM_SELF, name, MPI_ERR_NO_MEM, "no memory for %lld bytes", static_cast<long long>(bytes));
    *static_cast<void**>(address) = memory;
    return MPI_SUCCESS;
}

WS_EXPORT int ws_XMPI_Free(void* address)
{
    if (!address)
        return raise(MPI_COMM_SELF, "XMPI_Free", MPI_ERR_ARG, "address is NULL");
    std::free(std::exchange(*static_cast<void**>(address), nullptr));
    return MPI_SUCCESS;
}
