"""C types of `op_sites.py`."""
cimport cython

from pyfuncdbg.hooks.call cimport CallSite, Run


cdef long _BETWEEN, _PROGRAM, _LIBRARY, _MODULE, _MOST, _OUTPUTS


cdef class OpPlace:
    cdef public object frame, module


cdef class _Entry:
    cdef public object func, code, module
    cdef public CallSite site


cdef class OpSites:
    cdef object _host, _leaves, _tensor, _sequence_number, _current_node, _module_code, _entry_code, _names, _runs, _thread
    cdef dict _kinds, _entries, _backward, _belongs
    cdef list _outputs, _makers, _codes
    cdef long _made

    @cython.locals(place=OpPlace, entry=_Entry, site=CallSite)
    cpdef CallSite of(self, object func, object frame, Run run, list inputs)
    @cython.locals(place=long, index=long)
    cpdef object note_outputs(self, CallSite site, object result)
    @cython.locals(kind=object, in_module=bint)
    cdef OpPlace _place(self, object frame, object in_module)
    cdef CallSite _forward_site(self, object node)
    @cython.locals(entry=_Entry)
    cdef CallSite _backward_site(self, object func, CallSite forward)
