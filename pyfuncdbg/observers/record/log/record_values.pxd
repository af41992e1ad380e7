"""C types of `record_values.py`."""
cimport cython


cdef class RecordValues:
    cdef public object codes, ranks, sizes, bad, changed
    cdef object _store, _last, _dtype, _shape, _stat_rows
    cdef bytearray _codes
    cdef list _ranks, _descriptions, _arrays, _sizes, _dtype_column, _shape_column, _levels, _kinds, _keys, _inline, _tested
    cdef list _summarized
    cdef dict _scalars, _places, _array_places, _dtypes, _shapes, _notes
    cdef Py_ssize_t _last_rank, _number, _shape_number
    cdef bint _has_row

    @cython.locals(rank=Py_ssize_t)
    cpdef object put_copies(self, object values)
    @cython.locals(rank=Py_ssize_t, places=dict)
    cpdef object put_arrays(self, object values, long long limit)
    @cython.locals(code=Py_ssize_t, rank=Py_ssize_t, same=list)
    cdef object _put_other(self, object value)
    @cython.locals(rank=Py_ssize_t)
    cdef Py_ssize_t _rank_of_copy(self, tuple copied) except -2
    @cython.locals(rank=Py_ssize_t)
    cdef Py_ssize_t _put_copy(self, tuple copied) except -2
    cdef object _data_to_summarize(self, object snapshot)
    @cython.locals(rank=Py_ssize_t)
    cdef Py_ssize_t _put_snapshot(self, object snapshot, object data) except -2
    @cython.locals(nbytes=cython.longlong, rank=Py_ssize_t, level=Py_ssize_t)
    cdef Py_ssize_t _put_array(self, object array, long long limit) except -2
    cdef object _note_dtype(self, object dtype)
    cdef Py_ssize_t _put_column(self, object array, object shape, Py_ssize_t nbytes) except -2
    cdef object _place(self, object where)
