# SPDX-License-Identifier: MIT
"""What OpenMP's threads lose in regions, in the report, against a program that knows by its own clock.

Arguments: mpirun, the folder of the programs, gcc or clang."""
import json
import os
import re
import sys
import tempfile

from job import expect, finish, likely, repeated, run

THREADS = 3


def near(a, b, share=0.02, slack=2e-3):
    return abs(a - b) <= share * max(a, b) + slack


@repeated
def losses():
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report.json')
        result = run(f'efficiency.{sys.argv[3]}', 5, options=(f'-workshare-report={report}', '-workshare-report'), env={'OMP_NUM_THREADS': str(THREADS)})
        with open(report) as f:
            counted = json.load(f)
    known = {name: float(s) for name, s in re.findall(r'(\w+) ([\d.]+)', result.out)}
    if not expect(result, f'the program says {known}', len(known) == 5):
        return
    totals = counted['totals']
    expect(result, f'{totals["openmp_regions"]} regions', totals['openmp_regions'] == 2 * 5 * 6)
    for name in 'threads', 'scheduling', 'imbalance', 'regions':
        likely(result, f'{name}: {totals[f"openmp_{name}_s"]} of {known[name]}', near(totals[f'openmp_{name}_s'], known[name]))
    # The three levels, and their product, from what the program knows.
    outside = totals['computing_s'] - known['regions']
    likely(result, f'outside of regions: {outside}, with {known["serial"]} of work', outside > 0.98 * known['serial'])
    useful = outside + known['threads'] - known['scheduling'] - known['imbalance'] + totals['mpi_s']
    idle = THREADS * totals['computing_s'] - outside - known['threads']
    levels = counted.get('openmp_efficiency', {})
    for name, wanted in {'serialisation_efficiency': useful / (useful + idle),
                         'load_balance': (useful + idle) / (useful + idle + known['imbalance']),
                         'scheduling_efficiency': 1 - known['scheduling'] / (useful + idle + known['imbalance'] + known['scheduling']),
                         'parallel_efficiency': useful / (useful + idle + known['imbalance'] + known['scheduling'])}.items():
        likely(result, f'{name}: {levels.get(name)} of {wanted}', near(levels.get(name, 0), wanted, 0.02, 0))
        expect(result, f'{name} loses nothing', levels.get(name, 1) < 0.95)
    likely(result, 'the text', re.search(rf'^  OpenMP parallel efficiency +{100 * levels["parallel_efficiency"]:.1f} %$', result.err, re.MULTILINE))


losses()
finish()
