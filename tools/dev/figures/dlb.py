# SPDX-License-Identifier: MIT
"""BSC's DLB, as it is installed on this machine, beside ours: bench --dlb PREFIX. Nothing of it is fetched. LeWI, with the settings that its own
examples for MPI and LLVM's OpenMP give."""
import os
import subprocess

import measure

ARGS = "--lewi --ompt --lewi-ompt=borrow --ompt-thread-manager=omp5"
PROGRAM = "openmp_turns_clang"  # its OMPT part needs LLVM's OpenMP


class Dlb:
    def __init__(self, prefix, run):
        """Fails with what the prefix lacks."""
        self.library = os.path.join(os.path.abspath(prefix), "lib", "libdlb_mpi.so")
        if not os.path.exists(self.library):
            raise measure.Failure(f"--dlb {prefix}: no lib/libdlb_mpi.so there: DLB has to be built with MPI, for MPICH")
        if not run.has(PROGRAM):
            raise measure.Failure(f"--dlb {prefix}: needs the program {PROGRAM}, and so clang and its libomp: apt-get install clang-14 libomp-14-dev")
        env = {**run.environment(), "LD_PRELOAD": self.library, "LD_BIND_NOW": "1"}
        tried = subprocess.run(["/bin/true"], env=env, capture_output=True, text=True)
        if tried.returncode or tried.stderr:
            raise measure.Failure(f"--dlb {prefix}: its library cannot be loaded with our MPI: {tried.stderr.strip()}")

    def env(self, more):
        return {**more, "LD_PRELOAD": self.library, "DLB_ARGS": ARGS, "OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0", "OMP_PROC_BIND": "true"}
