# SPDX-License-Identifier: MIT
"""The double loop traced without stealing and with it, and drawn: for tools/dev/demo and tools/dev/picture."""
import os
import subprocess

import measure


def trace(run, folder, repeats, steps):
    """Writes plain.json and workshare.json into the folder, and returns their paths. The run with stealing is the quickest of three: this
    shows what happens and measures nothing, and a disturbed run would show the disturbance."""
    paths, best = [os.path.join(folder, name) for name in ("plain.json", "workshare.json")], [None, None]
    for path, k, flags in [(paths[0], 0, ["-workshare-victim", "none"]), (paths[1], 1, [])] * 3:
        again = path + ".json"
        result = run.run("double_loop", ["--steps", steps, "--repeats", repeats, "--warmup", 0], workshare=True, flags=[*flags, "-workshare-trace", again])
        if best[k] is None or result["us"]["max"] < best[k]:  # not the median: all executions are in the picture
            best[k] = result["us"]["max"]
            os.replace(again, path)
        else:
            os.remove(again)
    return paths


def draw(run, plain, shared, output):
    done = subprocess.run([os.path.join(run.prefix, "bin", "ws-timeline"), shared, plain, "--loops", "-o", output], capture_output=True, text=True)
    if done.returncode:
        raise measure.Failure(done.stderr.strip())
