"""C types of `call.py`, for it and for the compiled modules that read its records."""


cdef class CallSite:
    cdef object __weakref__
    cdef public object id, name, op_type, kind, host, function, stack, inputs, outputs, attrs, steady, counter, traits
    cdef public object interest


cdef class Run:
    cdef public object id, label, host, started, feeds, fed, fetches, control, aborted, kind, element, stepwise, remark
    cdef public object form, thread, _announce, _sites


cdef class Call:
    cdef public Run run
    cdef public CallSite site
    cdef public Call speaker
    cdef public object id, ordinal, thread, started, finished, inputs, outputs, error, output, standing, forward, sources
    cdef public object parent, retry_of, saved


cpdef Call new_call(CallSite site, Run run, object inputs, object thread, object started, object forward=*, Call within=*,
                    object sources=*, object began=*)
