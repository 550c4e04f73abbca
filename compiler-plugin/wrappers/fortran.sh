# SPDX-License-Identifier: MIT
#
# Sourced by wrapper.sh for mpifort, when the plugin is settled. gfortran takes no new directives from a plugin, so
# each source among allargs is preprocessed where it must be and given to ws_fortran, which writes `!$ws` as what the
# plugin understands. The results lie in a folder of their own until the script ends; a command in which nothing has
# `!$ws` is left as it is. $CC is gfortran; adds to ws_cflags and changes allargs (arrays).

ws_stop() {
    echo "${0##*/}: -fws: $*" >&2
    exit 1
}

# mpifort has taken its own arguments out: no holes.
allargs=("${allargs[@]}")

# What the arguments say, as gfortran reads them: of two that contradict each other the last counts.
ws_sources=()           # indices in allargs
ws_languages=()         # of each, by -x; empty: by its name
ws_for_cpp=()           # the arguments that a run of the preprocessor gets as well
ws_folders=()           # -I
ws_language_now=
ws_form=
ws_cpp=
ws_openmp=
ws_simd=
ws_compiles=yes         # to an object at least
ws_depends=             # -MD
ws_stack=-frecursive
ws_free_length=132
ws_fixed_length=72

for ((ws_i = 0; ws_i < ${#allargs[@]}; ws_i++)); do
    ws_arg=${allargs[ws_i]}
    case $ws_arg in
    -o | -x | -MF | -MT | -MQ | -I)
        ws_value=${allargs[ws_i + 1]-}
        case $ws_arg in
        -x)
            ws_language_now=$ws_value
            [ "$ws_value" != none ] || ws_language_now=
            ;;
        -I)
            ws_folders+=("$ws_value")
            ws_for_cpp+=(-I "$ws_value")
            ;;
        esac
        ws_i=$((ws_i + 1))
        ;;
    -J | -L | -l | -T | -u | -z | -e | -D | -U | -A | -include | -imacros | -isystem | -iquote | -idirafter | -iprefix | \
        -isysroot | -imultilib | -Xlinker | -Xassembler | -Xpreprocessor | -aux-info | --param | -wrapper | -dumpdir | \
        -dumpbase | -dumpbase-ext)
        ws_for_cpp+=("$ws_arg" "${allargs[ws_i + 1]-}")
        ws_i=$((ws_i + 1))
        ;;
    -I*)
        ws_folders+=("${ws_arg#-I}")
        ws_for_cpp+=("$ws_arg")
        ;;
    -c | -S | -save-temps | -save-temps=*) ;;
    -E | -M | -MM) ws_compiles= ;;
    -MD | -MMD) ws_depends=yes ;;
    -MP | -MF* | -MT* | -MQ*) ;;
    -fopenacc) ws_stop "'!\$ws' cannot be used with '-fopenacc'" ;;
    -fopenmp) ws_openmp=yes ;;
    -fno-openmp) ws_openmp= ;;
    -fopenmp-simd) ws_simd=yes ;;
    -fno-openmp-simd) ws_simd= ;;
    -ffixed-form) ws_form=fixed ;;
    -ffree-form) ws_form=free ;;
    -cpp | -nocpp) ws_cpp=$ws_arg ;;
    -ffixed-line-length-*) ws_fixed_length=${ws_arg##*-} ;;
    -ffree-line-length-*) ws_free_length=${ws_arg##*-} ;;
    # The user settles where procedures have their variables.
    -frecursive | -fno-recursive | -fno-automatic | -fmax-stack-var-size=*)
        ws_stack=
        ws_for_cpp+=("$ws_arg")
        ;;
    -) [ -z "$ws_language_now" ] || ws_stop "a source on the standard input is not supported" ;;
    -*) ws_for_cpp+=("$ws_arg") ;;
    # Files of arguments have been read (arguments.sh); sources that come through a pipe would keep their directives unread.
    @*)
        if [[ -e ${ws_arg#@} && ! -f ${ws_arg#@} ]]; then
            ws_stop "$ws_arg is not a regular file; give its arguments on the command line"
        fi
        ;;
    *)
        case $ws_language_now,$ws_arg in
        f77,* | f95,* | f77-cpp-input,* | f95-cpp-input,* | \
            ,*.f | ,*.for | ,*.ftn | ,*.f90 | ,*.f95 | ,*.f03 | ,*.f08 | \
            ,*.F | ,*.FOR | ,*.FTN | ,*.fpp | ,*.FPP | ,*.F90 | ,*.F95 | ,*.F03 | ,*.F08)
            ws_sources+=("$ws_i")
            ws_languages+=("$ws_language_now")
            ;;
        esac
        ;;
    esac
done
# Procedures that a loop calls run for several iterations at once: as with -fopenmp, their variables are on the stack.
[ -z "$ws_stack" ] || [ -n "$ws_openmp" ] || ws_cflags+=("$ws_stack")

ws_rewrite() {
    local at source language name extension form length preprocess text options folder status
    local -a names=()
    local failed= any= i
    ws_work=$(mktemp -d "${TMPDIR:-/tmp}/ws.XXXXXX") || ws_stop "no folder for temporary files"
    trap 'rm -rf "$ws_work"' EXIT
    for i in "${!ws_sources[@]}"; do
        at=${ws_sources[i]}
        source=${allargs[at]}
        language=${ws_languages[i]}
        name=${source##*/}
        extension=
        [[ $name != *.* ]] || extension=${name##*.}
        form=free
        preprocess=
        case ${language:-$extension} in
        f77* | [fF] | for | FOR | ftn | FTN | fpp | FPP) form=fixed ;;
        esac
        case ${language:-$extension} in
        *-cpp-input | fpp | [A-Z]*) preprocess=yes ;;
        esac
        [ "$ws_cpp" != -cpp ] || preprocess=yes
        [ "$ws_cpp" != -nocpp ] || preprocess=
        form=${ws_form:-$form}
        length=$ws_free_length
        [ "$form" = free ] || length=$ws_fixed_length
        [ "$length" != none ] || length=0

        folder=$ws_work/$i
        mkdir "$folder" || ws_stop "no folder for temporary files"
        options=(--length "$length")
        [ "$form" = free ] || options+=(--fixed)
        if [ -n "$ws_openmp" ]; then
            options+=(--openmp)
        elif [ -n "$ws_simd" ]; then
            options+=(--openmp-simd)
        fi
        if [ -n "$preprocess" ]; then
            text=$folder/text.$name
            $CC -E -cpp "${ws_for_cpp[@]}" ${ws_openmp:+-fopenmp} ${includedir:+-I"$includedir"} \
                ${language:+-x "$language"} "$source" -o "$text" || exit
            options+=(--text "$text")
        fi
        case $source in
        */*) options+=(-I "${source%/*}") ;;
        *) options+=(-I .) ;;
        esac
        for folder in "${ws_folders[@]}" ${includedir:+"$includedir"}; do
            options+=(-I "$folder")
        done
        # A name by which nothing is preprocessed again.
        case $extension,$form in
        f,* | for,* | ftn,* | f90,* | f95,* | f03,* | f08,*) ;;
        *,free) name=${name%.*}.f90 ;;
        *) name=${name%.*}.f ;;
        esac
        name=$ws_work/$i/$name
        status=0
        "$ws_folder/ws_fortran" "${options[@]}" "$source" "$name" || status=$?
        case $status in
        0) any=yes ;;
        1) failed=yes ;;
        3) ;;
        *) exit 1 ;;
        esac
        # What cannot be read gfortran complains about.
        [ ! -e "$name" ] || names[at]=$name
    done
    [ -z "$failed" ] || exit 1
    [ -n "$any" ] || return 0

    # With one that is rewritten the command says -fpreprocessed, which all of them then must be.
    ws_cflags+=(-fpreprocessed)
    # Dependences, also those on modules, are gfortran's business and about the user's files.
    [ -z "$ws_depends" ] \
        || $CC "${allargs[@]}" ${includedir:+-I"$includedir"} -fsyntax-only 2>/dev/null || true
    local -a kept=()
    for ((at = 0; at < ${#allargs[@]}; at++)); do
        case ${allargs[at]} in
        -cpp | -MD | -MMD | -MP) ;;
        -MF | -MT | -MQ) at=$((at + 1)) ;;
        -MF* | -MT* | -MQ*) ;;
        -o)
            kept+=(-o "${allargs[at + 1]-}")
            at=$((at + 1))
            ;;
        -x)
            kept+=(-x "${allargs[at + 1]%-cpp-input}")
            at=$((at + 1))
            ;;
        *) kept+=("${names[at]-${allargs[at]}}") ;;
        esac
    done
    allargs=("${kept[@]}")
}

# -E and -M leave the directives to whoever compiles the result; $Show is set where the command is only printed.
if [ ${#ws_sources[@]} -gt 0 ] && [ -n "$ws_compiles" ] && [ -z "${Show-}" ]; then
    ws_rewrite
fi
