# SPDX-License-Identifier: MIT
"""One row a core: who uses it when, without overlaps; and what it is made of when it is looked at from afar."""
import heapq

from .traces import Thread

# What a core is used for. With `chunk`, `loop`, `parallel` and `compute` goes the rank that computes.
CHUNK = 'chunk'      # iterations of a shared loop
LOOP = 'loop'        # in a shared loop that ran whole, or between its chunks
PARALLEL = 'parallel'  # in a parallel region of OpenMP; the state's name says how many threads it has
COMPUTE = 'compute'  # the program outside of shared loops
WAIT = 'wait'        # in an MPI call
ASLEEP = 'asleep'    # waiting, and the core sleeps
LENT = 'lent'        # on the way to a guest, or back
IDLE = 'idle'        # a spare core without work
UNKNOWN = 'unknown'  # before the rank begins and after its end; what was dropped
MOST_PHASES = 2000   # that are marked
COMPUTES = (CHUNK, LOOP, PARALLEL, COMPUTE)
GIVES_WAY = {WAIT, ASLEEP, LENT, IDLE, UNKNOWN}  # to a guest, in the picture


def apart(marks, least):
    """Those of `marks`, in order of time, that lie at least that far behind the one kept before."""
    kept = []
    for mark in marks:
        if not kept or mark[0] - kept[-1][0] >= least:
            kept.append(mark)
    return kept


class Row:
    """`parts`: (begin, end, state, a, b), one after the other without gaps; `state` is a number of Panel.states, a and b are a chunk's
    first iteration and the one behind the last, or a loop's iterations."""
    def __init__(self, node, core, rank, kind):
        self.node, self.core, self.rank, self.kind = node, core, rank, kind
        self.parts = []

    @property
    def label(self):
        return {'home': f'core {self.core}: rank {self.rank}', 'worker': f'core {self.core}: spare, rank {self.rank}',
                'guest': f'core {self.core}'}.get(self.kind, f'core {self.core}: threads of {self.rank}')


class Panel:
    """A trace as rows, cut to [begin, end). `states`: (what, rank, name). `lends`: (time, row lent from, row lent to, rank, loop, latency).
    `moves`, letters with tasks: (time sent, time come, row from, row to, tasks). `phases`: (time, name). Times in ns."""
    def __init__(self, trace, begin=0, end=None):
        self.trace, self.begin = trace, begin
        self.end = max(trace.length if end is None else min(end, trace.length), begin + 1)
        self.states, self.numbers, self.sums = [], {}, None
        self.rows, self.lends, self.moves, self.phases = [], [], [], []
        self.build()

    @classmethod
    def of_loops(cls, trace):
        """From the first shared loop to a little behind the last, with times counted from there."""
        loops = [(e[1], e[2]) for t in trace.threads for e in t.events if e[0] == 'execution']
        if not loops:
            return cls(trace)
        begin, end = min(b for b, _ in loops), max(e for _, e in loops)
        panel = cls(trace, begin, end + (end - begin) // 100)
        panel.sums = panel.totals()
        for row in panel.rows:
            row.parts = [(b - begin, e - begin, *rest) for b, e, *rest in row.parts]
        panel.lends = [(time - begin, *rest) for time, *rest in panel.lends]
        panel.moves = [(sent - begin, come - begin, *rest) for sent, come, *rest in panel.moves]
        panel.phases = [(time - begin, name) for time, name in panel.phases]
        panel.begin, panel.end = 0, panel.end - begin
        return panel

    def label(self, row):
        return row.label if len({r.node for r in self.rows}) == 1 else f'node {row.node}, {row.label}'

    def state(self, what, rank=-1, name=''):
        key = (what, rank, name)
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.states)
            self.states.append(key)
        return number

    def build(self):
        places = {}
        for t in [t for t in self.trace.threads if t.kind != 'thread'] + lanes(t for t in self.trace.threads if t.kind == 'thread'):
            own = t.kind in ('home', 'worker')
            place = places.setdefault((t.node, t.core) if own or t.kind == 'guest' else (t.node, t.core, id(t)), [None, []])
            if t.kind == 'guest':
                place[1].append(t)
            elif place[0] is None:
                place[0] = t
        homes = {}  # rank -> index of the row where it is at home
        for (node, core, *_), (own, guests) in sorted(places.items(), key=lambda item: item[0][:2]):
            row = Row(node, core, own.rank if own else guests[0].rank, own.kind if own else 'guest')
            if row.kind == 'home':
                homes[row.rank] = len(self.rows)
            row.parts = list(self.cut(self.merged(self.base(own), self.visits(guests))))
            self.rows.append(row)
        index = {(r.node, r.core): i for i, r in enumerate(self.rows) if r.kind in ('home', 'worker', 'guest')}
        for t in self.trace.threads:
            if t.kind == 'guest' and t.rank in homes:
                for kind, begin, _, name, _, _, latency in t.events:
                    if kind == 'visit' and self.begin <= begin < self.end:
                        self.lends.append((begin, index[t.node, t.core], homes[t.rank], t.rank, name, latency))
        self.lends.sort()
        self.moves = self.letters_with_tasks(homes)
        first = next((t for t in self.trace.threads if t.kind == 'home' and any(e[0] == 'phase' for e in t.events)), None)
        if first:
            phases = sorted((e[1], e[3]) for e in first.events if e[0] == 'phase' and self.begin <= e[1] < self.end)
            if len(phases) > 1:
                self.phases = apart(phases, (self.end - self.begin) / MOST_PHASES)

    def letters_with_tasks(self, homes):
        """Those that come in the panel's time; both ends must have been kept."""
        ends = {}, {}  # by the rank that gives and its number of the letter: (rank, begin, tasks)
        for t in self.trace.threads:
            for kind, begin, _, _, other, tasks, letter in t.events:
                if kind == 'tasks':
                    comes = letter % 2
                    ends[comes][other if comes else t.rank, letter // 2] = t.rank, begin, tasks
        return sorted((ends[0][key][1], begin, homes[key[0]], homes[rank], tasks) for key, (rank, begin, tasks) in ends[1].items()
                      if key in ends[0] and self.begin <= begin < self.end and key[0] in homes and rank in homes)

    def cut(self, parts):
        """To the panel's time, with the gaps filled."""
        now = self.begin
        for begin, end, state, a, b in parts:
            if end <= self.begin:
                continue
            if begin >= self.end:
                break
            begin, end = max(begin, now), min(end, self.end)
            if begin > now:
                yield now, begin, self.state(UNKNOWN), 0, 0
            if end > begin:
                yield begin, end, state, a, b
                now = end
        if now < self.end:
            yield now, self.end, self.state(UNKNOWN), 0, 0

    def merged(self, base, visits):
        """Both in the order of time; a visit shows where the core's own thread has no work."""
        visit = next(visits, None)
        for begin, end, state, a, b in base:
            now, gives_way = begin, self.states[state][0] in GIVES_WAY
            while visit and visit[0] < end:
                first, last = max(visit[0], now), min(visit[1], end)
                if last > first:
                    if first > now:
                        yield now, first, state, a, b
                    yield (first, last, *visit[2:]) if gives_way else (first, last, state, a, b)
                    now = last
                if visit[1] > end:
                    break
                visit = next(visits, None)
            if now < end:
                yield now, end, state, a, b
        while visit:
            yield visit
            visit = next(visits, None)

    def base(self, thread):
        """What the core's own thread does."""
        if thread is None:
            return
        _, _, _, begin, end = self.trace.processes[thread.rank]
        if thread.dropped and thread.ended:
            begin, end = (begin, thread.ended[1]) if self.trace.kept == 'oldest' else (max(begin, thread.ended[0]), end)
        nothing = self.state(IDLE) if thread.kind == 'worker' else self.state(COMPUTE, thread.rank) if thread.kind == 'home' else self.state(UNKNOWN)
        yield from self.leaves(thread, thread.events, begin, end, nothing)

    def visits(self, guests):
        """What guests do on a core, in the order of time."""
        def of(guest):
            inner, last = [], None
            for event in guest.events:
                if event[0] == 'visit':
                    if last:
                        yield from self.leaves(guest, inner, last[1], last[2], self.state(LENT, guest.rank))
                    inner, last = [], event
                elif last and event[1] < last[2]:
                    inner.append(event)
                elif event[0] == 'chunk':  # its visit was dropped
                    yield event[1], event[2], self.state(CHUNK, guest.rank, event[3]), event[5], event[6]
            if last:
                yield from self.leaves(guest, inner, last[1], last[2], self.state(LENT, guest.rank))
        yield from heapq.merge(*map(of, guests))

    def leaves(self, thread, events, begin, end, nothing):
        """Of a thread's nested events the innermost at each moment."""
        now, open_events = begin, [(end, (nothing, 0, 0))]
        for kind, first, last, name, rank, a, b in events:
            if kind in ('phase', 'tasks') or last <= begin:
                continue
            if first >= end:
                break
            while open_events[-1][0] <= first and len(open_events) > 1:
                until, what = open_events.pop()
                if until > now:
                    yield (now, until, *what)
                    now = until
            if first > now:
                yield (now, first, *open_events[-1][1])
                now = first
            if kind == 'chunk':
                what = self.state(CHUNK, thread.rank, name), a, b
            elif kind == 'execution':
                what = self.state(LOOP, thread.rank, name), a, 0
            elif kind == 'parallel':
                what = self.state(PARALLEL, thread.rank, threads_text(a, b)), 0, 0
            elif kind == 'mpi':
                what = self.state(WAIT, thread.rank, name), 0, 0
            elif kind == 'rows':
                what = self.state(WAIT, thread.rank, 'XMPI: rows move'), 0, 0
            elif kind == 'lent':
                what = self.state(LENT, rank), 0, 0
            else:
                what = self.state(ASLEEP, thread.rank, open_name(open_events, self.states)), 0, 0
            open_events.append((min(last, end), what))
        while open_events:
            until, what = open_events.pop()
            if until > now:
                yield (now, until, *what)
                now = until

    def totals(self):
        """By rank: ns of each kind, and how often."""
        if self.sums:
            return self.sums
        totals = [dict(compute=0, loops=0, parallel=0, waiting=0, asleep=0, handing=0, for_others=0, helped=0, kept=0, stolen=0, lends=0)
                  for _ in self.trace.processes]
        for row in self.rows:
            mine = totals[row.rank]
            for begin, end, state, _, _ in row.parts:
                what, rank, _ = self.states[state]
                took = end - begin
                if what in COMPUTES and (rank != row.rank or row.kind != 'home'):
                    totals[rank]['helped'] += took
                    if rank != row.rank:
                        mine['for_others'] += took
                elif what == COMPUTE:
                    mine['compute'] += took
                elif what in COMPUTES:
                    mine['parallel' if what == PARALLEL else 'loops'] += took
                elif row.kind == 'home' and what in (WAIT, ASLEEP, LENT):
                    mine[{WAIT: 'waiting', ASLEEP: 'asleep', LENT: 'handing'}[what]] += took
        for t in self.trace.threads:
            for kind, begin, end, *_ in t.events:
                if self.begin <= begin < self.end:
                    if kind == 'chunk':
                        totals[t.rank]['kept' if t.kind == 'home' or t.kind == 'thread' else 'stolen'] += 1
                    elif kind == 'lent':
                        totals[t.rank]['lends'] += 1
        return totals


def lanes(threads):
    """A program's other threads come and go: those that are active at different times share a row."""
    found = []
    for t in sorted((t for t in threads if t.events), key=lambda t: t.events[0][1]):
        lane = next((l for l in found if (l.rank, l.node, l.core) == (t.rank, t.node, t.core) and l.last <= t.events[0][1]), None)
        if lane is None:
            lane = Thread(t.rank, t.node, t.core, t.kind, 0)
            lane.ended = t.ended
            found.append(lane)
        lane.events += t.events
        lane.last = max(e[2] for e in t.events)
        lane.dropped += t.dropped
        lane.ended = min(lane.ended[0], t.ended[0]), max(lane.ended[1], t.ended[1])
    return found


def threads_text(threads, lent):
    text = '1 thread' if threads == 1 else f'{threads} threads'
    return f'{text}, {lent} lent' if lent else text


def open_name(open_events, states):
    """The MPI call around an event."""
    what, _, name = states[open_events[-1][1][0]]
    return name if what == WAIT else ''


def reduced(parts, resolution):
    """The parts; but in place of those shorter than `resolution` sums of them: (begin, end, {state: [ns, how many]})."""
    first, sums, some = None, {}, []

    def flush():
        nonlocal first, sums, some
        if first is not None:
            yield some[0] if len(some) == 1 else (first, some[-1][1], sums)
        first, sums, some = None, {}, []
    for part in parts:
        begin, end, state, _, _ = part
        if end - begin >= resolution:
            yield from flush()
            yield part
            continue
        if first is None:
            first = begin
        entry = sums.setdefault(state, [0, 0])
        entry[0] += end - begin
        entry[1] += 1
        some = [some[0], part] if some else [part]
        if end - first >= resolution:
            yield from flush()
    yield from flush()
