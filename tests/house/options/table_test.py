# SPDX-License-Identifier: MIT
"""The table of options: generate.py refuses one that contradicts itself and says where; an option that is added to it is in all that
follows from it, and nothing else has to be touched."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from expectation import conclude, equal  # noqa: E402

SOURCE = sys.argv[1]
FOLDER = f'{SOURCE}/runtime/options'


def generated(mode, text, *args):
    with tempfile.NamedTemporaryFile('w', suffix='.txt') as f:
        f.write(text)
        f.flush()
        done = subprocess.run([sys.executable, f'{FOLDER}/generate.py', mode, f.name, *args], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr.replace(f.name, 'FILE')


with open(f'{FOLDER}/options.txt') as f:
    table = f.read()
NEW = ['variable WS_LIMIT', 'option -workshare-limit {n}', 'kind number 3 7 seconds', 'default 4', 'policy steal', 'help what is new', 'about What is new.']
LONGER = table + '\n'.join(NEW) + '\n'
code, out, error = generated('header', LONGER)
equal('libws', (code, error, 'unsigned limit = 4;' in out, 'f(option_rows[' in out.rpartition('o.limit')[0][-40:]), (0, '', True, True))
code, out, error = generated('installed', LONGER)
equal('mpiexec', (code, error, out.endswith('\nvariable WS_LIMIT\noption -workshare-limit {n}\nkind number 3 7\n'
                                             'wanted a number of seconds from 3 to 7\nhelp what is new\n')), (0, '', True))
code, out, error = generated('man', LONGER, f'{SOURCE}/docs/man/workshare.1.scd')
equal('the man page', (code, error, '*-workshare-limit* _N_\n\tWhat is new. From 3 to 7 seconds; 4 if not given. (WS_LIMIT)\n' in out), (0, '', True))

line = table.count('\n') + 1     # of the option
for change, message in (({6: ''}, f'FILE:{line}: WS_LIMIT lacks its policy, help or about'),
                        ({3: 'default 8'}, f'FILE:{line}: WS_LIMIT has no right default (8)'),
                        ({2: 'kind numbr 3 7'}, f'FILE:{line}: WS_LIMIT is of no kind (numbr 3 7)'),
                        ({4: 'policy steel'}, f'FILE:{line}: WS_LIMIT lacks its policy'),
                        ({0: 'variable WS_SPIN'}, 'WS_SPIN is there twice'),
                        ({1: 'optoin -workshare-limit'}, f"FILE:{line + 1}: 'optoin' is none of"),
                        ({1: 'kind flag'}, f"FILE:{line + 2}: 'kind' is none of"),
                        ({3: 'default 4\nneeds -workshare-old'}, f'FILE:{line}: WS_LIMIT needs -workshare-old, and there is no such option'),
                        ({3: 'default 4\nformer WS_OLD -workshare-old'}, f'FILE:{line}: WS_LIMIT has former names that are not'),
                        ({3: 'default 4\nformer_word two twice'}, f'FILE:{line}: WS_LIMIT has a former word'),
                        ({3: 'default many\nwords many\nformer_word some many WS_OLD'}, f'FILE:{line}: WS_LIMIT has a former word with WS_OLD, and there is'),
                        ({2: 'kind words'}, f'FILE:{line}: WS_LIMIT lacks its words'),
                        ({2: 'kind file\nendings .a .b .c .d .e'}, f'FILE:{line}: WS_LIMIT has more than four endings'),
                        ({3: 'default 4\nmpi_t SOME'}, f'FILE:{line}: WS_LIMIT has a word that is not known')):
    code, out, error = generated('installed', table + '\n'.join(change.get(i, text) for i, text in enumerate(NEW)) + '\n')
    equal(f'{change}', (code, out, message if message in error else error), (1, '', message))
conclude()
