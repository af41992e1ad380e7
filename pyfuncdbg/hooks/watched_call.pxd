"""C types of `watched_call.py`."""
from pyfuncdbg.hooks.call cimport Call, CallSite, Run, new_call


cdef object _enclosing, _enter, _NOT_BEGUN

cpdef object make(CallSite site, Run run, list inputs, object thread, object watcher, object holder, object func,
                  object arguments)
cpdef object watch(Call call, Call within, object watcher, object func, object arguments)
