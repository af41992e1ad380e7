"""C types of `op_recorder.py`."""
cimport cython

from pyfuncdbg.observers.record.call_recorder cimport CallRecorder
from pyfuncdbg.observers.record.snapshots.snapshot cimport Snapshots


cdef class OpRecorder:
    cdef CallRecorder _calls
    cdef long long _limit, _share, _run
    cdef object _mark
    cdef dict _copies

    @cython.locals(values=list, copied=set, copies=dict, place=Py_ssize_t, size=cython.longlong, snapshots=Snapshots,
                   scalars=frozenset, owns_values=bint, has_row=bint)
    cdef long long _take(self, object batch) except -1
