# SPDX-License-Identifier: MIT
"""embed.py NAME FILE: a header on stdout with the file's text as the constant ws::observe::NAME."""
import sys

name, path = sys.argv[1:]
with open(path, encoding='utf-8') as f:
    text = f.read()
print(f'// SPDX-License-Identifier: MIT\n// Made of {path.rsplit("/", 1)[-1]} when Workshare is built.\n#pragma once\n\nnamespace ws::observe {{\n\nconstexpr char {name}[] =')
for line in text.split('\n'):
    print('    "' + line.replace('\\', '\\\\').replace('"', '\\"').replace('?', '\\?') + '\\n"')
print('    ;\n\n}')
