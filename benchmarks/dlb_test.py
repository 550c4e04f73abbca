# SPDX-License-Identifier: MIT
"""dlb_test.py PREFIX PROGRAMS: bench --dlb, with a prefix that only looks like an installed DLB: its library writes down with which settings it was
loaded. What a prefix lacks is said in one line. 77 without clang."""
import os
import subprocess
import sys
import tempfile

PREFIX, PROGRAMS = map(os.path.abspath, sys.argv[1:3])
TOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tools", "dev")
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True
import measure  # noqa: E402
from figures import dlb, openmp  # noqa: E402

FAKE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void loaded(void)
{
    const char *args = getenv("DLB_ARGS"), *wait = getenv("OMP_WAIT_POLICY"), *to = getenv("FAKE_DLB");
    FILE *f = args && to && getenv("PMI_RANK") ? fopen(to, "a") : NULL;
    if (f) {
        fprintf(f, "%s|%s\n", args, wait ? wait : "");
        fclose(f);
    }
}
"""


def refused(prefix, *words):
    done = subprocess.run([os.path.join(TOOLS, "bench"), "--prefix", PREFIX, "--programs", PROGRAMS, "--only", "openmp", "--dlb", prefix],
                          capture_output=True, text=True, timeout=60)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and len(lines) == 1 and all(w in lines[0] for w in words), (prefix, done)


if measure.usable_cores() < 2 or not os.path.exists(os.path.join(PROGRAMS, dlb.PROGRAM)):
    print("needs clang and two cores")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    refused(os.path.join(folder, "nowhere"), "--dlb", "nowhere", "no lib/libdlb_mpi.so")
    os.mkdir(os.path.join(folder, "lib"))
    library, said = os.path.join(folder, "lib", "libdlb_mpi.so"), os.path.join(folder, "said")
    with open(library, "w") as f:
        f.write("no library\n")
    refused(folder, "cannot be loaded with our MPI")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=FAKE, text=True, check=True)

    run = measure.Launcher(PREFIX, PROGRAMS, 2, "core", 60)
    run.dlb = dlb.Dlb(folder, run)
    os.environ["FAKE_DLB"] = said
    programs = []
    real = run.run

    def quick(program, options, **how):
        """The runs of the figures, but short; those without DLB once each."""
        key = (program, how.get("workshare"))
        programs.append(key)
        if program == dlb.PROGRAM or key not in seen:
            seen[key] = real(program, ["--shares", "3,1", "--zones", 4, "--work", "1ms", "--turns", 3, "--serial"], **how)
        return seen[key]
    seen = {}
    run.run = quick
    lines = [f["figure"] for f in openmp.lend(run, True)]
    assert sum("DLB's LeWI / perfect half" in name for name in lines) == 3, lines
    assert sum("DLB's LeWI, and ranks that sleep in waits / perfect half" in name for name in lines) == 3, lines
    assert (dlb.PROGRAM, False) in programs and (dlb.PROGRAM, True) in programs, programs
    with open(said) as f:
        settings = f.read().splitlines()
    # 3 works, each 3 times in two ways, of 2 ranks
    assert len(settings) >= 36 and set(settings) == {dlb.ARGS + "|passive"}, (len(settings), set(settings))
print("ok")
