#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""programs_test.py WS_DOCTOR APP: what ws-doctor finds in APP (app.c), in copies of it that are damaged in one way each, and in small
programs with other libraries. And what it says to wrong commands."""
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from checks import fail, finish, fits  # noqa: E402

DOCTOR, APP = (os.path.abspath(p) for p in sys.argv[1:3])
ENV = {k: v for k, v in os.environ.items() if not k.startswith(('WS_', 'OMP_', 'LD_', 'PMI_', 'PMIX_', 'MPI', 'OMPI_', 'SLURM_'))}


def run(*words, **environment):
    return subprocess.run([DOCTOR, *words], capture_output=True, text=True, timeout=30, env={**ENV, **environment})


def expect(what, program, *wanted, arguments=(), **environment):
    """A program must have these findings, (number, level, text in measured, text in fix), and no others but notes."""
    done = run('--json', '--root', machine, program, *arguments, **environment)
    if done.returncode not in (0, 1) or done.stderr:
        return fail(f'{what}: exit status {done.returncode}', done.stderr)
    found = json.loads(done.stdout)
    fits('doctor', found, what)
    for number, level, measured, fix in wanted:
        mine = [f for f in found['findings'] if f['number'] == number]
        if not any(f['level'] == level and measured in f['measured'] and fix in (f['fix'] or '') for f in mine):
            fail(f'{what}: no {level} {number} with {measured!r} and {fix!r}', json.dumps(mine, indent=1))
        if level not in ('ok', 'skipped') and not all(f['cause'] for f in mine):
            fail(f'{what}: {number} has no cause')
    for f in found['findings']:
        if f['level'] in ('warning', 'problem') and f['number'] not in [w[0] for w in wanted]:
            fail(f'{what}: {f["number"]} as well', json.dumps(f, indent=1))
    return found


def changed(name, change):
    with open(APP, 'rb') as f:
        data = bytearray(f.read())
    new = change(data)
    data = data if new is None else new
    with open(name, 'wb') as f:
        f.write(data)
    os.chmod(name, 0o755)
    return f'./{name}'


def put(offset, *values):
    def change(data):
        data[offset:offset + len(values)] = bytes(values)
    return change


def other_abi(data):
    """The loops' second words have it in bits 24 to 31."""
    at, = struct.unpack_from('<Q', data, 40)
    size, count, names = struct.unpack_from('<HHH', data, 58)
    sections = [struct.unpack_from('<IIQQQQIIQQ', data, at + i * size) for i in range(count)]
    for s in sections:
        begin = sections[names][4] + s[0]
        if data[begin:data.index(0, begin)] == b'ws_sites':
            for site in range(s[4], s[4] + s[5], 64):
                data[site + 11] = 77
            return
    fail('app.c has no section of loops')


def compiled(name, text, *flags):
    subprocess.run(['cc', '-x', 'c', '-', '-x', 'none', '-o', name, *flags], input=text, text=True, check=True)
    return f'./{name}'


folder = tempfile.TemporaryDirectory(prefix='ws-doctor-')
os.chdir(folder.name)
machine = 'machine'         # that nothing is known of: no finding is its
os.mkdir(machine)
with open(f'{machine}/facts.json', 'w') as f:
    json.dump({'topology': 'package:1 core:2 pu:1', 'shm_bytes': 2**34, 'shm_free': 2**34, 'cpus': [0, 1], 'host': 'node1', 'constant_tsc': True, 'nonstop_tsc': True}, f)


def quoted(text):
    """As ws-doctor quotes for a shell, where that is needed: a quote by a backslash."""
    return shlex.quote(text).replace("'\"'\"'", "'\\''")


# A prefix's own folder.
lib = os.path.dirname(os.path.dirname(os.path.realpath(DOCTOR))) + '/lib'

found = expect('app', APP, ('WS601', 'ok', 'is a program', ''), ('WS602', 'ok', 'found', ''), ('WS603', 'ok', "Workshare's: ", ''), ('WS604', 'ok', 'libws.so.1', ''),
               ('WS605', 'ok', '2 ws loops: ', ''), ('WS606', 'ok', '', ''),
               ('WS611', 'note', 'MPI_Iprobe', '-workshare-poll'), arguments=['--json', '-n', '3', 'a b'])
if found and ({loop['loop'].rpartition('/')[2] for loop in found['loops']} != {'increments', 'app.c:11:main'} or "'a b'" not in json.dumps(found)):
    fail('loops or arguments of app', json.dumps(found['loops']))
expect('polling is asked for', APP, ('WS611', 'ok', 'MPI_Iprobe', ''), WS_POLL='1')

expect('no such file', './missing', ('WS601', 'problem', 'no such file', 'ls -l .'))
expect('nowhere in PATH', 'missing-program', ('WS601', 'problem', 'in no folder of PATH', 'find'))
shutil.copy(APP, 'here')
expect('a name without a folder', 'here', ('WS601', 'problem', 'PATH', './here'))
expect('a folder', machine, ('WS601', 'problem', 'PATH', ''))
expect('a folder by its path', './machine', ('WS601', 'problem', 'is a folder', ''))
expect('empty', changed('empty', lambda data: b''), ('WS601', 'problem', '', ''))
expect('half of it', changed('half', lambda data: data[:len(data) // 4]), ('WS601', 'problem', 'its end is missing', 'again'))
expect('the begin of it', changed('begin', lambda data: data[:40]), ('WS601', 'problem', 'its end is missing', 'again'))
expect('32 bits', changed('bits', lambda data: (put(4, 1)(data), put(18, 3, 0)(data)) and None), ('WS601', 'problem', '32-bit x86', 'mpicc'))
expect('another machine', changed('arm', put(18, 243, 0)), ('WS601', 'problem', 'RISC-V', 'mpicc'))
expect('a script', changed('script', lambda data: b'#!/bin/sh\nexec ./app\n'), ('WS601', 'warning', '#!/bin/sh', 'ws-doctor PROGRAM'))
os.chmod(changed('may not', lambda data: None), 0o644)
expect('not executable', './may not', ('WS601', 'problem', 'not executable', 'chmod +x'))
expect('another interface', changed('abi', other_abi), ('WS606', 'problem', 'version 77', 'mpicc -fws'))
with open('loop.c', 'w') as f:
    f.write('int main(void) { return 0; }\n')
expect('source text', './loop.c', ('WS601', 'problem', 'source', 'mpicc -fws -O3 ./loop.c -o ./loop'))

NO_LOOPS = ('WS605', 'warning', 'none', '#pragma ws for')
MAIN = 'int MPI_Init(void); int main(void) { return MPI_Init(); }'
INIT = 'int MPI_Init(void) { return 0; } int PMPI_Init(void) { return 0; }'
expect('no MPI, no loops', compiled('plain', 'int main(void) { return 0; }'), NO_LOOPS, ('WS603', 'warning', 'none', 'mpicc'))
expect('MPI in the program', compiled('static', INIT + MAIN), NO_LOOPS, ('WS603', 'problem', 'linked into', 'mpicc'))
# One rank for each CPU of the machine, where Workshare is built for Open MPI; else the program has to be compiled again.
WITH_OPEN_MPI = 'mpirun -n 2 ' if os.path.exists(f'{lib}/workshare/openmpi/libws.so.1') else 'mpicc'
for soname, what, fix in (('libmpich.so.12', 'another MPICH', f'LD_LIBRARY_PATH={quoted(lib)} mpirun'), ('libmpi.so.40', 'Open MPI', WITH_OPEN_MPI)):
    compiled(soname, INIT, '-shared', '-fPIC', f'-Wl,-soname,{soname}')
    expect(soname, compiled('other', MAIN, soname, '-Wl,--enable-new-dtags,-rpath,.'), NO_LOOPS, ('WS603', 'problem', what, fix))
compiled('libnone.so', INIT, '-shared', '-fPIC', '-Wl,-soname,libnone.so.1')
expect('a library that is not there', compiled('lost', MAIN, 'libnone.so'), NO_LOOPS, ('WS602', 'problem', 'libnone.so.1', 'LD_LIBRARY_PATH=FOLDER mpirun'),
       ('WS603', 'warning', 'none', ''))
for version in 2, 1:        # linked with the newer one, found the older one
    with open('versions', 'w') as f:
        f.write(f'AGE_{version} {{ global: *; }};\n')
    compiled('libage.so', INIT, '-shared', '-fPIC', '-Wl,-soname,libage.so,--version-script,versions')
    if version == 2:
        compiled('aged', MAIN, 'libage.so', '-Wl,-rpath,.')
expect('a library that has become older', './aged', NO_LOOPS, ('WS602', 'problem', "version `AGE_2' not found", 'mpicc'), ('WS603', 'warning', 'none', ''))
expect('another MPICH by a path that stays', compiled('fixed', MAIN, 'libmpich.so.12', '-Wl,--disable-new-dtags,-rpath,.'), NO_LOOPS,
       ('WS603', 'problem', 'another MPICH', "mpicc' -fws" if ' ' in lib else f'LD_PRELOAD={quoted(lib + "/libmpich.so.12")} mpirun'))
expect('OpenMP that libws does not see', compiled('openmp', 'void f(int *);\nint main(void) {\n#pragma omp parallel\n{ int i; f(&i); }\nreturn 0; } void f(int *i) { *i = 0; }',
                                                 '-fopenmp'), NO_LOOPS, ('WS303', 'warning', 'OMP_NUM_THREADS is not set', 'OMP_NUM_THREADS=1 mpirun'), ('WS603', 'warning', '', ''), ('WS608', 'note', 'not linked with libws', ''))

OPENMP = {'OMP_NUM_THREADS': '1'}
for environment, wanted in (({'WS_OPENMP': 'auto'}, ('WS612', 'ok', 'nothing is in the way', '')),
                            ({'WS_OPENMP': 'auto', 'OMP_WAIT_POLICY': 'active'}, ('WS612', 'warning', 'OMP_WAIT_POLICY=active', 'unset OMP_WAIT_POLICY')),
                            ({'WS_OPENMP': 'lend', 'WS_WORKERS': '1'}, ('WS612', 'ok', 'nothing is in the way', '')),
                            ({'WS_OPENMP': 'balance', 'OMP_PROC_BIND': 'close'}, ('WS612', 'note', 'OMP_PROC_BIND=close', 'needs no change'))):
    done = run('--check', 'WS612', './openmp', **OPENMP, **environment)
    if f'{wanted[0]} {wanted[1]}' not in done.stdout or wanted[2] not in done.stdout or wanted[3] not in done.stdout:
        fail(f'{environment}: not {wanted}', done.stdout + done.stderr)
done = run('--check', 'WS612', '-n', '4096', './openmp', **OPENMP, WS_OPENMP='auto')
if 'WS612 warning' not in done.stdout or 'CPUs for 4096 ranks' not in done.stdout or 'mpirun -bind-to core' not in done.stdout:
    fail('-workshare-openmp with masks that leave a rank no CPU', done.stdout + done.stderr)
done = run('--check', 'WS612', APP, WS_OPENMP='auto')
if 'WS612 warning' not in done.stdout or 'no OpenMP library' not in done.stdout:
    fail('-workshare-openmp for a program without OpenMP', done.stdout + done.stderr)

SEE = '; see ws-doctor --help'
for words, text in ((['--hepl'], 'unknown option --hepl; did you mean --help or --check?'), (['--check', 'WS999'], "--check: 'WS999' is not the number of a check; --list has them"),
                    (['--check'], '--check requires a value: NUMBER' + SEE), (['-n', '0'], "--ranks: '0' is not a number of ranks from 1 to 1000000" + SEE),
                    (['-n', 'x'], "--ranks: 'x' is not a number of ranks from 1 to 1000000" + SEE), (['-n', '2', '-n', '3'], '--ranks is given 2 times; once is the most'),
                    (['--json=no'], '--json takes no value' + SEE), (['--root', './nowhere'], "--root: './nowhere' is not a folder" + SEE)):
    done = run(*words)
    if done.returncode != 2 or done.stderr != f'ws-doctor: error: {text}\n' or done.stdout:
        fail(f'{words}: exit status {done.returncode}', done.stdout + done.stderr)
done = run('--check', 'ws601', APP)
if done.returncode != 0 or 'WS601 ok' not in done.stdout or 'WS602' in done.stdout:
    fail('one check', done.stdout + done.stderr)
for words in [APP], ['--list'], ['--json', APP], ['--help'], ['--version']:
    with open('/dev/full', 'w') as full:
        done = subprocess.run([DOCTOR, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=ENV)
    if done.returncode != 2 or done.stderr.count('\n') != 1 or 'No space left' not in done.stderr:
        fail(f'{words[0]} on a full disk: exit status {done.returncode}', done.stderr)
finish()
