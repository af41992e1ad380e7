"""C types of `op_calls.py`."""
from pyfuncdbg.hooks.call cimport CallSite, Run


cdef class DispatchedOps:
    cdef object _runs, _sites, _tensor
    cdef dict _known
