# SPDX-License-Identifier: MIT
"""browser_test.py WS_TIMELINE MAKE_TRACE: the page in a real browser without a screen: it loads nothing, complains of nothing, shows what is in
the trace where it was, and follows the wheel, the mouse and the keys. 77 without chromium and python3-selenium."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from browser import browsing, colours, complaints, finish, requests  # noqa: E402 - it may begin this test again, with Debian's Python
from expectation import expect  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

TIMELINE, MAKE = map(os.path.abspath, sys.argv[1:3])
folder = tempfile.mkdtemp(prefix='workshare-')
os.chdir(folder)


for name, ranks, steps, kind in ('run', 2, 4, 'shared'), ('plain', 2, 5, 'plain'), ('long', 8, 600, 'shared'), ('tasks', 3, 2, 'tasks'):
    subprocess.run([MAKE, name + '.json', str(ranks), '1', str(steps), kind], check=True)
subprocess.run([TIMELINE, 'run.json', 'plain.json', '-o', 'run.html'], check=True, stdout=subprocess.DEVNULL)
for name in 'long', 'tasks':
    subprocess.run([TIMELINE, name + '.json'], check=True, stdout=subprocess.DEVNULL)
subprocess.run([TIMELINE, 'run.json', 'plain.json', '-o', 'run.svg'], check=True, stdout=subprocess.DEVNULL)


def script(text, *args):
    return browser.execute_script(text, *args)


def pixel(panel, row, ns, share=0.5):
    """The colour of a moment on a row, as [r, g, b, a]."""
    return script('''const [p, r, t, s] = arguments; draw();
        const ratio = chart.width / chart.clientWidth;
        return [...pen.getImageData(x_of(t) * ratio, (layout[p].tops[r] + s * height_of_row) * ratio, 1, 1).data];''', panel, row, ns, share)


def like(found, colour, opacity=255):
    wanted = [int(colour[i:i + 2], 16) for i in (1, 3, 5)]
    return all(abs(a - b) < 6 for a, b in zip(found, wanted)) and abs(found[3] - opacity) < 6


with browsing(folder) as browser:
    browser.get(f'file://{folder}/run.html')
    asked = [url for url in requests(browser) if not url.startswith('data:')]
    expect(f'requests: {asked}', asked == [f'file://{folder}/run.html'])
    expect('the title', browser.title == 'double_loop')
    first, second = script('return data.colours.slice(0, 2)')

    # Panel 0 is the plain run, 1 the one with stealing; see made_up.h. A little beside a chunk's begin: its middle may hold a name.
    for what, panel, row, ns, colour in (('rank 0 computes', 1, 0, 3000, first), ('rank 1 computes', 1, 1, 3000, second),
                                         ('rank 0 computes on core 1', 1, 1, 62000, first), ('rank 0 again, a step later', 1, 1, 162000, first),
                                         ('plain: rank 1 computes', 0, 1, 42000, second)):
        found = pixel(panel, row, ns, 0.1)
        expect(f'{what}: {found}', like(found, colour))
    waits = {tuple(pixel(0, 1, ns, share)) for ns in range(52000, 58000, 500) for share in (.1, .2, .3)}
    expect(f'a wait is hatched: {len(waits)} colours', len(waits) > 3 and not any(like(c, first) or like(c, second) for c in waits))
    expect('the same time is at the same place in both panels', script('return hit(x_of(3000), layout[0].tops[0] + 5).begin === hit(x_of(3000), layout[1].tops[0] + 5).begin'))

    # Pointing.
    chart = browser.find_element(By.ID, 'chart')
    tip = browser.find_element(By.ID, 'tip')

    def point(panel, row, ns):
        x, y, w, h = script('const [p, r, t] = arguments; return [x_of(t), layout[p].tops[r] + height_of_row / 2, chart.clientWidth, layout.height]', panel, row, ns)
        ActionChains(browser, duration=0).move_to_element_with_offset(chart, round(x - w / 2), round(y - h / 2)).perform()
        return tip.text if tip.is_displayed() else ''
    said = point(1, 1, 64000)
    expect(f'on a stolen chunk: {said!r}', 'core 1: rank 1' in said and "chunk of rank 0's loop double_loop.c:32 run_slice, iterations 90 to 99" in said)
    said = point(0, 1, 80000)
    expect(f'on a wait: {said!r}', 'rank 1 waits in MPI_Barrier' in said)
    said = script('return arrow_near(x_of(51000), (layout[1].tops[0] + height_of_row + layout[1].tops[1]) / 2)')
    expect(f'on an arrow: {said!r}', said and 'core 1: rank 1 is lent to rank 0' in said and '3 us after the claim' in said)

    # Zooming and moving.
    span = lambda: script('return [view.begin, view.end]')  # noqa: E731
    everything = span()
    expect(f'all of it: {everything}', everything == [0, 500000])
    x = script('return Math.round(x_of(64000) - chart.clientWidth / 2)')
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(chart, x, 0), 0, -300).perform()
    near = span()
    expect(f'the wheel: {near}', near[1] - near[0] < 400000 and near[0] < 64000 < near[1])
    expect('what the mouse is on stays there', abs(script('return x_of(64000) - chart.clientWidth / 2') - x) < 2)
    expect('zoomed, the colours are where they were', like(pixel(1, 1, 62000, 0.1), first))
    shown = browser.find_element(By.ID, 'span').text
    ActionChains(browser, duration=0).click_and_hold(chart).move_by_offset(-100, 0).release().perform()
    moved = span()
    expect(f'dragging: {near} {moved}', moved[0] > near[0] and abs((moved[1] - moved[0]) - (near[1] - near[0])) < 2)
    ActionChains(browser).send_keys(Keys.ARROW_LEFT).perform()
    expect(f'arrow keys: {span()}', span()[0] < moved[0])
    ActionChains(browser).send_keys('+').perform()
    expect(f'the key +: {span()}', span()[1] - span()[0] < (moved[1] - moved[0]) * 0.6)
    expect('the time shown follows', browser.find_element(By.ID, 'span').text != shown)
    browser.find_element(By.ID, 'out').click()
    ActionChains(browser).send_keys('0').perform()
    expect(f'the key 0: {span()}', span() == everything)
    for _ in range(40):
        script('zoom(0.5, 64000)')
    expect(f'the closest look: {span()}', span()[1] - span()[0] == 20)
    browser.find_element(By.ID, 'all').click()

    # Tables, legend, dark.
    cells = [[c.text for c in row.find_elements(By.XPATH, '*')] for row in browser.find_elements(By.XPATH, '(//table)[2]//tr')]
    expect(f'the table: {cells}', cells[1][0] == '0' and cells[1][2] == '360 us' and cells[1][7] == '144 us' and cells[2][3] == '56 us' and cells[3][0] == 'all')
    legend = browser.find_element(By.ID, 'legend').text
    expect(f'the legend: {legend}', all(word in legend for word in ('rank 0', 'rank 1', 'waiting in MPI', 'a core is lent')))
    light = script('return getComputedStyle(document.body).backgroundColor')
    colours(browser, 'dark')
    expect('dark', script('return getComputedStyle(document.body).backgroundColor') != light and like(pixel(1, 0, 3000, 0.1), first))
    wide = script('return chart.clientWidth')
    browser.set_window_size(700, 600)
    until = time.monotonic() + 20   # the page learns of it when the browser gets to it
    while time.monotonic() < until and not (script('return chart.clientWidth') < wide and like(pixel(1, 1, 62000, 0.1), first)):
        time.sleep(0.05)
    expect('a narrow window', script('return chart.clientWidth') < wide and like(pixel(1, 1, 62000, 0.1), first))

    # A long trace: seen from afar columns of shares, from near each event.
    browser.get(f'file://{folder}/long.html')
    # The quickest of five, as others may have the CPUs.
    took = script('const took = []; for (let i = 0; i < 5; i++) { const t = performance.now(); draw(); took.push(performance.now() - t); } return Math.min(...took)')
    expect(f'a long trace is drawn in {took} ms', took < 1000)
    shares = {tuple(pixel(0, 1, 30e6, share)[:3]) for share in (0.05, 0.2, 0.35, 0.6, 0.8, 0.95)}
    expect(f'a column of several: {shares}', len(shares) > 2)
    said = script('return hit(x_of(30e6), layout[0].tops[1] + 5).text')
    expect(f'its sums: {said!r}', '%' in said or 'chunk' in said)

    # Letters with tasks, on their way from row to row.
    browser.get(f'file://{folder}/tasks.html')
    said = script('return arrow_near(x_of(15000), (layout[0].tops[0] + height_of_row + layout[0].tops[1]) / 2)')
    expect(f'on an arrow of tasks: {said!r}', said and '5 tasks move from rank 0 to rank 1' in said and '+ 10 us' in said)
    legend = browser.find_element(By.ID, 'legend').text
    expect(f'its legend: {legend}', 'tasks move to that rank' in legend)

    browser.get(f'file://{folder}/run.svg')
    expect('the picture', script('return document.querySelectorAll("path").length') > 20)
    found = complaints(browser)
    expect(f'complaints: {found}', not found)
shutil.rmtree(folder, ignore_errors=True)
finish()
