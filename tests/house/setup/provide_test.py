# SPDX-License-Identifier: MIT
"""provide refuses what is not an MPICH that it has patches for with one message, and leaves nothing in the cache; its patches stay thin."""
import glob
import hashlib
import os
import shutil
import sys
import tarfile
import tempfile

from check import expect, expect_message, finish, run

PROVIDE = sys.argv[1]


def write(path, text=''):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)
    return path


with tempfile.TemporaryDirectory() as folder:
    cache = os.path.join(folder, 'cache')

    def refused(what, path, *parts):
        expect_message(what, run(PROVIDE, '--source', path, env={'XDG_CACHE_HOME': cache}), path, *parts)

    def tree(name, version, configure=True):
        top = os.path.join(folder, name)
        write(f'{top}/maint/version.m4', f'm4_define([MPICH_VERSION_m4],[{version}])dnl\n')
        if configure:
            os.chmod(write(f'{top}/configure', '#!/bin/sh\n'), 0o755)
        return top

    def tarball(top):
        with tarfile.open(f'{top}.tar.gz', 'w:gz') as tar:
            tar.add(top, os.path.basename(top))
        return f'{top}.tar.gz'

    other = os.path.dirname(write(f'{folder}/hello-1.0/configure'))
    refused('no such file', f'{folder}/absent.tar.gz', 'no such file')
    os.mkfifo(f'{folder}/pipe.tar.gz')
    refused('a pipe', f'{folder}/pipe.tar.gz', 'neither a file nor a folder')
    refused('not an archive', write(f'{folder}/notes.tar.gz', 'hello\n'), 'cannot be unpacked', '4.0.2')
    refused('another program', tarball(other), 'is not MPICH', '4.0.2')
    refused('folder of another program', other, 'is not MPICH', '4.0.2')
    refused('another version', tarball(tree('mpich-4.1', '4.1')), 'is MPICH 4.1', '4.0.2')
    refused('neither a release nor a checkout', tree('mpich-git', '4.0.2', configure=False), 'no configure', '4.0.2')
    checkout = tree('mpich-checkout', '5.0.1', configure=False)
    write(f'{checkout}/autogen.sh')
    os.makedirs(f'{folder}/played') # whether or not this machine has them
    for tool in 'autoconf', 'automake', 'libtoolize', 'm4':
        os.symlink('/bin/true', f'{folder}/played/{tool}')
    expect_message('a checkout without a submodule', run(PROVIDE, '--source', checkout,
                                                         env={'XDG_CACHE_HOME': cache, 'PATH': f'{folder}/played:' + os.environ['PATH']}),
                   checkout, 'modules/json-c', f'git -C {checkout} submodule update')
    os.makedirs(f'{folder}/tools')
    for tool in 'bash', 'dirname', 'realpath', 'mktemp', 'rm', 'sed', 'grep', 'awk', 'cut', 'tr', 'tail', 'find', 'automake':
        os.symlink(shutil.which(tool) or '/bin/true', f'{folder}/tools/{tool}')
    expect_message('a checkout without autoconf', run(PROVIDE, '--source', checkout, env={'XDG_CACHE_HOME': cache, 'PATH': f'{folder}/tools'}),
                   checkout, 'needs autoconf libtoolize m4 python3', 'release tarball')
    configured = tree('mpich-configured', '4.0.2')
    write(f'{configured}/config.status')
    refused('configured in place', configured, 'configured in place')
    code, out, err = run(PROVIDE, '--source', tree('mpich-changed', '4.0.2'), env={'XDG_CACHE_HOME': cache})
    expect_message('changed source', (code, out, err.splitlines()[-1]), f'{folder}/mpich-changed',
                   'patches/4.0/hooks/0001-blocked-hook-in-waits.patch', 'src/include/mpir_progress_hook.h')
    expect('left in the cache', [f for f in os.listdir(f'{cache}/workshare') if not f.endswith(('.logs', '.lock'))], [])

    # Two fixes of upstream's, one in the release already; configure shows the result, and fails.
    small = f'{folder}/small'
    os.makedirs(f'{small}/files')
    shutil.copy(PROVIDE, f'{small}/provide')
    shutil.copy(os.path.join(os.path.dirname(PROVIDE), 'versions'), small)
    for kind, old, new in ('hooks', 'a', 'A'), ('upstream', 'b', 'B'), ('upstream', 'c', 'C'):
        write(f'{small}/patches/4.0/{kind}/{old}.patch', f'--- a/{old}\n+++ b/{old}\n@@ -1 +1 @@\n-{old}\n+{new}\n')
    for letters in 'abC', 'Abc':
        released = tree(f'mpich-{letters}', '4.0.2')
        for letter in letters:
            write(f'{released}/{letter.lower()}', f'{letter}\n')
        write(f'{released}/configure', '#!/bin/sh\ncd ../src && echo patched $(cat a b c) && exit 1\n')
        code, out, err = run(f'{small}/provide', '--source', released, env={'XDG_CACHE_HOME': cache})
        if letters == 'abC':
            expect(f'a fix that the release has: {err!r}', (code != 0, 'patched A B C' in err), (True, True))
        else:
            expect_message('a hook that it has', (code, out, err.splitlines()[-1]), released, 'patches/4.0/hooks/a.patch')

    blank = os.path.join(folder, 'a blank')
    expect_message('blank in the cache path', run(PROVIDE, env={'XDG_CACHE_HOME': blank}), blank, 'XDG_CACHE_HOME')
    for device in 'ch3', 'ch3:nemesis', 'ch3:sock':
        for check in [], ['--check']:
            expect_message('a device without the hooks', run(PROVIDE, *check, '--configure', f'--with-device={device}',
                                                             env={'XDG_CACHE_HOME': cache}), device, 'mpich_configure', 'ch4')
    for option in '--with-device=ch4:ofi', '--with-ch4-shmmods=posix':
        expect('an option that is fine', run(PROVIDE, '--check', '--configure', option)[0], 0)
    expect_message('unknown argument', run(PROVIDE, '--sauce', 'x'), '--sauce')

    for series in 'auto', '4.0':
        expect(f'-Dmpich={series}', run(PROVIDE, '--check', '--mpich', series), (0, '4.0.2\n', ''))
    expect('-Dmpich=4.2', run(PROVIDE, '--check', '--mpich', '4.2'), (0, '4.2.1\n', ''))
    expect('-Dmpich=5.0', run(PROVIDE, '--check', '--mpich', '5.0'), (0, '5.0.2\n', ''))
    for release in '4.2.0', '4.2.1', '4.2.2', '4.2.3', '5.0.0', '5.0.1', '5.0.2':
        expect('the version of the source', run(PROVIDE, '--check', '--source', tree(f'mpich-{release}', release)), (0, f'{release}\n', ''))
    other = tree('mpich-other', '4.0.2')
    expect_message('a source of another series', run(PROVIDE, '--check', '--mpich', '4.2', '--source', other), other, 'is MPICH 4.0.2', 'for MPICH 4.2.1')
    expect_message('no such version', run(PROVIDE, '--check', '--mpich', '3.4'), "'3.4'", 'auto, 4.0, 4.2, 5.0')
    strange = tarball(tree('mpich-4.0.2', '4.0.2'))
    code, out, err = run(PROVIDE, '--check', '--source', strange)
    expect(f'a tarball of another checksum: {err!r}', (code, out, err.count('\n'), f'{strange} is not the known tarball' in err), (0, '4.0.2\n', 1, True))
    expect('an unpacked folder has no checksum', run(PROVIDE, '--check', '--source', strange[:-len('.tar.gz')]), (0, '4.0.2\n', ''))

# auto on Debian 13, where apt fetches nothing: its 4.2.1 is given up for a day, and 4.0.2 tried. Wants root, for another /etc/os-release.
with tempfile.TemporaryDirectory() as folder:
    release = write(f'{folder}/os-release', 'ID=debian\nVERSION_CODENAME=trixie\n')
    os.chmod(write(f'{folder}/bin/apt-get', '#!/bin/sh\nexit 1\n'), 0o755)
    there = {'PATH': f'{folder}/bin:{os.environ["PATH"]}', 'XDG_CACHE_HOME': f'{folder}/cache'}
    given_up = f'{folder}/cache/workshare/mpich-4.2.1.fails'

    def on_debian_13(*command):
        return run('unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/os-release && exec "$@"', release, *command, env=there)

    if on_debian_13('true')[0] == 0:
        expect('auto on Debian 13', on_debian_13(PROVIDE, '--check'), (0, '4.2.1\n', ''))
        code, out, err = on_debian_13(PROVIDE)
        expect(f'neither can be had: {err!r}', (code != 0, out, 'that was MPICH 4.2.1' in err, 'mpich-4.0.2-' in err.splitlines()[-1],
                                                os.path.exists(given_up)), (True, '', True, True, True))
        expect('it is remembered', on_debian_13(PROVIDE, '--check'), (0, '4.0.2\n', ''))
        os.utime(given_up, (0, 0))
        expect('for a day', on_debian_13(PROVIDE, '--check'), (0, '4.2.1\n', ''))
        write(release, 'ID=debian\nVERSION_CODENAME=forky\n')
        expect('auto on a newer Debian', on_debian_13(PROVIDE, '--check'), (0, '5.0.2\n', ''))

# tools/dev/debian-source with apt configurations that name a release twice, once with the key that signs it. apt takes the entry without a key if
# it comes first; it takes no two keys. Wants root, for another /etc/apt.
with tempfile.TemporaryDirectory() as folder:
    def about(path, text):
        write(f'{folder}/repo/{path}', text)
        return f' {hashlib.sha256(text.encode()).hexdigest()} {len(text)} {os.path.basename(path)}\n'

    def release(name, version):
        files = about(f'pool/hello_{version}-1.dsc', f'Version: {version}-1\n') + about(f'pool/hello_{version}.orig.tar.gz', 'x')
        sources = f'Package: hello\nBinary: hello\nVersion: {version}-1\nFormat: 3.0 (quilt)\nDirectory: pool\nChecksums-Sha256:\n{files}\n'
        index = about(f'dists/{name}/main/source/Sources', sources).replace('Sources', 'main/source/Sources')
        write(f'{folder}/repo/dists/{name}/Release', f'Suite: {name}\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nComponents: main\nSHA256:\n{index}')

    def keyed(key, name='one'):
        return f'Types: deb\nURIs: file:{folder}/repo\nSuites: {name}\nComponents: main\nTrusted: yes\nSigned-By: {folder}/{key}.gpg\n'

    release('one', '1.0')
    release('two', '2.0')
    plain = f'deb [trusted=yes] file:{folder}/repo one main\n'
    etc, command = f'{folder}/etc', os.path.join(os.path.dirname(PROVIDE), '../../tools/dev/debian-source')
    for key in 'a', 'b':
        write(f'{folder}/{key}.gpg')
    os.makedirs(f'{etc}/apt.conf.d')
    os.makedirs(f'{etc}/preferences.d')
    there = ('unshare', '-m', 'sh', '-c', 'mount --bind "$0" /etc/apt && exec "$@"', etc)
    if shutil.which('apt-get') and run(*there, 'true')[0] == 0:
        for what, main, parts, version in (
                ('a key in one of two files', plain, {'debian.sources': keyed('a')}, '1.0'),
                ('two keys', plain, {'a.sources': keyed('a'), 'b.sources': keyed('b')}, '1.0'),
                ('two keys, and another release', '', {'a.sources': keyed('a'), 'b.sources': keyed('b'), 'c.sources': keyed('a', 'two')}, '2.0')):
            shutil.rmtree(f'{etc}/sources.list.d', ignore_errors=True)
            write(f'{etc}/sources.list', main)
            for name, text in parts.items():
                write(f'{etc}/sources.list.d/{name}', text)
            into = f'{folder}/into {version} {what}'
            done = run(*there, command, '--version', version, 'hello', into)
            got = sorted(os.listdir(into)) if os.path.isdir(into) else done
            expect(f'debian-source, {what}: {done}', (done[0], got), (0, [f'hello_{version}-1.dsc', f'hello_{version}.orig.tar.gz']))

code, out, err = run(PROVIDE, '--lines')
expect('--lines', (code, err, bool(out)), (0, '', True))
# Hooks are the fork; upstream holds fixes that any user of this MPICH needs. Most of those for 4.0.2 are in later releases.
for line in out.splitlines():
    series, kind, lines = line.split()
    expect(f'lines that patches/{series}/{kind} adds to MPICH\'s own files: {lines}', 0 < int(lines) < {'hooks': 120, 'upstream': 350 if series == '4.0' else 250}[kind], True)
    if shutil.which('git'):
        patches = glob.glob(f'{os.path.dirname(PROVIDE)}/patches/{series}/{kind}/*.patch')
        expect('as git counts', int(lines), sum(int(row.split()[0]) for row in run('git', 'apply', '--numstat', *patches)[1].splitlines()))
finish()
