# SPDX-License-Identifier: MIT
"""Bad input at run time: one message that names it, and the job ends with an error."""
import os
import re
import shlex
import tempfile

from job import PROGRAMS, expect, finish, run


def refused(*args, parts, **how):
    result = run('imbalance', *args, code='error', limit=20, **how)
    ours = result.messages()
    expect(result, 'not one line from workshare', len(ours) == 1)
    for part in parts:
        expect(result, f'the message does not say {part!r}', any(part in line for line in ours))
    expect(result, 'the program went on', 'right' not in result.out)


for name, value in (('WS_QUANTUM', 'abc'), ('WS_QUANTUM', '0'), ('WS_QUANTUM', ''), ('WS_SPIN', '-1'), ('WS_SPIN', '5us'),
                    ('WS_CHUNK_TIME', '0'), ('WS_CHUNK_TIME', '99999999999999999999'), ('WS_LINGER', '1e3'),
                    ('WS_CHAOS', 'yes'), ('WS_QUIET', '2'), ('WS_SCHEDULE', 'dynamic,0'), ('WS_SCHEDULE', 'auto,4'),
                    ('WS_STEAL_SCHEDULE', 'runtime'), ('WS_STEAL_SCHEDULE', 'nonmonotonic:fast'), ('WS_WORKERS', 'all'),
                    ('WS_WORKERS', '1000000'), ('WS_VICTIM', 'best'), ('WS_STACKSIZE', 'unlimited'), ('WS_STACKSIZE', '4P'),
                    ('WS_STACKSIZE', '10'), ('WS_STACKSIZE', '2T'), ('WS_STACKSIZE', '-1'), ('WS_STACKSIZE', '99999999999999999999M')):
    refused('nothing', 1, options=('-genv', name, value), parts=[f'{name}={value} '])  # mpirun looks at its own environment only

result = run('imbalance', 'nothing', 1, env={'WS_QUANTUMS': '5', 'WS_FOO': ''})
warning = [line for line in result.messages() if 'ignoring unknown settings' in line]
expect(result, 'not one warning that names both', len(warning) == 1 and 'WS_QUANTUMS' in warning[0] and 'WS_FOO' in warning[0])
result = run('imbalance', 'nothing', 1, env={'WS_QUANTM': '5', 'WS_LIGNER': '5', 'WS_SOMETHING': ''})
expect(result, 'does not say what was meant', 'WS_QUANTM (did you mean WS_QUANTUM?)' in result.err and
       'WS_LIGNER (did you mean WS_LINGER?)' in result.err and 'WS_SOMETHING (' not in result.err)
result = run('imbalance', 'nothing', 1, env={'WS_STATS_FILE_': '/nowhere/at/all'},
             options=('-genv', 'WS_STATS_FILE', '/nowhere/at/all'))
expect(result, 'no message about the statistics file', 'cannot write WS_STATS_FILE=/nowhere/at/all' in result.err)

# Without mpirun's help, as under another launcher: libws translates the other spellings.
IMBALANCE = shlex.quote(os.path.join(PROGRAMS, 'imbalance'))
for spelling in 'WORKSHARE_ENABLE=1 WORKSHARE_REPORT=1', 'WORKSHARE=on,report':
    result = run('/bin/sh', '-c', f'export {spelling}; exec {IMBALANCE} nothing 1', workshare=False, title=spelling)
    expect(result, 'no summary, or no report', '(2 ranks on 1 node, ' in result.err and 'WORKSHARE REPORT' in result.err)
result = run('/bin/sh', '-c', f'export WORKSHARE=on,quantm=5 WORKSHARE_LIGNER=3; exec {IMBALANCE} nothing 1', workshare=False, title='misspelt in WORKSHARE')
expect(result, 'does not say what was meant', 'WORKSHARE=quantm (did you mean WORKSHARE=quantum?)' in result.err and
       'WORKSHARE_LIGNER (did you mean WORKSHARE_LINGER?)' in result.err)
result = run('/bin/sh', '-c', f'export WORKSHARE=on WORKSHARE_QUANTUM=x; exec {IMBALANCE} nothing 1', workshare=False, code='error', title='a wrong value')
expect(result, 'no message', 'WS_QUANTUM=x is not a number' in result.err)

# What every setting is, and where it comes from; and where each rank runs, and what it lends.
result = run('imbalance', 'nothing', 1, options=('-workshare-quantum', '250'), env={'WS_DISPLAY_ENV': '1', 'WORKSHARE': 'on,spin=3', 'WORKSHARE_LINGER': '7', 'WS_VICTIM': 'most'})
settings = dict(re.findall(r"^   (\w+) = '(.*)$", result.err, re.MULTILINE))
for name, wanted in {'WS_ENABLE': "1' (option -workshare)", 'WS_QUANTUM': "250' (option -workshare-quantum)", 'WS_SPIN': "3' (WORKSHARE=spin)",
                     'WS_LINGER': "7' (variable WORKSHARE_LINGER)", 'WS_VICTIM': "most' (variable WS_VICTIM)", 'WS_CHUNK_TIME': "30' (default)"}.items():
    expect(result, f'{name} is shown as {settings.get(name)}', settings.get(name) == wanted)
expect(result, 'settings are shown more than once', result.err.count('WORKSHARE DISPLAY ENVIRONMENT BEGIN\n') == 1 == result.err.count('DISPLAY ENVIRONMENT END\n'))
expect(result, 'settings are shown unasked', 'DISPLAY ENVIRONMENT' not in run('imbalance', 'nothing', 1).err)
HOST = re.escape(os.uname().nodename[:63])
for options, ranks, lends in (((), 3, 'lends its core to 2 ranks while it waits in MPI'), (('-workshare-victim', 'none'), 2, r'lends nothing \(-workshare-victim none\)'),
                              ((), 1, 'lends nothing: it is alone on its node')):
    result = run('imbalance', 'nothing', 1, ranks=ranks, options=(*options, '-workshare-verbose'))
    told = [line for line in result.messages() if 'OpenMP mode' in line]
    expect(result, f'not a line per rank: {told}', len(told) == ranks and all(
        re.fullmatch(rf'workshare: rank {r} on {HOST}, CPUs [\d,-]+, OpenMP mode (off|hint): {lends}', line) for r, line in enumerate(told)))

# Some ranks would wait for the others for ever.
for ranks, some, enabled, others in (2, '[ $PMI_RANK = 0 ]', '(0)', '(1)'), (6, '[ $PMI_RANK -gt 0 ] && [ $PMI_RANK -lt 4 ]', '(1-3)', '(0,4-5)'):
    result = run('/bin/sh', '-c', f'if {some}; then export WS_ENABLE=1; else unset WS_ENABLE; fi; exec {shlex.quote(os.path.join(PROGRAMS, "imbalance"))} nothing 1',
                 ranks=ranks, workshare=False, code='error', limit=20, title=f'WS_ENABLE=1 in some of {ranks} ranks')
    ours = result.messages()
    expect(result, 'not one line that names the ranks', len(ours) == 1 and f'error: some ranks have WS_ENABLE=1 in their environment {enabled}, others do not {others}' in ours[0])
    expect(result, 'the program went on', 'right' not in result.out)

# Files that cannot be written are found at the start, not at the end of a long run.
for option, what in ('-workshare-report', 'report'), ('-workshare-trace', 'trace'):
    with tempfile.TemporaryDirectory(suffix='.json') as folder:
        for path, why in ('/nowhere/at/all.json', 'No such file or directory'), (folder, 'Is a directory'):
            refused('nothing', 1, options=(f'{option}={path}',), parts=[f'cannot write the {what} to {path}: {why}'])

for workshare in True, False:
    for shape, clause in ('chunk', "'schedule'"), ('steal', "'steal_schedule'"):
        for size in 0, -1, -2147483648:
            refused(shape, size, workshare=workshare, parts=['imbalance.c:', f'chunk size {size} ', clause])
        result = run('imbalance', shape, 1, workshare=workshare)
        expect(result, 'wrong', result.out == 'right\n')
finish()
