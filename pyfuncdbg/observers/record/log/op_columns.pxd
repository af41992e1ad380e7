"""C types of `op_columns.py`."""
cimport cython


cdef class LargeRows:
    cdef public dict _rows


cdef class QueuedOps:
    cdef public object batch
    cdef public long long limit, charge
    cdef public str note


cdef class _EncodedValues:
    cdef public dict _scalars
    cdef public list descriptions
    cdef public object list, codes, ranks, sizes, bad


@cython.locals(place=Py_ssize_t, nbytes=cython.longlong, limit=cython.longlong)
cdef list _fill(object into, list arrays, list limits, list notes, object store)
