"""C types of `stand_in_frames.py`."""
cimport cython


cdef object _CODE
cdef dict _lines, _NO_KEYWORDS
cdef long _MOST


cdef class _Line:
    cdef public object code, function, module, stand_in


@cython.locals(line=_Line, key=tuple)
cpdef object call_behind(object frame, long levels, object function, object args, object kwargs)
cdef _Line _new_line(tuple key, object frame)
