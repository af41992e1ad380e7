"""C types of `capture.py`."""
cimport cython

from pyfuncdbg.hooks.call cimport Call


cdef object _state, _set_state
cdef dict states


cdef class SharedState:
    cdef public list users, running_calls
    cdef public object lock, streams, _undo


cdef class Capture:
    cdef object __weakref__
    cdef public object echo, _starts, _watched_streams

    @cython.locals(process=SharedState)
    cpdef object on_begin(self, Call call)
    @cython.locals(process=SharedState)
    cpdef object on_return(self, Call call, object state, object outputs)
