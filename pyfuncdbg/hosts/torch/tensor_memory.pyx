# cython: boundscheck=False, wraparound=False, cdivision=True, auto_pickle=False
"""Copies of tensors on the CPU, by DLPack's interface for C: a tenth of the time in which NumPy shares their memory.

Used by `tensor_values` where PyTorch has that interface (from 2.10) and this was compiled. Any thread; no mode sees it.
"""
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_Clear
from cpython.long cimport PyLong_AsLongLong
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    typedef struct { int32_t device_type, device_id; } DLDevice;
    typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
    typedef struct {
        void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape, *strides; uint64_t byte_offset;
    } DLTensor;
    typedef struct DLPackExchangeAPIHeader {
        struct { uint32_t major, minor; } version;
        struct DLPackExchangeAPIHeader *prev_api;
    } DLPackExchangeAPIHeader;
    typedef struct {
        DLPackExchangeAPIHeader header;
        void *allocate, *managed_from_object, *managed_to_object;
        int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out);
        void *current_work_stream;
    } DLPackExchangeAPI;
    """
    ctypedef struct DLDevice:
        int32_t device_type
    ctypedef struct DLDataType:
        uint8_t code, bits
        uint16_t lanes
    ctypedef struct DLTensor:
        void *data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    ctypedef struct DLPackVersion "typeof(((DLPackExchangeAPIHeader *)0)->version)":
        uint32_t major
    ctypedef struct DLPackExchangeAPIHeader:
        DLPackVersion version
        DLPackExchangeAPIHeader *prev_api
    ctypedef struct DLPackExchangeAPI:
        DLPackExchangeAPIHeader header
        int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out) except -2

cdef enum:
    CPU = 1
    INT = 0
    UINT = 1
    FLOAT = 2
    BOOL = 6
    MOST_DIMENSIONS = 16
    MAJOR = 1
    KEPT_SHAPES = 64

cdef list _TYPES = [[None] * 4, [None] * 4, [None] * 4]
for _bits in (8, 16, 32, 64):
    _TYPES[INT][_bits.bit_length() - 4] = np.dtype(f'i{_bits // 8}')
    _TYPES[UINT][_bits.bit_length() - 4] = np.dtype(f'u{_bits // 8}')
    _TYPES[FLOAT][_bits.bit_length() - 4] = np.dtype(f'f{_bits // 8}') if _bits > 8 else None
cdef object _BOOL = np.dtype(bool)
cdef object _float32 = np.float32, _float64 = np.float64, _int64 = np.int64, _bool = np.bool_


cdef void _gather(char **to, const char *source, int64_t *shape, int64_t *strides, int ndim, int64_t size) noexcept nogil:
    """Append the elements of a strided tensor in C order."""
    cdef int64_t place
    if ndim == 0:
        memcpy(to[0], source, size)
        to[0] += size
    elif ndim == 1 and strides[0] == 1:
        memcpy(to[0], source, size * shape[0])
        to[0] += size * shape[0]
    else:
        for place in range(shape[0]):
            _gather(to, source + place * strides[0] * size, shape + 1, strides + 1, ndim - 1, size)


cdef class TensorMemory:
    """Copier of tensors.

    Args:
        exchange: PyTorch's capsule of DLPack's functions.
        function_modes: Counts the modes that see calls of PyTorch's functions on this thread.

    Raises:
        ValueError: It is of another version, or no such capsule.
    """
    cdef DLPackExchangeAPI *_api
    cdef object _function_modes
    cdef list _shapes

    def __init__(self, exchange, function_modes):
        cdef DLPackExchangeAPIHeader *header = <DLPackExchangeAPIHeader *> PyCapsule_GetPointer(exchange, 'dlpack_exchange_api')
        while header is not NULL and header.version.major != MAJOR:
            header = header.prev_api
        if header is NULL:
            raise ValueError('no DLPack functions of version 1')
        self._api = <DLPackExchangeAPI *> header
        self._function_modes = function_modes
        self._shapes = [()] * KEPT_SHAPES

    cdef tuple _shape_of(self, DLTensor *view):
        """The shape; the tuple of an earlier tensor where that is the same: a program has few."""
        cdef int64_t mark = view.ndim
        cdef int place
        for place in range(view.ndim):
            mark = mark * 31 + view.shape[place]
        cdef int slot = mark & (KEPT_SHAPES - 1)
        cdef tuple shape = <tuple> self._shapes[slot]
        cdef bint is_same = len(shape) == view.ndim
        for place in range(view.ndim):
            if not is_same:
                break
            is_same = PyLong_AsLongLong(<object> PyTuple_GET_ITEM(shape, place)) == view.shape[place]
        if not is_same:
            shape = self._shapes[slot] = tuple([view.shape[place] for place in range(view.ndim)])
        return shape

    cpdef object copy(self, object tensor, Py_ssize_t limit):
        """Copy a tensor.

        Args:
            tensor: Of PyTorch.
            limit: Copy no elements of one with more bytes; -1 for none at all.

        Returns:
            Type, shape, bytes in C order or None, and False; a NumPy scalar of some tensors without dimensions; None of a
            tensor that has to be read in another way.
        """
        cdef DLTensor view
        cdef int64_t count, size, dense = 1
        cdef bint is_dense = True, has_unit = False
        cdef int place
        cdef char *to
        if self._api.dltensor_from_py_object_no_sync(<void *> tensor, &view) != 0:
            PyErr_Clear()
            return None
        if view.device.device_type != CPU or view.dtype.lanes != 1 or view.ndim > MOST_DIMENSIONS:
            return None
        for place in range(view.ndim - 1, -1, -1):
            if view.shape[place] > 1:
                has_unit |= view.strides[place] == 1
                is_dense &= view.strides[place] == dense
            dense *= view.shape[place]
        count = dense
        # The imaginary part of a conjugate is negated when it is read; it has no stride of one.
        if not has_unit and count and (self._function_modes() or tensor.is_neg()):
            return None
        if count and view.data is NULL:
            return None
        if view.dtype.code == BOOL and view.dtype.bits == 8:
            dtype = _BOOL
        elif view.dtype.code <= FLOAT and view.dtype.bits in (8, 16, 32, 64):
            dtype = _TYPES[view.dtype.code][3 if view.dtype.bits == 64 else 2 if view.dtype.bits == 32 else
                                            1 if view.dtype.bits == 16 else 0]
        else:
            return None
        if dtype is None:
            return None
        size = view.dtype.bits // 8
        cdef char *source = <char *> view.data + view.byte_offset
        shape = self._shape_of(&view)
        if count * size > limit:
            return dtype, shape, None, False
        if view.ndim == 0:
            if dtype is _TYPES[FLOAT][2]:
                return _float32((<float *> source)[0])
            if dtype is _TYPES[FLOAT][3]:
                return _float64((<double *> source)[0])
            if dtype is _TYPES[INT][3]:
                return _int64((<int64_t *> source)[0])
            if dtype is _BOOL:
                return _bool(source[0] != 0)
        data = PyBytes_FromStringAndSize(NULL, count * size)
        to = PyBytes_AS_STRING(data)
        if is_dense:
            memcpy(to, source, count * size)
        elif count:
            _gather(&to, source, view.shape, view.strides, view.ndim, size)
        return dtype, shape, data, False
