# SPDX-License-Identifier: MIT
"""./setup on machines that we do not have: no package lists, no compiler, not root, apt that fails. apt-get and its like are made up
here and write down how they were called, so nothing is installed and no network is used."""
import os
import re
import shutil
import stat
import sys
import tempfile

from check import expect, finish, run

SETUP = os.path.realpath(sys.argv[1])
TOP = os.path.dirname(SETUP)
COMMANDS = ('try', 'demo', 'build', 'bench', 'papers', 'package', 'test')

APT_GET = r'''#!/bin/bash
case " $* " in
    *" indextargets "*) echo "$STATE/lists" ;;
    *" --assume-no "*) echo '0 upgraded, 111 newly installed, 0 to remove and 0 not upgraded.'
        echo 'Need to get 107 MB of archives.'; echo 'After this operation, 441 MB of additional disk space will be used.'; exit 1 ;;
    *" update "*) echo "$*" >>"$STATE/calls"; [ ! -e "$STATE/no-network" ] || { echo 'E: Failed to fetch'; exit 100; }; touch "$STATE/lists" ;;
    *" install "*) echo "$*" >>"$STATE/calls"
        [ ! -e "$STATE/broken" ] || { echo 'E: Unable to locate package g++'; exit 100; }
        [ ! -e "$STATE/dpkg-fails" ] || { echo 'E: Sub-process /usr/bin/dpkg returned an error code (1)'; exit 100; }
        # As apt does, which makes its progress pipe non-blocking: what scripts of packages print must not go there.
        [[ " $* " =~ Status-Fd=([0-9]+) ]] && fd=${BASH_REMATCH[1]}
        [ -p /dev/fd/1 ] && echo 'E: stdout is a pipe' && exit 100
        for p in 0 7.5 51.2 58 100; do echo "dlstatus:1:$p:Retrieving file 1 of 2" >&$fd; done
        echo 'Setting up'; for p in 0 50 100; do echo "pmstatus:libc6:amd64:$p:Configuring libc6" >&$fd; done
        for p; do case $p in [a-z]*) echo "$p" >>"$STATE/installed"; esac; done ;;
esac
'''
# Whether a file of names has one. Without a process for each: they are called for dozens of packages, hundreds of times.
HAS = r'''
has() { [[ $names == *" $1 "* ]]; }
read_names() { names=; [ ! -e "$STATE/$1" ] || names=" $(<"$STATE/$1") "; names=${names//$'\n'/ }; }
'''
# A system with gcc 13 and clang 17.
APT_CACHE = '#!/bin/bash' + HAS + r'''
[ -e "$STATE/lists" ] || exit 100
case $1 in
    depends) case $2 in gcc) echo "  Depends: gcc-13" ;; clang) echo "  Depends: clang-17" ;; esac ;;
    show) read_names unavailable; for package in "${@:3}"; do has "$package" || echo "Package: $package"; done ;;
esac
'''
DPKG_QUERY = '#!/bin/bash' + HAS + r'''
status=0
read_names installed
for package in "${@:4}"; do
    if has "$package"; then echo "installed $package 1.0"; else status=1; fi
done
exit $status
'''


class Machine:
    """The programs that each Debian has, the made-up ones before them, and a copy of what ./setup is made of."""
    def __init__(self, folder, lists=False, root=True):
        self.folder, self.state = folder, os.path.join(folder, 'state')
        self.bin, self.checkout = os.path.join(folder, 'bin'), os.path.join(folder, 'checkout')
        for path in (self.state, self.bin, os.path.join(self.checkout, 'tools/dev'), os.path.join(self.checkout, 'tests')):
            os.makedirs(path)
        for name in ('setup', 'tools/dev/packages', 'tools/dev/packages.txt', 'tests/clean-environment'):
            shutil.copy(os.path.join(TOP, name), os.path.join(self.checkout, name))
        for name in ('bash', 'cat', 'cut', 'dirname', 'env', 'grep', 'head', 'mkdir', 'mkfifo', 'mktemp', 'rm', 'sed', 'tail', 'touch', 'tr'):
            os.symlink(shutil.which(name), os.path.join(self.bin, name))
        self.program('apt-get', APT_GET)
        self.program('dpkg-query', DPKG_QUERY)
        self.program('apt-cache', APT_CACHE)
        self.program('id', f'#!/bin/bash\necho {0 if root else 1000}\n')
        if lists:
            self.has('lists')

    def program(self, name, text):
        path = os.path.join(self.bin, name)
        if os.path.lexists(path):
            os.remove(path)
        with open(path, 'x') as f:  # never through a link to the machine's own
            f.write(text)
        os.chmod(path, stat.S_IRWXU)

    def has(self, name, text=''):
        with open(os.path.join(self.state, name), 'w') as f:
            f.write(text)

    def calls(self):
        try:
            with open(os.path.join(self.state, 'calls')) as f:
                return f.read().splitlines()
        except OSError:
            return []

    def setup(self, *arguments):
        return run('env', '-i', f'PATH={self.bin}', f'STATE={self.state}', os.path.join(self.bin, 'bash'), os.path.join(self.checkout, 'setup'),
                   *arguments)


def on_a_machine(test, **how):
    with tempfile.TemporaryDirectory(prefix='setup ') as folder:
        test(Machine(folder, **how))


def said(what, result, *parts, status=1):
    code, out, err = result
    expect(f'{what}: exit status', code, status)
    expect(f'{what}: {err!r} lacks', [p for p in parts if p not in err], [])


def bare(machine):
    """Lists first, for the names; then what is missing in one call; the size and the progress are shown. It ends where there is no meson."""
    result = machine.setup('demo')
    said('bare', result, 'there are no package lists yet', '111 packages, 107 MB to download, 441 MB on disk for ./setup demo: gcc g++', 'gcc-13-plugin-dev',
         'downloaded 50 %', 'downloaded 100 %', 'installed 50 %', 'meson')
    expect('bare: lines of progress', len(re.findall(r'^setup: \w+ \d+ %$', result[2], re.M)), 6)
    calls = machine.calls()
    expect('bare: calls', [re.search(r'update|install', c)[0] for c in calls], ['update', 'install'])
    expect('bare: recommended packages', '--no-install-recommends' in calls[1], True)
    said('second time', machine.setup('demo'), 'meson')
    expect('second time: calls', len(machine.calls()), 2)


def no_network(machine):
    machine.has('no-network')
    said('no network', machine.setup('build'), 'E: Failed to fetch', 'apt-get update failed', 'apt.log')


def cannot_install(machine):
    machine.has('broken')
    said('old lists', machine.setup('build'), 'may be too old', 'E: Unable to locate package g++', 'apt-get install failed', 'apt.log')
    expect('old lists: calls', len(machine.calls()), 3)


def cannot_configure(machine):
    """New lists would not help there."""
    machine.has('dpkg-fails')
    said('dpkg fails', machine.setup('build'), 'E: Sub-process /usr/bin/dpkg', 'apt-get install failed', 'apt.log')
    expect('dpkg fails: calls', len(machine.calls()), 1)


def not_root(machine):
    for command in COMMANDS:
        needed = machine.setup('packages', command)[1].split()
        result = machine.setup(command)
        said(f'{command}, not root', result, 'run as root: apt-get install -y --no-install-recommends')
        expect(f'{command}, not root: lines', result[2].count('\n'), 1)
        expect(f'{command}, not root: named', [p for p in needed if p not in result[2].split()], [])
    expect('test, not root: the browser', 'chromium' in result[2].split(), True)
    expect('not root: calls', machine.calls(), [])
    machine.has('installed', '\n'.join(needed[1:]))
    said('one is missing', machine.setup('test'), f'--no-install-recommends {needed[0]}\n')


def without_lists_not_root(machine):
    said('not root, no lists', machine.setup('demo'), 'apt-get update && apt-get install')


def anything_else(machine):
    """A failure that ./setup does not expect is named, with its exit status."""
    machine.program('mkdir', '#!/bin/bash\nexit 7\n')
    said('mkdir fails', machine.setup('demo'), 'exit status 7', 'mkdir -p "$build"', 'line', status=7)


def not_to_be_had(machine):
    """What a build does without is left out with one line, before the first configuration; the rest is installed."""
    machine.has('unavailable', 'libpapi-dev\nlibopen-trace-format2-dev\nclang-17\ng++\n')
    result = machine.setup('test')
    said('not to be had', result, 'left out: libopen-trace-format2-dev libpapi-dev clang-17 (')
    expect('not to be had: asked for', [p for p in ('libpapi-dev', 'clang-17') if p in machine.calls()[-1].split()], [])
    expect('not to be had: asked for all the same', [p for p in ('g++', 'gcc-13-plugin-dev', 'libclang-17-dev') if p not in machine.calls()[-1].split()], [])


def others_beside(machine):
    """The plugin packages of other compilers that are installed, and no others."""
    machine.program('dpkg-query', DPKG_QUERY.replace('status=0', '''status=0
case "${*: -1}" in 'gcc-[0-9]*') printf 'installed %s\\n' gcc-12 gcc-12-base gcc-13 gcc-9; exit ;; 'clang-[0-9]*') printf 'installed %s\\n' clang-13 clang-14 clang-21 clang-22; exit ;; esac'''))
    needed = machine.setup('packages', 'build')[1].split()
    expect('others beside', [p for p in needed if re.search(r'plugin|clang', p)], ['gcc-13-plugin-dev', 'gcc-12-plugin-dev', 'libclang-14-dev', 'libclang-21-dev'])


def without_apt(machine):
    """Other systems: their names, as text, and the build goes on."""
    os.remove(os.path.join(machine.bin, 'apt-get'))
    said('neither', machine.setup('build'), 'none of apt-get, dnf and zypper', 'meson')
    machine.program('zypper', '#!/bin/bash\nexit 9\n')
    said('zypper', machine.setup('build'), 'as root: zypper install gcc gcc-c++ gcc-fortran', 'meson')
    expect('zypper: calls', machine.calls(), [])


def from_what_is_there(machine):
    """Neither root nor sudo, and tools that are no packages of Debian: the build goes on, and Meson says what it lacks."""
    for name in ('gcc', 'g++', 'gfortran', 'make', 'patch', 'ninja'):
        machine.program(name, '#!/bin/bash\n')
    machine.program('meson', '#!/bin/bash\necho "meson.build:1:0: ERROR: Dependency hwloc not found"\nexit 1\n')
    said('what is there', machine.setup('build'), 'run as root: apt-get install', 'going on with what is there', 'Dependency hwloc not found')


def lists_only(machine):
    """Everything is there but apt's lists, from which the demo makes a graph."""
    machine.has('installed', machine.setup('packages', 'demo')[1] + 'gcc-13-plugin-dev\n')
    said('lists only', machine.setup('demo'), 'apt-get update (there are no package lists yet)')
    expect('lists only: calls', len(machine.calls()), 1)


def by_sudo(machine):
    machine.program('sudo', '#!/bin/bash\necho sudo >>"$STATE/calls"\nexec "$@"\n')
    said('sudo', machine.setup('build'), '111 packages', 'meson')
    expect('sudo: calls', [c.split()[0] == 'sudo' for c in machine.calls()], [True, False])
    machine.program('sudo', '#!/bin/bash\necho sudo: no password >&2\nexit 1\n')
    machine.has('installed')
    said('sudo refuses', machine.setup('build'), 'sudo: no password', 'apt-get install failed')


def a_package_comes_later(machine):
    """Meson runs once; again when a package has come that it looks for, with the prefix and the options that it had."""
    for name in 'meson', 'ninja':
        machine.program(name, f'#!/bin/bash\necho "{name} $*" >>"$STATE/calls"\n[ "$1" != setup ] || touch "{machine.checkout}/build/build.ninja"\n')
    prefix = os.path.join(machine.folder, 'prefix')

    def meson_setups(*command):
        before = len(machine.calls())
        code, out, err = machine.setup(*command)
        expect(f'{command}: {err}', code, 0)
        return [c.split() for c in machine.calls()[before:] if c.startswith('meson setup')]
    machine.has('installed', machine.setup('packages', 'build')[1])
    first = meson_setups('build', '--prefix', prefix)
    expect('first', ('--reconfigure' in first[0], len(first)), (False, 1))
    expect('second', meson_setups('build', '--prefix', prefix), [])
    machine.has('installed', machine.setup('packages', 'build')[1] + 'clang-17\nlibclang-17-dev\nllvm-17-dev\n')
    later = meson_setups('build', '--prefix', prefix)
    expect('clang comes', ('--reconfigure' in later[0], prefix.split()[-1] in ' '.join(later[0]), len(later)), (True, True, 1))
    expect('and stays', meson_setups('build', '--prefix', prefix), [])


on_a_machine(bare)
on_a_machine(no_network)
on_a_machine(cannot_install, lists=True)
on_a_machine(cannot_configure, lists=True)
on_a_machine(not_root, lists=True, root=False)
on_a_machine(without_lists_not_root, root=False)
on_a_machine(anything_else)
on_a_machine(not_to_be_had, lists=True)
on_a_machine(others_beside, lists=True)
on_a_machine(without_apt)
on_a_machine(from_what_is_there, lists=True, root=False)
on_a_machine(lists_only)
on_a_machine(by_sudo, lists=True, root=False)
on_a_machine(a_package_comes_later, lists=True)

# What each command needs, and that the table has a name, or none, for each system.
with open(os.path.join(TOP, 'tools/dev/packages.txt')) as f:
    rows = [line.split() for line in f if line.strip() and not line.startswith('#')]
expect('rows of another form', [r for r in rows if len(r) != 5 or r[0] not in ('every', 'tools', 'build', 'demo', 'mpi', 'try', 'clang', 'bench', 'docs', 'package', 'test') or r[1] not in ('must', 'part')], [])
needs = {command: run(SETUP, 'packages', command)[1].split() for command in COMMANDS}
for command, packages in needs.items():
    expect(f'{command}: more than a few packages', len(packages) > 12, True)
    expect(f'{command}: twice', sorted(set(packages)), sorted(packages))
    for system in ('dnf', 'zypper'):
        expect(f'{command}: of {system}', [p for p in ('gcc-c++', 'meson') if p not in run(SETUP, 'packages', command, system)[1].split()], [])
expect('docs', run(SETUP, 'packages', 'docs')[1].split(), ['python3', 'python3-sphinx', 'python3-myst-parser', 'furo'])
for name in ('clang', 'libclang-rt-N-dev', 'libomp-N-dev', 'locales', 'spin', 'gdb', 'cmake', 'netpipe-mpich2', 'chromium', 'mandoc'):
    for command, wanted in (('demo', False), ('test', True)):
        expect(f'{name} for {command}', name in [re.sub(r'-\d+-', '-N-', p) for p in needs[command]], wanted)
# Without Workshare's own MPICH: less than for a build, and an MPI only where there is none.
system = run(SETUP, 'packages', 'build', '-Dmpi=system')[1].split()
expect('build -Dmpi=system', [p for p in system if p not in needs['build']] + [p for p in ('libucx-dev', 'patch') if p in system], [])
expect('try', [p for p in needs['try'] if p not in system], [p for p in needs['try'] if p in ('python3-tabulate', 'libmpich-dev')])
expect('a MPI for try', 'libmpich-dev' in needs['try'], not any(shutil.which(f'mpicc{ending}') for ending in ('', '.mpich', '.openmpi')))
finish()
