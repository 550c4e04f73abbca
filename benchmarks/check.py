# SPDX-License-Identifier: MIT
"""check.py MPIRUN PROGRAMS: that the benchmark programs give right results with the flag on and off, and that each
bad option or file gives one message that names it."""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tools", "dev"))
sys.dont_write_bytecode = True
import disturbance  # noqa: E402

# (program, options): small, right on 2 ranks; the first of a program also without the flag, and on one rank
GOOD = [
    ("double_loop", "--work 2ms --repeats 10"),
    ("double_loop", "--work 1ms --repeats 3 --balanced --iterations 7"),
    ("double_loop", "--work 1ms --repeats 3 --no-serial"),
    ("double_loop", "--steps 1 --iterations 1 --repeats 1 --warmup 0"),
    ("double_loop", "--sleep 20ms --iterations 8 --repeats 2 --one-owner --shape random"),
    ("double_loop", "--work 1ms --repeats 3 --chunk 3 --shape steep"),
    ("double_loop", "--work 1ms --repeats 3 --by-hand --iterations 7 --shape random"),
    ("double_loop_plain", "--work 1ms --repeats 3 --shape falling"),
    ("barrier_loop", "--repeats 3"),
    ("claim_cost", "--repeats 2 --helped"),
    ("claim_cost", "--repeats 2 --steps 100 --iterations 300"),
    ("triad", "--elements 1001 --repeats 2"),
    ("triangles", "--scale 10 --repeats 5"),
    ("triangles", "--scale 1 --edgefactor 1 --repeats 1"),
    ("triangles", "--file {two_triangles} --repeats 2"),
    ("region_cost", "--repeats 2"),
    ("phase_cost", "--repeats 2"),
    ("phase_cost", "--repeats 2 --names 10000"),
    ("task_groups_gcc", "--what fib --size 25 --cutoff 10 --repeats 2"),
    ("task_groups_gcc", "--what queens --size 8 --repeats 2"),
    ("task_groups_gcc", "--what sort --size 30000 --repeats 2 --balanced"),
    ("task_groups_clang", "--what lu --repeats 2"),
    ("task_groups_clang", "--what strassen --size 128 --repeats 2"),
    ("task_groups_ws_gcc", "--what fib --size 25 --cutoff 10 --repeats 2"),
    ("task_groups_ws_gcc", "--what sort --size 30000 --repeats 2 --balanced"),
    ("task_patterns", "--inner 100 --repeats 2"),
    ("task_patterns", "--pattern fft --inner 100 --repeats 2 --spread"),
    ("task_patterns", "--pattern tree --width 8 --inner 100 --repeats 2 --imbalance 0.5 --bytes 20000"),
    ("task_patterns", "--pattern random --inner 100 --repeats 2 --by-hand"),
    ("task_patterns", "--pattern tree --inner 100 --repeats 2 --by-hand"),
    ("task_patterns_omp_gcc", "--pattern random --inner 100 --repeats 2"),
    ("task_patterns_omp_clang", "--pattern fft --inner 100 --repeats 2"),
    ("task_groups_omp_gcc", "--what sort --size 30000 --repeats 2"),
    ("task_groups_omp_clang", "--what queens --size 8 --repeats 2"),
    ("reorder_cost", "--repeats 2"),
    ("region_cost", "--repeats 2 --iterations 0"),
    ("region_cost_c", "--repeats 2"),
    ("region_cost_cpp", "--repeats 2"),
    ("directive_cost_gcc", "--repeats 2"),
    ("directive_cost_clang", "--repeats 2"),
    ("product_cost_as_is_gcc", "--repeats 2"),
    ("product_cost_as_is_clang", "--repeats 2"),
    ("openmp_cost_gcc", "--repeats 2"),
    *((f"one_region_{build}", options) for build in ("gcc", "clang", "ws_gcc", "ws_clang")
      for options in ("--repeats 2 --warmup 1", "--repeats 2 --warmup 1 --short")),
    *((f"one_region_{build}", options) for build in ("gcc", "clang")
      for options in ("--repeats 2 --warmup 1 --tasks", "--repeats 2 --warmup 1 --short --tasks")),
    ("openmp_turns", "--work 2ms --turns 5 --spread 20 --zones 6 --serial"),
    ("openmp_turns", "--work 8ms --turns 3 --shares 3,1 --zones 4 --sleep --threads 2,1"),
    ("openmp_turns", "--work 2ms --turns 3 --spread 20 --dealt"),
    ("openmp_turns", "--work 8ms --turns 3 --spread 20 --sleep --reorder --rows 12"),
    ("openmp_turns_ws", "--work 2ms --turns 3 --spread 20"),
    ("call_cost", ""),
    ("openmp_cost_clang", "--repeats 2"),
    ("tasks", "--what list --elements 50 --cost 20us --grain 3"),
    ("tasks", "--what uts --tree T1 --grain 500"),
    ("tasks", "--what uts --tree T3 --grain 500"),
    ("tasks", "--what uts --tree T3 --grain 500 --alone"),
    ("tasks", "--what bag --tasks 200 --cost 20us"),
    ("tasks", "--what pipeline --tasks 100 --cost 20us --sleep"),
    ("tasks", "--what large --tasks 3 --bytes 1000000 --cost 1ms"),
    ("tasks", "--what results --tasks 3 --bytes 100000"),
    ("tasks", "--what results --tasks 2 --bytes 1000 --alone --in-turn"),
    ("tasks", "--what cost --tasks 1000"),
    ("assembly_gcc", "--repeats 2"),
    ("assembly_clang", "--repeats 2"),
    ("assembly_omp_gcc", "--repeats 2"),
    ("assembly_omp_clang", "--repeats 2"),
    ("class_loops_as_is_gcc", "--repeats 2 --side 3 --each"),
    ("class_loops_as_is_clang", "--repeats 2 --side 1"),
    ("blocks_ws", "--repeats 2 --warmup 0"),
    ("gradients_ws", "--repeats 2 --warmup 1 --share 10"),
    ("particles_ws", "--repeats 2 --warmup 1 --between 1"),
    ("refined_ws", "--repeats 2 --warmup 0"),
    ("chain_ws", "--repeats 2 --warmup 0 --side 3 --uneven 2"),
    ("short_loops", "--regions 3 --repeats 5 --warmup 1"),
    ("flex_jacobi", "--rows 50 --iterations 30"),
    ("flex_jacobi", "--rows 1 --iterations 3 --plain"),
    ("flex_jacobi", "--rows 50 --iterations 30 --split --unit 10us --speeds 1,3 --load 1:5-10:0.5"),
    ("flex_cg", "--rows 300 --iterations 40"),
    ("flex_cg", "--rows 300 --kind power --iterations 40"),
    ("flex_cg", "--file {symmetric} --iterations 10"),
    ("flex_cg", "--file {pattern} --iterations 3"),
    ("flex_epidemic", "--rows 500 --iterations 40"),
    ("flex_jacobi", "--rows 50 --iterations 30 --in-turn 4"),
    ("flex_nodes", "--rows 20 --iterations 3 --domain node"),
    ("startup", ""),
]

# (program, options, exit status, what its one line on stderr must contain)
BAD = [
    ("double_loop", "--nonsense", 2, "unknown option '--nonsense'"),
    ("double_loop", "--iterations", 2, "option '--iterations' needs a value"),
    ("double_loop", "--iterations 0", 2, "--iterations takes a whole number from 1"),
    ("double_loop", "--work 3parsecs", 2, "--work takes a time"),
    ("double_loop", "--shape round", 2, "--shape takes rising"),
    ("openmp_turns", "--shares 1,x", 2, "--shares takes numbers"),
    ("tasks", "--what nothing", 2, "--what takes list, uts, bag"),
    ("task_groups_gcc", "--what nothing", 2, "there is no program 'nothing'"),
    ("task_patterns", "--pattern ring", 2, "--pattern takes stencil, fft, tree or random, not 'ring'"),
    ("task_patterns", "--imbalance 2", 2, "--imbalance takes a number from 0 to 1, not '2'"),
    ("task_patterns", "--pattern tree --width 12", 2, "a tree needs a power of two as its width, not 12"),
    ("tasks", "--what uts --tree T9", 2, "--tree takes T1 or T3"),
    ("tasks", "--what list --alone", 2, "--alone is for uts and results"),
    ("tasks", "--what list --in-turn", 2, "--in-turn is for results"),
    ("tasks", "--what lis", 2, "not 'lis'"),
    ("tasks", "--what list --cost 100n", 2, "such as 450us, 20ms or 1.5s, not '100n'"),
    ("one_region_ws_gcc", "--flags", 2, "--flags: a ws for has no threads of its own"),
    ("one_region_ws_gcc", "--tasks", 2, "--tasks: there are none of ws for"),
    ("one_region_gcc", "--sweeps 0", 2, "--sweeps takes a whole number from 1"),
    ("gradients_ws", "--share 99", 2, "--share takes a whole number from 5 to 95"),
    ("chain_omp", "", 2, "needs 1 rank when it is built for OpenMP"),
    ("double_loop", "stray", 2, "unexpected argument 'stray'"),
    ("flex_jacobi", "--speeds 1,x", 2, "--speeds takes positive numbers"),
    ("flex_jacobi", "--load 1:2:3", 2, "--load takes RANK:FIRST-LAST:SHARE"),
    ("flex_jacobi", "--group 0", 2, "--group takes RANK:FOLDER"),
    ("flex_jacobi", "--group 0:{missing}", 1, "missing/cgroup.procs: No such file"),
    ("flex_jacobi", "--in-turn 0", 2, "--in-turn takes a whole number from 1"),
    ("flex_cg", "--kind round", 2, "--kind is elements or power"),
    ("flex_cg", "--file {missing}", 1, "missing: No such file"),
    ("flex_cg", "--file {two_triangles}", 1, "is no Matrix Market file"),
    ("flex_cg", "--file {array}", 1, "is no sparse matrix"),
    ("flex_cg", "--file {complex}", 1, "is complex"),
    ("flex_cg", "--file {skew}", 1, "is neither general nor symmetric"),
    ("flex_cg", "--file {not_square}", 1, "is not square"),
    ("flex_cg", "--file {too_many_rows}", 1, "has more than 2147483647 rows"),
    ("flex_cg", "--file {no_sizes}", 1, "ends before its sizes"),
    ("flex_cg", "--file {from_zero}", 1, "entry 1 is of row 0, column 0; both count from 1 to 2"),
    ("flex_cg", "--file {cut_short}", 1, "entry 2 of 2 cannot be read"),
    ("flex_cg", "--file {many_entries}", 1, "entry 2 of 5000000000 cannot be read"),
    ("flex_cg", "--file {hermitian}", 1, "is neither general nor symmetric"),
    ("flex_cg", "--file {negative_sizes}", 1, "has a line of sizes that is none"),
    ("flex_cg", "--file {word}", 1, "has a line of sizes that is none"),
    ("flex_cg", "--file {no_field}", 1, "has numbers of an unknown field"),
    ("flex_cg", "--file {damaged}", 1, "entry 2 of 2 cannot be read"),
    ("flex_cg", "--file {not_finite}", 1, "entry 1 is no finite number"),
    ("flex_cg", "--file {more}", 1, "there is more than its 2 entries"),
    ("flex_move", "--bytes 5", 2, "--bytes takes a whole number"),
    ("triangles", "--scale 99", 2, "--scale takes a whole number from 1 to 28"),
    ("triangles", "--file {missing}", 1, "missing: No such file"),
    ("triangles", "--file {folder}", 1, "Is a directory"),
    ("triangles", "--file {bad_word}", 1, "bad_word:3: expected two vertex numbers, found '4 five'"),
    ("triangles", "--file {one_number}", 1, "one_number:1: expected two vertex numbers"),
    ("triangles", "--file {three_numbers}", 1, "three_numbers:1: expected two vertex numbers"),
    ("triangles", "--file {negative}", 1, "negative:1: expected two vertex numbers"),
    ("triangles", "--file {too_large}", 1, "too_large:1: expected two vertex numbers"),
]

MARKET = "%%MatrixMarket matrix coordinate "
FILES = {
    "two_triangles": "# a comment\n10 20\n20 30\n30\t10\r\n\n20 40\n40 30\n30 40\n7 7\n",
    "bad_word": "1 2\n# fine\n4 five\n",
    "one_number": "1\n",
    "three_numbers": "1 2 3\n",
    "negative": "1 -2\n",
    "too_large": "1 99999999999999999999999\n",
    "symmetric": MARKET + "real symmetric\n% a comment\n\n3 3 5\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n3 2 -1\n",
    "pattern": MARKET + "pattern general\n2 2 2\n1 1\n2 2\n",
    "array": "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n1\n",
    "complex": MARKET + "complex general\n2 2 1\n1 1 2 0\n",
    "skew": MARKET + "real skew-symmetric\n2 2 1\n2 1 2\n",
    "not_square": MARKET + "real general\n2 3 1\n1 1 2\n",
    "too_many_rows": MARKET + "real general\n4294967296 4294967296 1\n1 1 2\n",
    "no_sizes": MARKET + "real general\n% nothing\n",
    "from_zero": MARKET + "real general\n2 2 2\n0 0 1\n1 1 1\n",
    "cut_short": MARKET + "real general\n2 2 2\n1 1 1\n2 2\n",
    "many_entries": MARKET + "real general\n2 2 5000000000\n1 1 1\n",
    "hermitian": MARKET + "real hermitian\n2 2 1\n1 1 2\n",
    "negative_sizes": MARKET + "real general\n-2 -2 1\n1 1 2\n",
    "word": MARKET + "real general\n2 two 1\n1 1 2\n",
    "no_field": MARKET + "quaternion general\n2 2 1\n1 1 2\n",
    "damaged": MARKET + "real general\n2 2 2\n1 1 1\n2 two 1\n",
    "not_finite": MARKET + "real general\n2 2 2\n1 1 nan\n2 2 1\n",
    "more": MARKET + "real general\n2 2 2\n1 1 1\n2 2 1\n2 1 1\n",
}

LIMIT = 180  # seconds, of a run: ranks that spin starve each other on a busy machine


def main():
    mpirun, programs = sys.argv[1:]
    failed = 0

    def run(ranks, flags, program, options):
        command = [mpirun, *flags, "-n", str(ranks), os.path.join(programs, program), "--json", *options.split()]
        return subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)

    def built(program):
        """Some are built only where clang, its plugin and its OpenMP are; one only where nettle is."""
        return not (program.endswith("_clang") or program == "tasks") or os.path.exists(os.path.join(programs, program))

    def check(good, what, done):
        nonlocal failed
        if not good:
            failed += 1
            print(f"FAILED: {what}\n  exit status {done.returncode}\n  stdout: {done.stdout}\n  stderr: {done.stderr}")

    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(content)
        paths = {name: os.path.join(folder, name) for name in [*FILES, "missing"]} | {"folder": folder}

        on = ["-workshare", "-workshare-quiet"]
        seen = set()
        for program, options in GOOD:
            # With other options only runs with the flag are left to try.
            more = [] if program in seen else [(1, on), (2, [])]
            seen.add(program)
            if not built(program):
                continue
            for ranks, flags in (*more, (2, on)):
                done = run(ranks, flags, program, options.format(**paths))
                try:
                    result = json.loads(done.stdout)
                    good = done.returncode == 0 and result["ranks"] == ranks and not done.stderr
                    good = good and ("two_triangles" not in options or result["triangles"] == 2)
                except ValueError:
                    good = False
                check(good, f"{program} {options} on {ranks} ranks, {flags}", done)
        for program, options, status, message in BAD:
            if not built(program):
                continue
            done = run(2, [], program, options.format(**paths))
            lines = done.stderr.strip().split("\n")
            check(done.returncode == status and len(lines) == 1 and message in lines[0], f"{program} {options}", done)
        for program in ("pingpong", "one_sided"):
            done = run(1, [], program, "")
            check(done.returncode == 2 and "needs 2 ranks, not 1" in done.stderr, f"{program} on 1 rank", done)
        # Ranks that share a core wait long for each other: few calls.
        few = "--batch 20"
        for program, options, ranks, flags in (("collectives", few, 2, on), ("collectives", "--batch 2", 3, []), ("one_sided", few, 2, on), ("one_sided", few, 2, []), ("handover", "", 2, on),
                                               ("handover", "", 2, []), ("double_loop_omp_gcc", "", 1, []), ("claim_cost_omp_gcc", "", 1, [])):
            done = run(ranks, flags, program, f"--repeats 2 {options}")
            result = json.loads(done.stdout) if done.returncode == 0 else {}
            check(result.get("ranks") == ranks and (program != "handover" or result["there_us"]["count"] == result["back_us"]["count"] == 2),
                  f"{program} {flags}", done)
        # By hand the loop is cut where both parts cost the same, and so in equal counts where each iteration does.
        cuts = [json.loads(run(2, [], "double_loop", f"--iterations 1000 --steps 1000 --repeats 1 --by-hand --shape {shape}").stdout)["first"]
                for shape in ("rising", "falling", "flat")]
        check(cuts == [[0, 707], [0, 293], [0, 500]], f"double_loop --by-hand: {cuts}", done)
        # Small programs: the same bits from each build, and on one rank and two.
        for program, options in (("blocks", ""), ("gradients", "--share 40"), ("particles", "--share 70"), ("refined", ""), ("chain", "--side 4")):
            found = set()
            for build, ranks, flags in (("plain", 1, []), ("plain", 2, []), ("ws", 2, []), ("ws", 1, on), ("ws", 2, on), ("omp", 1, [])):
                done = run(ranks, flags, f"{program}_{build}", f"{options} --repeats 1 --warmup 0")
                found.add(json.loads(done.stdout)["hash"] if done.returncode == 0 else done.stderr)
            check(len(found) == 1, f"{program}: one result of all builds, not {found}", done)
        for program, ranks, options in (("reorder_loop", 2, "--unit 1ms --repeats 1"),
                                        ("reorder_loop", 3, "--unit 1ms --repeats 1 --equal"),
                                        ("reorder_loop", 5, "--unit 1ms --repeats 1 --uneven --sleep"),
                                        ("reorder_loop", 2, "--unit 1ms --repeats 1 --rising --sleep"),
                                        ("reorder_product", 4, "--block 7 --repeats 1"), ("reorder_product", 1, "--sleep 1ms --repeats 1")):
            done = run(ranks, ["-bind-to", "core", "-workshare", "-workshare-quiet"], program, options)
            check(done.returncode == 0 and json.loads(done.stdout)["ranks"] == ranks, f"{program} {options}", done)
        done = run(8, ["-workshare", "-workshare-quiet"], "flex_resize", "--bytes 1048576 --iterations 3 --json")
        sizes = [(r["from"], r["to"]) for r in json.loads(done.stdout)["changes"]] if done.returncode == 0 else []
        check(sizes == [(2, 4), (4, 8), (8, 4), (4, 2)], "flex_resize", done)
        done = run(2, [], "flex_resize", "")
        check(done.returncode == 2 and "takes four ranks or more" in done.stderr, "flex_resize on 2 ranks", done)
        done = run(2, ["-workshare", "-workshare-quiet"], "flex_spawn", "--bytes 1048576 --iterations 2 --repeats 2 --json")
        if done.returncode == 77:   # MPICH 4 with ch4:ucx
            check("flex_spawn: this MPI starts no processes: " in done.stderr, "flex_spawn, which cannot start any", done)
        else:
            sizes = [(r["from"], r["to"]) for r in json.loads(done.stdout)["changes"]] if done.returncode == 0 else []
            check(sizes == 2 * [(2, 4), (4, 8), (8, 4), (4, 2)], "flex_spawn", done)
        done = run(2, ["-bind-to", "core"], "reorder_product", "")
        check(done.returncode == 2 and "needs a square number of ranks, not 2" in done.stderr, "reorder_product on 2 ranks", done)
        # The demo must count what ranks use as the job's own, not as others'.
        watch = disturbance.Watch(2)
        before = watch.read().own
        done = subprocess.run([mpirun, "-n", "2", sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"],
                              capture_output=True, text=True, timeout=LIMIT)
        check(watch.read().own - before >= 0.6, "the ranks' use of the CPUs", done)
        done = subprocess.run([os.path.join(programs, "flex_simulated"), "--ranks", "8", "--rows", "2000", "--iterations", "60", "--speeds", "1,3"], capture_output=True, text=True, timeout=LIMIT)
        simulated = json.loads(done.stdout) if done.returncode == 0 else {}
        check(simulated and simulated["moves"] > 0 and simulated["oracle_s"] < simulated["policy_s"] < simulated["equal_s"], "flex_simulated", done)
        done = subprocess.run([os.path.join(programs, "flex_simulated"), "--plan", "--ranks", "100"], capture_output=True, text=True, timeout=LIMIT)
        check(done.returncode == 0 and json.loads(done.stdout)["plan_us"] > 0, "flex_simulated --plan", done)
        for options, message in (("--ranks 0", "--ranks takes a whole number from 1"), ("--speeds 1,-1", "--speeds takes positive numbers"), ("--unit 5", "--unit takes a time"),
                                 ("--rows 3", "fewer people (3) than processes (4)")):
            done = subprocess.run([os.path.join(programs, "flex_simulated"), *options.split()], capture_output=True, text=True, timeout=LIMIT)
            check(done.returncode == 2 and message in done.stderr, f"flex_simulated {options}", done)
        done = subprocess.run([os.path.join(programs, "counter_cost"), "--seconds", "0.01"], capture_output=True, text=True, timeout=LIMIT)
        check(done.returncode == 77 or (done.returncode == 0 and done.stdout.count("\nphases of ") == 6), "counter_cost", done)
        done = run(1, [], "report_cost", "--ranks 100 --node 7 --loops 3")
        check(done.returncode == 0 and json.loads(done.stdout)["ranks"] == 100, "report_cost", done)
        done = run(1, [], "report_cost", "--ranks 0")
        check(done.returncode == 2 and "each number from 1" in done.stderr, "report_cost --ranks 0", done)
        done = run(1, [], "look_cost", "--ranks 128")
        check(done.returncode == 0 and json.loads(done.stdout)["ranks"] == 128, "look_cost", done)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
