// SPDX-License-Identifier: MIT
#include "policy/tasks/scheduler.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace ws::policy::tasks {

Scheduler::Scheduler(int nodes, int each, double horizon)
    : members_(size_t((nodes + each - 1) / each)), horizon_(horizon)
{
    for (MemberAccount& m : members_) {
        m.nodes = std::min(each, nodes);
        nodes -= each;
    }
}

void Scheduler::begin(bool all_tell)
{
    for (MemberAccount& m : members_) {
        m.to = m.from = m.state.came = m.state.went = m.state.rest = m.state.movable = 0;
        m.state.cls = Class::light;
        m.told = m.told && !all_tell;
    }
}

void Scheduler::advance(double now_s)
{
    for (MemberAccount& m : members_)
        m.state.rest = std::max(0.0, m.state.rest - m.state.rate * std::max(0.0, now_s - now_s_));
    now_s_ = now_s;
}

void Scheduler::tell(int member, const MemberState& state)
{
    if (!has(member))
        return;
    MemberAccount& m = members_[size_t(member)];
    m.state = state;
    m.told = true;
    is_weighed_ = false;
    m.to = std::max(m.to, state.came);
    m.from = std::max(m.from, state.went);
}

void Scheduler::short_of(int member, double tasks)
{
    if (!has(member))
        return;
    MemberAccount& m = members_[size_t(member)];
    m.to = std::max(m.to - tasks, m.state.came);
}

double Scheduler::untold() const
{
    double all = 0, told = 0;
    for (const MemberAccount& m : members_) {
        all += m.nodes;
        told += m.told ? m.nodes : 0;
    }
    return told > 0 ? all / told : 1;
}

bool Scheduler::knows_all() const
{
    return std::all_of(members_.begin(), members_.end(), [](const MemberAccount& m) { return m.told; });
}

double Scheduler::level() const
{
    if (outer_ >= 0)
        return outer_;
    double rest = 0, strength = 0;
    for (const MemberAccount& m : members_) {
        rest += m.rest() + m.coming();
        strength += m.strength();
    }
    return strength > 0 ? rest / (strength * untold()) : 0;
}

void Scheduler::weigh()
{
    if (is_weighed_)
        return;
    is_weighed_ = true;
    pace_ = {};
    for (const MemberAccount& m : members_)
        pace_ += m.state.all;
    double least = 1, most = 1;
    for (MemberAccount& m : members_) {
        m.speed = speed_to_count_on(m.state.pace, pace_);
        least = std::min(least, m.speed);
        most = std::max(most, m.speed);
    }
    for (MemberAccount& m : members_)
        m.speed = as_good_as_equal(least, most) ? 1 : m.speed;
}

const Pace& Scheduler::pace()
{
    weigh();
    return pace_;
}

std::vector<double> Scheduler::shares(double each) const
{
    std::vector<double> shares;
    double strength = 0, shared = 0;
    for (const MemberAccount& m : members_) {
        strength += m.strength();
        const double up_to_here = std::floor(each * strength + 1e-6);
        shares.push_back(up_to_here - shared);
        shared = up_to_here;
    }
    return shares;
}

double Scheduler::surplus(const MemberAccount& m, double share) const
{
    if (!m.told || m.state.cls != Class::heavy)
        return 0;
    // Not below what makes it light.
    const double keeps = std::max(share, m.state.capacity - threshold(m.state.capacity));
    return std::floor(std::min(std::max(0.0, m.rest() - keeps), m.movable()));
}
double Scheduler::surplus(int member) const { return surplus(members_[size_t(member)], shares()[size_t(member)]); }

double Scheduler::deficit(const MemberAccount& m, double share) const
{
    // One order at a time: what it has then it tells when they have come.
    if (!m.told || m.state.cls != Class::light || m.coming() >= 1)
        return 0;
    return std::ceil(std::max(share, m.state.capacity) - m.rest());
}

MemberState Scheduler::receiver(const MemberAccount& m)
{
    MemberState s = m.state;
    s.rest = m.rest() + m.coming();
    return s;
}

int Scheduler::heaviest() const
{
    int best = -1;
    double most = 0.5;
    const std::vector<double> share = shares();
    for (size_t i = 0; i < members_.size(); i++)
        if (const double s = surplus(members_[i], share[i]); s > most) {
            most = s;
            best = int(i);
        }
    return best;
}

std::vector<TransferOrder> Scheduler::pair()
{
    weigh();
    std::vector<TransferOrder> orders;
    std::vector<std::pair<double, int>> heavy, light;
    const std::vector<double> share = shares();
    for (size_t i = 0; i < members_.size(); i++) {
        if (const double s = surplus(members_[i], share[i]); s >= 1)
            heavy.emplace_back(s, int(i));
        else if (const double d = deficit(members_[i], share[i]); d >= 1)
            light.emplace_back(d, int(i));
    }
    if (heavy.empty() || light.empty())
        return orders;
    std::sort(heavy.rbegin(), heavy.rend());
    std::sort(light.rbegin(), light.rend());
    for (auto& [wanted, to] : light) {
        const auto from = std::find_if(heavy.begin(), heavy.end(), [&, receiver = to](const auto& h) {
            return h.first >= 1 && (horizon_ <= 0 || std::abs(h.second - receiver) <= horizon_);
        });
        if (from == heavy.end())
            continue;
        const double tasks = std::min(wanted, from->first);
        MemberAccount& taker = members_[size_t(to)];
        orders.push_back({from->second, to, tasks, receiver(taker)});
        give(from->second, tasks);
        taker.to += tasks;
        from->first -= tasks;
        for (size_t i = size_t(from - heavy.begin()); i + 1 < heavy.size() && heavy[i].first < heavy[i + 1].first; i++)
            std::swap(heavy[i], heavy[i + 1]);
    }
    return orders;
}

std::vector<TransferOrder> Scheduler::take(double tasks, int from)
{
    weigh();
    std::vector<TransferOrder> orders;
    double rest = tasks, strength = 0, left = tasks;
    for (const MemberAccount& m : members_) {
        rest += m.rest() + m.coming();
        strength += m.strength();
    }
    if (strength <= 0)
        return orders;
    // First so that all have the same, then what makes them normal.
    const std::vector<double> same = shares(rest / strength);
    for (const bool fills : {false, true})
        for (size_t i = 0; i < members_.size() && left >= 1; i++) {
            MemberAccount& m = members_[i];
            if (!m.told || m.state.cls != Class::light || (horizon_ > 0 && std::abs(int(i) - from) > horizon_))
                continue;
            const double up_to = fills ? std::ceil(m.state.capacity) : same[i];
            const double gets = std::min(left, std::floor(up_to - m.rest() - m.coming()));
            if (gets < 1)
                continue;
            orders.push_back({-1, int(i), gets, receiver(m)});
            m.to += gets;
            left -= gets;
        }
    return orders;
}

MemberState Scheduler::summary() const
{
    MemberState all = {Class::normal, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pace_, pace_};
    double most_wanted = 0, given = 0;
    const std::vector<double> share = shares();
    for (size_t i = 0; i < members_.size(); i++) {
        const MemberAccount& m = members_[i];
        if (!m.told)
            continue;
        all.rest += m.rest() + m.coming();
        all.capacity += m.state.capacity;
        all.cores += m.strength();
        all.rate += m.state.rate;
        all.movable += m.movable();
        given += surplus(m, share[i]);
        most_wanted = std::max(most_wanted, deficit(m, share[i]));
    }
    for (double* sum : {&all.capacity, &all.cores})
        *sum *= untold();
    if (given >= 1)
        all.cls = Class::heavy;
    else if (most_wanted >= 1)
        all.cls = Class::light;
    return all;
}

} // namespace ws::policy::tasks
