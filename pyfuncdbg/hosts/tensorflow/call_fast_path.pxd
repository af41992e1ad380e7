"""C types of `call_fast_path.py`."""
from pyfuncdbg.hooks.call cimport CallSite, Run


cdef class CallFastPath:
    cdef object _original, _call_function, _registry, _causes, _thread, _sites, _gradients, _site_at, _eager_function
    cdef object _runs
    cdef CallSite _run_site
    cdef dict _functions, _active_runs, _places
    cdef object _call_eagerly(self, object watcher, object registered, object token, object device, list args)
    cdef CallSite _place(self, object kind, object name, object function, tuple declared, object frame)
