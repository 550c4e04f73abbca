# SPDX-License-Identifier: MIT
"""ci_test.py PREFIX: the shell lines of docs/guides/ci.md run as the page has them, each with the exit status that it promises: those of the text, the steps
of the GitHub job and the script of the GitLab job. They run with a program that passes the gate, and with one that fails it."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tests'))
import patience  # noqa: E402
from expectation import conclude, equal, expect  # noqa: E402

PREFIX = os.path.abspath(sys.argv[1])
PAGE = (TOP / 'docs/guides/ci.md').read_text()
SEARCHED = f'{PREFIX}/bin:{os.environ["PATH"]}'
LIMIT = 60      # seconds of a step
INSTALLS = ('apt ', 'apt-get ', 'sudo ', 'dnf ', 'zypper ', 'pip ', 'git clone ')   # steps that begin so are left out
FAILS = {'WAITS': '1'}


class Place:
    """A new folder with the program as ./app, and what runs there."""
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
        shutil.copy(f'{folder}/app', self.folder)

    def run(self, lines, **environment):
        """The exit status of a step, which a shell ends at the first command that fails, and what it printed."""
        done = subprocess.run(['bash', '-e', '-c', lines], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT, check=False,
                              env={**os.environ, 'PATH': SEARCHED, 'LD_LIBRARY_PATH': f'{PREFIX}/lib', 'HOME': folder, 'GIT_CONFIG_NOSYSTEM': '1',
                                   'WS_IGNORE_JOBS': '1', **environment})
        return done.returncode, done.stdout

    def runs(self, lines, **environment):
        status, said = self.run(lines, **environment)
        expect(f'{lines}: exit status {status}', status == 0, said)

    def judges(self, lines, fails, **environment):
        """The step has a gate, whose line and exit status agree; with `fails`, the run does not pass it."""
        status, said = self.run(lines, **environment)
        verdict = re.match(r'(passed|failed): .*\n\Z', said)
        expect(f'{lines}: exit status {status}', verdict and status == (verdict[1] == 'failed'), said)
        patience.likely(f'{lines}: {said.strip()}', (status == 1) == fails)

    def has(self, *names):
        for name in names:
            expect(f'{name} is written', (self.folder / name).is_file())


def section(name):
    return re.search(rf'^## {name}\n(.*?)(?=^## |\Z)', PAGE, re.S | re.M)[1]


def shell_lines(name):
    """The indented lines of a section. What it shows of an output does not begin with a command."""
    lines = re.findall(r'^ {4}(\S.*)\n', re.sub(r'^```.*?^```', '', section(name), flags=re.S | re.M), re.M)
    return [line for line in lines if shutil.which(line.split()[0], path=SEARCHED)]


def steps(name):
    """Those of the YAML in a section: `run: LINE`, `run: |` with the lines below it that are further in, and the entries of `script:`."""
    snippet = re.search(r'^```yaml\n(.*?)^```', section(name), re.S | re.M)[1].splitlines()
    found, key, block = [], '', None
    for line in snippet:
        depth = len(line) - len(line.lstrip())
        if block is not None and depth > block:
            found[-1] += line + '\n'
            continue
        block = None
        if re.match(r' *\w+:$', line):
            key = line.strip(' :')
        elif line.endswith('- run: |'):
            block = depth
            found.append('')
        elif step := re.match(r' *- run: (.*)', line) or key == 'script' and re.match(r' *- (.*)', line):
            found.append(step[1])
    return [step for step in found if not step.startswith(INSTALLS)]


@patience.repeated
def text():
    run, gate, gate_of_time = shell_lines('Fail a run')
    place = Place()
    place.runs(f'mkdir baseline; for i in 1 2 3; do {run.replace("now.json", "baseline/$i.json")}; done')
    place.runs(run)
    place.judges(gate, fails=False)
    place.judges(gate_of_time, fails=False)
    place.runs(run, SECONDS_EACH='0.6')
    place.judges(gate_of_time, fails=True)
    place.runs(run, **FAILS)
    place.judges(gate, fails=True)
    for wrong in gate.replace('now.json', 'missing.json'), gate.replace('<', '='), gate_of_time.replace('baseline/', 'now.json'):
        status, said = place.run(wrong)
        expect(f'{wrong}: exit status {status}', status == 2 and len(said.splitlines()) == 1, said)


def history():
    lines = shell_lines('Keep a history')
    equal('lines of a history', len(lines), 3)
    place = Place()
    for commit in '1a2b3c4', '5d6e7f8':
        for line in lines:
            place.runs(line, COMMIT=commit)
    place.has('runs/pages/index.html', 'runs/pages/badge.svg')
    for name in '1a2b3c4', '5d6e7f8':
        expect(f'{name} has its page', list((place.folder / 'runs/pages').glob(f'*{name}*.html')))


def github():
    if not shutil.which('git'):
        left_out.append('git is missing: the steps of the GitHub job were not run')
        return
    found = steps('GitHub')
    equal('steps of the GitHub job', len(found), 2)

    @patience.repeated
    def job():
        place = Place()
        place.runs('''git init -q --bare remote.git
            git clone -q remote.git history 2>clone.log
            cd history
            git checkout -q -b performance
            git -c user.name=ci -c user.email=ci@localhost commit -q --allow-empty -m begin
            git push -q -u origin performance''')
        for commit, fails in ('0123456', False), ('789abcd', True):
            environment = {'GITHUB_SHA': commit, **(FAILS if fails else {})}
            place.runs(found[0], **environment)
            place.has(f'history/runs/{commit}/3.json', 'history/docs/index.html')
            equal('what is pushed', place.run('git --git-dir=remote.git log --format=%s -1 performance'), (0, f'{commit}\n'))
            place.judges(found[1], fails, **environment)
    job()


@patience.repeated
def gitlab():
    found = steps('GitLab')
    place = Place()
    for commit, fails in ('0123456', False), ('789abcd', True):     # `runs` is kept, as the cache keeps it
        environment = {'CI_COMMIT_SHORT_SHA': commit, **(FAILS if fails else {})}
        for step in found[:-1]:
            place.runs(step, **environment)
        place.has(f'runs/{commit}/1.json', 'public/index.html')
        place.judges(found[-1], fails, **environment)


left_out = []
with tempfile.TemporaryDirectory(prefix='workshare-') as folder:
    subprocess.run([f'{PREFIX}/bin/mpicc', str(pathlib.Path(__file__).parent / 'gate_app.c'), '-o', f'{folder}/app'], check=True, timeout=LIMIT)
    text()
    history()
    github()
    gitlab()
conclude(left_out + patience.unjudged)
