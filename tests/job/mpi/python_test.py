# SPDX-License-Identifier: MIT
"""A rank of a Python program waits outside of MPI, by the module workshare, and lends its core."""
import json
import os
import sys
import tempfile

from job import CORES, MPIRUN, PROGRAMS, expect, expect_lines, finish, likely, repeated, run

APP = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'programs/python_app.py')
PREFIX = os.path.dirname(os.path.dirname(MPIRUN))
PATH = {'PYTHONPATH': f'{PREFIX}/lib/python', 'LD_LIBRARY_PATH': f'{PREFIX}/lib'}


@repeated
def shares():
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'run.json')
        result = run(sys.executable, APP, os.path.join(PROGRAMS, 'python_loop.so'), env=PATH, options=[f'-workshare-report={report}'], title='waits in Python')
        expect_lines(result, result.out, r'^\d\.\d+ active$')
        with open(report, encoding='utf-8') as f:
            ranks = json.load(f)['by_rank']
    waits = [rank['totals']['waits_program_s'] for rank in ranks]
    expect(result, f'waits outside of MPI: {waits}', waits[0] == 0 and 0.2 < waits[1] < 10)
    if CORES > 1:
        likely(result, 'the loop had no help', float(result.out.split()[0]) < 0.7)


shares()
result = run(sys.executable, APP, os.path.join(PROGRAMS, 'python_loop.so'), env=PATH, workshare=False, title='waits in Python, off')
expect_lines(result, result.out, r'^\d\.\d+ ')
finish()
