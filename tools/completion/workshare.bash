# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Completion for bash of the commands at its end. bash-completion loads it by their names once the prefix's share folder is in
# XDG_DATA_DIRS, as `./setup env` has it; sourcing it does as well. Words after '=' come as words of their own (COMP_WORDBREAKS).
# tests/house/manual/completion_test.py compares the options with what the programs say themselves.

# Which options of Workshare mpirun has: the file of the installation that mpirun reads itself.
_workshare_table=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)/../../workshare/options
_workshare_hydra_options='-genv -genvlist -genvnone -genvall -f -hosts -wdir -configfile -env -envlist -envnone -envall -n -np
    -launcher -launcher-exec -enable-x -rmk -rankmap -memory-alloc-kinds -hybrid-hosts -topolib -bind-to -map-by -membind -demux
    -verbose -info -version -help
    -print-all-exitcodes -iface -ppn -profile -prepend-rank -prepend-pattern -outfile-pattern -errfile-pattern -nameserver
    -disable-auto-cleanup -disable-hostname-propagation -order-nodes -localhost -usize -pmi-port -skip-launch-node -gpus-per-proc'
_workshare_mpicc_options='-fws -fws=openmp -fws-report -fws-warn= -cc= -show'
_workshare_top_options='--help --version --once --json --interval --count --pid --job --all --record --replay'
_workshare_timeline_options='--help --version --output --range --loops --title'
_workshare_report_options='--help --version --json --csv --html --output --history --fail-if --fail-if-worse --baseline'
_workshare_doctor_options='--help --version --json --list --check --ranks --root'
_workshare_workshare_options='--mpi --help --version --cflags --libs'   # and those of mpirun
_workshare_setup_commands='try demo test bench papers build package env packages clean help'

# Completes with those words of $2 that begin with $1.
_workshare_words() {
    local cur=$1
    mapfile -t COMPREPLY < <(compgen -W "$2" -- "$cur")
}

# Folders, and files that end in one of the other arguments.
_workshare_files() {
    local cur=$1 ending
    shift
    mapfile -t COMPREPLY < <(compgen -d -- "$cur"; for ending; do compgen -f -X "!*.$ending" -- "$cur"; done)
    compopt -o filenames 2>/dev/null
}

# The word before the cursor's and the one before it, with '=' between name and value left out.
_workshare_before() {
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD - 1]-}
    joined=
    if [ "$cur" = = ]; then
        joined=yes cur=
    elif [ "$prev" = = ] && [ "$COMP_CWORD" -ge 2 ]; then
        joined=yes prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
}

# Sets `options`, and what the table says of a value of the option $1, if it is one: `known`, `words`, `endings`.
_workshare_read_table() {
    local key value name of=
    known='' words='' endings='' options=()
    [ -r "$_workshare_table" ] || return 0
    while read -r key value; do
        case $key in
        variable) of= ;;
        option)
            name=${value%%[ =[]*}
            [[ $name = "$value" || $value = *' '* || $value = *'['* ]] && options+=("$name")
            [[ $value != *=* ]] || options+=("$name=")
            [ "$name" != "$1" ] || known=yes of=$name
            ;;
        words) [ -z "$of" ] || words=$value ;;
        endings) [ -z "$of" ] || endings=${value//./} ;;
        esac
    done <"$_workshare_table"
}

# The value that the table's option before the cursor has. Without '=' a file may be the program, too: bash offers all files.
_workshare_value() {
    if [ -n "$words" ]; then
        _workshare_words "$cur" "$words"
    elif [ -n "$endings" ] && [ -n "$joined" ]; then
        # shellcheck disable=SC2086  # words
        _workshare_files "$cur" $endings
    fi
}

_workshare_mpirun() {
    local cur prev joined known words endings options
    _workshare_before
    _workshare_read_table "${prev/#--/-}"
    _workshare_value
    if [ -z "$known" ]; then
        case $prev in
        -bind-to | -map-by) _workshare_words "$cur" 'none core hwthread socket numa board' ;;
        esac
    fi
    [ ${#COMPREPLY[@]} = 0 ] || return 0
    case $joined,$cur in
    ,--*) _workshare_words "$cur" "${options[*]/#-/--}" ;;
    ,-*) _workshare_words "$cur" "${options[*]} $_workshare_hydra_options" ;;
    esac
    [[ ${COMPREPLY[0]-} != *= || ${#COMPREPLY[@]} -gt 1 ]] || compopt -o nospace 2>/dev/null
}

# The same options, without "workshare" in their names.
_workshare_workshare() {
    local cur prev joined known words endings options
    _workshare_before
    _workshare_read_table "${prev/#--/-workshare-}"
    _workshare_value
    [ "$prev,$joined" != --mpi, ] && [ "$prev,$joined" != --mpi,yes ] || _workshare_words "$cur" 'mpich openmpi'
    [ ${#COMPREPLY[@]} = 0 ] || return 0
    [[ $joined,$cur != ,-* ]] || _workshare_words "$cur" "$(printf '%s\n' "${options[@]}" | sed -n 's/^-workshare-/--/p') $_workshare_workshare_options"
    [[ ${COMPREPLY[0]-} != *= || ${#COMPREPLY[@]} -gt 1 ]] || compopt -o nospace 2>/dev/null
}

_workshare_mpicc() {
    local cur prev joined
    _workshare_before
    case $prev,$joined in
    -fws,yes) _workshare_words "$cur" openmp ;;
    -fws-warn,yes) _workshare_words "$cur" 'no-thread-number no-thread-variable no-computed-goto' ;;
    -cc,yes | -cxx,yes) _workshare_words "$cur" 'gcc clang g++ clang++' ;;
    *,) [[ $cur != -* ]] || _workshare_words "$cur" "$_workshare_mpicc_options" ;;
    esac
    [[ ${COMPREPLY[0]-} != *= || ${#COMPREPLY[@]} -gt 1 ]] || compopt -o nospace 2>/dev/null
}

_workshare_top() {
    local cur prev joined
    _workshare_before
    case $prev in
    --pid | -p) mapfile -t COMPREPLY < <(compgen -W "$(pgrep -u "$(id -u)" -f '(mpirun|mpiexec)' 2>/dev/null)" -- "$cur") ;;
    --interval | -i | --count | -n | --job | -j) ;;
    --record | -r | --replay | -R) _workshare_files "$cur" json jsonl ;;
    *) _workshare_words "$cur" "$_workshare_top_options" ;;
    esac
}

_workshare_timeline() {
    local cur prev joined
    _workshare_before
    case $prev,$cur in
    --output,* | -o,*) _workshare_files "$cur" html svg ;;
    --range,* | --title,*) ;;
    *,-*) _workshare_words "$cur" "$_workshare_timeline_options" ;;
    *) _workshare_files "$cur" json otf2 ;;
    esac
}

_workshare_report() {
    local cur prev joined
    _workshare_before
    case $prev,$cur in
    --history,*) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    --output,* | -o,*) _workshare_files "$cur" html ;;
    --fail-if,* | --fail-if-worse,*) ;;
    *,-*) _workshare_words "$cur" "$_workshare_report_options" ;;
    *) _workshare_files "$cur" json ;;
    esac
}

# What follows the program is its own.
_workshare_doctor() {
    local cur prev joined
    _workshare_before
    case ${COMP_WORDS[1]-},$prev,$cur in
    advise,*,-*) _workshare_words "$cur" --json ;;
    advise,*) _workshare_files "$cur" json ;;
    *,--root,*) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *,--check,* | *,--ranks,* | *,-n,*) ;;
    *,*,-*) _workshare_words "$cur" "$_workshare_doctor_options" ;;
    esac
}

# ./setup of a checkout; others have programs of that name, too.
_workshare_setup() {
    local cur prev joined
    [ -f "$(dirname -- "$1")/runtime/mpich/provide" ] || return 0
    _workshare_before
    case ${COMP_WORDS[1]-},$prev,$cur in
    *,--prefix,*) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
    *,--only,*) ;;
    build,*,-* | env,*,-*) _workshare_words "$cur" --prefix ;;
    packages,*,*) _workshare_words "$cur" 'try demo test bench papers build package' ;;
    bench,*,-* | papers,*,-*) _workshare_words "$cur" '--quick --only' ;;
    *) [ "$COMP_CWORD" != 1 ] || _workshare_words "$cur" "$_workshare_setup_commands" ;;
    esac
}

complete -o bashdefault -o default -F _workshare_mpirun mpirun mpiexec mpiexec.hydra
complete -o bashdefault -o default -F _workshare_workshare workshare
complete -o bashdefault -o default -F _workshare_mpicc mpicc mpicxx mpic++ mpifort mpif77 mpif90
complete -o bashdefault -o default -F _workshare_top ws-top
complete -o bashdefault -o default -F _workshare_timeline ws-timeline
complete -o bashdefault -o default -F _workshare_report ws-report
complete -o bashdefault -o default -F _workshare_doctor ws-doctor
complete -o bashdefault -o default -F _workshare_setup setup
