# SPDX-License-Identifier: MIT
"""Expectations of a test in Python: each that does not hold is printed, and the exit status says whether all did."""
import sys

failures = 0


def expect(what, condition, *seen):
    """Returns whether it holds; `seen`: what explains it."""
    global failures
    if not condition:
        failures += 1
        print('FAILED', what, *seen, sep='\n  ')
    return condition


def equal(what, got, wanted):
    return expect(what, got == wanted, f'got    {got!r}', f'wanted {wanted!r}')


def conclude(left_out=()):
    """Ends the script; `left_out`: sentences of what could not be tested."""
    print(f'{failures} failed' if failures else '; '.join(left_out) or 'ok')
    sys.exit(1 if failures else 77 if left_out else 0)
