# SPDX-License-Identifier: MIT
"""rules_test.py SOURCE: each rule of docs/internals/protocol.md has a test that is named after it, or is listed here; each test of this folder names a rule.
rules_test.py SOURCE NINJA BUILD [RULE]...: makes each mistake of the list below in a copy of one file of libws, and runs the cases of
the rule that it breaks: they must fail. So every rule has a test that fails without it."""
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

source = os.path.abspath(sys.argv[1])

# Rules that tests of other folders are about: a case of Catch2 there ("folder/file: case"), or a test of Meson's ("test: name").
ELSEWHERE = {
    'Exactly once': ['loop/interleaving_test: every unit runs exactly once under every interleaving',
                     'loop/interleaving_test: after a wrap of the generation a stale claim is cut, nothing is lost'],
    'One word claims and joins': ['loop/descriptor_test: a join counts until it is left, and a region with a joiner does not close'],
    'No more than the limit': ['loop/interleaving_test: no more join than may, under every interleaving'],
    'Chunks by time': ['loop/schedule_test: an auto chunk grows to the time it should take and falls at once',
                       'loop/schedule_test: several chunks of a fixed size are claimed at once where one is too little'],
    'Whom to help': ['window/topology_test: whom a thief helps'],
    'Not to be shared': ['loop/site_test: a loop that gains nothing is shared less and less',
                         'loop/site_test: an owner that is slowed by its first guest is measured alone soon',
                     'loop/site_test: a loop that gains nothing and runs long is tried again soon, as a program has few such executions',
                     'loop/site_test: what others have disturbed is no evidence'],
    'Chains': ['loop/site_test: a loop of a chain that pays is shared though it is a little longer for it, alone it is not',
               'loop/site_test: a loop of a chain that pays is not shared where guests make it much longer each time',
               'loop/site_test: loops of a chain that wait for their data at each second execution only are shared',
               'loop/site_test: small steals stop no loop of a chain, as no core is handed over for them',
               'loop/site_test: a chain whose loops all gain nothing is shared less and less'],
    'Who writes': ["measure/load_test: what a rank's work costs", 'measure/load_test: brought to a later time'],
    'Read whole': ['measure/load_test: a row is read whole, whatever the interleaving',
                   'measure/load_test: a writer that dies in the middle'],
    'How fast its core is': ['measure/load_test: time in which others have the core is no work'],
    'Periods': ['measure/period_test: of nested loops the outermost', 'measure/period_test: a call that comes once in a while'],
    'Steps': ['policy/runner_test: who is always due leaves as much time as it takes'],
    'The decider': ['arbiter/decider_test: one decides at a time, whatever the interleaving',
                    'arbiter/decider_test: threads that decide and die',
                    'policy/runner_test: each policy has deciders of its own', 'test: policies in jobs'],
    'Cores': ['arbiter/cores_test: a use is taken once',
              'arbiter/cores_test: an owner hands over what was promised, between regions and with no other use'],
    'Node-wide': ['test: mpi critical'],
    'Liveness': ['window/process_test: real processes: alive, stopped, a zombie, gone', 'test: mpi death'],
}

# (rule, file below runtime/, what stands there, what the mistake makes of it, the program of ELSEWHERE's case): one place, one line or so.
# Without a program it is this folder's.
MISTAKES = [
    ('Slots', 'loop/region.cpp', 'if (slot >= window::max_slots)', 'if (slot > window::max_slots)'),
    ('Slots', 'loop/region.cpp', 'taken & ~bit', 'taken'),
    ('Publish on demand', 'loop/region.cpp', '(unasked || still_hungry())', '(unasked || (still_hungry(), true))'),
    ('Publish on demand', 'loop/region.cpp', 'helped > much_help &&', 'false &&'),
    ('Publish on demand', 'loop/region.cpp', 'helped > much_help &&', 'helped >= 0 &&'),
    ('Publish on demand', 'loop/region.cpp', 'if (peek(l.calm) && was_wanted(p, double(took)))', 'if (false)'),
    ('Publish on demand', 'loop/region.cpp', 'ending == Ending::published || was_wanted(p, double(now - r.opened_at))', 'ending == Ending::published'),
    ('Publish on demand', 'loop/region.cpp', 'if (wanted && r.may_share)', 'if (false)'),
    ('Publish on demand', 'loop/site.cpp', 'poke(r.vain, uint64_t(0));', ';'),
    ('Publish on demand', 'loop/site.cpp', 'wall >= host().whole_at_pause()', 'false'),
    ('Whom to help', 'lend/home.cpp', '|| now < little_until_', ''),
    ('Publish on demand', 'lend/doorbell.cpp', 'constexpr unsigned enough = 2;', 'constexpr unsigned enough = 3;'),
    ('Publish on demand', 'lend/doorbell.cpp', '(!loops.share_all && !a_core_is_idle(w))', 'false'),
    ('Publish on demand', 'lend/chooser.cpp', 'Hardware::store_release(w.row(r).hunger.hungry, hunger); // after wanted', ';'),
    ('Exactly once', 'loop/chunks.cpp', 'p.lo = c.hi;', 'p.lo = c.hi + (c.hi < r.units);'),
    ('Exactly once', 'loop/visit.cpp', 'Region& r = region_in(lease.slot);', 'Region& r = region_in(lease.slot + 1);'),
    ('One word claims and joins', 'lend/lender.cpp', '.claim_and_join(', '.claim('),
    ('Closing', 'loop/region.cpp', 'if (d.joiners() != 0) {', 'if (d.close(), true)\n            break;\n        if (d.joiners() != 0) {'),
    ('lastprivate', 'loop/chunks.cpp', 'if (p.took_last)', 'if (false)'),
    ('Reductions', 'abi/gcc.cpp', 'p.merging = !(p.owner && p.in_region) || p.member || p.ending == Ending::published;', 'p.merging = false;'),
    ('Reductions', 'abi/gcc.cpp', 'p.merging = !(p.owner && p.in_region) || p.member || p.ending == Ending::published;', 'p.merging = true;'),
    ('The costly end first', 'loop/region.cpp', 'tilt_of(l) > even_most', 'false'),
    ('The costly end first', 'loop/region.cpp', 'r.backwards = has_free_order(r.site, *p.host) &&', 'r.backwards ='),
    ('Each in one piece', 'loop/chunks.cpp', 'p.mode == Mode::guest ? Descriptor::guest : Descriptor::owner', 'Descriptor::owner'),
    ('Each in one piece', 'loop/region.cpp', 'return (site->kinds & WS_SITE_ANY_ORDER) && !fixed', 'return !fixed'),
    ('Chunks by time', 'loop/chunks.cpp', 'p.pace.finish_chunk(ticks(), p.region->chunk_ticks);', ';'),
    ('Chunks by time', 'loop/region.cpp', 'own.kind == WS_AUTO && cost > 0 && helped_last(l) < much_help', 'cost > 0'),
    ('Chunks by time', 'loop/chunks.cpp', 'std::min(remaining / alone_part, r.most_alone)', 'r.most_alone'),
    ('Chunks by time', 'loop/schedule.h', 'return n > chunk ? n - n % chunk : chunk;', 'return n > chunk ? n : chunk;', 'loop/loop_tests'),
    ('Claim before wake', 'lend/lender.cpp', 'return result == Claim::taken;', 'return true;'),
    ('Claim before wake', 'lend/chooser.cpp', 'if (state != window::guest_ready || !open) {', 'if (!open) {'),
    ('Spin, arm, poll, claim', 'lend/home.cpp', 'if (now - wait_began_ < rank_.times.spin_ticks && !waits_are_long_)', 'if (false)'),
    ('Spin, arm, poll, claim', 'lend/home.cpp', 'look_mask_ = eighth;', 'look_mask_ = fourth;'),
    ('Spin, arm, poll, claim', 'lend/home.cpp', '} else if (!lender_.is_armed()) {\n        arm();', '} else if (!lender_.is_armed()) {\n        arm(), lender_.lend(target);'),
    ('The doorbell', 'lend/home.cpp', '} else if (!lender_.disarm_if_rung() && last_poll_was_dry()) { //', '} else if (last_poll_was_dry()) { //'),
    ('The doorbell', 'lend/doorbell.cpp', 'Hardware::store_relaxed(core.recall, window::rung_on + Flag(std::max(sched_getcpu(), 0)));\n        // Full', '// Full'),
    ('Taken', 'lend/home.cpp', 'Hardware::fetch_add_full(rank_.window.node().senders_waiting, 1);', ''),
    ('Taken', 'lend/doorbell.cpp', 'awaits == me || ', ''),
    ('Dry polls', 'lend/home.cpp', 'const bool dry = now == seen_events_;', 'const bool dry = true;'),
    ('The quantum', 'lend/lender.cpp', 'slept_in_vain(us, "its core, which is lent");', 'Hardware::store_relaxed(home_->recall, 1);'),
    ('The quantum', 'lend/lender.cpp', 'quiet_quanta_++;', ''),
    ('Recall', 'lend/lender.cpp', 'Hardware::store_relaxed(home_->recall, 1);\n        if (!went_on_)', 'if (!went_on_)'),
    ('Recall', 'loop/chunks.cpp', 'if (Hardware::load_relaxed(*p.recall))', 'if (false)'),
    ('Return', 'lend/guest.cpp', '|| rank.is_blocked() ||', '||'),
    ('Return', 'lend/guest.cpp', 'next_lease(rank, core, lease);', 'false;'),
    ('Return', 'lend/lender.cpp', 'Hardware::store_relaxed(home_->tenant, home_->rank);', ''),
    ('Whom to help', 'lend/chooser.cpp', '< least) {', '< 0 * least) {'),
    ('Whom to help', 'lend/lender.cpp', 'Hardware::load_relaxed(home_->came_ticks), back,', '0, back,'),
    ('Claim before wake', 'lend/lender.cpp', 'sizing.chunk = std::min(sizing.chunk, std::max', 'sizing.chunk = std::max(sizing.chunk, std::max'),
    ('The idle ladder', 'lend/lender.cpp', 'if (!Hardware::load_relaxed(c.recall))', 'if (true)'),
    ('Other threads', 'lend/other_threads.cpp', 'if (rung == heard)', 'if (true)'),
    ('Other threads', 'lend/doorbell.cpp', 'Hardware::fetch_add_full(core.thread_bell, 1);', ';'),
    ('The idle ladder', 'lend/lender.cpp', 'Hardware::fetch_add_full(window_->node().sleepers, 1);', ''),
    ('The idle ladder', 'lend/home.cpp', 'served_at_ = idle_since_ = now;', ''),
    ('The idle ladder', 'lend/home.cpp', '? thirty_second : fourth', '? fourth : fourth'),
    ('The idle ladder', 'lend/home.cpp', '(served && !lender_.is_armed())', 'false'),
    ('The idle ladder', 'lend/lender.cpp', 'nap_at_once_ = crowd > 1;', 'nap_at_once_ = false;'),
    ('Workers', 'lend/worker.cpp', 'if (target && target.rank == me && !lender.is_taken())', 'if (false)'),
    ('Workers', 'lend/worker.cpp', 'if (openmp && !lender.has_lease()) {', 'if (false) {'),
    ('Workers', 'lend/doorbell.cpp', 'Hardware::store_relaxed(w.home(i).recall, 1);', ';'),
    ('Step aside', 'lend/lender.cpp', 'own.bind();\n', '\n'),
    ('Step aside', 'lend/lender.cpp', 'if (busy_.mask().has(cpu))\n        move_to_another_cpu();', ''),
    ('More ranks than cores', 'lend/lender.cpp', 'return busy < sharers_cores_ && busy_here < own_cores_;', 'return true;'),
    ('Other jobs', 'lend/lender.cpp', 'if (neighbours_[n].is_busy()) {', 'if (false) {'),
    ('Other jobs', 'lend/lender.cpp', 'neighbours_ = book_->neighbours(window_->mask(index_));', ''),
    ('A guest that waits in MPI', 'lend/guest.cpp', 'Hardware::store_release(visit.slot->state, guest_away);', ''),
    ('A guest that waits in MPI', 'lend/guest.cpp', 'if (polls < 200) {', 'if (true) {'),
    ('A wait outside MPI', 'lend/home.cpp', ' && !rank_.stand_in().is_open()', ''),
    ('A wait outside MPI', 'lend/home.cpp', 'rank_.stand_in().end_if_left();', ';'),
    ('A wait outside MPI', 'lend/stand_in.cpp', '(declared_ || (word == seen_ && is_in_call()))', 'true'),
    ('A wait outside MPI', 'lend/stand_in.cpp', 'base::futex_wake(&core.state); //', '//'),
    ('A wait outside MPI', 'lend/stand_in.cpp', "text[0] < '0' || text[0] > '9'", 'false'),
    ('MPI from guests', 'loop/region.cpp', 'p.host->let_threads_in(1);', ''),
    ('Who may lend', 'lend/home.cpp', 'active_ && home_thread && !loop::self.in_region', 'active_ && !loop::self.in_region'),
    ('Who may lend', 'lend/home.cpp', 'active_ && home_thread && !loop::self.in_region', 'active_ && home_thread'),
    ('Who may lend', 'lend/lender.cpp', 'if (one_chunk || (chaos', 'if ((chaos'),
    ('Steps', 'lend/home.cpp', 'if (spare_->when_idle && lender_.core_is_free() && gave_step(now, true))', 'if (false)'),
    ('Steps', 'lend/home.cpp', 'lender_.sleep(lender_.us_until(spare_->due_at, now));', 'lender_.sleep();'),
    ('Cores', 'lend/lender.cpp', 'if (!use.change(own_use_, arbiter::Use::guest)) {', 'if (false) {'),
    ('Alone', 'loop/region.cpp', 'set_ws_alone(false); // before the guests come', '// before the guests come'),
    ('Guests on demand', 'lend/guest.cpp', 'if (Hardware::load_acquire(slot.state) != window::guest_wanted)', 'if (false)'),
    ('Guests on demand', 'lend/guest.cpp', 'Hardware::store_relaxed(w.mine().hunger.wanted, 1);', ''),
    ('Liveness', 'lend/liveness.cpp', 'loops.end_job();', ''),
    ('Liveness', 'lend/home.cpp', 'rank_.check_peers("an MPI call");', ''),
    ('Liveness', 'lend/lender.cpp', 'rank_->check_peers(waiting_for);', ''),
    ('Liveness', 'lend/peers.cpp', 'next = next % (w.ranks() - 1) + 1;', 'next = 1;'),
    ('The end', 'loop/region.cpp', 'wait_until("loops of its other threads"', 'if (false) wait_until("loops of its other threads"'),
    ('The end', 'lend/home.cpp', 'while (lender_.has_lease())', 'if (false)'),
    ('The end', 'lend/worker.cpp', 'Rank::ring(worker->lender.home());', ''),
    ('Exactly once', 'loop/descriptor.h', '(old & ~(joiner_mask | next_mask | two_ends)) + generation_one', '(old & ~(joiner_mask | next_mask | two_ends))', 'loop/loop_tests'),
    ('No more than the limit', 'loop/descriptor.h', 'if (join && joiners >= terms >> next_bits)', 'if (false)', 'loop/loop_tests'),
    ('Not to be shared', 'loop/site.cpp', 'poke(l.unshared, int64_t(runs));', '', 'loop/loop_tests'),
    ('Chains', 'loop/site.cpp', 'in_good_chain = chain && chain->pays();', 'in_good_chain = false;', 'loop/loop_tests'),
    ('Chains', 'loop/site.cpp', 'in_good_chain = chain && chain->pays();', 'in_good_chain = chain;', 'loop/loop_tests'),
    ('Chains', 'loop/site.cpp', 'in_good_chain ? enough_losses : enough_doubts', 'in_good_chain ? ~uint64_t(0) : enough_doubts', 'loop/loop_tests'),
    ('Chains', 'loop/site.cpp', 'if (!chain && cost > 0', 'if (stolen', 'loop/loop_tests'),
    ('Chains', 'lend/guest.cpp', ', stayed).ended', ', false).ended'),
    ('Chains', 'loop/region.cpp', 'Hardware::store_relaxed(r.stayed, 0);', 'Hardware::store_relaxed(r.stayed, 1);'),
    ('Who writes', 'measure/meter.cpp', 'const uint64_t took = at > last_ ? at - last_ : 0;', 'const uint64_t took = 0;', 'measure/measure_tests'),
    ('Read whole', 'base/epoch_row.h', 'if (A::load_relaxed(epoch_) == before)', 'if (true)', 'measure/measure_tests'),
    ('How fast its core is', 'measure/meter.cpp', 'worked_ -= off;', '', 'measure/measure_tests'),
    ('Periods', 'measure/period.cpp', 'if (equal > most) {', 'if (false) {', 'measure/period_tests'),
    ('The decider', 'arbiter/decider.h', '> now && (was & rank_mask) != me_ + 1)', '> now && false)', 'arbiter/decider_tests'),
    ('The decider', 'arbiter/decider.h', '(until >> rank_bits) + 1', 'until >> rank_bits', 'arbiter/decider_tests'),
    ('The decider', 'policy/runner.cpp', 'deciders[number_of(policy)]', 'deciders[0]', 'policy/runner_tests'),
]
# Only jobs show that these hold.
BY_JOBS = {'Node-wide'}


def rules():
    text = open(os.path.join(source, 'docs/internals/protocol.md'), encoding='utf-8').read().split('\n## How it is checked')[0]
    return [m.rstrip('.') for m in re.findall(r'^\*\*([^*]+)\*\*', text, re.MULTILINE)] + ['The end']


def cases(path):
    return re.findall(r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"', open(path, encoding='utf-8').read())


def file_of(mistake):
    return os.path.join(source, 'runtime', mistake[1])


def wrong_with_names():
    tests = os.path.join(source, 'tests')
    known = set(re.findall(r"test\('([^']+)'", ''.join(open(f, encoding='utf-8').read() for f in glob.glob(tests + '/*/*/meson.build'))))
    known |= {'mpi ' + os.path.basename(f)[:-len('_test.py')] for f in glob.glob(tests + '/job/mpi/*_test.py')}  # named after their files
    all_rules, tested = rules(), set()
    by_lower = {r.lower(): r for r in all_rules}
    for path in glob.glob(tests + '/unit/lend/*_test.cpp'):
        for case in cases(path):
            rule = by_lower.get(case.split(':')[0].lower())
            if rule is None:
                yield f'{os.path.basename(path)}: the case "{case}" begins with no rule of docs/internals/protocol.md'
            tested.add(rule)
    here = tested | set(ELSEWHERE)
    for rule, names in ELSEWHERE.items():
        if rule not in all_rules:
            yield f'docs/internals/protocol.md has no rule "{rule}"'
        for name in names:
            where, what = name.split(': ', 1)
            path = f'{tests}/unit/{where}.cpp'
            if what not in (known if where == 'test' else cases(path) if os.path.exists(path) else []):
                yield f'of "{rule}": there is no test {name}'
        tested.add(rule)
    yield from (f'the rule "{rule}" of docs/internals/protocol.md has no test' for rule in all_rules if rule not in tested)
    yield from (f'no mistake breaks the rule "{rule}"' for rule in sorted(here - {None} - BY_JOBS - {m[0] for m in MISTAKES}))
    for mistake in MISTAKES:
        if mistake[0] not in (here if len(mistake) > 4 else tested):
            yield f'a mistake is made for "{mistake[0]}", of which no case there is'
        times = open(file_of(mistake), encoding='utf-8').read().count(mistake[2])
        if times != 1:
            yield f'{mistake[1]} has {times} times what a mistake is made of: {mistake[2]!r}'


def escape(name):
    return name.replace(',', '\\,')


class Built:
    """The build folder: how a program's objects are compiled and linked."""
    def __init__(self, ninja, build, programs):
        build = os.path.abspath(build)
        self.run = dict(cwd=build, capture_output=True, text=True)
        subprocess.run([ninja, *programs], check=True, **self.run)
        self.commands = {p: subprocess.run([ninja, '-t', 'commands', p], **self.run).stdout.splitlines() for p in programs}
        self.needs, target = {}, None
        for line in subprocess.run([ninja, '-t', 'deps'], **self.run).stdout.splitlines():
            if line.startswith(' '):
                self.needs[target].add(os.path.normpath(os.path.join(build, line.strip())))
            elif line:
                target = line.split(':')[0]
                self.needs[target] = set()


def make(mistake, built, folder):
    """What is wrong: that the cases of its rule pass with it. Empty if they fail, as they must."""
    rule, name, right, wrong, *program = mistake
    made, copy = os.path.join(folder, 'tests'), os.path.join(folder, 'runtime', name)
    program = 'tests/unit/' + (program or ['lend/lend_tests'])[0]
    os.makedirs(os.path.dirname(copy))
    with open(copy, 'w', encoding='utf-8') as f:
        f.write(open(file_of(mistake), encoding='utf-8').read().replace(right, wrong))
    compiles = {m[1]: line for line in built.commands[program] if (m := re.search(r' -o (\S+\.o) -c ', line))}
    link, todo = built.commands[program][-1].replace(f'-o {program}', f'-o {made}'), []
    for number, (target, command) in enumerate(compiles.items()):
        if target in link.split() and os.path.normpath(file_of(mistake)) in built.needs.get(target, ()):
            link = link.replace(f' {target}', f' {folder}/{number}.o')
            command = re.sub(r' -M[QF] \S+| -MD', '', command).replace(f' -o {target}', f' -w -o {folder}/{number}.o')
            if name.endswith('.cpp'):
                command = re.sub(r' -c \S+', f' -c {copy}', command)
            # before the other folders of headers
            todo.append(re.sub(r'(c\+\+) ', rf'\1 -I{folder}/runtime ', command, count=1))
    if not todo:
        return f'{program} is not made of {name}'
    for command in todo + [link]:
        done = subprocess.run(command, shell=True, **built.run)
        if done.returncode != 0:
            return f'{command} failed:\n{done.stderr}'
    filters = [escape(rule.lower()) + ':*']
    if program != 'tests/unit/lend/lend_tests':
        filters = [','.join('"' + escape(n.split(': ', 1)[1]) + '"' for n in ELSEWHERE[rule] if not n.startswith('test: '))]
    try:
        done = subprocess.run([made, *filters, '--abort'], timeout=60, **built.run)
    except subprocess.TimeoutExpired:
        return ''
    ran = re.search(r'test cases: *[1-9]|All tests passed', done.stdout)
    return '' if done.returncode != 0 and ran or done.returncode < 0 else f'its cases pass with it:\n{done.stdout}'


wrong = list(wrong_with_names())
if len(sys.argv) > 2 and not wrong:
    ninja, build, *only = sys.argv[2:]
    built = Built(ninja, build, sorted({'tests/unit/' + (m[4] if len(m) > 4 else 'lend/lend_tests') for m in MISTAKES}))

    def tried(mistake):
        with tempfile.TemporaryDirectory() as folder:
            return mistake, make(mistake, built, folder)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for mistake, said in pool.map(tried, [m for m in MISTAKES if not only or m[0] in only]):
            print(f'{mistake[0]}: {mistake[1]}: {mistake[2]!r} -> {mistake[3]!r}: {"found" if not said else "NOT FOUND"}', flush=True)
            if said:
                wrong.append(f'{mistake[0]}: {mistake[1]}: {mistake[2]!r} -> {mistake[3]!r}: {said}')
print('\n'.join(wrong) if wrong else f'ok: {len(rules())} rules, {len(MISTAKES)} mistakes')
sys.exit(bool(wrong))
