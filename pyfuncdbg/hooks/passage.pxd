"""What the other compiled modules use of `passage`."""
from pyfuncdbg.hooks.call cimport Call


cdef class Watch:
    cpdef object begins(self, Call call)
    cpdef object returned(self, Call call, object kept, object outputs)


cdef class Hearing:
    cdef object capture, process, user, within
    cdef list inside, users
    cdef object begin(self, Call call)
    cdef int end(self, Call call, object heard) except -1

cdef object clock()
cdef object this_thread()
