"""C types of `watched_call.py`."""
from pyfuncdbg.hooks.call cimport Call


cpdef object watch(Call call, Call within, object watcher, object function, object arguments)
