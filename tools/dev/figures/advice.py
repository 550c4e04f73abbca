# SPDX-License-Identifier: MIT
"""What `ws-doctor advise` predicts of a program's report, beside what its advice then brings."""
import json
import os
import shlex
import subprocess
import tempfile
from collections import namedtuple

import measure

from . import line

TRUE = 0.07     # how far a prediction may be from what is then measured
LEAST = 0.98    # of the time without: what is advised never loses more


def programs(run, quick):
    """(what, program, options, {variable: value}, the same program with its loops marked), each."""
    short = 0.5 if quick else 1
    steps = measure.calibrated(run, "20ms")
    double = ["--no-serial", "--steps", steps, "--repeats", int(60 * short)]
    turns = ["--shares", "3,1", "--zones", 32, "--steps", steps, "--turns", int(100 * short)]
    one_thread = {"OMP_NUM_THREADS": "1"}
    return (("double loop, 20 ms", "double_loop_plain", double, {}, "double_loop"),
            ("triangles", "triangles_plain", ["--scale", 15, "--warmup", 0, "--repeats", int(16 * short)], {}, "triangles"),
            ("conjugate gradients, 25 % of the rows", "gradients_plain", ["--share", 25, "--repeats", int(60 * short)], {}, "gradients_ws"),
            ("unmodified OpenMP loop", "double_loop_unmodified_gcc", double, one_thread, None),
            ("unmodified OpenMP, many regions", "openmp_turns", turns, one_thread, None),
            ("unmodified OpenMP, 2 ranks x 8 threads, sleeping work", "openmp_turns", ["--sleep", "--shares", "1,0.3", "--zones", 4, "--work", "320ms", "--turns", int(120 * short)],
             {"OMP_NUM_THREADS": "8", "OMP_WAIT_POLICY": "passive", "WS_CORES": "16"}, None),
            ("balanced loop", "double_loop_plain", [*double, "--balanced"], {}, "double_loop"))


def job(run, command, env, flags, folder):
    """The report of a job. `command`: of a shell, with variables before it, that begins with mpirun."""
    words = shlex.split(command)
    at = words.index("mpirun")
    if "WS_CORES" in env and "-bind-to" in words:   # pretended cores: there is nothing to bind to
        bind = words.index("-bind-to")
        del words[bind:bind + 2]
    name = os.path.join(folder, "run.json")
    full = [os.path.join(run.prefix, "bin", "mpirun"), *flags, "-workshare-quiet", f"-workshare-report={name}", *words[at + 1:]]
    variables = {**env, **dict(word.split("=", 1) for word in words[:at])}
    try:
        done = subprocess.run(full, env=run.environment(more=variables), capture_output=True, text=True, timeout=run.limit)
    except subprocess.TimeoutExpired:
        raise measure.Failure(f"gave no result within {run.limit} s: {shlex.join(full)}") from None
    if done.returncode != 0:
        raise measure.Failure(f"exit status {done.returncode}: {shlex.join(full)}\n{done.stderr}", wrong="WRONG:" in done.stderr)
    with open(name) as f:
        return name, json.load(f)


def counsel(run, *reports):
    done = subprocess.run([os.path.join(run.prefix, "bin", "ws-doctor"), "advise", "--json", *reports], capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise measure.Failure(f"ws-doctor advise: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


# `advice`: the first one, or None. `before_s`, `after_s`: elapsed times without it and with it. `is_unsure`: waits are short, so the tool claims only bounds of the gain,
# and tells the user to measure it.
Pair = namedtuple("Pair", "advice before_s after_s is_unsure")


def pair(run, program, options, env, marked):
    """Runs a program, asks for advice, and follows it."""
    with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
        plain = shlex.join(["mpirun", "-bind-to", "core", "-n", str(run.ranks), run.path(program), *map(str, options)])
        for _ in range(4):  # a run that others disturbed gets no advice
            name, before = job(run, plain, env, ["-workshare"], folder)
            said = counsel(run, name)
            if not any("may be noise" in unknown["because"] for unknown in said["unknown"]):
                break
        found = said["advice"]
        is_unsure = any("limited by memory" in unknown["about"] for unknown in said["unknown"])
        if not found:
            return Pair(None, before["elapsed_s"], None, is_unsure)
        command = found[0]["commands"][-1]
        if found[0]["kind"] == "mark_loops":
            command = command.replace(os.path.realpath(run.path(program)), run.path(marked))
        _, after = job(run, command, env, [], folder)
        return Pair(found[0], before["elapsed_s"], after["elapsed_s"], is_unsure)


SHAPES = ((2, 2), (4, 2), (2, 4))   # ranks, threads


def scaling(run, quick):
    """The time that three runs of other ranks and threads predict for more of both, of what it then takes: sleeping work on 16 pretended cores."""
    env = {"OMP_WAIT_POLICY": "passive", "WS_CORES": "16"}
    options = ["--sleep", "--zones", 16, "--work", "640ms", "--turns", 30 if quick else 60]
    command = shlex.join(["-n", "{}", run.path("openmp_turns"), *map(str, options)])
    ratios, shape = [], ""
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
            names = []
            for ranks, threads in SHAPES:
                name, report = job(run, f"OMP_NUM_THREADS={threads} mpirun {command.format(ranks)}", env, ["-workshare"], folder)
                names.append(f"{folder}/{ranks}x{threads}.json")
                os.rename(name, names[-1])
            found = [a for a in counsel(run, *names)["advice"] if a["kind"] == "shape" and not a["measured"]]
            if not found:
                continue
            shape = found[0]["what"]
            with open(names[found[0]["run"]]) as base:
                predicted = json.load(base)["elapsed_s"] / found[0]["gain"]["expected"]
            _, after = job(run, found[0]["commands"][-1], env, [], folder)
            ratios.append(predicted / after["elapsed_s"])
    if not ratios:
        yield line.figure("ranks x threads: advice beyond three runs", 0, None, "", 0, ">= 1", False, [0, 0], noisy=False)
        return
    ratio, low, high = measure.quartiles(sorted(ratios))
    yield line.figure("ranks x threads, predicted from three other runs, sleeping work: time, of what it took", ratio, None, "x", ratio, f"within {TRUE:g} of 1",
                      abs(ratio - 1) <= TRUE, [low, high], shape)


def advice(run, quick):
    yield from scaling(run, quick)
    rows = []
    for what, program, options, env, marked in programs(run, quick):
        pairs = measure.in_turn(5 if quick else 9, lambda: pair(run, program, options, env, marked))[0]
        given = [p for p in pairs if p.advice]
        balanced = "balanced" in what   # is to get no advice, whatever its waits
        if not balanced and not given and all(p.is_unsure for p in pairs):
            yield line.figure(f"{what}: runs told to measure the gain", len(pairs), None, "", len(pairs), f">= {len(pairs)}", True, [len(pairs)] * 2, noisy=False)
            rows.append([what, "measure it", None, None, None])
            continue
        if len(given) < len(pairs):
            yield line.figure(f"{what}: runs without advice", len(pairs) - len(given), None, "", len(pairs) - len(given),
                              f">= {len(pairs)}" if balanced else "<= 0", balanced and not given, [len(pairs) - len(given)] * 2, noisy=False)
            rows.append([what, "none", None, None, None])
            continue
        if balanced:
            yield line.figure(f"{what}: runs without advice", 0, None, "", 0, f">= {len(pairs)}", False, [0, 0], given[0].advice["what"], noisy=False)
        predicted = [p.advice["gain"]["expected"] for p in given]
        measured = [p.before_s / p.after_s for p in given]
        ratio, low, high = measure.quartiles(sorted(p / m for p, m in zip(predicted, measured)))
        gain, least, most = measure.quartiles(sorted(measured))
        # Where equal pairs gain differently, one run tells nothing of its prediction.
        noisy = most - least > TRUE * gain
        if not given[0].is_unsure:
            yield line.figure(f"{what}: gain that {given[0].advice['kind']} was predicted to bring, of what it brought", measure.quartiles(sorted(predicted))[0], gain,
                              "x", ratio, f"within {TRUE:g} of 1", abs(ratio - 1) <= TRUE, [low, high], given[0].advice["what"], noisy=noisy)
        yield line.figure(f"{what}: how many times as fast with the advice", gain, 1, "x", gain, f">= {LEAST:g}", gain >= LEAST, [min(measured), max(measured)])
        beyond = sum(not p.advice["gain"]["low"] <= m <= p.advice["gain"]["high"] for p, m in zip(given, measured))
        yield line.figure(f"{what}: runs whose gain was beyond its bounds", beyond, None, "", beyond, "<= 0", beyond == 0, [beyond, beyond], noisy=False)
        bounds = [given[0].advice["gain"][k] for k in ("low", "expected", "high")]
        rows.append([what, given[0].advice["kind"], f"{bounds[0]:.2f} .. {bounds[1]:.2f} .. {bounds[2]:.2f}", gain, ratio])
    yield line.table("ws-doctor advise: what was predicted of the first run of each program, and measured", ["program", "advice", "predicted", "measured", "predicted / measured"],
                     rows, "2 ranks. Loops are marked in another build of the same source.")
