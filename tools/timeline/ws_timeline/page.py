# SPDX-License-Identifier: MIT
"""The page: one file, without network. What is in `data` is read by page.js."""
import json
import os
from html import escape

from . import rows, svg

HERE = os.path.dirname(os.path.realpath(__file__))
PARTS = 60000  # of all rows together, so that a page stays small: beyond it the shortest are summed up
LENDS = 10000


def encoded(parts, states):
    """A row's parts as one flat list: how long, the state (or minus the number of states in a sum), and what belongs to it."""
    flat = []
    for part in parts:
        if len(part) == 3:
            flat += [part[1] - part[0], -len(part[2])]
            for state, (ns, count) in part[2].items():
                flat += [state, ns, count]
        else:
            begin, end, state, a, b = part
            what = states[state][0]
            flat += [end - begin, state, a, b] if what == rows.CHUNK else [end - begin, state, a] if what == rows.LOOP else [end - begin, state]
    return flat


def thinned(arrows, most, length, pair=slice(1, 3)):
    """At most that many arrows: between two rows, which stand at `pair`, only one in each short while."""
    if len(arrows) <= most:
        return arrows
    pairs = len({arrow[pair] for arrow in arrows})
    least, last, kept = length * pairs / most, {}, []
    for arrow in arrows:
        key = arrow[pair]
        if arrow[0] - last.get(key, -length) >= least:
            last[key] = arrow[0]
            kept.append(arrow)
    return kept


def panel_data(panel, title, resolution, most_lends):
    names = {}
    lends = [[time, source, target, rank, names.setdefault(name, len(names)), latency]
             for time, source, target, rank, name, latency in thinned(panel.lends, most_lends, panel.end - panel.begin)]
    return {
        'title': title, 'begin': panel.begin, 'end': panel.end, 'states': panel.states,
        'rows': [{'label': panel.label(r), 'node': r.node, 'core': r.core, 'rank': r.rank,
                  'parts': encoded(rows.reduced(r.parts, resolution), panel.states)} for r in panel.rows],
        'lends': lends, 'moves': thinned(panel.moves, most_lends, panel.end - panel.begin, slice(2, 4)), 'loops': list(names), 'phases': panel.phases, 'totals': panel.totals(),
    }


def draw(panels, titles, title, version):
    # Whatever the parts are, no more than two of a row fit into a stretch as long as the resolution: one that is long, one sum.
    resolution = 0
    if sum(len(r.parts) for p in panels for r in p.rows) > PARTS:
        resolution = max(1, 2 * sum(len(p.rows) * (p.end - p.begin) for p in panels) // PARTS)
    data = {'colours': svg.COLOURS, 'panels': [panel_data(p, t, resolution, LENDS // len(panels)) for p, t in zip(panels, titles)]}
    note = f'Made by ws-timeline {version} from ' + ' and '.join(f'{p.trace.path} ({p.trace.options or "no options"})' for p in panels) + '.'
    dropped = sum(p.trace.dropped for p in panels)
    if dropped:
        note += f' {dropped} events were dropped when the ranks\' memory for them was full; their time is blank.'
    if resolution:
        note += f' What is shorter than {svg.time_text(resolution)} is summed up with its neighbours; --range takes all of a part.'

    def file(name):
        with open(os.path.join(HERE, name), encoding='utf-8') as f:
            return f.read()
    page = file('page.html')
    text = json.dumps(data, separators=(',', ':')).replace('<', '\\u003c')
    for mark, content in (('@VERSION@', escape(version)), ('@TITLE@', escape(title)), ('@NOTE@', escape(note)), ('@SCRIPT@', file('page.js')), ('@DATA@', text)):
        page = page.replace(mark, content)
    return page
