"""C types of `value_mark.py`."""

cdef frozenset _PLAIN_TYPES
cdef dict _sorts
cdef long _GENERATOR, _OBJECT, _OTHER

cpdef object mark_of(object value, long depth=*)
cdef long _sort_of(object value) except -1
cdef object _cell_mark(object cell, long depth)
