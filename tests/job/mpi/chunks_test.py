# SPDX-License-Identifier: MIT
"""The chunks that the runtime hands out tile every loop, to 2^64 - 1 iterations, and keep the sizes the user fixed."""
from job import CORES, finish, run

for env in ({}, {'WS_CHAOS': '1'}, {'WS_CHAOS': '2'}):
    run('chunks', env=env, steals=CORES > 1)
finish()
