// SPDX-License-Identifier: MIT
//
// A pool of tasks on one rank. Its threads: the one that calls run(), guests on cores that other ranks lend (the queue
// is run as a ws loop), and those that look at letters while run()'s thread is in a long task: idle workers, the pulse.
#pragma once

#include "policy/tasks/balancer.h"
#include "policy/tasks/ending.h"
#include "policy/tasks/hand.h"
#include "policy/tasks/inputs.h"
#include "policy/tasks/nblb.h"
#include "policy/tasks/predict.h"
#include "policy/tasks/queue.h"
#include "policy/tasks/peers.h"
#include "node/memory.h"
#include "base/os.h"
#include "base/spin_lock.h"
#include "base/times.h"
#define WS_IN_LIBWS
#include "workshare/task.h"

#include <climits>
#include <deque>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <unordered_map>

namespace ws::policy::tasks {

using base::Hardware;
using base::load_relaxed;
using base::store_relaxed;
using base::ticks;

namespace times = base::times;

// No memory in the middle of what other ranks wait for: says so and ends the job.
[[noreturn]] void end_without_memory(const char* call);

struct Cancel; // letters.h
struct ValueHead;
enum class Letter : uint8_t;

// A future's failure, where others are what the task returned: it never ran.
constexpr int failure_cancelled = INT_MIN;

// What each lock guards. A thread that holds one takes only those that stand below it here.
//
//   wire_lock_     letters: wire_, the posting of letters, and all members from balancer_ to cost_ that have no comment
//                  of their own; growth_; whether the pulse beats
//   lock_          queue_, futures_ with the tasks held back for them, next_future_, results_out_, placed_,
//                  cancels_out_, given_up_, put_, and whether a hand is held. Written with it, read without: queued_,
//                  first_priority_, active_, woken_
//   Kind::lock     a kind's times and its combined result
//   a Hand's own   the tasks in it
//
// Constant while tasks run: what the constructor has made. The class is as large as the protocol between nodes: its
// parts are files (working.cpp, asking.cpp, carrying.cpp), as they share these locks.
class Pool {
public:
    // Collective over `peers`. `nblb` is its rank's, and outlives it.
    Pool(std::unique_ptr<Peers> peers, ws_pool* shell, Nblb& nblb);
    ~Pool();
    Pool(const Pool&) = delete;

    // As the functions of task.h. `error`: what to say.
    int add_kind(const ws_task_kind& kind, int& number, std::string& error);
    int put(int kind, const void* data, size_t bytes, const ws_task_options* options, std::string& error);
    int add_group(int& number, std::string& error);
    int cancel(int group, std::string& error);
    int run(std::string& error);
    int reduced(int kind, void* result, size_t bytes, std::string& error);
    int future(uint64_t number, void* result, size_t capacity, size_t* bytes, std::string& error);
    int drop_result(uint64_t number, std::string& error);
    void count(ws_pool_counts& counts);
    bool runs() const { return running_now_; }
    bool holds_nothing() const { return kept_.empty() && !held_; } // no data of other ranks: for tests, between runs
    const Nblb& nblb() const { return nblb_; }
    MPI_Comm comm() const { return peers_->all().comm; }
    bool is_first() const { return me_ == 0; } // of its communicator's ranks
    // At MPI_Finalize, where it was not freed: the letters that it listens for are cancelled.
    void leave();

    // State of a running task.
    struct Running {
        Pool* pool;
        Task* task;
        bool has_result = false;
        int failure = 0;
        std::string result; // for a future
        uint64_t number = 0; // among those of this rank that have put a task with a future; 0: it has not
    };
    int result(Running& running, const void* result, size_t bytes, std::string& error);
    int wait_inside(Running& running, uint64_t number, void* result, size_t capacity, size_t* bytes,
                    std::string& error);
    int input(const Running& running, size_t index, const void** data, size_t* bytes, std::string& error) const;
    bool is_cancelled(const Task& t) const
    {
        return WS_UNLIKELY(t.group) && Hardware::load_relaxed(groups_[t.group - 1].is_cancelled);
    }

    void region_part(); // the body of the loop
    void step();        // the home thread, in a task, is blocked in MPI
    uint64_t worker_step(uint64_t now); // a worker is idle

private:
    struct Kind {
        ws_task_kind c;
        std::string name;
        base::SpinLock lock; // of what follows
        Prediction prediction;
        double pending_s = 0, pending = 0; // run times that the prediction does not have yet, and of how many tasks
        std::string combined; // by threads that have no hand, or had one
        std::string reduced; // of the last run
        uint64_t waiting = 0; // tasks in the queue; the pool's lock is held
        // Written under the lock, read without it.
        volatile double mean_s = 0, tail_s = 0, tasks = 0;
        bool is_flat() const { return !c.packed; }
        size_t room() const { return (c.result + 15) / 16 * 16; } // of a result among those of other kinds: aligned
        void took(double seconds, double tasks);
    };
    // A task that was put with futures, until all of these have come.
    struct Held {
        Task task;
        int to = 0; // the rank that gets it then
        size_t missing = 0;
        bool has_failed = false, may_be_waited_for = true;
        std::vector<Inputs::Value> values;
        std::vector<Inputs::Away> lacks; // of these, what comes to its rank from elsewhere
    };
    struct Freed {
        std::vector<std::shared_ptr<Held>> ready, over; // over: a result that they need will never be there
    };
    struct Waiter {
        std::shared_ptr<Held> held;
        size_t place; // of the result among its inputs
    };
    struct Future {
        bool is_done = false, is_dropped = false; // dropped: nobody will ask for it but the waiters
        bool may_be_waited_for = true;
        int failure = 0;
        uint64_t putter = 0; // the task that put it: Running::number; 0: no task
        Inputs::Value value;
        std::vector<Waiter> waiters;
    };
    struct Placed {
        int to;
        Task task;
    };
    struct Group {
        volatile base::Flag is_cancelled = 0; // in this run. Relaxed: a task that begins meanwhile may run
    };
    struct ResultOut {
        int to;
        uint32_t future;
        int failure;
        std::string bytes;
        bool is_for_others;
    };
    // delivering.cpp
    struct Gathering;
    struct Lack {
        std::shared_ptr<Gathering> task;
        size_t place; // of the result among its inputs
    };
    struct Kept {
        Inputs::Value value;        // null: it has not come yet
        bool is_use_known = false;
        uint32_t uses = 0, taken = 0; // how many tasks of this rank take it, and have, or never will
        std::vector<Lack> lacks;    // while it has not come
    };
    struct GivenUp {
        int to;
        uint32_t future;
    };
    // Per rank of the node, in its shared memory. Writer: that rank. Relaxed: an estimate.
    struct alignas(64) PoolRow {
        volatile base::Hardware::Word rest, waiting, mean_ns, grows, room; // grows: in hundredths
        volatile base::Hardware::Word pace[Pace::most];                    // packed()
    };
    struct alignas(64) NodeHead {
        volatile base::Hardware::Flag state; // of the node, as its agent has seen it or was told (state_of())
    };
    struct Shared;

    // pool.cpp
    const policy::Job& job() const { return nblb_.job(); }
    double seconds(uint64_t ticks) const { return double(ticks) / ticks_per_us_ * 1e-6; }
    uint64_t number_of_kinds() const;
    bool have_same_kinds();
    void say_who_differs(std::string& error);
    void run_to_end();
    void run_local();
    void run_balanced();
    bool is_idle();
    void show();
    void drop(Task& task);
    void fail(const Task& task, int failure, const char* what);
    int finish(uint64_t failed, std::string& error);
    void combine_all();

    // working.cpp
    bool are_right(const ws_task_options& options, const Kind& kind, std::string& error) const;
    void put(Task& task, const ws_task_options* options);
    void make_future(Task& task, const ws_task_options* options, uint64_t putter, bool may_be_waited_for);
    void enqueue(Task& task, const ws_task_options* options, int to, uint64_t putter, bool may_be_waited_for);
    bool add_to_hand(const Task& task, int to);
    void tell_future(const Task& task, const ws_task_options* options);
    void add_to_queue(const Task& task, int to);
    void queue_up(const Task& task);
    void work(uint64_t long_enough);
    size_t batch_size() const;
    bool next(Hand& hand, Task& task, size_t want);
    bool take_queued(Hand& hand, Task& task, size_t want);
    bool steal(Hand& hand, Task& task, size_t want);
    bool hunt(Hand& hand, Task& task, uint64_t until, bool polls);
    void tell(Hand& hand);
    void tell_and_poll(Hand& hand);
    void took(unsigned kind, double each_s, double tasks);
    void queue_changed();
    size_t waiting() const;
    bool open_hand();
    void close_hand();
    void wait_for_guests();
    bool run_one(Task& task, Hand& hand);
    void ended(Running& running, int failure);
    void share(size_t tasks);

    // futures.cpp
    Future* future_of(uint64_t number, const char* call, std::string& error);
    int take(uint32_t number, const Future& f, void* result, size_t capacity, size_t* bytes, const char* call,
             std::string& error);
    bool look_up(Held& h, const ws_task_options& o, uint64_t putter, std::string& error);
    int put_held(const Task& task, const ws_task_options& options, std::string& error);
    static Task with_inputs(Held& held);
    void settle(uint32_t number, int failure, const Inputs::Value& value, Freed& freed);
    void give_up(Freed& freed);
    void go_on_with(Freed& freed);
    void settle(uint32_t number, int failure, std::string bytes);
    uint64_t number_of_putter();
    bool is_done(uint64_t number);
    void help_until_done(Hand& hand, uint64_t number);
    void run_timed(Hand& hand, Task& task);
    void send_results();
    void receive_result(int from, const char* letter, size_t bytes);
    void count_result(int other, size_t bytes, uint64_t ws_pool_counts::*count);

    // delivering.cpp
    bool is_for_others(uint32_t future);
    void keep(uint32_t home, uint32_t future, const Inputs::Value& value);
    void forget_if_taken(uint64_t key);
    void deliver(int keeper, uint32_t future);
    void receive_deliver(int home, const char* letter, size_t bytes);
    void receive_value(int from, const char* letter, size_t bytes);
    void take_value(int from, const ValueHead& head, const Inputs::Value& value);
    void gather(int from, const Task& task, void* data, size_t bytes);
    void complete(Gathering& gathering);
    void send_given_up();
    void receive_given_up(int home, const char* letter, size_t bytes);

    // asking.cpp
    void open_wire();
    bool share_rows(MPI_Comm node, size_t ranks);
    std::vector<int> meets() const;
    bool poll();
    bool poll_beside();
    void look_at_letters();
    void wait();
    void poll_if_due(uint64_t now);
    void start_pulse();
    void rest_pulse();
    void end_pulse();
    void pulse();
    uint64_t room() const;
    Look own_look();
    void look_around();
    static base::Flag state_of(const Look& own);
    int choose_giver() const;
    void act(Actions& actions);
    void gift(const Gift& gift, Actions& actions);
    void post(int to, std::string letter);
    void handle(int from, const char* letter, size_t bytes);
    void end_by_damage(int from) const;
    void receive(Letter what, int from, const char* letter, size_t bytes);
    void handle_early();
    void wait_for_kinds();
    void begin();
    void go_on_ending();
    void drain();

    // carrying.cpp
    void put_in_queue(const Task& task);
    size_t give(const Gift& gift, const Look& own);
    bool take_from_hands(Task& task);
    struct Parcel;
    void send(Parcel& parcel);
    char* bytes_of(Task& task, size_t& size);
    void add(Parcel& parcel, Task& task, char* bytes, size_t size);
    size_t send_tasks(int to, std::vector<Task>& tasks, bool are_placed);
    void receive_tasks(int from, const char* letter, size_t bytes);
    void arrived(int from, Task task, const void* packed, size_t bytes);
    void enter(int from, const Task& task, size_t bytes);
    uint32_t next_tag();
    void send_out();
    void send_placed();
    void send_cancels();
    void pass_on(const Cancel& cancel);

    Nblb& nblb_;
    ws_pool* shell_;
    const double ticks_per_us_;
    uint64_t serial_ = 0; // of the pools of this process; the upper half of the numbers of futures
    const std::unique_ptr<Peers> peers_;
    Processes& all_; // for what is collective
    const int me_, ranks_;
    std::vector<int> agents_;     // of each node: its first rank
    int own_node_ = 0, node_me_ = 0;
    std::vector<int> node_ranks_; // of this node
    std::vector<int> node_of_;    // of each rank
    std::vector<int> in_world_;   // its rank in MPI_COMM_WORLD
    node::Memory memory_;
    // As they were when the pool was made: what another rank scribbles there moves none of them.
    NodeHead own_head_ = {};
    NodeHead* head_ = &own_head_; // of the node, if it has several ranks
    PoolRow own_row_ = {};
    PoolRow* rows_ = &own_row_; // of all ranks of the node, if tasks move
    Growth growth_;
    uint64_t grown_run_ = 0, grown_put_ = 0; // how much of it growth_ knows
    bool balances_ = false;

    std::deque<Kind> kinds_;
    std::deque<Group> groups_; // the first has number 1
    base::SpinLock lock_; // of the queue, futures, and what is to go to others
    Queue queue_;
    std::unordered_map<uint32_t, Future> futures_;
    uint32_t next_future_ = 1;
    volatile base::Hardware::Word last_putter_ = 0;
    std::vector<ResultOut> results_out_;
    std::vector<Placed> placed_;
    // Tasks that wait for results. If there are any, more can be expected when one ends. Written under the lock, read
    // without it.
    volatile uint64_t held_back_tasks_ = 0;
    std::vector<uint16_t> cancels_out_;
    std::vector<GivenUp> given_up_;
    // To be read without the lock: queue_.size(), the highest priority that it has.
    volatile uint64_t queued_ = 0;
    static constexpr int nothing_queued = Queue::least_priority - 1;
    volatile int first_priority_ = nothing_queued;
    // Threads that hold or run tasks, and tasks that are about to leave. Changes with the lock; while it is 0 all hands
    // are empty.
    volatile uint64_t active_ = 0;
    // A thread that holds fewer tasks than this runs the oldest first. Not 0 only if tasks put tasks and can move to
    // other nodes: a tree of fine tasks that is searched depth first never holds enough to make its node heavy.
    volatile uint64_t width_ = 0;
    // The hands of the threads that run tasks. They are kept for the threads that come next.
    static constexpr unsigned most_hands = 1024;
    std::unique_ptr<Hand> all_hands_[most_hands];
    volatile base::Flag hands_ = 0; // how many have been made
    // Since the run began, a thread that is no task has put one while this rank had none, or a letter has come from a
    // rank of which that is true (ending.h). Written under the lock, read without it.
    volatile bool woken_ = false;
    uint64_t put_ = 0; // tasks, as far as threads have told(); needs the lock
    volatile double mean_s_ = 0;    // of the tasks that ran lately, of any kind
    volatile base::Hardware::Word held_ = 0; // bytes of tasks that came from elsewhere, and of kept results
    bool running_now_ = false, first_failed_ = false;
    std::string failure_;
    uint64_t memory_limit_ = 0;
    unsigned most_moves_ = ~0u;

    std::mutex wire_lock_; // of what follows, growth_, and the posting of letters
    std::unique_ptr<Wire> wire_; // null: tasks do not move
    std::unique_ptr<Balancer> balancer_; // of the node's first rank alone
    Ending ending_{0, 1};
    std::unordered_map<uint64_t, Kept> kept_; // results of other ranks' futures: the rank and the number are the key
    Counts travels_;               // what it has sent and received, in all runs
    bool ended_ = false;
    bool holds_ = false;           // until all are known to have the same kinds
    size_t same_kinds_ = 0;        // how many of them were the same on all ranks
    bool kinds_differ_ = false;    // at the end of a run
    uint64_t failed_ = 0;          // at the end of a run: on how many ranks a task has
    // The run that this rank is in, or was in last. Letters from ranks that have begun the next one wait. If a letter
    // comes too late, its tasks and results still count.
    uint8_t run_ = 0;
    std::vector<std::pair<int, std::string>> early_;
    bool may_give_ = false;        // in a run, when it does not hold
    std::vector<Gift> held_back_;  // until then
    volatile uint64_t polled_at_ = 0; // ticks
    uint64_t poll_every_ = 0, pulse_every_ = 0, hunt_ = 0, worth_stealing_ = 0; // ticks
    volatile base::Flag expects_ = 0; // the balancer does: the pulse looks as often as between short tasks
    uint64_t stepped_ = 0, worked_ = 0, pulsed_ = 0; // looks at letters
    double nudged_s_ = 0; // when it told the agent that the node's state has changed
    int next_tag_ = 0;
    Cost cost_;
    ws_pool_counts counts_ = {};
    ws_pool_counts shown_ = {}; // on the board
    uint64_t random_ = 0; // under chaos: not 0

    // The pulse sleeps between runs. It looks at letters only while it beats, which changes with the wire locked.
    enum Beat : base::Flag { pulse_rests, pulse_beats, pulse_ends };
    pthread_t pulse_thread_ = {};
    bool has_pulse_ = false;
    volatile base::Flag beat_ = pulse_rests;
};

// Per thread: the pool whose run() it is in; the hand that it holds, as a guest too, and that hand's pool.
extern __thread Pool* own_pool __attribute__((tls_model("initial-exec")));
extern __thread Pool* pool_of_hand __attribute__((tls_model("initial-exec")));
extern __thread Hand* own_hand __attribute__((tls_model("initial-exec")));

} // namespace ws::policy::tasks
