// SPDX-License-Identifier: MIT
#include "measure/others.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <unistd.h>

namespace ws::measure {

using base::CpuMask;

std::vector<double> cpu_seconds(const char* proc)
{
    std::vector<double> seconds;
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen((std::string(proc) + "/stat").c_str(), "re"),
                                                     std::fclose);
    const double tick = 1.0 / double(sysconf(_SC_CLK_TCK));
    char line[512];
    unsigned cpu;
    unsigned long long user, nice, system;
    while (file && std::fgets(line, sizeof line, file.get()))
        // The first line, "cpu  ...", is the sum of all.
        if (line[3] != ' ' && std::sscanf(line, "cpu%u %llu %llu %llu", &cpu, &user, &nice, &system) == 4 &&
            cpu < 1u << 20) {
            seconds.resize(std::max(seconds.size(), size_t(cpu) + 1));
            seconds[cpu] = double(user + nice + system) * tick;
        }
    return seconds;
}

Others others(const std::vector<double>& first, const std::vector<double>& last, double seconds, CpuMask cpus,
              const std::vector<Used>& ranks)
{
    Others worst;
    worst.cpus = cpus.count();
    if (first.empty() || last.size() != first.size() || seconds <= 0 || worst.cpus == 0)
        return worst;
    const auto busy = [&](int cpu) { return size_t(cpu) < first.size() ? last[size_t(cpu)] - first[size_t(cpu)] : 0; };
    const auto share = [](double of, double all) { return std::min(1.0, std::max(0.0, of / all)); };
    bool each_its_own = true;
    for (const Used& a : ranks)
        each_its_own &=
            a.cpu >= 0 && std::count_if(ranks.begin(), ranks.end(), [&](const Used& b) { return b.cpu == a.cpu; }) == 1;
    if (each_its_own) {
        for (const Used& r : ranks) {
            const double part = share(busy(int(r.cpu)) - r.there, seconds);
            if (worst.cpu < 0 || part > worst.share) {
                worst.share = part;
                worst.cpu = int(r.cpu);
            }
        }
        return worst;
    }
    double all = 0;
    for (int c = cpus.first(); c >= 0; c = cpus.first(c + 1))
        all += busy(c);
    for (const Used& r : ranks)
        all -= r.process;
    worst.share = share(all, seconds * worst.cpus);
    return worst;
}

} // namespace ws::measure
