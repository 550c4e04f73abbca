// SPDX-License-Identifier: MIT
#include "policy/cores/table.h"

#include "policy/node_objects.h"

#include <algorithm>

namespace ws::policy::cores {

using base::CpuSet;

namespace {

void cut(std::vector<int>& cpus, unsigned most) { cpus.resize(std::min<size_t>(cpus.size(), std::max(1u, most))); }

Start pretend(const std::vector<unsigned>& usual, unsigned cpus)
{
    Start start;
    const unsigned ranks = unsigned(usual.size());
    for (unsigned r = 0; cpus >= ranks && r < ranks; r++) {
        start.cpus.emplace_back(cpus / ranks + (r < cpus % ranks), -1);
        cut(start.cpus.back(), usual[r]);
    }
    return start;
}

// The worker on that CPU, or, where workers have no CPU of their own, any one of the rank's; no_core if there is none.
unsigned take_worker(std::vector<unsigned>& workers, const window::Window& window, int cpu)
{
    for (auto w = workers.begin(); w != workers.end(); ++w) {
        const base::CpuMask mask = window.mask(*w);
        if (cpu >= 0 && mask.count() == 1 && !mask.has(cpu))
            continue;
        const unsigned core = *w;
        workers.erase(w);
        return core;
    }
    return no_core;
}

} // namespace

Start start_of(const std::vector<CpuSet>& masks, const std::vector<int>& home, const std::vector<unsigned>& usual,
               unsigned pretended)
{
    if (pretended)
        return pretend(usual, pretended);
    Start start;
    const size_t ranks = masks.size();
    CpuSet all;
    size_t sum = 0;
    for (const CpuSet& mask : masks) {
        all.add(mask);
        sum += mask.mask().count();
    }
    const size_t cpus = all.mask().count();
    start.shared = sum > cpus;
    // The CPU where a rank's own thread is, if no rank before has it; then its share of those that are left, or of its
    // own.
    std::vector<bool> taken;
    const auto take = [&](size_t rank, int cpu) {
        if (taken.size() <= size_t(cpu))
            taken.resize(size_t(cpu) + 1);
        if (taken[size_t(cpu)])
            return false;
        taken[size_t(cpu)] = true;
        start.cpus[rank].push_back(cpu);
        return true;
    };
    start.cpus.resize(ranks);
    for (size_t r = 0; r < ranks; r++)
        if (home[r] >= 0 && masks[r].mask().has(home[r]))
            take(r, home[r]);
    for (size_t r = 0; r < ranks; r++)
        for (int c = masks[r].mask().first(); c >= 0 && start.cpus[r].empty(); c = masks[r].mask().first(c + 1))
            take(r, c);
    for (size_t r = 0; r < ranks; r++) {
        if (start.cpus[r].empty())
            return {}; // fewer CPUs than ranks
        const size_t share = start.shared ? std::max<size_t>(1, cpus / ranks) : cpus;
        for (int c = masks[r].mask().first(); c >= 0 && start.cpus[r].size() < share; c = masks[r].mask().first(c + 1))
            take(r, c);
        cut(start.cpus[r], usual[r]);
    }
    return start;
}

struct Table::Shared {
    Shared(NodeObjects::Manager* manager, size_t ranks, size_t processors)
        : rows(ranks, manager), processors(processors, manager), numbers(3 * ranks, manager)
    {
    }
    Head head = {};
    NodeObjects::Array<RankRow> rows;
    NodeObjects::Array<Processor> processors;
    NodeObjects::Array<uint16_t> numbers;
};

bool Table::attach(MPI_Comm node, window::Window& window, const Start& start, const std::vector<unsigned>& most)
{
    window_ = &window;
    ranks_ = unsigned(start.cpus.size());
    processors_ = 0;
    for (const auto& cpus : start.cpus)
        processors_ += unsigned(cpus.size());
    const size_t bytes = NodeObjects::root_bytes<Shared>() + NodeObjects::array_bytes<RankRow>(ranks_) +
                         NodeObjects::array_bytes<Processor>(processors_) +
                         NodeObjects::array_bytes<uint16_t>(3 * size_t(ranks_));
    void* const memory = memory_.allocate(node, bytes);
    if (!memory)
        return false;
    NodeObjects objects(memory, bytes);
    const bool first = window.me() == 0;
    Shared* const shared = objects.root<Shared>(
        memory_.from_first(node, first ? objects.construct<Shared>(ranks_, processors_) : -1));
    head_ = shared ? &shared->head : nullptr;
    rows_ = shared ? objects.elements(shared->rows, ranks_) : nullptr;
    all_ = shared ? objects.elements(shared->processors, processors_) : nullptr;
    numbers_ = shared ? objects.elements(shared->numbers, 3 * size_t(ranks_)) : nullptr;
    if (!memory_.all(node, head_ && rows_ && all_ && numbers_)) {
        memory_.free();
        return false;
    }
    if (first)
        fill(start, most);
    node::Memory::all(node, true); // nobody reads it before
    constants_.assign(all_, all_ + processors_);
    return true;
}

void Table::fill(const Start& start, const std::vector<unsigned>& most)
{
    std::vector<int> cpus;
    for (const auto& own : start.cpus)
        cpus.insert(cpus.end(), own.begin(), own.end());
    const std::vector<window::Place> places = window::places_of(cpus);
    unsigned p = 0;
    for (unsigned r = 0; r < ranks_; r++) {
        std::vector<unsigned> workers;
        for (unsigned c = ranks_; c < window_->cores(); c++)
            if (window_->home(c).rank == r)
                workers.push_back(c);
        rows_[r].target = Flag(start.cpus[r].size());
        rows_[r].most = most[r];
        first()[r] = last()[r] = uint16_t(start.cpus[r].size());
        for (size_t i = 0; i < start.cpus[r].size(); i++, p++) {
            all_[p].cpu = start.cpus[r][i];
            all_[p].home = i == 0 ? r : no_rank;
            all_[p].core = i == 0 ? r : take_worker(workers, *window_, all_[p].cpu);
            all_[p].first = r;
            all_[p].place = places[p];
            const unsigned core = all_[p].core;
            if (i > 0)
                arbiter::Word<>(core == no_core ? all_[p].word : window_->home(core).use)
                    .start(r, core == no_core ? arbiter::Use::home : arbiter::Use::worker);
        }
    }
    head_->generation = 1;
}

arbiter::Word<> Table::word(unsigned p) const
{
    const unsigned core = constants_[p].core;
    return arbiter::Word<>(core == no_core ? all_[p].word : window_->home(core).use);
}

unsigned Table::owner(unsigned p) const
{
    const unsigned owner = word(p).look().owner;
    return owner < ranks_ ? owner : constants_[p].first;
}

std::vector<Located> Table::located() const
{
    std::vector<Located> processors;
    for (unsigned p = 0; p < processors_; p++) {
        const Processor& q = constants_[p];
        processors.push_back({q.home == no_rank ? owner(p) : q.home, q.home != no_rank, q.first, q.place});
    }
    return processors;
}

} // namespace ws::policy::cores
