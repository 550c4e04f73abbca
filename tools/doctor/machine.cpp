// SPDX-License-Identifier: MIT
#include "machine.h"
#include "wording.h"

#include "options/options.h"
#include "base/cpus.h"
#include "base/os.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fstream>
#include <hwloc.h>
#include <sstream>
#include <stdexcept>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <unistd.h>

extern char** environ;

namespace doctor {

std::vector<int> read_cpu_list(const std::string& text)
{
    std::vector<int> cpus;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        int from, to;
        const int n = std::sscanf(part.c_str(), " %d-%d", &from, &to);
        if (n < 1 || from < 0)
            continue;
        for (int cpu = from; cpu <= (n == 2 ? to : from) && cpu < 1 << 16; cpu++)
            cpus.push_back(cpu);
    }
    return cpus;
}

namespace {

class Files {
public:
    explicit Files(std::string root) : root_(std::move(root)) {}
    bool real() const { return root_.empty(); }
    std::string path(const std::string& name) const { return root_ + name; }
    bool has(const std::string& name) const { return access(path(name).c_str(), R_OK) == 0; }

    // Without the last line's end; nothing if there is no such file.
    std::string read(const std::string& name) const
    {
        std::ifstream file(path(name));
        std::stringstream text;
        text << file.rdbuf();
        std::string all = text.str();
        while (!all.empty() && all.back() == '\n')
            all.pop_back();
        return all;
    }
    // What follows `key:` in a file of lines.
    std::string field(const std::string& name, const std::string& key) const
    {
        std::istringstream lines(read(name));
        for (std::string line; std::getline(lines, line);)
            if (line.compare(0, key.size() + 1, key + ":") == 0) {
                const size_t begin = line.find_first_not_of(" \t", key.size() + 1);
                return begin == std::string::npos ? "" : line.substr(begin);
            }
        return "";
    }
    std::vector<std::string> list(const std::string& name) const
    {
        std::vector<std::string> names;
        if (DIR* folder = opendir(path(name).c_str())) {
            while (const dirent* entry = readdir(folder))
                names.push_back(entry->d_name);
            closedir(folder);
        }
        std::sort(names.begin(), names.end());
        return names;
    }

private:
    std::string root_;
};

// "max", "-1" and v1's huge numbers are no limit.
double limit(const std::string& text)
{
    char* end;
    const double value = std::strtod(text.c_str(), &end);
    return end == text.c_str() || value < 0 || value > 4e18 ? no_limit : value;
}
bool lower(double a, double b) { return a != no_limit && (b == no_limit || a < b); }

double kilobytes(const std::string& text) { return text.empty() ? unknown : 1024 * std::strtod(text.c_str(), nullptr); }

// A process's cgroups, of version 1 or 2. A limit may stand in any of the folders above its own.
class Cgroups {
public:
    explicit Cgroups(const Files& files) : files_(files)
    {
        std::istringstream lines(files.read("/proc/self/cgroup"));
        for (std::string line; std::getline(lines, line);) {
            const size_t first = line.find(':'), second = line.find(':', first + 1);
            if (second == std::string::npos)
                continue;
            const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
            std::istringstream names(controllers);
            if (controllers.empty())
                unified_ = path;
            for (std::string name; std::getline(names, name, ',');)
                v1_[name] = {"/sys/fs/cgroup/" + (files.has("/sys/fs/cgroup/" + name) ? name : controllers), path};
        }
    }

    // The folders of a controller, the process's own first, each below `version` 1 or 2's mount.
    std::vector<std::string> folders(const std::string& controller, int& version) const
    {
        const auto known = v1_.find(controller);
        version = known == v1_.end() ? 2 : 1;
        const std::string mount = version == 1 ? known->second.first : "/sys/fs/cgroup";
        std::string path = version == 1 ? known->second.second : unified_;
        std::vector<std::string> all;
        for (; !path.empty() && path != "/"; path.erase(path.rfind('/')))
            if (path.find("..") == std::string::npos &&
                files_.has(mount + path)) // a container's own is mounted as the root
                all.push_back(mount + path);
        all.push_back(mount);
        return all;
    }

private:
    const Files& files_;
    std::string unified_;
    std::map<std::string, std::pair<std::string, std::string>> v1_;
};

void read_cgroups(const Files& files, Machine& m)
{
    const Cgroups cgroups(files);
    int version;
    for (const std::string& folder : cgroups.folders("cpu", version)) {
        double quota = no_limit, period = 0;
        std::string file = folder + (version == 2 ? "/cpu.max" : "/cpu.cfs_quota_us");
        if (version == 2) {
            std::istringstream words(files.read(file));
            std::string first;
            words >> first >> period;
            quota = limit(first);
        } else {
            quota = limit(files.read(file));
            period = limit(files.read(folder + "/cpu.cfs_period_us"));
        }
        if (quota > 0 && period > 0 && lower(quota / period, m.quota)) {
            m.quota = quota / period;
            m.cgroup_quota = file;
        }
    }
    for (const std::string& folder : cgroups.folders("pids", version)) {
        const double max = limit(files.read(folder + "/pids.max"));
        if (lower(max, m.pids_max)) {
            m.pids_max = max;
            m.pids_now = limit(files.read(folder + "/pids.current"));
            m.cgroup_pids = folder + "/pids.max";
        }
    }
    for (const std::string& folder : cgroups.folders("memory", version)) {
        const std::string file = folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes");
        const double max = limit(files.read(file));
        if (lower(max, m.memory_max) && (m.memory_total < 0 || max < m.memory_total)) {
            m.memory_max = max;
            m.memory_now = limit(files.read(folder + (version == 2 ? "/memory.current" : "/memory.usage_in_bytes")));
            m.cgroup_memory = file;
        }
    }
    for (const std::string& folder : cgroups.folders("cpuset", version)) {
        for (const char* name : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"})
            if (m.cpuset.empty())
                m.cpuset = read_cpu_list(files.read(folder + name));
    }
}

void read_limits(const Files& files, Machine& m)
{
    std::istringstream lines(files.read("/proc/self/limits"));
    for (std::string line; std::getline(lines, line);) {
        const auto soft = [&](const char* name, double& value) {
            if (line.compare(0, std::strlen(name), name) == 0)
                value = limit(line.substr(std::min<size_t>(line.size(), 26)));
        };
        soft("Max stack size", m.stack);
        soft("Max processes", m.nproc);
        soft("Max address space", m.address_space);
        soft("Max open files", m.open_files);
    }
    // CAP_SYS_ADMIN and CAP_SYS_RESOURCE.
    const unsigned long long capabilities =
        std::strtoull(files.field("/proc/self/status", "CapEff").c_str(), nullptr, 16);
    std::istringstream ids(files.field("/proc/self/status", "Uid"));
    std::string real_id, effective;
    ids >> real_id >> effective;
    m.may_exceed_nproc = real_id == "0" || capabilities >> 21 & 1 || capabilities >> 24 & 1;
    m.user_threads = 0;
    for (const std::string& name : files.list("/proc")) {
        if (name.empty() || name.find_first_not_of("0123456789") != std::string::npos)
            continue;
        const std::string status = "/proc/" + name + "/status";
        std::istringstream owner(files.field(status, "Uid"));
        std::string uid;
        if (owner >> uid && uid == real_id)
            m.user_threads += std::atof(files.field(status, "Threads").c_str());
    }
}

void read_clock(const Files& files, Machine& m)
{
    m.clocksource = files.read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    std::istringstream lines(files.read("/proc/cpuinfo"));
    m.x86 = false;
    for (std::string line; std::getline(lines, line);)
        if (line.compare(0, 5, "flags") == 0) {
            m.x86 = true;
            line += ' ';
            m.constant_tsc = line.find(" constant_tsc ") != std::string::npos;
            m.nonstop_tsc = line.find(" nonstop_tsc ") != std::string::npos;
            break;
        }
}

void read_governors(const Files& files, Machine& m)
{
    for (int cpu : m.cpus) {
        const std::string governor =
            files.read("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/scaling_governor");
        if (!governor.empty())
            m.governors[governor]++;
    }
}

void read_topology(const std::string& synthetic, Machine& m)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) < 0) {
        m.hwloc_error = "hwloc does not start";
        return;
    }
    if ((!synthetic.empty() && hwloc_topology_set_synthetic(topology, synthetic.c_str()) < 0) ||
        hwloc_topology_load(topology) < 0) {
        m.hwloc_error = std::string("hwloc finds no topology: ") + std::strerror(errno);
    } else {
        const auto count = [&](hwloc_obj_type_t type) { return std::max(0, hwloc_get_nbobjs_by_type(topology, type)); };
        m.packages = count(HWLOC_OBJ_PACKAGE);
        m.numa_nodes = count(HWLOC_OBJ_NUMANODE);
        m.cores = count(HWLOC_OBJ_CORE);
        m.threads = count(HWLOC_OBJ_PU);
        m.caches = count(HWLOC_OBJ_L3CACHE);
        if (!m.caches)
            m.caches = count(HWLOC_OBJ_L2CACHE);
        hwloc_obj_t pu = nullptr;
        while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)))
            if (hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu))
                m.core_of[std::to_string(pu->os_index)] = int(core->logical_index);
        if (!m.cores)
            m.hwloc_error = "hwloc sees no cores";
    }
    hwloc_topology_destroy(topology);
}

// Ticks of /proc/stat on some CPUs: computing, and taken by the hypervisor.
struct Ticks {
    double computing = 0, taken = 0;
};
Ticks read_ticks(const Files& files, const char* name, const std::vector<int>& cpus)
{
    Ticks sum;
    std::istringstream lines(files.read(name));
    for (std::string line; std::getline(lines, line);) {
        int cpu, all;
        double user, nice, system, idle, iowait = 0, irq = 0, softirq = 0, steal = 0;
        if (std::sscanf(line.c_str(), "cpu%d%n", &cpu, &all) != 1 || !std::count(cpus.begin(), cpus.end(), cpu))
            continue;
        if (std::sscanf(line.c_str() + all, "%lf%lf%lf%lf%lf%lf%lf%lf", &user, &nice, &system, &idle, &iowait, &irq,
                        &softirq, &steal) < 4)
            continue;
        sum.computing += user + nice + system + irq + softirq;
        sum.taken += steal;
    }
    return sum;
}

// How busy the CPUs are while this process sleeps. A made-up machine has /proc/stat.later, a second later.
void read_load(const Files& files, Machine& m)
{
    const Ticks before = read_ticks(files, "/proc/stat", m.cpus);
    double seconds = 1, hertz = 100;
    if (files.real()) {
        const double start = ws::base::seconds_now();
        usleep(300000);
        seconds = ws::base::seconds_now() - start;
        hertz = double(sysconf(_SC_CLK_TCK));
    } else if (!files.has("/proc/stat.later")) {
        return;
    }
    const Ticks after = read_ticks(files, files.real() ? "/proc/stat" : "/proc/stat.later", m.cpus);
    m.busy = std::max(0.0, after.computing - before.computing) / hertz / seconds;
    m.stolen = std::max(0.0, after.taken - before.taken) / hertz / seconds;
}

void pin(int cpu)
{
    ws::base::CpuSet one;
    one.add(cpu);
    one.mask().bind();
}

// By how many ticks the counter of one CPU is ahead of another's, from messages between two threads: the fastest round
// trip tells best. 0 if they never ran at the same time.
double counter_skew(int one, int other)
{
    std::atomic<uint64_t> ask{0}, answer{0};
    std::atomic<bool> over{false};
    std::thread echo([&] {
        pin(other);
        for (uint64_t last = 0; !over;) {
            const uint64_t now = ask.load(std::memory_order_acquire);
            if (now != last) {
                last = now;
                answer.store(ws::base::ticks(), std::memory_order_release);
            }
        }
    });
    double skew = 0;
    const auto measure = [&] {
        pin(one);
        double best = 1e300;
        const double until = ws::base::seconds_now() + 0.02;
        for (int round = 1; round <= 500 && ws::base::seconds_now() < until; round++) {
            answer.store(0, std::memory_order_relaxed);
            const uint64_t sent = ws::base::ticks();
            ask.store(uint64_t(round), std::memory_order_release);
            uint64_t theirs;
            while (!(theirs = answer.load(std::memory_order_acquire)) && ws::base::seconds_now() < until) {
            }
            const uint64_t back = ws::base::ticks();
            if (theirs && double(back - sent) < best) {
                best = double(back - sent);
                // The difference can come from the message's way; only more than that is the clocks'.
                const double apart = double(int64_t(theirs - sent)) - best / 2;
                skew = std::max(0.0, std::abs(apart) - best / 2);
            }
        }
    };
    try {
        std::thread(measure).join();
    } catch (const std::system_error&) { // no thread
        over = true;
        echo.join();
        throw;
    }
    over = true;
    echo.join();
    return skew;
}

double largest_skew_us(const std::vector<int>& cpus)
{
    ws::base::Clock clock;
    double largest = 0;
    for (size_t i = 1; i < cpus.size() && i < 16; i++)
        largest = std::max(largest, counter_skew(cpus[0], cpus[i]));
    clock.calibrate();
    return largest / clock.ticks_per_us();
}

int number_of(const char* name, int otherwise)
{
    const char* text = std::getenv(name);
    return text && *text ? std::atoi(text) : otherwise;
}

void read_environment(Machine& m)
{
    ws::option::settle_names(ws::option::spellings());
    for (char** e = environ; *e; e++) {
        const char* equals = std::strchr(*e, '=');
        const std::string name(*e, equals ? size_t(equals - *e) : std::strlen(*e));
        for (const char* begin : {"WS_", "WORKSHARE", "OMP_", "GOMP_", "KMP_", "LD_", "UCX_", "MPIR_CVAR_", "OMPI_"})
            if (name.compare(0, std::strlen(begin), begin) == 0)
                m.environment[name] = equals ? equals + 1 : "";
    }
    ws::option::Options options;
    if (!ws::option::read_options(options, m.options_error, m.options_unknown))
        m.options_unknown.clear();
    else
        m.workers = options.workers;
    m.rank = number_of("PMI_RANK", 0);
    m.size = number_of("PMI_SIZE", 1);
    m.under_mpirun = std::getenv("PMI_RANK") && (std::getenv("PMI_FD") || std::getenv("PMI_PORT"));
    m.local_ranks = number_of("MPI_LOCALNRANKS", number_of("OMPI_COMM_WORLD_LOCAL_SIZE", 0));
    if (m.under_mpirun && !has_own_mpi) { // each mpirun is another MPI's, and may start what it likes
        m.under_mpirun = false;
        m.launcher = "mpirun";
    }
    if (m.under_mpirun)
        return;
    // A shell in a batch job may have such variables of a step of one.
    for (const auto& [name, size, rank] :
         {std::tuple("Open MPI's mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
          std::tuple("srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID")})
        if (number_of(size, 0) > 1) {
            m.launcher = name;
            m.size = number_of(size, 1);
            m.rank = number_of(rank, 0);
        }
    if (!std::getenv("PMIX_RANK"))
        return;
    if (m.launcher == "srun") {
        m.launcher = "srun --mpi=pmix";
    } else if (m.launcher.empty() && !std::getenv("SLURM_STEP_NUM_TASKS")) {
        m.launcher = "a launcher that speaks PMIx only";
        m.rank = number_of("PMIX_RANK", 0);
    }
}

std::string own_folder()
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    const std::string all(path, length > 0 ? size_t(length) : 0);
    return all.substr(0, all.rfind('/'));
}

// By the module that XMPI loads, as what the kernel refuses shows only when a counter is opened.
void read_counters(Machine& m)
{
    void* const module = dlopen((m.folder + "/../lib/workshare/papi.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    using Open = int (*)(char* why, int room); // PapiOpen in policy/rows/counters.h
    const auto open = module ? reinterpret_cast<Open>(dlsym(module, "ws_papi_open")) : nullptr;
    if (!open) {
        const char* const trouble = dlerror();
        m.counters_error = trouble ? trouble : "its module cannot be loaded";
        return;
    }
    char why[200] = "";
    m.counters = open(why, sizeof why);
    m.counters_error = why;
}

} // namespace

Machine look_at_machine(const std::string& root)
{
    const Files files(root);
    Machine m;
    utsname system;
    if (files.real() && uname(&system) == 0) {
        m.host = system.nodename;
        m.kernel = system.release;
    }
    m.folder = own_folder();
    char space[128];
    const ssize_t length = readlink(files.path("/proc/self/ns/pid").c_str(), space, sizeof space);
    m.pid_namespace.assign(space, length > 0 ? size_t(length) : 0);
    m.cpus = read_cpu_list(files.field("/proc/self/status", "Cpus_allowed_list"));
    m.online = read_cpu_list(files.read("/sys/devices/system/cpu/online"));
    m.memory_total = kilobytes(files.field("/proc/meminfo", "MemTotal"));
    m.memory_available = kilobytes(files.field("/proc/meminfo", "MemAvailable"));
    m.numa_balancing = std::atoi(files.read("/proc/sys/kernel/numa_balancing").c_str());
    const std::string paranoid = files.read("/proc/sys/kernel/perf_event_paranoid");
    m.paranoid = paranoid.empty() ? int(unknown) : std::atoi(paranoid.c_str());
    read_environment(m);
    // What started a rank has bound the rank, and not itself.
    if (!has_own_mpi && m.local_ranks > 0 && files.real())
        m.cpus = read_cpu_list(files.field("/proc/" + std::to_string(getppid()) + "/status", "Cpus_allowed_list"));
    read_cgroups(files, m);
    read_limits(files, m);
    read_clock(files, m);
    read_governors(files, m);
    nlohmann::json facts = nlohmann::json::object();
    if (!files.real() && files.has("/facts.json"))
        facts = nlohmann::json::parse(files.read("/facts.json"));
    if (!facts.is_object())
        throw std::runtime_error("facts.json holds no object");
    if (files.real() || facts.contains("topology"))
        read_topology(facts.value("topology", ""), m);
    if (files.real()) {
        struct statvfs fs;
        if (statvfs("/dev/shm", &fs) == 0) {
            m.shm_bytes = double(fs.f_blocks) * double(fs.f_frsize);
            m.shm_free = double(fs.f_bavail) * double(fs.f_frsize);
        }
        read_counters(m);
        try {
            m.skew_us = largest_skew_us(m.cpus);
        } catch (const std::system_error&) { // no threads: other findings say so
        }
    }
    read_load(files, m);
    if (!facts.empty()) {
        nlohmann::json all = m;
        all.merge_patch(facts);
        m = all.get<Machine>();
    }
    return m;
}

} // namespace doctor
