# SPDX-License-Identifier: MIT
"""Bars from left to right as SVG, the same bytes for the same figures: README's table, and what ranks did with their time."""
import html
import re

LEFT, WIDTH, BAR, GAP = 190, 400, 16, 5
COLOURS = {"plain": "#b0b7c0", "workshare": "#2c7fb8", "perfect": "#31a354",
           "computing": "#2c7fb8", "computing for others": "#31a354", "waiting": "#d95f0e"}


def svg(title, groups, most):
    """`groups`: a label, and bars, each a text and its parts: names of COLOURS with their values. `most`: the value of a bar of full width."""
    rows, y = [], 34
    used = []
    for label, bars in groups:
        rows.append(f'<text x="{LEFT - 10}" y="{y + len(bars) * (BAR + GAP) / 2 + 2:.0f}" text-anchor="end">{html.escape(label)}</text>')
        for text, parts in bars:
            x = LEFT
            for name, value in parts:
                length = WIDTH * value / most
                rows.append(f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="{BAR}" fill="{COLOURS[name]}"/>')
                x += length
                used += [name] * (name not in used)
            rows.append(f'<text x="{x + 6:.1f}" y="{y + BAR - 4}" fill="#555">{html.escape(text)}</text>')
            y += BAR + GAP
        y += 2 * GAP
    x = LEFT
    for name in used:
        rows.append(f'<rect x="{x}" y="{y + 2}" width="12" height="12" fill="{COLOURS[name]}"/><text x="{x + 17}" y="{y + 13}">{name}</text>')
        x += 40 + 7 * len(name)
    height = y + 26
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 150} {height}" width="{LEFT + WIDTH + 150}" height="{height}" font-family="sans-serif" font-size="12">\n'
            f'<!-- SPDX-License-Identifier: MIT -->\n<title>{html.escape(title)}</title>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text x="12" y="20" font-size="14" font-weight="bold">{html.escape(title)}</text>\n')
    return head + "\n".join(rows) + "\n</svg>\n"


def seconds(text):
    value, unit = text.split()
    return float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6}[unit]


def gains(readme):
    """The table of ./setup demo in README: the times of each program, as parts of its time without sharing."""
    table = re.search(r"<!-- demo table: begin -->(.*?)<!-- demo table: end -->", readme, re.S)[1]
    groups = []
    for name, *times in re.findall(r"^ +(\S.*?) {2,}([\d.]+ [mu]?s) +([\d.]+ [mu]?s) +([\d.]+ [mu]?s) +[\d.]+ ", table, re.M):
        bars = [(time, [(what, seconds(time) / seconds(times[0]))]) for what, time in zip(("plain", "workshare", "perfect"), times)]
        groups.append((name, bars))
    return svg("Time without sharing, with it, and divided evenly", groups, 1)


def waiting(reports):
    """What the cores of ranks did: for each name and report (the JSON of -workshare-report), a bar per rank."""
    groups, most = [], max(report["elapsed_s"] for _, report in reports)
    for name, report in reports:
        bars = []
        for rank in report["by_rank"]:
            totals = rank["totals"]
            waited = max(0, report["elapsed_s"] - totals["computing_s"] - totals["helped_s"])
            bars.append((f"rank {rank['rank']}", [("computing", totals["computing_s"]), ("computing for others", totals["helped_s"]), ("waiting", waited)]))
        groups.append((f"{name}: {1000 * report['elapsed_s']:.0f} ms", bars))
    return svg("What the core of each rank does", groups, most)
