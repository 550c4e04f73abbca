# SPDX-License-Identifier: MIT
"""Tests run without what the caller's shell has set: an installation that is active, options, search paths.

environment_test.py STAGE probe   fails if such a thing is in its environment
environment_test.py STAGE BUILD   has Meson run that probe from a shell with all of it
"""
import os
import subprocess
import sys

from check import expect, finish

STAGE, HOW = sys.argv[1:3]
# A folder each that must go, one that must stay
PATHS = {'PATH': (f'{STAGE}/bin', '/a blank/bin'), 'LD_LIBRARY_PATH': (f'{STAGE}/lib', '/other'), 'PKG_CONFIG_PATH': (f'{STAGE}/lib/pkgconfig', '/other')}
GONE = {'WS_QUIET': '1', 'WS_SCHEDULE': 'static', 'MPIR_CVAR_ENABLE_GPU': '1', 'MPICH_CC': 'nothing', 'HYDRA_DEBUG': '1', 'OMP_NUM_THREADS': '7',
        'GOMP_SPINCOUNT': '0', 'KMP_AFFINITY': 'none', 'PMI_RANK': '3', 'MANPATH': f'{STAGE}/share/man', 'CPATH': f'{STAGE}/include', 'LIBRARY_PATH': '/x',
        'CFLAGS': '-nonsense', 'XDG_DATA_DIRS': '/x'}
KEPT = {'UCX_POSIX_DIR': '/tmp', 'PYTHONPATH': '/x', 'CC': 'gcc'}

if HOW == 'probe':
    expect('set by the caller', [name for name in GONE if name in os.environ], [])
    for name, (gone, _) in PATHS.items():
        expect(f'{name} has', gone in os.environ.get(name, '').split(':'), False)
else:
    dirty = {**os.environ, **GONE, **KEPT}
    for name, folders in PATHS.items():
        dirty[name] = ':'.join([*folders, *os.environ.get(name, '').split(':')])
    clean = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), 'clean-environment')
    seen = subprocess.run([clean, 'env', '-0'], env=dirty, capture_output=True, text=True, timeout=30).stdout
    seen = dict(entry.split('=', 1) for entry in seen.split('\0') if entry)
    expect('left', [name for name in GONE if name in seen], [])
    expect('lost', {name: seen.get(name) for name in KEPT}, KEPT)
    for name, (gone, kept) in PATHS.items():
        expect(name, (gone in seen[name].split(':'), kept in seen[name].split(':')), (False, True))
    meson = os.environ.get('MESON', 'meson')
    done = subprocess.run([meson, 'test', '-C', HOW, '--no-rebuild', '--logbase', 'environment', 'launcher environment probe'], env=dirty,
                          capture_output=True, text=True, timeout=60)
    expect('the probe', done.stdout[-2000:] + done.stderr if done.returncode else '', '')
finish()
