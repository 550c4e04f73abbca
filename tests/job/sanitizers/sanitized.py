# SPDX-License-Identifier: MIT
"""What the jobs of jobs.py and openmp_jobs.py share: libws and programs built with a sanitizer."""
import atexit
import os
import shutil
import tempfile

from job import MPIRUN

REPORTED = 66


def environment(library):
    """A folder that is gone at the end, and an environment in which `library` stands in for the stage's libws: libmpich finds its
    runtime beside itself."""
    beside = tempfile.mkdtemp(dir='/tmp')
    atexit.register(shutil.rmtree, beside)
    os.symlink(os.path.abspath(library), os.path.join(beside, 'libws.so.1'))
    os.symlink(os.path.join(os.path.dirname(MPIRUN), '../lib/libmpich.so.12'), os.path.join(beside, 'libmpich.so.12'))
    return beside, {
        'LD_LIBRARY_PATH': beside,
        # UCX's own hooks of malloc and its signal handlers would take the sanitizers' place.
        'UCX_MEM_EVENTS': 'n',
        'UCX_ERROR_SIGNALS': '',
        'TSAN_OPTIONS': f'exitcode={REPORTED} history_size=4',
        'ASAN_OPTIONS': f'exitcode={REPORTED}',
        'LSAN_OPTIONS': f'exitcode={REPORTED}',
        'HWLOC_COMPONENTS': '-linux:pci,-pci', # the plugin `pci`, with which MPI_Init finds devices, leaks 1016 bytes
    }
