# SPDX-License-Identifier: MIT
"""ws-timeline: traces.py reads a trace, rows.py makes a row a core of it, svg.py and page.py draw them."""
