// SPDX-License-Identifier: MIT
#include "checks.h"

#include "directive/abi.h"
#include "directive/name_text.h"
#include "window/locks.h"
#include "window/window.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <set>
#include <sstream>
#include <unistd.h>

namespace doctor {

namespace {

constexpr int most_tenants = 1023; // of a node: ranks and workers (ws::Inactive)

__attribute__((format(printf, 1, 2))) std::string format(const char* f, ...)
{
    char text[2048];
    va_list args;
    va_start(args, f);
    std::vsnprintf(text, sizeof text, f, args);
    va_end(args);
    return text;
}

std::string bytes(double n)
{
    const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    for (; n >= 1024 && unit < 4; unit++)
        n /= 1024;
    return format(n < 10 && unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

std::string of_limit(double value) { return value == no_limit ? "unlimited" : format("%.0f", value); }
std::string plural(double n, const char* what) { return format("%.0f %s%s", n, what, n == 1 ? "" : "s"); }

std::string cpu_list(const std::set<int>& cpus) { return doctor::cpu_list(std::vector<int>(cpus.begin(), cpus.end())); }
using doctor::cpu_list;

// ---- a node: the ranks on it, as many as are planned

struct Node {
    std::string host;
    std::vector<const Machine*> ranks;
    int count = 0; // of ranks; planned ones have one Machine
    bool planned = false;

    const Machine& first() const { return *ranks[0]; }
    // Which CPUs the ranks may use together.
    std::set<int> cpus() const
    {
        std::set<int> all;
        for (const Machine* m : ranks)
            all.insert(m->cpus.begin(), m->cpus.end());
        return all;
    }
    int core(int cpu) const
    {
        const auto known = first().core_of.find(std::to_string(cpu));
        return known == first().core_of.end() ? 100000 + cpu : known->second;
    }
    std::set<int> cores() const
    {
        std::set<int> all;
        for (int cpu : cpus())
            all.insert(core(cpu));
        return all;
    }
    int workers() const
    {
        int all = 0;
        for (const Machine* m : ranks)
            all += m->workers < 0 ? int(cores().size()) / std::max(count, 1) - 1 : m->workers;
        return std::max(0, planned ? all * count : all);
    }
    // Whether each rank could have a core of its own, were they bound so. hwloc sees what the cpuset allows.
    bool fits() const { return count <= first().cores; }
};

std::vector<Node> nodes(const Job& job)
{
    std::vector<Node> all;
    for (const Machine& m : job.machines) {
        // Containers may share a host's name, and not its processes.
        auto known = std::find_if(all.begin(), all.end(), [&](const Node& n) { return n.host == m.host; });
        if (known == all.end())
            known = all.insert(all.end(), {m.host, {}, 0, job.planned});
        known->ranks.push_back(&m);
        // If MPI does not start, rank 0 is the only one that is known of.
        known->count = job.planned ? job.ranks : m.mpi_error.empty() ? int(known->ranks.size()) : std::max(1, m.local_ranks);
    }
    return all;
}

bool runnable(const Job& job) { return job.program && job.program->error.empty(); }

// ---- writing findings

class Findings {
public:
    Findings(std::vector<Finding>& all, const char* number, const char* title) : all_(all), number_(number), title_(title) {}
    void on(const Node& node) { node_ = node.host; }

    void skip(const std::string& why) { add(Level::skipped, why, "", ""); }
    void ok(const std::string& measured) { add(Level::ok, measured, "", ""); }
    void note(const std::string& measured, const std::string& cause, const std::string& fix) { add(Level::note, measured, cause, fix); }
    void warning(const std::string& measured, const std::string& cause, const std::string& fix) { add(Level::warning, measured, cause, fix); }
    void problem(const std::string& measured, const std::string& cause, const std::string& fix) { add(Level::problem, measured, cause, fix); }

private:
    void add(Level level, const std::string& measured, const std::string& cause, const std::string& fix)
    {
        Finding f{level, number_, title_, measured, cause, fix, {}};
        if (!node_.empty())
            f.nodes.push_back(node_);
        all_.push_back(f);
    }
    std::vector<Finding>& all_;
    std::string number_, title_, node_;
};

std::string lib_folder(const Job& job)
{
    const std::string& folder = job.machines[0].folder;
    return folder.substr(0, folder.rfind('/')) + "/lib";
}

// As one word of a shell's command.
std::string quoted(const std::string& word)
{
    if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_") == std::string::npos)
        return word;
    std::string text = "'";
    for (char c : word)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// The job's command, with these options and this many ranks.
std::string mpirun(const Job& job, const std::string& options, double ranks = 0)
{
    std::string command = "mpirun " + options + (options.empty() ? "" : " ") + format("-workshare -n %.0f ", ranks > 0 ? ranks : job.ranks)
                          + (job.program ? quoted(job.program->given) : "./app");
    for (const std::string& word : job.arguments)
        command += " " + quoted(word);
    return command;
}

// With Workshare's libraries before others.
std::string mpirun_with_libraries(const Job& job) { return "LD_LIBRARY_PATH=" + quoted(lib_folder(job)) + " " + mpirun(job, ""); }

// ---- cores

void ranks_and_cores(const Job& job, const Node& n, Findings& out)
{
    const double cores = double(n.cores().size()), nodes = double(doctor::nodes(job).size());
    const std::string seen = plural(n.count, "rank") + ", " + plural(cores, "core") + format(" (CPUs %s)", cpu_list(n.cpus()).c_str());
    const int tenants = n.count + n.workers();
    if (tenants > most_tenants)
        out.problem(plural(n.count, "rank") + " and " + plural(n.workers(), "worker"), format("a node can have %d: with more, the job runs without stealing", most_tenants),
                    mpirun(job, "", nodes * std::min(cores, double(most_tenants))));
    else if (n.count > cores && n.fits())
        out.warning(seen, "the ranks may use fewer cores than there are, and take turns on them", mpirun(job, "-bind-to core"));
    else if (n.count > cores)
        out.warning(seen, "with more ranks than cores a waiting rank's core is not idle: others compute on it, and it is lent only while one is",
                    mpirun(job, "", nodes * cores) + (nodes > 1 ? "     # " + plural(cores, "rank") + " on each node" : ""));
    else if (tenants == 1)
        out.warning(seen, job.ranks > 1 ? "a rank that is alone on its node has nobody to lend a core to, or to borrow one from" : "one rank has nobody to lend a core to, or to borrow one from",
                    cores > 1 ? mpirun(job, job.ranks > 1 ? format("-ppn %.0f", cores) : "", nodes * cores) : "nproc     # a node with more cores is needed");
    else
        out.ok(seen);
}

void same_core(const Job& job, const Node& n, Findings& out)
{
    std::map<int, std::vector<int>> bound; // core -> ranks that may use nothing else
    bool shared = false;
    for (const Machine* m : n.ranks) {
        std::set<int> cores;
        for (int cpu : m->cpus)
            cores.insert(n.core(cpu));
        if (cores.size() == 1 && !n.planned)
            shared |= (bound[*cores.begin()].push_back(m->rank), bound[*cores.begin()].size() > 1);
    }
    if (n.planned)
        return out.skip("no ranks yet");
    if (!shared)
        return out.ok("no core has two ranks bound to it");
    std::string who;
    for (const auto& [core, ranks] : bound)
        if (ranks.size() > 1 && who.size() < 200) {
            std::string numbers;
            for (int r : ranks)
                numbers += (numbers.empty() ? "" : ", ") + std::to_string(r);
            who += (who.empty() ? "ranks " : "; ranks ") + numbers + " on core " + (core >= 100000 ? std::to_string(core - 100000) : std::to_string(core));
        }
    out.problem(who, "they take turns on one core while others may be idle, and each waits for the other's turn to end",
                n.fits() ? mpirun(job, "-bind-to core") : mpirun(job, "", double(nodes(job).size()) * n.first().cores));
}

void binding(const Job& job, const Node& n, Findings& out)
{
    if (n.planned)
        return out.skip("not looked at without ranks: run it under mpirun");
    std::string where;
    int unbound = 0;
    for (const Machine* m : n.ranks) {
        std::set<int> cores;
        for (int cpu : m->cpus)
            cores.insert(n.core(cpu));
        unbound += cores.size() > 1 && cores.size() == n.cores().size() && n.count > 1;
        if (where.size() < 160)
            where += (where.empty() ? "" : ", ") + format("rank %d: CPUs %s", m->rank, cpu_list(m->cpus).c_str());
        else if (where.substr(where.size() - 3) != "...")
            where += ", ...";
    }
    if (unbound > 0 && n.fits())
        out.note(where, format("%d of %d ranks may run on any core: the kernel moves them, also to the same one for a while", unbound, n.count),
                 mpirun(job, "-bind-to core"));
    else
        out.ok(where);
}

void quota(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.quota == no_limit)
        return out.ok("the cgroup does not limit the processor's time");
    const std::string seen = format("%s gives %.2f CPUs to %s", m.cgroup_quota.c_str(), m.quota, plural(n.count, "rank").c_str());
    if (m.quota + 0.01 < n.count + n.workers())
        out.problem(seen, "who has used up its share stands still until the period is over (usually 100 ms), whatever it was doing",
                    mpirun(job, "", std::max(1, int(m.quota)))
                        + format("     # or give it more: docker update --cpus %d CONTAINER, in a batch job ask for %d CPUs", n.count + n.workers(), n.count + n.workers()));
    else
        out.ok(seen);
}

void hidden_cpus(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const auto mine = n.cpus();
    if (m.online.empty())
        return out.skip("the machine does not tell its CPUs");
    if (mine.size() >= m.online.size())
        return out.ok(format("all CPUs of the machine, %s, may be used", cpu_list(m.online).c_str()));
    out.note(format("of CPUs %s the ranks may use %s", cpu_list(m.online).c_str(), cpu_list(mine).c_str()),
             "the affinity mask or the cpuset that the job was started in", "taskset -cp $$     # what the shell may use; in a batch job ask for whole nodes");
}

void each_others_cores(const Job&, const Node& n, Findings& out)
{
    if (n.planned)
        return out.skip("no ranks yet");
    for (const Machine* a : n.ranks)
        for (const Machine* b : n.ranks) {
            if (a->cpuset.empty() || b->cpus.empty())
                continue;
            const bool any = std::any_of(b->cpus.begin(), b->cpus.end(),
                                         [&](int cpu) { return std::count(a->cpuset.begin(), a->cpuset.end(), cpu) > 0; });
            if (!any)
                return out.problem(format("rank %d may never use CPUs %s, where rank %d runs: its cpuset is %s", a->rank,
                                          cpu_list(b->cpus).c_str(), b->rank, cpu_list(a->cpuset).c_str()),
                                   "the ranks are in different cpusets, so that threads of the one cannot run on the other's core",
                                   "start all ranks of a node in one cpuset: one container or one batch step for the node, not one for each rank");
        }
    out.ok("every rank may use every other's cores");
}

void topology(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (!m.hwloc_error.empty())
        return out.warning(m.hwloc_error, "hwloc does not see how the cores are arranged, so waiting ranks do not know who is near",
                           "lstopo     # what hwloc sees; is /sys mounted?");
    const std::string seen = plural(m.packages, "package") + ", " + plural(m.numa_nodes, "NUMA node") + ", " + plural(m.caches, "last-level cache")
                             + ", " + plural(m.cores, "core") + ", " + plural(m.threads, "hardware thread");
    const double cpus = double(n.cpus().size()), cores = double(n.cores().size());
    if (cpus > cores && n.count > cores)
        out.note(seen, format("ranks share cores through their hardware threads: %d ranks, %.0f cores", n.count, cores),
                 mpirun(job, "-bind-to core", double(nodes(job).size()) * cores));
    else
        out.ok(seen);
}

// ---- memory

constexpr double ucx_bytes = 4.3e6; // of /dev/shm, a rank; measured with UCX 1.13

void shared_memory(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.shm_bytes == unknown)
        return out.problem("there is no /dev/shm", "ranks of a node share memory there", "mount -t tmpfs tmpfs /dev/shm");
    const unsigned ranks = unsigned(n.count);
    // libws wants twice the window's size to be free.
    const double window = 2 * double(ws::Window::bytes(ranks, ranks + unsigned(n.workers()))), ucx = ucx_bytes * ranks, need = window + ucx;
    const std::string seen = format("/dev/shm has %s, of them %s free; %s need about %s (%s for the window, %s for UCX)", bytes(m.shm_bytes).c_str(),
                                    bytes(m.shm_free).c_str(), plural(ranks, "rank").c_str(), bytes(need).c_str(), bytes(window).c_str(),
                                    bytes(ucx).c_str());
    const std::string fix = format("mount -o remount,size=%.0fM /dev/shm     # docker run --shm-size=%.0fm", std::max(64.0, need / 524288), std::max(64.0, need / 524288));
    if (m.shm_free < window)
        out.problem(seen, job.program && job.program->critical ? "the window that ranks share does not fit: as the program has `ws critical`, the job ends with a message" : "the window that ranks share does not fit: the job runs without stealing", fix);
    else if (m.shm_free < need)
        out.problem(seen, "MPI itself may find no room for its queues: MPI_Init fails, or a rank dies of a bus error", fix);
    else if (m.shm_free < 0.1 * m.shm_bytes && m.shm_bytes - m.shm_free > need)
        out.note(seen, "most of it is in use, perhaps by files that programs have left there", "ls -l /dev/shm");
    else
        out.ok(seen);
}

void memory(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const double free = m.memory_max == no_limit ? m.memory_available : std::max(0.0, m.memory_max - std::max(0.0, m.memory_now));
    const double need = n.count * 50e6;
    if (free == unknown)
        return out.skip("the machine does not tell its memory");
    const std::string seen = (m.memory_max == no_limit ? std::string("the machine") : m.cgroup_memory) + " has " + bytes(free) + " left for " + plural(n.count, "rank");
    if (free < need)
        out.problem(seen, "MPI and libws alone take about 50 MB a rank; a process that gets more than there is is killed",
                    m.memory_max == no_limit ? "free -h     # what uses it" : "cat " + quoted(m.cgroup_memory) + "     # docker update --memory SIZE CONTAINER, or in a batch job ask for more memory");
    else if (m.address_space != no_limit) {
        const double stacks = (n.count + n.workers() - 1) * (m.stack == no_limit ? 2097152.0 : m.stack), addresses = stacks + 50e6;
        const std::string limited = "ulimit -v is " + bytes(m.address_space) + "; MPI, libws and the stacks of the guests take up to " + bytes(addresses) + " in each rank, besides the program";
        if (m.address_space < addresses)
            out.warning(limited, "guests are not made where there is no room for their stacks", "ulimit -v unlimited");
        else
            out.note(limited, "what the program allocates comes on top", "ulimit -v unlimited");
    } else
        out.ok(seen);
}

void stack(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const std::string seen = "ulimit -s is " + (m.stack == no_limit ? std::string("unlimited") : bytes(m.stack));
    if (m.stack != no_limit && m.stack < 1 << 20)
        out.problem(seen, "loop bodies run on stacks of that size; those of Fortran have their arrays there", "ulimit -s unlimited");
    else
        out.ok(seen);
}

// ---- threads and files

double guests(const Node& n)
{
    // Each rank can have one on each core that is not its own.
    const double cores = n.count + n.workers();
    return n.count * (cores - 1) + n.workers();
}

void user_limit(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const double need = guests(n) + 3.0 * n.count; // UCX has threads, too
    const std::string seen = "ulimit -u is " + of_limit(m.nproc) + format("; the user has %.0f threads, and the job makes up to %.0f", std::max(0.0, m.user_threads), need);
    if (m.nproc != no_limit && m.user_threads + need > m.nproc && !m.may_exceed_nproc)
        out.problem(seen, "the system refuses threads beyond that: waiting ranks have no guest to lend their core to", "ulimit -u unlimited     # or as root, in /etc/security/limits.conf");
    else
        out.ok(seen + (m.may_exceed_nproc && m.nproc != no_limit ? " (not enforced for root)" : ""));
}

void cgroup_threads(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.pids_max == no_limit)
        return out.ok("the cgroup does not limit threads");
    const double need = guests(n) + 3.0 * n.count + (n.planned ? n.count : 0);
    const std::string seen = format("%s is %.0f, %.0f are there, and the job makes up to %.0f more", m.cgroup_pids.c_str(), m.pids_max, std::max(0.0, m.pids_now), need);
    if (std::max(0.0, m.pids_now) + need > m.pids_max)
        out.problem(seen, "the system refuses threads beyond that: waiting ranks have no guest to lend their core to",
                    format("docker update --pids-limit %.0f CONTAINER     # systemd: TasksMax=", 2 * (m.pids_now + need)));
    else
        out.ok(seen);
}

// mpirun's process on the node has 4 for each rank, and 9; a rank has less than 30, and the program's.
void open_files(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const double need = std::max(64.0, 4.0 * n.count + 32);
    const std::string seen = "ulimit -n is " + of_limit(m.open_files) + format("; mpirun and %s need up to %.0f", plural(n.count, "rank").c_str(), need);
    if (m.open_files != no_limit && m.open_files < need)
        out.problem(seen, "mpirun fails with `Too many open files`, or MPI_Init does", format("ulimit -n %.0f", std::max(1024.0, need)));
    else
        out.ok(seen);
}

double number(const Machine& m, const char* name, double otherwise)
{
    const auto known = m.environment.find(name);
    return known == m.environment.end() ? otherwise : std::atof(known->second.c_str());
}

void openmp(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (job.program && job.program->error.empty() && !job.program->openmp)
        return out.ok("the program has no OpenMP threads");
    const bool given = m.environment.count("OMP_NUM_THREADS");
    if (!runnable(job) && !given)
        return out.skip("no program to look at");
    const double cores = double(n.cores().size());
    const double threads = number(m, "OMP_NUM_THREADS", double(m.cpus.size())), all = threads * n.count;
    const std::string seen = given ? format("OMP_NUM_THREADS=%.0f in %d ranks, %.0f cores", threads, n.count, cores)
                                   : format("OMP_NUM_THREADS is not set: up to %.0f threads in each of %d ranks, %.0f cores", threads, n.count, cores);
    if (all > cores)
        out.warning(seen, "OpenMP's threads compete for cores, and a waiting rank's core is taken by others' threads",
                    format("OMP_NUM_THREADS=%d ", std::max(1, int(cores) / std::max(1, n.count))) + mpirun(job, ""));
    else if (n.workers() > 0 && threads > 1 && all + n.workers() > cores)
        out.note(seen + "; " + plural(n.workers(), "worker"), "workers sleep while OpenMP's threads compute, so that they are of use between parallel regions only",
                 "leave -workshare-workers out, or let OpenMP have fewer threads");
    else
        out.ok(seen);
}

// ---- clocks

void counter(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (!m.x86)
        return out.ok("the architecture has a counter that all cores share");
    if (m.constant_tsc && m.nonstop_tsc)
        return out.ok("the time-stamp counter is invariant (constant_tsc, nonstop_tsc)");
    out.warning(std::string("/proc/cpuinfo lacks ") + (m.constant_tsc ? "" : "constant_tsc ") + (m.nonstop_tsc ? "" : "nonstop_tsc"),
                "the counter by which chunks are sized and timed changes its speed, or stops in an idle core: chunks are too long or too short, and times in reports wrong",
                "let the hypervisor pass it on (qemu: -cpu host,+invtsc); old processors do not have it");
}

void clocksource(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.clocksource.empty())
        return out.skip("the kernel does not tell its clock source");
    for (const char* slow : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"})
        if (m.clocksource == slow)
            return out.warning("the kernel's clock is " + m.clocksource, "the kernel does not trust the time-stamp counter, so cores may disagree; and programs that ask for the time wait a microsecond",
                               "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource     # as root; dmesg | grep -i tsc tells why it is not");
    out.ok("the kernel's clock is " + m.clocksource);
}

void skew(const Job&, const Node& n, Findings& out)
{
    double most = unknown;
    for (const Machine* m : n.ranks)
        most = std::max(most, m->skew_us);
    if (most == unknown)
        return out.skip("not measured");
    const std::string seen = format("the counters of cores differ by %s", most < 0.1 ? "less than 0.1 us" : format("at least %.1f us", most).c_str());
    if (most > 5)
        out.warning(seen, "times that begin on one core and end on another are wrong: chunk sizes, latencies, the timeline",
                    "update the firmware, or let the hypervisor synchronize the counters; the results of programs are right");
    else
        out.ok(seen);
}

// ---- the machine at work

void governor(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.governors.empty())
        return out.skip("the machine does not tell how it sets its frequency");
    std::string all, slow;
    for (const auto& [name, count] : m.governors) {
        all += (all.empty() ? "" : ", ") + name + " on " + plural(count, "CPU");
        if (name == "powersave" || name == "conservative" || name == "userspace")
            slow = name;
    }
    if (!slow.empty())
        out.note(all, "cores become fast only after a while of work, so that short loops, and cores that are lent for short, run slowly (with intel_pstate, powersave does less harm)",
                 "cpupower frequency-set -g performance     # as root");
    else
        out.ok(all);
}

void load(const Job&, const Node& n, Findings& out)
{
    double busy = unknown, stolen = unknown; // what each sees while it sleeps; of them the least: others may still be measuring
    double cpus = 1;
    for (const Machine* m : n.ranks)
        if (m->busy != unknown) {
            busy = busy == unknown ? m->busy / std::max<size_t>(1, m->cpus.size()) : std::min(busy, m->busy / std::max<size_t>(1, m->cpus.size()));
            stolen = std::max(stolen, m->stolen / std::max<size_t>(1, m->cpus.size()));
        }
    if (busy == unknown)
        return out.skip("not measured");
    cpus = double(n.cpus().size());
    const std::string seen = format("others use %.0f %% of the CPUs' time (%.1f of %.0f CPUs)", 100 * busy, busy * cpus, cpus)
                             + (stolen > 0.01 ? format(", and the hypervisor takes %.0f %%", 100 * stolen) : "");
    if (stolen > 0.05)
        out.warning(seen, "the virtual machine does not get its processors whole: a rank that the hypervisor stops holds up all others", "ask for a machine of your own, or measure at another time");
    else if (busy > 0.2)
        out.warning(seen, "other programs compute on the same cores: ranks stop while those run, and waiting ranks have less to lend", "top     # shows who it is");
    else if (busy > 0.05)
        out.note(seen, "other programs compute now and then", "top     # shows who it is");
    else
        out.ok(seen);
}

void kernel(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.numa_balancing > 0 && m.numa_nodes > 1)
        return out.note(format("kernel %s, kernel.numa_balancing=%d", m.kernel.c_str(), m.numa_balancing),
                        "the kernel unmaps pages to see who uses them: a guest on another NUMA node makes it move a loop's memory to and fro", "sysctl kernel.numa_balancing=0     # as root");
    out.ok("kernel " + (m.kernel.empty() ? "unknown" : m.kernel) + ": no setting is in the way (libws needs neither ptrace nor yama's leave)");
}

void namespaces(const Job&, const Node& n, Findings& out)
{
    if (n.planned)
        return out.skip("no ranks yet");
    std::set<std::string> all;
    for (const Machine* m : n.ranks)
        all.insert(m->pid_namespace);
    if (all.size() > 1)
        out.problem(format("%zu PID namespaces among %d ranks", all.size(), n.count),
                    "ranks in containers of their own do not see each other's processes: whether a helper still lives cannot be told, and ws-top finds no job",
                    "start one container for the node and all its ranks in it, or give containers the host's processes (docker run --pid=host --ipc=host)");
    else
        out.ok("all ranks see each other's processes");
}

// ---- the program

void program_file(const Job& job, Findings& out)
{
    if (!job.program)
        return out.skip("no program was named");
    const Program& p = *job.program;
    if (p.error.empty())
        return out.ok(p.path + " is a program for this machine");
    std::string cause = "mpirun could not start it", fix = p.error_fix;
    if (fix == "script")
        return out.warning(p.given + ": " + p.error, "what the script starts cannot be seen without running it", "ws-doctor PROGRAM     # the program that the script starts");
    const size_t slash = p.given.rfind('/');
    const auto has = [&](const char* what) { return p.error.find(what) != std::string::npos; };
    if (has("another machine") || has("damaged") || has("is empty"))
        fix = "mpicc -fws -O3 ... -o " + quoted(p.given) + "     # on this machine, again; or copy it again";
    else if (has("object file"))
        fix = "mpicc -fws " + quoted(p.given) + " -o app";
    else if (fix.empty() && slash == std::string::npos)
        fix = "find . -name " + quoted(p.given) + "     # where is it? Then with its folder, as in ./" + p.given;
    else if (fix.empty())
        fix = "ls -l " + quoted(slash == 0 ? "/" : p.given.substr(0, slash)) + "     # what is there";
    out.problem(p.given + ": " + p.error, cause, fix);
}

void missing_libraries(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    std::string missing;
    bool ours = true;
    for (const Library& library : job.program->libraries)
        if (library.path.empty()) {
            missing += (missing.empty() ? "" : ", ") + library.name;
            ours &= access((lib_folder(job) + "/" + library.name).c_str(), R_OK) == 0;
        }
    if (!missing.empty())
        return out.problem("not found: " + missing, "the loader finds no such file in the program's own path, in LD_LIBRARY_PATH and in the system's folders",
                           ours ? mpirun_with_libraries(job) : "LD_LIBRARY_PATH=FOLDER " + mpirun(job, "") + "     # the folder that has it; on clusters perhaps: module load ...");
    if (!job.program->loader_says.empty())
        return out.problem(job.program->loader_says, "the program was linked where libraries were newer than here", "mpicc -fws -O3 ...     # on this machine, or the oldest of all nodes");
    if (job.program->mpi == "unknown")
        return out.skip("the loader could not be asked");
    out.ok(job.program->loader_asked ? format("%zu found", job.program->libraries.size()) : "the program needs no libraries");
}

void mpi_library(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    const std::string rebuild = quoted(job.machines[0].folder + "/mpicc") + " -fws -O3 ...     # or mpicxx, mpifort beside it";
    if (p.mpi == "ours")
        return out.ok("Workshare's: " + p.mpi_path);
    if (p.mpi == "static-ours")
        return out.ok("Workshare's, linked into the program");
    if (p.mpi == "mpich" && p.mpi_path.empty())
        return out.problem("an MPICH that is not found", "the program cannot start", mpirun_with_libraries(job));
    if (p.mpi == "mpich")
        return out.problem("another MPICH: " + p.mpi_path, "the program runs, but its waits know nothing of Workshare: no core is ever lent. MPICHs are alike for programs, so that ours can take its place",
                           p.fixed_path ? "LD_PRELOAD=" + quoted(lib_folder(job) + "/libmpich.so.12") + " " + mpirun(job, "") + "     # the program has the other's path in it (RPATH)"
                                        : mpirun_with_libraries(job));
    if (p.mpi == "unknown")
        return out.skip("the loader could not be asked");
    if (p.mpi == "openmpi")
        return out.problem("Open MPI: " + p.mpi_path, "it is another MPI with other handles: Workshare's mpirun starts such a program as so many jobs of one rank", rebuild);
    if (p.mpi == "static")
        return out.problem("an MPI that is linked into the program", "a library that is part of the program cannot be replaced by Workshare's", rebuild);
    out.warning("none", "the program calls no MPI library that it is linked with: as ranks of a job its processes know nothing of each other", rebuild);
}

void libws(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    const std::string taken = p.mpi_libws_path.empty() ? p.libws_path : p.mpi_libws_path;
    if (p.mpi == "ours" && p.mpi_libws_path.empty())
        return out.problem("there is no libws.so.1 beside " + p.mpi_path, "MPICH loads it from there: the job runs without stealing", "./setup build     # installs both");
    if (taken.empty())
        return out.ok("the program does not load libws itself");
    if (p.libws_abi != WS_ABI)
        return out.problem(format("%s has version %d of the interface, this is %d", taken.c_str(), p.libws_abi, WS_ABI), "two versions of Workshare are mixed",
                           mpirun_with_libraries(job));
    char one[4096], other[4096];
    if (!p.libws_path.empty() && !p.mpi_libws_path.empty() && realpath(p.libws_path.c_str(), one) && realpath(p.mpi_libws_path.c_str(), other) && std::string(one) != other)
        return out.warning(p.libws_path + " and " + p.mpi_libws_path, "the program would load two libws: its loops would go to the one, and MPICH to the other, so that nothing is shared",
                           mpirun_with_libraries(job));
    out.ok(taken + format(", version %d of the interface", p.libws_abi));
}

void ws_loops(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    std::string names;
    size_t shown = 0;
    std::set<std::string> distinct;
    for (const Loop& loop : p.loops)
        distinct.insert(loop.name);
    for (const std::string& name : distinct)
        if (shown++ < 8)
            names += (names.empty() ? ": " : ", ") + name;
    if (shown > 8)
        names += format(" and %zu more", shown - 8);
    if (!p.loops.empty())
        return out.ok(plural(double(distinct.size()), "ws loop") + names + (p.calls_api ? "; and those of the C and C++ interface" : ""));
    if (p.calls_api)
        return out.ok("loops of the C and C++ interface; they have names when they run");
    if (p.calls_unseen)
        return out.note("loops that no list names", "the program was compiled by a Workshare older than this, or its list was stripped", "mpicc -fws -O3 ...     # again");
    out.warning("none in the program and the libraries that it is linked with",
                "only loops with a directive, or of the C and C++ interface, are shared: this program's ranks can lend their cores, but nobody has work for them (libraries that it loads at run time are not seen)",
                "mpicc -fws -O3 ...     # after `#pragma ws for` was put before the loops that take long; OpenMP's loops as they stand: mpicc -fws=openmp");
}

void schedules(const Job& job, Findings& out)
{
    if (!runnable(job) || job.program->loops.empty())
        return out.skip("no loops to look at");
    std::set<std::string> coarse;
    for (const Loop& loop : job.program->loops)
        if (loop.coarse)
            coarse.insert(loop.name);
    if (coarse.empty())
        return out.ok("no schedule is in the way");
    std::string names;
    size_t shown = 0;
    for (const std::string& name : coarse)
        if (shown++ < 5)
            names += (names.empty() ? "" : ", ") + name;
    out.note("schedule(static) without a chunk size: " + names + (shown > 5 ? format(" and %zu more", shown - 5) : ""),
             "such a loop has as many chunks as the node has ranks: the last ones of a long loop cannot be divided when others begin to wait",
             "#pragma ws for     // without the clause, or with: steal_schedule(dynamic)");
}

void polls(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    const Program& p = *job.program;
    const auto set = job.machines[0].environment.find("WS_POLL");
    if (p.polls.empty())
        return out.ok("the program calls no MPI_Test or MPI_Iprobe");
    std::string names;
    for (const std::string& name : p.polls)
        names += (names.empty() ? "" : ", ") + name;
    if (set != job.machines[0].environment.end() && set->second == "1")
        return out.ok(names + " help, too (-workshare-poll)");
    out.note("the program calls " + names, "they return at once, so that a rank which waits by calling them again and again lends its core to nobody; calls that wait, such as MPI_Wait, do",
             mpirun(job, "-workshare-poll"));
}

void loops_abi(const Job& job, Findings& out)
{
    if (!runnable(job) || job.program->abis.empty())
        return out.skip("no loops to look at");
    for (int abi : job.program->abis)
        if (abi != WS_ABI)
            return out.problem(format("loops compiled for version %d of the interface, libws has %d", abi, WS_ABI), "the program ends at its first loop, with a message", "mpicc -fws -O3 ...     # again");
    out.ok(format("all loops are compiled for version %d of the interface", WS_ABI));
}

void thread_level(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    if (!job.program->threads)
        return out.ok("the program starts no threads of its own");
    const Program& p = *job.program;
    if (p.init && !p.init_thread)
        return out.note("the program starts threads and calls MPI_Init, not MPI_Init_thread",
                        "loops of other threads than the one that called it are not shared, and `ws atomic` does not protect from the program's own threads",
                        "MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);     // if threads run ws loops, or change the same data; FUNNELED if they only compute");
    out.ok(p.init_thread ? "the program asks MPI_Init_thread for a level of its own" : "the program's start of MPI is not seen");
}

void sees_openmp(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    if (!job.program->openmp)
        return out.ok("the program has no OpenMP threads");
    const Machine& m = job.machines[0];
    const auto is = [&](const char* name, const char* value) {
        const auto known = m.environment.find(name);
        return known != m.environment.end() && known->second == value;
    };
    std::string why;
    if (job.program->openmp_first)
        why = "libgomp goes before libws in the program";
    else if (job.program->libws_path.empty())
        why = "the program is not linked with libws";
    else if (is("OMP_TOOL", "disabled"))
        why = "OMP_TOOL=disabled";
    else if (is("OMP_WAIT_POLICY", "active"))
        why = "OMP_WAIT_POLICY=active";
    if (why.empty())
        return out.ok("libws sees the program's OpenMP regions");
    const bool wanted = m.workers != 0;
    if (wanted)
        out.warning(why, "libws cannot see when OpenMP's threads compute, so that these ranks get no workers", job.program->openmp_first ? "mpicc -fws -fopenmp ...     # without -lgomp of your own" : job.program->libws_path.empty() ? "mpicc -fws -fopenmp ...     # linked with -fws, too" : "unset OMP_TOOL OMP_WAIT_POLICY");
    else
        out.note(why, "with -workshare-workers the ranks would have no workers", "needs no change without workers");
}

void same_program(const Job& job, Findings& out)
{
    if (!runnable(job))
        return out.skip("no program to look at");
    std::string differs;
    for (const std::string& text : job.other_programs)
        differs += (differs.empty() ? "" : "; ") + text;
    std::string more;
    for (const std::string& name : job.more_programs)
        more += (more.empty() ? "" : ", ") + name;
    if (differs.empty() && !more.empty())
        return out.note("other ranks are to run " + more, "only the first rank's program was looked at", "ws-doctor " + quoted(job.more_programs[0]));
    if (!differs.empty())
        out.warning(differs, "nodes would run different files under the same names", "install the program and Workshare in a folder that all nodes share");
    else
        out.ok("all nodes take the same files");
}

// ---- the environment

void options(const Job& job, Findings& out)
{
    for (const Machine& m : job.machines)
        if (!m.options_error.empty())
            return out.problem(m.options_error, "a -workshare job ends at its start with this message", "unset " + m.options_error.substr(0, m.options_error.find_first_of("= ")));
    out.ok("no WS_ variable has a wrong value");
}

// The known variable that a misspelt one is nearest to, by the number of letters to change.
std::string nearest(const std::string& wrong)
{
    static const char* const known[] = {"WS_ENABLE", "WS_QUIET", "WS_QUANTUM", "WS_SPIN", "WS_LINGER", "WS_CHUNK_TIME", "WS_VICTIM", "WS_WORKERS",
                                        "WS_POLL", "WS_SCHEDULE", "WS_CORES", "WS_STEAL_SCHEDULE", "WS_STATS_FILE", "WS_REPORT", "WS_REPORT_FILE",
                                        "WS_TRACE", "WS_TRACE_KEEP", "WS_TRACE_BUFFER"};
    std::string best;
    size_t least = 4;
    for (const std::string name : known) {
        std::vector<size_t> row(name.size() + 1);
        for (size_t j = 0; j <= name.size(); j++)
            row[j] = j;
        for (size_t i = 1; i <= wrong.size(); i++) {
            size_t diagonal = row[0];
            row[0] = i;
            for (size_t j = 1; j <= name.size(); j++) {
                const size_t above = row[j];
                row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (wrong[i - 1] != name[j - 1])});
                diagonal = above;
            }
        }
        if (row.back() < least) {
            least = row.back();
            best = name;
        }
    }
    return best;
}

void misspelt(const Job& job, Findings& out)
{
    for (const Machine& m : job.machines)
        if (!m.options_unknown.empty()) {
            std::string unset, set, meanings;
            std::istringstream names(m.options_unknown);
            for (std::string name; std::getline(names >> std::ws, name, ',');) {
                const std::string meant = nearest(name);
                const auto value = m.environment.find(name);
                unset += " " + name;
                if (meant.empty() || value == m.environment.end())
                    continue;
                meanings += (meanings.empty() ? "; perhaps " : ", ") + meant;
                set += " " + meant + "=" + quoted(value->second);
            }
            return out.warning(m.options_unknown, "libws knows no such variable, and takes no notice" + meanings, "unset" + unset + (set.empty() ? "" : "; export" + set));
        }
    out.ok("all WS_ variables are known");
}

void contradictions(const Job& job, Findings& out)
{
    const Machine& m = job.machines[0];
    const auto has = [&](const char* name) { return m.environment.count(name) > 0; };
    const auto on = [&](const char* name) { return has(name) && m.environment.at(name) == "1"; };
    if (m.options_error.empty())
        for (const char* name : {"WS_STEAL_ALL", "WS_CHAOS"})
            if (has(name) && m.environment.at(name) != "0")
                return out.warning(name + ("=" + m.environment.at(name)), "it is for tests, and makes programs slow on purpose", std::string("unset ") + name);
    if (has("WS_CORES") && number(m, "WS_CORES", 0) > double(m.cpus.size()) && !job.planned)
        return out.warning("WS_CORES=" + m.environment.at("WS_CORES") + " on " + plural(double(nodes(job)[0].cpus().size()), "CPU"),
                           "the node is taken to have cores that it lacks: right only for programs whose iterations sleep", "unset WS_CORES");
    if (m.workers != 0 && !job.planned && nodes(job)[0].count + nodes(job)[0].workers() > int(nodes(job)[0].cores().size()))
        return out.warning(plural(nodes(job)[0].workers(), "worker") + " and " + plural(nodes(job)[0].count, "rank") + " on " + plural(double(nodes(job)[0].cores().size()), "core"),
                           "workers are for spare cores, and there are none", mpirun(job, "") + "     # without -workshare-workers; and unset WS_WORKERS");
    if (!job.planned && !has("WS_ENABLE") && (has("WS_REPORT") || has("WS_TRACE") || has("WS_STATS_FILE")))
        return out.note("WS_ variables without -workshare", "nothing is counted, so nothing is written", mpirun(job, ""));
    if (has("WS_ENABLE") && job.planned)
        return out.note("WS_ENABLE is set in the environment", "mpirun sets it for -workshare; set by hand it also holds for jobs without", "unset WS_ENABLE");
    if (on("WS_QUIET") && on("WS_REPORT"))
        return out.note("WS_QUIET=1 and WS_REPORT=1", "the report is printed, the verdict above it is not", "unset WS_QUIET");
    out.ok("no variables that contradict each other");
}

void enabled(const Job& job, Findings& out)
{
    const Machine& m = job.machines[0];
    const auto known = m.environment.find("WS_ENABLE");
    if (job.planned)
        out.skip("no job yet");
    else if (known == m.environment.end() || known->second != "1")
        out.warning("mpirun was called without -workshare", "the program's loops run as they stand: nothing is shared", mpirun(job, ""));
    else
        out.ok("the job was started with -workshare");
}

// ---- the job

void mpi_starts(const Job& job, Findings& out)
{
    const Machine& m = job.machines[0];
    if (job.planned && m.launcher.empty())
        return out.skip("not tried without mpirun");
    if (!m.launcher.empty())
        return out.problem("started by " + m.launcher, "its processes cannot make one job of Workshare's MPI: each would be a job of one rank",
                           quoted(m.folder + "/") + mpirun(job, "", m.size));
    for (const Machine& m : job.machines)
        if (!m.mpi_error.empty())
            return out.problem(m.mpi_error, "Workshare's MPI library does not start here, so nothing can be said of other ranks either",
                               "mpirun -n 1 hostname     # does mpirun work at all? Then see the other findings, WS201 and WS304 first");
    out.ok(plural(job.ranks, "rank") + " on " + plural(double(nodes(job).size()), "node") + " started MPI and exchanged messages");
}

void attached(const Job& job, const Node& n, Findings& out)
{
    if (n.planned || !n.first().environment.count("WS_ENABLE"))
        return out.skip("not tried without mpirun -workshare");
    if (!n.first().mpi_error.empty())
        return out.skip("not tried, as MPI did not start");
    static const char* const why[] = {"", "the shared window could not be allocated", "/dev/shm is too small for the shared window", "the node has more ranks than Workshare can serve"};
    for (const Machine* m : n.ranks) {
        if (!m->libws_loaded)
            return out.problem(format("rank %d did not load libws", m->rank), "MPICH did not find libws.so.1 or could not load it", "ldd " + lib_folder(job) + "/libws.so.1");
        if (m->inactive)
            return out.problem(format("rank %d runs without stealing: %s", m->rank, m->inactive > 0 && m->inactive < 4 ? why[m->inactive] : "?"), "libws gave up at the start",
                               m->inactive == 3 ? "start fewer ranks on the node" : "see WS201");
    }
    out.ok(plural(n.count, "rank") + " attached to libws");
}

void same_window(const Job& job, const Node& n, Findings& out)
{
    if (n.planned || !n.first().mpi_error.empty())
        return out.skip(n.planned ? "not tried without mpirun" : "not tried, as MPI did not start");
    const Machine& m = n.first();
    if (m.node_ranks == n.count || m.node_ranks <= 0)
        return out.ok(plural(n.count, "rank") + " that can share memory");
    std::string set;
    for (const char* name : {"MPIR_CVAR_NUM_CLIQUES", "MPIR_CVAR_NOLOCAL", "MPIR_CVAR_ODD_EVEN_CLIQUES"})
        if (m.environment.count(name))
            set += std::string(" ") + name;
    out.problem(format("rank %d can share memory with %d of %d ranks", m.rank, m.node_ranks, n.count),
                set.empty() ? "MPI takes them to be on different nodes: several names for this node in the list of hosts, or containers with names of their own"
                            : "MPI was told to take them as if on different nodes; cores are lent only within one",
                set.empty() ? mpirun(job, "-hosts " + quoted(n.host)) : "unset" + set);
}

// ---- the table

template <void (*check)(const Job&, const Node&, Findings&)>
void on_nodes(const Job& job, std::vector<Finding>& all, const char* number, const char* title)
{
    for (const Node& node : nodes(job)) {
        Findings findings(all, number, title);
        findings.on(node);
        check(job, node, findings);
    }
}
template <void (*check)(const Job&, Findings&)>
void on_job(const Job& job, std::vector<Finding>& all, const char* number, const char* title)
{
    Findings findings(all, number, title);
    check(job, findings);
}

} // namespace

const char* name(Level level)
{
    const char* const names[] = {"skipped", "ok", "note", "warning", "problem"};
    return names[int(level)];
}

// The numbers are for ever: a check that goes leaves a gap.
const std::vector<Check>& checks()
{
    static const std::vector<Check> all = {
        {"WS101", "ranks and cores", "How many ranks a node has for how many cores that they may use. A rank lends its core while it waits, which is of use if nobody else computes on it.", on_nodes<ranks_and_cores>},
        {"WS102", "two ranks on one core", "Whether ranks are bound to the same core, and so take turns.", on_nodes<same_core>},
        {"WS103", "binding", "Which CPUs each rank may use. Bound ranks keep their caches, and waiting ones know whom they are near.", on_nodes<binding>},
        {"WS104", "processor quota", "What the cgroup (container, batch job) gives of the processors' time. A rank without time left stops, and all that wait for it.", on_nodes<quota>},
        {"WS105", "CPUs left out", "Whether the machine has CPUs that the job may not use, by its affinity or its cpuset.", on_nodes<hidden_cpus>},
        {"WS106", "cores of other ranks", "Whether a thread of one rank may run on the core of another: what lending is.", on_nodes<each_others_cores>},
        {"WS107", "topology", "What hwloc sees: packages, NUMA nodes, caches, cores, hardware threads.", on_nodes<topology>},
        {"WS201", "/dev/shm", "Whether the memory that ranks share has room for libws's window and UCX's queues.", on_nodes<shared_memory>},
        {"WS202", "memory", "What is left of the machine's or the cgroup's memory, and limits on the address space.", on_nodes<memory>},
        {"WS203", "stack", "The stack that loop bodies get: guests have as much as the main thread.", on_nodes<stack>},
        {"WS301", "threads of the user", "Whether RLIMIT_NPROC allows a guest in each rank for each core of the others.", on_nodes<user_limit>},
        {"WS302", "threads of the cgroup", "The same for pids.max of the cgroup.", on_nodes<cgroup_threads>},
        {"WS303", "OpenMP threads", "OMP_NUM_THREADS times ranks, and workers, against cores.", on_nodes<openmp>},
        {"WS304", "open files", "Whether RLIMIT_NOFILE allows what mpirun and MPI open.", on_nodes<open_files>},
        {"WS401", "time-stamp counter", "Whether the counter by which libws times chunks has one rate at all times.", on_nodes<counter>},
        {"WS402", "clock source", "Which clock the kernel trusts.", on_nodes<clocksource>},
        {"WS403", "clocks of cores", "How far the cores' counters are apart, measured by messages between threads on them.", on_nodes<skew>},
        {"WS501", "frequency", "How the cores' frequency is set.", on_nodes<governor>},
        {"WS502", "other load", "What others, and the hypervisor, take of the CPUs while ws-doctor sleeps.", on_nodes<load>},
        {"WS503", "kernel settings", "Settings of the kernel that make lent cores slow.", on_nodes<kernel>},
        {"WS504", "PID namespaces", "Whether the ranks of a node see each other's processes.", on_nodes<namespaces>},
        {"WS601", "program", "Whether the program is there, and one for this machine.", on_job<program_file>},
        {"WS602", "libraries", "Whether the loader finds all of the program's libraries. The loader is asked, the program is not run.", on_job<missing_libraries>},
        {"WS603", "MPI library", "Which MPI the program would load: only Workshare's lends cores.", on_job<mpi_library>},
        {"WS604", "libws", "Which libws it would load, and whether its interface is this version's.", on_job<libws>},
        {"WS605", "ws loops", "The loops of the program and its libraries that can be shared, by name.", on_job<ws_loops>},
        {"WS606", "compiled for", "The version of the interface that loops were compiled for.", on_job<loops_abi>},
        {"WS607", "thread level", "Whether a program with threads asks MPI for what its loops need.", on_job<thread_level>},
        {"WS608", "OpenMP regions", "Whether libws would see when OpenMP's threads compute, as workers need.", on_job<sees_openmp>},
        {"WS609", "same on all nodes", "Whether all nodes would load the same program and MPI library.", on_job<same_program>},
        {"WS610", "schedules", "Whether a loop's schedule clause leaves waiting ranks little to take.", on_job<schedules>},
        {"WS611", "polling", "Whether the program may wait by calls that return at once, such as MPI_Test: they help only if asked to.", on_job<polls>},
        {"WS701", "values of WS_ variables", "What libws would refuse at the start.", on_job<options>},
        {"WS702", "names of WS_ variables", "Variables that nothing reads: most likely misspelt.", on_job<misspelt>},
        {"WS703", "contradictions", "Variables that do not go together, or with the machine.", on_job<contradictions>},
        {"WS704", "-workshare", "Whether the job was started with it.", on_job<enabled>},
        {"WS801", "MPI", "Whether the ranks start MPI and can exchange messages.", on_job<mpi_starts>},
        {"WS802", "libws in the job", "Whether each rank of this very job has attached to libws and can steal.", on_nodes<attached>},
        {"WS803", "shared memory of ranks", "Whether MPI takes all ranks of a node to be on one.", on_nodes<same_window>},
    };
    return all;
}

std::vector<Finding> judge(const Job& job, const std::string& only)
{
    std::vector<Finding> all;
    for (const Check& check : checks())
        if (only.empty() || only == check.number)
            check.judge(job, all, check.number, check.title);
    std::vector<Finding> merged;
    for (const Finding& f : all) {
        auto same = std::find_if(merged.begin(), merged.end(), [&](const Finding& other) {
            return other.number == f.number && other.level == f.level && other.measured == f.measured && other.fix == f.fix;
        });
        if (same == merged.end())
            merged.push_back(f);
        else
            same->nodes.insert(same->nodes.end(), f.nodes.begin(), f.nodes.end());
    }
    std::stable_sort(merged.begin(), merged.end(), [](const Finding& a, const Finding& b) { return a.level > b.level; });
    return merged;
}

} // namespace doctor
