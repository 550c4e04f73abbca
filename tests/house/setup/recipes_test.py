# SPDX-License-Identifier: MIT
"""The Containerfile and the Spack recipe that ./setup package makes: read without podman and Spack, for what they say of this project."""
import os
import re
import sys
import tempfile
import types

from check import expect, finish, run

PACKAGE, STAGE = sys.argv[1:]
TOP = os.path.dirname(os.path.dirname(os.path.dirname(PACKAGE)))
# What Debian's packages are to Spack; what it brings itself, or with its compilers.
SPACK = {'gcc': 'c', 'g++': 'cxx', 'gfortran': 'fortran', 'pkg-config': 'pkgconfig', 'python3': 'python', 'ninja-build': 'ninja', 'libucx-dev': 'ucx',
         'libhwloc-dev': 'hwloc', 'libatomic-ops-dev': 'libatomic-ops', 'libboost-dev': 'boost', 'libboost-context-dev': 'boost', 'nlohmann-json3-dev': 'nlohmann-json',
         'libcli11-dev': 'cli11', 'libelf-dev': 'elfutils'}
WITHOUT = {'libc6-dev', 'gcc-%g-plugin-dev', 'make', 'patch', 'xz-utils'}


def spack_package():
    """A module in the place of Spack's, which notes what a recipe says."""
    module = types.ModuleType('spack.package')
    module.said = []
    for name in 'license', 'version', 'provides', 'variant', 'depends_on', 'requires', 'resource':
        setattr(module, name, lambda *a, _name=name, **k: module.said.append((_name, a, k)))
    module.MesonPackage, module.join_path = object, os.path.join
    return module


with open(f'{STAGE}/share/workshare/version') as f:
    version = f.read().strip()
with tempfile.TemporaryDirectory() as folder:
    code, out, err = run(PACKAGE, STAGE, folder, 'recipes')
    expect(f'package recipes: {err}', (code, out.split()), (0, [f'{folder}/Containerfile', f'{folder}/spack/packages/workshare/package.py']))
    with open(f'{folder}/Containerfile') as f:
        container = f.read()
    with open(f'{folder}/spack/packages/workshare/package.py') as f:
        recipe = f.read()

with tempfile.TemporaryDirectory() as folder:   # as on a system without git
    code, _, err = run(sys.executable, PACKAGE, STAGE, folder, 'recipes', env={'PATH': folder})
    expect(f'package recipes, without git: {err}', code, 0)

expect('words that were not filled in', re.findall('@[A-Z]+@', container + recipe), [])
expect('the image begins with a system', re.findall(r'^FROM (\S+)$', container, re.M)[0].split(':')[0], 'docker.io/library/debian')
expect('and installs our packages', [name for name in (f'workshare_{version}_', f'workshare-dev_{version}_') if name in container],
       [f'workshare_{version}_', f'workshare-dev_{version}_'])

stub = spack_package()
sys.modules['spack'], sys.modules['spack.package'] = types.ModuleType('spack'), stub
names = {}
exec(compile(recipe.replace('from spack.package import *', 'from spack.package import MesonPackage, depends_on, join_path, license, provides, '
                            'requires, resource, variant, version'), 'package.py', 'exec'), names)
said = {kind: [(a, k) for name, a, k in stub.said if name == kind] for kind, _, _ in stub.said}
expect('the version', (version,) in [a for a, _ in said['version']], True)
(_, mpich), = said['resource']
with open(f'{TOP}/runtime/mpich/versions') as f:
    rows = [line.split() for line in f if not line.startswith('#')]
expect("MPICH's tarball is one that provide knows", [row[1] for row in rows if mpich['sha256'] in row[3:] and f'/mpich-{row[1]}.tar.gz' in mpich['url']], ['4.0.2'])
with open(f'{TOP}/tools/dev/packages.txt') as f:
    needed = [line.split()[2] for line in f if line.startswith('build ') and line.split()[1] == 'must']
depends = {a[0].split('@')[0].split('+')[0] for a, _ in said['depends_on']}
expect('packages that a build needs and the recipe does not know', [apt for apt in needed if SPACK.get(apt, apt) not in depends | WITHOUT], [])
with open(f'{TOP}/compiler-plugin/meson.build') as f:
    versions = [int(v) for v in re.findall(r"'(\d+)'", re.search('foreach version : (.*1.*)\n    other', f.read())[1])]
(compiler,), _ = said['requires'][0]
expect('the versions of GCC that there is a plugin for', compiler, f'%gcc@{versions[0]}:{versions[-1]}')
package = names['Workshare']()
package.stage = types.SimpleNamespace(source_path='/src', path='/stage')
with open(f'{TOP}/meson_options.txt') as f:
    options = re.findall(r"^option\('(\w+)'", f.read(), re.M)
for argument in package.meson_args():
    expect(f'an option of Meson\'s: {argument}', re.match(r'-D(\w+)=', argument)[1] in options, True)
finish()
