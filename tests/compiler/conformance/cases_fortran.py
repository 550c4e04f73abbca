# SPDX-License-Identifier: MIT
"""The matrix's entries for Fortran: a generator of cases for each class."""
import functools
import re
from itertools import product

from case import Case
from cases_c import ORDERS, hash_of

KINDS = {'int1': 'integer(1)', 'int2': 'integer(2)', 'int4': 'integer(4)', 'int8': 'integer(8)'}
REALS = {'real4': 'real(4)', 'real8': 'real(8)', 'real10': 'real(10)'}
COMPLEX = {'complex4': 'complex(4)', 'complex8': 'complex(8)'}
LOOP = 'do i = 0, 99'


def case(name, declarations, body, **more):
    return Case(name, body, declarations=declarations, languages=('fortran',), **more)


def loop_forms():
    bounds = {'up': '3, 103', 'up-by-1': '3, 103, 1', 'up-by-3': '3, 103, 3', 'up-by-7': '4, 99, 7', 'down': '104, 3, -1', 'down-by-4': '104, 3, -4',
              'computed': 'first, last', 'computed-step': 'first, last, step', 'computed-down': 'last, first, -step', 'expressions': 'first + 1, 2 * step + 90',
              'negative': '-20, 20', 'negative-by-3': '-20, 20, 3', 'to-negative': '20, -20, -3', 'none': '5, 4', 'none-down': '4, 5, -1', 'none-by-3': '9, 3, 3',
              'one': '7, 7', 'one-big-step': '7, 9, 50', 'two': '7, 8', 'three': '7, 9'}
    for (short, type_), (name, text), end in product(KINDS.items(), bounds.items(), ('', '!$ws end do\n')):
        if end and hash_of((short, name)) % 2:
            continue
        yield case(f'loops/{short}/{name}{"/end-do" if end else ""}', f'{type_} :: i, first, last, step',
                   f'first = 5\nlast = 95\nstep = 4\n!$ws do\ndo i = {text}\ncell(int(i) + 30) = cell(int(i) + 30) + 1\ncall work()\nend do\n{end}call put(cell)')
    for short, type_ in KINDS.items():
        kind = short[3:]
        for name, text in (('top', f'huge(i) - 50_{kind}, huge(i) - 1_{kind}'), ('top-down', f'huge(i) - 1_{kind}, huge(i) - 50_{kind}, -1_{kind}')):
            yield case(f'loops/{short}/{name}', f'{type_} :: i', f'!$ws do\ndo i = {text}\ncell(int(huge(i) - i)) = cell(int(huge(i) - i)) + 1\ncall work()\nend do\ncall put(cell)')
        yield case(f'loops/{short}/bottom', f'{type_} :: i, low', f'low = -huge(i)\n!$ws do\ndo i = low, low + 49_{kind}\ncell(int(i - low)) = 1\ncall work()\nend do\ncall put(cell)')
        yield case(f'loops/{short}/lastprivate-variable', f'{type_} :: i', '!$ws do lastprivate(i)\ndo i = 5, 98, 4\ncell(int(i)) = 2\ncall work()\nend do\ncall put(cell)\ncall put(i)')
    bodies = {'cycle': 'if (mod(i, 3) == 0) cycle\ncell(i) = 1', 'inner-do': 'do j = 1, i\nif (j > 5) exit\ncell(i) = cell(i) + 1\nend do',
              'select': 'select case (mod(i, 3))\ncase (0)\ncell(i) = 1\ncase default\ncell(i) = 2\nend select', 'block': 'block\ninteger :: t\nt = 2 * i\ncell(i) = t\nend block',
              'where': 'where (w > i) w = w', 'do-while': 'j = i\ndo while (j > 5)\nj = j - 5\nend do\ncell(i) = j', 'implied': 'cell(i) = sum([(j, j = 1, i)])',
              'array-expression': 'v = i\ncell(i) = sum(v(1:3))', 'goto': 'if (i > 50) goto 7\ncell(i) = 1\n7 continue'}
    for name, text in bodies.items():
        private = {'do-while': ' private(j)', 'array-expression': ' private(v)'}.get(name, '')
        yield case(f'loops/body/{name}', 'integer :: i, j, v(4), w(4)', f'j = 0\nv = 0\nw = 0\n!$ws do{private}\n{LOOP}\n{text}\ncall work()\nend do\ncall put(cell)')
    yield case('loops/named', 'integer :: i', '!$ws do\nouter: do i = 0, 99\nif (i == 50) cycle outer\ncell(i) = 1\ncall work()\nend do outer\ncall put(cell)')
    yield case('loops/labelled', 'integer :: i', '!$ws do\ndo 10 i = 0, 99\ncell(i) = 1\ncall work()\n10 continue\ncall put(cell)')
    yield case('loops/continuation-lines', 'integer :: i, s', 's = 0\n!$ws do &\n!$ws schedule(dynamic, &\n!$ws& 4) &\n\n!$ws reduction(+ &\n!$ws : s)\n' + LOOP + '\ns = s + i\ncall work()\nend do\ncall put(s)\n'
               'call schedule_is(2, 4_c_long, 0, 0_c_long)')
    yield case('loops/upper-case', 'INTEGER :: I, S', 'S = 0\n!$WS DO REDUCTION(+:S) Schedule(Static, 3)\nDO I = 0, 99\nS = S + I\nCALL WORK()\nEND DO\n!$WS END DO\nCALL PUT(S)')
    yield case('loops/enddo-glued', 'integer :: i', '!$ws do\n' + LOOP + '\ncell(i) = 1\ncall work()\nenddo\n!$ws enddo\ncall put(cell)')
    yield case('loops/comment-behind', 'integer :: i', '!$ws do schedule(dynamic) ! a comment\n' + LOOP + '\ncell(i) = 1\ncall work()\nend do\ncall put(cell)')
    yield case('loops/bounds-are-calls', 'integer :: i\ninteger, external :: from@', '!$ws do\ndo i = from@(1), from@(80), from@(2)\ncell(i) = 1\ncall work()\nend do\ncall put(cell)',
               scope='integer function from@(n)\nimplicit none\ninteger :: n\nfrom@ = n + 1\nend function')


def collapsed():
    dimension = {'up': '{v} = 1, {n}', 'down': '{v} = {n}, 1, -1', 'by-2': '{v} = 1, {n}, 2', 'computed': '{v} = 1, n{n}'}
    sizes = {'i': 8, 'j': 5, 'k': 4}
    for depth in (1, 2, 3):
        for kinds in product(dimension, repeat=depth):
            if depth == 3 and hash_of(kinds) % 3:
                continue
            nest = '\n'.join('do ' + dimension[kind].format(v=v, n=n) for kind, (v, n) in zip(kinds, sizes.items()))
            index = ['i', 'i, j', 'i, j, k'][depth - 1]
            shape = ['8', '8,5', '8,5,4'][depth - 1]
            yield case(f'collapse/{depth}/{"-".join(kinds)}', f'integer :: i, j, k, n8, n5, n4, hits({shape})',
                       f'n8 = 8\nn5 = 5\nn4 = 4\nhits = 0\n!$ws do collapse({depth})\n{nest}\nhits({index}) = hits({index}) + 1\ncall work()\n' + 'end do\n' * depth + 'call put(hits)')
    yield case('collapse/lastprivate', 'integer :: i, j, x', 'x = 0\n!$ws do collapse(2) lastprivate(i, j, x)\ndo i = 7, 1, -1\ndo j = 1, 5\nx = 10 * i + j\ncall work()\nend do\nend do\ncall put(i)\ncall put(j)\ncall put(x)')
    yield case('collapse/int8', 'integer(8) :: i\ninteger(2) :: j', '!$ws do collapse(2) schedule(dynamic, 3)\ndo i = 0, 9\ndo j = 0, 9_2\ncell(int(10 * i + j)) = 1\ncall work()\nend do\nend do\ncall put(cell)')


TYPES = '''type pair
  integer :: a, b
end type
'''


def data_clauses():
    kinds = {   # declaration, start, set to V, read
        'integer': ('integer :: x', 'x = 7', 'x = V', 'x'),
        'int8': ('integer(8) :: x', 'x = 7', 'x = V', 'int(x)'),
        'real': ('real(8) :: x', 'x = 7', 'x = V', 'int(x)'),
        'logical': ('logical :: x', 'x = .true.', 'x = mod(V, 2) == 0', 'merge(1, 0, x)'),
        'character': ('character(len=5) :: x', "x = 'abcde'", "x = char(65 + mod(V, 20)) // 'zzzz'", '(iachar(x(1:1)) + iachar(x(5:5)))'),
        'complex': ('complex(8) :: x', 'x = (7, 7)', 'x = cmplx(V, 1, 8)', 'int(real(x) + aimag(x))'),
        'type': ('type(pair) :: x', 'x = pair(7, 7)', 'x = pair(V, V)', '(x%a + x%b)'),
        'array': ('integer :: x(5)', 'x = 7', 'x = [V, V, V, V, V + 1]', '(x(1) + x(5))'),
        'bounds': ('real :: x(-1:1, 2)', 'x = 7', 'x = V', 'int(x(-1, 1) + x(1, 2))'),
        'allocatable': ('integer, allocatable :: x(:)', 'allocate(x(4))\nx = 7', 'x = V', '(x(1) + x(4))'),
        'pointer': ('integer, pointer :: x\ninteger, target :: to(0:99)', 'to = [(k, k = 0, 99)]\nx => to(7)', 'x => to(mod(V, 100))', 'x'),
        'saved': ('integer, save :: x', 'x = 7', 'x = V', 'x'),
        'module': ('', 'shared_x = 7', 'shared_x = V', 'shared_x'),
        'automatic': ('integer :: x(serial + 5 - serial)', 'x = 7', 'x = V', '(x(1) + x(5))'),
    }
    loops = {'plain': ('do i = 0, 59', '', 1), 'int8-down': ('do l = 59, 0, -1\ni = int(l)', ' private(i)', 1), 'collapse': ('do r = 0, 9\ndo c = 0, 5\ni = 6 * r + c', ' collapse(2) private(i)', 2),
             'schedule': ('do i = 0, 59', ' schedule(dynamic, 3) steal_schedule(guided)', 1)}
    for (kind, (declare, start, assign, read)), (form, (loop, add, depth)) in product(kinds.items(), loops.items()):
        x = 'shared_x' if kind == 'module' else 'x'
        store, set_ = f'cell(i) = {read}', assign.replace('V', 'i')
        end = 0 if form == 'int8-down' else 59
        texts = {
            'private': (f'private({x})', f'{set_}\n{store}', '' if kind in ('module',) else f'if (serial == 0) call put({read} - before)\nif (serial == 1) call put(0)'),
            'firstprivate': (f'firstprivate({x})', store, f'call put({read})'),
            'lastprivate': (f'lastprivate({x})', f'{set_}\n{store}', f'call put({read})'),
            'first-and-last': (f'firstprivate({x}) lastprivate({x})', f'{store}\nif (i == {end}) then\n{set_}\nend if', f'call put({read})'),
            'shared': (f'shared({x})', store, f'call put({read})'),
            'default-none': (f'default(none) shared({x}, cell)', store, f'call put({read})'),
            'implicit': ('', f'{store}\nif (i == 30) cell(200) = 1', f'call put({read})'),
            'firstprivate-and-reduction': (f'firstprivate({x}) reduction(+:total)', f'{store}\ntotal = total + {read}', f'call put({read})\ncall put(total)'),
            'lastprivate-and-reduction': (f'reduction(+:total) lastprivate({x})', f'{set_}\n{store}\ntotal = total + {read}', f'call put({read})\ncall put(total)'),
        }
        for clause, (pragma, body, after) in texts.items():
            if kind == 'pointer' and clause in ('shared', 'default-none', 'implicit') and form != 'plain':
                continue
            if form != 'plain' and kind not in ('integer', 'array', 'allocatable', 'type') and hash_of((kind, form, clause)) % 4:
                continue
            if form == 'collapse' and 'default' in clause:
                pragma = pragma.replace('cell)', 'cell)')
            yield case(f'data/{clause}/{kind}/{form}', f'integer :: i, k, r, c, total, before\ninteger(8) :: l\n{declare}',
                       f'total = 0\n{start}\nbefore = {read}\n!$ws do {pragma}{add}\n{loop}\n{body}\ncall work()\n' + 'end do\n' * depth + f'call put(cell)\n{after}')
    yield case('data/assumed-shape', 'integer :: v(60)\ninterface\nsubroutine fill@(v)\ninteger :: v(:)\nend subroutine\nend interface', 'v = 0\ncall fill@(v(::2))\ncall put(v)', regions=0,
               scope='subroutine fill@(v)\nuse conform\nimplicit none\ninteger :: v(:), i\n!$ws do\ndo i = 1, size(v)\nv(i) = v(i) + i\ncall work()\nend do\nend subroutine')
    yield case('data/explicit-shape', 'integer :: v(60)', 'v = 0\ncall fill@(v, 60)\ncall put(v)', regions=0,
               scope='subroutine fill@(v, n)\nuse conform\nimplicit none\ninteger :: n, v(n), i\n!$ws do firstprivate(n)\ndo i = 1, n\nv(i) = v(i) + n\ncall work()\nend do\nend subroutine')
    yield case('data/optional-and-value', 'integer :: v(60)\ninterface\nsubroutine fill@(v, n, more)\ninteger :: v(60)\ninteger, value :: n\ninteger, optional :: more\nend subroutine\nend interface',
               'v = 0\ncall fill@(v, 60)\ncall fill@(v, 50, 3)\ncall put(v)', regions=0,
               scope='subroutine fill@(v, n, more)\nuse conform\nimplicit none\ninteger :: v(60), i\ninteger, value :: n\ninteger, optional :: more\n!$ws do\ndo i = 1, n\nv(i) = v(i) + i\n'
               'if (present(more)) v(i) = v(i) * more\ncall work()\nend do\nend subroutine')
    yield case('data/contained', 'integer :: base, k', 'base = 3\ncall inner()\ncall put(cell)\ncall put(base)\ncontains\nsubroutine inner()\ninteger :: i\n!$ws do\ndo i = 0, 59\ncell(i) = cell(i) + base\ncall work()\nend do\nend subroutine', regions=0)
    yield case('data/associate', 'integer :: i, v(60)', 'v = 1\nassociate (w => v(1:60))\n!$ws do\ndo i = 1, 60\nw(i) = w(i) + i\ncall work()\nend do\nend associate\ncall put(v)')
    yield case('data/common', 'integer :: i, x\ncommon /block@/ x', 'x = 7\n!$ws do lastprivate(x)\ndo i = 0, 59\nx = i\ncell(i) = x\ncall work()\nend do\ncall put(cell)\ncall put(x)')


def reductions():
    operations = {'+': 'r = r + N', '-': 'r = r - N', '*': 'if (mod(i, 25) == 0) r = r * 2', 'max': 'r = max(r, N)', 'min': 'r = min(r, 50 - N)',
                  'iand': 'r = iand(r, not(ishft(ONE, mod(i, 5))))', 'ior': 'r = ior(r, ishft(ONE, mod(i, 6)))', 'ieor': 'r = ieor(r, N)',
                  '.and.': 'r = r .and. i /= 60', '.or.': 'r = r .or. i == 60', '.eqv.': 'r = r .eqv. mod(i, 3) == 0', '.neqv.': 'r = r .neqv. mod(i, 3) == 0'}
    first = {'*': '1', 'iand': '127', 'min': '60', '.and.': '.true.', '.or.': '.false.', '.eqv.': '.true.', '.neqv.': '.false.'}
    types = {**KINDS, **REALS, **COMPLEX, 'logical': 'logical'}
    for operator, (short, type_) in product(operations, types.items()):
        if (operator[0] == '.') != (short == 'logical') or (operator[0] == 'i' and short not in KINDS) or (operator in ('max', 'min') and short in COMPLEX):
            continue
        kind = re.sub(r'\D', '', short)
        convert = f'int(mod(i, 3), {kind})' if short in KINDS else f'real(mod(i, 3), {kind})'
        text = operations[operator].replace('ONE', f'1_{kind}').replace('N', convert).replace('50 -', f'50_{kind} -' if short in KINDS else f'50._{kind} -')
        for form, clauses, loop in (('plain', '', LOOP), ('int8', '', 'do l = 0, 99\ni = int(l)'), ('chunks', ' schedule(dynamic, 7) steal_schedule(dynamic, 3)', LOOP)):
            if form != 'plain' and hash_of((operator, short, form)) % 2:
                continue
            yield case(f'reductions/{operator}/{short}/{form}', f'integer :: i\ninteger(8) :: l\n{type_} :: r',
                       f'r = {first.get(operator, "0")}\n!$ws do reduction({operator}:r){clauses}{" private(i)" if form == "int8" else ""}\n{loop}\n{text}\ncall work()\nend do\ncall put(r)')
        if short in ('int4', 'real8') and operator in ('+', '*', 'max', 'min'):
            for form, declare in (('array', f'{type_} :: r(4)'), ('allocatable', f'{type_}, allocatable :: r(:)')):
                allocate = 'allocate(r(4))\n' if form == 'allocatable' else ''
                of_element = re.sub(r'\br\b', 'r(1 + mod(i, 4))', text)
                yield case(f'reductions/{operator}/{short}/{form}', f'integer :: i\n{declare}',
                           f'{allocate}r = {first.get(operator, "0")}\n!$ws do reduction({operator}:r)\n{LOOP}\n{of_element}\ncall work()\nend do\ncall put(r)')
    yield case('reductions/several', 'integer :: i, a, b, c\nreal(8) :: d', 'a = 0\nb = 1000\nc = -1\nd = 0\n!$ws do reduction(+:a, d) reduction(min:b), reduction(max:c)\n' + LOOP +
               '\na = a + i\nd = d + i\nb = min(b, 100 - i)\nc = max(c, i)\ncall work()\nend do\ncall put(a)\ncall put(b)\ncall put(c)\ncall put(d)')
    yield case('reductions/matrix', 'integer :: i, m(2, 3)', 'm = 0\n!$ws do reduction(+:m)\n' + LOOP + '\nm(1 + mod(i, 2), 1 + mod(i, 3)) = m(1 + mod(i, 2), 1 + mod(i, 3)) + i\ncall work()\nend do\ncall put(m)')
    yield case('reductions/declared', 'integer :: i\ntype(pair) :: r\n!$ws declare reduction(add : pair : omp_out = pair(omp_out%a + omp_in%a, omp_out%b - omp_in%b)) &\n!$ws initializer(omp_priv = pair(0, 0))',
               'r = pair(1, 2)\n!$ws do reduction(add : r)\n' + LOOP + '\nr%a = r%a + i\ncall work()\nend do\ncall put(r%a)')


def schedules():
    kinds = {'': 0, 'static': 1, 'dynamic': 2, 'guided': 3, 'auto': 0, 'runtime': 4}
    chunks = {'': 0, '4': 4, 'n / 20': 5}
    both = [(kind, chunk) for kind, chunk in product(kinds, chunks) if not chunk or kind not in ('', 'auto', 'runtime')]

    def clause(name, kind, chunk):
        return f'{name}({kind}{", " if chunk else ""}{chunk})' if kind else ''
    for own, steal, type_ in product(both, both, ('integer', 'integer(8)')):
        if hash_of((own, steal, type_)) % 2 and own[0] and steal[0]:
            continue
        text = ' '.join(filter(None, (clause('schedule', *own), clause('steal_schedule', *steal))))
        yield case(f'schedules/{text.replace(" ", "") or "none"}/{type_}', f'{type_} :: i, n', f'n = 100\n!$ws do {text}\ndo i = 1, n\ncell(i) = cell(i) + 1\ncall work()\nend do\ncall put(cell)\n'
                   f'call schedule_is({kinds[own[0]]}, {chunks[own[1]]}_c_long, {kinds[steal[0]]}, {chunks[steal[1]]}_c_long)')
    for type_ in ('integer(1)', 'integer(2)', 'integer(8)'):
        yield case(f'schedules/chunk-of-type/{type_}', f'integer :: i\n{type_} :: c', f'c = 9\n!$ws do schedule(dynamic, c) steal_schedule(guided, c + 1)\n{LOOP}\ncell(i) = 1\ncall work()\nend do\n'
                   'call put(cell)\ncall schedule_is(2, 9_c_long, 3, 10_c_long)')
    for name, literal in (('single', "'a name'"), ('double', '"a name"')):
        yield case(f'names/{name}', 'integer :: i', f'!$ws do name({literal})\n{LOOP}\ncell(i) = 1\ncall work()\nend do\ncall put(cell)\ncall name_is("a name"//c_null_char)')


def atomics():
    types = {**KINDS, **REALS, **COMPLEX, 'logical': 'logical'}
    updates = {'x+e': ('irc', 'x = x + E', '0'), 'e+x': ('irc', 'x = E + x', '0'), 'x-e': ('irc', 'x = x - E', '0'), 'x*e': ('irc', 'x = x * F', '1'), 'x/e': ('r', 'x = x / F', '1024'),
               'max': ('ir', 'x = max(x, E)', '0'), 'max-other-way': ('ir', 'x = max(E, x)', '0'), 'min': ('ir', 'x = min(x, E)', '50'), 'iand': ('i', 'x = iand(x, not(ishft(ONE, mod(i, 5))))', '127'),
               'ior': ('i', 'x = ior(x, ishft(ONE, mod(i, 6)))', '0'), 'ieor': ('i', 'x = ieor(x, E)', '0'), '.and.': ('l', 'x = x .and. i /= 60', '.true.'), '.or.': ('l', 'x = x .or. i == 60', '.false.'),
               '.eqv.': ('l', 'x = x .eqv. mod(i, 3) == 0', '.true.'), '.neqv.': ('l', 'x = mod(i, 3) == 0 .neqv. x', '.false.')}

    def letter(short):
        return 'l' if short == 'logical' else short[0]

    def fit(text, short):
        kind = re.sub(r'\D', '', short)
        convert = 'int' if short in KINDS else 'real'
        return text.replace('ONE', f'1_{kind}').replace('E', f'{convert}(mod(i, 3), {kind})').replace('F', f'{convert}(merge(2, 1, mod(i, 25) == 0), {kind})') if short != 'logical' else text

    for (name, (letters, statement, start)), (short, type_) in product(updates.items(), types.items()):
        if letter(short) not in letters:
            continue
        for number, order in enumerate(ORDERS['update']):
            if number != hash_of((name, short)) % 4 and short not in ('int4', 'real8'):
                continue
            kind = 'update' if number % 2 else ''
            end = '!$ws end atomic\n' if number % 3 == 1 else ''
            yield case(f'atomic/update/{name}/{short}/{order or "no-order"}', f'integer :: i\n{type_} :: x',
                       f'x = {start}\n!$ws do\n{LOOP}\n!$ws atomic {" ".join(filter(None, (kind, order)))}\n{fit(statement, short)}\n{end}call work()\nend do\ncall put(x)')
    captures = {'v=x,x=x+e': 'v = x\nx = x + 1', 'x=x+e,v=x': 'x = x + 1\nv = x', 'x=e+x,v=x': 'x = 1 + x\nv = x', 'v=x,x=e+x': 'v = x\nx = 1 + x'}
    for (name, statement), (short, type_) in product(captures.items(), {**KINDS, **REALS}.items()):
        for number, order in enumerate(ORDERS['capture']):
            if number != hash_of((name, short)) % 6 and short not in ('int4', 'real8'):
                continue
            yield case(f'atomic/capture/{name}/{short}/{order or "no-order"}', f'integer :: i\n{type_} :: x, v',
                       f'x = 0\n!$ws do private(v)\n{LOOP}\n!$ws atomic capture {order}\n{statement}\n!$ws end atomic\ncell(int(v)) = cell(int(v)) + 1\ncall work()\nend do\ncall put(x)\ncall put(cell)')
    for (short, type_), order in product({**KINDS, **REALS, **COMPLEX, 'logical': 'logical'}.items(), ORDERS['read']):
        values = ('.true.', '.false.') if short == 'logical' else ('1', '77')
        equal = '.eqv.' if short == 'logical' else '=='
        write = order.replace('acquire', 'release')
        yield case(f'atomic/read-write/{short}/{order or "no-order"}', f'integer :: i\n{type_} :: x, a, b, v',
                   f'a = {values[0]}\nb = {values[1]}\nx = a\n!$ws do private(v)\n{LOOP}\nif (mod(i, 3) == 0) then\n!$ws atomic write {write}\nx = a\nelse if (mod(i, 3) == 1) then\n'
                   f'!$ws atomic {write} write\nx = b\nelse\n!$ws atomic read {order}\nv = x\nif ((v {equal} a) .or. (v {equal} b)) cell(i) = 1\nend if\ncall work()\nend do\ncall put(cell)')
    for short, type_ in {**KINDS, **REALS, **COMPLEX}.items():
        if short in ('int1', 'int2'):   # overflow is wrong in Fortran
            continue
        yield case(f'atomic/stress/{short}', f'integer :: i, k\n{type_} :: x', f'x = 0\n!$ws do schedule(dynamic, 5) steal_schedule(dynamic, 5) private(k)\n{LOOP}\ndo k = 1, 1000\n!$ws atomic\nx = x + 1\nend do\nend do\ncall put(x)')
    places = {'element': ('integer :: x(0:3)', 'x = 0', 'x(mod(i, 4)) = x(mod(i, 4)) + i', 'call put(x)'),
              'component': ('type(pair) :: x', 'x = pair(0, 0)', 'x%b = x%b + i', 'call put(x%b)'),
              'indirect': ('integer :: x(8), to(0:3)', 'x = 0\nto = [8, 1, 3, 1]', 'x(to(mod(i, 4))) = x(to(mod(i, 4))) + 1', 'call put(x)'),
              'allocatable': ('real(8), allocatable :: x(:)', 'allocate(x(0:3))\nx = 0', 'x(mod(i, 4)) = x(mod(i, 4)) + i', 'call put(x)'),
              'pointer': ('integer, pointer :: x\ninteger, target :: y', 'y = 0\nx => y', 'x = x + i', 'call put(y)'),
              'module': ('', 'shared_x = 0', 'shared_x = shared_x + i', 'call put(shared_x)')}
    for place, (declare, start, statement, out) in places.items():
        yield case(f'atomic/place/{place}', f'integer :: i\n{declare}', f'{start}\n!$ws do\n{LOOP}\n!$ws atomic\n{statement}\ncall work()\nend do\n{out}')
    add = 'subroutine add@(x, i)\nimplicit none\ninteger :: x, i\n!$ws atomic\nx = x + i\nend subroutine'
    for position, where in (('same-file', 'scope'), ('other-file', 'other')):
        yield case(f'atomic/position/{position}', 'integer :: i, x', f'x = 0\n!$ws do\n{LOOP}\ncall add@(x, i)\ncall work()\nend do\ncall add@(x, 5)\ncall put(x)', **{where: add})
    yield case('atomic/position/if', 'integer :: i, x, y', f'x = 0\ny = 0\n!$ws do\n{LOOP}\nif (mod(i, 2) == 0) then\n!$ws atomic\nx = x + 1\nelse\n!$ws atomic\ny = y + 2\nend if\ncall work()\nend do\ncall put(x)\ncall put(y)')
    yield case('atomic/position/nested', 'integer :: i, j, x', 'x = 0\n!$ws do\ndo i = 0, 19\n!$ws do\ndo j = 1, 5\n!$ws atomic\nx = x + 1\nend do\ncall work()\nend do\ncall put(x)')
    yield case('atomic/position/contained', 'integer :: i, x', f'x = 0\n!$ws do\n{LOOP}\ncall inner(i)\ncall work()\nend do\ncall put(x)\ncontains\nsubroutine inner(n)\ninteger :: n\n!$ws atomic relaxed\nx = x + n\nend subroutine')
    yield case('atomic/omp-parallel', 'integer :: i, x', f'x = 0\n!$omp parallel do num_threads(3)\n{LOOP}\n!$ws atomic\nx = x + i\nend do\n!$omp end parallel do\ncall put(x)', openmp=True, regions=0)


def criticals():
    slow = 'v = x\ncall let_others_run()\nx = v + i'
    for name, text in (('unnamed', ''), ('named', '(name@)'), ('upper-case', '(Name@)')):
        yield case(f'critical/{name}', 'integer :: i, x, v', f'x = 0\n!$ws do private(v)\n{LOOP}\n!$ws critical {text}\n{slow}\n!$ws end critical {text}\ncall work()\nend do\ncall put(x)')
    yield case('critical/end-without-name', 'integer :: i, x, v', f'x = 0\n!$ws do private(v)\n{LOOP}\n!$ws critical\n{slow}\n!$ws end critical\ncall work()\nend do\ncall put(x)')
    yield case('critical/one-name-in-two-cases', 'integer :: i, x, v', f'x = 0\n!$ws do private(v)\n{LOOP}\nif (mod(i, 2) == 0) then\n!$ws critical (both@)\n{slow}\n!$ws end critical (both@)\nelse\n'
               f'!$ws critical (BOTH@)\n{slow}\n!$ws end critical (BOTH@)\nend if\ncall work()\nend do\ncall put(x)')
    yield case('critical/nested-names', 'integer :: i, x, y, v', f'x = 0\ny = 0\n!$ws do private(v)\n{LOOP}\n!$ws critical (outer@)\n{slow}\n!$ws critical (inner@)\nv = y\ncall let_others_run()\ny = v + i\n!$ws end critical (inner@)\n'
               '!$ws end critical (outer@)\ncall work()\nend do\ncall put(x)\ncall put(y)')
    for name, words in (('unnamed', ''), ('named', '(file@)')):
        yield case(f'critical/other-file/{name}', 'integer :: i, x, v', f'x = 0\n!$ws do private(v)\n{LOOP}\nif (mod(i, 2) == 0) then\n!$ws critical {words}\n{slow}\n!$ws end critical {words}\nelse\ncall add@(x, i)\nend if\ncall work()\nend do\ncall put(x)',
                   other=f'subroutine add@(x, i)\nuse conform\nimplicit none\ninteger :: x, i, v\n!$ws critical {words}\nv = x\ncall let_others_run()\nx = v + i\n!$ws end critical {words}\nend subroutine')
    yield case('critical/outside-a-loop', 'integer :: i, x', 'x = 0\ndo i = 1, 20\n!$ws critical\nx = x + i\n!$ws end critical\nend do\ncall put(x)', regions=0)
    yield case('critical/with-atomic', 'integer :: i, x, y, v', f'x = 0\ny = 0\n!$ws do private(v)\n{LOOP}\n!$ws critical\n{slow}\n!$ws atomic\ny = y + i\n!$ws end critical\n!$ws atomic\ny = y + i\ncall work()\nend do\ncall put(x)\ncall put(y)')


def nesting():
    yield case('nested/lexical', 'integer :: i, j', '!$ws do\ndo i = 0, 9\n!$ws do\ndo j = 0, 9\ncell(10 * i + j) = 1\ncall work()\nend do\nend do\ncall put(cell)')
    yield case('nested/reductions', 'integer :: i, j, s, t', 't = 0\n!$ws do reduction(+:t) private(s)\ndo i = 0, 19\ns = 0\n!$ws do reduction(+:s)\ndo j = 1, i\ns = s + j\ncall work()\nend do\nt = t + s\nend do\ncall put(t)')
    yield case('nested/in-subroutine', 'integer :: i', '!$ws do\ndo i = 0, 9\ncall row@(i)\ncall work()\nend do\ncall row@(11)\ncall put(cell)', regions=2,
               scope='subroutine row@(i)\nuse conform\nimplicit none\ninteger :: i, j\n!$ws do schedule(dynamic, 2)\ndo j = 0, 9\ncell(10 * i + j) = 1\nend do\nend subroutine')
    yield case('nested/one-after-the-other', 'integer :: i', '!$ws do\ndo i = 0, 59\ncell(i) = 1\ncall work()\nend do\n!$ws end do\n!$ws do\ndo i = 0, 59\ncell(i) = cell(i) * 3\ncall work()\nend do\ncall put(cell)', regions=2)


def with_openmp():
    yield case('openmp/ws-in-parallel', 'integer :: i, own(0:39)', '!$omp parallel num_threads(3) private(own)\n!$ws do\ndo i = 0, 39\nown(i) = i\nend do\n!$omp critical\ncell(0:39) = own\n!$omp end critical\n!$omp end parallel\ncall put(cell)', openmp=True, regions=0)
    yield case('openmp/parallel-in-ws', 'integer :: i, j', '!$ws do\ndo j = 0, 9\n!$omp parallel do num_threads(2)\ndo i = 0, 19\ncell(20 * j + i) = i\nend do\n!$omp end parallel do\ncall work()\nend do\ncall put(cell)', openmp=True)
    yield case('openmp/simd-in-ws', 'integer :: i, j, t, s', 's = 0\n!$ws do reduction(+:s) private(t)\ndo j = 0, 9\nt = 0\n!$omp simd reduction(+:t)\ndo i = 0, 19\nt = t + i * j\nend do\ns = s + t\ncall work()\nend do\ncall put(s)', openmp=True)
    yield case('openmp/atomic-in-ws', 'integer :: i, x', f'x = 0\n!$ws do\n{LOOP}\n!$omp atomic\nx = x + i\ncall work()\nend do\ncall put(x)', openmp=True)
    yield case('openmp/both-in-turn', 'integer :: i, s, t', f's = 0\nt = 0\n!$omp parallel do reduction(+:s) num_threads(2)\n{LOOP}\ns = s + i\nend do\n!$omp end parallel do\n!$ws do reduction(+:t)\n{LOOP}\nt = t + i\ncall work()\nend do\ncall put(s)\ncall put(t)', openmp=True)
    yield case('openmp/conditional-lines', 'integer :: i, s', f's = 0\n!$ s = 5\n!$ws do reduction(+:s)\n{LOOP}\ns = s + i\ncall work()\nend do\ncall put(s)')
    yield case('openmp/ignored-beside-ws', 'integer :: i, s', f's = 0\n!$ws do reduction(+:s)\n{LOOP}\ns = s + i\ncall work()\nend do\n!$omp parallel do reduction(+:s)\n{LOOP}\ns = s + i\nend do\n!$omp end parallel do\ncall put(s)')


def vectorizable():
    for type_, text in product(('real(4)', 'real(8)', 'integer(4)', 'integer(2)'), ('a(i) = b(i) + c(i)', 'a(i) = a(i) + 2 * b(i)', 'a(i) = merge(b(i), c(i), b(i) > c(i))')):
        yield case(f'vectors/{type_}/{text.replace(" ", "")}', f'integer :: i\n{type_} :: a(500), b(500), c(500)',
                   f'a = 1\ndo i = 1, 500\nb(i) = mod(i, 50)\nc(i) = mod(i, 7)\nend do\n!$ws do\ndo i = 1, 500\n{text}\nend do\ncall put(a)')


def simd_loops():
    for (short, type_), (name, bounds) in product(KINDS.items(), {'up': '1, 90', 'down': '90, 1, -1', 'by-3': '2, 90, 3', 'none': '5, 4'}.items()):
        for clause in ('', 'safelen(8)', 'simdlen(4) schedule(dynamic, 7)', 'if(a(1) > 0)'):
            if hash_of((short, name, clause)) % 2:
                continue
            end = '!$ws end do simd\n' if hash_of((name, clause)) % 2 else ''
            yield case(f'simd/{short}/{name}/{clause.split("(")[0] or "none"}', f'{type_} :: i\nreal :: a(90), b(90)',
                       f'a = 3\nb = 4\n!$ws do simd {clause}\ndo i = {bounds}\na(i) = a(i) * 2 + b(i) + i\nend do\n{end}call put(int(a))')
    for operator, type_, text in (('+', 'real(4)', 'r = r + b(i)'), ('+', 'integer', 'r = r + b(i)'), ('max', 'real(8)', 'r = max(r, b(i))'), ('ior', 'integer', 'r = ior(r, b(i))')):
        yield case(f'simd/reduction/{operator}/{type_}', f'integer :: i\n{type_} :: r, b(0:99)', f'b = [(mod(i, 7), i = 0, 99)]\nr = 1\n!$ws do simd reduction({operator} : r)\n{LOOP}\n{text}\nend do\ncall put(r)')
    yield case('simd/collapse', 'integer :: i, j, hits(9, 12)', 'hits = 0\n!$ws do simd collapse(2)\ndo j = 1, size(hits, 2)\ndo i = 1, size(hits, 1)\nhits(i, j) = hits(i, j) + i\nend do\nend do\ncall put(hits)')
    yield case('simd/lastprivate-variable', 'integer :: i', '!$ws do simd lastprivate(i)\ndo i = 0, 90, 4\ncell(i) = i\nend do\ncall put(cell)\ncall put(i)')


def sections():
    def text(bodies, end='end sections'):
        return '\n!$ws section\n'.join(body + '\ncall work()' for body in bodies) + f'\n!$ws {end}\n'
    for n, first, end in ((1, '', 'end sections'), (2, '!$ws section\n', 'endsections'), (5, '', 'END SECTIONS'), (12, '!$ws section\n', 'end sections')):
        yield case(f'sections/{n}', '', f'!$ws sections\n{first}{text([f"cell({k}) = {k + 1}" for k in range(n)], end)}call put(cell)')
    kinds = {'integer': ('integer :: x', 'x = 7', 'x = V', 'x'), 'real': ('real(8) :: x', 'x = 7', 'x = V', 'int(x)'), 'type': ('type(pair) :: x', 'x = pair(7, 7)', 'x = pair(V, V)', '(x%a + x%b)'),
             'array': ('integer :: x(5)', 'x = 7', 'x = V', '(x(1) + x(5))'), 'allocatable': ('integer, allocatable :: x(:)', 'allocate(x(4))\nx = 7', 'x = V', '(x(1) + x(4))')}
    for kind, (declare, start, assign, read) in kinds.items():
        store = [f'cell({k}) = {read}' for k in range(6)]
        change = [assign.replace('V', str(10 + k)) + f'\ncell({k}) = {read}' for k in range(6)]
        for clause, bodies in (('private', change), ('firstprivate', store), ('lastprivate', change), ('shared', store)):
            after = '' if clause == 'private' else f'call put({read})\n'
            yield case(f'sections/{clause}/{kind}', declare, f'{start}\n!$ws sections {clause}(x)\n{text(bodies)}{after}call put(cell)')
        yield case(f'sections/first-and-last/{kind}', declare, f'{start}\n!$ws sections firstprivate(x) lastprivate(x)\n{text(store + [assign.replace("V", "99")])}call put({read})\ncall put(cell)')
    for operator, change in (('+', 'r = r + {k}'), ('*', 'r = r * 2'), ('max', 'r = max(r, {k})')):
        for type_ in ('integer', 'real(8)'):
            yield case(f'sections/reduction/{operator}/{type_}', f'{type_} :: r', f'r = 1\n!$ws sections reduction({operator} : r)\n{text([change.format(k=k if type_ == "integer" else f"{k}d0") for k in range(7)])}call put(r)')
    loop = 'do i = 1, 20'
    yield case('sections/atomic', 'integer :: i, x', 'x = 0\n!$ws sections private(i)\n' + text([f'{loop}\n!$ws atomic\nx = x + i\nend do'] * 5) + 'call put(x)')
    yield case('sections/critical', 'integer :: i, x, v', 'x = 0\n!$ws sections private(i, v)\n' + text([f'{loop}\n!$ws critical (parts@)\nv = x\ncall let_others_run()\nx = v + i\n!$ws end critical (parts@)\nend do'] * 5) + 'call put(x)')
    yield case('sections/ws-do-inside', 'integer :: i', '!$ws sections\n' + text([f'!$ws do\n{loop}\ncell({20 * k} + i) = {k}\nend do\n!$ws end do' for k in range(5)]) + 'call put(cell)')
    yield case('sections/continuation', 'integer :: s', 's = 0\n!$ws sections reduction(+ &\n!$ws : s) &\n\n!$ws& name(\'parts\')\n' + text([f's = s + {k}' for k in range(5)]) + 'call put(s)')


def conditions():
    for name, condition in {'variable': 'yes', 'comparison': 'n > 3', 'and': 'yes .and. n > 0', 'constant': '.true.', 'kind-1': 'short', 'array': 'many(2)'}.items():
        for clauses in ('', ' schedule(dynamic, n / 20)', ' steal_schedule(guided, n / 30) schedule(static)'):
            for truth in (1, 0):
                text = condition if truth else f'.not. ({condition})'
                yield case(f'if/{name}/{"true" if truth else "false"}/{clauses.split("(")[0].strip() or "none"}', 'integer :: i, n\nlogical :: yes, many(3)\nlogical(1) :: short',
                           f'n = 100\nyes = .true.\nshort = .true.\nmany = .true.\n!$ws do if({text}){clauses}\n{LOOP}\ncell(i) = cell(i) + 3\ncall work()\nend do\ncall put(cell)', regions=truth)
    yield case('if/sections', 'integer :: n', 'n = 0\n!$ws sections if(n > 3)\ncell(1) = 1\n!$ws section\ncell(2) = cell(1)\n!$ws end sections\ncall put(cell)', regions=0)


def tasks():
    task_case = functools.partial(case, regions=0, tasks=1)
    many = 'do i = 1, 60'
    for name, clauses in {'none': '', 'default-none': 'default(none) firstprivate(i) shared(cell)', 'if': 'if(mod(i, 3) > 0)', 'final': 'final(i > 20)', 'priority': 'priority(mod(i, 5))',
                          'untied': 'untied mergeable', 'named': "name('task@')"}.items():
        yield task_case(f'tasks/clauses/{name}', 'integer :: i', f'{many}\n!$ws task {clauses}\ncell(i) = cell(i) + i\ncall work()\n!$ws end task\nend do\n!$ws taskwait\ncall put(cell)')
    kinds = {'integer': ('integer :: x', 'x = 7', 'x = 9', 'x'), 'real': ('real(8) :: x', 'x = 7', 'x = 9', 'int(x)'), 'type': ('type(pair) :: x', 'x = pair(7, 8)', 'x = pair(9, 9)', '(x%a + x%b)'),
             'array': ('integer :: x(5)', 'x = 7', 'x = 9', '(x(1) + x(5))')}
    for kind, (declare, start, change, read) in kinds.items():
        yield task_case(f'tasks/firstprivate/{kind}', f'integer :: i\n{declare}', f'{start}\n{many}\n!$ws task firstprivate(x)\ncell(i) = {read}\n!$ws end task\nend do\n!$ws taskwait\ncall put({read})\ncall put(cell)')
        yield task_case(f'tasks/depend/{kind}', f'integer :: y\n{declare}', f'{start}\n!$ws task shared(x) depend(out : x)\n{change}\ncall work()\n!$ws end task\n'
                   f'!$ws task shared(x, y) depend(in : x)\ny = {read}\n!$ws end task\n!$ws taskwait\ncall put(y)')
    yield task_case('tasks/chain', 'integer :: i, x', f'x = 1\n{many}\n!$ws task depend(inout : x) shared(x)\nx = mod(x * 3, 10007) + i\ncall work()\n!$ws end task\nend do\n!$ws taskwait\ncall put(x)')
    yield task_case('tasks/group', 'integer :: i', f'!$ws taskgroup\n{many}\n!$ws task\n!$ws task\ncell(i + 60) = i\n!$ws end task\ncell(i) = i\ncall work()\n!$ws end task\nend do\n!$ws end taskgroup\ncall put(cell)')
    for operator, change in (('+', 'r = r + i'), ('max', 'r = max(r, i)')):
        yield task_case(f'tasks/in_reduction/{operator}', 'integer :: i, r', f'r = 3\n!$ws taskgroup task_reduction({operator} : r)\n{many}\n!$ws task in_reduction({operator} : r)\n{change}\n!$ws end task\nend do\n!$ws end taskgroup\ncall put(r)')
        yield task_case(f'tasks/taskloop/reduction/{operator}', 'integer :: i, r', f'r = 3\n!$ws taskloop reduction({operator} : r) grainsize(7)\n{many}\n{change}\ncall work()\nend do\n!$ws end taskloop\ncall put(r)')
    for name, clauses in {'none': '', 'grainsize': 'grainsize(7)', 'num_tasks': 'num_tasks(5)', 'lastprivate': 'lastprivate(last)'}.items():
        for form, head in {'up': many, 'down': 'do i = 59, 1, -3'}.items():
            last = 'last = i\n' if name == 'lastprivate' else ''
            yield task_case(f'tasks/taskloop/{name}/{form}', 'integer :: i, last', f'last = 0\n!$ws taskloop {clauses}\n{head}\ncell(i) = cell(i) + i\n{last}call work()\nend do\n!$ws end taskloop\ncall put(last)\ncall put(cell)')


def cases():
    for generate in (loop_forms, collapsed, data_clauses, reductions, schedules, atomics, criticals, nesting, with_openmp, vectorizable, simd_loops, sections, conditions, tasks):
        yield from generate()


# The program

PUTS = {**KINDS, **REALS, **COMPLEX, 'logical': 'logical'}
HEAD = f'''module conform
use iso_c_binding
implicit none
{TYPES}integer(c_int), bind(C, name='cell') :: cell(0:255)
integer(c_int), bind(C, name='serial') :: serial
integer :: shared_x
interface
subroutine work() bind(C)
end subroutine
subroutine let_others_run() bind(C)
end subroutine
subroutine case_begin(name) bind(C)
import
character(kind=c_char) :: name(*)
end subroutine
subroutine case_shared() bind(C)
end subroutine
subroutine case_end(regions, tasks) bind(C)
import
integer(c_int), value :: regions, tasks
end subroutine
subroutine schedule_is(kind, chunk, steal_kind, steal_chunk) bind(C)
import
integer(c_int), value :: kind, steal_kind
integer(c_long), value :: chunk, steal_chunk
end subroutine
subroutine name_is(name) bind(C)
import
character(kind=c_char) :: name(*)
end subroutine
subroutine put_one(x) bind(C, name='put')
import
real(c_long_double), value :: x
end subroutine
end interface
interface put
procedure {', '.join('put_' + short for short in PUTS)}
end interface
contains
''' + ''.join(f'impure elemental subroutine put_{short}(x)\n{type_}, intent(in) :: x\n'
             + ('call put_one(real(merge(1, 0, x), c_long_double))' if short == 'logical'
                else 'call put_one(real(real(x), c_long_double))\ncall put_one(real(aimag(x), c_long_double))' if short in COMPLEX
                else 'call put_one(real(x, c_long_double))') + '\nend subroutine\n' for short, type_ in PUTS.items()) + 'end module\n'


def plain(text):
    """Without its directives."""
    return '\n'.join(line for line in text.split('\n') if not re.match(r'!\$(ws|omp)', line, re.I))


def program(cases, language):
    """As in cases_c.py."""
    main, other, calls = [(None, HEAD)], [(None, '! other\n')], []
    for number, case in enumerate(cases):
        def text(what):
            return what.replace('@', str(number))
        if case.scope:
            main.append((case, text(case.scope)))
        for name, change in ((f'plain{number}', plain), (f'ws{number}', str)):
            # Unlike in C a declaration may be a directive.
            main.append((case, f'subroutine {name}()\nuse conform\nimplicit none\n{change(text(case.declarations))}\n{change(text(case.body))}\nend subroutine\n'))
        if case.other:
            other.append((case, text(case.other)))
        calls.append(f'call case_begin("{case.name}"//c_null_char)\ncall plain{number}()\ncall case_shared()\ncall ws{number}()\ncall case_end({case.regions}, {case.tasks})')
    main.append((None, "subroutine run_cases() bind(C, name='run_cases')\nuse conform\nimplicit none\n" + '\n'.join(calls) + '\nend subroutine\n'))
    return main, other
