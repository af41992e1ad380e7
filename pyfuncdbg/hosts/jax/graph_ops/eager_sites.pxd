"""C types of `eager_sites.py`."""


cdef long _BETWEEN, _PROGRAM, _LIBRARY, _PASS, _TYPED, _MOST, _OUTPUTS


cdef class EagerSite:
    cdef public object site, sequence
    cdef object _alive


cdef class EagerSites:
    cdef object _host, _names
    cdef dict _kinds, _entries
    cdef list _outputs, _makers
    cdef long _made

    cpdef object of(self, object op, object frame, object inputs, object outputs)
    cpdef object note_outputs(self, object site, object outputs)
    cdef object _place(self, object frame)
