# SPDX-License-Identifier: MIT
"""mpiexec and completion have their options from the installation's table: an option or a word that is added there, and nowhere else, is
accepted. Without the table mpiexec says so once, where it needs it."""
import os
import shutil
import subprocess
import sys
import tempfile

from check import expect, expect_message, finish, run

STAGE = sys.argv[1]
NEW = '''
variable WS_LIMIT
option -workshare-limit {n}
kind number 3 7
words many
wanted many or a number of seconds from 3 to 7
help how long, at most

variable WS_COLOUR
kind colour
meaning a line, and a kind, of a later version
'''
SHOW = ['-n', '1', 'sh', '-c', 'echo "$WS_LIMIT $WS_VICTIM $WS_COLOUR"']

with tempfile.TemporaryDirectory() as prefix:
    # mpiexec looks where it lies itself.
    for folder in 'bin', 'lib/workshare/mpich/bin', 'share/workshare', 'share/bash-completion/completions':
        os.makedirs(f'{prefix}/{folder}')
    for program in 'bin/mpiexec.hydra', 'bin/hydra_pmi_proxy', 'lib/workshare/mpich/bin/mpiexec.hydra':
        shutil.copy(f'{STAGE}/{program}', f'{prefix}/{program}')
    shutil.copy(f'{STAGE}/share/bash-completion/completions/workshare.bash', f'{prefix}/share/bash-completion/completions')
    mpiexec, table = f'{prefix}/bin/mpiexec.hydra', f'{prefix}/share/workshare/options'
    with open(f'{STAGE}/share/workshare/options') as f:
        known = f.read()
    with open(table, 'w') as f:
        f.write(known.replace('words auto most', 'words auto oldest most', 1) + NEW)

    for value in '3', '7', 'many':
        expect(f'a new option: {value}', run(mpiexec, '-workshare', '-workshare-limit', value, *SHOW), (0, f'{value}  \n', ''))
    expect_message('a wrong value', run(mpiexec, '-workshare', '-workshare-limit=8', *SHOW), "mpiexec: error: -workshare-limit: '8' is not many or a number of seconds")
    expect_message('a wrong variable', run(mpiexec, '-workshare', *SHOW, env={'WS_LIMIT': '2'}), 'mpiexec: error: WS_LIMIT=2 is not many or a number of seconds')
    expect_message('misspelt', run(mpiexec, '-workshare-limti=3', *SHOW), 'did you mean -workshare-limit')
    expect_message('unknown', run(mpiexec, '-workshare-xyzxyz', *SHOW), 'unknown option -workshare-xyzxyz; did you mean -workshare')
    expect('a new word', run(mpiexec, '-workshare', '-workshare-victim', 'oldest', *SHOW), (0, ' oldest \n', ''))
    expect('what mpiexec does not know passes', run(mpiexec, '-workshare', *SHOW, env={'WS_COLOUR': 'blue'}), (0, '  blue\n', ''))
    code, out, err = run(mpiexec, '-help')
    expect('-help', (code, '    -workshare-limit {n}             how long, at most\n' in out, 'WS_COLOUR' in out), (0, True, False))
    os.rename(f'{prefix}/lib/workshare/mpich', f'{prefix}/lib/workshare/away')
    expect_message('without MPICH\'s own', run(mpiexec, *SHOW), 'mpiexec: error: cannot run ', '/lib/workshare/mpich/bin/mpiexec.hydra', 'is the installation complete?')
    os.rename(f'{prefix}/lib/workshare/away', f'{prefix}/lib/workshare/mpich')
    offered = subprocess.run(['bash', '--norc', '-uc', 'source "$1"; COMP_WORDS=(mpirun -workshare-limit "") COMP_CWORD=2 COMPREPLY=(); '
                              '_workshare_mpirun; echo "${COMPREPLY[@]}"; COMP_WORDS=(mpirun -workshare-li) COMP_CWORD=1 COMPREPLY=(); '
                              '_workshare_mpirun; echo "${COMPREPLY[@]}"', 'bash', f'{prefix}/share/bash-completion/completions/workshare.bash'],
                             capture_output=True, text=True, timeout=20)
    expect('completion', (offered.stdout, offered.stderr), ('many\n-workshare-limit\n', ''))

    for empty in False, True:
        os.remove(table)
        if empty:
            open(table, 'w').close()
        for what, args, env in (('-workshare', ['-workshare'], {}), ('-workshare', ['-workshare-quiet'], {}), ('WS_ENABLE', [], {'WS_ENABLE': '1'}),
                                ('WS_ENABLE', ['-genv', 'WS_ENABLE', '1'], {})):
            expect_message(f'no table: {args} {env}', run(mpiexec, *args, *SHOW, env=env), f'mpiexec: error: {what}: cannot read the table of options, ',
                           '/share/workshare/options: ', 'is the installation complete?')
        expect('no table, and none is needed', run(mpiexec, *SHOW, env={'WS_VICTIM': 'any'}), (0, ' any \n', ''))
        code, out, err = run(mpiexec, '-worksahre', *SHOW)
        expect('no table, an unknown option', (code != 0, out, 'unrecognized argument worksahre' in err), (True, '', True))
        code, out, err = run(mpiexec, '-help')
        expect('no table, -help', (code, err, 'cannot be listed: ' in out, '-bind-to' in out), (0, '', True, True))
        if not empty:
            open(table, 'w').close()
finish()
