# SPDX-License-Identifier: MIT
#
# Sourced by the scripts here, which set `folder` and `keep` before: bare systems in chroots.

skip() { echo "$*"; exit 77; }

[ "$(id -u)" = 0 ] || skip "a chroot is made by root only"
command -v debootstrap >/dev/null || skip "debootstrap is missing"
unshare -m true 2>/dev/null || skip "no mount namespace can be made here"
# shellcheck disable=SC2016  # apt's variable
mirror=${WS_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n1)}
[ -n "$mirror" ] || skip "apt has no source with Debian's packages; set WS_DEBIAN_MIRROR"

# make_system SUITE NAME: sets `root` to a minimal system without package lists, which goes when the script ends.
make_system() {
    root=$folder/$2
    mkdir -p "$folder"
    [ ! -e "$root" ] || { echo "$0: $root is there already; remove it" >&2; exit 1; }
    trap '[ -n "$keep" ] || rm -rf --one-file-system "$root"' EXIT
    debootstrap --variant=minbase "$1" "$root" "$mirror" >"$folder/$2.log" 2>&1 || { tail -n 5 "$folder/$2.log" >&2; exit 1; }
    rm -rf "$root"/var/lib/apt/lists/*
    # A mirror may have an older state of a suite that changes daily.
    echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/mirror-that-stands"
    echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
}

# use_system NAME: the same, with a system that was kept.
use_system() {
    root=$folder/$1
    [ -x "$root/usr/bin/env" ] || { echo "$0: there is no system at $root" >&2; exit 1; }
    trap '[ -n "$keep" ] || rm -rf --one-file-system "$root"' EXIT
}

# inside COMMAND...: in the system, with what a container has; nobody answers its questions. The mounts are in a namespace of its own: none is left, however it ends.
inside() {
    # shellcheck disable=SC2016  # of the inner shell
    unshare -m --propagation private bash -c '
        root=$1
        shift
        mount --bind "$root" "$root"    # a mount is what programs find as / elsewhere, too
        mount -t proc proc "$root/proc"
        mount --rbind /sys "$root/sys"
        mount --rbind /dev "$root/dev"
        mount -t tmpfs shm "$root/dev/shm"
        exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"' bash "$root" "$@" </dev/null
}
