"""C types of `dispatches.py`."""


cdef class Dispatch:
    cdef public object executable, run, caller, _results
    cdef public dict calls, steps
    cdef public bint failed, begun_by_call
