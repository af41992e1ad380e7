# cython: auto_pickle=False
"""Objects that Python's garbage collector leaves alone: records of calls in the queue.

They are in no cycle, for they hold copies only, but the collector looks at thousands of them again and again, and because
they live for a while it looks at all objects of the program, too. Without a compiler that is so.
"""


cdef extern from "Python.h":
    void PyObject_GC_UnTrack(object)


def untrack_record(record, tuple inputs, tuple outputs):
    """Let the collector leave alone a record and the tuples with its copies; they are freed by their references.

    Args:
        record: Any object that nothing in it refers to.
        inputs, outputs: Of scalars, copies as tuples, and other objects, which stay as they are.
    """
    PyObject_GC_UnTrack(record)
    _untrack_copies(inputs)
    _untrack_copies(outputs)


cdef void _untrack_copies(tuple values):
    PyObject_GC_UnTrack(values)
    for value in values:
        if type(value) is tuple:
            PyObject_GC_UnTrack(value)
            if type((<tuple>value)[1]) is tuple:    # the shape
                PyObject_GC_UnTrack((<tuple>value)[1])
