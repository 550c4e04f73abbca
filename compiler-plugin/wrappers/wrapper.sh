# SPDX-License-Identifier: MIT
#
# Sourced by mpicc and mpicxx for -fws, once the compiler ($CC, perhaps with options) is settled. Sets ws_cflags to
# what the compiler needs for `#pragma ws` and adds libws to ws_libs (arrays); libdir is the prefix's. A plugin fits
# one version of one compiler and lies in workshare/<compiler>-<major version>/. Runs at each compilation: two
# starts of the compiler's driver, about 2 ms.

ws_folder=$libdir/workshare
ws_version=$(LC_ALL=C $CC --version 2>&1) || {
    ws_version=${ws_version%%$'\n'*}
    echo "${0##*/}: -fws: the compiler '$CC' does not run: ${ws_version##*: line [0-9]*: }" >&2
    exit 1
}
# Not by the name, as `cc` can be anything; others define GCC's macros and print GCC's version.
case $ws_version in
*"Free Software Foundation"*)
    ws_number=$($CC -dumpfullversion -dumpversion)
    ws_found="GCC $ws_number"
    ws_plugin=$ws_folder/gcc-${ws_number%%.*}/ws_gcc.so
    ;;
*clang\ version*)
    ws_number=${ws_version#*clang version }
    ws_found="clang ${ws_number%%[!0-9.]*}"
    ws_plugin=
    ;;
*)
    ws_found=${ws_version%%$'\n'*}
    ws_plugin=
    ;;
esac

if [ ! -e "$ws_plugin" ]; then
    ws_known=
    for ws_plugin in "$ws_folder"/gcc-*/ws_gcc.so; do
        ws_plugin=${ws_plugin%/ws_gcc.so}
        [ ! -e "$ws_plugin" ] || ws_known="$ws_known${ws_known:+ or }GCC ${ws_plugin##*/gcc-}"
    done
    echo "${0##*/}: -fws needs ${ws_known:-a plugin, and none is installed} (found ${ws_found:-something unknown} as '$CC')" >&2
    exit 1
fi
ws_cflags=("-fplugin=$ws_plugin")
ws_libs+=(-lws)
