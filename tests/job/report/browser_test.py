# SPDX-License-Identifier: MIT
"""browser_test.py WS_REPORT [FOLDER]: pages of reports in a real browser: they load nothing, complain of nothing, show what the report has, follow the
keyboard, are dark or light and narrow or wide, and open in time with 4,096 ranks and 10,000 loops. With FOLDER, pictures of them are left there. 77 without
chromium and python3-selenium."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from browser import browsing, colours, complaints, finish, requests  # noqa: E402 - it may begin this test again, with Debian's Python
from expectation import expect  # noqa: E402
import made_up  # noqa: E402
import patience  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

REPORT = os.path.abspath(sys.argv[1])
PICTURES = sys.argv[2:] and os.path.abspath(sys.argv[2])
folder = tempfile.mkdtemp(prefix='workshare-')
os.chdir(folder)
os.environ['TZ'] = 'UTC'  # pages have dates


def make(name, *args):
    subprocess.run([REPORT, *args], check=True, stdout=subprocess.DEVNULL)
    return f'file://{folder}/{name}'


made_up.write('a.json', ranks=4, loops=30, elapsed=2.0)
made_up.write('b.json', ranks=4, loops=30, elapsed=1.0, phases=3, counted=True)
made_up.write('old.json', ranks=2, over_time=False)
made_up.write('large.json', ranks=4096, loops=10000, phases=10000)
one = make('one.html', '--html', 'b.json', '-o', 'one.html')
two = make('two.html', '--html', 'a.json', 'b.json', '-o', 'two.html')
old = make('old.html', '--html', 'old.json', '-o', 'old.html')
large = make('large.html', '--html', 'large.json', '-o', 'large.html')
os.mkdir('runs')
for number in range(20):  # slower from the commit 0000012 on
    os.mkdir(f'runs/{number:07}')
    for again in range(3):
        made_up.write(f'runs/{number:07}/{again}.json', elapsed=(1.0 if number < 12 else 1.3) + 0.01 * ((7 * number + 3 * again) % 5), started=1700000000 + 86400 * number + again)
history = make('runs/pages/index.html', '--history', 'runs')


def script(text, *args):
    return browser.execute_script(text, *args)


def section(name):
    return browser.find_element(By.ID, name)


def said(name):
    return section(name).find_element(By.CLASS_NAME, 'said').text


def cells(name, table=0):
    return script('return [...document.getElementById(arguments[0]).querySelectorAll("table")[arguments[1]].rows].map(r => [...r.cells].map(c => c.textContent))', name, table)


def press(name, *keys):
    canvas = section(name).find_element(By.TAG_NAME, 'canvas')
    for key in keys:
        canvas.send_keys(key)


def pixel(name, x, y):
    """The colour at parts of the width and height of a canvas."""
    return script('''const c = document.getElementById(arguments[0]).querySelector('canvas');
        return [...c.getContext('2d').getImageData(arguments[1] * c.width, arguments[2] * c.height, 1, 1).data].slice(0, 3)''', name, x, y)


def fits(what):
    expect(f'{what}: no wider than the window', script('return document.documentElement.scrollWidth <= innerWidth'))


def picture(name):
    if PICTURES:
        height = min(6000, script('return document.documentElement.scrollHeight'))
        width = script('return innerWidth')
        size = browser.get_window_size()
        browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})
        browser.save_screenshot(f'{PICTURES}/{name}.png')
        browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
        browser.set_window_size(size['width'], size['height'])


# How many milliseconds the browser needs for a table of 20,000 rows: a measure of this machine.
TABLE = '''const began = performance.now(), table = document.body.appendChild(document.createElement('table'));
    for (let i = 0; i < 20000; i++)
        table.insertRow().insertCell().textContent = i;
    return table.offsetHeight && performance.now() - began;'''


@patience.repeated
def opens_in_time():
    browser.get('about:blank')
    table = script(TABLE) / 1000
    browser.get('about:blank')
    began = time.monotonic()
    browser.get(large)
    took = script('return performance.timing.loadEventEnd - performance.timing.navigationStart') / 1000
    print(f'4,096 ranks and 10,000 loops: open after {took:.2f} s, a table after {table:.2f} s ({os.path.getsize("large.html") / 1e6:.1f} MB)')
    patience.likely(f'it opens in {took} s, a table in {table}, by the clock in {time.monotonic() - began}', 0 < took < max(2, 2.5 * table))


with browsing(folder) as browser:
    browser.get(one)
    asked = [url for url in requests(browser) if not url.startswith('data:')]
    expect(f'requests: {asked}', asked == [one])
    expect('the title', browser.title == 'made_up, 4 ranks on 1 node')
    expect('the result first, in the words of the verdict', section('result').text.split('\n') ==
           ['about 1.50 times as fast as without sharing (made up)', 'ranks waited; hint: none'])
    expect(f'efficiency: {cells("efficiency")}', cells('efficiency')[1][:2] == ['parallel efficiency', '90.0 %'] and len(cells('efficiency')) == 4)
    found = {row[0]: row[1] for row in cells('waiting')}
    # of 4 ranks that compute for 1/4, 2/4, 3/4 and all of a second; `totals` are the kept report's
    expect(f'waiting: {found}', 'won back: their cores computed for others' in found)
    expect('what rank 0 did', said('waiting').startswith('rank 0: computing 250 ms; won back: their cores computed for others 375 ms; ranks computed, but in'))
    press('waiting', Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    expect(f'two keys on, rank 2: {said("waiting")}', said('waiting').startswith('rank 2: computing 750 ms'))
    press('waiting', Keys.END)
    expect('the last', said('waiting').startswith('rank 3: computing 1.00 s'))
    blue = pixel('waiting', 0.95, 0.5)
    expect(f'its bar is one colour, that of computing: {blue}', blue == pixel('waiting', 0.95, 0.2) == [0x3b, 0x78, 0xb8])
    expect('that of rank 0 has others above', pixel('waiting', 0.12, 0.5) != blue and pixel('waiting', 0.12, 0.85) == blue)

    expect(f'the heat map: {said("time")}', said('time').startswith('rank 0, 0 to 15.6 ms: computing 100.0 %, core lent 0.0 %'))
    press('time', Keys.ARROW_DOWN, Keys.END)
    expect(f'rank 1 at the end: {said("time")}', said('time').startswith('rank 1, 984 ms to 1.00 s: computing 0.0 %, core lent 50.0 %, waiting 50.0 %'))
    early, late = pixel('time', 0.1, 0.1), pixel('time', 0.8, 0.1)
    expect(f'early it computes, late not: {early} {late}', early == [0x3b, 0x78, 0xb8] and late != early)
    section('time').find_element(By.TAG_NAME, 'select').send_keys('wait')
    expect('its waiting instead', pixel('time', 0.1, 0.1) != early)
    expect(f'cores of rank 0: {said("cores")}', said('cores').startswith('rank 0: 0.50 cores on average, 1.25 at most'))

    expect('loops: the longest first', cells('loops')[1][:5] == ['file0.c:0:loop_0', 'ranks helped', '', '1.00 s', '172 ms'])
    expect(f'a cause and its remedy: {cells("loops")[2]}', cells('loops')[2][1:3] == ['too short to share', 'put the directive on an outer loop, or fuse loops'])
    heads = section('loops').find_elements(By.TAG_NAME, 'th')
    heads[3].find_element(By.TAG_NAME, 'button').send_keys(Keys.ENTER, Keys.ENTER)
    expect('sorted by the keyboard', cells('loops')[1][0] == 'file29.c:29:loop_29' and heads[3].get_attribute('aria-sort') == 'ascending')
    browser.find_element(By.ID, 'filter').send_keys('LOOP_7')
    expect('a filter', [row[0] for row in cells('loops')[1:]] == ['file7.c:7:loop_7'] and section('count').text == '1 of 30')
    rows = cells('phases')
    expect(f'phases: {rows}', len(rows) == 5 and rows[0][:4] == ['phase', 'times', 'elapsed', 'own'] and rows[1][0] == '(run)' and
           rows[2][:4] == ['step/phase <0>', '1', '1.00 s', '500 ms'] and 'all ranks of the node waited: communication' in rows[2] and '1.25' in rows[2])
    rows = cells('rank-phases')
    expect(f'ranks and phases: {rows[:3]}', len(rows) == 4 * 4 and rows[0][:4] == ['rank', 'phase', 'times', 'elapsed'] and
           rows[2][:2] == ['0', 'step/phase <0>'] and rows[2][3] == '333 ms' and rows[2][-3:] == ['1.00', '2.00', 'the rest takes less time than a hand-over 125 ms'])
    expect(f'a cell: {said("rank-phases")}', said('rank-phases').startswith('rank 0, (run): elapsed 500 ms, computing 125 ms, in MPI 375 ms, waiting 375 ms, of which its core was lent 188 ms; '))
    low, high = pixel('rank-phases', 0.2, 0.1), pixel('rank-phases', 0.2, 0.7)
    expect(f'efficiencies of 25 % and 100 %: {low} {high}', high == [0x3b, 0x78, 0xb8] and low != high)
    press('rank-phases', Keys.END, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    expect(f'the last cell: {said("rank-phases")}', said('rank-phases') == 'rank 3, step/phase <2>: it was not in this phase')
    section('rank-phases').find_element(By.TAG_NAME, 'select').send_keys('instr')
    expect('another figure', pixel('rank-phases', 0.2, 0.7) != high and 'instructions per cycle' in said('rank-phases'))
    section('rank-phases').find_elements(By.TAG_NAME, 'th')[3].find_element(By.TAG_NAME, 'button').send_keys(Keys.ENTER)
    expect('sorted', cells('rank-phases')[1][1] == '(run)' and cells('rank-phases')[-1][1] == 'step/phase <2>')
    reached = {script('return document.activeElement.tagName')}
    for _ in range(40):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(script('return document.activeElement.closest("section")?.id'))
    expect(f'the key Tab leads to {reached}', {'loops', 'calls'} <= reached)
    fits('wide')
    picture('one-light')
    colours(browser, 'dark')
    expect('dark', script('return getComputedStyle(document.body).backgroundColor') == 'rgb(13, 17, 23)')
    picture('one-dark')
    colours(browser, 'light')

    browser.set_window_size(500, 900)
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {'width': 360, 'height': 800, 'deviceScaleFactor': 2, 'mobile': True})
    browser.get(two)
    fits('narrow')
    picture('two-narrow')
    browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
    browser.set_window_size(1200, 900)
    browser.get(two)
    rows = cells('comparison')
    expect(f'the comparison: {rows[:2]}', rows[0] == ['figure', 'a.json', 'b.json', 'ratio'] and rows[1] == ['elapsed', '2.00 s', '1.00 s', '0.500'])
    expect('the last run is shown', 'b.json' in section('about').text)
    section('run').send_keys('a.json')
    expect('or another', 'a.json' in section('about').text and said('time').startswith('rank 0, 0 to 31.3 ms'))
    picture('two-wide')

    browser.get(old)
    expect('an old report has no slices', not section('time').is_displayed() and not section('cores').is_displayed() and section('waiting').is_displayed())

    opens_in_time()
    expect('a row of each loop, few of them in the document', script('return document.querySelector("#loops table").getAttribute("aria-rowcount")') == '10001' and len(cells('loops')) < 100)
    expect('a row of each phase', script('return document.querySelector("#phases table").getAttribute("aria-rowcount")') == '10002' and len(cells('phases')) < 100)
    expect('a row of each rank and phase', script('return document.querySelector("#rank-phases table").getAttribute("aria-rowcount")') == str(4096 * 8) and
           len(cells('rank-phases')) < 100)
    expect('what is left out', section('left-out').text == '9993 phases that took less time are left out.')
    script('document.querySelector("#loops .scroll").scrollTop = 1e9')
    patience.waited_for(lambda: cells('loops')[-1][0].endswith('loop_9999'), 10)
    expect(f'the last loop: {cells("loops")[-1]}', cells('loops')[-1][0].endswith('loop_9999'))
    press('time', Keys.END, Keys.PAGE_DOWN)
    expect(f'rank 10: {said("time")}', said('time').startswith('rank 10, '))
    fits('large')
    picture('large')

    browser.get(history)
    asked = [url for url in requests(browser) if url.startswith('http')]
    expect(f'requests: {asked}', not asked)
    changes = [line.text for line in browser.find_elements(By.CSS_SELECTOR, 'li.worse')]
    expect(f'the change: {changes}', len(changes) == 1 and changes[0].startswith('elapsed time: 2') and '% longer since 0000012 (2023-11-26): 1.02 s' in changes[0])
    expect('curves', len(browser.find_elements(By.CSS_SELECTOR, 'figure svg')) == 4 and len(browser.find_elements(By.CSS_SELECTOR, '.change')) == 1)
    fits('history')
    picture('history-light')
    colours(browser, 'dark')
    picture('history-dark')
    browser.find_element(By.CSS_SELECTOR, 'li.worse a').send_keys(Keys.ENTER)
    patience.waited_for(lambda: browser.title != 'History of runs', 10)
    expect('a commit has its page', browser.title == 'made_up, 2 ranks on 1 node' and '0000012/2.json' in section('about').text)
    browser.get(f'file://{folder}/runs/pages/badge.svg')
    expect('the badge', browser.find_element(By.TAG_NAME, 'title').get_attribute('textContent') == 'parallel efficiency: 90 %')
    found = complaints(browser)
    expect(f'complaints: {found}', not found)
shutil.rmtree(folder, ignore_errors=True)
finish()
