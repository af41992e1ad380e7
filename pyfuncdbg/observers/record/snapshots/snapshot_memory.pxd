"""C types of `snapshot_memory.py`."""


cdef class Allowance:
    cdef public Py_ssize_t limit, used

    cpdef bint take(self, Py_ssize_t size) except -1
    cpdef object give(self, Py_ssize_t size)
