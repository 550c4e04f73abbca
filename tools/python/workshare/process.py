# SPDX-License-Identifier: MIT
"""libws's functions for the calling process: phases, waits outside of MPI, switching sharing off, metrics.

libws is in the process if `mpirun -workshare` or `workshare` has started it, from MPI_Init on at the latest. It is looked up when a function is called, and
never loaded.
"""
import contextlib
import ctypes
import os

_found = {}


class _Metrics(ctypes.Structure):
    """struct ws_metrics of <workshare/ws.h>. A newer libws fills in what this one knows."""
    _fields_ = [('size', ctypes.c_uint64)] + [(name, ctypes.c_double) for name in (
        'elapsed_s', 'computing_s', 'mpi_s', 'blocked_s', 'lent_s', 'borrowed_s', 'close_wait_s', 'iterations_stolen', 'node_ranks', 'load_balance',
        'parallel_efficiency', 'transfer_efficiency')]


_TYPES = {
    'ws_wait_begin': (None, []),
    'ws_wait_end': (None, []),
    'ws_phase_begin': (None, [ctypes.c_char_p]),
    'ws_phase_end': (None, []),
    'ws_enable': (ctypes.c_int, [ctypes.c_int]),
    'ws_metrics': (ctypes.c_int, [ctypes.POINTER(_Metrics), ctypes.c_size_t]),
}


def _libraries():
    yield lambda: ctypes.CDLL(None)     # what is global: libws is, if it was loaded first or by MPI
    yield lambda: ctypes.CDLL('libws.so.1', mode=os.RTLD_NOLOAD | os.RTLD_NOW)  # a module of Python's is linked with it


def _function(name):
    """A function of libws, or None if libws is not in the process yet."""
    found = _found.get(name)
    if found is None:
        for library in _libraries():
            try:
                found = getattr(library(), name)
            except (OSError, AttributeError):
                continue
            found.restype, found.argtypes = _TYPES[name]
            _found[name] = found
            break
    return found


def _call(name, *arguments, otherwise=None):
    function = _function(name)
    return otherwise if function is None else function(*arguments)


def is_active():
    """Whether libws is in the process. It shares nothing unless the job was started with -workshare, and before MPI_Init."""
    return _function('ws_wait_begin') is not None


def wait_begin():
    """Begins a wait outside of MPI: until wait_end(), the rank's core may be lent. See `waiting`."""
    _call('ws_wait_begin')


def wait_end():
    """Ends the wait that wait_begin() began, on the same thread."""
    _call('ws_wait_end')


class waiting(contextlib.ContextDecorator):  # noqa: N801: it is used like a function
    """In a `with` block, or in a function that it decorates: the rank waits outside of MPI, and its core may be lent. For waits of a millisecond and more."""

    def __enter__(self):
        wait_begin()
        return self

    def __exit__(self, *error):
        wait_end()
        return False


def phase_begin(name):
    """Begins a phase, which the report shows by itself. See `phase`."""
    _call('ws_phase_begin', str(name).encode())


def phase_end():
    """Ends the phase that began last."""
    _call('ws_phase_end')


class phase(contextlib.ContextDecorator):  # noqa: N801
    """A phase of the program, in a `with` block or for a function that it decorates. Phases may be nested."""

    def __init__(self, name):
        self._name = name

    def __enter__(self):
        phase_begin(self._name)
        return self

    def __exit__(self, *error):
        phase_end()
        return False


def enable(on=True):
    """Sets whether the rank shares its loops and lends its core from here on. Returns what it was before; False without Workshare."""
    return bool(_call('ws_enable', int(bool(on)), otherwise=0))


def metrics():
    """What the rank has done so far: a dict of the fields of struct ws_metrics, times in seconds. None without Workshare."""
    read = _Metrics()
    if _call('ws_metrics', ctypes.byref(read), ctypes.sizeof(read), otherwise=-1) != 0:
        return None
    names = [name for name, _ in _Metrics._fields_ if name != 'size']
    return {name: getattr(read, name) for name in names if getattr(_Metrics, name).offset < read.size}
