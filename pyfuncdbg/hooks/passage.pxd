"""What the other compiled modules use of `passage`."""
cdef extern from *:
    """
    #include <structmember.h>
    /* Where objects of a class with __slots__ keep an attribute; -1 of what is none of its slots. */
    static Py_ssize_t slot_offset(PyObject *descriptor) {
        if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) return -1;
        return ((PyMemberDescrObject *)descriptor)->d_member->offset;
    }
    static inline PyObject *slot_get(PyObject *object, Py_ssize_t offset) {
        return *(PyObject **)((char *)object + offset);
    }
    static inline void slot_put(PyObject *object, Py_ssize_t offset, PyObject *value) {
        PyObject **place = (PyObject **)((char *)object + offset), *before = *place;
        Py_INCREF(value);
        *place = value;
        Py_XDECREF(before);
    }
    """
    Py_ssize_t slot_offset(object descriptor)
    void *slot_get(object holder, Py_ssize_t offset)
    void slot_put(object holder, Py_ssize_t offset, object value)


cdef struct CallSlots:
    Py_ssize_t id, run, site, ordinal, thread, started, finished, inputs, outputs, error, output, forward, sources, parent
    Py_ssize_t speaker, standing, retry_of, saved

cdef struct RunSlots:
    Py_ssize_t id, endless, element, label, host, started, fed, feeds, fetches, control, aborted, stepwise, form, thread
    Py_ssize_t remark, announce, sites

cdef struct SiteSlots:
    Py_ssize_t id, kind, counter

cdef struct CaptureSlots:
    Py_ssize_t standing

cdef CallSlots of_call
cdef RunSlots of_run
cdef SiteSlots of_site
cdef CaptureSlots of_capture


cdef class Watch:
    cpdef object begins(self, object call)
    cpdef object returned(self, object call, object kept, object outputs)


cdef class Hearing:
    cdef object capture, process, user, within
    cdef list inside, users
    cdef object begin(self, object call)
    cdef int end(self, object call, object heard) except -1

cdef int run_over(object run) except -1
cdef object new_run(object label, object host, object announce, object feeds, object fed, object fetches, object form)
cdef object looked_on(object watcher, object site, object run, list inputs, object holder, Py_ssize_t place,
                      object function, tuple arguments)
cdef Py_ssize_t slot_of(object kind, str name) except -1
