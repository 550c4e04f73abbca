#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py wrappers TABLE: reads the preprocessed mpi.h of an MPI library on stdin and prints wrappers.cpp, a function for each call of it.
host.h says what they do, calls.txt how a rank waits in each.
generate.py map LIBWS_MAP: libws's version script, with the wrappers.
generate.py names SOURCE: the functions that libmpich forwards to libws, as a linker script that gives libws their names.
generate.py late WRAPPERS...: the functions that any of these files has, for late.cpp.
generate.py table TABLE BLOCKING_CALLS: prints the table of docs/guides/any-mpi.md, with the calls of blocking_calls.txt that wait."""
import re
import sys

# Not wrapped: what is called for its speed, what converts handles or addresses, callbacks that are functions, and tools' own interface.
LEFT_ALONE = re.compile(r'MPI_(Wtime|Wtick|T_(?!init_thread)|Aint_|\w+_(c2f|f2c|f082c|c2f08|f2f08|f082f|toint|fromint|FN|FN_NULL)$|DUP_FN|NULL_\w+_FN|Pcontrol$|Initialized$'
                        r'|Finalized$|Status_|Type_|Info_|Get_version|Get_library_version|Get_address|Address|Get_count|Get_elements|Error_|Errhandler_(?!create|set)'
                        r'|Group_|Op_|Keyval_|Attr_)')
WAITS = {'receive', 'send', 'exchange', 'probe', 'wait', 'waitall', 'waitany', 'waitsome', 'winwait', 'all', 'from_root', 'to_root', 'below', 'sources', 'sources_to_root'}
# What a collective call depends on, by its name in host.h, and the test that tells which ranks it needs.
DEPENDS = {'all': ('on_all', 'true'), 'from_root': ('on_root', 'peer == root'), 'to_root': ('root_on_all', 'true'),
           'below': ('on_some', 'peer < known->rank()'), 'sources': ('on_some', 'recvcounts[peer] != 0'),
           'sources_to_root': ('root_on_all', 'recvcounts[peer] != 0')}


def read_table(path):
    """{call: [[way, argument], ...]}"""
    table = {}
    with open(path) as f:
        for number, line in enumerate(f, 1):
            words = line.split('#')[0].split()
            if not words:
                continue
            call, words, ways = words[0], words[1:], []
            if call in table or not words:
                sys.exit(f'{path}:{number}: {call} is there twice, or says nothing')
            while words:
                way = words.pop(0)
                if way in ('send',):
                    ways.append([way, words.pop(0)])
                elif way == 'rings':
                    ways.append([way, words.pop(0) if words and words[0] not in ('direct', 'rounds', 'needs_polls') else ''])
                elif way == 'direct':
                    if words[0] == 'in':
                        way, words = ' '.join([way, *words[:2]]), words[2:]
                    ways.append([way, ' '.join(words)])
                    words = []
                elif way in WAITS | {'makes', 'frees', 'looks', 'taken', 'rounds', 'needs_polls'}:
                    ways.append([way, ''])
                else:
                    sys.exit(f'{path}:{number}: no such way: {way}')
            table[call] = ways
    return table


class Call:
    """A prototype of mpi.h."""
    def __init__(self, result, name, parameters):
        self.result, self.name, self.types, self.names = result, name, [], []
        for i, parameter in enumerate(self.split(parameters)):
            match = re.match(r'(.*?)(\w+)\s*((?:\[\w*\])*)$', parameter, re.DOTALL)
            array = match[3]
            kind = ' '.join(match[1].split())
            if '(' in parameter:    # a pointer to a function, which MPI names by a typedef
                sys.exit(f'{name}: a parameter that is not understood: {parameter}')
            if not kind:            # a type without a name
                kind, match = parameter, None
            self.names.append(match[2] if match else f'a{i}')
            self.types.append(kind + (f' {array}' if array else ''))

    @staticmethod
    def split(parameters):
        parts = [' '.join(p.split()) for p in parameters.split(',')]
        return [] if parts in (['void'], ['']) else parts

    def declared(self):
        """The parameters; of arrays as C writes them."""
        out = []
        for kind, name in zip(self.types, self.names):
            array = re.search(r'((?:\s*\[\w*\])+)$', kind)
            out.append(f'{kind[:array.start()]} {name}{array[1].strip()}' if array else f'{kind} {name}')
        return ', '.join(out)

    def arguments(self):
        return ', '.join(self.names)

    def first(self, kind, pointer=False):
        """The name of the first parameter of this type."""
        for name, have in zip(self.names, self.types):
            if have.replace('const ', '').strip() == kind + (' *' if pointer else '') or (pointer and have == kind + '*'):
                return name
        return None

    def named(self, *names):
        return next((n for n in self.names if n in names), None)


def prototypes(text):
    """{name: Call} of the functions that exist with MPI_ and PMPI_."""
    text = re.sub(r'__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)', ' ', text)
    text = '\n'.join(line for line in text.splitlines() if not line.startswith('#'))
    calls, names = {}, set()
    for result, name, parameters in re.findall(r'\b(int|double|MPI_Aint)\s+(P?MPIX?_\w+)\s*\(([^;{}]*?)\)\s*;', text):
        names.add(name)
        if name.startswith(('MPI_', 'MPIX_Grequest_')) and not LEFT_ALONE.match(name) and '...' not in parameters:
            calls[name] = Call(result, name, parameters)
    return {name: call for name, call in calls.items() if 'P' + name in names}


def about(call):
    """What the call is about, as mpi/calls.c notes it: its buffers and its peers."""
    buffers = [n for n in call.names if n in ('buf', 'buffer', 'sendbuf', 'recvbuf', 'origin_addr', 'request', 'array_of_requests', 'requests')]
    peers = [n for n, kind in zip(call.names, call.types) if kind in ('int', 'const int') and n in ('dest', 'source', 'root', 'target_rank')]
    if call.named('request') and call.name not in ('MPI_Wait', 'MPI_Start'):
        buffers = [b for b in buffers if b != 'request']
    if not buffers and not peers:
        return '0'
    return f"ws::host::about({' ^ '.join(['0'] + [f'uintptr_t({b}) << {i}' for i, b in enumerate(buffers)])}, " \
           f"{' ^ '.join(['0'] + [f'{p} << {7 * i}' for i, p in enumerate(peers)])})"


def moves(call):
    """Whether MPI has something to do, and no reason to return with an error, as far as its arguments show it."""
    tests = []
    for name, kind in zip(call.names, call.types):
        if name in ('count', 'recvcount') and not call.first('MPI_File'):
            tests.append(f'{name} > 0')
        elif name in ('recvcounts', 'recvbuf', 'buffer'):
            tests.append(f'{name} != nullptr')
        elif kind == 'MPI_Datatype' and name in ('datatype', 'recvtype'):
            tests.append(f'{name} != MPI_DATATYPE_NULL')
        elif kind == 'MPI_Op':
            tests.append(f'{name} != MPI_OP_NULL')
    if call.named('sendbuf') and call.named('recvbuf'):
        tests.append('sendbuf != recvbuf')
    return ' && '.join(tests) or 'true'


def body(call, ways, calls):
    """The statements of the call."""
    real = f'real_{call.name}({call.arguments()})'
    lines, after, before = [], [], []
    comm, win, file = call.first('MPI_Comm'), call.first('MPI_Win'), call.first('MPI_File')
    group_at = f'ws::host::group_of_comm({comm})' if comm else f'ws::host::group_of_win({win})' if win else f'ws::host::group_of_file({file})'
    kind = next((k for k in ('comm', 'win', 'file') if call.first('MPI_' + k.capitalize(), True)), '')
    made = call.first('MPI_' + kind.capitalize(), True)
    is_collective = any(way in DEPENDS or way == 'makes' for way, _ in ways)
    inner = ', bool(outermost)' if is_collective else ''
    site = f'ws::host::Site("{call.name}", place{inner})'
    kinds = [way for way, _ in ways]
    main = f'{call.result} error = {real};'
    for way, argument in ways:
        if way == 'makes':
            parent = '' if kind == 'comm' else f'{comm}, '
            after.append(f'if (error == MPI_SUCCESS) ws::host::made_{kind}({parent}*{made});')
        elif way == 'frees' and kind == 'file':
            lines.append(f'const MPI_File freed = *{made}; std::unique_ptr<ws::host::Group> taken = ws::host::take_file(freed);')
            after.append('if (error != MPI_SUCCESS && taken) ws::host::put_back(freed, std::move(taken)); else if (taken) taken->leave_board();')
            group_at = 'taken.get()'
        elif way == 'frees':
            group_at = f'ws::host::group_of_{kind}(*{made})'
        elif way == 'rings':
            ring = f'ws::host::ring_rank({group_at}, {argument});' if argument else 'ws::host::ring_all();'
            after.append(ring)
            if 'direct' in kinds:   # it may wait for an answer
                before.append(ring)
            elif 'needs_polls' in kinds:
                before.append(f'if (WS_UNLIKELY(ws::host::Needs::own != nullptr)) {{ {ring} }}')
        elif way == 'needs_polls':
            target = call.named('target_rank') or call.named('rank')
            if call.first('MPI_Request', True):
                after.append('ws::host::Needs::by_request = ws::host::Needs::own != nullptr;')
            before.insert(0, f"const ws::host::NeedsPolls needs_polls{f'({group_at}, {target})' if target else ''};")
        elif way == 'rounds':
            before.append('ws::host::has_rounds = true;')
        elif way == 'taken':
            after.append('ws::host::taken();')
        elif way == 'looks':
            flag = call.named('flag', 'outcount')
            after.append(f'if (error == MPI_SUCCESS && *{flag} == 0 && ws::host::hooks.polled) ws::host::hooks.polled();')
            after.append(f'if (*{flag}) ws::host::taken();')
    if call.name in ('MPI_Psend_init', 'MPI_Precv_init'):
        after.append('if (error == MPI_SUCCESS) ws::host::made_unusual(*request, ws::host::Unusual::partitioned);')
    elif re.search('_init(_c)?$', call.name) and call.first('MPI_Request', True):
        after.append('if (WS_UNLIKELY(ws::host::looks_end_persistent) && error == MPI_SUCCESS) '
                     f"ws::host::made_unusual(*{call.first('MPI_Request', True)}, ws::host::Unusual::persistent);")
    if call.name in ('MPI_Grequest_start', 'MPIX_Grequest_start', 'MPIX_Grequest_class_allocate'):
        after.append(f'if (error == MPI_SUCCESS) ws::host::made_unusual(*{call.names[-1]}, ws::host::Unusual::generalized);')
    if re.match(r'MPI_(Wait|Test)(all|any|some)?$', call.name):
        array = call.first('MPI_Request', True) or call.names[1]
        lines.append(f"const ws::host::Completion completion({'1' if call.named('request') else call.names[0]}, {array});")
    if re.match('MPI_(Comm_set_errhandler|Errhandler_set)$', call.name):
        before.append('ws::host::errors_return = true;')
    makes_handler = call.name in ('MPI_Comm_create_errhandler', 'MPI_Errhandler_create')
    if makes_handler or call.name.startswith('MPI_File_i'):
        before.append('ws::host::needs_testall = true;')
    if makes_handler:
        before.append('ws::host::has_handlers = true;')
    if call.name == 'MPI_Request_free':
        before.append('if (WS_UNLIKELY(ws::host::has_unusual || ws::host::has_persistent)) { ws::host::frees_request(*request); }')
    call_it = f'[&] {{ return {real}; }}'
    for way in kinds:
        if way in DEPENDS:
            depends, needs = DEPENDS[way]
            root = call.named('root') or '0'
            parameter = 'int peer' if 'peer' in needs else 'int'
            main = f'ws::host::Group *const known = {group_at}; int error = ws::host::collective(known, ws::host::Depends::{depends}, {root}, {site}, ' \
                   f'[&] {{ return {moves(call)}; }}, [&]({parameter}) {{ return {needs}; }}, {call_it});'
        elif way == 'receive':
            main = f'int error = ws::host::receive({group_at}, source, tag, comm, {site}, {call_it});'
        elif way == 'send':
            post = dict(ways)['send'] + ('_c' if call.name.endswith('_c') else '')
            if post not in calls:
                continue
            main = f'int error = ws::host::send({group_at}, dest, tag, {site}, [&](MPI_Request *request) {{ return real_{post}(' \
                   f'{call.arguments()}, request); }}, {call_it});'
        elif way == 'exchange':
            large = '_c' if call.name.endswith('_c') else ''
            sent, received = ', '.join(call.names[:5]), ', '.join(call.names[5:10])
            main = f'int error = ws::host::exchange({group_at}, dest, sendtag, source, recvtag, comm, {site}, ' \
                   f'[&](MPI_Request *request) {{ return real_MPI_Isend{large}({sent}, comm, request); }}, ' \
                   f'[&] {{ return real_MPI_Recv{large}({received}, comm, status); }}, {call_it});'
        elif way == 'probe':
            main = f'int error = ws::host::receive({group_at}, source, tag, comm, {site}, {call_it});'
        elif way in ('wait', 'waitall', 'waitany'):
            arguments = ', '.join(call.names[:-1] + ['over'] + call.names[-1:])
            poll = f'[&](int *over) {{ return ws::host::real.{way.replace("wait", "test")}({arguments}); }}'
            main = f'int error = ws::host::wait_for_all({call.names[0]}, {call.names[1]}, {site}, {poll}, {call_it});' if way == 'waitall' else \
                   f'int error = ws::host::poll_instead({site}, {poll}, {call_it});'
        elif way == 'waitsome':
            out = call.names[2]
            main = f'int error = ws::host::poll_instead({site}, [&](int *over) {{ const int e = ws::host::real.testsome({call.arguments()}); ' \
                   f'*over = *{out} != 0; return e; }}, {call_it});'
        if way in ('waitany', 'waitsome'):
            count, requests = call.names[:2]
            main = f'if (WS_UNLIKELY(ws::host::has_unusual) && ws::host::is_any(ws::host::Unusual::partitioned, {count}, {requests})) {{ return ws::host::look_before(' \
                   f'{site}, [&] {{ return ws::host::is_any_complete({count}, {requests}); }}, {call_it}); }} ' + main
        elif way == 'winwait':
            main = f'int error = ws::host::poll_instead({site}, [&](int *over) {{ return ws::host::real.win_test({win}, over); }}, {call_it});'
    return lines + before + [main] + after + ['return error;']


def wrapper(call, ways, calls):
    name, declared, arguments = call.name, call.declared(), call.arguments()
    void = 'static_cast<void>(place);'
    special = {
        'MPI_Init': ['int provided;', 'const int level = ws::host::thread_level(MPI_THREAD_SINGLE);',
                     f'const int error = level == MPI_THREAD_SINGLE ? real_{name}({arguments}) : real_MPI_Init_thread({arguments}, level, &provided);',
                     'if (error == MPI_SUCCESS) ws::host::initialized();', 'return error;'],
        'MPI_Init_thread': [f'const int error = real_{name}({call.names[0] if call.names else ""}, {call.names[1]}, ws::host::thread_level({call.names[2]}), '
                            f'{call.names[3]});' if name == 'MPI_Init_thread' else '',
                            'if (error == MPI_SUCCESS) ws::host::initialized();', 'return error;'],
        'MPI_T_init_thread': [f'return real_{name}(ws::host::tool_thread_level({call.names[0] if call.names else ""}), {", ".join(call.names[1:])});'],
        'MPI_Finalize': ['ws::host::finalizing();', f'return real_{name}();'],
    }
    if name in special:
        begin = []
        work = special[name]
    else:
        begin = [f'if (!WS_UNLIKELY(ws::host::active)) return real_{name}({arguments});']
        work = body(call, ways, calls)
    frame = '__builtin_frame_address(0)'
    # Inner calls count, too, so that a rank that longjmp() has taken out of MPI does not fall behind the others.
    counts = any(way in DEPENDS or way == 'makes' for way, _ in ways)
    inner = '' if counts else f'if (!outermost) return real_{name}({arguments});'
    return f'''
static {call.result} (*real_{name})({declared});
static inline __attribute__((always_inline)) {call.result} do_{name}({declared}{', ' if declared else ''}const void *place)
{{
    {void}
    if (WS_UNLIKELY(!real_{name})) find_all();
    {' '.join(begin)}
    const ws::host::Outermost outermost("{name}", place, {frame}, {about(call)});
    {inner}
    {' '.join(work)}
}}
EXPORTED {call.result} P{name}({declared}) {{ return do_{name}({arguments}{', ' if arguments else ''}__builtin_return_address(0)); }}
EXPORTED {call.result} {name}({declared})
{{
    if (WS_UNLIKELY(!real_{name})) find_all();
    if (WS_UNLIKELY(tool_{name} != nullptr)) return tool_{name}({arguments});
    return do_{name}({arguments}{', ' if arguments else ''}__builtin_return_address(0));
}}'''


# It has arguments that nobody describes. A tool's may look at them: as many as its callers are likely to give are passed on. A function can always
# read some that were not given: they lie in registers and on its caller's stack.
PCONTROL = '''
static int (*real_MPI_Pcontrol)(int, ...);
static int (*tool_MPI_Pcontrol)(int, ...);
static int pcontrol(int (*next)(int, ...), int level, va_list rest)
{
    void *a[5];
    for (void *&argument : a) argument = va_arg(rest, void *);
    return next(level, a[0], a[1], a[2], a[3], a[4]);
}
EXPORTED int PMPI_Pcontrol(const int level, ...)
{
    if (WS_UNLIKELY(!real_MPI_Pcontrol)) find_all();
    if (ws::host::hooks.pcontrol) ws::host::hooks.pcontrol(level);
    va_list rest;
    va_start(rest, level);
    const int error = pcontrol(real_MPI_Pcontrol, level, rest);
    va_end(rest);
    return error;
}
EXPORTED int MPI_Pcontrol(const int level, ...)
{
    if (WS_UNLIKELY(!real_MPI_Pcontrol)) find_all();
    if (!tool_MPI_Pcontrol && ws::host::hooks.pcontrol) ws::host::hooks.pcontrol(level);
    va_list rest;
    va_start(rest, level);
    const int error = pcontrol(tool_MPI_Pcontrol ? tool_MPI_Pcontrol : real_MPI_Pcontrol, level, rest);
    va_end(rest);
    return error;
}'''

HOW = {'all': 'lends', 'sources': 'lends', 'sources_to_root': 'lends at the root', 'from_root': 'lends, until the root has come', 'to_root': 'lends at the root', 'below': 'lends, until the ranks below have come',
       'makes': '', 'frees': '', 'rings': '', 'rounds': '', 'taken': '', 'looks': '', 'needs_polls': ''}


# What MPI 4.0 has and MPI 3.1 has not, of the calls that wait.
SINCE_4 = re.compile(r'MPI_(Isendrecv|Isendrecv_replace|P\w+_init|Pready\w*|Comm_idup_with_info|Comm_create_from_group|Intercomm_create_from_groups'
                     r'|(?!S|Rs|Bs|Recv)\w+_init|Scatterv?_init|Scan_init)$')
FAMILIES = {'openmpi': 'Open MPI', 'mpich': 'MPICH and relatives, the standard ABI'}


def how(table, call, family, between=False):
    """What a user of the call gets under that MPI: "lends ...", or "nothing: " and why. `between`: on an intercommunicator."""
    ways = table.get(call)
    if call.endswith('_init') and ways is None:
        return 'lends in the wait for it'
    if not ways:
        return 'nothing: it is passed on'
    for way, argument in ways:
        if way == 'direct' or way == 'direct in ' + family:
            return 'nothing: ' + argument
        if between and way in DEPENDS:   # no board
            return 'nothing: the ranks of two communicators take part'
    words = [HOW.get(way, 'lends') for way, _ in ways if HOW.get(way, 'lends')]
    return words[0] if words else 'lends in the wait for it'


def blocking(path):
    """{call: its cases} of the calls that wait under Workshare's own MPICH."""
    found, inside = {}, False
    with open(path) as f:
        for line in f:
            words = line.split('#')[0].split()
            if words and words[0][0] == '[':
                inside = words[0] == '[waits]'
            elif words and inside:
                found[words[0]] = words[2:]
    return found


def print_table(table, blocking_calls):
    """The calls that wait under Workshare's own MPICH, and what they do under each other one; those that are alike in one row."""
    groups = {}
    for call in blocking(blocking_calls):
        words = [how(table, call, family) for family in FAMILIES]
        note = ', since MPI 4.0' if SINCE_4.match(call) else ''
        groups.setdefault((*words, note), []).append(call)
    print(f"| Workshare's own MPICH | {' | '.join(FAMILIES.values())} | calls |\n|{'---|' * (len(FAMILIES) + 2)}")
    for (*words, note), calls in groups.items():
        print(f"| lends | {' | '.join(words)} | {' '.join(calls)}{note} |")


def main():
    if sys.argv[1] == 'map':
        with open(sys.argv[2]) as f:
            print(f.read().replace('global: ws_*;', 'global: ws_*; MPI_*; PMPI_*; MPIX_*; PMPIX_*; XMPI_*; mpix_*; xmpi_*;', 1), end='')
        return
    if sys.argv[1] == 'names':
        with open(sys.argv[2]) as f:
            for name in re.findall(r'^MPIX_(?:IN_LIBWS|FORTRAN)\((\w+),', f.read(), re.MULTILINE):
                print(f'{name} = ws_{name};')
        return
    if sys.argv[1] == 'late':
        names = set()
        for path in sys.argv[2:]:
            with open(path) as f:
                names |= set(re.findall(r'^EXPORTED \w+ (\w+)\(', f.read(), re.MULTILINE))
        for number, name in enumerate(sorted(names)):
            print(f'FUNCTION({number}, {name})')
        return
    table = read_table(sys.argv[2])
    if sys.argv[1] == 'table':
        print_table(table, sys.argv[3])
        return
    calls = prototypes(sys.stdin.read())
    if len(calls) < 100 or 'MPI_Init' not in calls:
        sys.exit('generate.py: no mpi.h, or one that is not understood')
    print('// SPDX-License-Identifier: MIT\n// Made by generate.py.\n#include "host/host.h"\n'
          '#include <cstdarg>\n'
          '#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n'
          '#define EXPORTED extern "C" __attribute__((visibility("default")))\n'
          'static __attribute__((cold, noinline)) void find_all();')
    for call in calls.values():
        print(f'static {call.result} (*tool_{call.name})({call.declared()});')
    # Those that others use come first.
    order = sorted(calls, key=lambda n: (not re.match(r'MPI_(Isend|Issend|Irsend|Recv|Init_thread)(_c)?$', n), n))
    for name in order:
        ways = table.get(name) or table.get(re.sub('_c$', '', name)) or []
        print(wrapper(calls[name], ways, calls))
    print(PCONTROL)
    print('static void find_all()\n{')
    for name in [*order, 'MPI_Pcontrol']:
        print(f'    real_{name} = reinterpret_cast<decltype(real_{name})>(ws::host::next("P{name}"));')
        print(f'    tool_{name} = reinterpret_cast<decltype(tool_{name})>(ws::host::tool("{name}", reinterpret_cast<void *>(real_{name})));')
    print('}')


if __name__ == '__main__':
    main()
