# SPDX-License-Identifier: MIT
"""Test programs of other projects, which come with a source package of Debian when the test runs, and are jobs under mpirun."""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

DOWNLOAD = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'tools/dev/debian-source')
CACHE = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'workshare')


def said(command, **how):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', **how)


def skip(why):
    print(why)
    sys.exit(77)


def part(text):
    """For argparse: the slice of K/N, every N-th from the K-th on."""
    found = re.fullmatch(r'([1-9]\d*)/([1-9]\d*)', text)
    if not found:
        raise argparse.ArgumentTypeError('K/N is expected')
    return slice(int(found[1]) - 1, None, int(found[2]))


def source(command, folder):
    """Upstream's tarball in a source package of Debian, which the command, tools/dev/debian-source or one that calls it, downloads to `folder`."""
    done = said([*command, folder])
    found = [path for path in glob.glob(os.path.join(folder, '*.orig.tar.*')) if not path.endswith('.asc')]
    if not found:
        skip(f'the source cannot be had: {(done.stdout.strip().splitlines() or ["nothing came"])[-1]}')
    return found[0]


def kept_part(name, package, tests, inner=None):
    """The folder of which the path ends with `tests` in a package's source, or in the tarball `inner` that is its content: from the
    cache, or downloaded to it. The rest of the package is not kept."""
    kept = os.path.join(CACHE, name)
    if not os.path.isdir(kept):
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            tarball = source([DOWNLOAD, package], folder)
            if inner:
                said(['tar', '-xf', tarball, '--strip-components=1', '--wildcards', f'*/{inner}'], cwd=folder)
                tarball = next(iter(glob.glob(os.path.join(folder, inner))), tarball)
            said(['tar', '-xf', tarball, '--wildcards', f'*/{tests}/*'], cwd=folder)
            found = glob.glob(os.path.join(folder, '*', tests))
            if not found:
                skip(f'the source of {package} has no {tests}')
            os.rename(found[0], kept)
    return kept


def job(prefix, options, program, folder, environment, longest):
    """'pass' or what went wrong, and what it said. Takes no notice of other jobs, nor of what the caller's shell has set."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(('WS_', 'OMP_', 'GOMP_', 'KMP_'))}
    clean.update(environment, LD_LIBRARY_PATH=os.path.join(prefix, 'lib'), WS_IGNORE_JOBS='1')
    with subprocess.Popen([os.path.join(prefix, 'bin', 'mpirun'), *options, *program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors='replace', env=clean, cwd=folder) as started:
        try:
            out = started.communicate(timeout=longest)[0]
        except subprocess.TimeoutExpired:
            started.terminate()         # mpirun ends its ranks
            try:
                out = started.communicate(timeout=10)[0]
            except subprocess.TimeoutExpired:
                started.kill()
                out = ''
            return f'no end in {longest} s', out
    return 'pass' if started.returncode == 0 else f'exit status {started.returncode}', out
