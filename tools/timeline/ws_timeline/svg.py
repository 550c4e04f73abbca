# SPDX-License-Identifier: MIT
"""The picture: for papers and READMEs. Readable in light and dark; text says what colours say."""
from html import escape

from . import rows

# Ranks take these in turn: Paul Tol's "bright", which the colour-blind can tell apart, too.
COLOURS = ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66ccee', '#aa3377']
WIDTH, RIGHT = 960, 24
STYLE = '''
text { font: 12px system-ui, sans-serif; fill: #1b1f24 } .t { font-weight: 600; font-size: 13px } .s { font-size: 11px }
.i { fill: #fff; font-size: 11px; text-anchor: middle; paint-order: stroke; stroke: #0008; stroke-width: 2px }
.o { font-size: 11px; text-anchor: middle; paint-order: stroke; stroke: #fff; stroke-width: 3px }
.a { stroke: #1b1f24; stroke-width: 1.2; fill: none } .n { fill: #1b1f24 } .g { stroke: #1b1f24; stroke-opacity: .15 } .f { fill: #fff }
.v { stroke: #c2570c; stroke-width: 1.4; fill: none } .k { fill: #c2570c }
.e { stroke: #000; stroke-opacity: .3; stroke-width: .6 }
.d { stroke: #1b1f24; stroke-dasharray: 3 3 } .ws { stroke: #777; stroke-width: 1.5 } .zs { fill: #777 } .h { fill: #999; fill-opacity: .45 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .a, .g, .d { stroke: #e6edf3 } .n { fill: #e6edf3 } .f { fill: #0d1117 } .o { stroke: #0d1117 }
  .i { fill: #fff } .ws { stroke: #999 } .zs { fill: #999 } }
'''
FADED = {rows.COMPUTE: .35, rows.LOOP: .8, rows.PARALLEL: .8, rows.CHUNK: 1}


def time_text(ns, unit=None):
    """A time as text, with the digits that it needs, in the unit given or in a fitting one."""
    if unit is None:
        unit = next((u for u in UNITS if abs(ns) >= u[1]), UNITS[-1])
    return f'{ns / unit[1]:.4g} {unit[0]}'


UNITS = [('s', 1e9), ('ms', 1e6), ('us', 1e3), ('ns', 1)]


def ticks(begin, end, most=8):
    """Round times in [begin, end]."""
    step = 1
    while (end - begin) / step > most:
        step = step * 5 // 2 if str(step)[0] == '2' else step * 2
    return range(-(-begin // step) * step, end + 1, step)


def css():
    lines = [STYLE.strip()]
    for i, colour in enumerate(COLOURS):
        for what, opacity in FADED.items():
            lines.append(f'.{what[:2]}{i} {{ fill: {colour}; fill-opacity: {opacity} }}')
    return '\n'.join(lines)


def css_class(what, rank):
    if what in FADED:
        return f'{what[:2]}{rank % len(COLOURS)}'
    return {rows.WAIT: 'w', rows.ASLEEP: 'z', rows.LENT: 'h'}.get(what)


def number(x):
    return f'{x:.1f}'.removesuffix('.0')


class Drawing:
    def __init__(self, panels, titles):
        self.panels = panels
        self.titles = titles
        self.begin = panels[0].begin
        self.end = max(p.end for p in panels)
        self.left = 16 + 6.2 * max(len(p.label(r)) for p in panels for r in p.rows)
        self.scale = (WIDTH - self.left - RIGHT) / (self.end - self.begin)
        count = sum(len(p.rows) for p in panels)
        self.row, self.gap = (24, 14) if count <= 8 else (16, 8) if count <= 24 else (8, 3)
        self.out = []
        self.y = 8

    def x(self, time):
        return self.left + (time - self.begin) * self.scale

    def put(self, text):
        self.out.append(text)

    def draw(self):
        for panel, title in zip(self.panels, self.titles):
            self.panel(panel, title)
        self.axis()
        self.legend()
        height = self.y + 6
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
                f'<title>{escape("; ".join(self.titles))}</title>\n<style>\n{css()}\n</style>\n<defs>\n'
                '<pattern id="w" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
                '<path class="ws" d="M0,0V5"/></pattern>\n'
                '<pattern id="z" width="5" height="5" patternUnits="userSpaceOnUse"><circle class="zs" cx="2" cy="2" r=".9"/></pattern>\n'
                '<marker id="m" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
                '<path class="n" d="M0,0L6,3L0,6z"/></marker>\n'
                '<marker id="k" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
                '<path class="k" d="M0,0L6,3L0,6z"/></marker>\n</defs>\n' + '\n'.join(self.out) + '\n</svg>\n')

    def panel(self, panel, title):
        self.y += 14
        self.put(f'<text class="t" x="8" y="{self.y}">{escape(title)}</text>')
        self.y += 22 if panel.phases else 8
        top = self.y
        self.tops = []
        for row in panel.rows:
            label = panel.label(row)
            self.tops.append(self.y)
            small = ' class="s"' if self.row < 16 else ''
            self.put(f'<g><text{small} x="{number(self.left - 8)}" y="{self.y + self.row / 2 + 4:.0f}" text-anchor="end">{escape(label)}</text>')
            self.draw_row(panel, row)
            self.put('</g>')
            self.y += self.row + self.gap
        self.lends(panel)
        self.moves(panel)
        free, last = 0, -99
        for time, text in panel.phases:
            x = self.x(time)
            if x - last < 4:  # lines would hide the rows
                continue
            last = x
            self.put(f'<path class="d" d="M{number(x)},{top - 4}V{self.y - self.gap}"/>')
            if x >= free:
                self.put(f'<text class="s" x="{number(x)}" y="{top - 6}">{escape(text)}</text>')
                free = x + 6.5 * len(text)
        x = number(self.x(panel.end))
        if panel.end < self.end:
            self.put(f'<path class="a" d="M{x},{top - 3}V{self.y - self.gap + 3}"/>')
        self.y += 4

    def draw_row(self, panel, row):
        pixel = 1 / self.scale
        paths, ends = {}, []

        def rectangle(state, x, y, width, height):
            what, rank, _ = panel.states[state]
            name = css_class(what, rank)
            if name and width > 0 and height > 0:
                paths.setdefault(name, []).append(f'M{number(x)},{number(y)}h{number(width)}v{number(height)}h-{number(width)}z')
        for part in rows.reduced(row.parts, pixel):
            x, width = self.x(part[0]), (part[1] - part[0]) * self.scale
            if len(part) == 3:
                y, total = self.y + self.row, part[1] - part[0]
                for state, (ns, _) in sorted(part[2].items(), key=lambda item: order(panel.states[item[0]])):
                    height = self.row * ns / total
                    y -= height
                    rectangle(state, x, y, width, height)
            else:
                rectangle(part[2], x, self.y, width, self.row)
                if width > 4 and panel.states[part[2]][0] == rows.CHUNK: # a gap would look like idle time
                    ends.append(f'M{number(x + width - .3)},{number(self.y)}v{self.row}')
        for name, pieces in sorted(paths.items()):
            fill = f' fill="url(#{name})"' if name in 'wz' else f' class="{name}"'
            self.put(f'<path{fill} d="{"".join(pieces)}"/>')
        if ends:
            self.put(f'<path class="e" d="{"".join(ends)}"/>')
        if self.row >= 16:
            self.names(panel, row)

    def names(self, panel, row):
        """On what is wide enough: who computes, or which MPI call waits."""
        runs = []
        for begin, end, state, _, _ in row.parts:
            what, rank, name = panel.states[state]
            text = f'rank {rank}' if what in (rows.CHUNK, rows.LOOP) else name if what in (rows.WAIT, rows.PARALLEL) else ''
            if runs and text == runs[-1][2]:
                runs[-1][1] = end
            else:
                runs.append([begin, end, text, 'o' if what == rows.WAIT else 'i'])
        runs = joined(runs, 2 / self.scale)
        for begin, end, text, style in runs:
            if text and (end - begin) * self.scale > 7 * len(text) + 6:
                self.put(f'<text class="{style}" x="{number(self.x((begin + end) / 2))}" y="{self.y + self.row / 2 + 4:.0f}">{escape(text)}</text>')

    def lends(self, panel):
        arrows = [(time, time, source, target) for time, source, target, *_ in panel.lends]
        for x, _, y0, y1 in self.between(arrows):
            self.put(f'<path class="a" marker-end="url(#m)" d="M{number(x)},{y0}V{y1}"/>')

    def moves(self, panel):
        """From when a letter with tasks is sent to when it comes."""
        for x0, x1, y0, y1 in self.between([(max(sent, panel.begin), come, *rows) for sent, come, *rows, _ in panel.moves]):
            self.put(f'<path class="v" marker-end="url(#k)" d="M{number(x0)},{y0}L{number(x1)},{y1}"/>')

    def between(self, arrows):
        """Where (begin, end, row from, row to) are drawn. At most one in 12 pixels between two rows: others would hide each other."""
        last = {}
        for begin, end, source, target in arrows:
            x = self.x(end)
            if source == target or x - last.get((source, target), -99) < 12:
                continue
            last[source, target] = x
            down = target > source
            yield self.x(begin), x, self.tops[source] + (self.row if down else 0), self.tops[target] + (0 if down else self.row)

    def axis(self):
        unit = next(u for u in UNITS if self.end - self.begin >= u[1] or u is UNITS[-1])
        for time in ticks(self.begin, self.end):
            x = number(self.x(time))
            self.put(f'<path class="g" d="M{x},24V{self.y}"/><text class="s" x="{x}" y="{self.y + 12}" text-anchor="middle">{time_text(time, unit)}</text>')
        self.y += 30

    def legend(self):
        ranks = sorted({rank for p in self.panels for what, rank, _ in p.states if what in rows.COMPUTES})
        used = {what for p in self.panels for what, _, _ in p.states}
        items = [(f'class="ch{r % len(COLOURS)}"', f'rank {r}') for r in ranks[:len(COLOURS)]]
        if len(ranks) > len(COLOURS):
            items.append(('class="h"', f'and so on by turns, to rank {ranks[-1]}'))
        if rows.COMPUTE in used and ranks:
            items.append((f'class="co{ranks[0] % len(COLOURS)}"', 'pale: outside of shared loops'))
        if rows.PARALLEL in used:
            items.append((f'class="pa{ranks[0] % len(COLOURS)}"', 'n threads: a parallel region'))
        for what, paint, text in ((rows.WAIT, 'fill="url(#w)"', 'waiting in MPI'), (rows.ASLEEP, 'fill="url(#z)"', 'asleep'),
                                  (rows.LENT, 'class="h"', 'changing hands')):
            if what in used:
                items.append((paint, text))
        x = 8
        for paint, text in items:
            width = 26 + 6.6 * len(text)
            if x + width > WIDTH:
                x, self.y = 8, self.y + 18
            self.put(f'<rect {paint} x="{number(x)}" y="{self.y - 10}" width="14" height="12"/><text x="{number(x + 19)}" y="{self.y}">{escape(text)}</text>')
            x += width
        for arrows, name, head, text in (([p.lends for p in self.panels], 'a', 'm', 'a core is lent to that rank'), ([p.moves for p in self.panels], 'v', 'k', 'tasks move to that rank')):
            if any(arrows):
                if x + 185 > WIDTH:
                    x, self.y = 8, self.y + 18
                self.put(f'<path class="{name}" marker-end="url(#{head})" d="M{number(x + 5)},{self.y + 1}v-12"/><text x="{number(x + 14)}" y="{self.y}">{text}</text>')
                x += 185
        self.y += 4


def joined(runs, shortest):
    """Runs of one text each, (begin, end, text, ...), with those that are shorter given to the one before."""
    out = []
    for begin, end, *rest in runs:
        if out and (end - begin < shortest or rest[0] == out[-1][2]):
            out[-1][1] = end
        else:
            out.append([begin, end, *rest])
    return out


def order(state):
    """From the bottom of a column: who computes, then what waits."""
    what, rank, name = state
    return (rows.CHUNK, rows.LOOP, rows.PARALLEL, rows.COMPUTE, rows.LENT, rows.WAIT, rows.ASLEEP, rows.IDLE, rows.UNKNOWN).index(what), rank, name


def draw(panels, titles):
    return Drawing(panels, titles).draw()
