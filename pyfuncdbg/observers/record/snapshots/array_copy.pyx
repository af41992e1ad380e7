# cython: auto_pickle=False
"""Bytes of arrays, compared where they lie: equal ones are not copied to find that out.

Called by `snapshot`, which copies first where this was not compiled, and where an array gives no plain buffer: its elements
do not lie one after the other, or NumPy has no letter for its type.
"""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.string cimport memcmp


def copy_of(array, bytes like):
    """Copy an array.

    Args:
        array: A NumPy array of plain data.
        like: What may be the same bytes; or None.

    Returns:
        `like` if the array holds these bytes, else a copy, in C order.
    """
    cdef Py_buffer buffer
    try:
        PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    except (BufferError, ValueError):
        return array.tobytes()
    try:
        if like is not None and PyBytes_GET_SIZE(like) == buffer.len and (
                not memcmp(PyBytes_AS_STRING(like), buffer.buf, buffer.len)):
            return like
        return PyBytes_FromStringAndSize(<char *> buffer.buf, buffer.len)
    finally:
        PyBuffer_Release(&buffer)


def holds(array, bytes data):
    """Compare an array with bytes.

    Args:
        array: A NumPy array of plain data.
        data: In C order.

    Returns:
        Whether it holds these bytes.
    """
    cdef Py_buffer buffer
    try:
        PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    except (BufferError, ValueError):
        return array.tobytes() == data
    try:
        return PyBytes_GET_SIZE(data) == buffer.len and not memcmp(PyBytes_AS_STRING(data), buffer.buf, buffer.len)
    finally:
        PyBuffer_Release(&buffer)
