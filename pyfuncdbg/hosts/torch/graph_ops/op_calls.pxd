"""C types of `op_calls.py`."""
from pyfuncdbg.hooks.call cimport Call, CallSite, Run
from pyfuncdbg.hooks.native_thread cimport native_thread
from pyfuncdbg.hooks.watched_call cimport make_call
from pyfuncdbg.hosts.torch.graph_ops.op_sites cimport OpSites
from pyfuncdbg.hosts.torch.tensor_values cimport tensors_in

cimport cython


cdef object _get_current


cdef class DispatchedOps:
    cdef public object on
    cdef object _calls, _runs, _thread, _tensor, _modes, _transforms
    cdef OpSites _sites
    cdef dict _known

    @cython.locals(run=Run, site=CallSite, known=tuple, inputs=list)
    cpdef object make(self, object func, object args, object kwargs, object frame)
    @cython.locals(outer_call=Call)
    cdef bint _is_traced(self)
