# SPDX-License-Identifier: MIT
"""Calls of MPI that upstream's MPICH 4.0.2 gets wrong (runtime/mpich/patches/4.0/upstream) are right in all versions, without the flag and with it."""
from job import finish, run

for workshare in False, True:
    run('fixed', ranks=4, workshare=workshare, limit=30, title=f'fixed, workshare={workshare}')
finish()
