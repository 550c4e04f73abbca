# SPDX-License-Identifier: MIT
"""Completion in bash: what the functions offer for a command line, that they know the options that programs have, and that
bash-completion finds them under the prefix. Those of fish and zsh have the same options, and offer them where these shells are installed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from programs import STAGE, TOOLS, equal, mpirun_options, tool_options
from expectation import conclude

SOURCE = sys.argv[2]
FILES = f'{os.path.abspath(STAGE)}/share/bash-completion/completions'
DRIVE = '''
source "$1"; shift
command=$1
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
function=$(complete -p "${command##*/}" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
$function "$command" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
'''


def offered(*words, cwd=None):
    name = os.path.basename(words[0])
    done = subprocess.run(['bash', '--norc', '-uc', DRIVE, 'bash', f'{FILES}/{name}', *words], capture_output=True, text=True, timeout=20,
                          cwd=cwd)
    equal(f'{words}: messages', done.stderr, '')
    return [line for line in done.stdout.splitlines() if line]


ours, all_options = mpirun_options()
WITH_FILE = {'-workshare-report=', '-workshare-trace='}
known = set(offered('mpirun', '-'))
equal('options of Workshare that mpirun has and completion has not, or the other way round',
       {o for o in known if o.startswith('-workshare')} ^ (ours | WITH_FILE), set())
equal("completion knows MPICH's options of mpirun", all_options - known, set())
equal('--', set(offered('mpirun', '--')), {'-' + o for o in ours | WITH_FILE})
told = subprocess.run([f'{STAGE}/bin/workshare', '--help'], capture_output=True, text=True).stdout
its = set(re.findall(r'^    (--[\w-]+)', told, re.M))
equal('workshare: options', {o.rstrip('=') for o in offered('workshare', '--')}, its)
equal('workshare: a value', offered('workshare', '--victim', 'n'), ['nearest', 'none'])
equal('workshare: an MPI', offered('workshare', '--mpi', 'o'), ['openmpi'])
for tool in TOOLS:
    done = subprocess.run([f'{STAGE}/bin/{tool}', '--versoin', *['x'] * (tool == 'ws-timeline')], capture_output=True, text=True)
    equal(f'{tool}: a misspelt option', (done.returncode, done.stdout, done.stderr), (2, '', f'{tool}: error: unknown option --versoin; did you mean --version?\n'))
    equal(f'{tool}: options', set(offered(tool, '--')), tool_options(tool)[0])
with open(f'{STAGE}/lib/workshare/wrapper.sh') as f:
    words = f.read().replace(')', ' ').replace('|', ' ').split()
    flags = {w for w in words if w.startswith('-fws') and w.strip("-fws=openmprt") == ''}
known_warnings = {w[len('-fws-warn='):] for w in words if w.startswith('-fws-warn=no-') and w.islower()}
for wrapper in 'mpicc', 'mpicxx', 'mpifort':
    equal(wrapper, set(offered(wrapper, '-O2', '-fw')), flags | {'-fws-warn='})
    for option in offered(wrapper, '-fws-warn', '=', ''):
        equal(f'{wrapper} -fws-warn={option}: the wrapper does not know it', option in known_warnings, True)
    equal(f'{wrapper} -fws-warn=', len(offered(wrapper, '-fws-warn', '=', '')), len(known_warnings))
    equal(f'{wrapper} -fws=', offered(wrapper, '-fws', '=', ''), ['openmp'])

equal('-work', len(offered('mpirun', '-n', '2', '-work')), len(ours | WITH_FILE))
victims = ['auto', 'most', 'fewest', 'nearest', 'random', 'none']
equal('victim', offered('mpirun', '-workshare', '-workshare-victim', ''), victims)
equal('victim=', offered('mpirun', '-workshare', '-workshare-victim', '='), victims)
equal('victim=n', offered('mpirun', '-workshare', '-workshare-victim', '=', 'n'), ['nearest', 'none'])
equal('keep', offered('mpiexec', '-workshare', '--workshare-trace-keep', 'o'), ['oldest'])
equal('a number', offered('mpirun', '-workshare-quantum', ''), [])
equal("a program's name is bash's business", offered('mpirun', '-workshare', ''), [])
with tempfile.TemporaryDirectory() as folder:
    for name in 'a.json', 'b.otf2', 'c.csv', 'd e.json', 'f.c':
        open(f'{folder}/{name}', 'w').close()
    os.mkdir(f'{folder}/runs')
    equal('trace', offered('mpirun', '-workshare-trace', '=', '', cwd=folder), ['runs', 'a.json', 'd e.json', 'b.otf2'])
    equal('report=', sorted(offered('mpirun', '-workshare-report', '=', '', cwd=folder)), ['a.json', 'c.csv', 'd e.json', 'runs'])
    for option in '-workshare-report', '-workshare-trace':
        equal("without = it may be the program: all files, by bash", offered('mpirun', option, '', cwd=folder), [])
    equal('a trace to draw', offered('ws-timeline', '', cwd=folder), ['runs', 'a.json', 'd e.json', 'b.otf2'])
    equal('a report to read', offered('ws-report', 'd', cwd=folder), ['d e.json'])
    equal('a report to advise on', offered('ws-doctor', 'advise', 'd', cwd=folder), ['d e.json'])
setup = f'{SOURCE}/setup'
help_text = subprocess.run([setup, 'help'], capture_output=True, text=True).stdout
commands = offered(setup, '')
equal('commands of setup that its help does not name', [c for c in commands if f'\n  {c} ' not in help_text], [])
equal('commands of setup', offered(setup, 'b'), ['bench', 'build'])
equal('options of setup', offered(setup, 'build', '--'), ['--prefix'])
equal("somebody else's setup", offered('/nowhere/setup', ''), [])

loader = '/usr/share/bash-completion/bash_completion'
if os.path.exists(loader):
    env = dict(os.environ, XDG_DATA_DIRS=f'{STAGE}/share:/usr/share')
    for command in ['mpirun', 'mpicc', *TOOLS]:
        done = subprocess.run(['bash', '--norc', '-c', '. "$1"; _completion_loader "$2"; complete -p "$2"', 'bash', loader, command],
                              capture_output=True, text=True, env=env)
        equal(f'bash-completion finds {command}', '-F _workshare_' in done.stdout, True)
# fish and zsh: made of the same table and lists.
SHARE = f'{os.path.abspath(STAGE)}/share'


def in_fish(line):
    script = 'for f in $argv[2..]; source $f; end; complete -C $argv[1]'
    made = [f'{SHARE}/fish/vendor_completions.d/{name}' for name in os.listdir(f'{SHARE}/fish/vendor_completions.d')]
    done = subprocess.run(['fish', '--no-config', '-c', script, line, *made], capture_output=True, text=True, timeout=20)
    equal(f'fish, {line}: messages', done.stderr, '')
    return {offer.split('\t')[0] for offer in done.stdout.splitlines()}


with open(f'{SHARE}/fish/vendor_completions.d/mpirun.fish') as f:
    equal('options of mpirun in fish', {'-' + name for name in re.findall(r'^complete -c mpirun -o (workshare[\w-]*)', f.read(), re.M)}, {o for o in ours})
with open(f'{SHARE}/zsh/site-functions/_workshare') as f:
    text = f.read()
    equal('options of workshare in zsh', set(re.findall(r"^ *'(--(?!help|version|mpi|cflags|libs)[\w-]*)=?\[", text.split('workshare)')[1], re.M)), its - {'--help', '--version', '--mpi', '--cflags', '--libs'})
    equal('options of mpirun in zsh', set(re.findall(r"^ *'(-workshare[\w-]*)=?\[", text, re.M)), {o for o in ours})
    equal('commands in zsh', set(text.split('\n')[0].split()[1:]) - set(os.listdir(FILES)), set())
if shutil.which('fish'):
    equal('fish, workshare', in_fish('workshare --victim n'), {'nearest', 'none'})
    equal('fish, a value', in_fish('mpirun -workshare-victim n'), {'nearest', 'none'})
    equal('fish, ws-top', in_fish('ws-top --o'), {'--once'})
    equal('fish, mpicc', in_fish('mpicc -fws-r'), {'-fws-report'})
if shutil.which('zsh'):
    done = subprocess.run(['zsh', '-n', f'{SHARE}/zsh/site-functions/_workshare'], capture_output=True, text=True, timeout=20)
    equal('zsh reads it', (done.returncode, done.stderr), (0, ''))
conclude()
