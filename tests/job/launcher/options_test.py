# SPDX-License-Identifier: MIT
"""mpirun -workshare and its options, wherever they stand. The "application" prints what reached it."""
import os
import pathlib
import shutil
import sys
import tempfile
import threading

from check import expect, expect_message, finish, run

MPIRUN = sys.argv[1]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../runtime/options'))
TABLE = [o for o in __import__('generate').read(f'{sys.path[0]}/options.txt') if o.name]
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
for file in 'r.json', 'r.csv', 'r.txt':
    reached('a report as a word of its own', [f'{here}/{file}'], '-workshare', '-workshare-report', file, '-n', '1', *FILES)
reached('a trace without a name', [f'{here}/workshare-trace.json'], '-workshare', '-workshare-trace', '-n', '1', *FILES)
reached('and before the program', [f'1  {here}/workshare-trace.json'], '-n', '1', '-workshare', '-workshare-report', '-workshare-trace', *FILES)
reached('a name from where mpirun is', [f'{here}/a=b t.json'], '-workshare', '-wdir', '/', '-workshare-trace=a=b t.json', '-n', '1', *FILES)

REST = ['/bin/sh', '-c', 'echo "${WS_STACKSIZE-} ${WS_CHECK-}"', 'show']
for size in '64', '512k', '64M', '2G', '1T', '65536 B', ' 10 M ':
    reached('stack', [size.strip()], '-workshare', '-workshare-stacksize', size, '-n', '1', *REST)
reached('check', ['1'], '-workshare', '-workshare-check', '-n', '1', *REST)

# mpirun's own environment counts, options before it.
user = {'WS_QUIET': '1', 'WS_QUANTUM': '9', 'WS_VICTIM': 'most', 'WS_WORKERS': '3', 'WS_POLL': '1', 'WS_REPORT': '1', 'WS_REPORT_FILE': 'r',
        'WS_TRACE': '/t.json', 'WS_TRACE_KEEP': 'oldest', 'WS_TRACE_BUFFER': '1', 'WS_STACKSIZE': '5 M', 'WS_CHECK': '5'}
reached('variables', ['1 1 9'], '-workshare', '-n', '1', *SHOW, env=user)
reached('variables', ['most 3 1'], '-workshare', '-n', '1', *POLICY, env=user)
reached('variables', [f'1 {here}/r /t.json oldest 1'], '-workshare', '-n', '1', *FILES, env=user)
reached('variables', ['5 M 5'], '-workshare', '-n', '1', *REST, env=user)
reached('options go before variables', ['1 1 7'], '-workshare', '-workshare-quantum', '7', '-n', '1', *SHOW, env=user)
reached('options go before variables', ['none 3 1'], '-workshare', '-workshare-victim', 'none', '-n', '1', *POLICY, env={**user, 'WS_VICTIM': 'mist'})
reached('-genv goes before variables', ['random 3 1'], '-workshare', '-genv', 'WS_VICTIM', 'random', '-n', '1', *POLICY,
        env={**user, 'WS_VICTIM': 'mist'})
reached('and before -genv and -env', ['1  7', '1  7'], '-workshare', '-workshare-quantum', '7', '-genv', 'WS_QUANTUM=3', '-n', '1', '-env', 'WS_QUANTUM', '9', *SHOW,
        ':', '-n', '1', *SHOW)
reached('a trace is there', ['/t.json newest 1'], '-workshare', '-workshare-trace-keep=newest', '-n', '1', *FILES,
        env={'WS_TRACE': '/t.json', 'WS_TRACE_BUFFER': '1'})
reached('no file', [''], '-workshare', '-n', '1', *FILES, env={'WS_TRACE': '', 'WS_REPORT_FILE': ''})
reached('WS_ENABLE turns it on', ['1', '1'], '-n', '2', *SHOW, env={'WS_ENABLE': '1'})
reached('with options', ['random'], '-workshare-victim', 'random', '-n', '1', *POLICY, env={'WS_ENABLE': '1'})
reached('WS_ENABLE=0 does not', ['0'], '-n', '1', *SHOW, env={'WS_ENABLE': '0'})
reached('the option does, whatever it says', ['1'], '-workshare', '-n', '1', *SHOW, env={'WS_ENABLE': '0'})
reached('-genv WS_ENABLE', ['random'], '-genv', 'WS_ENABLE', '1', '-workshare-victim', 'random', '-n', '1', *POLICY)
reached('switched off, nothing is looked at', ['mist'], '-n', '1', *POLICY, env={'WS_VICTIM': 'mist'})
GIVEN = ['/bin/sh', '-c', 'echo "${WS_GIVEN-}"', 'show']
reached('what options have set', ['WS_ENABLE,WS_QUANTUM,WS_VICTIM,'], '-workshare', '-workshare-victim', 'most', '-workshare-quantum=7', '-n', '1', *GIVEN, env={'WS_DISPLAY_ENV': '1'})
reached('which nobody asks for', [''], '-workshare', '-workshare-victim', 'most', '-n', '1', *GIVEN)
# In a process of a job these variables are that job's.
for show in SHOW, POLICY, FILES, REST:
    reached('another job inside of one', [''], '-n', '1', *show, env={**user, 'WS_ENABLE': '1', 'MPI_LOCALNRANKS': '1'})

with tempfile.NamedTemporaryFile('w') as config:
    config.write('-workshare -workshare-quantum 5 -n 1 /usr/bin/printenv WS_QUANTUM\n-n 1 /usr/bin/printenv WS_ENABLE\n')
    config.flush()
    reached('config file', ['1', '5'], '-configfile', config.name)
    reached('the command line goes before the config file', ['1', '6'],
            '-configfile', config.name, '-workshare-quantum', '6')
    reached('its name after =', ['1', '6'], f'-configfile={config.name}', '-workshare-quantum', '6')
    reached('named by HYDRA_CONFIG_FILE', ['1', '5'], env={'HYDRA_CONFIG_FILE': config.name})
with tempfile.TemporaryDirectory() as home:
    with open(f'{home}/.mpiexec.hydra.conf', 'w') as config:
        config.write('# for all jobs\n-workshare -genv WS_QUANTUM 8 -workshare-quiet\n')
    reached('in the home folder', ['1 1 8'], '-n', '1', *SHOW, env={'HOME': home})
    reached('in the home folder, replaced', ['1 1 6'], '-workshare-quantum', '6', '-n', '1', *SHOW, env={'HOME': home})
with tempfile.NamedTemporaryFile('w') as config:
    config.write('-workshare -workshare-victim most -workshare-workers 4 -n 1 /usr/bin/printenv WS_VICTIM WS_WORKERS\n')
    config.flush()
    reached('config file', ['most', '4'], '-configfile', config.name)
    reached('the command line goes before the config file', ['random', 'auto'],
            '-configfile', config.name, '-workshare-victim', 'random', '-workshare-workers', 'auto')


# Pipes: hydra could not read what mpirun has read, and would wait for a writer without end.
with tempfile.TemporaryDirectory() as folder:
    pipe = os.path.join(folder, 'pipe')
    os.mkfifo(pipe)

    def with_writer(text, *args, env=None):
        writer = threading.Thread(target=lambda: pathlib.Path(pipe).write_text(text), daemon=True)
        writer.start()
        done = run(MPIRUN, *args, env=env, limit=20)
        writer.join(20)
        expect(f'{args}: the writer goes on', writer.is_alive(), False)
        return done

    echo = '-n 2 /bin/echo a\n'
    expect('a pipe as a config file', with_writer(echo, '-configfile', pipe), (0, 'a\na\n', ''))
    expect('named by HYDRA_CONFIG_FILE', with_writer('-n 2\n', '/bin/echo', 'b', env={'HYDRA_CONFIG_FILE': pipe}), (0, 'b\nb\n', ''))
    for names in ['-f', pipe], [f'-hostfile={pipe}'], ['--machinefile', pipe]:
        expect('a pipe as a host file', with_writer('localhost:2\n', *names, '-n', '1', '/bin/echo', 'c'), (0, 'c\n', ''))
    expect('named by HYDRA_HOST_FILE', with_writer('localhost\n', '-n', '1', '/bin/echo', 'd', env={'HYDRA_HOST_FILE': pipe}), (0, 'd\n', ''))
    for args, env in (['-configfile', pipe], {}), (['-n', '1', 'true'], {'HYDRA_CONFIG_FILE': pipe}), (['-f', pipe, '-n', '1', 'true'], {}), \
            (['-n', '1', 'true'], {'HYDRA_HOST_FILE': pipe}):
        expect_message('a pipe without a writer', run(MPIRUN, *args, env=env, limit=20), f'file {pipe}: it is a pipe without a writer')
for name, why in ('/no/such/file', 'No such file or directory'), ('/', 'Is a directory'):
    expect_message('no config file', run(MPIRUN, '-configfile', name), f'mpiexec: error: cannot read the configuration file {name}: {why}')


def refused(what, args, parts, env=None):
    expect_message(what, run(MPIRUN, *args, '-n', '1', *SHOW, env=env), 'mpiexec: error: ', *parts)


refused('unknown', ['-workshare-xyz'],
        ['unknown option -workshare-xyz; did you mean -workshare', ' or -workshare'])
for wrong, right in (('worksahre', ''), ('-Workshar', ''), ('work-share=on', ''), ('workshares', ''), ('workshare-quit', '-quiet'),
                     ('workshare-quantums=3', '-quantum'), ('worksahre-victim', '-victim'), ('workshare-trace-kepe=oldest', '-trace-keep'),
                     ('workshare-stack-size', '-stacksize')):
    name = wrong.partition('=')[0].lstrip('-')
    refused('misspelt', [f'-{wrong}'], [f'unknown option -{name}; did you mean -workshare{right}'])
refused('misspelt, after others', ['-workshare', '-bind-to', 'none', '-worksahre-poll'], ['; did you mean -workshare-poll'])
# Values that hydra would crash over, or make some number of
for option, value in ('n', '0'), ('n', '-1'), ('n', '1x'), ('np', 'abc'), ('n', '99999999999'), ('ppn', '0'), ('ppn', 'abc'), ('hosts', 'a:0'), ('usize', 'x'), ('bind-to', 'core:0'):
    refused('a wrong value', [f'-{option}', value], [f"-{option}: '{value}' is not "])
    expect_message('a wrong value in another section', run(MPIRUN, *SHOW, ':', f'-{option}={value}', *SHOW), f"mpiexec: error: -{option}: '{value}' is not ")
for option in 'usize', 'f', 'hosts', 'n', 'ppn', 'genv', 'configfile', 'launcher', 'iface', 'envlist', 'order-nodes', 'gpus-per-proc', 'outfile-pattern':
    expect_message('no value', run(MPIRUN, f'-{option}'), f'mpiexec: error: -{option}: no value given; expected ')
for args in [], ['-n', '1'], ['-n', '1', *SHOW, ':'], ['-n', '1', ':', *SHOW]:
    expect_message('no program', run(MPIRUN, *args), 'mpiexec: error: no program')
with tempfile.TemporaryDirectory() as folder:
    config = os.path.join(folder, 'config')
    with open(config, 'w') as f:
        f.write('-n 1 true\n-n 1x true\n')
    expect_message('a wrong value in a file', run(MPIRUN, '-configfile', config), f"mpiexec: error: configuration file {config}: -n: '1x' is not ")
    with open(config, 'w') as f:
        f.write('a:2\nb:0\n')
    message = f"mpiexec: error: host file {config}: 'b:0' is not a host, or one with a number from 1 to "
    for option in 'f', 'hostfile', 'machinefile':
        expect_message('a wrong host file', run(MPIRUN, f'-{option}', config, *SHOW), message)
    expect_message('a wrong host file', run(MPIRUN, *SHOW, env={'HYDRA_HOST_FILE': config}), message)
    expect_message('no host file', run(MPIRUN, '-f', f'{folder}/none', *SHOW), f'mpiexec: error: cannot read the host file {folder}/none: No such file or directory')
    reached('the variable does not count', [''], '-host', 'localhost', *SHOW, env={'HYDRA_HOST_FILE': config})
    with open(config, 'w') as f:
        f.write('-l\n')
    reached('options alone in a file', ['[0] 1'], '-configfile', config, '-n', '1', 'echo', '1')
code, out, err = run(MPIRUN, '-usize', '-help')
expect("hydra's help on an option", (code, 'Universe size' in out, err), (0, True, ''))
code, out, err = run(MPIRUN, '-bindto', 'none', '-n', '1', *SHOW)
expect("a misspelt option of hydra's", (code != 0, out, 'unrecognized argument bindto' in err), (True, '', True))
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
OPENMP = ['/bin/sh', '-c', 'echo "${WS_ENABLE-} ${WS_OPENMP-}"', 'show']
for mode in 'lend', 'balance', 'auto', 'share', 'share:3':
    reached('what turns -workshare on', [f'1 {mode}'], f'-workshare-openmp={mode}', '-n', '1', *OPENMP)
reached('no balancing, and nothing else', [''], '-workshare-openmp=off', '-n', '1', *OPENMP)

# Former names and words are taken for those that they are called now, with a note.
NAMES = ['/bin/sh', '-c', 'echo "${WS_OPENMP-} ${WS_ACROSS_JOBS-} ${WS_ROWS_PATIENCE-} ${WS_QUANTUM-} ${WS_REPORT_FILE-}"', 'show']


def renamed(what, wanted, notes, *args, env=None):
    code, out, err = run(MPIRUN, *args, '-n', '1', *NAMES, env=env)
    said = [f'mpiexec: note: {former} is now called {now}; the next release drops the former name' for former, now in notes]
    expect(what, (code, out.strip(), err.splitlines()), (0, wanted, said))


for former, now in ('help', 'share'), ('none', 'off'):
    renamed('a former word', now, [(f'-workshare-openmp={former}', f'-workshare-openmp={now}')], '-workshare', '-workshare-openmp', former)
    renamed('in the environment', now, [(f'WS_OPENMP={former}', f'WS_OPENMP={now}')], '-workshare', env={'WS_OPENMP': former})
for mode in 'lend', 'balance', 'auto':
    renamed('across jobs', f'{mode} 1', [], f'-workshare-openmp={mode}', '-workshare-across-jobs')
    renamed('formerly', f'{mode} 1', [(f'-workshare-openmp={mode},share', f'-workshare-openmp={mode} -workshare-across-jobs')], f'-workshare-openmp={mode},share')
    renamed('in the environment', f'{mode} 1', [(f'WS_OPENMP={mode},share', f'WS_OPENMP={mode} WS_ACROSS_JOBS=1')], '-workshare', env={'WS_OPENMP': f'{mode},share'})
renamed('a former option', '7', [('-workshare-flex-k', '-workshare-rows-patience')], '-workshare', '-workshare-flex-k', '7')
renamed('twice', '7', [('-workshare-flex-k', '-workshare-rows-patience')], '-workshare', '-workshare-flex-k', '7', '--workshare-flex-k=7')
renamed('a former variable', '7', [('WS_FLEX_K', 'WS_ROWS_PATIENCE')], '-workshare', env={'WS_FLEX_K': '7'})
renamed('the new one counts', '8', [], '-workshare', env={'WS_FLEX_K': '7', 'WS_ROWS_PATIENCE': '8'})
code, out, err = run(MPIRUN, '-n', '1', *NAMES, env={'WS_FLEX_K': '7'})
expect('no note without Workshare', (code, err), (0, ''))

# WORKSHARE_X is WS_X, and WORKSHARE a list.
LIST = 'on, quantum=250,report=r.csv ,openmp=lend,across-jobs,rows-patience=3'
renamed('a list', f'lend 1 3 250 {here}/r.csv', [], env={'WORKSHARE': LIST})
renamed('the option counts for more', f'lend 1 3 9 {here}/r.csv', [], '-workshare-quantum', '9', env={'WORKSHARE': LIST})
renamed('and the variable', f'lend 1 3 8 {here}/r.csv', [], env={'WORKSHARE': LIST, 'WS_QUANTUM': '8'})
renamed('with more letters', '7', [], env={'WORKSHARE_ENABLE': '1', 'WORKSHARE_QUANTUM': '7', 'WORKSHARE': 'quantum=6'})
renamed('-genv', '7', [], '-genv', 'WORKSHARE_ENABLE', '1', '-workshare-quantum', '7')
for value in 'off,quantum=5', 'quantum=5', 'quantum=5,on', '':
    reached('a list that does not turn it on', [''], '-n', '1', '/bin/sh', '-c', 'echo "${WS_ENABLE-}" | tr -d 0', env={'WORKSHARE': value})
renamed('in a process of a job', '', [], env={'WORKSHARE': LIST, 'WORKSHARE_POLL': '1', 'MPI_LOCALNRANKS': '1'})
# Programs that are linked with an OpenMP library, as far as their file names it. A shell may have any bytes at its end.
with tempfile.TemporaryDirectory() as folder:
    def shell(name, *names):
        path = os.path.join(folder, name)
        shutil.copy(os.path.realpath('/bin/sh'), path)
        with open(path, 'ab') as f:
            f.write(b''.join(b'\0' + n.encode() + b'\0' for n in names))
        return path

    show = ['-c', 'echo "${WS_ENABLE-} ${WS_OPENMP-} ${LD_PRELOAD##*[/:]}"']
    gomp, omp, none = shell('gomp', 'libgomp.so.1'), shell('omp', 'libomp.so.5'), shell('none')
    asan = shell('asan', 'libgomp.so.1', '__asan_init')
    for program in gomp, omp:
        reached('linked with OpenMP', ['1 hint libws.so.1'], '-workshare', '-n', '1', program, *show)
        reached('linked with OpenMP, without Workshare', [''], '-n', '1', program, *show)
        reached('linked with OpenMP, turned off', ['1 off'], '-workshare', '-workshare-openmp=off', '-n', '1', program, *show)
        reached('linked with OpenMP, another mode', ['1 lend libws-calls.so'], '-workshare', '-workshare-openmp=lend', '-n', '1', program, *show)
    reached('turned off by its variable', ['1 off'], '-workshare', '-n', '1', gomp, *show, env={'WS_OPENMP': 'off'})
    reached('by a path', ['1 hint libws.so.1'], '-workshare', '-wdir', folder, '-n', '1', './gomp', *show)
    reached('one of several', ['1 hint libws.so.1'] * 2, '-workshare', '-n', '1', none, *show, ':', '-n', '1', gomp, *show)
    reached('set for some', ['1', '1 share'], '-workshare', '-n', '1', gomp, *show, ':', '-n', '1', '-env', 'WS_OPENMP', 'share', gomp, *show)
    reached('another library for some', ['1', '1  libm.so.6'], '-workshare', '-n', '1', gomp, *show, ':', '-n', '1', '-env', 'LD_PRELOAD=libm.so.6', gomp, *show)
    reached('without OpenMP', ['1'], '-workshare', '-n', '1', none, *show)
    reached('with a sanitizer', ['1'], '-workshare', '-n', '1', asan, *show)
for mode in (), ('share',), ('off',), ('hint',):
    refused('across jobs', [*(f'-workshare-openmp={m}' for m in mode), '-workshare', '-workshare-across-jobs'],
            ['-workshare-across-jobs requires -workshare-openmp=lend, balance or auto'])
refused('a wrong value in a list', [], ['WS_QUANTUM=x is not a number'], env={'WORKSHARE': 'on,quantum=x'})
refused('no value in a list', [], ['WS_QUANTUM= is not a number'], env={'WORKSHARE': 'on,quantum'})
refused('a former name with a wrong value', ['-workshare', '-workshare-flex-k', '0'], ["-workshare-rows-patience: '0' is not auto or a number"])
refused('it was turned off', ['-workshare-openmp', 'auto'], ['-workshare-openmp requires -workshare'], env={'WS_ENABLE': '0'})
refused('quiet alone', ['-workshare-quiet'], ['-workshare-quiet requires -workshare'])
refused('quantum alone', ['-workshare-quantum', '5'], ['-workshare-quantum requires -workshare'])
for option in 'victim', 'workers':
    refused(f'{option} alone', [f'-workshare-{option}', 'auto'], [f'-workshare-{option} requires -workshare'])
refused('no file', ['-workshare', '-workshare-report='], ["-workshare-report: '' is not"])
for option, name in ('report', 'out.xml'), ('report', 'out.JSON'), ('trace', 't.xml'), ('trace', 't.csv'):
    refused('a file that ends in another way', ['-workshare', f'-workshare-{option}', name], [f"-workshare-{option} {name}", "follows '='"])
for name in 't', 't.xml', '', '.json', 't.JSON', 't.json.gz':
    refused('trace', ['-workshare', f'-workshare-trace={name}'], ['-workshare-trace', f"'{name}'", '.json or .otf2'])
for size in '', '0', '-1', 'M', '63', '2T', '65535B', '1MB', '5 M B', '99999999999999999999', 'auto':
    refused('stack', ['-workshare', '-workshare-stacksize', size], ['-workshare-stacksize', f"'{size}'", 'a size from'])
for name, value, wanted in (('WS_ENABLE', 'yes', '0 or 1'), ('WS_ENABLE', '', '0 or 1')):
    refused('a variable', [], [f'{name}={value} is not {wanted}'], env={name: value})
for name, value, wanted in (('WS_VICTIM', 'mist', 'one of auto, most,'), ('WS_VICTIM', '', 'one of auto'), ('WS_QUANTUM', '0', 'a number of micro'),
                            ('WS_WORKERS', 'all', 'auto or a number'), ('WS_POLL', 'yes', '0 or 1'), ('WS_QUIET', '2', '0 or 1'),
                            ('WS_REPORT', 'r.json', '0 or 1'), ('WS_TRACE', 't.xml', 'the name of a file that ends'),
                            ('WS_TRACE_KEEP', 'all', 'oldest or newest'), ('WS_TRACE_BUFFER', '1G', 'a number of MiB'),
                            ('WS_SPIN', '-1', 'a number of microseconds from 0 to 1000000'), ('WS_CORES', 'all', 'a number from 0'),
                            ('WS_STACKSIZE', '1MB', 'a size from'), ('WS_CHECK', 'on', 'a number from 0 to 5'), ('WS_CHECK', '6', 'a number from 0 to 5')):
    refused('a variable', ['-workshare'], [f'{name}={value} is not {wanted}'], env={name: value})
    refused('a variable', [], [f'{name}={value} is not {wanted}'], env={name: value, 'WS_ENABLE': '1'})
refused('one file for both', ['-workshare', '-workshare-report=a.json'], ['the same file', f'{here}/a.json'], env={'WS_TRACE': 'a.json'})
for which in 'first', '', 'Newest':
    refused('keep', ['-workshare', '-workshare-trace=t.json', '-workshare-trace-keep', which], ['-trace-keep', f"'{which}'", 'oldest or newest'])
for size in '0', '65537', '-1', '1G', '':
    refused('buffer', ['-workshare', '-workshare-trace=t.json', '-workshare-trace-buffer', size], ['-trace-buffer', f"'{size}'", 'from 1 to 65536'])
for option in 'trace-keep=oldest', 'trace-buffer=1':
    refused(f'{option} alone', ['-workshare', f'-workshare-{option}'], ['requires -workshare-trace'])
for option in 'report', 'report=r', 'trace=t.json':
    refused(f'{option} alone', [f'-workshare-{option}'], [f'-workshare-{option.partition("=")[0]} requires -workshare'])
refused('one file twice', ['-workshare', '-workshare-report=a.json', '-workshare-trace=a.json'], ['the same file', f'{here}/a.json'])
refused('two traces', ['-workshare', '-workshare-trace=a.json', '-workshare-trace=b.json'], ['twice', 'a.json', 'b.json'])
refused('poll alone', ['-workshare-poll'], ['-workshare-poll requires -workshare'])
for option in 'quantum', 'victim', 'workers', 'stacksize', 'trace-keep', 'trace-buffer':
    expect_message('value missing', run(MPIRUN, '-workshare', f'-workshare-{option}'), f'-workshare-{option}', 'no value given')
for option, then in [('quantum', '-n'), ('openmp-trust', '-workshare-verbose')]:
    expect_message('value missing before an option', run(MPIRUN, '-workshare-openmp=share', f'-workshare-{option}', then, '2', 'true'),
                   f'-workshare-{option}', 'no value given')

code, out, err = run(MPIRUN, '-help')
expect('-help', [o.option for o in TABLE if f'    {o.option:32} {o.help[0]}\n' not in out], [])
finish()
