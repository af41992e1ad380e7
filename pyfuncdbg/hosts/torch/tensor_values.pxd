"""C types of `tensor_values.py`."""


cdef class _Exported:
    cdef object _capsule


cdef class TensorReader:
    cdef object _tensor, _no_functions, _no_dispatch, _function_modes, _dispatch_modes, _strided, _summaries, _to_dlpack
    cdef public object copier
    cdef dict _views

    cpdef object read(self, object tensor)
    cdef object _share(self, object tensor)

cpdef list tensors_in(object values, object kind)
