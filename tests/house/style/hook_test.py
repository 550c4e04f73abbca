#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hook_test.py SOURCE: the hook that formats what is committed, in a repository of its own."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1]).resolve()
LONG = 'int main(void)\n{\n    return ' + ' + '.join(f'a_rather_long_name_{i}' for i in range(9)) + ';\n}\n'

with tempfile.TemporaryDirectory(prefix="a hook's ") as folder:
    at = pathlib.Path(folder)
    environment = {'PATH': os.environ['PATH'], 'HOME': folder}

    def git(*words, **more):
        done = subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', *words], cwd=at, env={**environment, **more}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        assert done.returncode == 0, (words, done.stdout)
        return done.stdout

    def longest(name):
        return max(map(len, git('show', f'HEAD:{name}').splitlines()))

    git('init', '-q')
    (at / 'tools/dev').mkdir(parents=True)
    shutil.copy(SOURCE / 'tools/dev/format', at / 'tools/dev/format')
    shutil.copy(SOURCE / '.clang-format', at)
    shutil.copytree(SOURCE / '.githooks', at / '.githooks')
    git('config', 'core.hooksPath', '.githooks')

    if shutil.which('clang-format'):
        (at / "a file's.c").write_text(LONG)
        git('add', '-A')
        said = git('commit', '-qm', 'formatted')
        assert longest("a file's.c") <= 120 and "a file's.c is formatted now" in said, said

        # Staged in part: what is committed is what was staged, and the rest stays in the working tree.
        (at / 'part.c').write_text(LONG)
        git('add', 'part.c')
        (at / 'part.c').write_text(LONG + '// more\n')
        said = git('commit', '-qm', 'in part')
        assert longest('part.c') > 120 and 'part.c is staged in part' in said, said
        assert (at / 'part.c').read_text() == LONG + '// more\n' and '// more' not in git('show', 'HEAD:part.c')

    # Nothing is refused where a tool is missing.
    bare = at / 'bare'
    bare.mkdir()
    for tool in 'bash', 'env', 'git', 'python3':
        (bare / tool).symlink_to(shutil.which(tool))
    (at / 'other.c').write_text(LONG)
    git('add', 'other.c')
    said = git('commit', '-qm', 'as it is', PATH=str(bare))
    assert longest('other.c') > 120 and 'clang-format is missing' in said, said
print('ok')
