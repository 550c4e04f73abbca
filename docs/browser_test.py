# SPDX-License-Identifier: MIT
"""browser_test.py SITE [FOLDER]: the HTML documentation in a real browser: pages are dark or light as the reader wants them, no wider than a narrow window, load nothing
from elsewhere and complain of nothing; the button for light and dark pages works, and the search box finds a page. With FOLDER, pictures are left there. 77 without
chromium and python3-selenium."""
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'tests'))
from browser import browsing, colours, complaints, finish, requests  # noqa: E402 - it may begin this test again, with Debian's Python
from expectation import expect  # noqa: E402
import patience  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

SITE = os.path.abspath(sys.argv[1])
PICTURES = sys.argv[2:] and os.path.abspath(sys.argv[2])
PAGES = 'index.html', 'docs/start/tutorial.html', 'docs/reference/options.html', 'docs/about/results.html', 'docs/internals/architecture.html'
# Debian 12's furo: a style sheet of a web server's folder, and a script that is a module but not loaded as one; static/ makes up for both.
OF_FURO = 'normalize.css', '_static/scripts/furo.js'
folder = tempfile.mkdtemp(prefix='workshare-')
os.chdir(folder)


def script(text, *args):
    return browser.execute_script(text, *args)


def background():
    """0: black; 255: white."""
    colour = script('return getComputedStyle(document.body).backgroundColor')
    return sum(map(int, colour[colour.index('(') + 1:-1].split(',')[:3])) / 3


def wide(selector):
    """The first element whose contents stick out of the window, without a scroll bar of their own."""
    return script('''return [...document.querySelectorAll(arguments[0])].filter(e => {
        for (let p = e.parentElement; p; p = p.parentElement) if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
        return e.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(e).overflowX === 'visible';
    }).map(e => e.outerHTML.slice(0, 200))[0]''', selector)


with browsing(folder) as browser:
    for page in PAGES:
        for width in 1200, 360:
            for scheme in 'light', 'dark':
                what = f'{page}, {width} px, {scheme}'
                browser.set_window_size(width, 900)
                colours(browser, scheme)
                browser.get(f'file://{SITE}/{page}')
                expect(f'{what}: a title', script('return document.querySelector("h1").textContent.length > 3'))
                expect(f'{what}: its colours', background() < 60 if scheme == 'dark' else background() > 200)
                expect(f'{what}: all pictures are there', script('return [...document.images].every(i => i.complete && i.naturalWidth > 0)'))
                if width == 360:
                    expect(f'{what}: wider than the window: {wide("article *")}', script('return document.documentElement.scrollWidth <= innerWidth'))
                elsewhere = [r for r in requests(browser) if not r.startswith(('file:', 'data:'))]
                expect(f'{what}: asks for {elsewhere}', not elsewhere)
                found = [c['message'] for c in complaints(browser) if not any(known in c['message'] for known in OF_FURO)]
                expect(f'{what}: complaints: {found}', not found)
                if PICTURES:
                    browser.save_screenshot(f'{PICTURES}/{os.path.basename(page)}-{width}-{scheme}.png')
    colours(browser, 'light')
    browser.set_window_size(1200, 900)
    browser.get(f'file://{SITE}/index.html')
    button = next(b for b in browser.find_elements(By.CLASS_NAME, 'theme-toggle') if b.is_displayed())
    time.sleep(0.5)  # the script that may take the button over runs after the page is there
    button.click()
    expect('the button makes the page dark', patience.waited_for(lambda: background() < 60, 5))
    box = next(b for b in browser.find_elements(By.NAME, 'q') if b.is_displayed())
    box.send_keys('quantum\n')
    expect('the search finds the options', patience.waited_for(lambda: any('options.html' in (a.get_attribute('href') or '') for a in browser.find_elements(By.CSS_SELECTOR, '#search-results a')), 20))
os.chdir('/')
shutil.rmtree(folder)
finish()
