# SPDX-License-Identifier: MIT
"""A test sees no shared memory but that of its own jobs, and what it leaves there no other test sees.

memory_test.py OWN_MEMORY
"""
import ctypes
import os
import subprocess
import sys
import uuid

from check import expect, finish

OWN = sys.argv[1]
LIBC = ctypes.CDLL(None)
IPC_RMID, IPC_CREAT = 0, 0o1000
NAME = '/dev/shm/memory_test_' + uuid.uuid4().hex
KEY = uuid.uuid4().int & 0x7fffffff
LEAVES = f"""
import ctypes
open({NAME!r}, 'w').close()
ctypes.CDLL(None).shmget({KEY}, 4096, {IPC_CREAT | 0o600})
"""


def there():
    return os.path.exists(NAME), LIBC.shmget(KEY, 0, 0) >= 0


def is_own(prefix=()):
    """Whether /dev/shm is one that own-memory has mounted."""
    mounts = subprocess.run([*prefix, 'cat', '/proc/self/mounts'], capture_output=True, text=True).stdout
    return [line.split()[0] for line in mounts.splitlines() if line.split()[1] == '/dev/shm'][-1:] == ['own-memory']


if not is_own((OWN,)):
    print('no shared memory of its own: mounting is not permitted here')
    sys.exit(77)
expect('Meson runs this test with memory of its own', is_own(), True)
# Another test leaves something.
done = subprocess.run([OWN, sys.executable, '-c', LEAVES], capture_output=True, text=True)
expect('what leaves something', (done.returncode, done.stderr), (0, ''))
expect('seen of another test', there(), (False, False))
# This one does, and another looks.
subprocess.run([sys.executable, '-c', LEAVES], check=True)
expect('left here', there(), (True, True))
looks = f"import ctypes, os; print(os.path.exists({NAME!r}), ctypes.CDLL(None).shmget({KEY}, 0, 0) >= 0)"
expect('seen by another test', subprocess.run([OWN, sys.executable, '-c', looks], capture_output=True, text=True).stdout, 'False False\n')
# Tests of jobs find what has been left, but not what a living process has there.
lives = LIBC.shmget(0, 4096, IPC_CREAT | 0o600)
finds = """
import sys
sys.argv[1:] = ['', '']
sys.path.insert(0, {!r})
import job
print(*map(sorted, job.segments()))
""".format(os.path.join(os.path.dirname(OWN), 'job/mpi'))
number = LIBC.shmget(KEY, 0, 0)
expect('left behind', subprocess.run([sys.executable, '-c', finds], capture_output=True, text=True).stdout, f"['{NAME}'] ['System V segment {number}']\n")
LIBC.shmctl(lives, IPC_RMID, None)
os.remove(NAME)
LIBC.shmctl(LIBC.shmget(KEY, 0, 0), IPC_RMID, None)
expect('the exit status', subprocess.run([OWN, 'sh', '-c', 'exit 7']).returncode, 7)
finish()
