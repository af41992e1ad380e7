"""C types of `queued_call.py`."""
cimport cython

from pyfuncdbg.hooks.call cimport Call


cdef class QueuedCall:
    cdef public long long id, run, site, ordinal, thread, started, finished, forward, parent, retry_of
    cdef public object inputs, outputs, output, error, lost, sources, state
    cdef public bint holds_memory, broken_off


cpdef QueuedCall queued_call(Call call, object inputs, object outputs, long long finished, long long forward, bint holds_memory)

@cython.locals(call=QueuedCall)
cpdef list fields_of(object calls)
