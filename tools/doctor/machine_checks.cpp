// SPDX-License-Identifier: MIT
//
// WS1 to WS5: cores, memory, threads, clocks and what else the machine does.
#include "judging.h"
#include "wording.h"

#include "window/window.h"

namespace doctor::check {

// ---- cores

void ranks_and_cores(const Job& job, const Node& n, Findings& out)
{
    const double cores = double(n.cores().size()), nodes = double(doctor::nodes(job).size());
    const std::string seen =
        plural(n.count, "rank") + ", " + plural(cores, "core") + format(" (CPUs %s)", cpu_list(n.cpus()).c_str());
    const int tenants = n.count + n.workers();
    if (tenants > most_tenants)
        out.problem(plural(n.count, "rank") + " and " + plural(n.workers(), "worker"),
                    format("a node can have %d: with more, the job runs without sharing", most_tenants),
                    mpirun(job, "", nodes * std::min(cores, double(most_tenants))));
    else if (n.count > cores && n.fits())
        out.warning(seen, "the ranks may use only some of the cores, and take turns on them",
                    mpirun(job, "-bind-to core"));
    else if (n.count > cores)
        out.warning(seen,
                    "with more ranks than cores, other ranks compute on a waiting rank's core; it is lent only "
                    "while it is idle",
                    mpirun(job, "", nodes * cores) +
                        (nodes > 1 ? "     # " + plural(cores, "rank") + " on each node" : ""));
    else if (tenants == 1)
        out.warning(seen,
                    job.ranks > 1
                        ? "a rank that is alone on its node has nobody to lend a core to, or to borrow one from"
                        : "one rank has nobody to lend a core to, or to borrow one from",
                    cores > 1 ? mpirun(job, job.ranks > 1 ? format("-ppn %.0f", cores) : "", nodes * cores)
                              : "nproc     # a node with more cores is needed");
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
        return out.skip(without_job("no ranks yet"));
    if (!shared)
        return out.ok("no core has two ranks bound to it");
    std::string who;
    for (const auto& [core, ranks] : bound)
        if (ranks.size() > 1 && who.size() < 200) {
            std::string numbers;
            for (int r : ranks)
                numbers += (numbers.empty() ? "" : ", ") + std::to_string(r);
            who += (who.empty() ? "ranks " : "; ranks ") + numbers + " on core " +
                   (core >= 100000 ? std::to_string(core - 100000) : std::to_string(core));
        }
    out.problem(who, "they take turns on one core while others may be idle, and each waits for the other's turn to end",
                n.fits() ? mpirun(job, "-bind-to core") : mpirun(job, "", double(nodes(job).size()) * n.first().cores));
}

void binding(const Job& job, const Node& n, Findings& out)
{
    if (n.planned)
        return out.skip(without_job("not checked without ranks: run ws-doctor under mpirun"));
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
        out.note(where,
                 format("%d of %d ranks may run on any core: the kernel moves them, also to the same one for a while",
                        unbound, n.count),
                 mpirun(job, "-bind-to core"));
    else
        out.ok(where);
}

void quota(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.quota == no_limit)
        return out.ok("the cgroup does not limit the processor's time");
    const std::string seen =
        format("%s gives %.2f CPUs to %s", m.cgroup_quota.c_str(), m.quota, plural(n.count, "rank").c_str());
    if (m.quota + 0.01 < n.count + n.workers())
        out.problem(
            seen,
            "ranks that have used up the quota are stopped until the period ends (usually after 100 ms)",
            mpirun(job, "", std::max(1, int(m.quota))) +
                format("     # or give it more: docker update --cpus %d CONTAINER, in a batch job ask for %d CPUs",
                       n.count + n.workers(), n.count + n.workers()));
    else
        out.ok(seen);
}

void hidden_cpus(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const auto mine = n.cpus();
    if (m.online.empty())
        return out.skip("cannot read which CPUs the machine has");
    if (mine.size() >= m.online.size())
        return out.ok(format("all CPUs of the machine, %s, may be used", cpu_list(m.online).c_str()));
    out.note(format("of CPUs %s the ranks may use %s", cpu_list(m.online).c_str(), cpu_list(mine).c_str()),
             "the affinity mask or the cpuset that the job was started in",
             "taskset -cp $$     # what the shell may use; in a batch job ask for whole nodes");
}

void each_others_cores(const Job&, const Node& n, Findings& out)
{
    if (n.planned)
        return out.skip(without_job("no ranks yet"));
    for (const Machine* a : n.ranks)
        for (const Machine* b : n.ranks) {
            if (a->cpuset.empty() || b->cpus.empty())
                continue;
            const bool any = std::any_of(b->cpus.begin(), b->cpus.end(), [&](int cpu) {
                return std::count(a->cpuset.begin(), a->cpuset.end(), cpu) > 0;
            });
            if (!any)
                return out.problem(
                    format("rank %d may never use CPUs %s, where rank %d runs: its cpuset is %s", a->rank,
                           cpu_list(b->cpus).c_str(), b->rank, cpu_list(a->cpuset).c_str()),
                    "the ranks are in different cpusets, so threads of one cannot run on the other's core",
                    "start all ranks of a node in one cpuset: one container or one batch step for the node, not one "
                    "for each rank");
        }
    out.ok("every rank may use every other's cores");
}

void topology(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (!m.hwloc_error.empty())
        return out.warning(m.hwloc_error,
                           "hwloc does not see how the cores are arranged, so waiting ranks do not know which are near",
                           "lstopo     # what hwloc sees; is /sys mounted?");
    const std::string seen = plural(m.packages, "package") + ", " + plural(m.numa_nodes, "NUMA node") + ", " +
                             plural(m.caches, "last-level cache") + ", " + plural(m.cores, "core") + ", " +
                             plural(m.threads, "hardware thread");
    const double cpus = double(n.cpus().size()), cores = double(n.cores().size());
    if (cpus > cores && n.count > cores)
        out.note(seen, format("ranks share cores through their hardware threads: %d ranks, %.0f cores", n.count, cores),
                 mpirun(job, "-bind-to core", double(nodes(job).size()) * cores));
    else
        out.ok(seen);
}

// ---- memory

// Bytes of /dev/shm per rank, measured with UCX 1.13. libmpich chooses the smaller one, by smaller steps in which UCX's
// buffers grow, if the others would take more than half of what is free (ucx_workshare_memory.h).
constexpr double ucx_bytes = 4.3e6, ucx_least_bytes = 0.83e6;

// Its queues lie in /dev/shm, unless it was told otherwise.
static bool ucx_is_elsewhere(const Machine& m)
{
    const auto folder = m.environment.find("UCX_POSIX_DIR"), transports = m.environment.find("UCX_TLS");
    if (folder != m.environment.end() && folder->second.compare(0, 8, "/dev/shm") != 0)
        return true;
    if (transports == m.environment.end() || transports->second.empty() || transports->second[0] == '^')
        return false;
    const std::string names = "," + transports->second + ",";
    for (const char* name : {",all,", ",posix,", ",shm,", ",sm,", ",mm,"})
        if (names.find(name) != std::string::npos)
            return false;
    return true;
}

void shared_memory(const Job& job, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.shm_bytes == unknown)
        return out.problem("there is no /dev/shm", "ranks of a node share memory there",
                           "mount -t tmpfs tmpfs /dev/shm");
    const unsigned ranks = unsigned(n.count);
    // libws wants twice the window's size to be free.
    const double window = 2 * double(ws::window::Window::bytes(ranks, ranks + unsigned(n.workers()))),
                 ucx = ucx_is_elsewhere(m)                      ? 0
                       : ucx_bytes * ranks > m.shm_free / 2     ? ucx_least_bytes * ranks
                                                                : ucx_bytes * ranks,
                 need = window + ucx;
    const std::string seen =
        format("/dev/shm has %s, of them %s free; %s need about %s (%s for the window, %s for %s)",
               bytes(m.shm_bytes).c_str(), bytes(m.shm_free).c_str(), plural(ranks, "rank").c_str(),
               bytes(need).c_str(), bytes(window).c_str(), ucx > 0 ? bytes(ucx).c_str() : "nothing",
               has_own_mpi ? "UCX" : "MPI");
    const std::string larger = format("mount -o remount,size=%.0fM /dev/shm     # docker run --shm-size=%.0fm",
                                      std::max(64.0, need / 524288), std::max(64.0, need / 524288));
    if (m.shm_free < window)
        out.problem(seen,
                    job.program && job.program->critical
                        ? "the window that ranks share does not fit: because the program has `ws critical`, the job "
                          "ends with a message"
                        : "the window that ranks share does not fit: the job runs without sharing",
                    larger);
    else if (m.shm_free < need)
        out.problem(seen, "MPI itself finds no room for its queues: MPI_Init ends the job with a message",
                    has_own_mpi ? "export UCX_POSIX_DIR=/tmp     # as root: " + larger : larger);
    else if (m.shm_free < 0.1 * m.shm_bytes && m.shm_bytes - m.shm_free > need)
        out.note(seen, "most of it is in use, perhaps by files that programs have left there", "ls -l /dev/shm");
    else
        out.ok(seen);
}

void memory(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const double free =
        m.memory_max == no_limit ? m.memory_available : std::max(0.0, m.memory_max - std::max(0.0, m.memory_now));
    const double need = n.count * 50e6;
    if (free == unknown)
        return out.skip("cannot read how much memory is left");
    const std::string seen = (m.memory_max == no_limit ? std::string("the machine") : m.cgroup_memory) + " has " +
                             bytes(free) + " left for " + plural(n.count, "rank");
    if (free < need)
        out.problem(seen,
                    "MPI and libws alone take about 50 MB per rank; the kernel kills processes if memory runs out",
                    m.memory_max == no_limit
                        ? "free -h     # what uses it"
                        : "cat " + quoted(m.cgroup_memory) +
                              "     # docker update --memory SIZE CONTAINER, or in a batch job ask for more memory");
    else if (m.address_space != no_limit) {
        const double stacks = (n.count + n.workers() - 1) * (m.stack == no_limit ? 2097152.0 : m.stack),
                     addresses = stacks + 50e6;
        const std::string limited = "ulimit -v is " + bytes(m.address_space) +
                                    "; MPI, libws and the helper threads' stacks take up to " + bytes(addresses) +
                                    " in each rank, besides the program";
        if (m.address_space < addresses)
            out.warning(limited, "helper threads without room for their stacks are not created", "ulimit -v unlimited");
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
        out.problem(seen, "loop bodies run on stacks of that size; those of Fortran have their arrays there",
                    "ulimit -s unlimited");
    else
        out.ok(seen);
}

// ---- threads and files

static double guests(const Node& n)
{
    // Each rank can have one on each core that is not its own.
    const double cores = n.count + n.workers();
    return n.count * (cores - 1) + n.workers();
}

void user_limit(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const double need = guests(n) + 3.0 * n.count; // UCX has threads, too
    const std::string seen =
        "ulimit -u is " + of_limit(m.nproc) +
        format("; the user has %.0f threads, and the job makes up to %.0f", std::max(0.0, m.user_threads), need);
    if (m.nproc != no_limit && m.user_threads + need > m.nproc && !m.may_exceed_nproc)
        out.problem(seen, "the system refuses more threads: waiting ranks have no helper thread to lend their core to",
                    "ulimit -u unlimited     # or as root, in /etc/security/limits.conf");
    else
        out.ok(seen + (m.may_exceed_nproc && m.nproc != no_limit ? " (not enforced for root)" : ""));
}

void cgroup_threads(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.pids_max == no_limit)
        return out.ok("the cgroup does not limit threads");
    const double need = guests(n) + 3.0 * n.count + (n.planned ? n.count : 0);
    const std::string seen = format("%s is %.0f, %.0f are there, and the job makes up to %.0f more",
                                    m.cgroup_pids.c_str(), m.pids_max, std::max(0.0, m.pids_now), need);
    if (std::max(0.0, m.pids_now) + need > m.pids_max)
        out.problem(
            seen, "the system refuses more threads: waiting ranks have no helper thread to lend their core to",
            format("docker update --pids-limit %.0f CONTAINER     # systemd: TasksMax=", 2 * (m.pids_now + need)));
    else
        out.ok(seen);
}

// mpirun's process on the node has 4 for each rank, and 9; a rank has less than 30, and the program's.
void open_files(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const double need = std::max(64.0, 4.0 * n.count + 32);
    const std::string seen = "ulimit -n is " + of_limit(m.open_files) +
                             format("; mpirun and %s need up to %.0f", plural(n.count, "rank").c_str(), need);
    if (m.open_files != no_limit && m.open_files < need)
        out.problem(seen, "mpirun fails with `Too many open files`, or MPI_Init does",
                    format("ulimit -n %.0f", std::max(1024.0, need)));
    else
        out.ok(seen);
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
    const std::string seen =
        given ? format("OMP_NUM_THREADS=%.0f in %d ranks, %.0f cores", threads, n.count, cores)
              : format("OMP_NUM_THREADS is not set: up to %.0f threads in each of %d ranks, %.0f cores", threads,
                       n.count, cores);
    if (all > cores)
        out.warning(seen, "OpenMP's threads compete for cores, and a waiting rank's core is taken by others' threads",
                    format("OMP_NUM_THREADS=%d ", std::max(1, int(cores) / std::max(1, n.count))) + mpirun(job, ""));
    else if (n.workers() > 0 && threads > 1 && all + n.workers() > cores)
        out.note(seen + "; " + plural(n.workers(), "worker"),
                 "workers sleep while OpenMP's threads compute, so they help only between parallel regions",
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
    out.warning(std::string("/proc/cpuinfo lacks ") + (m.constant_tsc ? "" : "constant_tsc ") +
                    (m.nonstop_tsc ? "" : "nonstop_tsc"),
                "the counter by which chunks are sized and timed changes its speed, or stops in an idle core: chunks "
                "are too long or too short, and times in reports wrong",
                "let the hypervisor pass it on (qemu: -cpu host,+invtsc); old processors do not have it");
}

void clocksource(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.clocksource.empty())
        return out.skip("cannot read the kernel's clock source");
    for (const char* slow : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"})
        if (m.clocksource == slow)
            return out.warning("the kernel's clock is " + m.clocksource,
                               "the kernel does not trust the time-stamp counter, so cores may disagree; and programs "
                               "that read the time wait about 1 us",
                               "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource     # as "
                               "root; dmesg | grep -i tsc tells why it is not");
    out.ok("the kernel's clock is " + m.clocksource);
}

void skew(const Job&, const Node& n, Findings& out)
{
    double most = unknown;
    for (const Machine* m : n.ranks)
        most = std::max(most, m->skew_us);
    if (most == unknown)
        return out.skip("not measured");
    const std::string seen = format("the counters of cores differ by %s",
                                    most < 0.1 ? "less than 0.1 us" : format("at least %.1f us", most).c_str());
    if (most > 5)
        out.warning(
            seen, "times that begin on one core and end on another are wrong: chunk sizes, latencies, the timeline",
            "update the firmware, or let the hypervisor synchronize the counters; the results of programs are right");
    else
        out.ok(seen);
}

// ---- the machine at work

void governor(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    if (m.governors.empty())
        return out.skip("cannot read how the machine sets its frequency");
    std::string all, slow;
    for (const auto& [name, count] : m.governors) {
        all += (all.empty() ? "" : ", ") + name + " on " + plural(count, "CPU");
        if (name == "powersave" || name == "conservative" || name == "userspace")
            slow = name;
    }
    if (!slow.empty())
        out.note(all,
                 "cores speed up only after some time of work, so short loops, and cores lent for a short time, "
                 "run slowly (with intel_pstate, powersave does less harm)",
                 "cpupower frequency-set -g performance     # as root");
    else
        out.ok(all);
}

void load(const Job&, const Node& n, Findings& out)
{
    // what each rank sees while it sleeps. The least counts, as other ranks may still be measuring
    double busy = unknown, stolen = unknown;
    double cpus = 1;
    for (const Machine* m : n.ranks)
        if (m->busy != unknown) {
            busy = busy == unknown ? m->busy / std::max<size_t>(1, m->cpus.size())
                                   : std::min(busy, m->busy / std::max<size_t>(1, m->cpus.size()));
            stolen = std::max(stolen, m->stolen / std::max<size_t>(1, m->cpus.size()));
        }
    if (busy == unknown)
        return out.skip("not measured");
    cpus = double(n.cpus().size());
    const std::string seen =
        format("others use %.0f %% of the CPUs' time (%.1f of %.0f CPUs)", 100 * busy, busy * cpus, cpus) +
        (stolen > 0.01 ? format(", and the hypervisor takes %.0f %%", 100 * stolen) : "");
    if (stolen > 0.05)
        out.warning(seen,
                    "the hypervisor takes CPU time from this virtual machine: a rank that it stops delays all "
                    "others",
                    "ask for a machine of your own, or measure at another time");
    else if (busy > 0.2)
        out.warning(
            seen,
            "other programs compute on the same cores: ranks stop while those run, and waiting ranks have less to lend",
            "top     # shows who it is");
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
                        "the kernel unmaps pages to see which CPUs use them: a helper thread on another NUMA node "
                        "makes it move a loop's memory back and forth",
                        "sysctl kernel.numa_balancing=0     # as root");
    out.ok("kernel " + (m.kernel.empty() ? "unknown" : m.kernel) +
           ": no setting is in the way (libws needs neither ptrace nor yama's permission)");
}

void namespaces(const Job&, const Node& n, Findings& out)
{
    if (n.planned)
        return out.skip(without_job("no ranks yet"));
    std::set<std::string> all;
    for (const Machine* m : n.ranks)
        all.insert(m->pid_namespace);
    if (all.size() > 1)
        out.problem(format("%zu PID namespaces among %d ranks", all.size(), n.count),
                    "ranks in separate containers do not see each other's processes: Workshare cannot tell whether a "
                    "helper still lives, and ws-top finds no job",
                    "start one container for the node and all its ranks in it, or give containers the host's processes "
                    "(docker run --pid=host --ipc=host)");
    else
        out.ok("all ranks see each other's processes");
}

// Only what could be had is worth a note: most virtual machines have no counters.
void work_counters(const Job&, const Node& n, Findings& out)
{
    const Machine& m = n.first();
    const char* const otherwise = "; without them XMPI measures work by the rows that are registered";
    if (m.counters == int(unknown))
        return out.skip("PAPI was not queried" + (m.counters_error.empty() ? "" : ": " + m.counters_error));
    if (m.counters & 1)
        return out.ok("PAPI counts floating-point operations");
    const std::string seen = (m.counters ? "PAPI counts instructions" : "PAPI counts nothing") +
                             (m.counters_error.empty() ? "" : ": " + m.counters_error);
    if (m.counters == 0 && m.paranoid > 2)
        out.note(format("%s; kernel.perf_event_paranoid=%d", seen.c_str(), m.paranoid),
                 "the kernel lets only root count: XMPI measures work by the rows that are registered",
                 "sysctl kernel.perf_event_paranoid=2     # as root; or XMPI_Set_work in the program");
    else
        out.ok(seen + otherwise);
}

} // namespace doctor::check
