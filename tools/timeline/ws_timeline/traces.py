# SPDX-License-Identifier: MIT
"""Reads a trace that libws wrote (docs/reference/ws-timeline.md), in either format."""
import glob
import json
import os
import re
import resource
import select
import stat
import tempfile
import time

FORMAT = 2  # of runtime/trace/trace.h
SCHEMA = 'workshare-trace/'  # and the format's version
PATIENCE = 2  # seconds that a pipe may have no writer: one that is started together with ws-timeline needs milliseconds


class BadTrace(Exception):
    """What is wrong with which file, on one line."""


DAMAGE = KeyError, TypeError, ValueError, OverflowError, RecursionError  # what damaged JSON and values of a wrong kind end in
MOST = 1 << 64  # no count and no time is larger


def whole(value, least=0):
    """A whole number, and of a size that it can have."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < MOST:
        raise ValueError
    return value


def text(value):
    """A string as libws writes it: one line of UTF-8, without control characters."""
    if not isinstance(value, str):
        raise TypeError
    return ''.join(c if c.isprintable() else '?' for c in value)


class Thread:
    """A thread of a rank. `events`, an outer one before those within it: (kind, begin, end, name, rank, a, b), times in ns; as TraceEvent of
    runtime/trace/trace.h. Of all that the file has, `found` is how many, `ended` when the first and the last of them ended."""
    def __init__(self, rank, node, core, kind, dropped):
        self.rank, self.node, self.core, self.kind, self.dropped = whole(rank), whole(node), whole(core), kind, whole(dropped)
        if kind not in ('home', 'worker', 'guest', 'thread'):
            raise ValueError
        self.events, self.found, self.ended = [], 0, None

    def tell(self, span, event):
        """The event if it is to be kept: it reaches into `span`, or is a phase."""
        kind, begin, end, _, rank, a, b = event
        if not (type(rank) is int and isinstance(a, int) and type(b) is int and kind in KINDS and -MOST < begin <= end < MOST and
                0 <= rank < MOST and -MOST < a < MOST and 0 <= b < MOST):
            raise ValueError
        self.found += 1
        self.ended = (min(self.ended[0], end), max(self.ended[1], end)) if self.ended else (end, end)
        return event if span is None or kind == 'phase' or begin < span[1] and end > span[0] else None


KINDS = {'mpi', 'chunk', 'execution', 'lent', 'visit', 'asleep', 'phase', 'parallel', 'rows', 'tasks'}
FORMER = {'region': 'execution'}  # names of version 1


class Trace:
    """`processes` by rank: (node, host, program, begin, end). `length` in ns."""
    def __init__(self, path, options, kept, length):
        self.path, self.options, self.kept, self.length = path, text(options), text(kept), whole(length)
        self.processes, self.threads = [], []

    def add_process(self, node, host, program, begin, end):
        if whole(begin, -MOST) > whole(end, -MOST):
            raise ValueError
        self.processes.append((whole(node), text(host), text(program), begin, end))

    def set_threads(self, threads):
        if not self.processes or any(t.rank >= len(self.processes) for t in threads):
            raise KeyError
        self.threads = list(threads)

    @property
    def dropped(self):
        return sum(t.dropped for t in self.threads)

    @property
    def steals(self):
        """False: a run whose ranks were told not to help each other."""
        return not re.search(r'\bWS_VICTIM=none\b', self.options)


def open_any(path, mode, **how):
    """open() that does not wait for the other end of a pipe; reading and writing then do."""
    file = open(path, mode, opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY, 0o666), **how)
    os.set_blocking(file.fileno(), True)
    return file


def drained(path, pipe):
    """A file with all that comes out of the pipe, which cannot be read twice."""
    os.set_blocking(pipe.fileno(), False)
    file, begun, until = tempfile.TemporaryFile(), False, time.monotonic() + PATIENCE
    while True:
        try:
            piece = os.read(pipe.fileno(), 1 << 20)
        except BlockingIOError:  # it has a writer
            begun = True
            select.select([pipe], [], [])
            continue
        if piece:
            begun = True
            file.write(piece)
        elif begun:
            break
        elif time.monotonic() > until:
            raise BadTrace(f'{path}: it is a pipe without a writer')
        else:
            time.sleep(0.01)
    file.seek(0)
    return file


def open_whole(path):
    """The file, for reading it more than once."""
    file = open_any(path, 'rb')
    if not stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
        return file
    with file:
        return drained(path, file)


def read(path, span=None):
    """Events that do not reach into `span`, (begin, end), are not kept: all events of a long run would not fit into memory."""
    try:
        with open_whole(path) as f:
            head = f.read(16)
            f.seek(0)
            if not head:
                raise BadTrace(f'{path}: the file is empty; a trace is written when its job ends')
            if b'OTF2' in head[:8]: # the anchor file of an archive
                if not os.path.isfile(path):
                    raise BadTrace(f'{path}: an OTF2 archive cannot be read from a pipe')
                return read_otf2(path, span)
            return read_json(path, f, span)
    except OSError as error:
        raise BadTrace(f'{error.filename or path}: {error.strerror}') from None
    except MemoryError:
        raise BadTrace(f'{path}: there is not enough memory for it; --range takes a part') from None


def check_version(path, version):
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise BadTrace(f'{path}: has no format version')
    if version > FORMAT:
        raise BadTrace(f'{path}: its format is version {version}, newer than this ws-timeline, which reads version {FORMAT}')


# ---- Chrome's JSON ----

RAN = {'alone': 0, 'shared': 1, 'whole': 2}
BATCH = 20000  # lines parsed at once: memory is bounded, and Python's parser is not called for each


def about_of(path, everything):
    """otherData of a file of ours, and None of another. Files of version 1 can have `format` and `version` there and no `schema`."""
    about = everything.get('otherData') if isinstance(everything, dict) else None
    if not isinstance(about, dict):
        return None
    schema = everything.get('schema')
    if isinstance(schema, str) and schema.startswith(SCHEMA):
        number = schema[len(SCHEMA):]
        check_version(path, int(number) if re.fullmatch('[0-9]{1,9}', number) else None)
    elif schema is None and about.get('format') == 'workshare-trace':
        check_version(path, about.get('version'))
    else:
        return None
    return about


def head_of(path, first_line):
    """otherData, from the first line of a file of ours or of a whole JSON file."""
    try:
        line = first_line.decode().rstrip()
        everything = json.loads(line.rstrip(',') + '}' if not line.endswith('}') or line.endswith('},') else line)
    except DAMAGE:
        return None
    if isinstance(everything, dict) and 'traceEvents' in everything:  # all of it is on this line
        return None
    return about_of(path, everything)


def read_json(path, f, span):
    first = f.readline()
    about = head_of(path, first)
    if about is None:
        return read_whole_json(path, first + f.read(), span)
    if f.readline().strip() != b'"traceEvents":[':
        raise BadTrace(f'{path}: line 2 is not what libws writes there; the file is damaged')
    trace, threads = begin_json(path, about)
    line_number, batch = 2, []

    def flush():
        nonlocal batch
        try:
            events = json.loads(b'[' + b''.join(batch).rstrip().rstrip(b',') + b']')
        except (ValueError, RecursionError) as error:
            before = error.object[:error.start].count(b'\n') if isinstance(error, UnicodeDecodeError) else getattr(error, 'lineno', 1) - 1
            bad = line_number - len(batch) + 1 + before
            raise BadTrace(f'{path}: line {bad} is damaged') from None
        take(path, threads, events, span)
        batch = []
    for line in f:
        line_number += 1
        if line.startswith(b']'):
            flush()
            break
        batch.append(line)
        if len(batch) == BATCH:
            flush()
    else:
        raise BadTrace(f'{path}: ends at line {line_number}, before its end: the file is truncated')
    return finish_json(trace, about)


def read_whole_json(path, data, span):
    """A trace that some other tool has laid out anew."""
    try:
        everything = json.loads(data)
    except (ValueError, RecursionError):
        beginning = data[:40].decode('utf-8', 'replace').lstrip()
        truncated = beginning.startswith(('{"schema":"' + SCHEMA, '{"displayTimeUnit":"ns","otherData"'))
        raise BadTrace(f'{path}: ' + ('the file is truncated or damaged' if truncated else 'is not a trace of Workshare: neither its JSON nor OTF2')) from None
    about = about_of(path, everything)
    if about is None or not isinstance(everything.get('traceEvents'), list):
        raise BadTrace(f'{path}: is JSON, but not a trace of Workshare')
    trace, threads = begin_json(path, about)
    take(path, threads, everything['traceEvents'], span)
    return finish_json(trace, about)


def begin_json(path, about):
    try:
        trace = Trace(path, about['options'], about['kept'], about['length_ns'])
        for p in about['processes']:
            trace.add_process(p['node'], p['host'], p['program'], p['begin_ns'], p['end_ns'])
        threads = {}
        for t in about['threads']:
            threads[t['tid']] = Thread(t['rank'], t['node'], t['core'], t['kind'], t['dropped'])
        trace.set_threads(threads.values())
    except DAMAGE:
        raise BadTrace(f'{path}: its header is incomplete or wrong; the file is damaged') from None
    return trace, threads


def take(path, threads, events, span):
    names, e = {}, None  # as they are written, cleaned
    try:
        for e in events:
            if e['ph'] != 'X':
                continue
            kind, args = FORMER.get(e['cat'], e['cat']), e.get('args')
            begin = round(e['ts'] * 1000)
            end = begin + round(e['dur'] * 1000)
            rank = a = b = 0
            name = e['name']
            if kind == 'visit':
                name = args['loop']
            if name not in names:
                names[name] = text(name)
            name = names[name]
            if kind == 'chunk':
                a, b = args['first'], args['end']
            elif kind == 'execution':
                a, b = args['iterations'], RAN[args['ran']]
            elif kind == 'lent':
                rank, name = args['tenant'], ''
            elif kind == 'visit':
                rank, b = args['home'], args.get('latency_ns', 0)
            elif kind == 'asleep':
                a, name = args['woken'], ''
            elif kind == 'phase':
                a = args.get('level', 0) if args else 0
            elif kind == 'parallel':
                a, b, name = args['threads'], args['lent'], ''
            elif kind == 'rows':
                a, b, name = args['rows'], args['bytes'], ''
            elif kind == 'tasks':
                rank, a, b, name = args['other'], args['tasks'], args['letter'], ''
            thread = threads[e['tid']]
            kept = thread.tell(span, (kind, begin, end, name, rank, a, b))
            if kept:
                thread.events.append(kept)
    except DAMAGE:
        raise BadTrace(f'{path}: this is not an event of Workshare: {shown(e)}; the file is damaged') from None


def shown(event):
    """The text, cut if the line would be too long."""
    try:
        line = text(json.dumps(event))
    except DAMAGE:
        return 'nested too deeply'
    return line if len(line) < 120 else line[:120] + '...'


def finish_json(trace, about):
    found, promised = sum(t.found for t in trace.threads), about.get('events')
    if found != promised:
        raise BadTrace(f'{trace.path}: has {found} events of {promised}; the file is damaged')
    for t in trace.threads:
        t.events.sort(key=lambda e: (e[1], -e[2]))
    return trace


# ---- OTF2 ----

class Silence:
    """The OTF2 library tells of errors on stderr, besides what it returns: ours is the one message."""
    def __enter__(self):
        self.saved = os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_):
        os.dup2(self.saved, 2)
        os.close(self.saved)


def try_open(otf2, path):
    """The OTF2 library counts up to any number that a damaged archive names. So a process of its own tries first, which may use seconds of
    CPU time for what takes milliseconds."""
    child = os.fork()
    if not child:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (2, 2))
            otf2.reader.open(path).close()
        finally:
            os._exit(0)  # whatever is wrong with it is told by who reads it
    if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        raise BadTrace(f'{path}: the archive is damaged: the OTF2 library cannot open it')


def read_otf2(path, span):
    try:
        import otf2
    except ImportError:
        raise BadTrace(f'{path}: reading OTF2 needs the package python3-otf2') from None
    for name in glob.glob(glob.escape(re.sub(r'\.otf2$', '', path)) + '/*.*') + [re.sub(r'\.otf2$', '.def', path)]:
        if os.path.exists(name) and not os.path.isfile(name):  # the library would wait for the writer of a pipe
            raise BadTrace(f'{path}: the archive is damaged: {name} is not a regular file')
    try:
        with Silence():
            try_open(otf2, path)
        with Silence(), otf2.reader.open(path, batch_events=1000) as reader:
            return from_otf2(path, reader, span)
    except BadTrace:
        raise
    except Exception as error:  # the bindings raise what the library returns, and their own from what they then miss
        reason = str(error).strip().splitlines()
        raise BadTrace(f'{path}: the archive is damaged or incomplete ({reason[0] if reason else type(error).__name__})') from None


def from_otf2(path, reader, span):
    import otf2
    import _otf2
    known = _otf2.Reader_GetPropertyNames(reader.handle)
    properties = {name: _otf2.Reader_GetProperty(reader.handle, name) for name in known}
    try:
        version = int(properties['WORKSHARE::FORMAT'])
    except (KeyError, ValueError):
        raise BadTrace(f'{path}: is OTF2, but not a trace of Workshare') from None
    check_version(path, version)
    definitions = reader.definitions
    clock = definitions.clock_properties
    trace = Trace(path, properties.get('WORKSHARE::OPTIONS', ''), properties.get('WORKSHARE::KEPT', ''), clock.trace_length)
    threads = {}
    groups = {}
    of_group, of_location = {}, {}
    for p in definitions.location_group_properties:
        of_group.setdefault(p.location_group, {})[p.name] = p.value
    for p in definitions.location_properties:
        of_location.setdefault(p.location, {})[p.name] = p.value
    for group in definitions.location_groups:
        rank = int(group.name.rsplit(' ', 1)[1])
        groups[group] = rank
    nodes = {}
    for location in definitions.locations:
        p = of_location[location]
        rank = groups[location.group]
        nodes[rank] = p['WORKSHARE::NODE']
        threads[location] = Thread(rank, p['WORKSHARE::NODE'], p['WORKSHARE::CORE'], p['WORKSHARE::KIND'], p['WORKSHARE::DROPPED'])
    for group, rank in sorted(groups.items(), key=lambda item: item[1]):
        p = of_group[group]
        trace.add_process(nodes.get(rank, 0), group.system_tree_parent.name, p['WORKSHARE::PROGRAM'], p['WORKSHARE::BEGIN_NS'], p['WORKSHARE::END_NS'])
    trace.set_threads(threads.values())

    open_events = {location: [] for location in threads}
    for location, event in reader.events:
        stack = open_events[location]
        if isinstance(event, otf2.events.Enter):
            values = {attribute.name: value for attribute, value in event.attributes.items()} if event.attributes else {}
            # Its place is kept: an outer event comes before those within it.
            threads[location].events.append(None)
            stack.append((len(threads[location].events) - 1, event.time, event.region, values))
        elif isinstance(event, otf2.events.Leave):
            place, begin, region, values = stack.pop()
            thread = threads[location]
            kept = thread.tell(span, event_of(region, begin, event.time, values))
            if kept:
                thread.events[place] = kept
            elif place == len(thread.events) - 1:
                thread.events.pop()
    if any(open_events.values()):
        raise BadTrace(f'{path}: events begin and do not end; the archive is damaged')
    for thread in trace.threads:
        thread.events = [e for e in thread.events if e]
    return trace


def event_of(region, begin, end, values):
    kind, name, rank, a, b = FORMER.get(region.description, region.description), '', 0, 0, 0
    if kind == 'mpi':
        name = region.name
    elif kind == 'chunk':
        name, a, b = region.canonical_name, values['first'], values['end']
    elif kind == 'execution':
        name, a, b = region.name, values['iterations'], RAN[values['ran']]
    elif kind == 'lent':
        rank = values['tenant']
    elif kind == 'visit':
        name, rank, b = values.get('loop', '?'), values['home'], values.get('latency_ns', 0)
    elif kind == 'asleep':
        a = values['woken']
    elif kind == 'phase':
        name, a = region.name, values.get('level', 0)
    elif kind == 'parallel':
        a, b = values['threads'], values['lent']
    elif kind == 'rows':
        a, b = values['rows'], values['bytes']
    elif kind == 'tasks':
        rank, a, b = values['other'], values['tasks'], values['letter']
    return kind, begin, end, text(name), rank, a, b
