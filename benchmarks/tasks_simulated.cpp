// SPDX-License-Identifier: MIT
//
// tasks_simulated [--ranks N] [--node CORES] [--tasks EACH] [--mean US] [--tailed] [--algorithm NAME] [--latency US]
//                 [--grow] [--kinds N] [--slow FACTOR] [--runs N]
//
// A machine of up to 100,000 ranks and more whose nodes balance tasks by the runtime's own code
// (runtime/policy/tasks/): only the clock, the network and the tasks are made up. All tasks are on node 0 at first;
// with --grow there is a tree of them, of which node 0 has the root. With N kinds, the second takes twice as long as
// the first, and so on; every other node is slower by the factor. A rank looks at its letters when a task of its ends,
// and every millisecond, or 0.1 ms while its balancer expects one. What a task takes is known when it has ended. With
// --runs N, only the last of N runs is reported: nodes know their speeds by then. Prints a line of JSON: efficiency (of
// all cores, until the last task ends), letters and moves for each task, and how long it took until every node had work
// and none more than twice the average.
#include "policy/tasks/balancer.h"
#include "policy/tasks/predict.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <queue>
#include <random>
#include <string>

using namespace ws::policy::tasks;

namespace {

struct Settings {
    int ranks = 1000, cores = 16;
    double each = 100, mean_s = 1e-3, latency_s = 5e-6, bytes_per_s = 1e10, look_s = 1e-3, soon_s = 1e-4;
    int kinds = 1, runs = 1;
    double slow = 1;
    bool tailed = false, grow = false;
    Algorithm algorithm = Algorithm::central;
};

struct Task {
    float seconds;
    uint8_t moves;
    uint8_t depth;
    uint8_t kind;
};

struct Letter {
    Note note;
    int from;
    std::vector<Task> tasks;
};

struct Node {
    std::unique_ptr<Balancer> balancer;
    std::deque<Task> queue;
    std::deque<Letter> letters; // arrived, not looked at
    int cores = 1, running = 0;
    double moved_enough = 0;           // of the queue: tasks that may not move again
    std::vector<Prediction> predictions; // of the kinds that ran
    Growth growth;
    double slow = 1;
    bool looks = false;                // an event for that is there
};

struct Event {
    double at;
    int node;
    enum { done, letter, look } what;
    int slot; // of a letter
    Task task; // that is done
    bool operator<(const Event& other) const { return at > other.at; }
};

class Machine {
public:
    explicit Machine(const Settings& s) : s_(s), nodes_(size_t((s.ranks + s.cores - 1) / s.cores)), random_(1)
    {
        for (size_t n = 0; n < nodes_.size(); n++) {
            nodes_[n].balancer = make_balancer(s.algorithm, int(n), int(nodes_.size()), Rules());
            if (nodes_[n].balancer)
                most_moves_ = nodes_[n].balancer->most_moves();
            nodes_[n].cores = std::min(s.cores, s.ranks - int(n) * s.cores);
            nodes_[n].slow = n % 2 ? s.slow : 1;
        }
    }

    void run()
    {
        began_ = now_;
        end_ = work_ = longest_ = ran_ = done_ = made_ = letters_ = moves_ = level_at_ = 0;
        for (Node& n : nodes_)
            if (n.balancer)
                n.balancer->begin();
        const double all = s_.grow ? 1 : s_.each * s_.ranks;
        left_to_make_ = s_.grow ? s_.each * s_.ranks - 1 : 0;
        for (double i = 0; i < all; i++)
            nodes_[0].queue.push_back(task(0));
        for (size_t n = 0; n < nodes_.size(); n++) {
            start(int(n));
            look(int(n));
        }
        while (!events_.empty() && done_ < s_.each * s_.ranks) {
            const Event e = events_.top();
            events_.pop();
            now_ = e.at;
            Node& node = nodes_[size_t(e.node)];
            switch (e.what) {
            case Event::done:
                node.running--;
                done_++;
                end_ = now_;
                node.predictions[e.task.kind].add(double(e.task.seconds));
                if (s_.grow)
                    grow(e.node, e.task.depth);
                else
                    node.growth.add(1, 0);
                read(e.node);
                start(e.node);
                look(e.node);
                break;
            case Event::letter:
                node.letters.push_back(std::move(under_way_[size_t(e.slot)]));
                free_.push_back(e.slot);
                if (node.running < node.cores) {
                    read(e.node);
                    start(e.node);
                    look(e.node);
                } else if (!node.looks) {
                    node.looks = true;
                    const bool soon = node.balancer->expects(now_);
                    events_.push({now_ + (soon ? s_.soon_s : s_.look_s), e.node, Event::look, 0, {}});
                }
                break;
            case Event::look:
                node.looks = false;
                read(e.node);
                start(e.node);
                look(e.node);
                break;
            }
            watch(e.node);
        }
        // What is under way is of no use in the next run.
        events_ = {};
        under_way_.clear();
        free_.clear();
        for (Node& n : nodes_) {
            n.letters.clear();
            n.looks = false;
        }
    }

    void print() const
    {
        const double tasks = s_.each * s_.ranks;
        size_t lost = 0;
        for (const Node& n : nodes_)
            lost += n.queue.size() + n.letters.size();
        std::printf("{\"ranks\": %d, \"nodes\": %zu, \"tasks\": %.0f, \"run\": %.0f, \"left\": %zu, \"efficiency\": "
                    "%.4f, \"seconds\": %.6f, "
                    "\"limit_s\": %.6f, \"letters_per_task\": %.4f, \"moves_per_task\": %.4f, \"level_s\": %.6f}\n",
                    s_.ranks, nodes_.size(), tasks, ran_, lost, work_ / (s_.ranks * (end_ - began_)), end_ - began_,
                    std::max(work_ / s_.ranks, longest_), letters_ / tasks, moves_ / tasks,
                    level_at_ > 0 ? level_at_ - began_ : 0);
    }
    bool right() const { return ran_ == s_.each * s_.ranks; }

private:
    Task task(int depth)
    {
        const int kind = made_of_kinds_++ % s_.kinds;
        double t = s_.mean_s * (1 + kind);
        if (s_.tailed) // Pareto with exponent 1.5 and that mean, cut at 1000 times
            t = std::min(1000 * t, t / 3 / std::pow(1 - unit_(random_), 1 / 1.5));
        return {float(t), 0, uint8_t(std::min(depth, 255)), uint8_t(kind)};
    }

    // A tree: each task makes up to four until all have been made.
    void grow(int n, int depth)
    {
        double children = std::min(left_to_make_, depth < 4 ? 4.0 : std::floor(unit_(random_) * 5));
        left_to_make_ -= children;
        if (ran_ == made_before_all() && left_to_make_ > 0 && children == 0) { // the tree must not die out
            children = 1;
            left_to_make_--;
        }
        nodes_[size_t(n)].growth.add(1, children);
        for (int i = 0; i < int(children); i++) {
            nodes_[size_t(n)].queue.push_back(task(depth + 1));
            made_++;
        }
    }
    double made_before_all() const { return made_ + 1; }

    Look look_of(const Node& n) const
    {
        Look l;
        l.now_s = now_;
        l.waiting = double(n.queue.size()) - n.moved_enough;
        l.rest = double(n.queue.size()) + n.running;
        l.cores = n.cores;
        double seen_s = 0, seen = 0;
        for (size_t k = 0; k < n.predictions.size(); k++) {
            const Prediction& p = n.predictions[k];
            if (!p.is_known())
                continue;
            l.pace.add({uint16_t(k), float(p.mean_s()), float(p.tasks())});
            seen_s += p.mean_s() * p.tasks();
            seen += p.tasks();
        }
        l.mean_s = seen > 0 ? seen_s / seen : 0;
        l.grows = n.growth.tasks();
        l.unit_s = unit_of_time(100e-6, 2 * s_.latency_s, std::min(l.mean_s / n.cores, s_.look_s) / 2);
        l.room = 1e18;
        return l;
    }

    void start(int n)
    {
        Node& node = nodes_[size_t(n)];
        while (node.running < node.cores && !node.queue.empty()) {
            Task t = node.queue.back();
            node.queue.pop_back();
            node.moved_enough -= t.moves >= most_moves_;
            t.seconds *= float(node.slow);
            node.predictions.resize(size_t(s_.kinds));
            node.running++;
            ran_++;
            work_ += t.seconds;
            longest_ = std::max(longest_, double(t.seconds));
            events_.push({now_ + t.seconds, n, Event::done, 0, t});
        }
    }

    void look(int n)
    {
        Node& node = nodes_[size_t(n)];
        if (!node.balancer)
            return;
        Actions a;
        node.balancer->look(look_of(node), a);
        act(n, a);
    }

    void read(int n)
    {
        Node& node = nodes_[size_t(n)];
        while (!node.letters.empty()) {
            Letter l = std::move(node.letters.front());
            node.letters.pop_front();
            Actions a;
            if (!l.tasks.empty()) {
                node.queue.insert(node.queue.begin(), l.tasks.begin(), l.tasks.end());
                for (const Task& t : l.tasks)
                    node.moved_enough += t.moves >= most_moves_;
                node.balancer->arrived(l.from, double(l.tasks.size()), look_of(node), a);
            } else
                node.balancer->note(l.from, l.note, look_of(node), a);
            act(n, a);
        }
    }

    void act(int n, Actions& a)
    {
        Node& node = nodes_[size_t(n)];
        for (size_t i = 0; i < a.gifts.size(); i++) {
            const Gift g = a.gifts[i];
            Letter l = {{}, n, {}};
            const Look own = look_of(node);
            const double least = g.whatever || own.mean_s == 0 ? 0
                                            : age_min({20e-6, s_.bytes_per_s}, 64, g.tasks,
                                                      {own.rest, g.speed, own.cores}, g.to);
            std::deque<Task> kept;
            while (!node.queue.empty() && double(l.tasks.size()) < g.tasks) {
                Task t = node.queue.front();
                node.queue.pop_front();
                if (t.moves < most_moves_ && own.mean_s >= least) {
                    t.moves += t.moves < 255;
                    l.tasks.push_back(t);
                } else
                    kept.push_back(t);
            }
            node.queue.insert(node.queue.begin(), kept.begin(), kept.end());
            const double count = double(l.tasks.size());
            moves_ += count;
            if (count > 0)
                send(g.node, std::move(l), 64 * count);
            node.balancer->gave(g, count, look_of(node), a);
        }
        for (const Actions::Letter& l : a.letters)
            send(l.node, {l.note, n, {}}, 64);
    }

    void send(int to, Letter letter, double bytes)
    {
        letters_++;
        int slot = int(under_way_.size());
        if (free_.empty())
            under_way_.push_back(std::move(letter));
        else {
            slot = free_.back();
            free_.pop_back();
            under_way_[size_t(slot)] = std::move(letter);
        }
        events_.push({now_ + s_.latency_s + bytes / s_.bytes_per_s, to, Event::letter, slot, {}});
    }

    // When is everybody at work? Only what has changed is looked at until then.
    void watch(int n)
    {
        if (level_at_ > 0)
            return;
        if (busy_.empty())
            busy_.resize(nodes_.size());
        const Node& node = nodes_[size_t(n)];
        const bool is_busy = node.running >= node.cores;
        busy_count_ += int(is_busy) - int(busy_[size_t(n)]);
        busy_[size_t(n)] = is_busy;
        if (busy_count_ < int(nodes_.size()))
            return;
        double most = 0, all = 0;
        for (const Node& m : nodes_) {
            const double rest = double(m.queue.size() + size_t(m.running)) / m.cores;
            most = std::max(most, rest);
            all += rest;
        }
        if (most <= 2 * all / double(nodes_.size()))
            level_at_ = now_;
    }

    Settings s_;
    unsigned most_moves_ = ~0u;
    std::vector<Node> nodes_;
    std::mt19937_64 random_;
    std::uniform_real_distribution<> unit_{0, 1};
    std::priority_queue<Event> events_;
    std::vector<Letter> under_way_;
    std::vector<int> free_;
    std::vector<bool> busy_;
    int busy_count_ = 0;
    double now_ = 0, began_ = 0, end_ = 0, work_ = 0, longest_ = 0, ran_ = 0, done_ = 0, made_ = 0, letters_ = 0,
           moves_ = 0, level_at_ = 0;
    double left_to_make_ = 0;
    int made_of_kinds_ = 0;
};

bool take(const char* name, int argc, char** argv, int& i, double& value)
{
    if (std::strcmp(argv[i], name) != 0 || i + 1 >= argc)
        return false;
    char* end;
    value = std::strtod(argv[++i], &end);
    if (*end || !(value > 0)) {
        std::fprintf(stderr, "tasks_simulated: %s %s is no positive number\n", name, argv[i]);
        std::exit(2);
    }
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    Settings s;
    const char* const names[] = {"central", "neighbours", "random", "lifeline", "none"};
    for (int i = 1; i < argc; i++) {
        double value;
        if (take("--ranks", argc, argv, i, value))
            s.ranks = int(value);
        else if (take("--node", argc, argv, i, value))
            s.cores = int(value);
        else if (take("--tasks", argc, argv, i, value))
            s.each = std::ceil(value);
        else if (take("--mean", argc, argv, i, value))
            s.mean_s = 1e-6 * value;
        else if (take("--latency", argc, argv, i, value))
            s.latency_s = 1e-6 * value;
        else if (take("--kinds", argc, argv, i, value))
            s.kinds = std::min(int(std::ceil(value)), 200);
        else if (take("--runs", argc, argv, i, value))
            s.runs = int(std::ceil(value));
        else if (take("--slow", argc, argv, i, value))
            s.slow = value;
        else if (std::string(argv[i]) == "--tailed")
            s.tailed = true;
        else if (std::string(argv[i]) == "--grow")
            s.grow = true;
        else if (std::string(argv[i]) == "--algorithm" && i + 1 < argc) {
            const std::string name = argv[++i];
            int a = 0;
            while (a < 5 && name != names[a])
                a++;
            if (a == 5) {
                std::fprintf(stderr, "tasks_simulated: no algorithm '%s'\n", name.c_str());
                return 2;
            }
            s.algorithm = Algorithm(a);
        } else {
            std::fprintf(stderr, "tasks_simulated: what is '%s'?\n", argv[i]);
            return 2;
        }
    }
    Machine machine(s);
    for (int i = 0; i < s.runs; i++)
        machine.run();
    machine.print();
    return machine.right() ? 0 : 1;
}
