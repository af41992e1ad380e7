"""C types of `compiled_ops.py`."""


cdef class CompiledOps:
    cdef object _array, _leaves, _executables
    cdef dict _by_function, _by_name

    cpdef object called(self, object function, object args, object settings)
    cdef object _inputs(self, object entry, object args, object settings)
