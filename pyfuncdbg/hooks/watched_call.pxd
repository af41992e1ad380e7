"""C types of `watched_call.py`."""
from pyfuncdbg.hooks.call cimport Call, CallSite, Run, new_call


cdef object _get_current, _set_current, _NO_STATE

cpdef object make_call(CallSite site, Run run, list inputs, object thread, object watcher, object holder, object func,
                  object arguments)
cpdef object watch_call(Call call, Call outer_call, object watcher, object func, object arguments)
cpdef object make_ended_call(CallSite site, Run run, list inputs, object outputs, object thread, object watcher)
