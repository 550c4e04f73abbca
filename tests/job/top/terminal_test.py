#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ws-top on a terminal that pyte emulates: what is on it, keys, sizes, and that it is given back as it was however ws-top
ends. Arguments: ws-top, made_up_job."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

try:
    import pyte
except ImportError:
    print('python3-pyte is not installed')
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from expectation import conclude, expect  # noqa: E402

WS_TOP, MADE_UP = sys.argv[1:3]


class Screen(pyte.Screen):
    """With the two sequences of xterm that ncurses uses and pyte leaves out."""
    def scroll_up(self, lines=1):
        self.scroll(lines, self.margins.bottom if self.margins else self.lines - 1, self.index)

    def scroll_down(self, lines=1):
        self.scroll(lines, self.margins.top if self.margins else 0, self.reverse_index)

    def scroll(self, lines, edge, step):
        before, self.cursor.y = self.cursor.y, edge
        for _ in range(max(1, lines)):
            step()
        self.cursor.y = before


class Stream(pyte.ByteStream):
    csi = {**pyte.ByteStream.csi, 'S': 'scroll_up', 'T': 'scroll_down'}
    events = pyte.ByteStream.events | {'scroll_up', 'scroll_down'}


class Terminal:
    """A program on a terminal of its own."""
    def __init__(self, *command, lines=24, columns=100, **environment):
        self.screen = Screen(columns, lines)
        self.stream = Stream(self.screen)
        self.raw = b''
        self.master, slave = pty.openpty()
        self.slave = slave  # kept open: its settings are looked at when the program is gone
        self.size(lines, columns)
        self.before = termios.tcgetattr(slave)
        env = {k: v for k, v in os.environ.items() if k not in ('NO_COLOR', 'LINES', 'COLUMNS')}
        env.update({'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8'}, **environment)

        def own_session():
            os.setsid()
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # nohup and shells' background jobs leave them ignored
                signal.signal(number, signal.SIG_DFL)
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        self.process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env, preexec_fn=own_session)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    def size(self, lines, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
        self.screen.resize(lines, columns)

    def feed(self, seconds):
        ready, _, _ = select.select([self.master], [], [], seconds)
        if ready:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            self.raw += data
            self.stream.feed(data)
        return bool(ready)

    def text(self):
        return '\n'.join(self.screen.display)

    def see(self, what, seconds=30.0):
        """Waits until the screen shows the pattern."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if re.search(what, self.text()):
                return True
            self.feed(0.05)
        return False

    def type(self, keys):
        os.write(self.master, keys.encode())

    def press(self, keys, shows):
        self.type(keys)
        expect(f'after {keys!r} it shows {shows!r}', self.see(shows), self.text())

    def end(self, seconds=30.0):
        until = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < until:
            self.feed(0.05)
        while self.feed(0.05):
            pass
        return self.process.poll()

    def expect_restored(self, how):
        # ws-top switched to the terminal's other screen and hid the cursor: the last thing it did must be the opposite of both.
        last = {mode: self.raw.rfind(f'\x1b[?{mode}'.encode()) for mode in ('1049h', '1049l', '25l')}
        shown = max(self.raw.rfind(b'\x1b[?25h'), self.raw.rfind(b'\x1b[?12l\x1b[?25h'), self.raw.rfind(b'\x1b[34h\x1b[?25h'))
        expect(f'{how}: the terminal is as it was', termios.tcgetattr(self.slave) == self.before and last['1049l'] > last['1049h'] >= 0
               and shown > last['25l'], last, shown, termios.tcgetattr(self.slave), self.before)


class Job:
    def __init__(self, *args):
        self.process = subprocess.Popen([MADE_UP, *map(str, args)], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.pid = str(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def keys_and_sizes(job):
    with Terminal(WS_TOP, '--pid', job.pid, '-i', '0.13', lines=16) as t:
        expect('it shows the job', t.see(r'made_up  job [0-9a-f]{8}  12 ranks'), t.text())
        expect('rows and keys', t.see(r'RANKv STATE') and t.see('q quit'), t.text())
        expect('what ranks do changes before our eyes', t.see('lent to 0, MPI_Allreduce') and t.see('MPI_Allreduce .*asleep'), t.text())
        expect('the owner has guests', t.see(r'computing, step/solve \+11 on 1,2,3,4 and'), t.text())
        t.press('?', 'quit')
        expect('help', t.see('sort by the next'), t.text())
        t.press('x', 'RANKv')
        t.press('s', 'STATEv')
        t.press('S', 'RANKv')
        t.press('r', r'RANK\^')
        expect('the last rank comes first', t.see(r'\n +11 '), t.text())
        t.press('r', 'RANKv')
        t.press('t', 'whole run: ')
        t.press('t', 'last ')
        t.press('m', 'now: ')
        expect('a summary has no rows', t.see(r'(?s)\A(?!.*RANK).*LOOP'), t.text())
        t.press('m', 'RANKv')
        t.press('l', r'PHASE .*RANKS')
        expect('a phase', t.see(r'step/solve +1 '), t.text())
        t.press('l', 'LOOP')
        t.press('p', 'paused')
        t.press(' ', 'p pause')
        t.press('+', 'every 0.2s')
        t.press('-', 'every 0.1s')
        t.press('\x1bOB', r'rows 2-')
        t.press('\x1bOF', r'rows \d+-12 of 12')
        t.press('\x1bOH', 'rows 1-')
        t.type('\x1b[99~zZ\xff\x01')  # means nothing
        for lines, columns in ((5, 20), (1, 1), (2, 3), (60, 250), (24, 80)):
            t.size(lines, columns)
            expect(f'{columns} x {lines}', t.see('made_up' if columns >= 20 else r'\S'), t.text())
        expect('back at a usual size', t.see('q quit') and t.see(r'\n +11 '), t.text())
        t.type('q')
        expect('q ends it', t.end() == 0, t.end())
        t.expect_restored('q')


def signals(job):
    for how, number in (('^C', signal.SIGINT), ('kill', signal.SIGTERM), ('hangup', signal.SIGHUP), ('^\\', signal.SIGQUIT)):
        with Terminal(WS_TOP, '--pid', job.pid) as t:
            expect('it has begun', t.see('made_up'), t.text())
            if how == '^C':
                t.type('\x03')
            else:
                t.process.send_signal(number)
            expect(f'{how} ends it by that signal', t.end() == -number, t.end())
            t.expect_restored(how)
    with Terminal(WS_TOP, '--pid', job.pid) as t:
        expect('it has begun', t.see('made_up'), t.text())
        os.close(t.slave)
        os.close(t.master)
        t.master = t.slave = -1
        try:
            t.process.wait(30)
        except subprocess.TimeoutExpired:
            expect('a terminal that goes away ends it', False)


def stopped_and_continued(job):
    shell = Terminal('bash', '--norc', '--noprofile', '--noediting', '-i', PS1='$ ')
    with shell as t:
        expect('a shell', t.see(r'\$'), t.text())
        t.type(f'"{WS_TOP}" --pid {job.pid}\n')
        expect('it has begun', t.see('q quit'), t.text())
        expect('it reads keys', not termios.tcgetattr(t.slave)[3] & termios.ICANON)
        t.type('\x1a')
        expect('^Z: the shell is back', t.see('Stopped'), t.text())
        expect('^Z: with its terminal', termios.tcgetattr(t.slave)[3] & termios.ICANON and termios.tcgetattr(t.slave)[3] & termios.ECHO)
        t.size(10, 60)
        t.type('clear; fg\n')
        expect('fg: it goes on, in the new size', t.see('^made_up  job[^$]*q quit'), t.text())
        expect('fg: it reads keys again', not termios.tcgetattr(t.slave)[3] & termios.ICANON)
        t.type('q')
        for _ in range(600):
            if t.raw.count(b'\x1b[?1049l') == 2:  # left for ^Z, and now
                break
            t.feed(0.05)
        t.type('echo status=$?\n')
        expect('q ends it', t.see('status=0'), t.text())
        t.type('exit\n')
        t.end()


def terminals(job):
    with Terminal(WS_TOP, '--pid', job.pid, lines=20, columns=70, LINES='50', COLUMNS='200') as t:
        expect('the size is the window\'s, not the environment\'s', t.see('every 1s') and t.screen.display[19].startswith('q quit'), t.text())
    def colours(**environment):
        with Terminal(WS_TOP, '--pid', job.pid, **environment) as t:
            expect(f'{environment}', t.see('made_up'), t.text())
            t.type('q')
            expect(f'{environment}: q', t.end() == 0)
            return bool(re.search(rb'\x1b\[[0-9;]*3[1-7]m', t.raw))
    expect('colours', colours())
    expect('NO_COLOR', not colours(NO_COLOR='1'))
    expect('NO_COLOR= is as none', colours(NO_COLOR=''))
    expect('vt100 has none', not colours(TERM='vt100', LC_ALL='C'))
    for unknown in ('no-such-terminal', ''):
        with Terminal(WS_TOP, '--pid', job.pid, TERM=unknown) as t:
            expect(f'TERM={unknown}', t.end() == 2 and 'use --once' in t.text(), t.process.poll(), t.text())


def recordings(job):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'run.jsonl')
        with Terminal(WS_TOP, '--pid', job.pid, '-i', '0.1', '--record', file) as t:
            expect('it shows the job', t.see('made_up'), t.text())
            until = time.monotonic() + 30
            while time.monotonic() < until and not (os.path.exists(file) and open(file).read().count('\n') > 3):
                t.feed(0.05)
            t.type('q')
            expect('q', t.end() == 0)
        count = open(file).read().count('\n')
        expect('snapshots were recorded', count > 3, count)
        with Terminal(WS_TOP, '--replay', file, '-i', '60') as t:
            expect('the first', t.see(f'made_up .*snapshot 1 of {count}'), t.text())
            t.press('\x1bOC', f'snapshot 2 of {count}  paused')
            t.press('\x1bOC', f'snapshot 3 of {count}')
            t.press('\x1bOD', f'snapshot 2 of {count}')
            t.type('q')
            expect('q', t.end() == 0)
        with Terminal(WS_TOP, '--replay', file, '-i', '0.05') as t:
            expect('it runs to its end and stays', t.see(f'snapshot {count} of {count}'), t.text())
            t.type('q')
            expect('q', t.end() == 0)


def job_ends():
    with Job(2, 600) as job, Terminal(WS_TOP, '--pid', job.pid, '-i', '0.2') as t:
        expect('it has begun', t.see('made_up'), t.text())
        job.process.send_signal(signal.SIGUSR1)
        expect('its end is told', t.see('the job is over') and t.see('whole run: '), t.text())
        expect('ranks have finished', t.see('   1 finished'), t.text())
        t.feed(0.3)
        expect('it stays', t.process.poll() is None)
        t.type('q')
        expect('q', t.end() == 0)


def several_jobs():
    # ws-top shows every job on this machine, so there may be more than these.
    with Job(2, 600), Job(3, 600), Terminal(WS_TOP, '-i', '0.2') as t:
        expect('there are two at least', t.see(r'\(job \d of'), t.text())
        for _ in range(10):  # another's may end meanwhile
            first = re.search(r'job ([0-9a-f]{8})', t.text())[1]
            t.type('j')
            other = t.see(r'job (?!%s)[0-9a-f]{8}' % first, 10)
            t.type('J')
            if other and t.see('job ' + first, 3):
                break
        else:
            expect('j and J show another job and the first again', False, t.text())
        with Job('newer', 600) as wrong:
            expect('a board that cannot be read is reported', t.see(f'process {wrong.pid}: the board is of a newer'), t.text())
        t.type('q')
        t.end()


with Job(12, 600) as shown:
    for test in keys_and_sizes, recordings, signals, stopped_and_continued, terminals:
        test(shown)
job_ends()
several_jobs()
conclude()
