# SPDX-License-Identifier: MIT
"""What tools/bench measures: a module per kind of figure, a function per group. line.py says what a line of the table is."""
from . import costs, footprint, loops, messages

# The order of the table.
GROUPS = {
    "double": loops.double_loop,
    "balanced": loops.balanced_loop,
    "short": loops.short_loops,
    "pingpong": messages.ping_pong,
    "region": costs.region_cost,
    "directive": costs.directive,
    "assembly": costs.assembly,
    "class": costs.class_loops,
    "compile": footprint.compile_times,
    "init": footprint.start_up,
    "memory": footprint.memory,
}
