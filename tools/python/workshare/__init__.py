# SPDX-License-Identifier: MIT
"""Workshare in Python programs, and its reports as tables.

In a program of MPI ranks (mpi4py, or any module that calls MPI), started by `mpirun -workshare`:

    with workshare.phase('solve'):      # the report shows it by itself
        ...
    with workshare.waiting():           # the rank's core may be lent meanwhile
        data = file.read()

`phase` and `waiting` are decorators, too. Without Workshare in the process all of this does nothing.

Reports are files of `mpirun -workshare-report=run.json`:

    workshare.ranks('run.json')         # a pandas.DataFrame, or a list of dicts where pandas is missing

The functions of the calling process stand in process.py, those for reports in reports.py.
"""
from .process import enable, is_active, metrics, phase, phase_begin, phase_end, wait_begin, wait_end, waiting
from .reports import calls, loops, phases, rank_phases, ranks, read_report, runs

__all__ = ['calls', 'enable', 'is_active', 'loops', 'metrics', 'phase', 'phase_begin', 'phase_end', 'phases', 'rank_phases', 'ranks', 'read_report', 'runs',
           'wait_begin', 'wait_end', 'waiting']
