// SPDX-License-Identifier: MIT
//
// What a program has registered: arrays, and the structures that they make up.
#pragma once

#include "policy/rows/element_type.h"
#include "workshare/xmpi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ws::policy::rows {

// Memory of the program that changes its size with the rows of a process.
class Array {
public:
    Array(void* address, MPI_Datatype type, const char* name);
    Array(Array&& other) noexcept;
    Array& operator=(Array&& other) noexcept;
    ~Array();

    void* address() const { return address_; } // it was registered with this one
    char* data() const { return *static_cast<char* const*>(address_); }
    MPI_Datatype type() const { return type_.type; }
    int64_t extent() const { return type_.extent; }
    bool has_holes() const { return type_.has_holes; }
    const char* name() const { return name_; } // of the argument, for messages

    void set_resize(XMPI_Resize_function* f) { resize_ = f; }
    // False: it is as it was.
    bool resize(int64_t elements);
    // Finds out where the array of `elements` elements lies now, because a vector may have been swapped with another.
    void refresh(int64_t elements)
    {
        if (resize_)
            resize(elements);
    }
    // Returns whether there is memory for `elements` elements: a pointer to memory that was given back to the system
    // would end the job.
    bool is_there(int64_t elements) const;
    // Returns "", or why realloc() would end the job: the memory is not a malloc() block with room for `elements`. Only
    // the GNU C library's malloc() is known well enough to tell. Arrays with a resize function are not checked.
    std::string trouble(int64_t elements) const;

private:
    void* address_;
    ElementType type_;
    const char* name_;
    XMPI_Resize_function* resize_ = nullptr; // null: realloc()
};

enum class Layout { rows, columns, csr };

// Dense: one array. CSR: starts, columns, values.
struct Structure {
    Layout layout = Layout::rows;
    int64_t width = 1;
    bool wide_starts = false; // of 8 bytes
    std::vector<Array> arrays;

    // ---- CSR: starts[i], of `count` + 1
    int64_t start(int64_t i) const;
    void set_start(int64_t i, int64_t value);
    int64_t elements(int64_t count) const { return start(count) - start(0); }
    static constexpr int64_t most_start(bool wide) { return wide ? INT64_MAX : INT32_MAX; }

    // Returns the number of elements of the array `a` if the process has `count` rows.
    int64_t length(size_t a, int64_t count) const;
    // Returns "", or what is wrong with it in a process that has `count` rows. It asks the kernel whether there is
    // memory, which takes 1.5 us per array; for arrays that are only moved, and not read here, only if `to_move`.
    std::string trouble(int64_t count, bool to_move) const;
    // A number that is the same for structures that can be moved together.
    uint64_t signature() const;
    double bytes(int64_t count) const;
};

} // namespace ws::policy::rows
