# SPDX-License-Identifier: MIT
"""Runs programs under mpirun and checks what every job must keep: it ends in time, and nothing of it is left.

A script's arguments are the stage's mpirun and the folder of the compiled programs; it calls run() and expect(), then
finish(). The exit status is 77 when nothing failed but something could not be tried here.
"""
import atexit
import concurrent.futures
import fcntl
import glob
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
import patience  # noqa: E402
import schemas  # noqa: E402
from patience import Unlikely, repeated  # noqa: E402
from processes import cpu_seconds, end_processes, processes_of, threads_of  # noqa: E402

MPIRUN, PROGRAMS = sys.argv[1:3]
CORES = len(os.sched_getaffinity(0))
LINES = int(os.environ.get('TEST_LINES', 15))  # of each stream of a job that failed
TOKEN = 'TEST_JOB'  # in the environment of every process of a job, so that its processes can be told

failures = 0
skips = []
telling = threading.Lock()  # of one failure at a time


SUMMARY = re.compile(r'workshare: .*\(\d+ ranks? on \d+ nodes?, \d+\.\d+ s\)$')     # its first line


def unfolded(text):
    """With each line of the summary in one."""
    return text.replace('\nworkshare:   ', ' ')


class Result:
    """What a job came to. `stats` is libws's WS_STATS_FILE, or {}. `err` has each line of the summary in one; `printed` has it as it was printed."""
    def __init__(self, title, code, out, err, seconds, stats):
        self.title, self.code, self.out, self.printed, self.seconds, self.stats = title, code, out, err, seconds, stats
        self.err = unfolded(err)
        self.failed = self.unjudged = False
        self.removed = []   # shared memory that the job was allowed to leave

    def of_workshare(self):
        """Its lines, in two lists: the summary's, and others."""
        summary, others, last = [], [], False
        for line in self.err.splitlines():
            ours = line.startswith('workshare: ')
            last = ours and (bool(SUMMARY.match(line)) or last and not line.startswith(('workshare: error: ', 'workshare: warning: ')))
            if ours:
                (summary if last else others).append(line)
        return summary, others

    def summary(self):
        return self.of_workshare()[0]

    def messages(self):
        return self.of_workshare()[1]


def fail(result, what):
    global failures
    if result.unjudged:     # what follows from what load has changed
        return
    result.failed = True
    with telling:
        failures += 1
        print(f'FAILED {result.title}: {what}\n  exit status {result.code}, {result.seconds:.1f} s, {result.stats}')
        for name, text in ('stdout', result.out), ('stderr', result.err):
            lines = text.splitlines()
            reports = [i for i, line in enumerate(lines) if 'Sanitizer: ' in line]
            # What a sanitizer says is told by its beginning.
            for line in lines[reports[0]:][:6 * LINES] if reports else lines[-LINES:]:
                print(f'  {name}: {line}')
        sys.stdout.flush()


def expect(result, what, condition):
    if not condition:
        fail(result, what)
    return condition


def likely(result, what, condition):
    """As expect(), in a function under @repeated: what load on the machine can change (patience.py). Where it did in all of its runs, nothing more is
    expected of the result."""
    if not condition:
        def finally_fail():
            result.unjudged = False
            fail(result, what)
        result.unjudged = True
        raise Unlikely(f'{result.title}: {what}', finally_fail, result)


def loadable(library):
    """A copy of a library in a folder of its own: the loader takes a blank in a path of LD_PRELOAD for the end of it."""
    folder = tempfile.mkdtemp(dir='/tmp')
    atexit.register(shutil.rmtree, folder)
    return shutil.copy(library, folder)


def preload(library):
    """mpirun's options that load a library of PROGRAMS into each rank."""
    return '-genv', 'LD_PRELOAD', loadable(os.path.join(PROGRAMS, library))


def in_tiny_shm():
    """A prefix that gives a job a /dev/shm of 24 KiB, in a mount namespace of its own, and the environment that keeps UCX,
    which needs megabytes, out of it; None where that is not permitted."""
    prefix = ('unshare', '-m', 'sh', '-c', 'mount -t tmpfs -o size=24k tmpfs /dev/shm && exec "$@"', 'sh')
    if not shutil.which('unshare') or subprocess.run([*prefix, 'true'], capture_output=True).returncode:
        skip('no small /dev/shm: mounting one is not permitted here')
        return None
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return {'prefix': prefix, 'env': {'UCX_POSIX_DIR': folder}}


def skip(reason):
    skips.append(reason)


def finish():
    if failures:
        print(f'{failures} failed')
        sys.exit(1)
    if skips or patience.unjudged:
        print('; '.join(skips + patience.unjudged))
        sys.exit(77)
    print('ok')
    sys.exit(0)


def is_own_file(path):
    try:
        status = os.stat(path)
    except FileNotFoundError:  # it has just gone
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not os.path.basename(path).startswith('__KMP_REGISTERED_LIB_')


def segments():
    """This user's shared memory that outlives processes: files in /dev/shm and System V segments. Not the 1 KiB with which each process
    that has libomp registers, and which libomp leaves, here as in any program, when that process is killed. Where tests have memory of
    their own (../../own-memory), nobody else's is seen."""
    files = {path for path in glob.glob('/dev/shm/**', recursive=True) if is_own_file(path)}
    system_v = set()
    with open('/proc/sysvipc/shm') as f:
        for line in f.readlines()[1:]:
            _, number, _, _, creator, _, attached, user = line.split()[:8]
            # What a living process has made is no job's that has ended.
            if int(attached) == 0 and int(user) == os.getuid() and not os.path.exists('/proc/' + creator):
                system_v.add('System V segment ' + number)
    return files, system_v


def in_use(path):
    """By a process of another job: it maps the file, or, of libomp's, whose names end in _PID_UID, made it."""
    libomp = re.search(r'/__KMP_REGISTERED_LIB_(\d+)_\d+$', path)
    return mapped_somewhere(path) or (libomp and os.path.exists(f'/proc/{libomp[1]}'))


def mapped_somewhere(path):
    for maps in glob.glob('/proc/[0-9]*/maps'):
        try:
            with open(maps) as f:
                if path in f.read():
                    return True
        except OSError:
            pass
    return False


def among_jobs(alone):
    """Jobs with WS_IGNORE_JOBS=0 see those of other tests. Until close() of what this returns, the calling script is the only one that has such jobs,
    or, not alone, one of those to which others' make no difference."""
    held = open(__file__)
    fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
    return held


def leftovers(before):
    """What a job left in shared memory. Other jobs may run on this machine: theirs is in use, or soon gone."""
    def now():
        files, system_v = segments()
        return sorted(p for p in files - before[0] if not in_use(p)) + sorted(system_v - before[1])
    return [] if patience.waited_for(lambda: not now(), 10) else now()


def run(*args, steals=False, **how):
    """Runs a job and checks its end; see run_once. steals: chunks must have been stolen, if need be in one of several
    runs: in a short job the others may have had nothing to lend in time. A pattern: and its output has this."""
    return run_until_stolen('' if steals is True else steals, *args, **how) if steals else run_once(*args, **how)


@repeated(tries=25, chances=25)
def run_until_stolen(pattern, *args, **how):
    result = run_once(*args, **how)
    likely(result, f'nothing was stolen, {pattern!r}', result.stats.get('chunks_stolen', 0) > 0 and re.search(pattern, result.out, re.MULTILINE) or result.failed)
    return result


def run_once(program, *args, ranks=2, workshare=True, options=(), env=None, limit=60, title=None, code=0, prefix=(),
             meanwhile=None, mpirun=MPIRUN, may_hang=False, leaves=None):
    """may_hang: MPI itself may hang in MPI_Finalize. The job is killed then, and nothing is expected of its end. leaves: a pattern of shared memory that may be left, and is removed.
    code: the exit status wanted, 'error' for any but 0, None for whichever. limit: seconds, more on a loaded machine, then it is killed.
    meanwhile: called with a function that returns the job's living processes, in a thread of its own; it should return soon
    after they are gone."""
    stats_file = tempfile.NamedTemporaryFile(suffix='.json', delete=False)
    stats_file.close()
    value = uuid.uuid4().hex
    mark = f'{TOKEN}={value}'
    flags = ['-workshare'] if workshare else []
    command = [*prefix, mpirun, *flags, *options, '-n', str(ranks),
               os.path.join(PROGRAMS, program) if os.path.sep not in program else program, *map(str, args)]
    shown = ' '.join(f'{k}={v}' for k, v in (env or {}).items())
    title = title or f'{shown} {program} {" ".join(map(str, args))} ({ranks} ranks{"" if workshare else ", off"})'.strip()
    environment = {k: v for k, v in os.environ.items() if not k.startswith('WS_')}
    environment['WS_IGNORE_JOBS'] = '1'  # those of tests that run at the same time
    environment.update(env or {})
    environment[TOKEN] = value
    if workshare:
        environment['WS_STATS_FILE'] = stats_file.name

    before = segments()
    began = time.monotonic()
    with tempfile.TemporaryFile('w+') as out, tempfile.TemporaryFile('w+') as err:
        # Files, not pipes: a process that outlives the job must not keep us waiting.
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
                               start_new_session=True)
        trouble = []

        def watch():
            try:
                if meanwhile:
                    meanwhile(lambda: processes_of(mark))
            except Exception as error:
                trouble.append(repr(error))
        beside = threading.Thread(target=watch)
        beside.start()
        ended = patience.waited_for(lambda: job.poll() is not None, limit, lambda: cpu_seconds(processes_of(mark)))
        status = job.returncode if ended else 'time limit'
        hang = [] if ended else threads_of(processes_of(mark))
        seconds = time.monotonic() - began
        left = end_processes(mark, 0 if status == 'time limit' else 10)
        job.wait()
        beside.join()
        out.seek(0), err.seek(0)
        result = Result(title, status, out.read(), err.read() + '\n'.join(hang), seconds, {})
    try:
        with open(stats_file.name) as f:
            result.stats = json.loads(f.read() or '{}')
    except ValueError as error:
        fail(result, f'the statistics are no JSON: {error}')
    expect(result, f'what ran beside the job has failed: {trouble}', not trouble)
    wrong = schemas.problems('stats', result.stats) if result.stats else []
    expect(result, 'the statistics do not fit their schema: ' + '; '.join(wrong), not wrong)
    os.unlink(stats_file.name)

    if may_hang and status == 'time limit':
        return result
    if status == 'time limit':
        fail(result, f'the job did not end in {limit} s')
    elif left:
        fail(result, f'processes are left: {left}')
    for path in segments()[0] - before[0] if leaves else ():
        if re.match(leaves, path) and not in_use(path):
            os.unlink(path)
            result.removed.append(path)
    segments_left = leftovers(before)
    expect(result, f'left in shared memory: {segments_left}', not segments_left)
    if code == 'error':
        expect(result, 'exit status 0 where an error was wanted', status != 0)
    elif code is not None:
        expect(result, f'exit status {status}, wanted {code}', status == code)
    return result


def side_by_side(*calls, at_once=4):
    """Calls functions, each of which runs jobs that mostly wait: several at once. None of them may look at what a job's
    neighbours can change: at times only if the job sleeps for its work. An exception of one is raised here."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


def expect_lines(result, text, *patterns):
    """Every pattern matches some line of `text`."""
    for pattern in patterns:
        expect(result, f'no line matches {pattern!r}', re.search(pattern, text, re.MULTILINE))


def likely_lines(result, text, *patterns):
    for pattern in patterns:
        likely(result, f'no line matches {pattern!r}', re.search(pattern, text, re.MULTILINE))
