# SPDX-License-Identifier: MIT
"""What the tools compute, on small inputs of known answer."""
import contextlib
import importlib.machinery
import importlib.util
import io
import math
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True
import compile_time  # noqa: E402
import disturbance  # noqa: E402
import measure  # noqa: E402
from figures import charts, line, loops, sleeping  # noqa: E402
from paper import chart as papers_chart  # noqa: E402


def load(name):
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), os.path.join(TOOLS, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


package_graph, demo, bench, history, papers = load("package-graph"), load("demo"), load("bench"), load("bench-history"), load("papers")

PACKAGES = b"""Package: a
Version: 1
Depends: b (>= 2) | c:any, nothing-has-this
Description: Depends: on nothing
 Depends: d

Package: b
Pre-Depends: a, mail
Suggests: d

Package: c
Provides: mail (= 1), post
Recommends: c, post

Package: d
Provides: mail
"""


class PackageGraph(unittest.TestCase):
    def test_alternatives_provides_and_self_loops(self):
        vertices, edges = package_graph.edges_of(*package_graph.parse(PACKAGES))
        # a-b, a-c by alternatives, a-b again by Pre-Depends, b-c and b-d through mail; c names only itself
        self.assertEqual((vertices, edges), (4, [(0, 1), (0, 2), (1, 2), (1, 3)]))

    def test_absent_lists_name_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "apt.conf")
            with open(config, "w") as f:
                f.write(f'Dir::State::Lists "{folder}/lists";\n')
            done = subprocess.run([os.path.join(TOOLS, "package-graph")], env={**os.environ, "APT_CONFIG": config},
                                  capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get update", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


class Measure(unittest.TestCase):
    def test_cgroup_quotas(self):
        with tempfile.TemporaryDirectory() as folder:
            for content, cores in (("150000 100000\n", 1.5), ("max 100000\n", math.inf), ("broken", math.inf)):
                with open(os.path.join(folder, "cpu.max"), "w") as f:
                    f.write(content)
                self.assertEqual(measure.quota_v2(folder), cores)
            self.assertEqual(measure.quota_v1(folder), math.inf)
        self.assertGreaterEqual(measure.usable_cores(), 1)

    def test_a_group_of_half_a_core(self):
        with measure.quota_group(0.5) as folder:
            if not folder:
                self.skipTest("no control group may be made here")
            self.assertIn(0.5, (measure.quota_v1(folder), measure.quota_v2(folder)))
        self.assertFalse(os.path.exists(folder))

    def test_runs_alternate(self):
        order = []
        results = measure.in_turn(3, lambda: order.append("a") or len(order), lambda: order.append("b") or len(order))
        self.assertEqual("".join(order), "abbaab")
        self.assertEqual(results, [[1, 4, 5], [2, 3, 6]])

    def test_an_object_among_warnings(self):
        self.assertEqual(measure.object_in('[1.5] UCX  ERROR {x}\n{"a": {"b": 1}}\n[hwloc/linux] failed\n'), {"a": {"b": 1}})
        for text in ("", "no object\n", "{half"):
            self.assertRaises(ValueError, measure.object_in, text)

    def test_ratio_is_of_pairs(self):
        # The machine became three times slower on the way: each pair still has the ratio 2.
        self.assertEqual(measure.ratio_of([2, 4, 6], [1, 2, 3], float), (2, 2, 2))

    def test_calibration_is_repeated_when_it_is_off(self):
        class Run:
            least = [7000, 2100, 1900]
            def run(self, program, options):
                return {"steps": len(self.least), "serial_us": {"min": self.least.pop(0)}}
        self.assertEqual(measure.calibrated(Run(), "2ms"), 2)
        self.assertEqual([measure.microseconds(t) for t in ("450us", "2.2ms", "1s")], [450, 2200, 1e6])

    def test_time_text(self):
        for us, text in ((1.5e6, "1.5 s"), (20e3, "20 ms"), (235.4, "235 us"), (1, "1 us"), (0.0123, "12.3 ns")):
            self.assertEqual(measure.time_text(us), text)


class Demo(unittest.TestCase):
    def test_one_core_gives_no_figures(self):
        core = str(min(os.sched_getaffinity(0)))
        for tool in ("demo", "bench"):
            done = subprocess.run(["taskset", "-c", core, os.path.join(TOOLS, tool), "--prefix", "/nowhere"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("nothing can be balanced", done.stdout)

    def measured(self, plain, shared, perfect, taken=(0,)):
        """The demo's result for runs that take as long as is said, while others take parts of the cores as listed, then none."""
        class Run:
            def run(self, program, options, workshare=False):
                result = {"us": {"median": shared if workshare else plain}, "perfect_us": perfect, "steps": 7, "serial_us": {"min": 20000}}
                return {**result, "workshare": {"chunks_stolen": 5, "reason": None}} if workshare else result

        class Watch:
            left = list(taken)
            def during(self, work):
                return work(), self.left.pop(0) if self.left else 0
        return demo.measure_job(Run(), Watch(), "title", "double_loop", ["--work", "20ms"], 3)

    def cells(self, *how):
        return demo.row_of(self.measured(*how))[-3:]

    def test_won_back(self):
        self.assertAlmostEqual(self.measured(15.0, 11.0, 10.0)["won_back"], 0.8)
        self.assertEqual(self.cells(15.0, 11.0, 10.0), ["1.36", "80%", 5])

    def test_nothing_lost_is_no_number(self):
        self.assertEqual(self.cells(10.0, 10.0, 10.0)[1], "nothing lost")
        self.assertEqual(self.cells(10.2, 9.9, 10.0)[1], "nothing lost")

    def test_no_figure_is_impossible(self):
        self.assertEqual(self.cells(15.0, 9.9, 10.0)[1], "100%")                     # as near as the measurement is
        self.assertEqual(self.cells(15.0, 7.0, 10.0), ["noise", "noise", 5])          # 160 %
        self.assertEqual(self.cells(15.0, 15.2, 10.0)[1], "0%")
        self.assertEqual(self.cells(15.0, 20.0, 10.0), ["0.75", "-100%", 5])          # that is possible, and said

    def test_disturbed_runs_are_repeated_within_a_bound(self):
        some = self.measured(15.0, 11.0, 10.0, [0.3, 0, 0, 0.2])
        self.assertEqual((some["runs_tried"], some["runs_disturbed"], some["taken"], some["taken_at_most"], some["doubt"]), (5, 2, 0, 0.3, None))
        busy = self.measured(15.0, 11.0, 10.0, [0.5] * 17 + [0.2])
        self.assertEqual((busy["runs_tried"], busy["runs_disturbed"], busy["doubt"]), (9, 9, "disturbed"))
        self.assertEqual(demo.row_of(busy)[-3:], ["disturbed", "disturbed", 5])

    def test_figures_of_runs_that_were_disturbed_a_little_are_called_rough(self):
        rough = self.measured(15.0, 11.0, 10.0, [0.08] * 18)
        self.assertEqual((rough["runs_tried"], rough["runs_disturbed"], rough["doubt"]), (9, 9, None))
        self.assertEqual(demo.row_of(rough)[-3:], ["~1.36", "~80%", 5])
        self.assertIn("~: rough, as even in the quietest runs others used 8 % to 8 % of the CPUs", "\n".join(disturbance.summary([rough])))
        self.assertEqual(demo.row_of(self.measured(15.0, 7.0, 10.0, [0.08] * 18))[-3:], ["noise", "noise", 5])    # rough is not impossible

    def test_runs_that_differ_less_than_what_they_show_are_rough(self):
        def result(uneven, away):
            return {**self.measured(15.0, 11.0, 10.0), "spread": uneven, "doubt": disturbance.doubt(0, uneven, 15.0, 11.0, 10.0, away)}
        self.assertEqual(demo.row_of(result(0.12, 1.3))[-3:], ["~1.36", "~80%", 5])
        self.assertIn("~: rough, as runs of the same thing differ by up to 12 %", "\n".join(disturbance.summary([result(0.12, 1.3)])))
        self.assertEqual(demo.row_of(result(0.12, 1.1))[-3:], ["noise", "noise", 5])

    def test_what_is_said(self):
        quiet, some, busy, odd = (self.measured(15.0, shared, 10.0, taken)
                                  for shared, taken in ((11.0, [0.02]), (11.0, [0.3]), (11.0, [0.5] * 18), (7.0, [])))
        self.assertEqual(disturbance.summary([quiet]), ["Others used at most 2 % of the CPUs meanwhile."])
        said = disturbance.summary([quiet, some])
        self.assertEqual(len(said), 1)
        self.assertIn("up to 30 % of them: 1 of 7 pairs of runs were disturbed", said[0])
        said = "\n".join(disturbance.summary([quiet, busy, odd]))
        for part in ("9 of 15 pairs", "disturbed: even in the quietest runs others used 50 % to 50 %", "noise: runs of the same", "while nothing else runs"):
            self.assertIn(part, said)

    def test_what_next(self):
        with tempfile.TemporaryDirectory() as folder:
            said = "\n".join(demo.next_steps(folder))
            with open(os.path.join(folder, "app.c")) as f:
                self.assertIn("#pragma ws for", f.read())
            self.assertIn(os.path.join(os.path.relpath(folder), "app.c"), said)
        for command in ("setup build\n", 'eval "$(', "mpicc -fws -O3 ", "mpirun -workshare -n 2 ./app"):
            self.assertIn(command, said)

    def test_another_mpicc_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            os.makedirs(os.path.join(folder, "bin"))
            os.makedirs(os.path.join(folder, "lib"))
            mpicc = os.path.join(folder, "bin", "mpicc")
            with open(mpicc, "w"):
                os.chmod(mpicc, 0o755)
            path, os.environ["PATH"] = os.environ["PATH"], os.path.join(folder, "bin")
            try:
                self.assertIn(f"without it mpicc is {mpicc}, which does not know -fws", demo.next_steps(folder)[-1])
                open(os.path.join(folder, "lib", "libws.so.1"), "w").close()
                self.assertNotIn(mpicc, demo.next_steps(folder)[-1])
            finally:
                os.environ["PATH"] = path


class Disturbance(unittest.TestCase):
    STAT = ("cpu  9 9 9 9 9 9 9 9 9 9\n"
            "cpu0 100 10 20 5000 700 3 4 5 100 0\n"
            "cpu1 200 0 0 9000 0 0 0 0 0 0\n"
            "cpu10 1000 0 0 0 0 0 0 0 0 0\n"
            "intr 12345\n")

    def test_busy(self):
        # Neither idle nor waiting for a disk; stolen time counts, guests' is in user already
        self.assertAlmostEqual(disturbance.busy_seconds(self.STAT, {0}, 100), 1.42)
        self.assertAlmostEqual(disturbance.busy_seconds(self.STAT, {0, 1}, 100), 3.42)

    def test_taken(self):
        def taken(busy, own, cpus, ranks):
            return disturbance.taken(disturbance.Usage(10, 100, 1), disturbance.Usage(20, 100 + busy, 1 + own), cpus, ranks)
        self.assertAlmostEqual(taken(20, 20, 2, 2), 0)
        self.assertAlmostEqual(taken(20, 15, 2, 2), 0.25)
        self.assertAlmostEqual(taken(19.9, 20, 2, 2), 0)       # ticks are coarse
        self.assertAlmostEqual(taken(40, 20, 4, 2), 0)         # two busy CPUs that the ranks do not need
        self.assertAlmostEqual(taken(35, 10, 4, 2), 0.25)

    def test_doubt(self):
        self.assertIsNone(disturbance.doubt(0.05, 0.1, 15, 11, 10))
        self.assertIsNone(disturbance.doubt(0.15, 0, 15, 11, 10))
        self.assertEqual(disturbance.doubt(0.16, 0, 15, 11, 10), "disturbed")
        self.assertEqual(disturbance.doubt(0, 0.11, 15, 11, 10), "noise")
        self.assertEqual(disturbance.doubt(0, 0, 9, 11, 10), "noise")
        self.assertEqual(disturbance.doubt(0, 0.15, 15, 11, 10, disturbance.apart([14, 15, 16], [11, 12.5, 11.2])), "noise")
        self.assertIsNone(disturbance.doubt(0, 0.15, 15, 11, 10, disturbance.apart([14, 15, 16], [11, 12, 11.2])))
        self.assertIsNone(disturbance.doubt(0, 0.15, 11, 15, 10, disturbance.apart([11, 12, 11.2], [14, 15, 16])))     # slower is as certain
        self.assertEqual(disturbance.doubt(0.16, 0.15, 15, 11, 10, 1.2), "disturbed")
        self.assertAlmostEqual(disturbance.spread([11, 10, 9]), 0.2)

    def test_repeats_end_in_time(self):
        def tries(seconds_each):
            time = iter(range(0, 1000, seconds_each))
            return disturbance.repeated(3, 9, 20, lambda number: disturbance.Run(None, None, 0.5), lambda: next(time)).tried
        self.assertEqual((tries(1), tries(5), tries(60)), (9, 6, 3))

    def test_our_own_use_is_not_others(self):
        watch = disturbance.Watch(1)
        before = watch.read()
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"], check=True)
        after = watch.read()
        self.assertGreaterEqual(after.own - before.own, 0.2)
        self.assertGreater(after.busy - before.busy, 0.1)


class Bench(unittest.TestCase):
    def runs(self, *values):
        return [{"us": {"median": v}} for v in values]

    def test_versions_in_one_program(self):
        runs = [{"loop": {"us": {"ws": 10, "omp": 10}, "over": {"omp": [0, ratio, 9]}}} for ratio in (1.004, 1.003, 1.2)]
        found = line.over("x", runs, "loop", "ws", "omp", 1.005, "note")
        self.assertEqual((found["value"], found["pass"], found["noisy"]), (1.004, True, True))
        self.assertFalse(line.over("x", runs, "loop", "ws", "omp", 1.001, "note")["pass"])

    def test_target_and_noise(self):
        def passes(ours, rival, most):
            return line.compare("x", self.runs(*ours), self.runs(*rival), line.median_us, "us", most, "r")["pass"]
        self.assertTrue(passes((10, 10, 10), (10, 10, 10), 1.01))
        self.assertFalse(passes((10.2, 10.2, 10.2), (10, 10, 10), 1.01))
        self.assertTrue(passes((10.2, 9, 11), (10, 9, 11), None))
        self.assertFalse(passes((10.2, 10.2, 10.2), (10, 10, 10), None))


class Judged(unittest.TestCase):
    """A figure is judged only if the run was quiet enough for it."""
    def said(self, spread, passed, taken=0.0, target="<= 1.05", value=1.0):
        return line.row_of({**line.figure("x", 1, 1, "us", value, target, passed, spread), "taken": taken})[-1]

    def test_quiet_runs_are(self):
        self.assertEqual((self.said([0.99, 1.01], True), self.said([1.06, 1.08], False, value=1.07)), ("pass", "missed"))

    def test_disturbed_ones_are_not(self):
        self.assertEqual((self.said([0.99, 1.01], True, 0.12), self.said([1.06, 1.08], False, 0.12, value=1.07)), ("not judged: others took 12 %",) * 2)
        self.assertEqual(self.said([0.99, 1.01], True, 0.05), "pass")

    def test_runs_that_differ_are_not_unless_all_say_the_same(self):
        self.assertEqual((self.said([0.9, 1.1], True), self.said([1.0, 1.3], False, value=1.1)), ("not judged: noisy",) * 2)
        self.assertEqual((self.said([0.8, 1.0], True, value=0.9), self.said([1.1, 1.5], False, value=1.2)), ("pass", "missed"))
        self.assertEqual((self.said([1.4, 1.9], True, target=">= 1.3", value=1.5), self.said([1.2, 1.9], True, target=">= 1.3", value=1.5)), ("pass", "not judged: noisy"))

    def test_without_a_target_there_is_nothing_to_judge(self):
        self.assertEqual(self.said([0.5, 1.5], None, 0.5, ""), "measured")

    def test_no_target_that_the_machine_cannot_reach(self):
        runs = [{"us": {"median": 130.0}, "perfect_us": 100.0}]
        self.assertEqual(loops.perfect_line("x", runs, 1.04, 1.03)["pass"], False)
        self.assertEqual(loops.perfect_line("x", runs, 1.04, 1.05)["pass"], None)


class Charts(unittest.TestCase):
    def test_bars_are_columns_or_ratios_of_times(self):
        table = line.table("Unmodified codes of many loops", ["program", "library", "plain", "helped", "ws for", "one process"],
                           [["spin", "libgomp", {"us": 10.0}, {"us": 5.0}, None, {"us": 4.0}]])
        codes = next(c for c in charts.CHARTS if c.name == "codes")
        labels, series = charts.drawn(codes, [line.table("another", ["x"], []), table])
        self.assertEqual((labels, series), (["spin, libgomp"], [("unmodified", [2.0]), ("ws for", [None]), ("OpenMP", [2.5])]))
        self.assertIsNone(charts.drawn(codes, []))

    def test_the_last_kept_run_has_them_all(self):
        run = history.read_run(history.newest())
        self.assertEqual([c.name for c in charts.CHARTS if not charts.drawn(c, run["tables"])], [])


class SecondLook(unittest.TestCase):
    """Of --quick, at a group of seconds in which a target is missed."""
    def looks(self, quick, passed, seconds=bench.SECONDS, fails=False, taken=0.0):
        """How long each look at the group was to be, and the figures that stand."""
        looks = []

        def group(run, short):
            looks.append("short" if short else "long")
            yield line.figure(looks[-1], 1, 1, "us", 1, "<= 1" if passed is not None else "", passed, [1, 1])
            if fails:
                raise measure.Failure("no result")
        with unittest.mock.patch.dict(bench.GROUPS, {"g": group}), unittest.mock.patch.object(bench.time, "monotonic", side_effect=[0, seconds]), \
                unittest.mock.patch.object(bench.disturbance.Watch, "during", lambda self, work: (work(), taken)), \
                contextlib.redirect_stderr(io.StringIO()):
            found, failed = bench.measured("g", None, quick)
        self.assertEqual(len(failed), fails)
        return looks, [f["figure"] for f in found]

    def test_what_is_missed_is_measured_at_length(self):
        self.assertEqual(self.looks(quick=True, passed=False), (["short", "long"], ["long"]))

    def test_what_is_not_judged_is_measured_at_length(self):
        self.assertEqual(self.looks(quick=True, passed=True, taken=0.06), (["short", "long"], ["long"]))

    def test_nothing_else_is(self):
        once = (["short"], ["short"])
        self.assertEqual(self.looks(quick=True, passed=True), once)
        self.assertEqual(self.looks(quick=True, passed=None), once)  # no target
        self.assertEqual(self.looks(quick=True, passed=False, seconds=bench.SECONDS + 1), once)
        self.assertEqual(self.looks(quick=True, passed=False, fails=True), once)
        self.assertEqual(self.looks(quick=False, passed=False), (["long"], ["long"]))


class WhatTheMachineLeaves(unittest.TestCase):
    class Run:
        """Runs whose times are known."""
        def __init__(self, there):
            self.there = there

        def run(self, program, options):
            if program == "handover":
                return {"there_us": self.there and {"median": self.there}, "back_us": self.there and {"median": 4.0}}
            assert program == "double_loop_plain" and options == ["--steps", 7, "--by-hand"]
            return {"us": {"median": 102.0}, "perfect_us": 100.0}

    def test_limit_is_the_cut_by_hand_and_half_of_a_hand_over(self):
        limit = loops.Limit(self.Run(6.0), True)
        by_hand = limit.by_hand(["--steps", 7])
        self.assertAlmostEqual(limit.us(by_hand), 107.0)
        ours = {"us": {"median": 220.0}, "perfect_us": 200.0}  # of other work: each over its own perfect half
        found = limit.line("ours", [ours], [by_hand], 1.05)
        self.assertAlmostEqual(found["value"], 1.1 / 1.07)
        self.assertTrue(found["pass"])
        self.assertFalse(limit.line("ours", [ours], [by_hand], 1.02)["pass"])

    def test_without_a_hand_over_there_is_no_limit(self):
        with self.assertRaisesRegex(measure.Failure, "the system refused a process"):
            loops.Limit(self.Run(None), True)


class History(unittest.TestCase):
    def line(self, name, value, passed=True):
        return line.figure(name, 1, 1, "us", value, "<= 1.05", passed, [value * 0.99, value * 1.01])

    def test_a_kept_run_reads_back(self):
        report = {"commit": "c", "quick": False, "figures": [self.line("a", 1)], "tables": [line.table("t", ["x"], [["1"]])], "failures": []}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.jsonl")
            history.write_run(report, path)
            run = history.read_run(path)
        self.assertEqual((run["commit"], run["figures"], run["tables"]), ("c", report["figures"], report["tables"]))

    def test_parts_of_a_run(self):
        part = lambda group, **facts: {"commit": "c", "quick": False, "cpu": "x", "cores": 2, "tables": [], "failures": [],
                                       "figures": [{"group": group, **self.line(group, 1)}], **facts}
        whole = history.merged([part("claim"), part("double")])
        self.assertEqual([f["group"] for f in whole["figures"]], ["double", "claim"])
        with tempfile.TemporaryDirectory() as folder:  # a run of one group of four is not the page's
            paths = [os.path.join(folder, name) for name in ("1-quick.jsonl", "2-quick.jsonl", "3-quick.jsonl")]
            for path, names in zip(paths, (("claim", "double", "flex", "region"), ("flex",), ("claim", "double"))):
                parts = [part(name) for name in names]
                history.write_run({**parts[0], "figures": [f for p in parts for f in p["figures"]], "tables": []}, path)
            self.assertEqual(history.whole(paths), [paths[0], paths[2]])
        self.assertRaises(SystemExit, history.merged, [part("claim"), part("double", commit="d")])

    def test_changes(self):
        old = {"figures": [self.line("same", 1), self.line("within", 1), self.line("worse", 1), self.line("lost", 1), self.line("gone", 1)]}
        new = {"figures": [self.line("same", 1), self.line("within", 1.009), self.line("worse", 1.04), self.line("lost", 1.06, False), self.line("new", 1)]}
        self.assertEqual([(row[0], row[3]) for row in history.changes(old, new)],
                         [("worse", "+4.0%"), ("lost", "pass -> missed"), ("new", "new: pass"), ("gone", "gone")])

    def test_measured_without_a_target(self):
        self.assertEqual(line.row_of(line.number("x", [3.0, 1.0, 2.0], "us", None, None))[1:], ["2 us", "", "2.0 us", "1.5 .. 2.5", "", "measured"])
        self.assertEqual(line.row_of(line.number("x", [0.5], "%", 2, 99.0))[1:], ["0.5 %", "99 %", "0.5 %", "0.5 .. 0.5", "<= 2 %", "pass"])

    def test_possible(self):
        self.assertAlmostEqual(sleeping.possible(16, 1), 31 / 16)
        self.assertAlmostEqual(sleeping.possible(16, 4), 31 / 19)


class Papers(unittest.TestCase):
    WHERE = {"date": "today", "commit": "c", "cpu": "x", "cores": 2}

    def test_what_a_section_yields(self):
        lines = [line.number(name, [1.0], "us", None, None) for name in "ab"]
        text = papers.text_of(["Words.", *lines, line.table("t", ["x"], [[1.5]], "note"), {"picture": "p", "title": "P", "svg": b""}, lines[0]])
        self.assertEqual([part.split("\n")[0] for part in text.split("\n\n")],
                         ["Words.", "| figure | ours | rival | median | quartiles | target |  |", "**t**", "| x |", "note", "![P](papers/p.svg)",
                          "| figure | ours | rival | median | quartiles | target |  |"])
        self.assertEqual(text.count("1.0 us"), 3)

    def test_other_sections_stay(self):
        class Section:
            def __init__(self, title):
                self.TITLE, self.PAPER = title, "Paper."
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(papers, "SECTIONS", {"a": Section("A"), "b": Section("B")}):
            def page():
                with open(os.path.join(folder, "papers.md")) as f:
                    return f.read()
            papers.write("b", ["first", {"picture": "p", "title": "P", "svg": b"<svg/>"}], False, self.WHERE, folder)
            papers.write("a", ["# no heading\n\n### neither"], True, self.WHERE, folder)
            papers.write("b", ["second"], True, self.WHERE, folder)
            once = page()
            self.assertEqual([once.count(part) for part in ("\n## A\n", "\n## B\n", "first", "second", "### neither", "papers --only a --quick\n")],
                             [1, 1, 0, 1, 1, 1])
            self.assertLess(once.index("## A"), once.index("## B"))
            papers.write("b", ["second"], True, self.WHERE, folder)
            self.assertEqual(page(), once)
            self.assertTrue(os.path.exists(os.path.join(folder, "papers", "p.svg")))

    def test_pictures_are_the_same_for_the_same_figures(self):
        if not importlib.util.find_spec("pygal"):
            self.skipTest("needs python3-pygal")
        first, second = (papers_chart.lines("p", "T", "x", "y", [1, 2], [("a", [1, 2]), ("b", [None, 3])])["svg"] for _ in range(2))
        self.assertEqual(first, second)
        self.assertNotIn(b"<script", first)


class CompileTime(unittest.TestCase):
    def test_files(self):
        loops, none = compile_time.source(1), compile_time.source(0)
        self.assertEqual(loops.count("#pragma ws for"), compile_time.LOOPS)
        self.assertNotIn("#pragma", none)
        for text in (loops, none):
            self.assertTrue(10000 <= text.count("\n") < 11000)

    def test_cpu_time_and_failure(self):
        busy = [sys.executable, "-c", "x = 0\nfor i in range(10**6): x += i"]
        self.assertGreater(compile_time.cpu_seconds(busy), 0.005)
        self.assertRaises(measure.Failure, compile_time.cpu_seconds, [sys.executable, "-c", "raise SystemExit(3)"])


class OtherMpis(unittest.TestCase):
    def runs(self):
        with tempfile.TemporaryDirectory() as programs:
            os.mkdir(os.path.join(programs, "any_mpi"))
            with open(os.path.join(programs, "any_mpi/mpis"), "w") as f:
                f.write("openmpi\t4.1.4\t/usr/bin/mpicc.openmpi\nmpich\t4.0.2\t/opt/a b/bin/mpicc\n")
            return measure.any_mpis("/p", programs, 2, "core", 10)

    def test_none(self):
        self.assertEqual(measure.any_mpis("/p", "/nowhere", 2, "core", 10), [])

    def test_commands(self):
        openmpi, mpich = self.runs()
        self.assertEqual((openmpi.name(), mpich.name()), ("Open MPI 4.1.4", "MPICH 4.0.2"))
        with unittest.mock.patch.object(measure, "physical_cores", lambda: 2):
            self.assertEqual(openmpi.command("startup", ["--json"])[:-2], ["/usr/bin/mpirun.openmpi", "--bind-to", "core", "-n", "2"])
        with unittest.mock.patch.object(measure, "physical_cores", lambda: 1):
            self.assertEqual(openmpi.command("startup")[1:4], ["--use-hwthread-cpus", "--bind-to", "hwthread"])
        command = mpich.command("startup", workshare=True, flags=["-workshare-trace", "t.json", "-workshare-openmp=share"], bind="none")
        self.assertEqual(command[:-1], ["/opt/a b/bin/mpirun", "-bind-to", "none", "-n", "2", "/p/bin/workshare", "--quiet", "--trace", "t.json",
                                        "--openmp=share"])
        self.assertEqual(os.path.basename(command[-1]), "mpich_startup")
        self.assertEqual([name for name in ("LD_LIBRARY_PATH", "WS_ENABLE") if name in mpich.environment()], [])


if __name__ == "__main__":
    unittest.main()
