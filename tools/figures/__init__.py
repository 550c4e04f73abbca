# SPDX-License-Identifier: MIT
"""What tools/bench measures: a module per kind of figure, a function per group. line.py says what a line of the table is."""
from . import costs, crowd, flex, footprint, loops, messages, openmp, pays, programs, reorder, sleeping, tasks, tracing, unmodified

# The order of the table.
GROUPS = {
    "double": loops.double_loop,
    "balanced": loops.balanced_loop,
    "chunks": loops.chunks,
    "tails": loops.tails,
    "short": loops.short_loops,
    "pays": pays.pays,
    "programs": programs.programs,
    "crowd": crowd.crowd,
    "ranks16": sleeping.sixteen_ranks,
    "workers": sleeping.workers,
    "openmp": openmp.openmp,
    "unmodified": unmodified.unmodified,
    "codes": unmodified.codes,
    "flex": flex.flex,
    "tasks": tasks.tasks,
    "pingpong": messages.ping_pong,
    "netpipe": messages.net_pipe,
    "handover": messages.hand_over,
    "ranks64": messages.many_ranks,
    "reorder": reorder.reorder,
    "region": costs.region_cost,
    "claim": costs.claim_cost,
    "look": costs.look,
    "tracing": tracing.tracing,
    "directive": costs.directive,
    "product": costs.product,
    "assembly": costs.assembly,
    "class": costs.class_loops,
    "converted": costs.openmp,
    "compile": footprint.compile_times,
    "init": footprint.start_up,
    "memory": footprint.memory,
}
