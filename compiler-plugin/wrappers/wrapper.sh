# SPDX-License-Identifier: MIT
#
# Sourced by mpicc, mpicxx and mpifort for -fws, once the compiler ($CC, perhaps with options) is settled. ws_options
# (an array) has -fws and its variants as the user gave them, allargs the other arguments, ws_language is c, c++ or
# fortran, libdir the prefix's. Sets ws_cflags to what the compiler needs for `#pragma ws` and adds libws to ws_libs
# (arrays). A plugin fits one version of one compiler and lies in workshare/<compiler>-<major version>/. Runs at each
# compilation: two starts of the compiler's driver, about 2 ms.

ws_folder=$libdir/workshare
ws_arguments=()     # for the plugin
for ws_option in "${ws_options[@]}"; do
    case $ws_option in
    -fws) ;;
    -fws=openmp)
        ws_arguments+=(openmp-loops)
        allargs=(-fopenmp "${allargs[@]}")
        ;;
    -fws-report) ws_arguments+=(report) ;;
    -fws-warn=no-thread-number | -fws-warn=no-thread-variable | -fws-warn=no-computed-goto) ws_arguments+=("${ws_option/#-fws-warn=/warn-}") ;;
    -fws-warn=*)
        echo "${0##*/}: unknown option '$ws_option'; expected no-thread-number, no-thread-variable or no-computed-goto" >&2
        exit 1
        ;;
    *)
        echo "${0##*/}: unknown option '$ws_option'; expected -fws, -fws=openmp, -fws-report or -fws-warn=no-NAME" >&2
        exit 1
        ;;
    esac
done

# Warnings as the compilers name theirs, which do not know ours: the last one counts, as with them.
ws_rest=()
for ws_option in "${allargs[@]}"; do
    case $ws_option in
    -Wno-ws-thread-number | -Wno-ws-thread-variable | -Wno-ws-computed-goto) ws_arguments+=("warn-no-${ws_option#-Wno-ws-}") ;;
    -Werror=ws-thread-number | -Werror=ws-thread-variable | -Werror=ws-computed-goto) ws_arguments+=("warn-error-${ws_option#-Werror=ws-}") ;;
    -Wws-* | -Wno-ws-* | -Werror=ws-* | -Wno-error=ws-*)
        echo "${0##*/}: unknown option '$ws_option'; expected -Wno-ws-NAME or -Werror=ws-NAME for thread-number, thread-variable or computed-goto" >&2
        exit 1
        ;;
    *) ws_rest+=("$ws_option") ;;
    esac
done
allargs=("${ws_rest[@]}")

ws_version=$(LC_ALL=C $CC --version 2>&1) || {
    ws_version=${ws_version%%$'\n'*}
    echo "${0##*/}: -fws: the compiler '$CC' does not run: ${ws_version##*: line [0-9]*: }" >&2
    exit 1
}
# Not by the name, as `cc` can be anything; others define GCC's macros and print GCC's version.
ws_plugin=
case $ws_version in
*"Free Software Foundation"*)
    ws_number=$($CC -dumpfullversion -dumpversion)
    ws_found="GCC $ws_number"
    ws_name=ws_gcc
    ws_plugin=$ws_folder/gcc-${ws_number%%.*}/ws_gcc.so
    ;;
*clang\ version*)
    ws_number=${ws_version#*clang version }
    ws_number=${ws_number%%[!0-9.]*}
    ws_found="clang $ws_number"
    ws_name=ws
    # Apple's has version numbers of its own.
    case $ws_version in
    *Apple*) ws_found="Apple $ws_found" ;;
    *) ws_plugin=$ws_folder/clang-${ws_number%%.*}/ws_clang.so ;;
    esac
    ;;
*)
    ws_found=${ws_version%%$'\n'*}
    ;;
esac

# Clang's plugin knows C and C++.
[ "$ws_language" != fortran ] || [ "${ws_name-}" = ws_gcc ] || ws_plugin=

if [ ! -e "$ws_plugin" ]; then
    ws_known=
    for ws_plugin in "$ws_folder"/gcc-*/ws_gcc.so "$ws_folder"/clang-*/ws_clang.so; do
        [ -e "$ws_plugin" ] || continue
        [[ $ws_language != fortran || $ws_plugin = */ws_gcc.so ]] || continue
        ws_plugin=${ws_plugin%/*}
        ws_plugin=${ws_plugin##*/}
        case $ws_plugin in
        gcc-*) ws_plugin="GCC ${ws_plugin#gcc-}" ;;
        clang-*) ws_plugin="clang ${ws_plugin#clang-}" ;;
        esac
        ws_known=$ws_known${ws_known:+ or }$ws_plugin
    done
    # The versions that meson.build knows a plugin for, and that were not there when this was built.
    ws_hint=
    case $ws_language,$ws_found in
    *,GCC\ 1[1-6].*) ws_hint="; install gcc-${ws_number%%.*}-plugin-dev and build Workshare again, for its plugin" ;;
    fortran,*) ;;
    *,clang\ 1[4-9].* | *,clang\ 2[01].*)
        ws_number=${ws_number%%.*}
        ws_hint="; install clang-$ws_number, libclang-$ws_number-dev and llvm-$ws_number-dev and build Workshare again, for its plugin"
        ;;
    esac
    echo "${0##*/}: -fws needs ${ws_known:-a plugin, and none is installed} (found ${ws_found:-something unknown} as '$CC')$ws_hint" >&2
    exit 1
fi

ws_cflags=("-fplugin=$ws_plugin")
if [ "$ws_name" = ws ]; then
    # Clang itself is told of OpenMP in any case; the plugin, whether the user wants it.
    ws_openmp=
    for ws_option in $CC "${allargs[@]}"; do
        case $ws_option in
        -fopenmp=libgomp | -fno-openmp) ws_openmp= ;;
        -fopenmp | -fopenmp=*) ws_openmp=yes ;;
        esac
    done
    if [ -n "$ws_openmp" ]; then
        ws_arguments+=(openmp)
        ws_cflags+=("-fpass-plugin=$ws_plugin" -Xclang -fopenmp)
    else
        ws_cflags+=("-fpass-plugin=$ws_plugin" -Xclang -fopenmp -U_OPENMP)
    fi
    # Also for links and for sources that no plugin is needed for.
    ws_cflags=(--start-no-unused-arguments "${ws_cflags[@]}")
fi
for ws_argument in "${ws_arguments[@]}"; do
    ws_cflags+=("-fplugin-arg-$ws_name-$ws_argument")
done
[ "$ws_name" = ws_gcc ] || ws_cflags+=(--end-no-unused-arguments)
ws_libs+=("-lws${ws_abi-}")

if [ "$ws_language" = fortran ]; then
    . "$ws_folder/fortran.sh"
fi
