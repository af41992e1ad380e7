"""C types of `dispatches.py`."""
from pyfuncdbg.hooks.watched_call cimport make_call


cdef class Dispatch:
    cdef public object executable, run, caller, _results, _held
    cdef public dict calls, steps
    cdef public bint failed, begun_by_call, _is_computed
