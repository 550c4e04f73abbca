# SPDX-License-Identifier: MIT
"""mpirun -workshare and its options, wherever they stand. The "application" prints what reached it."""
import os
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
POLICY = ['/bin/sh', '-c', 'echo "${WS_VICTIM-} ${WS_WORKERS-} ${WS_POLL-}"', 'show']
for victim in 'auto', 'most', 'fewest', 'nearest', 'random', 'none':
    reached(victim, [victim], '-workshare', '-workshare-victim', victim, '-n', '1', *POLICY)
for workers in 'auto', '0', '1023':
    reached('workers', [workers], '-workshare-workers', workers, '-workshare', '-n', '1', *POLICY)
reached('poll', ['1'], '-workshare', '-workshare-poll', '-n', '1', *POLICY)
reached('all of them', ['most 2 1'], '-workshare-victim=most', '-workshare-poll', '-workshare-workers=2', '-workshare', '-n', '1',
        *POLICY)

FILES = ['/bin/sh', '-c', 'echo "${WS_REPORT-} ${WS_REPORT_FILE-} ${WS_TRACE-} ${WS_TRACE_KEEP-} ${WS_TRACE_BUFFER-}"', 'show']
here = os.getcwd()
reached('report', ['1'], '-workshare-report', '-workshare', '-n', '1', *FILES)
reached('report to a file', [f'{here}/r.json'], '-workshare', '-workshare-report=r.json', '-n', '1', *FILES)
for both in ['-workshare-report', '-workshare-report=/r.csv'], ['-workshare-report=/r.csv', '-workshare-report']:
    reached('both', ['1 /r.csv'], '-workshare', *both, '-n', '1', *FILES)
reached('trace', ['/t.otf2 oldest 7'], '-workshare-trace-buffer', '7', '-workshare-trace-keep=oldest', '-workshare-trace', '/t.otf2',
        '-workshare', '-n', '1', *FILES)
reached('a name from where mpirun is', [f'{here}/a=b t.json'], '-workshare', '-wdir', '/', '-workshare-trace=a=b t.json', '-n', '1', *FILES)

left_over = {'WS_ENABLE': '1', 'WS_QUIET': '1', 'WS_QUANTUM': '9', 'WS_VICTIM': 'most', 'WS_WORKERS': '3', 'WS_POLL': '1',
             'WS_REPORT': '1', 'WS_REPORT_FILE': '/r', 'WS_TRACE': '/t.json', 'WS_TRACE_KEEP': 'oldest', 'WS_TRACE_BUFFER': '1'}
for show in SHOW, POLICY, FILES:
    reached('the environment does not turn it on', ['', ''], '-n', '2', *show, env=left_over)
reached('the environment does not add to it', ['1'], '-workshare', '-n', '1', *SHOW, env=left_over)
for show in POLICY, FILES:
    reached('the environment does not add to it', [''], '-workshare', '-n', '1', *show, env=left_over)

with tempfile.NamedTemporaryFile('w') as config:
    config.write('-workshare -workshare-quantum 5 -n 1 /usr/bin/printenv WS_QUANTUM\n-n 1 /usr/bin/printenv WS_ENABLE\n')
    config.flush()
    reached('config file', ['1', '5'], '-configfile', config.name)
    reached('the command line goes before the config file', ['1', '6'],
            '-configfile', config.name, '-workshare-quantum', '6')
with tempfile.NamedTemporaryFile('w') as config:
    config.write('-workshare -workshare-victim most -workshare-workers 4 -n 1 /usr/bin/printenv WS_VICTIM WS_WORKERS\n')
    config.flush()
    reached('config file', ['most', '4'], '-configfile', config.name)
    reached('the command line goes before the config file', ['random', 'auto'],
            '-configfile', config.name, '-workshare-victim', 'random', '-workshare-workers', 'auto')


def refused(what, *args_and_parts):
    args, parts = args_and_parts
    expect_message(what, run(MPIRUN, *args, '-n', '1', *SHOW), 'mpiexec: ', *parts)


refused('unknown', ['-workshare-quit'],
        ['unknown option -workshare-quit', 'known: -workshare, -workshare-quiet, -workshare-quantum USEC, -workshare-victim NAME, '
         '-workshare-workers N|auto, -workshare-poll, -workshare-report, -workshare-report=FILE, -workshare-trace FILE, '
         '-workshare-trace-keep oldest|newest, -workshare-trace-buffer MIB)'])
refused('unknown after others', ['-workshare', '-workshares'], ['unknown option -workshares'])
refused('unknown with a value', ['-workshare-quantums=3'], ['unknown option -workshare-quantums'])
refused('value for a switch', ['-workshare=on'], ['-workshare takes no value', "'on'"])
refused('value for a switch', ['-workshare', '-workshare-poll=1'], ['-workshare-poll takes no value', "'1'"])
for value in 'mist', 'Most', '', '1', 'most,random':
    refused('victim', ['-workshare', '-workshare-victim', value],
            ['-workshare-victim', f"'{value}'", 'auto, most, fewest, nearest, random'])
for value in '-1', '1024', '', 'all', '2x', ' 2':
    refused('workers', ['-workshare', '-workshare-workers', value], ['-workshare-workers', f"'{value}'", 'from 0 to 1023'])
refused('two victims', ['-workshare', '-workshare-victim', 'most', '-workshare-victim', 'auto'], ['twice', 'most', 'auto'])
for value in '0', '-1', '1000001', '12us', '', ' 5', '1e3', '99999999999999999999':
    refused('quantum', ['-workshare', '-workshare-quantum', value], ['-workshare-quantum', f"'{value}'"])
refused('two quanta', ['-workshare', '-workshare-quantum', '5', '-workshare-quantum', '6'], ['twice', '5', '6'])
refused('quiet alone', ['-workshare-quiet'], ['-workshare-quiet has no meaning without -workshare'])
refused('quantum alone', ['-workshare-quantum', '5'], ['-workshare-quantum has no meaning without -workshare'])
for option in 'victim', 'workers':
    refused(f'{option} alone', [f'-workshare-{option}', 'auto'], [f'-workshare-{option} has no meaning without -workshare'])
refused('no file', ['-workshare', '-workshare-report='], ["-workshare-report: '' is not"])
refused('a file as a word of its own', ['-workshare', '-workshare-report', 'out.json'], ["after '='", '-workshare-report=out.json'])
for name in 't', 't.xml', '', '.json', 't.JSON', 't.json.gz':
    refused('trace', ['-workshare', '-workshare-trace', name], ['-workshare-trace', f"'{name}'", '.json or .otf2'])
for which in 'first', '', 'Newest':
    refused('keep', ['-workshare', '-workshare-trace=t.json', '-workshare-trace-keep', which], ['-trace-keep', f"'{which}'", 'oldest or newest'])
for size in '0', '65537', '-1', '1G', '':
    refused('buffer', ['-workshare', '-workshare-trace=t.json', '-workshare-trace-buffer', size], ['-trace-buffer', f"'{size}'", 'from 1 to 65536'])
for option in 'trace-keep=oldest', 'trace-buffer=1':
    refused(f'{option} alone', ['-workshare', f'-workshare-{option}'], ['has no meaning without -workshare-trace'])
for option in 'report', 'report=r', 'trace=t.json':
    refused(f'{option} alone', [f'-workshare-{option}'], [f'-workshare-{option.partition("=")[0]} has no meaning without -workshare'])
refused('one file twice', ['-workshare', '-workshare-report=a.json', '-workshare-trace=a.json'], ['the same file', f'{here}/a.json'])
refused('two traces', ['-workshare', '-workshare-trace=a.json', '-workshare-trace=b.json'], ['twice', 'a.json', 'b.json'])
refused('poll alone', ['-workshare-poll'], ['-workshare-poll has no meaning without -workshare'])
for option in 'quantum', 'victim', 'workers', 'trace', 'trace-keep', 'trace-buffer':
    expect_message('value missing', run(MPIRUN, '-workshare', f'-workshare-{option}'), f'-workshare-{option}', 'missing')

code, out, err = run(MPIRUN, '-help')
expect('-help', [option for option in ('-workshare ', '-workshare-quiet ', '-workshare-quantum ', '-workshare-victim ',
                                       '-workshare-workers ', '-workshare-poll ', '-workshare-report ',
                                       '-workshare-report={file} ', '-workshare-trace ', '-workshare-trace-keep ',
                                       '-workshare-trace-buffer ') if option not in out], [])
finish()
