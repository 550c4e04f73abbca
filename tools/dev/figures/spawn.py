# SPDX-License-Identifier: MIT
"""Processes that MPI_Comm_spawn starts while the job runs get rows of XMPI, give them back and end: what each step takes, beside MPI_Comm_spawn alone."""
import statistics

import measure

from . import line

# More processes than cores, wherever they are started, and processes of Open MPI 5 that reach each other. Those that wait yield.
ENVIRONMENT = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
               "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_tcp_if_include": "lo"}
# Sleepers that wake late are no foreign load.
SHORT_INTERVALS = {"WS_ROWS_INTERVAL": "5", "WS_ROWS_CPU_LOSS": "100"}
CANNOT, TIMED_OUT = 77, 124  # exit statuses: of flex_spawn, and of timeout
STEPS = "spawn_s", "set_comm_s", "move_s", "end_s"


def took(change):
    return sum(change.get(step, 0) for step in STEPS)


def middle(changes, read):
    return statistics.median(map(read, changes))


def changes_of(runs):
    """The repeats of each change, in the order in which the changes come."""
    found = {}
    for run in runs:
        for change in run["changes"]:
            found.setdefault((change["from"], change["to"]), []).append(change)
    return found


def not_hanging(mpi, options, **how):
    """A run. Open MPI 4.1 sometimes starts a process that waits for ever in PMIx_Init, with and without Workshare: then another one."""
    for tries in range(3):
        try:
            return mpi.run("flex_spawn", options, **how)
        except measure.Failure as failure:
            if failure.status != TIMED_OUT or tries == 2:
                raise


def spawn(run, quick):
    rows, cannot = [], []
    for mpi in run, *measure.any_mpis(run.prefix, run.programs, run.ranks, run.bind, run.limit):
        # Every second process takes twice as long, so that there is something to balance.
        options = ["--slow", 2, "--iterations", 20, "--repeats", 3]
        how = {"bind": "none", "spawns": True, "env": {**ENVIRONMENT, **SHORT_INTERVALS}}
        try:
            ours, plain = measure.in_turn(1 if quick else 3, lambda: not_hanging(mpi, options, workshare=True, **how), lambda: not_hanging(mpi, options, **how))
        except measure.Failure as failure:
            if failure.status != CANNOT:
                raise
            cannot.append([mpi.name(), [text for text in str(failure).splitlines() if "spawn" in text][-1]])
            continue
        ours, plain = changes_of(ours), changes_of(plain)
        for (before, after), changes in ours.items():
            yield from figures(f"{before} -> {after} processes, sleeping work, {mpi.name()}", changes, plain[before, after])
            rows.append([f"{before} -> {after}, {mpi.name()}", *cells(changes, plain[before, after])])
    if rows:
        yield line.table("Processes that are started and end, sleeping work",
                         ["change, MPI", "start alone, without workshare", "start alone", "start", "XMPI_Set_comm", "move", "end", "MB", "start per process", "move per MB", "balanced after"],
                         rows, "start: MPI_Comm_spawn and MPI_Intercomm_merge, alone: of processes that do nothing else. move: XMPI_Resize and the end of an iteration.\n"
                         "end: MPI_Comm_free and MPI_Comm_disconnect. balanced after: iterations, at intervals of 5; every second process takes twice as long.")
    if cannot:
        yield line.table("MPIs that start no processes", ["MPI", "what it says"], cannot)


def figures(what, changes, plain):
    ours = sorted(map(took, changes))
    balanced = f"finish together after {', '.join(str(c['balanced_after']) for c in changes)} iterations"
    if "alone_s" in changes[0]:
        ratios = sorted(took(c) / p["alone_s"] for c, p in zip(changes, plain))
        value, low, high = measure.quartiles(ratios)
        yield line.figure(f"{what}: all steps of the change / MPI_Comm_spawn and merge alone", 1e6 * statistics.median(ours), 1e6 * middle(plain, lambda c: c["alone_s"]), "us", value, "", None,
                          [low, high], f"rival: without workshare; {balanced}", noisy=False)
    else:
        yield line.number(f"{what}: all steps of the change", [1e6 * s for s in ours], "us", None, None, balanced)
    yield line.number(f"{what}: {middle(changes, lambda c: c['mb']):.0f} MB move, per MB", [c["us_per_mb"] for c in changes], "us", None, None)


def cells(changes, plain):
    def us(read, of=changes):
        return line.us(1e6 * middle(of, read))
    starts = "alone_s" in changes[0]
    return [us(lambda c: c["alone_s"], plain) if starts else None, us(lambda c: c["alone_s"]) if starts else None, us(lambda c: c["spawn_s"]) if starts else None,
            us(lambda c: c["set_comm_s"]), us(lambda c: c["move_s"]), None if starts else us(lambda c: c["end_s"]), f"{middle(changes, lambda c: c['mb']):.1f}",
            us(lambda c: c["spawn_s"] / (c["to"] - c["from"])) if starts else None, line.us(middle(changes, lambda c: c["us_per_mb"])),
            f"{middle(changes, lambda c: c['balanced_after']):.0f}"]
