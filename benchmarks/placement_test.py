#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The group `placement` of bench builds its program and finds a time for each loop at each address.

usage: placement_test.py PREFIX
"""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tools/dev"))
import compile_time  # noqa: E402
import measure  # noqa: E402
from figures import placement  # noqa: E402

if not shutil.which("objcopy"):
    print("objcopy is missing: on Debian, the package binutils")
    sys.exit(77)
for name, mpicc in compile_time.compilers(os.path.abspath(sys.argv[1])):
    with tempfile.TemporaryDirectory() as folder:
        argument, parts = placement.PARTS[name]
        program = placement.Program(folder, mpicc, "-O2", [f"-fplugin-arg-{argument}-without-{part}" for part in parts])
        program.run(1)
        for version in "plain", "ws":
            for loop in placement.LOOPS:
                ratios = program.ratios(version, loop)
                assert len(ratios) == placement.ADDRESSES and ratios[0] > 0, (name, version, loop, ratios)
        slow, median, worst = placement.summary(program.ratios("plain"))
        assert 1 <= median <= worst, (name, slow, median, worst)
        try:
            placement.ran([program.binary])
            assert False, "a number of samples is not asked for"
        except measure.Failure as failure:
            assert "usage" in str(failure), failure
