"""C types of `call_recorder.py`."""
cimport cython

from pyfuncdbg.hooks.call cimport Call, CallSite, Run
from pyfuncdbg.hooks.capture cimport Capture
from pyfuncdbg.observers.record.log.queued_call cimport QueuedCall
from pyfuncdbg.observers.record.snapshots.call_state cimport CallStates
from pyfuncdbg.observers.record.snapshots.snapshot cimport Snapshots


cdef class CallRecorder:
    cdef public object backlog, rows, shared, restart
    cdef public frozenset scalars
    cdef public dict running, known_runs, known_sites, plans
    cdef public Snapshots snapshots
    cdef public Capture capture
    cdef public CallStates states

    @cython.locals(run=Run, site=CallSite)
    cpdef object on_begin(self, Call call)
    @cython.locals(site=CallSite)
    cpdef object on_return(self, Call call, object kept, object outputs)
    @cython.locals(site=CallSite)
    cpdef object finish(self, Call call, object inputs, object values, object failure=*, Snapshots snapshots=*, object state=*)
    cpdef object announce(self, Run run, CallSite site)
    cdef object _queue(self, QueuedCall row)
