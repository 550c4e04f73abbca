# SPDX-License-Identifier: MIT
"""What an MPI library of this machine can do without Workshare."""
import functools
import os
import re
import shutil
import subprocess

from job import run, skip

# Jobs of Open MPI whose launcher is not the script of these tests: as root, and with more ranks than cores. Without the variable that Meson sets:
# mpirun of Open MPI 4.1 crashes with it if a job ends by an error (mpirun.in).
ENVIRONMENT = {**{f'{name}_ALLOW_RUN_AS_ROOT{confirm}': '1' for name in ('OMPI', 'PRTE') for confirm in ('', '_CONFIRM')},
               'OMPI_MCA_rmaps_base_oversubscribe': '1', 'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe', 'OMPI_MCA_btl_tcp_if_include': 'lo',
               'MALLOC_PERTURB_': '0'}
# Shared memory that Open MPI 5 leaves when no launcher of its own removes it: of a process that is a job of its own, and if mpirun is killed.
SEGMENTS = '/dev/shm/(vader|sm)_segment[.]'


def fortran_compiler(mpicc):
    """The MPI library's compiler for Fortran; None if it or the compiler that it calls is missing."""
    mpif90 = mpicc.replace('mpicc', 'mpif90')
    if not shutil.which(mpif90):
        skip(f'{mpif90} is not there')
    elif subprocess.run([mpif90, '--version'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode:
        skip(f'{mpif90} finds no compiler')
    else:
        return mpif90
    return None


def launcher_of_several(mpirun):
    """A launcher for several programs with colons between them: `mpirun`, or prterun if mpirun crashes. That of Open MPI 5.0.7 in Debian 13 does
    (issue 13303 of Open MPI)."""
    if not shutil.which(mpirun):
        skip(f'{mpirun} is not there')
        return None
    done = subprocess.run([mpirun, '-n', '1', 'true', ':', '-n', '1', 'true'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False,
                          env={**os.environ, **ENVIRONMENT})
    return mpirun if done.returncode >= 0 else shutil.which('prterun')


@functools.lru_cache(maxsize=None)
def library():
    """What MPI_Get_library_version says."""
    return run('host', 'version', ranks=1, workshare=False, title='version').out


def version_of(begin):
    found = re.match(begin + r'(\d+)', library())
    return int(found[1]) if found else 0


def open_mpi_version():
    """The major version of the Open MPI library that the programs use; 0: another MPI library."""
    return version_of('Open MPI v')


def mpich_version():
    """The same of MPICH."""
    return version_of(r'MPICH Version:\s+')
