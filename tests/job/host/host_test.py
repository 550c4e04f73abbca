# SPDX-License-Identifier: MIT
"""Another MPI's jobs under `workshare`: ranks that wait lend their cores, results are those of that MPI alone bit for bit, and what
cannot be helped runs as without Workshare, with one line."""
import os
import re
import shutil
import struct
import subprocess
import sys

from job import CORES, PROGRAMS, Result, expect, expect_lines, finish, likely, loadable, repeated, run, skip
from of_mpi import ENVIRONMENT, SEGMENTS, launcher_of_several

FAMILY, STAGE = sys.argv[3:5]
WORKSHARE = os.path.join(STAGE, 'bin/workshare')


@repeated
def gains():
    result = run('host', 'gain', title='gain')
    times = dict(line.split() for line in result.out.splitlines() if len(line.split()) == 2)
    expect(result, f'each kind of wait was tried: {times}', len(times) == 8 and 'wrong' not in result.out)
    late = {name: time for name, time in times.items() if float(time) > 0.75}   # 1: nobody helps; 0.5: all that there is
    likely(result, f'waits in which nobody helped: {late}', not late)


def nothing():
    """In these waits nothing is lent, as docs/guides/any-mpi.md says; the loop is that of gains()."""
    for kind in 'failed', 'generalized':
        result = run('host', 'nothing', kind, title=f'nothing is lent: {kind}')
        expect(result, f'lent, or wrong: {result.out}', result.out.startswith(kind + ' ') and 'wrong' not in result.out and result.stats.get('chunks_stolen') == 0)


def equal_sums():
    for ranks in 2, 3:
        alone, shared = (run('host', 'sums', ranks=ranks, workshare=on, title=f'sums, {ranks} ranks') for on in (False, True))
        expect(shared, 'sums differ from those without', sorted(alone.out.splitlines()) == sorted(shared.out.splitlines()) and alone.out)


@repeated
def rounds():
    """Ranks that share cores do not take a nap in each round of a nonblocking collective call: 300 took 13 s so."""
    result = run('host', 'rounds', ranks=2 * CORES, title='rounds')
    likely(result, f'rounds are slow: {result.out}', float(result.out.split()[-1]) < 3)


def many():
    """A wait counts as a wait even in a call in which the rank cannot lend its core."""
    result = run('host', 'many', title='many communicators')
    waited = re.search(r'ranks waited in MPI ([\d.]+) %', result.err)
    expect(result, f'the ranks waited for {waited and waited[1]} % of the time; one of two did for 0.5 s', waited and float(waited[1]) > 15)
    expect(result, 'wrong', result.out == '')


@repeated
def target():
    """One-sided calls do not take longer because their target sleeps while it waits: under Open MPI 5.0 these took seconds."""
    times = []
    for on in False, True:
        result = run('host', 'target', workshare=on, title=f'target, {"on" if on else "off"}')
        expect(result, 'wrong', 'wrong' not in result.out)
        times.append(float(result.out.split()[1]))
    likely(result, f'one-sided calls took {times[1]} s, without Workshare {times[0]} s', times[1] < 5 * times[0] + 0.05)


def level():
    """Loops that call MPI have MPI_THREAD_MULTIPLE, also after MPI_T_init_thread()."""
    for ranks in 1, 2:
        result = run('level', ranks=ranks, title=f'thread level, {ranks} ranks')
        expect(result, 'another level than MPI_THREAD_MULTIPLE',
               sorted(result.out.splitlines()) == [f'rank {rank}: 0 0, 0 messages' for rank in range(ranks)])


def one_rank():
    """A job of one rank is no accident, unless its launcher is that of another MPI."""
    result = run('host', 'sums', ranks=1, title='one rank')
    expect_lines(result, result.err, r'^workshare: .* there is one rank$')
    expect(result, 'a hint on the launcher', 'jobs of one' not in result.err and 'job of its own' not in result.err and 'hint' not in result.err)
    other, words = ('mpirun.mpich', 'the mpirun of another MPI started 2 jobs of one rank each') if FAMILY == 'openmpi' else \
                   ('mpirun.openmpi', 'each process is a job of its own, because PMIx started it and this MPI does not know PMIx')
    if not shutil.which(other):
        skip(f'{other} is not there')
        return
    sums = os.path.join(PROGRAMS, 'host'), 'sums'
    alone, result = (run(*front, *sums, workshare=False, mpirun=other, env=ENVIRONMENT, code=None, leaves=SEGMENTS, title=f'with {other}, {title}')
                     for front, title in (((), 'off'), ((WORKSHARE, '--mpi=' + FAMILY), 'on')))
    expect(result, f'exit status {alone.code} without Workshare', result.code == alone.code)
    if not alone.code:  # MPICH 5 ends a job that PMIx has started
        expect_lines(result, result.err, f'^workshare: .* {words}')
    expect(result, f'MPI leaves {result.removed}, without Workshare {alone.removed}', len(result.removed) == len(alone.removed))


def several_programs():
    """`workshare mpirun` with programs behind colons: Open MPI's -x is for the first of them alone."""
    launcher = launcher_of_several('mpirun.' + FAMILY)
    if not launcher:
        return
    words = ['-n', '1', os.path.join(PROGRAMS, 'host'), 'sums']
    done = subprocess.run([WORKSHARE, launcher, *words, ':', *words], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **ENVIRONMENT, 'WS_IGNORE_JOBS': '1'})
    result = Result('two programs', done.returncode, done.stdout, done.stderr, 0, {})
    expect(result, 'exit status', done.returncode == 0)
    expect(result, 'no job of two ranks with Workshare', 'workshare: ' in done.stderr and '2 ranks on' in done.stderr)


def says(pattern, *words, env=None, code=0):
    """`workshare WORDS...` says one line, which matches; without a pattern none."""
    done = subprocess.run([WORKSHARE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          env={**os.environ, **(env or {})}, timeout=30, check=False)
    result = Result('workshare ' + ' '.join(words), done.returncode, done.stdout, done.stderr, 0, {})
    lines = done.stderr.splitlines()
    expect(result, f'exit status, wanted {code}', done.returncode == code)
    expect(result, f'other words, wanted {pattern}', len(lines) == 1 and re.search(pattern, lines[0]) if pattern else not lines)


def misuse():
    for words, code, wanted in ((['/bin/true'], 0, 'workshare: note: /bin/true is linked with no MPI'),
                                (['--quantm=3', '/bin/true'], 1, 'workshare: error: unknown option --quantm; did you mean --quantum'),
                                (['--quantum', 'x', '/bin/true'], 1, "workshare: error: --quantum: 'x' is not "),
                                (['--mpi=lam', '/bin/true'], 1, "workshare: error: --mpi: 'lam' is none of "),
                                (['/no/such'], 127, 'workshare: error: cannot run /no/such: No such file or directory'),
                                ([], 1, 'workshare: error: no program given')):
        says('^' + re.escape(wanted), *words, code=code)
    copy = os.path.join(PROGRAMS, 'set_user_id')
    shutil.copy('/bin/true', copy)
    os.chmod(copy, 0o4755)
    says('changes the user or group', copy)
    os.unlink(copy)
    shutil.copy('/bin/true', copy)
    try:    # the right to open any port
        os.setxattr(copy, 'security.capability', struct.pack('<5I', 0x02000001, 1 << 10, 0, 0, 0))
    except OSError as error:
        skip(f'no file capabilities: {error}')
    else:
        says('changes the user or group', copy)
    os.unlink(copy)
    subprocess.run(['gcc', '-x', 'c', '-', '-o', copy], input=b'int MPI_Init(int *a, char ***b) { return a != 0 || b != 0; } '
                                                          b'int main(void) { return MPI_Init(0, 0); }', check=True, timeout=30)
    says('has its MPI linked into it', copy)
    os.unlink(copy)
    # a rank that is not the first says nothing
    says(None, '/bin/true', env={'PMI_RANK': '1'})


def another_mpi():
    """The library of another MPI is loaded first."""
    for family in {'openmpi', 'mpich'} - {FAMILY}:
        library = os.path.join(STAGE, 'lib/workshare', family, 'libws.so.1')
        if os.path.exists(library):
            result = run('host', 'sums', workshare=False, options=('-genv', 'LD_PRELOAD', loadable(library)), title=f'with the library of {family}')
            expect_lines(result, result.err, r'^workshare: note: the environment preloads the wrappers for .* it runs without Workshare$')
        else:
            skip(f'{library} is not there')


def two_mpis():
    """Both libraries in one program."""
    sonames = [name for name in ('libmpi.so.40', 'libmpich.so.12') if os.path.exists('/usr/lib/x86_64-linux-gnu/' + name)]
    if len(sonames) < 2:
        skip('two MPI libraries are not there')
        return
    program = os.path.join(PROGRAMS, 'two_mpis')
    subprocess.run(['gcc', '-x', 'c', '-', '-o', program, '-Wl,--no-as-needed', *('-l:' + name for name in sonames)], input=b'int main(void) { return 0; }',
                   check=True, timeout=30)
    says('two MPI libraries', program)


equal_sums()
level()
one_rank()
two_mpis()
another_mpi()
several_programs()
misuse()
if FAMILY == 'openmpi':    # ranks of MPICH spin: with more of them than cores each call takes long without Workshare, too
    rounds()
if CORES >= 2:
    gains()
    nothing()
    target()
many()
finish()
