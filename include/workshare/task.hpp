// SPDX-License-Identifier: MIT
//
/// @file
/// Pools of tasks for C++: ws::task_pool, kinds of tasks made of callables, futures. Header-only over
/// workshare/task.h, for C++17 and later. Examples: docs/reference/tasks.md.
///
/// @code
/// ws::task_pool pool(MPI_COMM_WORLD);
/// auto square = pool.kind("square", [](long n) { return n * n; });   // the same kinds in the same order on all ranks
/// ws::task_future<long> nine = pool.submit(square, 3L);
/// pool.run();                                                        // collective
/// nine.get();
/// @endcode
///
/// @par Arguments and results
/// They must be trivially copyable and contain no pointers. With <workshare/task_cereal.hpp>, anything that cereal
/// can serialize works, too. What a callable captured belongs to the rank on which it runs, and does not travel.
///
/// @par Errors
/// A wrong call throws std::invalid_argument with the words of ws_last_error(). If a task throws, all other tasks
/// run, and then run() throws ws::task_error on all ranks, and so does the task's future.
///
/// @par Blocking and threads
/// As for the functions of task.h.
#ifndef WORKSHARE_TASK_HPP
#define WORKSHARE_TASK_HPP

#include "task.h"

#include <cerrno>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace ws {

// What a task has thrown: its what(), with the rank and the kind.
struct task_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// How values travel; task_cereal.hpp has one for all that are not trivially copyable.
template <class T, class = void> struct task_serializer {
    static_assert(std::is_trivially_copyable_v<T>,
                  "include <workshare/task_cereal.hpp> for arguments and results that are "
                  "not trivially copyable");
    static void write(std::string& to, const T& value)
    {
        to.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    static T read(const char*& from, const char* end)
    {
        if (size_t(end - from) < sizeof(T))
            throw std::length_error("data of a task is too short");
        alignas(T) char bytes[sizeof(T)];
        std::memcpy(bytes, from, sizeof(T));
        from += sizeof(T);
        return *reinterpret_cast<T*>(bytes);
    }
};

namespace detail {

[[noreturn]] inline void fail_task_call() { throw std::invalid_argument(ws_last_error()); }
inline void check_task_call(int error)
{
    if (error)
        fail_task_call();
}

template <class F> struct task_signature : task_signature<decltype(&F::operator())> {};
template <class R, class... A> struct task_signature<R (*)(A...)> {
    using result = std::decay_t<R>;
    using arguments = std::tuple<std::decay_t<A>...>;
};
template <class C, class R, class... A> struct task_signature<R (C::*)(A...) const> : task_signature<R (*)(A...)> {};
template <class C, class R, class... A> struct task_signature<R (C::*)(A...)> : task_signature<R (*)(A...)> {};

// The task that the calling thread runs; NULL outside of tasks.
inline thread_local ws_task* running_task = nullptr;

template <class T> struct is_task_future : std::false_type {};

// The first byte of a task's data says whether it has inputs. Then the next 8 tell which of its arguments these are, a
// bit each; the others follow.
enum : char { task_has_no_inputs = 0, task_has_inputs = 1 };

// What all kinds of a pool share.
struct task_failures {
    std::mutex lock;
    std::string first;
    void note(const char* kind, const char* what)
    {
        std::lock_guard<std::mutex> hold(lock);
        if (first.empty())
            first = std::string("a task of kind '") + kind + "' threw: " + what;
    }
};

struct task_kind_base {
    virtual ~task_kind_base() = default;
};

// The first byte of a result: whether there is one, or what was thrown.
enum : char { task_gave = 1, task_threw = 2 };

template <class F, class R> struct task_kind_of : task_kind_base {
    using arguments = typename task_signature<F>::arguments;
    F body;
    std::string name;
    task_failures& failures;

    task_kind_of(F f, const char* n, task_failures& all) : body(std::move(f)), name(n), failures(all) {}

    template <size_t... I> auto call(arguments& a, std::index_sequence<I...>)
    {
        return body(std::get<I>(std::move(a))...);
    }
    // Where the arguments are read from.
    struct source {
        ws_task* task;
        const char *from, *end;
        uint64_t inputs = 0;
        size_t next = 0; // input
        explicit source(ws_task* t) : task(t), from(static_cast<const char*>(t->data)), end(from + t->bytes)
        {
            if (*from++ == task_has_inputs)
                inputs = task_serializer<uint64_t>::read(from, end);
        }
        template <class T> T take(size_t place)
        {
            if (!(inputs >> place & 1))
                return task_serializer<T>::read(from, end);
            const void* input = nullptr;
            size_t bytes = 0;
            check_task_call(ws_task_get_input(task, next++, &input, &bytes));
            const char* at = static_cast<const char*>(input) + 1; // behind the byte that says that it is one
            return task_serializer<T>::read(at, static_cast<const char*>(input) + bytes);
        }
    };
    template <size_t... I> static arguments read(ws_task* task, std::index_sequence<I...>)
    {
        source s(task);
        return arguments{s.template take<std::tuple_element_t<I, arguments>>(I)...};
    }
    // The thread may run one task in the middle of another, which waits.
    struct runs {
        ws_task* const outer = running_task;
        explicit runs(ws_task* task) { running_task = task; }
        ~runs() { running_task = outer; }
    };

    static int run(ws_task* task)
    {
        auto& self = *static_cast<task_kind_of*>(task->context);
        constexpr auto all = std::make_index_sequence<std::tuple_size_v<arguments>>();
        const runs now(task);
        try {
            arguments a = read(task, all);
            if constexpr (std::is_void_v<R>) {
                self.call(a, all);
                return 0;
            } else {
                std::string result(1, task_gave);
                task_serializer<R>::write(result, self.call(a, all));
                return ws_task_set_result(task, result.data(), result.size());
            }
        } catch (const std::exception& e) {
            return self.threw(task, e.what());
        } catch (...) {
            return self.threw(task, "something that is no std::exception");
        }
    }
    int threw(ws_task* task, const char* what)
    {
        failures.note(name.c_str(), what);
        if constexpr (!std::is_void_v<R>) {
            const std::string text = std::string(1, task_threw) + std::string(what).substr(0, 1000);
            if (ws_task_set_result(task, text.data(), text.size()))
                return EINVAL;
        }
        return ECANCELED;
    }
};

// Results of all tasks in one: of the kinds that have a `combine`.
template <class R, class Combine> struct task_total {
    static_assert(std::is_trivially_copyable_v<R>, "results that are combined are trivially copyable");
    char has;
    R value;
};

template <class F, class R, class Combine> struct task_kind_combined : task_kind_of<F, void> {
    using base = task_kind_of<F, void>;
    using total = task_total<R, Combine>;
    Combine combine;

    task_kind_combined(F f, Combine c, const char* n, task_failures& all) : base(std::move(f), n, all), combine(c) {}

    static int run(ws_task* task)
    {
        auto& self = *static_cast<task_kind_combined*>(task->context);
        constexpr auto all = std::make_index_sequence<std::tuple_size_v<typename base::arguments>>();
        const typename base::runs now(task);
        try {
            typename base::arguments a = base::read(task, all);
            total t;
            std::memset(static_cast<void*>(&t), 0, sizeof t);
            t.has = task_gave;
            t.value = self.call(a, all);
            return ws_task_set_result(task, &t, sizeof t);
        } catch (const std::exception& e) {
            return self.threw(task, e.what());
        } catch (...) {
            return self.threw(task, "something that is no std::exception");
        }
    }
    static void add(void* into, const void* from, void* context)
    {
        auto& self = *static_cast<task_kind_combined*>(context);
        total a, b;
        std::memcpy(static_cast<void*>(&a), into, sizeof a);
        std::memcpy(static_cast<void*>(&b), from, sizeof b);
        if (!b.has)
            return;
        if (a.has)
            a.value = self.combine(a.value, b.value);
        else
            a = b;
        std::memcpy(into, &a, sizeof a);
    }
};

} // namespace detail

// A kind of tasks of a pool: a number, to be copied. R: of each task; Total: of all (void: they are not combined).
template <class R, class Arguments, class Total = void> class task_kind {
public:
    task_kind() = default;

private:
    friend class task_pool;
    task_kind(ws_pool* pool, int number) : pool_(pool), number_(number) {}
    ws_pool* pool_ = nullptr; // a pool is told from all others by its address, also when it was freed
    int number_ = -1;
};

// The result of a task that this rank has put; it is there when run() is over. In the place of an argument of another
// task, that one begins when it is there.
template <class R> class task_future {
public:
    // Within the task that has put the other one: waits for it, while the thread runs other tasks (ws_task_wait). Else
    // it throws std::invalid_argument before the end of run(). So it does the second time; task_error if the task has
    // thrown or was cancelled.
    R get()
    {
        std::string bytes(128, '\0');
        size_t size = 0;
        int error = take(bytes, size);
        if (error == EMSGSIZE) {
            bytes.resize(size);
            error = take(bytes, size);
        }
        if (error == ECANCELED)
            throw task_error(size > 1 ? bytes.substr(1, size - 1) : std::string(ws_last_error()));
        detail::check_task_call(error);
        const char* from = bytes.data() + 1;
        return task_serializer<R>::read(from, bytes.data() + size);
    }
    // Only other tasks need the result: it is freed when they have it.
    void drop() { detail::check_task_call(ws_pool_drop_result(pool_, number_)); }

private:
    int take(std::string& bytes, size_t& size)
    {
        if (detail::running_task) {
            const int error = ws_task_wait(detail::running_task, number_, &bytes[0], bytes.size(), &size);
            if (error != EDEADLK) // else another task has put it: it may have run, but must not be waited for
                return error;
        }
        return ws_pool_get_result(pool_, number_, &bytes[0], bytes.size(), &size);
    }

    friend class task_pool;
    ws_pool* pool_ = nullptr;
    uint64_t number_ = 0;
};

namespace detail {
template <class R> struct is_task_future<task_future<R>> : std::true_type {};
} // namespace detail

// Whether the group of the running task is cancelled.
inline bool task_is_cancelled() { return detail::running_task && ws_task_is_cancelled(detail::running_task); }

// How a task is put: ws::task_options().priority(3).pinned()
class task_options {
public:
    // -8 to 7; of a rank's tasks those with a higher one begin first.
    task_options& priority(int p)
    {
        given_.priority = p;
        return *this;
    }
    // It runs on this rank.
    task_options& pinned()
    {
        given_.pinned = 1;
        return *this;
    }
    // It is sent to this rank of the pool as soon as it can run, and may move on from there.
    task_options& rank(int r)
    {
        given_.has_rank = 1;
        given_.rank = r;
        return *this;
    }
    // One of task_pool::add_group().
    task_options& group(int g)
    {
        given_.group = g;
        return *this;
    }
    const ws_task_options& c_options() const { return given_; }

private:
    ws_task_options given_ = {};
};

/// A pool of tasks of all ranks of a communicator, which runs them where cores are free.
///
/// @code
/// ws::task_pool pool(comm);                           // collective
/// auto kind = pool.kind(name, body);                  // on all ranks in the same order
/// auto sums = pool.kind(name, body, combine);         // results are combined to one
/// pool.put(kind, arguments...);                       // from tasks, too
/// pool.put(ws::task_options().priority(3).pinned(), kind, arguments...);
/// ws::task_future<R> future = pool.submit(kind, arguments...);
/// pool.put(other, future, arguments...);              // begins when the result is there, and gets it
/// R part = pool.submit(kind, arguments...).get();     // within a task: its thread runs others meanwhile
/// int group = pool.add_group();                       // on all ranks in the same order
/// pool.put(ws::task_options().group(group).rank(3), kind, arguments...);
/// pool.cancel(group);                                 // from a task: those that have not begun do not run
/// pool.run();                                         // runs all tasks; collective
/// R result = future.get();                            // after run(), once, on the rank that put the task
/// R total = pool.total(sums, none);                   // of the last run, on all ranks
/// ws_pool_counts counts = pool.counts();
/// @endcode
///
/// Priorities are from -8 to 7; a rank's tasks with a higher one begin first. A pinned task runs on the rank that put
/// it. The operation that combines results must be associative and commutative. Pools, kinds and futures must be gone
/// before MPI_Finalize. The destructor is collective.
///
/// @par Source
/// Workshare; the way tasks move between nodes is from "Dynamic Load Balancing Algorithm for MPI Parallel Computing".
class task_pool {
public:
    // Collective over comm. The pool, its kinds and futures are to be gone before MPI_Finalize.
    explicit task_pool(MPI_Comm comm) : comm_(comm), failures_(new detail::task_failures)
    {
        detail::check_task_call(ws_pool_create(comm, &pool_));
    }
    // Collective.
    ~task_pool()
    {
        if (pool_)
            (void) !ws_pool_free(&pool_);
    }
    task_pool(const task_pool&) = delete;
    task_pool& operator=(const task_pool&) = delete;

    // Registers a callable, on all ranks in the same order.
    template <class F, class S = detail::task_signature<F>>
    task_kind<typename S::result, typename S::arguments> kind(const char* name, F body)
    {
        using R = typename S::result;
        auto k = std::make_unique<detail::task_kind_of<F, R>>(std::move(body), name, *failures_);
        ws_task_kind c = {};
        c.name = name;
        c.run = k->run;
        c.context = k.get();
        c.result = std::is_void_v<R> ? 0 : SIZE_MAX;
        kinds_.push_back(std::move(k));
        return {pool_, add(c)};
    }
    // The same; results are combined by combine(a, b), which must be associative and commutative, see total().
    template <class F, class Combine, class S = detail::task_signature<F>>
    task_kind<void, typename S::arguments, typename S::result> kind(const char* name, F body, Combine combine)
    {
        using R = typename S::result;
        using K = detail::task_kind_combined<F, R, Combine>;
        auto k = std::make_unique<K>(std::move(body), combine, name, *failures_);
        ws_task_kind c = {};
        c.name = name;
        c.run = k->run;
        c.context = k.get();
        c.result = sizeof(typename K::total);
        c.combine = k->add;
        kinds_.push_back(std::move(k));
        return {pool_, add(c)};
    }

    // Puts a task, from tasks too.
    template <class R, class... P, class T, class... A>
    void put(const task_kind<R, std::tuple<P...>, T>& k, A&&... arguments)
    {
        put_as<P...>(number_of(k), task_options().c_options(), std::forward<A>(arguments)...);
    }
    template <class R, class... P, class T, class... A>
    void put(const task_options& o, const task_kind<R, std::tuple<P...>, T>& k, A&&... arguments)
    {
        put_as<P...>(number_of(k), o.c_options(), std::forward<A>(arguments)...);
    }
    // Puts a task whose result is kept for this rank.
    template <class R, class... P, class... A>
    task_future<R> submit(const task_kind<R, std::tuple<P...>>& k, A&&... arguments)
    {
        return submit(task_options(), k, std::forward<A>(arguments)...);
    }
    template <class R, class... P, class... A>
    task_future<R> submit(const task_options& how, const task_kind<R, std::tuple<P...>>& k, A&&... arguments)
    {
        static_assert(!std::is_void_v<R>, "the tasks have no result");
        task_future<R> f;
        f.pool_ = pool_;
        ws_task_options o = how.c_options();
        o.future = &f.number_;
        put_as<P...>(number_of(k), o, std::forward<A>(arguments)...);
        return f;
    }

    // Makes a group, on all ranks in the same order.
    int add_group()
    {
        int group = 0;
        detail::check_task_call(ws_pool_add_group(pool_, &group));
        return group;
    }
    // While the pool runs: tasks of the group that have not begun do not run, on any rank, until run() is over.
    void cancel(int group) { detail::check_task_call(ws_pool_cancel(pool_, group)); }

    // Runs all tasks, on all ranks. Collective. Throws task_error on all ranks if one of them has thrown.
    void run()
    {
        const int error = ws_pool_run(pool_);
        if (!error)
            return;
        if (error != ECANCELED)
            detail::fail_task_call();
        int me, ranks, first;
        MPI_Comm_rank(comm_, &me);
        MPI_Comm_size(comm_, &ranks);
        std::string said = ws_last_error(), text;
        text.swap(failures_->first);
        first = text.empty() ? ranks : me;
        MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm_);
        if (first == ranks)
            throw task_error(said);
        int bytes = int(text.size());
        MPI_Bcast(&bytes, 1, MPI_INT, first, comm_);
        text.resize(size_t(bytes));
        MPI_Bcast(&text[0], bytes, MPI_CHAR, first, comm_);
        throw task_error("rank " + std::to_string(first) + ": " + text);
    }

    // The combined results of the last run, on all ranks; `none` if there was no task.
    template <class A, class T> T total(const task_kind<void, A, T>& k, T none = T()) const
    {
        detail::task_total<T, void> t;
        detail::check_task_call(ws_pool_get_total(pool_, number_of(k), &t, sizeof t));
        return t.has ? t.value : none;
    }

    ws_pool_counts counts() const
    {
        ws_pool_counts c;
        detail::check_task_call(ws_pool_get_counts(pool_, &c));
        return c;
    }

private:
    template <class R, class A, class T> int number_of(const task_kind<R, A, T>& k) const
    {
        if (!k.pool_)
            throw std::invalid_argument("ws::task_pool: the kind of tasks has no pool; make it with task_pool::kind()");
        if (k.pool_ != pool_)
            throw std::invalid_argument("ws::task_pool: the kind of tasks belongs to another pool");
        return k.number_;
    }
    int add(const ws_task_kind& c)
    {
        int number = -1;
        detail::check_task_call(ws_pool_register(pool_, &c, &number));
        return number;
    }
    template <class P, class A>
    static void add_argument(std::string& data, std::vector<uint64_t>& inputs, uint64_t& which, size_t place,
                             A&& argument)
    {
        if constexpr (detail::is_task_future<std::decay_t<A>>::value) {
            static_assert(std::is_same_v<std::decay_t<A>, task_future<P>>, "the future's result is no such argument");
            if (place >= 64)
                throw std::invalid_argument("ws::task_pool: a future as an argument beyond the 64th");
            inputs.push_back(argument.number_);
            which |= uint64_t(1) << place;
        } else
            task_serializer<P>::write(data, P(std::forward<A>(argument)));
    }
    template <class... P, class... A> void put_as(int number, const ws_task_options& how, A&&... arguments)
    {
        static_assert(sizeof...(P) == sizeof...(A), "as many arguments as the callable has");
        constexpr bool needs = (false || ... || detail::is_task_future<std::decay_t<A>>::value);
        std::string data(needs ? 1 + sizeof(uint64_t) : 1, detail::task_has_no_inputs);
        std::vector<uint64_t> inputs;
        uint64_t which = 0;
        size_t place = 0;
        (add_argument<P>(data, inputs, which, place++, std::forward<A>(arguments)), ...);
        (void) place;
        ws_task_options o = how;
        if constexpr (needs) {
            data[0] = detail::task_has_inputs;
            std::memcpy(&data[1], &which, sizeof which);
            o.inputs = inputs.data();
            o.inputs_count = inputs.size();
        }
        const bool is_plain = !needs && !o.priority && !o.pinned && !o.future && !o.group && !o.has_rank;
        detail::check_task_call(ws_pool_put(pool_, number, data.data(), data.size(), is_plain ? nullptr : &o));
    }

    MPI_Comm comm_;
    ws_pool* pool_ = nullptr;
    std::unique_ptr<detail::task_failures> failures_;
    std::deque<std::unique_ptr<detail::task_kind_base>> kinds_; // callables stay where they are
};

} // namespace ws

#endif
