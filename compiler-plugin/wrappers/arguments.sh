# SPDX-License-Identifier: MIT
#
# Sourced by mpicc, mpicxx and mpifort where an argument begins with '@': the compiler reads such a file's arguments itself,
# but -fws is the wrapper's. If it stands in one, all files are replaced by what is in them, in the wrapper's positional
# parameters and in allargs. Otherwise nothing changes.

ws_read=()      # all arguments
ws_files=0
ws_found=

ws_add_argument() {
    case $1 in
    -fws | -fws=* | -fws-*) ws_found=yes ;;
    @?*)
        # As GCC: what is no file is an argument as it stands. A pipe can be read only once, which is the compiler's to do;
        # so is the message about files that name each other.
        if [[ -f ${1:1} && -r ${1:1} && $ws_files -lt 100 ]]; then
            ws_files=$((ws_files + 1))
            ws_read_arguments <"${1:1}"
            return
        fi
        ;;
    esac
    ws_read+=("$1")
}

# As GCC and clang read them: blanks separate, quotes of both kinds hold together, a backslash takes the next character as it
# stands, in quotes too.
ws_read_arguments() {
    local line word='' begun='' quote='' escaped='' c i
    local -a words
    while IFS= read -r line || [ -n "$line" ]; do
        if [[ -z $begun && $line != *[\\\'\"]* ]]; then
            read -ra words <<<"${line//[$'\v\f\r']/ }"
            for word in "${words[@]}"; do
                ws_add_argument "$word"
            done
            word=
            continue
        fi
        line+=$'\n'
        for ((i = 0; i < ${#line}; i++)); do
            c=${line:i:1}
            if [ -n "$escaped" ]; then
                escaped=
                word+=$c
            elif [[ $c = \\ ]]; then
                escaped=yes begun=yes
            elif [ -n "$quote" ]; then
                if [[ $c = "$quote" ]]; then quote=; else word+=$c; fi
            elif [[ $c = [\'\"] ]]; then
                quote=$c begun=yes
            elif [[ $c != [[:space:]] ]]; then
                word+=$c begun=yes
            elif [ -n "$begun" ]; then
                ws_add_argument "$word"
                word='' begun=''
            fi
        done
    done
    [ -z "$begun" ] || ws_add_argument "$word"
}

for ws_argument in "$@"; do
    ws_add_argument "$ws_argument"
done
if [ -n "$ws_found" ]; then
    set -- "${ws_read[@]}"
    allargs=("$@")
fi
