#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completion for fish and zsh, on stdout, from the option table and the lists in workshare.bash:

  generate.py fish COMMAND OPTIONS.TXT WORKSHARE.BASH    vendor_completions.d/COMMAND.fish
  generate.py zsh OPTIONS.TXT WORKSHARE.BASH             site-functions/_workshare, for all commands
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../runtime/options'))
sys.dont_write_bytecode = True
import generate as table  # noqa: E402

LAUNCHERS = 'mpirun', 'mpiexec', 'mpiexec.hydra'
WRAPPERS = 'mpicc', 'mpicxx', 'mpic++', 'mpifort', 'mpif77', 'mpif90'
TOOLS = 'ws-top', 'ws-timeline', 'ws-report', 'ws-doctor'


def lists_of(bash):
    """The words of each variable _workshare_NAME_options."""
    with open(bash) as f:
        return {name: words.split() for name, words in re.findall(r"^_workshare_(\w+)_options='([^']*)'", f.read(), re.M)}


def ours(path):
    """(option, help, words of its value or None if it takes none, whether that is a file) of each option of mpirun's; of two with one name that with
    a value."""
    found = {}
    for o in table.read(path):
        if o.name and (o.name not in found or o.placeholder):
            found[o.name] = (o.name, ' '.join(o.help), o.words if o.placeholder and '[' not in o.placeholder else None, o.kind == 'file')
    return found.values()


def of_workshare(path):
    """The same options as `workshare` has them: --NAME for -workshare-NAME."""
    return [('-' + name.removeprefix('-workshare'), *rest) for name, *rest in ours(path) if name != '-workshare']


def lists_for(command, lists):
    return lists['hydra' if command in LAUNCHERS else 'mpicc' if command in WRAPPERS else command.removeprefix('ws-')]


def fish(command, options, bash):
    def quoted(text):
        return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"
    print(f'# SPDX-License-Identifier: MIT\n# Completion of {command} for fish; made when Workshare was built.')
    if command in LAUNCHERS or command == 'workshare':
        for name, says, words, is_file in ours(options) if command in LAUNCHERS else of_workshare(options):
            value = '' if words is None else ' -x -a ' + quoted(' '.join(words)) if words else ' -r' if is_file else ' -x'
            print(f'complete -c {command} {name.replace("--", "-l ") if name.startswith("--") else "-o " + name[1:]}{value} -d {quoted(says)}')
    for word in lists_for(command, lists_of(bash)):
        if word.startswith('--'):
            print(f'complete -c {command} -l {word[2:]}')
        elif command in WRAPPERS:
            print(f"complete -c {command} -n 'string match -q -- \"-*\" (commandline -ct)' -a {word}")
        else:
            print(f'complete -c {command} -o {word[1:]}')


def zsh(options, bash):
    def says(text):
        return re.sub(r"([\[\]:\\])", r'\\\1', text).replace("'", "'\\''")
    lists = lists_of(bash)
    print(f'#compdef {" ".join(LAUNCHERS + WRAPPERS + TOOLS)} workshare\n# SPDX-License-Identifier: MIT\n# Completion for zsh; made when Workshare was built.\n\ncase $service in')
    for commands, known, more in (LAUNCHERS, ours(options), lists['hydra']), (['workshare'], of_workshare(options), lists['workshare']):
        print(f'{"|".join(commands)})\n    _arguments \\')
        for name, text, words, is_file in known:
            value = '' if words is None else f':value:({" ".join(words)})' if words else ':value:_files' if is_file else ':value: '
            print(f"        '{name}{'=' * bool(value)}[{says(text)}]{value}' \\")
        for word in more:
            print(f"        '{word}' \\")
        print("        '(-)1:program:_files' '*::argument:_files'\n    ;;")
    print(f'{"|".join(WRAPPERS)})\n    if [[ $words[CURRENT] = -* ]]; then compadd -- {" ".join(lists["mpicc"])}; else _files; fi\n    ;;')
    for tool in TOOLS:
        print(f'{tool}) if [[ $words[CURRENT] = -* ]]; then compadd -- {" ".join(lists_for(tool, lists))}; else _files; fi ;;')
    print('esac')


if __name__ == '__main__':
    if len(sys.argv) < 4 or sys.argv[1] not in ('fish', 'zsh'):
        sys.exit(__doc__)
    globals()[sys.argv[1]](*sys.argv[2:])
