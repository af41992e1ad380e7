"""C types of `tensor_values.py`."""


cdef class TensorReader:
    cdef object _tensor, _no_functions, _no_dispatch, _function_modes, _dispatch_modes, _strided, _stack
    cdef dict _views

    cpdef object read(self, object tensor)

cpdef list tensors_in(object values, object kind)
