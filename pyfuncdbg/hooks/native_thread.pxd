"""C types of `native_thread.py`."""


cdef object _thread

cpdef object native_thread()
