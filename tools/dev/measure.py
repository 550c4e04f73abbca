# SPDX-License-Identifier: MIT
"""What tools/dev/demo and tools/dev/bench share: finding the programs, running them in turn, and the statistics."""
import contextlib
import datetime
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(TOOLS))


class Failure(Exception):
    """A run that gave no result: what it was and what it said. `wrong`: the program ran and its result was wrong. `status`: its exit status, if
    it had one."""

    def __init__(self, message, wrong=False, status=None):
        super().__init__(message)
        self.wrong, self.status = wrong, status


def cpu_groups():
    """The control groups that may limit this process's CPU time, of version 2 or 1: (their root, the path below it, the function that reads a limit)."""
    try:
        with open("/proc/self/cgroup") as f:
            groups = [line.rstrip("\n").split(":", 2) for line in f]
    except OSError:
        groups = []
    for _, controllers, path in groups:
        if controllers == "":
            yield "/sys/fs/cgroup", path.strip("/"), quota_v2
        elif "cpu" in controllers.split(","):
            yield "/sys/fs/cgroup/cpu", path.strip("/"), quota_v1


def usable_cores():
    """Cores this process may use: its affinity, cut by its cgroups' CPU quotas (version 2 or 1)."""
    cores = float(len(os.sched_getaffinity(0)))
    for root, path, read in cpu_groups():
        # A limit on any group above counts too.
        parts = path.split("/") if path else []
        for depth in range(len(parts) + 1):
            cores = min(cores, read(os.path.join(root, *parts[:depth])))
    return max(1, int(cores))


@contextlib.contextmanager
def quota_group(share):
    """The folder of a new control group whose processes together get that share of a CPU, a millisecond at a time; None where we may make none."""
    slice_us = 1000
    for root, path, read in cpu_groups():
        folder = os.path.join(root, path, f"workshare-{os.getpid()}")
        limits = {quota_v2: {"cpu.max": f"{slice_us} {slice_us / share:.0f}"},
                  quota_v1: {"cpu.cfs_period_us": f"{slice_us / share:.0f}", "cpu.cfs_quota_us": f"{slice_us}"}}[read]
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            for name, value in limits.items():
                with open(os.path.join(folder, name), "r+") as f:  # a folder of another file system has no such files, and gets none
                    f.write(value)
        except OSError:
            os.rmdir(folder)
            continue
        try:
            yield folder
        finally:
            os.rmdir(folder)
        return
    yield None


def quota_v2(folder):
    try:
        with open(os.path.join(folder, "cpu.max")) as f:
            quota, period = f.read().split()
        return math.inf if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return math.inf


def quota_v1(folder):
    try:
        with open(os.path.join(folder, "cpu.cfs_quota_us")) as q, open(os.path.join(folder, "cpu.cfs_period_us")) as p:
            quota, period = int(q.read()), int(p.read())
        return quota / period if quota > 0 else math.inf
    except (OSError, ValueError):
        return math.inf


def object_in(text):
    """The JSON object among other lines: UCX and hwloc have their warnings on stdout."""
    begin = re.search(r"^\{", text, re.M)
    return json.JSONDecoder().raw_decode(text, begin.start() if begin else len(text))[0]


def facts():
    """What a run's figures depend on, without a name of the machine."""
    def said(*command):
        done = subprocess.run(command, cwd=TOOLS, capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""
    model = ""
    with open("/proc/cpuinfo") as f:
        for words in (line.partition(":") for line in f):
            if words[0].strip() == "model name":
                model = words[2].strip()
                break
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M"), "commit": said("git", "rev-parse", "--short=10", "HEAD"),
            "changed": bool(said("git", "status", "--porcelain", "--untracked-files=no")), "cpu": model, "cores": usable_cores()}


class Launcher:
    """Runs benchmark programs under a prefix's mpirun."""

    baseline_prefix = None  # an unpatched MPICH; else Debian's
    dlb = None  # figures/dlb.py

    def __init__(self, prefix, programs, ranks, bind, limit):
        self.prefix, self.programs, self.ranks, self.bind, self.limit = prefix, programs, ranks, bind, limit

    def name(self):
        return "Workshare's own MPICH"

    def path(self, program):
        return os.path.join(self.programs, program)

    def has(self, program):
        return os.access(self.path(program), os.X_OK)

    def unpatched(self):
        """The folder with the unpatched libmpich.so.12, and what to call it."""
        if self.baseline_prefix:
            folder = os.path.join(os.path.abspath(self.baseline_prefix), "lib")
            if not os.path.exists(os.path.join(folder, "libmpich.so.12")):
                raise Failure(f"{folder}: no libmpich.so.12 there")
            return folder, self.baseline_prefix
        try:
            files = subprocess.run(["dpkg-query", "-L", "libmpich12"], capture_output=True, text=True, check=True).stdout.split()
            version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libmpich12"], capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError):
            raise Failure("the rival is Debian's own MPICH: install libmpich12, or name another with --baseline-prefix") from None
        library = next(name for name in files if name.endswith("/libmpich.so.12"))
        return os.path.dirname(library), f"Debian's libmpich12 {version}"

    def command(self, program, options=(), workshare=False, ranks=None, bind=None, flags=(), spawns=False):
        """mpirun's command line; a `program` that is no path is one of the benchmarks'. `spawns`: Workshare is to reach the processes that it starts, as
        it always does here."""
        bind = bind or self.bind
        command = [os.path.join(self.prefix, "bin", "mpirun")]
        command += ["-workshare", "-workshare-quiet"] if workshare else []
        command += [*map(str, flags)]
        command += ["-bind-to", bind] if bind != "none" else []
        return command + ["-n", str(ranks or self.ranks), self.path(program), *map(str, options)]

    def environment(self, libraries=None, more=()):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("WS_", "OMP_", "GOMP_", "KMP_", "MPIR_CVAR_"))}
        environment["LD_LIBRARY_PATH"] = libraries or os.path.join(self.prefix, "lib")
        return {**environment, **dict(more)}

    def run(self, program, options=(), workshare=False, libraries=None, env=(), **how):
        """One run; the program's JSON object, and how long the job took from mpirun's start to its end ("job_ms"). With workshare, libws's own figures
        are under "workshare".

        `libraries`: a folder with another libmpich.so.12 to run on, instead of the prefix's; same launcher.
        `ranks`, `bind`, `flags` (of mpirun) and `spawns`: as command() takes them."""
        command = self.command(program, [*options, "--json"], workshare, **how)
        environment = self.environment(libraries, env)
        with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
            stats = os.path.join(folder, "stats.json")
            if workshare:
                environment["WS_STATS_FILE"] = stats
            began = time.monotonic()
            try:
                done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=self.limit)
            except subprocess.TimeoutExpired:
                raise Failure(f"gave no result within {self.limit} s: {' '.join(command)}") from None
            except OSError as error:
                raise Failure(f"{command[0]}: {error.strerror}") from None
            took = time.monotonic() - began
            said = done.stderr.strip() or done.stdout.strip()
            if done.returncode != 0:
                raise Failure(f"exit status {done.returncode}: {' '.join(command)}\n{said}", wrong="WRONG:" in said,
                              status=done.returncode)
            try:
                result = object_in(done.stdout)
            except ValueError:
                raise Failure(f"printed no JSON object: {' '.join(command)}\n{done.stdout}{said}") from None
            if workshare:
                try:
                    with open(stats) as f:
                        result["workshare"] = json.load(f)
                except (OSError, ValueError):
                    raise Failure(f"libws wrote no statistics: {' '.join(command)}\n{said}") from None
        return {**result, "job_ms": took * 1e3}


class AnyMpi(Launcher):
    """The same under another MPI library's mpirun, whose ranks `workshare` starts."""

    def __init__(self, prefix, programs, ranks, bind, limit, family, version, mpicc):
        super().__init__(prefix, programs, ranks, bind, limit)
        self.family, self.version = family, version
        self.mpirun = os.path.join(os.path.dirname(mpicc), os.path.basename(mpicc).replace("mpicc", "mpirun"))

    def name(self):
        return f"{'Open MPI' if self.family == 'openmpi' else self.family.upper()} {self.version}"

    def path(self, program):
        return os.path.join(self.programs, f"{self.family}_{program}")

    def command(self, program, options=(), workshare=False, ranks=None, bind=None, flags=(), spawns=False):
        ranks, bind = ranks or self.ranks, bind or self.bind
        command = [self.mpirun]
        if self.family == "openmpi" and bind == "core" and ranks > physical_cores():
            command += ["--use-hwthread-cpus", "--bind-to", "hwthread"]     # it refuses two ranks on one core
        else:
            command += ["--bind-to" if self.family == "openmpi" else "-bind-to", bind]
        command += ["-n", str(ranks)]
        if workshare:
            own = [flag.replace("-workshare-", "--", 1) if flag.startswith("-workshare-") else flag for flag in map(str, flags)]
            ours = [os.path.join(self.prefix, "bin", "workshare"), "--quiet", *own]
            command = [*ours, *command] if spawns else [*command, *ours]
        if spawns:  # which mpirun may not survive: it is asked to end, and ends the processes
            command = ["timeout", "60", *command]
        return command + [self.path(program), *map(str, options)]

    def environment(self, libraries=None, more=()):
        environment = super().environment(libraries, more)
        del environment["LD_LIBRARY_PATH"]
        if self.family == "openmpi":
            environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        return environment


def physical_cores():
    """Those whose threads this process may use."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        try:
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as f:
                cores.add(f.read())
        except OSError:
            cores.add(cpu)
    return len(cores)


def any_mpis(prefix, programs, ranks, bind, limit):
    """An AnyMpi for each MPI library that the programs were built for."""
    folder = os.path.join(programs, "any_mpi")
    try:
        with open(os.path.join(folder, "mpis")) as f:
            found = [line.rstrip("\n").split("\t") for line in f if line.strip()]
    except OSError:
        found = []
    return [AnyMpi(prefix, folder, ranks, bind, limit, *words) for words in found]


def calibrated(run, text, *options, **how):
    """The number of inner steps with which the double loop takes `text` on one core. Measured again if the machine was disturbed:
    wrong steps would give the figure of another length."""
    for _ in range(4):
        result = run.run("double_loop", ["--work", text, "--repeats", 4, "--warmup", 0, *options], **how)
        if abs(result["serial_us"]["min"] / microseconds(text) - 1) < 0.1:
            break
    return result["steps"]


def microseconds(text):
    """"20ms", "450us", "1s": as the benchmark programs read it."""
    for unit, size in (("us", 1), ("ms", 1e3), ("s", 1e6)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * size
    raise ValueError(text)


def in_turn(pairs, *runs):
    """Calls each of `runs` once a round, in turning order, so that drift and disturbances meet all alike.

    A list of results for each."""
    results = [[] for _ in runs]
    for round_number in range(pairs):
        order = list(range(len(runs)))
        for k in order if round_number % 2 == 0 else reversed(order):
            results[k].append(runs[k]())
    return results


def median_of(results, read):
    return statistics.median(map(read, results))


def ratio_of(over, under, read):
    """The median of the ratios of runs made one after the other: (median, lower quartile, upper quartile)."""
    ratios = sorted(read(a) / read(b) for a, b in zip(over, under))
    return quartiles(ratios)


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return middle, low, high


def time_text(us):
    """Three digits and a unit."""
    if us < 0:
        return "-" + time_text(-us)
    for unit, size in (("s", 1e6), ("ms", 1e3), ("us", 1.0), ("ns", 1e-3)):
        if us >= size or unit == "ns":
            return f"{us / size:.3g} {unit}" if us / size < 100 else f"{us / size:.0f} {unit}"


def table(headers, rows):
    try:
        from tabulate import tabulate
    except ImportError:
        sys.exit("needs python3-tabulate: apt-get install python3-tabulate")
    return tabulate(rows, headers=headers, tablefmt="simple", disable_numparse=True)


def add_common_options(parser, prefix_needed=True):
    parser.add_argument("--prefix", required=prefix_needed, metavar="P", help="the installed or staged Workshare (has bin/mpirun)")
    parser.add_argument("--programs", metavar="DIR", help="where the benchmark programs are (P/../../benchmarks, as the build lays it out)")
    parser.add_argument("--bind", choices=("core", "none"), default="core", help="mpirun's -bind-to (core: the fair baseline)")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")


def launcher(options, needed, ranks, limit):
    if not options.prefix:
        sys.exit("which Workshare? name its folder with --prefix")
    prefix = os.path.abspath(options.prefix)
    programs = options.programs or os.path.join(os.path.dirname(prefix), "benchmarks")
    how = prefix, os.path.abspath(programs), ranks, options.bind, limit
    if os.access(os.path.join(prefix, "bin", "mpirun"), os.X_OK):
        run = Launcher(*how)
    else:   # built for the MPI libraries of this machine alone
        run = next(iter(any_mpis(*how)), None)
    if not run:
        sys.exit(f"{prefix}: no bin/mpirun there")
    for program in needed:
        if not run.has(program):
            sys.exit(f"{os.path.dirname(run.path(program))}: no program {os.path.basename(run.path(program))} there (name the folder with --programs)")
    return run


def package_graph():
    """The path of the package graph's edge list; fails with the tool's own message when it cannot be made."""
    done = subprocess.run([os.path.join(TOOLS, "package-graph")], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(done.stderr.strip())
    return done.stdout.strip()
