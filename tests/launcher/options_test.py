# SPDX-License-Identifier: MIT
"""mpirun -workshare and its options, wherever they stand. The "application" prints what reached it."""
import sys
import tempfile

from check import expect, expect_message, finish, run

MPIRUN = sys.argv[1]
SHOW = ['/bin/sh', '-c', 'echo "${WS_ENABLE-} ${WS_QUIET-} ${WS_QUANTUM-} $*"', 'show']


def reached(what, wanted, *args, env=None):
    code, out, err = run(MPIRUN, *args, env=env)
    expect(what, (code, sorted(line.strip() for line in out.splitlines()), err), (0, sorted(wanted), ''))


reached('off', ['', ''], '-n', '2', *SHOW)
reached('alone', ['1', '1'], '-workshare', '-n', '2', *SHOW)
reached('two dashes', ['1'], '--workshare', '-n', '1', *SHOW)
reached('after other flags', ['1', '1'], '-n', '2', '-bind-to', 'none', '-workshare', *SHOW)
reached('twice', ['1'], '-workshare', '-n', '1', '-workshare', *SHOW)
reached('all three', ['1 1 250'], '-workshare-quantum', '250', '-n', '1', '-workshare-quiet', '-workshare', *SHOW)
reached('with =', ['1  250'], '-workshare', '-workshare-quantum=250', '-n', '1', *SHOW)
reached('MPMD, first part', ['1   a', '1   b'], '-workshare', '-n', '1', *SHOW, 'a', ':', '-n', '1', *SHOW, 'b')
reached('MPMD, second part', ['1  7 a', '1  7 b'],
        '-n', '1', *SHOW, 'a', ':', '-n', '1', '-workshare-quantum', '7', '-workshare', *SHOW, 'b')
reached('an argument of the program', ['-workshare'], '-n', '1', *SHOW, '-workshare')
reached('-genvnone', ['1'], '-genvnone', '-workshare', '-n', '1', *SHOW)
reached('the environment does not turn it on', ['', ''], '-n', '2', *SHOW,
        env={'WS_ENABLE': '1', 'WS_QUIET': '1', 'WS_QUANTUM': '9'})
reached('the environment does not add to it', ['1'], '-workshare', '-n', '1', *SHOW,
        env={'WS_QUIET': '1', 'WS_QUANTUM': '9'})

with tempfile.NamedTemporaryFile('w') as config:
    config.write('-workshare -workshare-quantum 5 -n 1 /usr/bin/printenv WS_QUANTUM\n-n 1 /usr/bin/printenv WS_ENABLE\n')
    config.flush()
    reached('config file', ['1', '5'], '-configfile', config.name)
    reached('the command line goes before the config file', ['1', '6'],
            '-configfile', config.name, '-workshare-quantum', '6')


def refused(what, *args_and_parts):
    args, parts = args_and_parts
    expect_message(what, run(MPIRUN, *args, '-n', '1', *SHOW), 'mpiexec: ', *parts)


refused('unknown', ['-workshare-quit'],
        ['unknown option -workshare-quit', 'known: -workshare, -workshare-quiet, -workshare-quantum USEC'])
refused('unknown after others', ['-workshare', '-workshares'], ['unknown option -workshares'])
refused('unknown with a value', ['-workshare-quantums=3'], ['unknown option -workshare-quantums'])
refused('value for a switch', ['-workshare=on'], ['-workshare takes no value', "'on'"])
for value in '0', '-1', '1000001', '12us', '', ' 5', '1e3', '99999999999999999999':
    refused('quantum', ['-workshare', '-workshare-quantum', value], ['-workshare-quantum', f"'{value}'"])
refused('two quanta', ['-workshare', '-workshare-quantum', '5', '-workshare-quantum', '6'], ['twice', '5', '6'])
refused('quiet alone', ['-workshare-quiet'], ['-workshare-quiet has no meaning without -workshare'])
refused('quantum alone', ['-workshare-quantum', '5'], ['-workshare-quantum has no meaning without -workshare'])
expect_message('value missing', run(MPIRUN, '-workshare', '-workshare-quantum'), '-workshare-quantum', 'missing')

code, out, err = run(MPIRUN, '-help')
expect('-help', [option for option in ('-workshare ', '-workshare-quiet ', '-workshare-quantum ') if option not in out], [])
finish()
