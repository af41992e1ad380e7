"""C types of `call.py`, for it and for the compiled modules that read its records."""


cdef class CallSite:
    cdef object __weakref__
    cdef public object id, name, op_type, kind, host, function, stack, inputs, outputs, attrs, steady, counter, traits
    cdef public object interest


cdef class Run:
    cdef public object id, label, host, started, feeds, feed_values, fetches, control, aborted, kind, element, stepwise, remark
    cdef public object form, thread, _list_sites, _sites


cdef class Call:
    cdef public Run run
    cdef public CallSite site
    cdef public Call output_owner
    cdef public object id, ordinal, thread, started, finished, inputs, outputs, error, output, streams, forward, sources
    cdef public object parent, retry_of, saved_inputs


cpdef Call new_call(CallSite site, Run run, object inputs, object thread, object started, object forward=*, Call outer_call=*,
                    object sources=*, object start=*)
