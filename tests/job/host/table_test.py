# SPDX-License-Identifier: MIT
"""table_test.py SOURCE: docs/guides/any-mpi.md has the table that follows from runtime/host/calls.txt and the calls that wait."""
import os
import subprocess
import sys

os.chdir(sys.argv[1])
made = subprocess.run([sys.executable, 'runtime/host/generate.py', 'table', 'runtime/host/calls.txt', 'tests/job/mpi/blocking_calls.txt'],
                      capture_output=True, text=True, check=True, timeout=20).stdout.strip()
with open('docs/guides/any-mpi.md') as f:
    page = f.read()
missing = [line for line in made.split('\n') if line not in page.split('\n')]
if missing or 'MPI_Recv' not in made:
    sys.exit('docs/guides/any-mpi.md lacks what runtime/host/generate.py table prints: ' + '; '.join(missing))
