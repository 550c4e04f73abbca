# SPDX-License-Identifier: MIT
"""The matrix's entries for C and C++: a generator of cases for each class."""
import functools
import re
from itertools import product

from case import Case

INTEGERS = {
    'schar': 'signed char', 'uchar': 'unsigned char', 'char': 'char', 'short': 'short', 'ushort': 'unsigned short',
    'int': 'int', 'uint': 'unsigned', 'long': 'long', 'ulong': 'unsigned long', 'llong': 'long long',
    'ullong': 'unsigned long long', 'int8': 'int8_t', 'uint16': 'uint16_t', 'int32': 'int32_t', 'uint64': 'uint64_t',
    'size': 'size_t', 'ptrdiff': 'ptrdiff_t',
}
FLOATS = {'float': 'float', 'double': 'double', 'ldouble': 'long double'}
COUNT = 'for (int i = 0; i < 100; i++)'


def loop_forms():
    """Types x comparison x step x constant or computed bounds."""
    up = {'<': ('i++', 'i += 3', 'i = i + 2', 'i += step'), '<=': ('++i', 'i += 2', 'i = 4 + i', 'i = i + step'),
          '!=': ('i++', '++i', 'i += 1')}
    down = {'>': ('i--', 'i -= 3', 'i = i - 2', 'i -= step'), '>=': ('--i', 'i -= 2', 'i = i - 4', 'i = i - step'),
            '!=': ('i--', '--i', 'i -= 1')}
    mirrored = {'<': '>', '<=': '>=', '>': '<', '>=': '<=', '!=': '!='}
    for (short, type_), computed in product(INTEGERS.items(), (False, True)):
        for direction, table in (('up', up), ('down', down)):
            for (operator, steps) in table.items():
                for step in steps:
                    first, last = (3, 103) if direction == 'up' else (104, 3)   # no step wraps below 0
                    begin, end = ('first', 'last') if computed else (str(first), str(last))
                    test = f'i {operator} {end}' if len(step) % 2 else f'{end} {mirrored[operator]} i'
                    text = (f'{type_} first = {first}, last = {last}, step = 3;\n(void) first; (void) last; (void) step;\n'
                            f'#pragma ws for\nfor ({type_} i = {begin}; {test}; {step}) {{ cell[(int) i]++; work(); }}\nput_cells();')
                    yield Case(f'loops/{short}/{step.replace(" ", "")}/{operator}/{"computed" if computed else "constant"}', text)
    limits = {'schar': ('SCHAR_MIN', 'SCHAR_MAX'), 'short': ('SHRT_MIN', 'SHRT_MAX'), 'int': ('INT_MIN', 'INT_MAX'),
              'long': ('LONG_MIN', 'LONG_MAX'), 'llong': ('LLONG_MIN', 'LLONG_MAX'), 'uchar': ('0', 'UCHAR_MAX'),
              'ushort': ('0', 'USHRT_MAX'), 'uint': ('0', 'UINT_MAX'), 'ulong': ('0', 'ULONG_MAX'),
              'ullong': ('0', 'ULLONG_MAX')}
    for short, (low, high) in limits.items():
        type_ = INTEGERS[short]
        for name, loop, index in (
                ('bottom-up', f'{type_} i = base; i < base + 50; i++', 'i - base'),
                ('bottom-down', f'{type_} i = (base + 50); i > base; i--', 'i - base'),
                ('top-up', f'{type_} i = (top - 50); i < top; i++', 'top - i'),
                ('top-down', f'{type_} i = top; i > top - 50; i--', 'top - i'),
                ('top-up-by-7', f'{type_} i = (top - 50); i < top - 7; i += 7', 'top - i')):
            yield Case(f'loops/{short}/{name}',
                       f'const {type_} base = {low}, top = {high};\n(void) base; (void) top;\n#pragma ws for\n'
                       f'for ({loop}) {{ cell[(int) ({index})]++; work(); }}\nput_cells();')
    for short, type_ in INTEGERS.items():
        for n in (0, 1, 2, 3):
            yield Case(f'loops/{short}/{n}-iterations',
                       f'{type_} n = {n}, last = 77;\n(void) n; (void) last;\n#pragma ws for\n'
                       f'for ({type_} i = 0; i < n; i++) {{ cell[(int) i]++; work(); }}\nput_cells();\n'
                       f'#pragma ws for\nfor ({type_} i = n; i > 0; i--) {{ cell[(int) i + 10]++; }}\nput_cells();', regions=2)
        yield Case(f'loops/{short}/from-behind-the-end',
                   f'{type_} n = 5;\n#pragma ws for\nfor ({type_} i = 9; i < n; i++) cell[(int) i]++;\n'
                   f'#pragma ws for\nfor ({type_} i = 2; i > n; i--) cell[(int) i]++;\nput_cells();', regions=2)
        yield Case(f'loops/{short}/declared-before', f'{type_} i;\n#pragma ws for\nfor (i = 5; i < 99; i++) cell[(int) i] += 2;\nput_cells();')
        yield Case(f'loops/{short}/lastprivate-variable',
                   f'{type_} i;\n#pragma ws for lastprivate(i)\nfor (i = 5; i <= 98; i += 4) cell[(int) i] += 2;\nput_cells();\nput(i);')
    for name, change in (('continue', 'if (i % 3) continue;'), ('switch', 'switch (i % 3) { case 0: break; case 1: cell[i]++; }'),
                         ('inner-loop', 'for (int j = 0; j < i; j++) { if (j > 5) break; cell[i]++; }'),
                         ('label', 'if (i % 2) goto past; cell[i]++; past: ;')):
        yield Case(f'loops/body/{name}', f'#pragma ws for\n{COUNT} {{ {change} cell[i] += 2; work(); }}\nput_cells();')
    for name, pragma in (('ivdep', 'GCC ivdep'), ('unroll', 'GCC unroll 4')):
        yield Case(f'loops/pragma-between/{name}', f'#pragma ws for\n#pragma {pragma}\n{COUNT} cell[i]++;\nput_cells();', compilers=('gcc',))
    yield Case('loops/_Pragma', f'SHARED@ {COUNT} {{ cell[i]++; work(); }}\nput_cells();', scope='#define SHARED@ _Pragma("ws for schedule(dynamic, 3)")')
    yield Case('loops/_Pragma-in-argument', f'ID@(_Pragma("ws for") {COUNT} {{ cell[i]++; work(); }})\nput_cells();', scope='#define ID@(x) x')
    yield Case('loops/bounds-are-calls',
               '#pragma ws for\nfor (int i = from@(); i < to@(); i += step@()) { cell[i]++; work(); }\nput_cells();',
               scope='static int from@(void) { return 4; }\nstatic int to@(void) { return 90; }\nstatic int step@(void) { return 3; }')
    for type_, (operator, step) in product(('int', 'char', 'double', 'struct point'), (
            ('p = a; p < a + 60; p++', 1), ('p = a; p <= a + 59; p += 2', 2), ('p = a; p != a + 60; ++p', 1),
            ('p = a + 59; p >= a; p--', 1), ('p = a + 59; p > a; p -= 3', 3), ('p = a; p < a + n; p += step', 3),
            ('p = a; a + n > p; p = p + 4', 4))):
        yield Case(f'pointers/{type_.split()[-1]}/{operator.replace(" ", "")}',
                   f'{type_} a[60] = {{0}};\nint n = 60, step = 3;\n(void) n; (void) step;\n#pragma ws for\n'
                   f'for ({type_} *{operator}) {{ cell[(int) (p - a)] += 2; work(); }}\nput_cells();')
    yield Case('pointers/lastprivate', 'int a[60] = {0}, *p;\n#pragma ws for lastprivate(p)\n'
               'for (p = a; p < a + 60; p += 7) { *p = 3; work(); }\nput(p - a);\nfor (int i = 0; i < 60; i++) put(a[i]);')
    yield Case('pointers/const', 'const int *const end = cell + 60;\n#pragma ws for\n'
               'for (const int *p = cell; p < end; p++) { cell[100 + (p - cell)] = 5; work(); }\nput_cells();')


def iterators():
    declarations = {
        'vector': 'std::vector<int> v(60, 1);', 'deque': 'std::deque<int> v(60, 1);', 'array': 'std::array<int, 60> v; v.fill(1);',
        'string': 'std::string v(60, \'a\');', 'vector-of-double': 'std::vector<double> v(60, 2.5);'}
    loops = {
        'iterator': 'for (auto it = v.begin(); it < v.end(); ++it) { *it += 3; work(); }',
        'iterator/!=': 'for (auto it = v.begin(); it != v.end(); it++) { *it += 3; work(); }',
        'iterator/by-3': 'for (auto it = v.begin(); it < v.end(); it += 3) { *it += 3; work(); }',
        'iterator/down': 'for (auto it = v.end() - 1; it >= v.begin(); --it) { *it += 3; work(); }',
        'reverse': 'for (auto it = v.rbegin(); it < v.rend(); ++it) { *it += 3; work(); }',
        'range-for/reference': 'for (auto &x : v) { x += 3; work(); }',
        'range-for/value': 'for (auto x : v) { cell[&x == nullptr]++; x += 3; work(); }',
        'range-for/forward': 'for (auto &&x : v) { x += 3; work(); }',
    }
    for (kind, declaration), (form, loop) in product(declarations.items(), loops.items()):
        if form == 'range-for/value':
            loop = 'for (auto x : v) { if (x == 99) cell[0] = 1; work(); }'
        yield Case(f'iterators/{kind}/{form}', f'{declaration}\n#pragma ws for\n{loop}\nfor (auto x : v) put(x);\nput_cells();',
                   languages=('c++',))
    yield Case('iterators/const', 'const std::vector<int> v(60, 1);\nlong sum = 0;\n#pragma ws for reduction(+ : sum)\n'
               'for (auto it = v.cbegin(); it < v.cend(); ++it) { sum += *it; work(); }\nput(sum);', languages=('c++',))
    yield Case('iterators/range-for/C-array', 'int v[60] = {0};\n#pragma ws for\nfor (int &x : v) { x += 3; work(); }\nfor (int x : v) put(x);',
               languages=('c++',))
    yield Case('iterators/lastprivate', 'std::vector<int> v(60, 1);\nstd::vector<int>::iterator it;\n#pragma ws for lastprivate(it)\n'
               'for (it = v.begin(); it < v.end(); it += 7) { *it += 3; work(); }\nput(it - v.begin());', languages=('c++',), compilers=('gcc',))   # clang's own OpenMP is wrong here
    yield Case('iterators/own-class', '#pragma ws for\nfor (Count@ it = Count@(3); it < Count@(70); it += 2) { cell[*it]++; work(); }\nput_cells();',
               scope='struct Count@ {\n    typedef std::random_access_iterator_tag iterator_category;\n    typedef int value_type;\n'
               '    typedef long difference_type;\n    typedef const int *pointer;\n    typedef int reference;\n    long at;\n'
               '    explicit Count@(long n = 0) : at(n) {}\n    int operator*() const { return int(at); }\n'
               '    Count@ &operator++() { ++at; return *this; }\n    Count@ &operator+=(long n) { at += n; return *this; }\n'
               '    Count@ &operator-=(long n) { at -= n; return *this; }\n'
               '    friend Count@ operator+(Count@ a, long n) { return Count@(a.at + n); }\n'
               '    friend long operator-(const Count@ &a, const Count@ &b) { return a.at - b.at; }\n'
               '    friend bool operator<(const Count@ &a, const Count@ &b) { return a.at < b.at; }\n};', languages=('c++',))


def collapsed():
    dimension = {
        'int': 'for (int {v} = 0; {v} < {n}; {v}++)', 'computed': 'for (int {v} = 0; {v} < n{n}; {v}++)',
        'down': 'for (int {v} = {n} - 1; {v} >= 0; --{v})', 'size': 'for (size_t {v} = 0; {v} < {n}; {v}++)',
        'short-by-2': 'for (short {v} = 0; {v} < {n}; {v} += 2)', 'uchar-down': 'for (unsigned char {v} = {n}; {v} > 0; {v}--)',
    }
    sizes = {'i': 8, 'j': 5, 'k': 4}
    for depth in (1, 2, 3):
        for kinds in product(dimension, repeat=depth):
            if depth == 3 and (len(set(kinds)) == 2 or hash_of(kinds) % 4):
                continue
            nest = '\n'.join(dimension[kind].format(v=v, n=n) for kind, (v, n) in zip(kinds, sizes.items()))
            index = {1: '(int) i', 2: '(int) i * 6 + (int) j', 3: '((int) i * 6 + (int) j) * 5 + (int) k'}[depth]
            yield Case(f'collapse/{depth}/{"-".join(kinds)}',
                       f'int n8 = 8, n5 = 5, n4 = 4, hits[300] = {{0}};\n(void) n8; (void) n5; (void) n4;\n#pragma ws for collapse({depth})\n{nest} '
                       f'{{ hits[{index}]++; work(); }}\nfor (int h = 0; h < 300; h++) put(hits[h]);')
    yield Case('collapse/lastprivate', 'int i, j, k, x = 0;\n#pragma ws for collapse(3) lastprivate(i, j, k, x)\nfor (i = 7; i >= 0; i--)\n'
               'for (j = 0; j < 5; j++)\nfor (k = 0; k < 6; k += 2) { x = 100 * i + 10 * j + k; work(); }\nput(i); put(j); put(k); put(x);')
    yield Case('collapse/no-inner-iterations', 'int n = 0;\n#pragma ws for collapse(2)\nfor (int i = 0; i < 8; i++)\nfor (int j = 0; j < n; j++) cell[i]++;\nput_cells();')
    for chunk in (1, 3, 7, 1000):
        yield Case(f'collapse/schedule-{chunk}', f'#pragma ws for collapse(2) schedule(dynamic, {chunk}) steal_schedule(dynamic, 2)\n'
                   'for (int i = 0; i < 12; i++)\nfor (int j = 0; j < 9; j++) { cell[i * 9 + j]++; work(); }\nput_cells();')
    yield Case('collapse/one-constant-expression', '#pragma ws for collapse(1 + 1)\nfor (int i = 0; i < 12; i++)\nfor (int j = 0; j < 9; j++) cell[i * 9 + j]++;\nput_cells();')


def hash_of(words):
    """The same in each run, unlike hash()."""
    value = 0
    for word in words:
        for c in str(word):
            value = (value * 31 + ord(c)) % 1000003
    return value


CXX_TYPES = '''#include <algorithm>
#include <array>
#include <complex>
#include <deque>
#include <string>
#include <utility>
#include <vector>
// Tells a copy that was never made from one that was destroyed.
struct Tracked {
    int value;
    bool alive;
    explicit Tracked(int v = 7) : value(v), alive(true) {}
    Tracked(const Tracked &other) : value(other.alive ? other.value : -1000), alive(true) {}
    Tracked &operator=(const Tracked &other) { value = alive && other.alive ? other.value : -1000; return *this; }
    ~Tracked() { alive = false; value = -2000; }
};
'''
C_TYPES = '''#include <limits.h>
#include <stdbool.h>
struct point { double x, y; };
struct pair { int a, b; };
typedef int *int_pointer;
'''


def data_clauses():
    """Kinds of variables x data clauses x forms of loops: x is 7 before the loop."""
    kinds = {   # declaration, what sets it to v, what reads it
        'int': ('int x = 7;', 'x = V;', 'x'),
        'char': ('signed char x = 7;', 'x = V % 100;', 'x'),
        'double': ('double x = 7;', 'x = V;', 'x'),
        'ldouble': ('long double x = 7;', 'x = V;', 'x'),
        'bool': ('bool x = 7;', 'x = V % 2;', 'x'),
        'struct': ('struct pair x = {7, 7};', 'x.a = x.b = V;', '(x.a + x.b)'),
        'array': ('int x[5] = {7, 7, 7, 7, 7};', 'for (int k = 0; k < 5; k++) x[k] = V + k;', '(x[0] + x[4])'),
        'matrix': ('double x[2][3] = {{7, 7, 7}, {7, 7, 7}};', 'for (int k = 0; k < 3; k++) x[0][k] = x[1][k] = V;', '(x[0][1] + x[1][2])'),
        'pointer': ('int *x = cell + 7;', 'x = cell + V % 40;', '(x - cell)'),
        'vla': ('int size = 5; int x[size]; for (int k = 0; k < size; k++) x[k] = 7;', 'for (int k = 0; k < size; k++) x[k] = V + k;', '(x[0] + x[4])'),
        'static': ('static int x; x = 7;', 'x = V;', 'x'),
        'global': ('global@ = 7;', 'global@ = V;', 'global@'),
        'class': ('Tracked x(7);', 'x.value = V;', 'x.value'),
        'vector': ('std::vector<int> x(3, 7);', 'x.assign(4, V);', '(x[0] + (int) x.size())'),
        'string': ('std::string x(7, \'x\');', 'x = std::string(1 + V % 30, \'y\');', '((int) x.size())'),
        'reference': ('int target = 7; int &x = target;', 'x = V;', 'x'),
        'class-array': ('Tracked x[3];', 'x[1].value = V;', '(x[0].value + x[1].value)'),
        'enum': ('enum { A, B = 7, C } e = B; int x = e;', 'x = V;', 'x'),
    }
    cxx_only = ('class', 'vector', 'string', 'reference', 'class-array')
    loops = {   # begin, the number of the iteration, how many
        'int': ('{p}\nfor (int i = 0; i < 60; i++) {{', 'i', 60),
        'ulong-down': ('{p}\nfor (unsigned long u = 60; u > 0; u--) {{ const int i = 60 - (int) u;', 'i', 60),
        'collapse': ('{p} collapse(2)\nfor (int r = 0; r < 10; r++)\nfor (int c = 0; c < 6; c++) {{ const int i = r * 6 + c;', 'i', 60),
        'pointer': ('{p}\nfor (int *p = cell; p < cell + 60; p++) {{ const int i = (int) (p - cell);', 'i', 60),
        'schedule': ('{p} schedule(dynamic, 3) steal_schedule(guided)\nfor (long l = 0; l < 60; l++) {{ const int i = (int) l;', 'i', 60),
    }
    for (kind, (declare, assign, read)), (form, (loop, i, n)) in product(kinds.items(), loops.items()):
        languages = ('c++',) if kind in cxx_only else ('c', 'c++')
        x = 'global@' if kind == 'global' else 'x'
        scope = 'static int global@;' if kind == 'global' else ''
        store = f'cell[{i}] = (int) {read};'
        last = f'if ({i} == {n - 1}) {{ {assign.replace("V", "(i)")} }}'
        set_ = assign.replace('V', f'({i})')
        extra = ', size' if kind == 'vla' else ''
        texts = {
            'private': (f'private({x})', f'{set_} {store}', f'put(serial ? 0 : (int) ({read} - before@));'),
            'firstprivate': (f'firstprivate({x})', store, f'put({read});'),
            'lastprivate': (f'lastprivate({x})', f'{set_} {store}', f'put({read});'),
            'first-and-last': (f'firstprivate({x}) lastprivate({x})', f'{store} {last}', f'put({read});'),
            'shared': (f'shared({x})', store, f'put({read});'),
            'default-none': (f'default(none) shared({x}{extra}, cell)', store, f'put({read});'),
            'default-shared': (f'default(shared) firstprivate({x})', store, f'put({read});'),
            'implicit': ('', f'{store} if ({i} == 30) cell[200] = 1;', f'put({read});'),
            'firstprivate-and-reduction': (f'firstprivate({x}) reduction(+ : sum)', f'{store} sum += (int) {read};', f'put({read}); put(sum);'),
            'lastprivate-and-reduction': (f'reduction(+ : sum) lastprivate({x})', f'{set_} {store} sum += (int) {read};', f'put({read}); put(sum);'),
            'chunk-is-firstprivate': (f'firstprivate({x}, chunk) steal_schedule(dynamic, chunk - 3)', f'{store} cell[100 + i] = chunk;', f'put({read});'),
        }
        for clause, (pragma, body, after) in texts.items():
            if form == 'schedule' and 'schedule(' in pragma:
                continue
            if form != 'int' and kind not in ('int', 'struct', 'array', 'class', 'vla', 'vector') and hash_of((kind, form, clause)) % 5:
                continue
            before = ''
            if clause == 'private':
                before = f'const long before@ = (long) {read};'
                if kind in ('vector', 'class-array'):   # a private one is default-constructed
                    body = f'{set_} cell[{i}] = 1;'
            yield Case(f'data/{clause}/{kind}/{form}',
                       f'long sum = 0; int chunk = 5;\n(void) sum; (void) chunk;\n{declare}\n{before}\n'
                       f'{loop.format(p="#pragma ws for " + pragma)} {body} work(); }}\nput_cells();\n{after}',
                       scope=scope, languages=languages)
    yield Case('data/private/uninitialized-class', 'Tracked x(3);\n#pragma ws for private(x)\n' + COUNT +
               ' { if (i == 5) cell[0] = 1; x.value = i; cell[100 + i % 50] = x.alive; work(); }\nput_cells();', languages=('c++',))
    yield Case('data/several-clauses', 'int a = 1, b = 2, c = 3, d = 4; long s = 5, m = -1;\n'
               '#pragma ws for private(a), firstprivate(b) lastprivate(c), firstprivate(d) lastprivate(d) reduction(+ : s), reduction(max : m) schedule(guided, 2)\n'
               + COUNT + ' { a = i; c = a + b; if (i == 99) d = 50; s += c; if (c > m) m = c; cell[i] = d; work(); }\nput_cells(); put(b); put(c); put(d); put(s); put(m);'
               .replace('put_cells();', 'cell[99] = 0; put_cells();'))
    yield Case('data/member', 'Box@ box;\nbox.fill(3);\nput(box.total);\nfor (int i = 0; i < 60; i++) put(box.v[i]);', languages=('c++',),
               scope='struct Box@ {\n    int v[60], factor;\n    long total;\n    Box@() : v(), factor(2), total(0) {}\n    void fill(int n) {\n'
               '        long sum = 0;\n#pragma ws for reduction(+ : sum)\n        for (int i = 0; i < 60; i++) { v[i] = i * factor + n; sum += this->v[i]; work(); }\n'
               '        total = sum;\n    }\n};', regions=0)
    yield Case('data/lambda', 'int base = 7;\nauto f = [&](int n) {\n#pragma ws for\nfor (int i = 0; i < n; i++) { cell[i] = base + i; work(); }\n};\nf(60);\nput_cells();', languages=('c++',))
    yield Case('data/template', 'fill@<int, 3>(60);\nfill@<long, 4>(60L);\nput_cells();', languages=('c++',), regions=0,
               scope='template <class T, int K>\nvoid fill@(T n) {\n    T x = K;\n#pragma ws for firstprivate(x) schedule(dynamic, K)\n'
               '    for (T i = 0; i < n; i++) { cell[i] += int(x) * int(i); work(); }\n}')


def reductions():
    operations = {'+': 'r += (T) (i % 3)', '-': 'r -= (T) (i % 3)', '*': 'if (i % 25 == 0) r *= (T) 2', '&': 'r &= (T) ~(1 << i % 5)',
                  '|': 'r |= (T) (1 << i % 6)', '^': 'r ^= (T) (i * 3)', '&&': 'r = r && i != 60', '||': 'r = r || i == 60',
                  'min': 'if ((T) (100 - i) < r) r = (T) (100 - i)', 'max': 'if ((T) i > r) r = (T) i'}
    first = {'*': '1', '&': '(T) 127', '&&': '1', 'min': '(T) 120', 'max': '(T) 1'}
    types = {**INTEGERS, **FLOATS, 'bool': 'bool', 'cfloat': 'complex', 'cdouble': 'complex'}
    for operator, (short, type_) in product(operations, types.items()):
        languages = ('c', 'c++')
        if short in FLOATS and operator in '&|^':
            continue
        if short in ('cfloat', 'cdouble'):
            if operator not in ('+', '-', '*', '&&', '||'):
                continue
            type_, languages = f'_Complex {short[1:]}', ('c',)
        if short == 'bool' and operator in ('-', '*', 'min', 'max', '+', '^', '|', '&'):
            continue
        text = operations[operator].replace('(T)', f'({type_})')
        start = first.get(operator, '0').replace('(T)', f'({type_})')
        out = 'put(__real__ r); put(__imag__ r);' if 'Complex' in type_ else 'put(r);'
        for form, clauses, loop in (('int', '', COUNT), ('ulong', '', 'for (unsigned long u = 0; u < 100; u++)'),
                                    ('chunks', 'schedule(dynamic, 7) steal_schedule(dynamic, 3)', COUNT)):
            if form != 'int' and hash_of((operator, short, form)) % 3:
                continue
            body = f'const int i = (int) u; {text}' if form == 'ulong' else text
            yield Case(f'reductions/{operator}/{short}/{form}', f'{type_} r = {start};\n#pragma ws for reduction({operator} : r) {clauses}\n'
                       f'{loop} {{ {body}; work(); }}\n{out}', languages=languages)
        if operator in ('+', '*', 'max', '&') and short in ('int', 'ulong', 'double', 'char', 'float'):
            fill = f'{type_} r[6]; for (int k = 0; k < 6; k++) r[k] = {start};'
            for form, name in (('array', 'r'), ('section', 'r[1 : 4]'), ('computed-section', 'r[0 : n]'), ('pointer-section', 'p[0 : n]')):
                to = 'p[i % 4]' if form == 'pointer-section' else 'r[1 + i % 4]'
                if form == 'computed-section':
                    to = 'r[i % 4]'
                yield Case(f'reductions/{operator}/{short}/{form}', f'int n = 4;\n{fill}\n{type_} *p = r + 1;\n(void) n; (void) p;\n'
                           f'#pragma ws for reduction({operator} : {name})\n{COUNT} {{ {text.replace("r ", to + " ").replace("< r)", "< " + to + ")").replace("> r)", "> " + to + ")")}; work(); }}\n'
                           'for (int k = 0; k < 6; k++) put(r[k]);')
    # Merges of several participants at once.
    for name, variables, text in (('one', 'double a = 0;', 'a += i'), ('several', 'double a = 0, d = 0; int b = 5;', 'a += i; d += 2; if (-i < b) b = -i'),
                                  ('array', 'int a[16] = {0};', 'a[i] += i')):
        clauses = {'one': '+ : a', 'several': '+ : a, d) reduction(min : b', 'array': '+ : a'}[name]
        out = {'one': 'put(a);', 'several': 'put(a); put(b); put(d);', 'array': 'for (int k = 0; k < 16; k++) put(a[k]);'}[name]
        yield Case(f'reductions/stress/{name}', f'{variables}\nfor (int k = 0; k < 400; k++) {{\n#pragma ws for reduction({clauses}) schedule(dynamic, 1) steal_schedule(dynamic, 1)\n'
                   f'for (int i = 0; i < 16; i++) {{ {text}; }}\n}}\n{out}', regions=400)
    yield Case('reductions/stress/declared', 'long a = 0;\nfor (int k = 0; k < 100; k++) {\n#pragma ws for reduction(slow@ : a) schedule(dynamic, 1) steal_schedule(dynamic, 1)\n'
               'for (int i = 0; i < 16; i++) a += i;\n}\nput(a);', scope='static void slow@(long *a, const long *b) { long v = *a; let_others_run(); *a = v + *b; }\n'
               '#pragma ws declare reduction(slow@ : long : slow@(&omp_out, &omp_in)) initializer(omp_priv = 0)', regions=100)
    yield Case('reductions/matrix', 'int m[3][4] = {{0}};\n#pragma ws for reduction(+ : m)\n' + COUNT + ' { m[i % 3][i % 4]++; work(); }\nfor (int k = 0; k < 12; k++) put(m[k / 4][k % 4]);')
    yield Case('reductions/several', 'int a = 0, b = 1000, c = -1; double d = 0;\n#pragma ws for reduction(+ : a, d) reduction(min : b) reduction(max : c)\n'
               + COUNT + ' { a += i; d += i; if (100 - i < b) b = 100 - i; if (i > c) c = i; work(); }\nput(a); put(b); put(c); put(d);')
    yield Case('reductions/declared/struct', 'struct pair r = {1, 2};\n#pragma ws for reduction(add@ : r)\n' + COUNT + ' { r.a += i; r.b -= i; work(); }\nput(r.a); put(r.b);',
               scope='#pragma ws declare reduction(add@ : struct pair : omp_out.a += omp_in.a, omp_out.b += omp_in.b) initializer(omp_priv = {0, 0})')
    yield Case('reductions/declared/function', 'int r = 7;\n#pragma ws for reduction(most@ : r) collapse(2)\nfor (int i = 0; i < 10; i++)\nfor (int j = 0; j < 10; j++) { most@(&r, &i); work(); }\nput(r);',
               scope='static void most@(int *a, const int *b) { if (*b > *a) *a = *b; }\nstatic void none@(int *a) { *a = -1; }\n'
               '#pragma ws declare reduction(most@ : int : most@(&omp_out, &omp_in)) initializer(none@(&omp_priv))')
    yield Case('reductions/declared/in-block', '#pragma ws declare reduction(far@ : int : omp_out = omp_in > omp_out ? omp_in : omp_out) initializer(omp_priv = -5)\n'
               'int r = -5;\n#pragma ws for reduction(far@ : r)\n' + COUNT + ' if (i > r) r = i;\nput(r);')
    yield Case('reductions/declared/types', 'int r = 0; double d = 0;\n#pragma ws for reduction(plus@ : r, d)\n' + COUNT + ' { r += i; d += i; work(); }\nput(r); put(d);',
               scope='#pragma ws declare reduction(plus@ : int, double : omp_out += omp_in) initializer(omp_priv = 0)')
    yield Case('reductions/declared/class', 'Tracked r(0);\n#pragma ws for reduction(add@ : r)\n' + COUNT + ' { r.value += i; work(); }\nput(r.value);', languages=('c++',),
               scope='#pragma ws declare reduction(add@ : Tracked : omp_out.value += omp_in.value) initializer(omp_priv = Tracked(0))')
    yield Case('reductions/declared/complex', 'std::complex<double> r(1, 2);\n#pragma ws for reduction(sum@ : r)\n' + COUNT + ' { r += std::complex<double>(i, -i); work(); }\nput(r.real()); put(r.imag());',
               languages=('c++',), scope='#pragma ws declare reduction(sum@ : std::complex<double> : omp_out += omp_in) initializer(omp_priv = omp_orig - omp_orig)')
    yield Case('reductions/declared/vector', 'std::vector<int> r(4, 1);\n#pragma ws for reduction(join@ : r)\n' + COUNT + ' { r[i % 4] += i; work(); }\nfor (int x : r) put(x);',
               languages=('c++',), scope='#pragma ws declare reduction(join@ : std::vector<int> : std::transform(omp_in.begin(), omp_in.end(), omp_out.begin(), omp_out.begin(), '
               '[](int a, int b) { return a + b; })) initializer(omp_priv = std::vector<int>(omp_orig.size()))')
    yield Case('reductions/reference', 'long target = 5; long &r = target;\n#pragma ws for reduction(+ : r)\n' + COUNT + ' { r += i; work(); }\nput(target);', languages=('c++',))
    yield Case('reductions/overloaded-plus', 'Sum@ r;\n#pragma ws for reduction(+ : r)\n' + COUNT + ' { r.v += i; work(); }\nput(r.v);', languages=('c++',),
               scope='struct Sum@ {\n    long v;\n    Sum@() : v(0) {}\n};\n#pragma ws declare reduction(+ : Sum@ : omp_out.v += omp_in.v)')


def schedules():
    kinds = {'': 0, 'static': 1, 'dynamic': 2, 'guided': 3, 'auto': 0, 'runtime': 4}
    chunks = {'': 0, '4': 4, 'n / 20': 5}
    both = [(kind, chunk) for kind, chunk in product(kinds, chunks) if not chunk or kind not in ('', 'auto', 'runtime')]
    loops = {'int': 'for (int i = 0; i < n; i++)', 'ulong': 'for (unsigned long i = 0; i < n; i++)'}

    def clause(name, kind, chunk):
        return f'{name}({kind}{", " if chunk else ""}{chunk})' if kind else ''
    for own, steal, (form, loop) in product(both, both, loops.items()):
        text = ' '.join(filter(None, (clause('schedule', *own), clause('steal_schedule', *steal))))
        yield Case(f'schedules/{text.replace(" ", "") or "none"}/{form}',
                   f'{"unsigned long" if form == "ulong" else "int"} n = 100;\n#pragma ws for {text}\n{loop} {{ cell[i]++; work(); }}\nput_cells();\n'
                   f'schedule_is({kinds[own[0]]}, {chunks[own[1]]}, {kinds[steal[0]]}, {chunks[steal[1]]});')
    for type_ in ('signed char', 'unsigned short', 'unsigned', 'long', 'unsigned long long'):
        yield Case(f'schedules/chunk-of-type/{type_.replace(" ", "-")}', f'{type_} c = 9;\n#pragma ws for schedule(dynamic, c) steal_schedule(guided, c + 1)\n'
                   + COUNT + ' { cell[i]++; work(); }\nput_cells();\nschedule_is(2, 9, 3, 10);')
    yield Case('schedules/chunk-is-a-call', '#pragma ws for schedule(dynamic, chunk@())\n' + COUNT + ' { cell[i]++; work(); }\nput_cells();\nschedule_is(2, 3, 0, 0); put(serial ? 1 : calls@); calls@ = 0;',
               scope='static int calls@;\nstatic int chunk@(void) { calls@++; return 3; }')
    yield Case('schedules/chunk-larger-than-loop', '#pragma ws for schedule(dynamic, 1000) steal_schedule(static, 2000)\n' + COUNT + ' cell[i]++;\nput_cells();\nschedule_is(2, 1000, 1, 2000);')
    yield Case('schedules/chunk-huge', 'long huge = 0x7fffffffffffffff;\n#pragma ws for schedule(guided, huge)\n' + COUNT + ' cell[i]++;\nput_cells();')
    yield Case('schedules/commas', 'int s = 0;\n#pragma ws for schedule(dynamic, 2), steal_schedule(dynamic), reduction(+ : s)\n' + COUNT + ' { s += i; work(); }\nput(s);\nschedule_is(2, 2, 2, 0);')
    yield Case('schedules/macros', '#pragma ws for SCHEDULE@(3)\n' + COUNT + ' { cell[i]++; work(); }\nput_cells();\nschedule_is(2, 3, 3, 0);', scope='#define SCHEDULE@(n) schedule(dynamic, n) steal_schedule(guided)')

    for name, literals in (('plain', '"a name"'), ('joined', '"a " TEXT@'), ('quoted', r'"a \"name\""')):
        said = r'a \"name\"' if name == 'quoted' else 'a name'
        yield Case(f'names/{name}', f'#pragma ws for schedule(dynamic, 2), name({literals})\n' + COUNT + f' {{ cell[i]++; work(); }}\nput_cells();\nname_is("{said}");',
                   scope='#define TEXT@ "name"')


ORDERS = {'read': ('', 'seq_cst', 'acquire', 'relaxed'), 'write': ('', 'seq_cst', 'release', 'relaxed'),
          'update': ('', 'seq_cst', 'release', 'relaxed'), 'capture': ('', 'seq_cst', 'acq_rel', 'acquire', 'release', 'relaxed')}


def atomics():
    """What the loop does to x; every order of the iterations gives the same."""
    types = {**INTEGERS, **FLOATS, 'bool': 'bool', 'pointer': 'int_pointer'}     # neither compiler has atomics on complex numbers
    updates = {     # kind of type, statement, start
        'x++': ('ifp', 'x++;', '0'), '++x': ('ifp', '++x;', '0'), 'x--': ('ifp', 'x--;', '0'), '--x': ('ifp', '--x;', '0'),
        '+=': ('if', 'x += (T) (i % 3);', '0'), '-=': ('if', 'x -= (T) (i % 3);', '0'), '*=': ('if', 'x *= (T) (1 + (i % 25 == 0));', '1'),
        '/=': ('f', 'x /= (T) (1 + (i % 25 == 0));', '1024'), 'int/=': ('i', 'x /= (T) (1 + (i % 25 == 0));', '96'),
        '&=': ('ib', 'x &= (T) ~(1 << i % 5);', '127'), '|=': ('ib', 'x |= (T) (1 << i % 6);', '0'), '^=': ('i', 'x ^= (T) (i * 3);', '0'),
        '<<=': ('i', 'x <<= (i % 25 == 0);', '1'), '>>=': ('i', 'x >>= (i % 25 == 0);', '127'),
        'x=x+e': ('if', 'x = x + (T) (i % 3);', '0'), 'x=e+x': ('if', 'x = (T) (i % 3) + x;', '0'),
        'x=x-e': ('if', 'x = x - (T) (i % 2);', '0'), 'x=x*e': ('if', 'x = x * (T) (1 + (i % 25 == 0));', '1'),
        'x=x|e': ('ib', 'x = x | (T) (1 << i % 6);', '0'), 'x=e^x': ('i', 'x = (T) (i * 3) ^ x;', '0'),
        'x=x<<e': ('i', 'x = x << (i % 25 == 0);', '1'),
        'wide': ('if', 'x += 1.5 * (i % 3 - 1 + (i % 3 == 0));', '0'),
    }
    captures = {    # v is x's value somewhere on the way; what all v add up to is the same in each order
        'v=x++': ('if', 'v = x++;', 0), 'v=++x': ('if', 'v = ++x;', 0), 'v=x--': ('if', 'v = x--;', 0), 'v=--x': ('if', 'v = --x;', 0),
        'v=x+=e': ('if', 'v = x += 1;', 0), 'v=x=x+e': ('if', 'v = x = x + 1;', 0), 'v=x=e+x': ('if', 'v = x = 1 + x;', 0),
        '{v=x;x+=e}': ('if', '{ v = x; x += 1; }', 0), '{x+=e;v=x}': ('if', '{ x += 1; v = x; }', 0), '{v=x;x++}': ('if', '{ v = x; x++; }', 0),
        '{++x;v=x}': ('if', '{ ++x; v = x; }', 0), '{v=x;x=x+e}': ('if', '{ v = x; x = x + 1; }', 0), '{x=e+x;v=x}': ('if', '{ x = 1 + x; v = x; }', 0),
    }

    def letter(short):
        return 'f' if short in FLOATS else 'b' if short == 'bool' else 'p' if short == 'pointer' else 'i'

    def variable(short, type_, start):
        """Declaration of x, its value as a number."""
        if short == 'pointer':
            return f'int_pointer x = cell + 128 + {start};', 'put(x - cell);'
        return f'{type_} x = {start};', 'put(x);'

    def word(kind, order, swap):
        words = [kind, order]
        if swap:
            words.reverse()
        return ' '.join(w for w in words if w)

    for (name, (letters, statement, start)), (short, type_) in product(updates.items(), types.items()):
        if letter(short) not in letters:
            continue
        for number, order in enumerate(ORDERS['update']):
            if number != hash_of((name, short)) % 4 and not (short in ('int', 'double', 'ulong') and name in ('x++', '+=', '*=')):
                continue
            declare, out = variable(short, type_, start)
            text = statement.replace('(T)', f'({type_})')
            kind = 'update' if hash_of((name, order, short)) % 2 else ''
            yield Case(f'atomic/update/{name}/{short}/{order or "no-order"}',
                       f'{declare}\n#pragma ws for\n{COUNT} {{\n#pragma ws atomic {word(kind, order, number % 2)}\n{text}\nwork(); }}\n{out}')
    for (name, (letters, statement, start)), (short, type_) in product(captures.items(), types.items()):
        if letter(short) not in letters:
            continue
        for number, order in enumerate(ORDERS['capture']):
            if number != hash_of((name, short)) % 6 and not (short in ('int', 'double') and name in ('v=x++', '{x+=e;v=x}')):
                continue
            # Each value is seen once: hits[] counts them. 100 fits every type.
            down = '--' in name
            yield Case(f'atomic/capture/{name}/{short}/{order or "no-order"}',
                       f'{type_} x = {100 if down else 0}, v;\n#pragma ws for private(v)\n{COUNT} {{\n#pragma ws atomic {word("capture", order, number % 2)}\n{statement}\n'
                       f'cell[(int) v]++; work(); }}\nput(x); put_cells();')
    for (short, type_), order in product(types.items(), ORDERS['read']):
        values = {'pointer': ('cell + 1', 'cell + 77'), 'bool': ('0', '1')}.get(short, ('1', '(T) 0x5555555555555555'.replace('(T)', f'({type_})')))
        # Iterations write one of two values or read: what is read is one of them.
        write = order.replace('acquire', 'release')
        yield Case(f'atomic/read-write/{short}/{order or "no-order"}',
                   f'{type_} x = {values[0]}, a = {values[0]}, b = {values[1]}, v;\n#pragma ws for private(v)\n{COUNT} {{\n'
                   f'if (i % 3 == 0) {{\n#pragma ws atomic write {write}\nx = a;\n}} else if (i % 3 == 1) {{\n#pragma ws atomic {write} write\nx = b;\n}} else {{\n'
                   f'#pragma ws atomic read{"," if order else ""} {order}\nv = x;\ncell[i] = v == a || v == b; }}\nwork(); }}\nput_cells(); put(x == a || x == b);')
    # So often that participants meet: what is no atomic loses some.
    for short, type_ in types.items():
        if short == 'bool':
            continue
        declare, out = variable(short, type_, 0)
        if short == 'pointer':
            declare, out = 'static char many@[100001]; char *x = many@;', 'put(x - many@);'
        yield Case(f'atomic/stress/update/{short}', f'{declare}\n#pragma ws for schedule(dynamic, 5) steal_schedule(dynamic, 5)\n{COUNT}\nfor (int k = 0; k < 1000; k++) {{\n'
                   f'#pragma ws atomic\nx += 1;\n}}\n{out}')
        if short == 'pointer':
            continue
        yield Case(f'atomic/stress/capture/{short}', f'{type_} x = 0, v; double sum = 0;\n#pragma ws for schedule(dynamic, 5) steal_schedule(dynamic, 5) private(v) reduction(+ : sum)\n{COUNT}\n'
                   f'for (int k = 0; k < 1000; k++) {{\n#pragma ws atomic capture\nv = x++;\nsum += (double) v;\n}}\nput(x); put(sum);')
    for short, type_ in FLOATS.items():
        yield Case(f'atomic/stress/read-write/{short}', f'{type_} x = 1, v; int bad = 0;\n#pragma ws for schedule(dynamic, 1) steal_schedule(dynamic, 1) private(v) reduction(+ : bad)\n{COUNT}\n'
                   f'for (int k = 0; k < 1000; k++) {{\nif (i % 2) {{\n#pragma ws atomic write\nx = ({type_}) 1 / 3 * (k % 2 + 1);\n}} else {{\n#pragma ws atomic read\nv = x;\n'
                   f'bad += v != 1 && v != ({type_}) 1 / 3 && v != ({type_}) 1 / 3 * 2; }} }}\nput(bad);')
    # Where it stands.
    places = {
        'array-element': ('int x[4] = {0};', 'x[i % 4] += i;', 'for (int k = 0; k < 4; k++) put(x[k]);'),
        'struct-member': ('struct pair x = {0, 0};', 'x.b += i;', 'put(x.b);'),
        'double-member': ('struct point x = {0, 0};', 'x.y += i;', 'put(x.y);'),
        'dereferenced': ('int y = 0, *x = &y;', '*x += i;', 'put(y);'),
        'indirect': ('int x[8] = {0}, to[4] = {7, 1, 3, 1};', 'x[to[i % 4]]++;', 'for (int k = 0; k < 8; k++) put(x[k]);'),
        'computed-operand': ('long x = 0; int y[100]; for (int k = 0; k < 100; k++) y[k] = k;', 'x += y[i] * 2 - (i > 50 ? i : 0);', 'put(x);'),
        'call-operand': ('long x = 0;', 'x += twice@(i);', 'put(x);'),
        'bit-field-neighbour': ('struct { int a; unsigned char b, c; } x = {0, 0, 0};', 'x.c += (unsigned char) (i % 2);', 'put(x.b); put(x.c);'),
        'volatile': ('volatile int x = 0;', 'x += i;', 'put(x);'),
        'static': ('static int x; x = 0;', 'x += i;', 'put(x);'),
        'vla-element': ('int n = 4; double x[n]; for (int k = 0; k < n; k++) x[k] = 0;', 'x[i % 4] += i;', 'for (int k = 0; k < 4; k++) put(x[k]);'),
    }
    for (place, (declare, statement, out)), order in product(places.items(), ('', 'relaxed')):
        yield Case(f'atomic/place/{place}/{order or "no-order"}', f'{declare}\n#pragma ws for\n{COUNT} {{\n#pragma ws atomic {order}\n{statement}\nwork(); }}\n{out}',
                   scope='static int twice@(int i) { return 2 * i; }\nstatic int (*const use@)(int) __attribute__((unused)) = twice@;')
    positions = {
        'same-file': dict(scope='static void add@(long *x, int i) {\n#pragma ws atomic\n*x += i;\n}'),
        'other-file': dict(scope='#ifdef __cplusplus\nextern "C"\n#endif\nvoid add@(long *x, int i);',
                           other='void add@(long *x, int i)\n{\n#pragma ws atomic\n    *x += i;\n}'),
        'other-file-capture': dict(scope='#ifdef __cplusplus\nextern "C"\n#endif\nvoid add@(long *x, int i);',
                                   other='void add@(long *x, int i)\n{\n    long v;\n#pragma ws atomic capture seq_cst\n    v = *x += i;\n    (void) v;\n}'),
        'through-a-pointer': dict(scope='static void add_@(long *x, int i) {\n#pragma ws atomic relaxed\n*x += i;\n}\nstatic void (*volatile add@)(long *, int) = add_@;'),
        'recursion': dict(scope='static void add@(long *x, int i) {\nif (i > 1) { add@(x, i / 2); i -= i / 2; }\n#pragma ws atomic\n*x += i;\n}'),
        'inline-header': dict(scope='static inline __attribute__((always_inline)) void add@(long *x, int i) {\n#pragma ws atomic update\n*x += i;\n}'),
    }
    for position, texts in positions.items():
        yield Case(f'atomic/position/{position}', f'long x = 0;\n#pragma ws for\n{COUNT} {{ add@(&x, i); work(); }}\nput(x);', **texts)
        yield Case(f'atomic/position/{position}-outside-a-loop', 'long x = 0;\nfor (int i = 0; i < 10; i++) add@(&x, i);\nput(x);', regions=0, **texts)
    yield Case('atomic/position/if-and-else', f'int x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\nif (i % 2)\n#pragma ws atomic\nx++;\nelse\n#pragma ws atomic\ny += 2;\nwork(); }}\nput(x); put(y);')
    yield Case('atomic/position/inner-loop', f'int x = 0;\n#pragma ws for\n{COUNT} {{\nfor (int j = 0; j < 5; j++)\n#pragma ws atomic\nx++;\nwork(); }}\nput(x);')
    yield Case('atomic/position/nested-ws-for', f'int x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws for\nfor (int j = 0; j < 5; j++) {{\n#pragma ws atomic\nx++;\n}}\nwork(); }}\nput(x);')
    yield Case('atomic/position/_Pragma', f'int x = 0;\n#pragma ws for\n{COUNT} {{ ATOMIC@(x, i); work(); }}\nput(x);', scope='#define ATOMIC@(x, i) do { _Pragma("ws atomic") x += i; } while (0)')
    yield Case('atomic/position/with-reduction', f'int x = 0, s = 0;\n#pragma ws for reduction(+ : s)\n{COUNT} {{\n#pragma ws atomic\nx += i;\ns += i; work(); }}\nput(x); put(s);')
    yield Case('atomic/position/lambda', f'int x = 0;\n#pragma ws for\n{COUNT} {{ auto f = [&] {{\n#pragma ws atomic\nx += i;\n}}; f(); work(); }}\nput(x);', languages=('c++',))
    yield Case('atomic/position/method-template', f'Add@<long> a;\n#pragma ws for\n{COUNT} {{ a.add(i); work(); }}\nput(a.x);', languages=('c++',),
               scope='template <class T>\nstruct Add@ {\n    T x;\n    Add@() : x(0) {}\n    void add(T i) {\n#pragma ws atomic\n        x += i;\n    }\n};')
    yield Case('atomic/position/reference', f'double y = 0, &x = y;\n#pragma ws for\n{COUNT} {{\n#pragma ws atomic\nx += i;\nwork(); }}\nput(y);', languages=('c++',))
    yield Case('atomic/scatter', f'double a[16] = {{0}};\n#pragma ws for\n{COUNT} {{ for (int k = 0; k < 8; k++) {{\n#pragma ws atomic\na[(i * k) % 16] += k;\n}} work(); }}\nfor (int k = 0; k < 16; k++) put(a[k]);')
    yield Case('atomic/omp-parallel', f'int x = 0;\n#pragma omp parallel num_threads(3)\n#pragma omp for\n{COUNT} {{\n#pragma ws atomic\nx += i;\n}}\nput(x);', openmp=True, regions=0)
    yield Case('atomic/omp-atomic-beside', f'int x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws atomic\nx += i;\n#pragma omp atomic\ny += i;\nwork(); }}\nput(x); put(y);', openmp=True)


def criticals():
    """Read, let others run, write: what does not exclude them loses some."""
    slow = 'long v = x; let_others_run(); x = v + i;'
    extern_c = '#ifdef __cplusplus\nextern "C"\n#endif\n'
    for name, text in (('unnamed', ''), ('named', '(name@)'), ('keyword-like-name', '(read)'), ('name-of-a-variable', '(x)')):
        yield Case(f'critical/{name}', f'long x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical {text}\n{{ {slow} }}\nwork(); }}\nput(x);')
    yield Case('critical/single-statement', f'long x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical\nx += i;\nwork(); }}\nput(x);')
    yield Case('critical/twice-one-name', f'long x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical (two@)\n{{ {slow} }}\n#pragma ws critical (two@)\n{{ {slow} }}\nwork(); }}\nput(x);')
    yield Case('critical/different-names', f'long x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical (a@)\n{{ {slow} }}\n#pragma ws critical (b@)\n{{ long v = y; let_others_run(); y = v + i; }}\nwork(); }}\nput(x); put(y);')
    yield Case('critical/nested-names', f'long x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical (outer@)\n{{ {slow}\n#pragma ws critical (inner@)\n{{ long v = y; let_others_run(); y = v + i; }}\n}}\nwork(); }}\nput(x); put(y);')
    yield Case('critical/nested-in-unnamed', f'long x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical\n{{ {slow}\n#pragma ws critical (in@)\n{{ long v = y; let_others_run(); y = v + i; }}\n}}\nwork(); }}\nput(x); put(y);')
    for name, words in (('unnamed', ''), ('named', '(both@)')):
        yield Case(f'critical/other-file/{name}', f'long x = 0;\n#pragma ws for\n{COUNT} {{\nif (i % 2)\n#pragma ws critical {words}\n{{ {slow} }}\nelse add@(&x, i);\nwork(); }}\nput(x);',
                   scope=extern_c + 'void add@(long *x, int i);',
                   other=f'void add@(long *x, int i)\n{{\n#pragma ws critical {words}\n    {{\n        long v = *x;\n        let_others_run();\n        *x = v + i;\n    }}\n}}')
    yield Case('critical/outside-a-loop', f'long x = 0;\nfor (int i = 0; i < 20; i++) {{\n#pragma ws critical\n{{ {slow} }}\n#pragma ws critical (o@)\nx += 2;\n}}\nput(x);', regions=0)
    yield Case('critical/orphaned', f'long x = 0;\n#pragma ws for\n{COUNT} {{ add@(&x, i); work(); }}\nadd@(&x, 5);\nput(x);', scope='static void add@(long *x, int i) {\n#pragma ws critical (orphan@)\n*x += i;\n}')
    yield Case('critical/list', f'int list[100], n = 0;\n#pragma ws for\n{COUNT} {{\nif (i % 3 == 0)\n#pragma ws critical (list@)\nlist[n++] = i;\nwork(); }}\nput(n);\nfor (int k = 0; k < n; k++) cell[list[k]]++;\nput_cells();')
    yield Case('critical/best-of', f'struct pair best = {{-1, -1}};\n#pragma ws for\n{COUNT} {{ const int v = i * 37 % 101;\n#pragma ws critical\nif (v > best.a) {{ best.a = v; best.b = i; }}\nwork(); }}\nput(best.a); put(best.b);')
    yield Case('critical/with-atomic', f'long x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical\n{{ {slow}\n#pragma ws atomic\ny += i;\n}}\n#pragma ws atomic\ny += i;\nwork(); }}\nput(x); put(y);')
    yield Case('critical/nested-ws-for', f'long x = 0;\n#pragma ws for\nfor (int j = 0; j < 10; j++) {{\n#pragma ws for\nfor (int i = 0; i < 10; i++) {{\n#pragma ws critical (n@)\n{{ {slow} }}\n}}\nwork(); }}\nput(x);')
    yield Case('critical/ws-for-inside', 'long x = 0;\n#pragma ws for\nfor (int j = 0; j < 10; j++) {\n#pragma ws critical (f@)\n{\n#pragma ws for reduction(+ : x)\nfor (int i = 0; i < 10; i++) x += i;\n}\nwork(); }\nput(x);')
    yield Case('critical/_Pragma', f'long x = 0;\n#pragma ws for\n{COUNT} {{ LOCKED@(x += i); work(); }}\nput(x);', scope='#define LOCKED@(s) do { _Pragma("ws critical (macro@)") { s; } } while (0)')
    yield Case('critical/continue-around', f'long x = 0;\n#pragma ws for\n{COUNT} {{ if (i % 4 == 0) continue;\n#pragma ws critical\n{{ {slow} }}\nwork(); }}\nput(x);')
    yield Case('critical/lambda', f'long x = 0;\n#pragma ws for\n{COUNT} {{ auto f = [&] {{\n#pragma ws critical (l@)\n{{ {slow} }}\n}}; f(); work(); }}\nput(x);', languages=('c++',))
    yield Case('critical/method-template', f'Add@<long> a;\n#pragma ws for\n{COUNT} {{ a.add(i); work(); }}\nput(a.x);', languages=('c++',),
               scope='template <class T>\nstruct Add@ {\n    T x;\n    Add@() : x(0) {}\n    void add(T i) {\n#pragma ws critical (m@)\n        x += i;\n    }\n};')
    yield Case('critical/exception-inside', f'long x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical (e@)\n{{ try {{ {slow} if (i % 9 == 0) throw i; }} catch (int) {{ x++; }} }}\nwork(); }}\nput(x);', languages=('c++',))
    yield Case('critical/omp-parallel', f'long x = 0;\n#pragma omp parallel for num_threads(3)\n{COUNT} {{\n#pragma ws critical (p@)\n{{ {slow} }}\n}}\nput(x);', openmp=True, regions=0)
    yield Case('critical/omp-critical-beside', f'long x = 0, y = 0;\n#pragma ws for\n{COUNT} {{\n#pragma ws critical (q@)\n{{ {slow} }}\n#pragma omp critical (q@)\ny += i;\nwork(); }}\nput(x); put(y);', openmp=True)


def nesting():
    yield Case('nested/lexical', '#pragma ws for\nfor (int i = 0; i < 10; i++) {\n#pragma ws for\nfor (int j = 0; j < 10; j++) { cell[10 * i + j]++; work(); }\n}\nput_cells();')
    yield Case('nested/three-deep', '#pragma ws for\nfor (int i = 0; i < 5; i++) {\n#pragma ws for\nfor (int j = 0; j < 5; j++) {\n#pragma ws for\nfor (int k = 0; k < 5; k++) { cell[25 * i + 5 * j + k]++; work(); }\n}\n}\nput_cells();')
    yield Case('nested/with-reductions', 'long t = 0;\n#pragma ws for reduction(+ : t)\nfor (int i = 0; i < 20; i++) {\nlong s = 0;\n#pragma ws for reduction(+ : s)\nfor (int j = 0; j < i; j++) { s += j; work(); }\nt += s;\n}\nput(t);')
    yield Case('nested/reduction-of-the-same', 'long t = 0;\n#pragma ws for reduction(+ : t)\nfor (int i = 0; i < 20; i++) {\n#pragma ws for reduction(+ : t)\nfor (int j = 0; j < i; j++) { t += j; }\nwork();\n}\nput(t);')
    yield Case('nested/lastprivate', 'int x = 0;\n#pragma ws for lastprivate(x)\nfor (int i = 0; i < 20; i++) {\n#pragma ws for lastprivate(x)\nfor (int j = 0; j <= i; j++) { x = 100 * i + j; }\nwork();\n}\nput(x);')
    yield Case('nested/in-function', '#pragma ws for\nfor (int i = 0; i < 10; i++) { row@(i); work(); }\nrow@(11);\nput_cells();', scope='static void row@(int i) {\n#pragma ws for schedule(dynamic, 2)\nfor (int j = 0; j < 10; j++) cell[10 * i + j]++;\n}', regions=2)
    yield Case('nested/recursion', 'put(sum@(6));', scope='static long sum@(int n) {\nlong s = 0;\nif (n == 0) return 1;\n#pragma ws for reduction(+ : s)\nfor (int i = 0; i < 4; i++) s += sum@(n - 1);\nreturn s;\n}')
    yield Case('nested/other-file', '#pragma ws for\nfor (int i = 0; i < 10; i++) { row@(cell + 10 * i); work(); }\nput_cells();', scope='#ifdef __cplusplus\nextern "C"\n#endif\nvoid row@(int *c);',
               other='void row@(int *c)\n{\n    int last = 0;\n#pragma ws for lastprivate(last)\n    for (unsigned long j = 0; j < 10; j++) {\n        c[j]++;\n        last = (int) j;\n    }\n    c[0] += last;\n}')
    yield Case('nested/collapse-outside', '#pragma ws for collapse(2)\nfor (int i = 0; i < 5; i++)\nfor (int j = 0; j < 5; j++) {\n#pragma ws for\nfor (int k = 0; k < 5; k++) cell[25 * i + 5 * j + k]++;\nwork();\n}\nput_cells();')
    yield Case('nested/one-after-the-other', '#pragma ws for\nfor (int i = 0; i < 60; i++) { cell[i]++; work(); }\n#pragma ws for\nfor (int i = 0; i < 60; i++) { cell[i] *= 3; work(); }\nput_cells();', regions=2)


def with_openmp():
    yield Case('openmp/ws-in-parallel', '#pragma omp parallel num_threads(3)\n{\nint own[40];\n#pragma ws for\nfor (int i = 0; i < 40; i++) own[i] = i;\n#pragma omp critical\nfor (int i = 0; i < 40; i++) cell[i] = own[i];\n}\nput_cells();', openmp=True, regions=0)
    yield Case('openmp/ws-in-parallel-for', '#pragma omp parallel for num_threads(2)\nfor (int j = 0; j < 5; j++) {\n#pragma ws for\nfor (int i = 0; i < 40; i++) cell[40 * j + i] = i;\n}\nput_cells();', openmp=True, regions=0)
    yield Case('openmp/ws-in-single', '#pragma omp parallel num_threads(2)\n#pragma omp single\n{\n#pragma ws for\nfor (int i = 0; i < 40; i++) cell[i] = i;\n}\nput_cells();', openmp=True, regions=0)
    yield Case('openmp/parallel-in-ws', '#pragma ws for\nfor (int j = 0; j < 10; j++) {\n#pragma omp parallel for num_threads(2)\nfor (int i = 0; i < 20; i++) cell[20 * j + i] = i;\nwork();\n}\nput_cells();', openmp=True)
    yield Case('openmp/simd-in-ws', 'float a[200], s = 0;\nfor (int k = 0; k < 200; k++) a[k] = (float) k;\n#pragma ws for reduction(+ : s)\nfor (int j = 0; j < 10; j++) {\nfloat t = 0;\n#pragma omp simd reduction(+ : t)\nfor (int i = 0; i < 20; i++) t += a[20 * j + i];\ns += t; work();\n}\nput(s);', openmp=True)
    yield Case('openmp/atomic-in-ws', f'int x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma omp atomic\nx += i;\nwork(); }}\nput(x);', openmp=True)
    yield Case('openmp/critical-in-ws', f'int x = 0;\n#pragma ws for\n{COUNT} {{\n#pragma omp critical (beside)\nx += i;\nwork(); }}\nput(x);', openmp=True)
    yield Case('openmp/both-in-turn', f'int s = 0, t = 0;\n#pragma omp parallel for reduction(+ : s) num_threads(2)\n{COUNT} s += i;\n#pragma ws for reduction(+ : t)\n{COUNT} {{ t += i; work(); }}\nput(s); put(t);', openmp=True)
    yield Case('openmp/task-in-ws', '#pragma ws for\nfor (int i = 0; i < 60; i++) {\n#pragma omp task shared(cell) firstprivate(i)\ncell[i]++;\n#pragma omp taskwait\nwork(); }\nput_cells();', openmp=True)
    yield Case('openmp/threadprivate', f'int s = 0;\n#pragma ws for reduction(+ : s)\n{COUNT} {{ own@ = i; s += own@; work(); }}\nput(s);', scope='static int own@;\n#pragma omp threadprivate(own@)', openmp=True)
    yield Case('openmp/declared-reduction', f'int s = 0;\n#pragma omp parallel for reduction(mine@ : s) num_threads(2)\n{COUNT} s += i;\nput(s);', scope='#pragma omp declare reduction(mine@ : int : omp_out += omp_in) initializer(omp_priv = 0)', openmp=True, regions=0)
    # Without -fopenmp these lines do nothing: the loop runs alone.
    yield Case('openmp/ignored-beside-ws', f'int s = 0;\n#pragma ws for reduction(+ : s)\n{COUNT} {{ s += i; work(); }}\n#pragma omp parallel for reduction(+ : s)\n{COUNT} s += i;\nput(s);')


def vectorizable():
    """Bodies that the compiler turns into vectors, with remainders at the ends of chunks."""
    for type_, text in product(('float', 'double', 'int', 'short', 'unsigned char'), ('a[i] = b[i] + c[i];', 'a[i] += 2 * b[i];', 'a[i] = b[i] > c[i] ? b[i] : c[i];')):
        yield Case(f'vectors/{type_.replace(" ", "-")}/{text.split(";")[0].replace(" ", "")}',
                   f'{type_} a[500], b[500], c[500];\nfor (int k = 0; k < 500; k++) {{ a[k] = 1; b[k] = ({type_}) (k % 50); c[k] = ({type_}) (k % 7); }}\n'
                   f'#pragma ws for\nfor (int i = 0; i < 500; i++) {text}\nfor (int k = 0; k < 500; k++) put(a[k]);')
    for type_ in ('float', 'double', 'int', 'long'):
        yield Case(f'vectors/sum/{type_}', f'{type_} b[500], s = 0;\nfor (int k = 0; k < 500; k++) b[k] = ({type_}) (k % 50);\n#pragma ws for reduction(+ : s)\nfor (int i = 0; i < 500; i++) s += b[i];\nput(s);')


def simd_loops():
    heads = {'up': 'for (I i = 0; i < n; i++)', 'down': 'for (I i = n - 1; i > 0; i--)', 'by-3': 'for (I i = 1; i <= n - 1; i += 3)', 'by-step': 'for (I i = 0; i < n; i += step)'}
    clauses = {'none': '', 'safelen': 'safelen(8)', 'simdlen': 'simdlen(4) safelen(16)', 'aligned': 'aligned(a, b : 16)', 'chunks': 'schedule(dynamic, 13) steal_schedule(dynamic, 5)',
               'static': 'schedule(static)', 'if': 'if(n > 3)', 'named': 'name("simd") schedule(guided)'}
    for (short, index), (form, head) in product({'int': 'int', 'uint': 'unsigned', 'long': 'long', 'size': 'size_t', 'short': 'short'}.items(), heads.items()):
        for name, clause in clauses.items():
            if hash_of((short, form, name)) % 3 and short != 'int':
                continue
            for type_ in ('float', 'double', 'int', 'unsigned char')[hash_of((short, form, name)) % 4:][:1]:
                yield Case(f'simd/{type_.replace(" ", "-")}/{short}/{form}/{name}',
                           f'{type_} a[500] __attribute__((aligned(64))), b[500] __attribute__((aligned(64)));\n{index} n = 500, step = 7;\n(void) step;\n'
                           f'for (int k = 0; k < 500; k++) {{ a[k] = ({type_}) (k % 9); b[k] = ({type_}) (k % 7); }}\n'
                           f'#pragma ws for simd {clause}\n{head.replace("I i", index + " i")} a[i] = ({type_}) (a[i] * 2 + b[i]);\nfor (int k = 0; k < 500; k++) put(a[k]);')
    for type_, operator in product(('float', 'double', 'int', 'long', 'unsigned char'), ('+', 'max', 'min', '*')):
        text = {'+': f'r = ({type_}) (r + b[i]);', 'max': 'r = r > b[i] ? r : b[i];', 'min': 'r = r < b[i] ? r : b[i];', '*': f'r = ({type_}) (r * (i % 99 ? 1 : 2));'}[operator]
        yield Case(f'simd/reduction/{operator}/{type_.replace(" ", "-")}',
                   f'{type_} b[500], r = 3;\nfor (int k = 0; k < 500; k++) b[k] = ({type_}) (k % 5);\n#pragma ws for simd reduction({operator} : r)\nfor (int i = 0; i < 500; i++) {{ {text} }}\nput(r); put(b[3]);')
    yield Case('simd/lastprivate', 'int i, x = 0;\n#pragma ws for simd lastprivate(i, x)\nfor (i = 0; i < 90; i += 4) { x = 3 * i; cell[i] = x; }\nput(i); put(x);\nput_cells();')
    yield Case('simd/private-and-first', 'int x = 7, y = 8;\n#pragma ws for simd private(x) firstprivate(y)\nfor (int i = 0; i < 90; i++) { x = 3 * i; cell[i] = x + y; }\nput_cells();')
    yield Case('simd/default-none', 'int n = 90;\n#pragma ws for simd default(none) shared(cell, n)\nfor (int i = 0; i < n; i++) cell[i] = i;\nput_cells();')
    for n in (0, 1, 3, 17):
        yield Case(f'simd/{n}-iterations', f'int n = {n};\n#pragma ws for simd\nfor (int i = 0; i < n; i++) cell[i] += i + 1;\nput_cells();')
    for collapse, head in ((2, 'for (int i = 0; i < 12; i++)\nfor (int j = 8; j >= 0; j--)'), (2, 'for (unsigned i = 0; i < 12; i += 2)\nfor (long j = 0; j < 9; j++)')):
        yield Case(f'simd/collapse/{head.split()[1][1:]}', f'int x = 0;\n#pragma ws for simd collapse({collapse}) lastprivate(x)\n{head} {{ x = (int) i * 9 + (int) j; cell[i * 9 + j]++; }}\nput_cells();\nput(x);')
    yield Case('simd/pointer', 'double a[300];\n#pragma ws for simd\nfor (double *p = a; p < a + 300; p++) *p = (double) (p - a);\nfor (int k = 0; k < 300; k++) put(a[k]);')
    yield Case('simd/vector', 'std::vector<float> v(300, 1.5f);\n#pragma ws for simd\nfor (size_t i = 0; i < v.size(); i++) v[i] += float(i);\nfor (float x : v) put(x);', languages=('c++',))
    yield Case('simd/template', 'std::vector<double> v(300, 2);\nput(scale@(v, 3.));\nfor (double x : v) put(x);', languages=('c++',),
               scope='template <class T>\nT scale@(std::vector<T> &v, T by) {\n    T sum = 0, *a = v.data();\n    const long n = long(v.size());\n#pragma ws for simd reduction(+ : sum)\n    for (long i = 0; i < n; i++) { a[i] *= by; sum += a[i]; }\n    return sum;\n}')
    yield Case('simd/nested-in-ws', '#pragma ws for\nfor (int j = 0; j < 10; j++) {\n#pragma ws for simd\nfor (int i = 0; i < 15; i++) cell[15 * j + i]++;\nwork();\n}\nput_cells();')


def sections():
    def text(bodies, first=True):
        return '{\n' + '\n'.join(('' if k == 0 and first else '#pragma ws section\n') + '{ ' + body + ' work(); }' for k, body in enumerate(bodies)) + '\n}\n'
    for n, first in product((1, 2, 3, 5, 9, 40), (True, False)):
        yield Case(f'sections/{n}{"" if first else "/first-named"}', f'#pragma ws sections\n{text([f"cell[{k}] += {k + 1};" for k in range(n)], first)}put_cells();')
    kinds = {'int': ('int x = 7;', 'x = V;', 'x'), 'double': ('double x = 7;', 'x = V;', 'x'), 'struct': ('struct pair x = {7, 7};', 'x.a = x.b = V;', '(x.a + x.b)'),
             'array': ('int x[5] = {7, 7, 7, 7, 7};', 'for (int k = 0; k < 5; k++) x[k] = V + k;', '(x[0] + x[4])'), 'pointer': ('int *x = cell + 7;', 'x = cell + V;', '(x - cell)'),
             'class': ('Tracked x(7);', 'x.value = V;', 'x.value'), 'vector': ('std::vector<int> x(3, 7);', 'x.assign(4, V);', '(x[0] + (int) x.size())'), 'global': ('global@ = 7;', 'global@ = V;', 'global@')}
    for kind, (declare, assign, read) in kinds.items():
        x = 'global@' if kind == 'global' else 'x'
        more = {'languages': ('c++',)} if kind in ('class', 'vector') else {}
        if kind == 'global':
            more['scope'] = 'static int global@;'
        def put(k):
            return f'cell[{k}] = (int) {read};'
        def set_(k):
            return assign.replace('V', str(10 + k))
        for clause, bodies, after in (
                ('private', [set_(k) + put(k) for k in range(6)] if kind not in ('class', 'vector', 'pointer') else [f'cell[{k}] = {k};' for k in range(6)], ''),
                ('firstprivate', [put(k) for k in range(6)], f'put({read});'),
                ('lastprivate', [set_(k) + put(k) for k in range(6)], f'put({read});'),
                ('shared', [put(k) for k in range(6)], f'put({read});')):
            yield Case(f'sections/{clause}/{kind}', f'{declare}\n#pragma ws sections {clause}({x})\n{text(bodies)}{after}\nput_cells();', **more)
        yield Case(f'sections/first-and-last/{kind}', f'{declare}\n#pragma ws sections firstprivate({x}) lastprivate({x})\n{text([put(k) for k in range(6)] + [set_(6)])}put({read});\nput_cells();', **more)
    for operator, type_ in product(('+', '*', 'max', '|', '&&'), ('int', 'long', 'double')):
        if operator == '|' and type_ == 'double':
            continue
        change = {'+': 'r += {k};', '*': 'r *= 2;', 'max': 'r = r > {k} ? r : {k};', '|': 'r |= 1 << {k};', '&&': 'r = r && {k} < 5;'}[operator]
        yield Case(f'sections/reduction/{operator}/{type_}', f'{type_} r = 1;\n#pragma ws sections reduction({operator} : r)\n{text([change.format(k=k) for k in range(7)])}put(r);')
    yield Case('sections/several-clauses', f'int x = 1, y = 2, s = 0;\n#pragma ws sections firstprivate(x), lastprivate(y) reduction(+ : s) default(none) name("parts@")\n{text([f"y = x + {k}; s += y;" for k in range(6)])}put(x); put(y); put(s);'.replace(' work();', ''))
    yield Case('sections/default-none', f'#pragma ws sections default(none) shared(cell)\n{text([f"cell[{k}] = {k};" for k in range(5)])}put_cells();'.replace(' work();', ''))
    loop = 'for (int i = 0; i < 20; i++)'
    yield Case('sections/atomic', 'long x = 0;\n#pragma ws sections\n' + text([f'{loop} {{\n#pragma ws atomic\nx += i;\n}}' for _ in range(5)]) + 'put(x);')
    yield Case('sections/critical', 'long x = 0;\n#pragma ws sections\n' + text([f'{loop} {{\n#pragma ws critical (sections@)\n{{ long v = x; let_others_run(); x = v + i; }}\n}}' for _ in range(5)]) + 'put(x);')
    yield Case('sections/ws-for-inside', '#pragma ws sections\n' + text([f'\n#pragma ws for\n{loop} cell[20 * {k} + i]++;' for k in range(5)]) + 'put_cells();')
    yield Case('sections/in-ws-for', '#pragma ws for\nfor (int j = 0; j < 20; j++) {\n#pragma ws sections\n' + text([f'cell[5 * j + {k}]++;' for k in range(5)]) + '}\nput_cells();')
    yield Case('sections/in-sections', '#pragma ws sections\n' + text(['\n#pragma ws sections\n' + text([f'cell[5 * {j} + {k}]++;' for k in range(5)]) for j in range(5)]) + 'put_cells();')
    yield Case('sections/jumps-inside', '#pragma ws sections\n' + text([f'{loop} {{ if (i % 3 == {k}) continue; if (i > 12) break; cell[i]' + '++; }' if k < 1 else f'switch ({k}) {{ case 2: break; default: cell[100 + {k}]++; }}' for k in range(5)]) + 'put_cells();')
    yield Case('sections/_Pragma', 'TWO@(cell[0]++, cell[1]++)\nput_cells();', scope='#define TWO@(a, b) _Pragma("ws sections") { a; _Pragma("ws section") b; }', regions=0)
    yield Case('sections/in-function', 'put(parts@(5) + parts@(6));', regions=2, scope='static int parts@(int n) {\nint s = n;\n#pragma ws sections reduction(+ : s)\n{\ns += 1;\n#pragma ws section\ns += 2;\n#pragma ws section\ns += 3;\n#pragma ws section\ns += 4;\n}\nreturn s;\n}')
    yield Case('sections/template', 'put(parts@(2.5)); put(parts@(7));', languages=('c++',), regions=2, scope='template <class T>\nT parts@(T n) {\nT s = n, last = 0;\n#pragma ws sections reduction(+ : s) lastprivate(last)\n{\ns += n;\n#pragma ws section\nlast = 1;\n#pragma ws section\ns += 3;\n#pragma ws section\nlast = 2 * n;\n}\nreturn s + last;\n}')
    yield Case('sections/lambda', 'auto f = [&](int k) {\n#pragma ws sections\n{\ncell[k]++;\n#pragma ws section\ncell[k + 1]++;\n#pragma ws section\ncell[k + 2]++;\n#pragma ws section\ncell[k + 3]++;\n}\n};\nf(3); f(20);\nput_cells();', languages=('c++',), regions=2)
    yield Case('sections/exception-inside', '#pragma ws sections\n' + text([f'try {{ if ({k} % 2) throw {k}; cell[{k}] = 1; }} catch (int v) {{ cell[v] = 2; }}' for k in range(6)]) + 'put_cells();', languages=('c++',))
    yield Case('sections/omp-parallel-inside', '#pragma ws sections\n' + text([f'\n#pragma omp parallel for num_threads(2)\n{loop} cell[20 * {k} + i]++;' for k in range(4)]) + 'put_cells();', openmp=True)


def conditions():
    """`if`: a false one counts as no region that guests could join."""
    for name, text in {'variable': 'yes', 'comparison': 'n > 3', 'call': 'is_more@(n)', 'pointer': '&cell[0] + n', 'double': 'd', 'chosen': 'no ? no : yes', 'and': 'yes && n', 'constant': '1'}.items():
        for form, head in {'int': 'for (int i = 0; i < n; i++)', 'ulong': 'for (unsigned long i = 0; i < 100; i++)', 'down': 'for (long i = 99; i >= 0; i--)'}.items():
            for clauses in ('', ' schedule(dynamic, 3)', ' reduction(+ : s)', ' lastprivate(last)'):
                if hash_of((name, form, clauses)) % 2 and form != 'int':
                    continue
                s = 's += (int) i;' if 'reduction' in clauses else ''
                last = 'last = (int) i;' if 'last' in clauses else ''
                for truth in ('true', 'false'):
                    condition = text if truth == 'true' else f'!({text})'
                    yield Case(f'if/{name}/{truth}/{form}{"/" + clauses.split("(")[0].strip() if clauses else ""}',
                               f'int n = 100, yes = 1, no = 0, s = 0, last = -1;\ndouble d = 0.25;\n(void) n; (void) yes; (void) no; (void) d; (void) s; (void) last;\n'
                               f'#pragma ws for if({condition}){clauses}\n{head} {{ cell[i] += 3; {s} {last} work(); }}\nput_cells();\nput(s); put(last);',
                               scope='static int is_more@(int n) { return n > 3; }\nenum { used@ = sizeof(is_more@(1)) };', regions=int(truth == 'true'))
    yield Case('if/once', '#pragma ws for if(++calls@)\nfor (int i = 0; i < 100; i++) { cell[i]++; work(); }\nput(serial ? 1 : calls@);\nput_cells();', scope='static int calls@;')
    yield Case('if/in-order', 'long s = 0;\n#pragma ws for if(s)\nfor (int i = 0; i < 100; i++) { s = s * 3 % 10007 + i; work(); }\nput(s);', regions=0)
    yield Case('if/inner-loop-is-shared', 'int no = 0;\n(void) no;\n#pragma ws for if(no)\nfor (int j = 0; j < 2; j++) {\n#pragma ws for\nfor (int i = 0; i < 50; i++) { cell[50 * j + i]++; work(); }\n}\nput_cells();', regions=2)
    yield Case('if/collapse', 'int x = 0;\n#pragma ws for if(!x) collapse(2) lastprivate(x)\nfor (int j = 0; j < 10; j++)\nfor (int i = 0; i < 10; i++) { cell[10 * j + i]++; x = i; work(); }\nput_cells();\nput(x);')
    yield Case('if/sections', '#pragma ws sections if(cell[0])\n{\ncell[1]++;\n#pragma ws section\ncell[2] = cell[1];\n}\nput_cells();', regions=0)
    yield Case('if/template', 'put(sum@(5) + sum@(50));', languages=('c++',), scope='template <class T>\nT sum@(T n) {\nT s = 0;\n#pragma ws for if(n > T(10)) reduction(+ : s)\nfor (T i = 0; i < n; i++) s += i;\nreturn s;\n}')
    yield Case('if/explicit-bool', 'Yes@ yes;\n#pragma ws for if(yes)\nfor (int i = 0; i < 100; i++) { cell[i]++; work(); }\nput_cells();', languages=('c++',), scope='struct Yes@ { int n; Yes@() : n(1) {} explicit operator bool() const { return n; } };')
    yield Case('if/range-for', 'std::vector<int> v(60, 1);\n#pragma ws for if(!v.empty())\nfor (int &x : v) { x += 3; work(); }\nfor (int x : v) put(x);', languages=('c++',))


def tasks():
    """In the plain run the body of each task runs at once, in order."""
    task_case = functools.partial(Case, regions=0, tasks=1)
    many = 'for (int i = 0; i < 60; i++)'
    for name, clauses in {'none': '', 'shared': 'shared(s)', 'default-none': 'default(none) firstprivate(i) shared(cell)', 'if': 'if(i % 3)', 'final': 'final(i > 20)', 'priority': 'priority(i % 5)',
                          'untied': 'untied mergeable', 'named': 'name("task@")', 'several': 'if(i > 3), priority(2) firstprivate(i) untied'}.items():
        yield task_case(f'tasks/clauses/{name}', f'int s = 0;\n(void) s;\n{many} {{\n#pragma ws task {clauses}\n{{ cell[i] += i; work(); }}\n}}\n#pragma ws taskwait\nput_cells();')
    kinds = {'int': ('int x = 7;', 'x = 9;', 'x'), 'double': ('double x = 7.5;', 'x = 9;', 'x'), 'struct': ('struct pair x = {7, 8};', 'x.a = x.b = 9;', '(x.a + x.b)'),
             'array': ('int x[5] = {7, 7, 7, 7, 7};', 'x[0] = x[4] = 9;', '(x[0] + x[4])'), 'pointer': ('int *x = cell + 7;', 'x = cell + 9;', '(x - cell)'),
             'class': ('Tracked x(7);', 'x.value = 9;', 'x.value'), 'vector': ('std::vector<int> x(3, 7);', 'x.assign(4, 9);', '(x[0] + (int) x.size())')}
    for kind, (declare, change, read) in kinds.items():
        more = {'languages': ('c++',)} if kind in ('class', 'vector') else {}
        yield task_case(f'tasks/firstprivate/{kind}', f'{declare}\n{many} {{\n#pragma ws task firstprivate(x)\ncell[i] = (int) {read};\n}}\n#pragma ws taskwait\nput({read});\nput_cells();', **more)
        yield task_case(f'tasks/shared/{kind}', f'{declare}\n#pragma ws task shared(x)\n{{ {change} work(); }}\n#pragma ws taskwait\nput({read});', **more)
        yield task_case(f'tasks/depend/{kind}', f'{declare}\nint y = 0;\n#pragma ws task shared(x) depend(out : x)\n{{ {change} work(); }}\n#pragma ws task shared(x, y) depend(in : x) depend(inout : y)\n'
                   f'y = (int) {read};\n#pragma ws taskwait\nput(y);', **more)
    yield task_case('tasks/recursion', 'put(fib@(14));', scope='static long fib@(int n) {\nlong a = 0, b = 0;\nif (n < 2) return n;\n#pragma ws task shared(a) if(n > 4)\na = fib@(n - 1);\n'
               '#pragma ws task shared(b) final(n < 6)\nb = fib@(n - 2);\n#pragma ws taskwait\nreturn a + b;\n}')
    yield task_case('tasks/chain', f'long x = 1;\n{many} {{\n#pragma ws task depend(inout : x) shared(x)\n{{ x = x * 3 % 10007 + i; work(); }}\n}}\n#pragma ws taskwait\nput(x);')
    yield task_case('tasks/group', f'#pragma ws taskgroup\n{{\n{many} {{\n#pragma ws task\n{{\n#pragma ws task\ncell[i + 60]++;\ncell[i]++; work();\n}}\n}}\n}}\nput_cells();')
    for operator, type_ in product(('+', '*', 'max'), ('int', 'long', 'double')):
        change = {'+': 'r += i;', '*': 'r *= i % 20 ? 1 : 2;', 'max': 'r = r > i ? r : i;'}[operator]
        yield task_case(f'tasks/in_reduction/{operator}/{type_}', f'{type_} r = 3;\n#pragma ws taskgroup task_reduction({operator} : r)\n{{\n{many} {{\n#pragma ws task in_reduction({operator} : r)\n{{ {change} work(); }}\n}}\n}}\nput(r);')
        yield task_case(f'tasks/taskloop/reduction/{operator}/{type_}', f'{type_} r = 3;\n#pragma ws taskloop reduction({operator} : r) grainsize(7)\n{many} {{ {change} work(); }}\nput(r);')
    for name, clauses in {'none': '', 'grainsize': 'grainsize(7)', 'num_tasks': 'num_tasks(5)', 'lastprivate': 'lastprivate(last)', 'if': 'if(last)', 'priority': 'priority(3) untied'}.items():
        for form, head in {'int': 'for (int i = 0; i < 60; i++)', 'down': 'for (long i = 59; i > 0; i -= 3)', 'ulong': 'for (unsigned long i = 1; i <= 60; i += 7)'}.items():
            last = 'last = (int) i; ' if name == 'lastprivate' else ''
            yield task_case(f'tasks/taskloop/{name}/{form}', f'int last = 0;\n#pragma ws taskloop {clauses}\n{head} {{ cell[i]++; {last}work(); }}\nput(last);\nput_cells();')
    yield task_case('tasks/taskloop/collapse', '#pragma ws taskloop collapse(2)\nfor (int i = 0; i < 12; i++)\nfor (int j = 11; j >= 0; j--) { cell[12 * i + j] += j; work(); }\nput_cells();')
    yield task_case('tasks/taskloop/nogroup', f'#pragma ws taskloop nogroup\n{many} {{ cell[i]++; work(); }}\n#pragma ws taskwait\nput_cells();')
    yield task_case('tasks/in-ws-for', '#pragma ws for\nfor (int i = 0; i < 60; i++) {\nint a = 0;\n#pragma ws task shared(a)\na = i;\n#pragma ws taskwait\ncell[i] = a; work();\n}\nput_cells();', regions=1)
    yield task_case('tasks/ws-for-inside', '#pragma ws task\n{\n#pragma ws for\nfor (int i = 0; i < 60; i++) { cell[i]++; work(); }\n}\n#pragma ws taskwait\nput_cells();')
    yield task_case('tasks/template', 'put(sum@(50)); put(sum@(2.5));', languages=('c++',),
               scope='template <class T>\nT sum@(T n) {\nT a = 0, b = 0;\n#pragma ws task shared(a)\na = n * 2;\n#pragma ws task shared(b) depend(out : b)\nb = n + 1;\n#pragma ws taskwait\nreturn a + b;\n}')
    yield task_case('tasks/lambda', 'auto f = [&](int k) {\n#pragma ws task\ncell[k]++;\n#pragma ws taskwait\n};\nf(3); f(20);\nput_cells();', languages=('c++',))


def cases():
    for generate in (loop_forms, iterators, collapsed, data_clauses, reductions, schedules, atomics, criticals, nesting, with_openmp, vectorizable, simd_loops, sections, conditions, tasks):
        yield from generate()


# The program

HEAD = '#include "frame.h"\n' + C_TYPES + '#ifdef __cplusplus\n' + CXX_TYPES + '#endif\n'


def plain(text):
    """Without its directives, each in a line of its own."""
    return '\n'.join(line for line in text.split('\n') if not re.match(r'\s*#pragma (ws|omp)', line))


def program(cases, language):
    """The two files of a program: lists of (case, text), case None for what belongs to none."""
    main, other, calls = [(None, HEAD)], [(None, HEAD + '#ifdef __cplusplus\nextern "C" {\n#endif\n')], []
    for number, case in enumerate(cases):
        def text(what):
            return what.replace('@', str(number))
        main.append((case, f'{text(case.scope)}\nstatic void plain{number}(void) {{\n{plain(text(case.body))}\n}}\n'
                           f'static void ws{number}(void) {{\n{text(case.body)}\n}}\n'))
        if case.other:
            other.append((case, text(case.other)))
        calls.append(f'case_begin("{case.name}"); plain{number}(); case_shared(); ws{number}(); case_end({case.regions}, {case.tasks});')
    main.append((None, 'void run_cases(void) {\n' + '\n'.join(calls) + '\n}\n'))
    other.append((None, '#ifdef __cplusplus\n}\n#endif\n'))
    return main, other
