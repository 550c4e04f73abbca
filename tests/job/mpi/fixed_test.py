# SPDX-License-Identifier: MIT
"""Calls of MPI that upstream's MPICH 4.0.2 gets wrong (runtime/mpich/patches/4.0/upstream) are right in all versions, without the flag and with it."""
import shutil
import subprocess

from job import finish, run

for workshare in False, True:
    run('fixed', ranks=4, workshare=workshare, limit=30, title=f'fixed, workshare={workshare}')
run('fixed_fortran', ranks=1)

# upstream's mpiexec crashed if it was to know whether a host is this one. Wants root, for addresses of its own.
PREFIX = ('unshare', '-n', 'sh', '-c', 'ip link set lo up && for i in $(seq 120); do ip addr add 10.9.0.$i/32 dev lo || exit; done; exec "$@"', 'sh')
if shutil.which('unshare') and subprocess.run([*PREFIX, 'true'], capture_output=True).returncode == 0:
    run('fixed_fortran', ranks=1, options=['-hosts', '10.9.0.5'], prefix=PREFIX, title='a host with many addresses')
else:
    print('skipped: a host with many addresses, because addresses cannot be added here')
finish()
