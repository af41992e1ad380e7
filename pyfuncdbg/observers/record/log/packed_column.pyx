# cython: boundscheck=False, wraparound=False, auto_pickle=False
"""Packing of a column of integers in compiled code: a record has twenty columns, and NumPy takes 10 µs for each.

Called by `columns`, which does the same with NumPy where this was not compiled, on the writer's thread.
"""
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDED_RO, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef object _packed(const int64_t *numbers, Py_ssize_t count):
    cdef Py_ssize_t i
    cdef int64_t least = numbers[0], greatest = numbers[0]
    cdef uint64_t most
    cdef bytes data
    cdef char *target
    cdef int width
    for i in range(1, count):
        if numbers[i] < least:
            least = numbers[i]
        if numbers[i] > greatest:
            greatest = numbers[i]
    most = <uint64_t>greatest - <uint64_t>least
    if not most:
        return [least, 0, b'']
    width = 1 if most <= 0xff else 2 if most <= 0xffff else 4 if most <= 0xffffffff else 8
    data = PyBytes_FromStringAndSize(NULL, count * width)
    target = PyBytes_AS_STRING(data)
    for i in range(count):
        if width == 1:
            (<uint8_t *>target)[i] = <uint8_t>(<uint64_t>numbers[i] - <uint64_t>least)
        elif width == 2:
            (<uint16_t *>target)[i] = <uint16_t>(<uint64_t>numbers[i] - <uint64_t>least)
        elif width == 4:
            (<uint32_t *>target)[i] = <uint32_t>(<uint64_t>numbers[i] - <uint64_t>least)
        else:
            (<uint64_t *>target)[i] = <uint64_t>numbers[i] - <uint64_t>least
    return [least, width, data]


def pack_list(column):
    """Pack integers.

    Args:
        column: At least one integer; each fits in 64 bits with a sign.

    Returns:
        As `columns.pack`.

    Raises:
        OverflowError: One does not fit.
        TypeError: One is no integer.
    """
    cdef list items = list(column)
    cdef Py_ssize_t i, count = len(items)
    cdef int64_t *numbers
    if not count:
        raise ValueError('an empty column; expected at least one number')
    numbers = <int64_t *>PyMem_Malloc(count * sizeof(int64_t))
    if numbers == NULL:
        raise MemoryError
    try:
        for i in range(count):
            numbers[i] = items[i]
        return _packed(numbers, count)
    finally:
        PyMem_Free(numbers)


def pack_array(column):
    """Pack an array of int64.

    Args:
        column: Of one dimension, with at least one number; any stride.

    Returns:
        As `columns.pack`.
    """
    cdef Py_buffer view
    cdef Py_ssize_t i
    cdef int64_t *numbers = NULL
    PyObject_GetBuffer(column, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT)
    try:
        if view.ndim != 1 or view.itemsize != sizeof(int64_t) or view.shape[0] < 1:
            raise ValueError(f'an array of {view.ndim} dimensions and {view.itemsize} bytes an element; expected one of int64')
        if view.strides[0] == sizeof(int64_t):
            return _packed(<const int64_t *>view.buf, view.shape[0])
        numbers = <int64_t *>PyMem_Malloc(view.shape[0] * sizeof(int64_t))
        if numbers == NULL:
            raise MemoryError
        for i in range(view.shape[0]):
            numbers[i] = (<const int64_t *>(<const char *>view.buf + i * view.strides[0]))[0]
        return _packed(numbers, view.shape[0])
    finally:
        PyMem_Free(numbers)
        PyBuffer_Release(&view)
