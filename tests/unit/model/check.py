# SPDX-License-Identifier: MIT
"""check.py SPIN CC... [--soak]: checks the models exhaustively, each property in small sizes; then the models with one part of the protocol left out
or done wrong, which must each fail. Without --soak that is what takes seconds: no state space of millions, and a few mistakes of each model."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
soak = '--soak' in sys.argv
spin, *cc = [a for a in sys.argv[1:] if a != '--soak']

# (model, sizes, property): None is assertions and deadlock; else an ltl formula's name, checked with weak fairness.
RIGHT = [
    ('region', ['GENERATIONS=1', 'TAKES=2'], None),
    ('lending', ['UNITS=2', 'REGIONS=1'], None),
    ('lending', ['UNITS=2', 'REGIONS=1'], 'core_comes_back'),
    ('lending', ['UNITS=2', 'REGIONS=1'], 'close_ends'),
    ('doorbell', ['QUANTUM'], None),
    ('doorbell', ['QUANTUM'], 'message_is_seen'),
    ('doorbell', ['NO_STORE_BUFFER'], 'message_is_seen'),
    ('doorbell', [], 'only_the_window_loses'),
    ('ending', ['MORE=2'], None),
    ('ending', ['MORE=2', 'WAVES'], None),
    ('ending', ['TASKS=1', 'MORE=1', 'MOVES=1'], 'all_end'),
    ('ending', ['TASKS=1', 'MORE=1', 'MOVES=1', 'WAVES'], 'all_end'),
    ('ending', ['PUTS=1', 'MORE=0', 'MOVES=2'], None),
    ('ending', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=2', 'RUNS=2'], None),
    ('ending', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=1', 'RUNS=2', 'WAVES'], None),
    ('ending', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=1'], 'all_end'),
    ('ending', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=1', 'WAVES'], 'all_end'),
]
RIGHT_SOAK = [
    ('region', [], None),
    ('lending', ['UNITS=2', 'REGIONS=1', 'QUANTUM'], None),
    ('lending', ['UNITS=2'], None),
    ('region', ['GENERATIONS=2', 'REGIONS=3'], None),
    ('region', ['GENERATIONS=1'], None),
    ('region', ['UNITS=2'], 'all_end'),
    ('region', ['THIEVES=3'], None),
    ('region', ['THIEVES=2', 'VISITS=3', 'GENERATIONS=1', 'REGIONS=3', 'TAKES=2'], None),
    ('region', ['GENERATIONS=1', 'TAKES=2'], 'all_end'),
    ('lending', ['UNITS=3'], None),
    ('lending', ['UNITS=3', 'GENERATIONS=1', 'TAKES=2'], None),
    ('lending', ['UNITS=2', 'OTHERS=1'], None),
    ('lending', ['UNITS=2', 'QUANTUM'], None),
    ('lending', ['UNITS=2', 'POLL'], None),
    ('lending', ['UNITS=2', 'REGIONS=1', 'POLL', 'QUANTUM'], None),
    ('lending', ['UNITS=2'], 'core_comes_back'),
    ('lending', ['UNITS=2'], 'close_ends'),
    ('lending', ['UNITS=2', 'REGIONS=1'], 'all_end'),
    ('doorbell', ['MESSAGES=3', 'QUANTUM'], None),
    ('doorbell', ['MESSAGES=3', 'NO_STORE_BUFFER'], 'message_is_seen'),
    ('doorbell', ['MESSAGES=3', 'QUANTUM'], 'message_is_seen'),
    ('doorbell', ['MESSAGES=3'], 'only_the_window_loses'),
    ('ending', ['MORE=2', 'MOVES=4'], None),
    ('ending', ['MORE=2', 'MOVES=4', 'WAVES'], None),
    ('ending', ['RANKS=4', 'MOVES=2'], None),
    ('ending', ['RANKS=4', 'MOVES=2', 'WAVES'], None),
    ('ending', [], 'all_end'),
    ('ending', ['WAVES'], 'all_end'),
    ('ending', ['PUTS=1', 'MORE=0', 'MOVES=3'], None),
    ('ending', ['PUTS=2', 'TASKS=1', 'MORE=0', 'MOVES=3', 'RUNS=2'], None),
    ('ending', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=2', 'RUNS=2', 'WAVES'], None),
]

# Mistakes that must be found: in what sizes, and by which property.
WRONG = [
    ('region', 'NO_CLAMP', ['GENERATIONS=1', 'TAKES=2'], None),
    ('region', 'CLOSE_WITH_GUESTS_INSIDE', [], None),
    ('lending', 'NO_RECALL', ['UNITS=2'], None),
    ('lending', 'WAKE_BEFORE_STORE', ['UNITS=2'], None),
    ('doorbell', None, [], 'message_is_seen'),  # the window is there
    ('doorbell', 'NO_SECOND_LOOK', [], 'only_the_window_loses'),
    ('ending', 'ONE_SUM', [], None),
    ('ending', 'ONE_WAVE', ['WAVES'], None),
    ('ending', 'LATE_LETTERS_DROPPED', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=1', 'RUNS=2'], None),
]
WRONG_SOAK = [
    ('region', 'EMPTY_LEASE_RUNS_BODY', ['GENERATIONS=1'], None),
    ('region', 'NO_CLOSED_MARK', ['REGIONS=3'], None),
    ('region', 'STORE_INSTEAD_OF_CAS_IN_CLOSE', ['GENERATIONS=1'], None),
    ('region', 'NO_WAIT_FOR_STARTING_GUESTS', [], None),
    ('lending', 'TWO_GUESTS', ['UNITS=2', 'OTHERS=1'], None),
    ('lending', 'WAKE_WITHOUT_CLAIM', ['UNITS=2'], None),
    ('lending', 'READY_BEFORE_KNOCK', ['UNITS=2'], None),
    ('lending', 'STOP_WITHOUT_KNOCK', ['UNITS=2'], None),
    ('lending', 'NO_WAKE', ['UNITS=2'], None),
    ('lending', 'NO_AWAY', ['UNITS=2', 'REGIONS=1'], None),
    ('lending', 'LEND_TO_AWAY', ['REGIONS=1', 'WAITS=1'], None),
    ('lending', 'BACK_BEFORE_AWAY', ['REGIONS=1', 'WAITS=1'], None),
    ('doorbell', 'NO_RING', ['NO_STORE_BUFFER'], 'only_the_window_loses'),
    ('doorbell', 'NO_POLL_AFTER_ARM', [], 'only_the_window_loses'),
    ('doorbell', 'NO_ARM_BEFORE_SLEEP', [], 'only_the_window_loses'),
    ('doorbell', 'NO_RECHECK_AFTER_SLEEP', [], 'only_the_window_loses'),
    ('ending', 'TOLD_WHILE_RUNNING', [], None),
    ('ending', 'SENT_COUNTED_LATE', [], None),
    ('ending', 'WAVES_COMPARED_BACKWARDS', ['WAVES'], None),
    ('ending', 'TOLD_WHILE_RUNNING', ['WAVES'], None),
    ('ending', 'MARKS_IGNORED', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=2'], None),
    ('ending', 'NO_WAVE_CONFIRMS', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=2'], None),
    ('ending', 'COUNTS_OF_EACH_RUN', ['PUTS=1', 'TASKS=1', 'MORE=0', 'MOVES=2', 'RUNS=2'], None),
]


def check(model, defines, formula, speed):
    """Whether an error was found; raises if the search was not complete and found none."""
    with tempfile.TemporaryDirectory() as folder:
        def step(*command, limit=7200):
            done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=limit)
            return done.returncode, done.stdout
        status, text = step(spin, *(f'-D{d}' for d in defines), '-a', f'{HERE}/{model}.pml')
        if status or not os.path.exists(f'{folder}/pan.c'):
            raise RuntimeError(f'spin: {text}')
        # Liveness needs a fairness counter for each process, and two more.
        kind = ['-DNFAIR=3'] if formula else ['-DSAFETY', '-DNOCLAIM']
        status, text = step(*cc, speed, '-w', *(['-DCOLLAPSE'] if soak else []), *kind, '-o', 'pan', 'pan.c')
        if status:
            raise RuntimeError(f'the compiler: {text}')
        status, text = step('./pan', '-m1000000', '-n', *(['-a', '-f', '-N', formula] if formula else []))
    errors = re.search(r'errors: (\d+)', text)
    if not errors:
        raise RuntimeError(f'the verifier ended with {status}: {text[-2000:]}')
    if errors[1] == '0' and re.search(r'Search not completed|max search depth too small|out of memory', text):
        raise RuntimeError(f'the search was not exhaustive: {text[-2000:]}')
    found = re.search(r'^pan:1: (.*) \(at depth', text, re.MULTILINE)
    states = re.search(r'(\d+) states, stored', text)
    return int(errors[1]) != 0, found and found[1], int(states[1])


def judge(case):
    model, mistake, defines, formula, wanted = case
    name = ' '.join([model, *(f'-D{d}' for d in defines), formula or 'assertions, deadlock'])
    begin = time.monotonic()
    try:
        failed, what, states = check(model, defines + ([mistake] if mistake else []), formula, '-O0' if wanted or model == 'doorbell' else '-O1')
    except RuntimeError as error:
        return f'FAILED {name}: {error}'
    seconds = time.monotonic() - begin
    if failed and not wanted:
        return f'FAILED {name}: {what}; see: spin -search'
    if wanted and not failed:
        return f'FAILED {name}: {mistake or "the store buffer"} was not found in {states} states'
    return f'{"found" if wanted else "holds"} {name} {mistake or ""}: {states} states, {seconds:.1f} s' + (f', {what}' if what else '')


cases = [(m, None, d, f, False) for m, d, f in RIGHT + (RIGHT_SOAK if soak else [])] + \
        [(m, mistake, d, f, True) for m, mistake, d, f in WRONG + (WRONG_SOAK if soak else [])]
# The long ones take gigabytes.
with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0)) if not soak else 1) as pool:
    lines = list(pool.map(judge, cases))
print('\n'.join(lines))
failures = sum(line.startswith('FAILED') for line in lines)
print(f'{failures} failed' if failures else 'ok')
sys.exit(failures != 0)
