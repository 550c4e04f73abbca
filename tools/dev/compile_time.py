# SPDX-License-Identifier: MIT
"""What -fws costs a compilation: a generated file of 10,000 lines, each of whose 400 functions is little more than a loop.
All of them `ws for`, which is more than any real file has; a quarter (LULESH has one in about a hundred lines); or none."""
import os
import re
import resource
import shutil
import subprocess
import tempfile

from measure import Failure, in_turn

LOOPS = 400
LINES = 10000

# A function of 25 lines with one loop; loops of all kinds take turns.
LOOP_KINDS = (
    ("", "for (long i = 0; i < n; i++) {", "y[i] = a * x[i] + {k};"),
    (" reduction(+ : sum)", "for (long i = 0; i < n; i++) {", "sum += x[i] * y[i];"),
    (" schedule(dynamic, 4) firstprivate(a)", "for (int i = 1; i <= m; i += 2) {", "y[i] = x[i - 1] > a ? x[i] : a;"),
    (" reduction(max : least) steal_schedule(guided)", "for (long i = n - 1; i >= 0; i--) {", "least = x[i] > least ? x[i] : least;"),
    (" lastprivate(last) private(t)", "for (long i = 0; i < n; i++) {", "t = x[i]; y[i] = t * t; last = t;"),
)

FUNCTION = """
double function_{k}(long n, int m, const double *x, double *y, struct state *s)
{{
    double sum = 0, least = -1e300, last = 0, t = 0, a = s->factor;
    long count = 0;
    if (n > {k} && s->enabled) {{
        a *= 1.5;
        count++;
    }}
{directive}    {head}
        double part = 0;
        for (int j = 0; j < m; j++) {{
            part += x[j] * s->weights[j % 8];
            if (part > 1e6)
                part = -part;
        }}
        {body}
        y[i] += part;
    }}
    while (count > 0 && s->next) {{
        s = s->next;
        count--;
    }}
    s->result = sum + least + last + t;
    return s->result;
}}
"""

HEAD = """struct state {
    double factor, weights[8], result;
    int enabled;
    struct state *next;
};
"""


def source(every):
    """One loop in that many has a directive; 0: none has."""
    text = HEAD
    for k in range(LOOPS):
        clauses, head, body = LOOP_KINDS[k % len(LOOP_KINDS)]
        directive = f"#pragma ws for{clauses}\n" if every and k % every == 0 else "\n"
        text += FUNCTION.format(k=k, directive=directive, head=head, body=body.format(k=k))
    lines = text.count("\n")
    assert LINES <= lines < LINES * 1.1, lines
    return text


def cpu_seconds(command):
    """CPU time, which other jobs on the machine lengthen far less than the time by the clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode:
        raise Failure(f"exit status {done.returncode}: {' '.join(command)}\n{done.stdout[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compilers(prefix):
    """(name, mpicc's command) of each that has a plugin here."""
    plugins = os.listdir(os.path.join(prefix, "lib", "workshare"))
    for name in ("gcc", "clang"):
        if any(p.startswith(name + "-") for p in plugins) and shutil.which(name):
            yield name, [os.path.join(prefix, "bin", "mpicc"), "-cc=" + name]


def measure_compiler(command, pairs):
    """Seconds of compilations in turn: {"loops": (with -fws, without, with omp for ws and -fopenmp),
    "quarter" and "none": (with -fws, without)}."""
    with tempfile.TemporaryDirectory(prefix="workshare-") as folder:
        def compilation(name, text, *options):
            path = os.path.join(folder, f"{name}.c")
            with open(path, "w") as f:
                f.write(text)
            whole = command + ["-O2", "-w", "-c", path, "-o", os.path.join(folder, "out.o"), *options]
            return lambda: cpu_seconds(whole)

        loops, quarter, none = source(1), source(4), source(0)
        omp = re.sub(r" steal_schedule\(\w+\)", "", loops).replace("#pragma ws for", "#pragma omp parallel for")
        return {"loops": in_turn(pairs, compilation("loops", loops, "-fws"), compilation("loops", loops),
                                 compilation("omp", omp, "-fopenmp")),
                "quarter": in_turn(pairs, compilation("quarter", quarter, "-fws"), compilation("quarter", quarter)),
                "none": in_turn(pairs, compilation("none", none, "-fws"), compilation("none", none))}
