"""C types of `eager_ops.py`."""


cdef class EagerOps:
    cdef public bint on
    cdef object _parts, _host, _runs, _executables, _array, _failed, _ops, _sites, _thread, _later

    cdef object _make(self, object op, list inputs, object outputs, object frame, object began, object ended)
    cdef object _kept(self, object value)
