# SPDX-License-Identifier: MIT
"""A program compiled for the standard's ABI (mpicc -mpi-abi -fws) runs under our mpirun, and its waiting rank lends; it loads nothing of MPICH's own ABI."""
import os
import subprocess

from job import CORES, PROGRAMS, expect, finish, run

result = run('imbalance_abi', 'late', 100, limit=30, steals=CORES > 1)
expect(result, f'wrong: {result.out!r}', result.out == 'right\n')
result = run('imbalance_abi', 'late', 100, limit=30, workshare=False)
expect(result, f'wrong without the flag: {result.out!r}', result.out == 'right\n')
loaded = subprocess.run(['ldd', os.path.join(PROGRAMS, 'imbalance_abi')], capture_output=True, text=True).stdout
expect(result, f'of another ABI: {loaded}', 'libmpi_abi' in loaded and 'libws_abi' in loaded and 'libmpich' not in loaded and 'libws.so' not in loaded)
finish()
