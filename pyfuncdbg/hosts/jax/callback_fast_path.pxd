"""C types of `callback_fast_path.py`."""
from pyfuncdbg.hooks.watched_call cimport make_call, make_ended_call


cdef class CallbackFastPath:
    cdef object _call_flat, _runs, _thread, _errors, _array, _eager
    cdef dict _by_params, _by_callback, _by_function, _ignored, _codes
