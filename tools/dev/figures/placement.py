# SPDX-License-Identifier: MIT
"""Whether a directive makes it worse where a loop lies: the same loops plain and under `ws for`, without -workshare, each at 16 addresses."""
import json
import os
import subprocess
import tempfile

import compile_time
import measure

from . import line

BENCHMARKS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../benchmarks")
LOOPS = ("csr", "triad", "stencil", "dot", "histogram", "dense", "scatter", "gradients")
OPTIONS = ("-O2", "-O3", "-O3 -mavx", "-O3 -march=native", "-O3 -falign-loops=32", "-O3 -falign-loops=64")
ADDRESSES, STEP = 16, 16    # bytes
ROUNDS = 5                  # in which the samples are taken, so that a slow second affects only one of them
SLOW = 1.05                 # of the least that plain code takes anywhere
# What makes loops faster and can be left out, for each plugin, and where it does; how the plugin's arguments begin.
PARTS = {"gcc": ("ws_gcc", {"align": "-O3", "alone": "-O2", "plain": "-O3", "registers": "-O2"}), "clang": ("ws", {"alone": "-O2", "plain": "-O2", "captures": "-O2"})}
OUTLINED = ("captures",)    # seen in outlined loops only, so both programs are without plain versions


def ran(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise measure.Failure(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


class Program:
    """placement.c with the loops in both versions, compiled with these options."""

    def __init__(self, folder, mpicc, options, more=()):
        self.samples, self.binary = [], os.path.join(folder, "placement")
        source = os.path.join(BENCHMARKS, "placement_loops.c")
        objects, table = [], []
        for version, flags in (("plain", ["-Wno-unknown-pragmas"]), ("ws", ["-fws", *more])):
            assembly = os.path.join(folder, f"{version}.s")
            ran([*mpicc, *options.split(), *flags, "-S", source, "-o", assembly])
            with open(assembly) as f:
                code = f.read()
            for k in range(ADDRESSES):
                at, names = os.path.join(folder, f"{version}{k}.s"), os.path.join(folder, "names")
                with open(at, "w") as f:
                    f.write(f"\t.text\n\t.balign {ADDRESSES * STEP}\n\t.skip {k * STEP}, 0x90\n{code}")
                with open(names, "w") as f:
                    f.writelines(f"{name} {version}{k}_{name}\n" for name in LOOPS)
                objects.append(at[:-1] + "o")
                ran([*mpicc, "-c", at, "-o", objects[-1]])
                ran(["objcopy", f"--redefine-syms={names}", objects[-1]])
            table += [f"extern {name}_t {version}{k}_{name};" for k in range(ADDRESSES) for name in LOOPS]
            copies = ", ".join("{ " + ", ".join(f"{version}{k}_{name}" for name in LOOPS) + " }" for k in range(ADDRESSES))
            table.append(f"static const struct copy {version}[ADDRESSES] = {{ {copies} }};")
        with open(os.path.join(folder, "placement_table.h"), "w") as f:
            f.write("\n".join(table) + "\n")
        ran([*mpicc, "-O2", "-fws", "-no-pie", f"-I{folder}", os.path.join(BENCHMARKS, "placement.c"), *objects, "-o", self.binary])

    def run(self, samples):
        self.samples.append(json.loads(ran([self.binary, str(samples)])))

    def ratios(self, version, loop=None):
        """Least time at each address, of the least that plain code takes anywhere; of one loop or of all."""
        out = []
        for name in [loop] if loop else LOOPS:
            least = {v: [min(times) for times in zip(*(s[name][v] for s in self.samples))] for v in ("plain", "ws")}
            out += [t / min(least["plain"]) for t in least[version]]
        return sorted(out)


def summary(ratios):
    """(slow places, median, worst)"""
    return sum(r > SLOW for r in ratios), measure.quartiles(ratios)[0], ratios[-1]


def row(program, loop=None):
    return [cell for version in ("plain", "ws") for cell in (str(summary(program.ratios(version, loop))[0]), *summary(program.ratios(version, loop))[1:])]


HEADERS = ["slow, plain", "median", "worst", "slow, ws", "median", "worst"]


def placement(run, quick):
    samples, rows, parts = 20 if quick else 40, [], []
    for name, mpicc in compile_time.compilers(run.prefix):
        plain, ws = [], []
        argument, known = PARTS[name]
        for options in OPTIONS[:2] if quick else OPTIONS:
            with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
                program = Program(folder, mpicc, options)
                for _ in range(ROUNDS):
                    program.run(samples // ROUNDS)
                rows += [[name, options, loop, *row(program, loop)] for loop in LOOPS]
                rows.append([name, options, "all", *row(program)])
                plain += program.ratios("plain")
                ws += program.ratios("ws")
        for part, options in known.items():
            with tempfile.TemporaryDirectory(prefix="workshare-") as one, tempfile.TemporaryDirectory(prefix="workshare-") as other:
                more = [f"-fplugin-arg-{argument}-without-plain"] if part in OUTLINED else []
                both = Program(one, mpicc, options, more), Program(other, mpicc, options, [*more, f"-fplugin-arg-{argument}-without-{part}"])
                for _ in range(ROUNDS):
                    for program in both:
                        program.run(samples // ROUNDS)
                for loop in LOOPS:
                    with_it, without = (summary(program.ratios("ws", loop)) for program in both)
                    parts.append([name, f"{part}, {options}", loop, str(without[0]), *without[1:], str(with_it[0]), *with_it[1:]])
        (slow, median, worst), (our_slow, our_median, our_worst) = summary(sorted(plain)), summary(sorted(ws))
        of = f"{len(LOOPS)} loops at {ADDRESSES} addresses, {name}"
        for what, ours, theirs in (("slow places", 100 * our_slow / len(ws), 100 * slow / len(plain)),
                                   ("median of the best plain place", 100 * our_median, 100 * median),
                                   ("worst of the best plain place", 100 * our_worst, 100 * worst)):
            yield line.figure(f"{what}, {of}: ws for without -workshare", ours, theirs, "%", ours, f"<= {theirs + 1:.1f} %", ours <= theirs + 1, [ours, ours],
                              "rival: plain code at the same addresses", noisy=False)
    yield line.table("Loops at 16 addresses: times of the best place of plain code, and places that take more than 1.05 of it",
                     ["compiler", "options", "loop", *HEADERS], rows, "Without -workshare; the least of many samples of some microseconds.")
    yield line.table("What parts of the plugins bring: the same loops without the part and with it",
                     ["compiler", "part", "loop", "slow, without", "median", "worst", "slow, with", "median", "worst"], parts,
                     "align.cc, alone.cc, plain.cc and registers.cc of GCC's plugin; alone.cc, plain.cc and captures.cc of clang's; captures.cc without plain versions.")
