"""C types of `queued_call.py`."""
cimport cython

from pyfuncdbg.hooks.call cimport Call


cdef class QueuedCall:
    cdef public long long id, run, site, ordinal, thread, started, finished, forward, parent, retry_of
    cdef public object inputs, outputs, output, error, lost, sources, state
    cdef public bint holds_memory, broken_off


cpdef QueuedCall queued_call(Call call, object inputs, object outputs, long long finished, long long forward, bint holds_memory)

@cython.locals(call=QueuedCall)
cpdef list numbers_of(object calls)
@cython.locals(call=QueuedCall, row=Py_ssize_t)
cpdef list rare_fields_of(object calls)
cpdef bint is_plain(QueuedCall call, Py_ssize_t most)
@cython.locals(call=QueuedCall, size=Py_ssize_t, snapshots=list)
cpdef tuple held_by(object calls)
@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _held_by(object values, list snapshots) except -1
