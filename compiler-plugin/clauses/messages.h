// SPDX-License-Identifier: MIT
//
// The messages of both plugins, once. Errors are in our words if the compilers' own name code that the user did not
// write. Also here: why a loop stays OpenMP (-fws-report), and the pragmas of a file, by which a message finds its
// directive.
#ifndef WS_CLAUSES_MESSAGES_H
#define WS_CLAUSES_MESSAGES_H

#include "directive.h"

#include <map>
#include <set>
#include <string>

namespace ws {

// Errors about a directive: '%s' stands for it. A compiler's half has the table of its own messages that they replace.
namespace message {

inline constexpr const char* must_be_a_loop = "'%s' must be followed by a 'for' loop";
inline constexpr const char* must_be_a_block = "'%s' must be followed by a block";
inline constexpr const char* shares_its_loop = "'%s' and another directive cannot share a loop";
inline constexpr const char* not_in_simd = "'%s' is not allowed in a simd loop";
inline constexpr const char* outside_of_sections = "'%s' must be in the block of '#pragma ws sections'";
inline constexpr const char* integer_chunk = "the chunk size in a schedule clause of '%s' must be an integer";
inline constexpr const char* not_nested = "in '%s': not enough perfectly nested loops";
inline constexpr const char* not_rectangular =
    "in '%s': the bounds of a collapsed loop must not depend on the variable of another";
inline constexpr const char* break_of_loop = "in '%s': 'break' must not leave the loop";
inline constexpr const char* break_of_block = "in '%s': 'break' must not leave the block";
inline constexpr const char* continue_of_block = "in '%s': 'continue' must not leave the block";
inline constexpr const char* left = "in '%s': the loop must not be left by 'return' or 'goto'";
inline constexpr const char* entered = "in '%s': the loop must not be entered by a jump";
inline constexpr const char* left_or_entered = "in '%s': the loop must not be left or entered by a jump";

} // namespace message

// Such a message about a directive ("#pragma ws for"). That of a critical or a section says what has no loop.
std::string about(const char* message, const std::string& directive);

// An error about the chunk of a loop's schedule clause ("schedule"): "must be positive".
std::string about_chunk(const std::string& clause, const char* what, const Language& language = c_language);
// There are two where one belongs.
std::string two_chunks(const std::string& clause);

// Why an `omp parallel for` stays OpenMP.
namespace reason {

inline constexpr const char* not_asked = "'-fws=openmp' was not given";
inline constexpr const char* inside_another = "is inside another construct that has threads";
inline constexpr const char* not_combined = "'for' is not combined with 'parallel'";
inline constexpr const char* num_threads = "asks for a number of threads";
inline constexpr const char* condition = "has an 'if' clause";
inline constexpr const char* copyin = "has a 'copyin' clause";
inline constexpr const char* ordered = "is 'ordered'";
inline constexpr const char* linear = "has a 'linear' clause";
inline constexpr const char* allocate = "has an 'allocate' clause";
inline constexpr const char* conditional = "has a 'lastprivate' clause that is conditional";
inline constexpr const char* reduction_modifier = "has a 'reduction' clause with a modifier";
inline constexpr const char* monotonic = "has a monotonic schedule";
inline constexpr const char* runtime_schedule = "has 'schedule(runtime)'";
inline constexpr const char* not_rectangular = "the bounds of one of its loops depend on another";
inline constexpr const char* chunk_unseen = "the compiler cannot see how its chunk size is computed";
std::string thread_variable(const std::string& name);
std::string construct(const std::string& name);
std::string openmp_function(const std::string& name);

} // namespace reason

// What -fws-report says of an `omp parallel for`: why it stays, or what it is called now, and a few of the functions
// that it calls and nobody can see.
std::string stays_openmp(const std::string& why);
std::string is_shared(const std::string& name);
std::string calls_unseen(const std::set<std::string>& functions); // empty if there are none

// Functions by which a loop can tell threads apart, or waits for others; those of OpenMP's that it may call.
bool tells_threads_apart(const std::string& function);
bool may_call(const std::string& openmp_function);

// Replaces each `from`; false if there was none.
bool replace_all(std::string& text, const std::string& from, const std::string& to);

// Puts the names of OpenMP's constructs into ours; false if there was none.
bool rename_constructs(std::string& text);

// The pragmas of all files, each by its first line. `Place`: what else a compiler's half wants to know of one.
struct NoPlace {};
template <class File, class Place = NoPlace> class Pragmas {
public:
    struct Pragma {
        int first_line, last_line;
        std::string name;   // "#pragma ws for"; empty: not ours
        bool after_another; // follows a pragma without a line between
        Place place;
    };

    void note(const File& file, int first, int last, const std::string& name, const Place& place = {})
    {
        auto& lines = files_[file];
        const auto next = lines.lower_bound(first);
        const bool after_another = next != lines.begin() && std::prev(next)->second.last_line + 1 == first;
        lines[first] = {first, last < first ? first : last, name, after_another, place};
    }

    bool empty() const { return files_.empty(); }
    // The last pragma at or above a line; null if there is none.
    const Pragma* above(const File& file, int line) const
    {
        const auto lines = files_.find(file);
        if (lines == files_.end())
            return nullptr;
        const auto next = lines->second.upper_bound(line);
        return next == lines->second.begin() ? nullptr : &std::prev(next)->second;
    }

private:
    std::map<File, std::map<int, Pragma>> files_;
};

} // namespace ws

#endif
