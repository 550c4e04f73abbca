// SPDX-License-Identifier: MIT
//
/// @file
/// XMPI for C++17: a partition that frees itself, and whose std::vectors are resized in place when rows move.
///
/// @code
/// ws::partition rows(MPI_COMM_WORLD, n);
/// std::vector<double> matrix(rows.count() * n), x(rows.count());
/// rows.add(matrix, n);
/// rows.add(x);
/// for (...) {
///     rows.begin_iteration();
///     ...
///     if (rows.end_iteration())   // rows.count(), rows.displ() and the vectors have changed
///         ...
/// }
/// @endcode
///
/// @par Errors
/// The communicator's error handler is called (see xmpi.h). If it returns, ws::partition_error is thrown.
///
/// @par Memory
/// A vector that has to grow is copied. Meanwhile it needs its old and its new memory, which is more than xmpi.h
/// promises.
#ifndef WORKSHARE_XMPI_HPP
#define WORKSHARE_XMPI_HPP

#include "workshare/xmpi.h"

#include <algorithm>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace ws {

class partition_error : public std::runtime_error {
public:
    explicit partition_error(int code) : std::runtime_error(text(code)), code_(code) {}
    int code() const { return code_; } // MPI's

private:
    static std::string text(int code)
    {
        char words[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        MPI_Error_string(code, words, &length);
        return {words, size_t(length)};
    }
    int code_;
};

/// Rows of arrays that move between the processes of a communicator, so that all take as long.
///
/// @code
/// ws::partition rows(comm, n, info);      // n rows of all processes; collective
/// rows.count();                           // rows of this process,
/// rows.displ();                           // from this one on
/// rows.add(vector, width, layout);        // count() * width elements, which move with their rows
/// rows.add_csr(starts, columns, values);  // a sparse matrix by rows
/// rows.remove(vector);
/// rows.set_work(units);                   // what this process did in the iteration
/// rows.begin_iteration();
/// bool moved = rows.end_iteration();      // collective; so are begin_move() and finish_move(), its two parts
/// rows.resize(processes);                 // only the first of them have rows; collective
/// rows.set_comm(comm);                    // processes join or leave; collective
/// rows.set_goal(goal, value);             // their number follows a time or an efficiency; collective
/// rows.counts(processes);                 // of all processes
/// @endcode
///
/// A partition is moved, but not copied. The std::vector objects that were added must stay where they are until they
/// are removed or the partition is gone; their elements may move. The destructor is collective.
///
/// @par Source
/// Workshare; the moving of rows is from FLEX-MPI (xmpi.h).
class partition {
public:
    partition() = default;
    // Collective over comm.
    partition(MPI_Comm comm, MPI_Count rows, MPI_Info info = MPI_INFO_NULL)
    {
        check(XMPI_Get_wsize(comm, rows, info, &handle_, &count_, &displ_));
    }
    // Collective.
    ~partition()
    {
        if (handle_ != XMPI_PARTITION_NULL)
            XMPI_Partition_free(&handle_);
    }
    partition(partition&& other) noexcept { swap(other); }
    partition& operator=(partition&& other) noexcept
    {
        swap(other);
        return *this;
    }
    void swap(partition& other) noexcept
    {
        std::swap(handle_, other.handle_);
        std::swap(count_, other.count_);
        std::swap(displ_, other.displ_);
        std::swap(arrays_, other.arrays_);
    }

    XMPI_Partition handle() const { return handle_; }
    MPI_Count count() const { return count_; } // rows of this process,
    MPI_Count displ() const { return displ_; } // from this one on

    // A vector of count() times `width` elements. T is trivially copyable, and moves as bytes.
    template <class T> void add(std::vector<T>& v, MPI_Count width = 1, int layout = XMPI_ROWS)
    {
        static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, "rows move as bytes");
        Array& a = shadow(v);
        MPI_Datatype type;
        check(MPI_Type_contiguous(int(sizeof(T)), MPI_BYTE, &type));
        check(MPI_Type_commit(&type));
        int error = XMPI_Register(handle_, &a.data, width, type, layout);
        MPI_Type_free(&type);
        if (!error)
            error = XMPI_Set_resize(handle_, &a.data, resize);
        check(error);
    }
    // A sparse matrix by rows: count() + 1 starts, of int or an integer of 8 bytes.
    template <class Start, class Column, class Value>
    void add_csr(std::vector<Start>& starts, std::vector<Column>& columns, std::vector<Value>& values)
    {
        static_assert(std::is_integral_v<Start> && (sizeof(Start) == 4 || sizeof(Start) == 8), "starts are integers");
        static_assert(std::is_trivially_copyable_v<Column> && std::is_trivially_copyable_v<Value>,
                      "rows move as bytes");
        Array &s = shadow(starts), &c = shadow(columns, &s), &v = shadow(values, &s);
        MPI_Datatype types[2];
        const size_t sizes[2] = {sizeof(Column), sizeof(Value)};
        for (int i = 0; i < 2; i++) {
            check(MPI_Type_contiguous(int(sizes[i]), MPI_BYTE, &types[i]));
            check(MPI_Type_commit(&types[i]));
        }
        int error = XMPI_Register_csr(handle_, &s.data, sizeof(Start) == 4 ? MPI_INT32_T : MPI_INT64_T, &c.data,
                                      types[0], &v.data, types[1]);
        for (MPI_Datatype& type : types)
            MPI_Type_free(&type);
        for (Array* a : {&s, &c, &v})
            if (!error)
                error = XMPI_Set_resize(handle_, &a->data, resize);
        check(error);
    }
    // Removes the starts of a sparse matrix.
    template <class T> void remove(std::vector<T>& v)
    {
        for (size_t i = 0; i < arrays_.size(); i++)
            if (arrays_[i]->vector == &v) {
                const Array* const gone = arrays_[i].get();
                check(XMPI_Deregister(handle_, &arrays_[i]->data));
                const auto is_part = [&](const auto& a) { return a.get() == gone || a->first == gone; };
                arrays_.erase(std::remove_if(arrays_.begin(), arrays_.end(), is_part), arrays_.end());
                return;
            }
        check(XMPI_Deregister(handle_, &v)); // says that it is not registered
    }

    void set_work(double units) { check(XMPI_Set_work(handle_, units)); }
    // At the end of this iteration, the first N processes of the communicator get all rows; N: `processes`. Collective.
    void resize(int processes) { check(XMPI_Resize(handle_, processes)); }
    // The partition is one of comm's processes from now on: a default-constructed object joins, without rows; with
    // MPI_COMM_NULL, a process without rows leaves. Collective over both communicators.
    void set_comm(MPI_Comm comm)
    {
        check(XMPI_Set_comm(comm, &handle_));
        if (comm == MPI_COMM_NULL) {
            *this = partition();
            return;
        }
        int rank, processes;
        MPI_Comm_rank(comm, &rank);
        MPI_Comm_size(comm, &processes);
        const std::vector<MPI_Count> all = counts(processes);
        count_ = all[size_t(rank)];
        displ_ = std::accumulate(all.begin(), all.begin() + rank, MPI_Count(0));
    }
    // XMPI_GOAL_TIME or XMPI_GOAL_EFFICIENCY: the number of processes with rows follows it. Collective.
    void set_goal(int goal, double value) { check(XMPI_Set_goal(handle_, goal, value)); }
    void begin_iteration() { check(XMPI_Monitor_begin(handle_)); }
    // Whether rows have moved. Collective.
    bool end_iteration()
    {
        int moved = 0;
        check(XMPI_Monitor_end(handle_, &count_, &displ_, &moved));
        return moved != 0;
    }
    // The same in two parts. Collective.
    void begin_move() { check(XMPI_Monitor_end_begin(handle_)); }
    bool finish_move()
    {
        int moved = 0;
        check(XMPI_Monitor_end_finish(handle_, &count_, &displ_, &moved));
        return moved != 0;
    }
    // Counts of all processes of the communicator, for MPI_Allgatherv and its like; `processes`: how many it has.
    std::vector<MPI_Count> counts(int processes) const
    {
        std::vector<MPI_Count> all(size_t(processes), 0);
        check(XMPI_Get_counts(handle_, all.data(), nullptr));
        return all;
    }

#if __cplusplus >= 202002L
    // Row i of the whole in a vector of that width; it is one of this process's.
    template <class T> std::span<T> row(std::vector<T>& v, MPI_Count i, MPI_Count width = 1) const
    {
        return std::span<T>(v).subspan(size_t((i - displ_) * width), size_t(width));
    }
#endif

private:
    // What XMPI knows of a vector: the pointer to its data, first, and how to resize it.
    struct Array {
        void* data;
        void* vector;
        bool (*resize)(Array&, MPI_Count bytes);
        const Array* first; // of a sparse matrix's columns and values: its starts
    };
    template <class T> Array& shadow(std::vector<T>& v, const Array* first = nullptr)
    {
        const auto resize = [](Array& a, MPI_Count bytes) {
            auto& vector = *static_cast<std::vector<T>*>(a.vector);
            const size_t n = size_t(bytes) / sizeof(T);
            try {
                vector.reserve(n);
                vector.resize(n);
            } catch (const std::exception&) {
                return false;
            }
            // An empty one has no data, and XMPI takes no null pointer.
            a.data = vector.data() ? static_cast<void*>(vector.data()) : &a;
            return true;
        };
        arrays_.push_back(std::make_unique<Array>(Array{nullptr, &v, resize, first}));
        resize(*arrays_.back(), MPI_Count(v.size() * sizeof(T)));
        return *arrays_.back();
    }
    static int resize(void* address, MPI_Count bytes)
    {
        Array& a = *static_cast<Array*>(address); // its first member
        return a.resize(a, bytes) ? 0 : 1;
    }
    static void check(int error)
    {
        if (error != MPI_SUCCESS)
            throw partition_error(error);
    }

    XMPI_Partition handle_ = XMPI_PARTITION_NULL;
    MPI_Count count_ = 0, displ_ = 0;
    std::vector<std::unique_ptr<Array>> arrays_;
};

// Their former names go with the next release.
using Partition [[deprecated("it is called ws::partition now")]] = partition;
using PartitionError [[deprecated("it is called ws::partition_error now")]] = partition_error;

} // namespace ws

#endif
