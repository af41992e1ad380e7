"""C types of `snapshot.py`."""
cimport cython

from pyfuncdbg.observers.record.snapshots.snapshot_memory cimport Allowance


cdef Py_ssize_t _NEWEST


cdef class Snapshots:
    cdef public object _wait_for, _write_through, level, limits, pool, full_limit
    cdef public Allowance allowance
    cdef public list _newest
    cdef public dict _unkept
    cdef public Py_ssize_t _small

    @cython.locals(size=Py_ssize_t, total=Py_ssize_t)
    cpdef object take_all(self, object values, object host, frozenset scalars)
    @cython.locals(place=Py_ssize_t)
    cpdef object note_changes(self, list taken, object values, object host)
    @cython.locals(size=Py_ssize_t)
    cdef object _take_copy(self, object copied, frozenset scalars)
    cdef object _without_bytes(self, object dtype, tuple shape)
    @cython.locals(place=Py_ssize_t, newest=tuple)
    cdef tuple _newest_like(self, tuple copied, Py_ssize_t size)
    @cython.locals(place=Py_ssize_t, newest=tuple)
    cdef tuple _copy_small(self, object array, object dtype, Py_ssize_t size)
