# SPDX-License-Identifier: MIT
"""A rank whose core is lent answers its messages: at once when the sender rings, within about a quantum when the running
chunk is long. And many ranks on few cores do not start in each other's way."""
import re
import resource

from job import CORES, expect_lines, finish, likely, repeated, run, skip

if CORES < 2:
    skip('needs two cores')
    finish()


def median_us(result):
    found = re.search(r'^median ([0-9.]+)$', result.out, re.MULTILINE)
    return float(found.group(1)) if found else float('inf')


# The quantum is 50 ms: without the doorbell the median is near that, with it a chunk's time.
@repeated
def rings():
    result = run('doorbell', 20, options=('-workshare-quantum', '50000'), steals=True)
    expect_lines(result, result.out, '^20 messages$')
    likely(result, 'no ring was counted', result.stats.get('rings', 0) > 0)
    likely(result, f'the doorbell does not ring: {median_us(result)} us', median_us(result) < 10000)


# Iterations of 100 ms; the message comes 5 ms after the guest has begun one.
@repeated
def inside_a_chunk():
    result = run('coarse', steals=True)
    likely(result, 'the guest never came', result.out.count('sent') > 0)
    likely(result, f'a message waited for the end of the chunk: {median_us(result)} us', median_us(result) < 30000)


def cpu_seconds(workshare):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run('summed', ranks=64, workshare=workshare, limit=90)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return result, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# Ranks that wait for each other in MPI_Init nap there: yielding alone took 1.5 to 2.2 times the CPU time of a job without the flag.
@repeated
def many_ranks_start():
    _, off = cpu_seconds(False)
    result, on = cpu_seconds(True)
    likely(result, f'64 ranks take {on:.2f} s of CPU time with the flag, {off:.2f} s without', on < 1.25 * off)


rings()
inside_a_chunk()
many_ranks_start()
finish()
