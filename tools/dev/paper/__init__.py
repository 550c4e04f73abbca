# SPDX-License-Identifier: MIT
"""The sections of docs/internals/papers.md, a module each:

TITLE      the heading
PAPER      authors, title and place of the paper, and what else the reader should know: Markdown
PROGRAMS   programs of benchmarks/ that it runs
GROUP      optional: the group of tools/dev/bench whose figures it shows; `tools/dev/papers --bench` takes them from a file
section(run, quick)
           yields what is shown, in this order: a text (a paragraph), a line of figures/line.py (those that follow each other become one table), a
           table of line.py, or a picture of chart.py, or curves of line.py. `run` is a measure.Launcher.
"""
from . import dpb, flex, nblb, reorder, workshare

# The order of the page.
SECTIONS = {"workshare": workshare, "reorder": reorder, "dpb": dpb, "flex": flex, "nblb": nblb}
