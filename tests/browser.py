# SPDX-License-Identifier: MIT
"""A real browser without a screen, for pages that Workshare writes. An import ends the test with 77 without chromium and python3-selenium."""
import atexit
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

# Debian's Python: another python3 in PATH does not have Debian's packages.
if not os.path.exists('/usr/bin/chromium') or subprocess.run(['/usr/bin/python3', '-c', 'import selenium.webdriver'], capture_output=True).returncode:
    print('chromium, chromium-driver or python3-selenium is missing: no browser')
    sys.exit(77)
if os.path.realpath(sys.executable) != os.path.realpath('/usr/bin/python3'):
    os.execv('/usr/bin/python3', ['/usr/bin/python3', *sys.argv])
import patience  # noqa: E402
from expectation import conclude  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.utils import is_connectable  # noqa: E402

def finish():
    conclude(patience.unjudged)


class Driver(Service):
    @property
    def service_url(self):
        return f'http://127.0.0.1:{self.port}'

    def is_connectable(self):
        return is_connectable(self.port, '127.0.0.1')


def only_addresses(host, *args, resolve=socket.getaddrinfo, **how):
    if host[-1:].isalpha():
        raise socket.gaierror(socket.EAI_NONAME, f'{host} shall not be resolved')
    return resolve(host, *args, **how)


@contextlib.contextmanager
def browsing(folder):
    """A browser whose files are in `folder`. The driver, the browser and this script reach each other by address: names need not resolve, not even localhost
    (no /etc/hosts, as in a bare chroot). The driver calls a browser that it starts itself localhost."""
    profile = tempfile.mkdtemp(prefix='profile-', dir=folder)
    with open(f'{folder}/browser.log', 'w') as log:
        chromium = subprocess.Popen(['/usr/bin/chromium', '--remote-debugging-port=0', '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                                     '--window-size=1200,900', f'--user-data-dir={profile}', '--disable-background-networking',
                                     '--disable-component-update', '--no-first-run', 'about:blank'], stdout=log, stderr=log)
    atexit.register(chromium.kill)

    def port_of_browser():
        try:
            with open(f'{profile}/DevToolsActivePort') as f:
                port, end, _ = f.read().partition('\n')
            return port if end else ''
        except FileNotFoundError:
            return ''

    patience.waited_for(lambda: port_of_browser() or chromium.poll() is not None, 30)
    if not port_of_browser():
        with open(f'{folder}/browser.log') as log:
            sys.exit(f'the browser does not say where it listens: {log.read()}')
    options = webdriver.ChromeOptions()
    options.debugger_address = f'127.0.0.1:{port_of_browser()}'
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    socket.getaddrinfo = only_addresses
    browser = webdriver.Chrome(service=Driver('/usr/bin/chromedriver'), options=options)
    try:
        browser.get('about:blank')
        requests(browser)  # the browser's own first page
        yield browser
    finally:
        browser.quit()
        chromium.terminate()
        chromium.wait()
        shutil.rmtree(profile, ignore_errors=True)


def requests(browser):
    """What the page asked the network or the disk for since the last look."""
    messages = [json.loads(entry['message'])['message'] for entry in browser.get_log('performance')]
    return [m['params']['request']['url'] for m in messages if m['method'] == 'Network.requestWillBeSent']


def complaints(browser):
    return [entry for entry in browser.get_log('browser') if entry['level'] in ('SEVERE', 'WARNING')
            and 'willReadFrequently' not in entry['message']]  # that is a test that reads pixels


def colours(browser, scheme):
    """Light or dark."""
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [{'name': 'prefers-color-scheme', 'value': scheme}]})
